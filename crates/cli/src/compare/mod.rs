//! `seqoia compare`: runs what a recipe names and makes a report of it. Every run is a `seqoia train` that can be typed;
//! what has been run is kept, and a comparison goes on where it stopped.

mod curves;
mod jobs;
mod page;
mod plan;
mod recipe;
mod store;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use plan::{Found, Roots, Whose};
use recipe::Recipe;
use seqoia_report::counted;
use store::Store;

use crate::flags::{CompareArgs, refused, threads};
use crate::{demo, screen, signals};

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let (mut recipe, text) = Recipe::read(&args.recipe)?;
    if !args.rivals && !recipe.rival.is_empty() {
        if !args.quiet {
            let names: Vec<&str> = recipe.rival.iter().map(|rival| rival.name.as_str()).collect();
            let what =
                format!("other programs ({}) run only with --rivals: their commands", names.join(", "));
            screen::note(&format!("{what} stand in the recipe"));
        }
        recipe.rival.clear();
    }
    let folder = args.output.as_path();
    let mut store = Store::open(folder, args.keep_old)?;
    let demo = folder.join("demo");
    if text.contains("demo:") {
        demo::save_files(&demo)?;
    }
    let home = args.recipe.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(""));
    let roots = Roots { recipe: home, demo: &demo };
    let (found, missing) = data(&recipe, &roots, args.quiet)?;
    let plan = plan::plan(&recipe, &found, &roots)?;
    let mut keys = vec![];
    for planned in &plan {
        let seed =
            if matches!(planned.whose, Whose::Rival(_)) { planned.seed.to_string() } else { String::new() };
        keys.push(
            store.key(&format!("{}{seed}", planned.shown), &planned.files).context(planned.name.clone())?,
        );
    }
    write(folder, "recipe.toml", text.as_bytes())?;
    let mut todo: Vec<usize> = vec![];
    for i in 0..plan.len() {
        let known = store.get(&keys[i]).is_some() || todo.iter().any(|&j| keys[j] == keys[i]);
        if !known && !args.report_only {
            todo.push(i);
        }
    }
    let cores = threads(args.threads)?;
    let jobs = args.jobs.or(recipe.jobs).unwrap_or(cores).clamp(1, cores.max(1));
    if !args.quiet {
        let (all, left) = (plan.len(), todo.len());
        let known = if left < all { format!(", {} known from before", all - left) } else { String::new() };
        let each = counted((cores / jobs).max(1) as u64, "thread");
        screen::note(&format!("{}{known}; {jobs} side by side, {each} each", counted(all as u64, "run")));
    }
    let stop = signals::stop_quietly(args.quiet)?;
    let store = Mutex::new(store);
    let work = jobs::Work {
        recipe: &recipe,
        plan: &plan,
        keys: &keys,
        store: &store,
        folder,
        jobs,
        threads: (cores / jobs).max(1),
        stop: &stop,
        quiet: args.quiet,
        machine: &machine(),
    };
    work.run(&todo)?;
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let report = page::report(&recipe, &plan, &keys, &store, &missing);
    write(folder, "index.html", report.page.as_bytes())?;
    std::fs::create_dir_all(folder.join("plots"))?;
    for (name, svg) in &report.plots {
        write(folder, &format!("plots/{name}.svg"), svg.as_bytes())?;
    }
    screen::shown(&report.table)?;
    let ended: Vec<_> = plan.iter().zip(&keys).filter_map(|(p, key)| Some((p, store.get(key)?))).collect();
    let failed = ended.iter().filter(|(_, line)| line.failed.is_some());
    for (planned, line) in failed.clone() {
        let why = line.failed.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        screen::warning(&format!("failed: {}: {why}", place(&recipe, planned)));
    }
    let all_failed = !ended.is_empty() && failed.count() == ended.len();
    if !args.quiet {
        screen::note(&format!("\n     wrote  {}", folder.join("index.html").display()));
    }
    if stop.load(Ordering::Relaxed) {
        if !args.quiet {
            screen::note("     go on  with the same command");
        }
        return Ok(ExitCode::from(130));
    }
    Ok(if all_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A run and its data, for messages.
fn place(recipe: &Recipe, planned: &plan::Planned) -> String {
    format!("{} on {}", planned.name, recipe.data[planned.data].name)
}

/// The files of all data sets, and what is said of those that are not there.
fn data(
    recipe: &Recipe,
    roots: &Roots<'_>,
    quiet: bool,
) -> anyhow::Result<(Vec<Option<Found>>, Vec<String>)> {
    let (mut found, mut missing) = (vec![], vec![]);
    for data in &recipe.data {
        match roots.data(data) {
            Ok(files) => found.push(Some(files)),
            Err(variable) => {
                let what = format!("{} is left out: {}", data.name, plan::unset(&variable));
                if !quiet {
                    screen::warning(&what);
                }
                missing.push(what);
                found.push(None);
            }
        }
    }
    if found.iter().all(Option::is_none) {
        let first = missing.first().cloned().unwrap_or_else(|| "the recipe names no data".to_owned());
        return Err(refused(format!("there is no data to run on: {first}")));
    }
    Ok((found, missing))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    Ok(seqoia::write_atomically(&folder.join(name), bytes).map_err(seqoia::Error::from)?)
}

/// The processor, as far as the system names it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {}", counted(cores as u64, "core"))
}
