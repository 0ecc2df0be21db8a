//! What every section works with: the tools, the tasks, the options, the report.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Args;
use crate::data::{Task, TaskName};
use crate::screen;
use crate::sections::shapes;
use crate::table::Table;
use crate::tools::Tools;

/// The state of a run.
pub(crate) struct Bench {
    /// What is run.
    pub(crate) tools: Tools,
    /// How often.
    pub(crate) repeat: usize,
    /// Further ways to the objective of section `lbfgs`: steps, each with its flags.
    pub(crate) paths: Vec<Vec<Vec<String>>>,
    /// Options of section `shapes`.
    pub(crate) shapes: shapes::Options,
    cache: PathBuf,
    tasks: Vec<(TaskName, Option<Task>)>,
    records: Option<(PathBuf, File)>,
}

impl Bench {
    /// Installs and opens what is needed.
    ///
    /// # Errors
    /// A folder or file that cannot be written, a tool that cannot be installed.
    pub(crate) fn new(args: &Args, cache: &Path) -> Result<Bench> {
        let failed = || format!("{}: cannot be made", cache.display());
        fs::create_dir_all(cache).with_context(failed)?;
        let cache = cache.canonicalize().with_context(failed)?;
        let records = match &args.json {
            Some(path) => {
                let file = File::create(path);
                Some((path.clone(), file.with_context(|| format!("--json {}", path.display()))?))
            }
            None => None,
        };
        let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        Ok(Bench {
            tools: Tools::install(args.seqoia.as_deref(), &cache)?,
            repeat: usize::try_from(args.repeat())?,
            paths: args.path.iter().map(|path| path.split(';').map(words).collect()).collect(),
            shapes: args.shapes.clone(),
            cache,
            tasks: vec![],
            records,
        })
    }

    /// A task with its files; they are prepared once. `None` if there is no data for it.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub(crate) fn task(&mut self, name: TaskName) -> Result<Option<Task>> {
        if let Some((_, task)) = self.tasks.iter().find(|task| task.0 == name) {
            return Ok(task.clone());
        }
        let task = Task::prepare(name, &self.cache)?;
        self.tasks.push((name, task.clone()));
        Ok(task)
    }

    /// A folder of the cache; all tools can be started in it.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.cache.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
        Ok(folder)
    }

    /// Prints a table and keeps its records.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub(crate) fn show(&mut self, table: &Table) -> Result<()> {
        let machine = self.tools.machine(&self.cache)?;
        screen::result(&table.text(&machine))?;
        if let Some((path, file)) = &mut self.records {
            for record in table.records(&machine) {
                writeln!(file, "{record}").with_context(|| format!("--json {}", path.display()))?;
            }
        }
        Ok(())
    }
}
