//! The programs that are compared: Seqoia, built from this tree, and the rivals, installed by name
//! through the ordinary clients into the cache. How each is called stands here too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::data::Task;
use crate::measure::Call;
use crate::screen;
use crate::table::Machine;

/// Python packages, as `pip` knows them.
const PACKAGES: [&str; 2] = ["python-crfsuite", "vowpalwabbit"];
/// The crate with a port of CRFsuite.
const COMPLIANT: &str = "crfsuite-compliant-rs";
/// Drives python-crfsuite; lies in the cache, beside the folders of the tasks.
const SCRIPT_NAME: &str = "crfsuite.py";
/// Its text.
const SCRIPT: &str = include_str!("crfsuite.py");

/// Everything that can be run.
pub(crate) struct Tools {
    seqoia: PathBuf,
    python: PathBuf,
    compliant: PathBuf,
    /// Learners that Seqoia has, as it lists them.
    learners: String,
    /// The tree that it was built from; none if someone else built it.
    commit: Option<String>,
}

impl Tools {
    /// Builds Seqoia unless a program is given, and installs what the cache does not have.
    ///
    /// # Errors
    /// Something cannot be built or installed.
    pub(crate) fn install(seqoia: Option<&Path>, cache: &Path) -> Result<Tools> {
        let (seqoia, commit) = match seqoia {
            Some(path) => {
                (path.canonicalize().with_context(|| format!("--seqoia {}", path.display()))?, None)
            }
            None => (build()?, commit()),
        };
        let python = cache.join("venv/bin/python");
        if !python.exists() {
            screen::note("making a Python environment");
            let venv = cache.join("venv");
            step(Command::new("python3").args(["-m", "venv"]).arg(&venv), "install Python 3 with its venv")?;
        }
        if !works(Command::new(&python).args(["-c", "import pycrfsuite, vowpalwabbit"])) {
            screen::note(&format!("installing {}", PACKAGES.join(", ")));
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
            step(&mut pip, "pip must be able to install packages")?;
        }
        let compliant = cache.join("cargo/bin").join(COMPLIANT);
        if !compliant.exists() {
            screen::note(&format!("installing {COMPLIANT}"));
            let mut cargo = Command::new("cargo");
            cargo.args(["install", "--quiet", "--root"]).arg(cache.join("cargo")).arg(COMPLIANT);
            step(&mut cargo, "cargo must be able to install crates")?;
        }
        let script = cache.join(SCRIPT_NAME);
        fs::write(&script, SCRIPT).with_context(|| format!("{}: cannot be written", script.display()))?;
        let learners = Call::new(&seqoia, cache, &["train", "--learner", "list", "-"]).run()?.output;
        Ok(Tools { seqoia, python, compliant, learners, commit })
    }

    /// Whether Seqoia has this learner.
    pub(crate) fn has_learner(&self, name: &str) -> bool {
        self.learners.lines().any(|line| line.split_whitespace().next() == Some(name))
    }

    /// Processor and versions.
    ///
    /// # Errors
    /// A tool that does not tell its version.
    pub(crate) fn machine(&self, cache: &Path) -> Result<Machine> {
        let ask = |program: &Path, args: &[&str]| -> Result<String> {
            let output = Call::new(program, cache, args).run()?.output;
            Ok(output.lines().next().unwrap_or_default().trim().to_owned())
        };
        let seqoia = ask(&self.seqoia, &["--version"])?;
        let mut versions = vec![match &self.commit {
            Some(commit) => format!("{seqoia} ({commit})"),
            None => seqoia,
        }];
        for package in PACKAGES {
            let code = format!("from importlib.metadata import version; print(version('{package}'))");
            versions.push(format!("{package} {}", ask(&self.python, &["-c", &code])?));
        }
        // The port tells CRFsuite's version; its own is in cargo's records.
        let list =
            Command::new("cargo").args(["install", "--list", "--root"]).arg(cache.join("cargo")).output();
        let list = list.context("cargo cannot be started")?.stdout;
        let list = String::from_utf8_lossy(&list).into_owned();
        let line = list.lines().find(|line| line.starts_with(COMPLIANT)).unwrap_or(COMPLIANT);
        versions.push(line.trim_end_matches(':').replace(" v", " "));
        versions.push(ask(&self.python, &["--version"])?);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?").to_owned();
        Ok(Machine { processor: format!("{}, {cores} cores, load {load}", processor()), versions })
    }

    /// `seqoia`.
    pub(crate) fn seqoia(&self, task: &Task, args: &[&str]) -> Call {
        self.seqoia_in(&task.folder, args)
    }

    /// `seqoia` in a folder that does not belong to a task yet.
    pub(crate) fn seqoia_in(&self, folder: &Path, args: &[&str]) -> Call {
        Call::new(&self.seqoia, folder, args)
    }

    /// `seqoia train` on one thread, which learns the task with these flags into `model`.
    pub(crate) fn train(&self, task: &Task, flags: &[&str], model: &str) -> Call {
        self.train_with(task, 1, flags, model)
    }

    /// The same on so many threads.
    pub(crate) fn train_with(&self, task: &Task, threads: usize, flags: &[&str], model: &str) -> Call {
        let call = self.seqoia(task, &["train", "--quiet", "--threads", &threads.to_string()]);
        call.with(&task.flags).with(flags).with(&["-m", model, task.train])
    }

    /// `crfsuite-compliant-rs learn` on the attributes of the task.
    pub(crate) fn compliant_learn(
        &self,
        task: &Task,
        algorithm: &str,
        settings: &[&str],
        model: &str,
    ) -> Call {
        let mut call = self.compliant(task, &["learn", "-a", algorithm]);
        for setting in settings {
            call = call.with(&["-p", setting]);
        }
        call.with(&["-m", model, "train.crfsuite"])
    }

    /// `crfsuite-compliant-rs`.
    pub(crate) fn compliant(&self, task: &Task, args: &[&str]) -> Call {
        Call::new(&self.compliant, &task.folder, args)
    }

    /// python-crfsuite, through the script.
    pub(crate) fn crfsuite(&self, task: &Task, args: &[&str]) -> Call {
        Call::new(&self.python, &task.folder, &[&format!("../{SCRIPT_NAME}")]).with(args)
    }

    /// Vowpal Wabbit's search on the attributes of the task, greedy in training as in use. Further passes read a
    /// cache.
    pub(crate) fn vowpal_learn(&self, task: &Task, flags: &[&str], model: &str) -> Call {
        let labels = task.counts.labels.len().to_string();
        let call = self.vowpal(task, &["-d", "train.vw", "-f", model, "--quiet"]);
        let search = ["--search_task", "sequence", "--search", &labels, "--search_rollout", "none"];
        let call = call.with(&search).with(flags);
        match flags.contains(&"--passes") {
            true => call.with(&["--holdout_off", "-k", "--cache_file", "vw.cache"]),
            false => call,
        }
    }

    /// Vowpal Wabbit, which the package runs like its command line.
    pub(crate) fn vowpal(&self, task: &Task, args: &[&str]) -> Call {
        Call::new(&self.python, &task.folder, &["-m", "vowpalwabbit"]).with(args)
    }
}

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder that cargo builds this program in: `target`, unless it was told otherwise.
///
/// # Errors
/// The program stands in no such folder.
pub(crate) fn target() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find the program itself")?;
    let folder = own.parent().and_then(Path::parent).context("the program stands in no folder of cargo's")?;
    Ok(folder.to_owned())
}

/// Builds the program that users get.
fn build() -> Result<PathBuf> {
    screen::note("building seqoia");
    let target = target()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "seqoia-cli"]).current_dir(root());
    step(
        cargo.env("CARGO_TARGET_DIR", &target),
        "the workspace must build; or name a program with --seqoia FILE",
    )?;
    let seqoia = target.join("release/seqoia");
    ensure!(seqoia.exists(), "{}: cargo did not make it; name it with --seqoia FILE", seqoia.display());
    Ok(seqoia)
}

/// The commit of the tree, if git knows it.
fn commit() -> Option<String> {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root()).output();
    let commit = String::from_utf8_lossy(&output.ok()?.stdout).trim().to_owned();
    (!commit.is_empty()).then_some(commit)
}

/// A step of the installation.
fn step(command: &mut Command, help: &str) -> Result<()> {
    let line = format!("{command:?}");
    let status = command.status().with_context(|| format!("{line}: cannot be started; {help}"))?;
    if !status.success() {
        bail!("{line}: {status}; {help}");
    }
    Ok(())
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The processor's name.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown processor".to_owned(), |(_, name)| name.trim().to_owned())
}
