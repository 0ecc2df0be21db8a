//! The optimum of the regularised likelihood, c2 = 1: time to the own stop, time until the objective
//! is within 0.01 % of where CRFsuite ends, cost of one evaluation, gain from a second thread.
//!
//! CRFsuite's seconds are those inside the library (taking in the lists, training); ours are the
//! whole process from raw columns to the model file.

use std::fs;

use anyhow::{Result, ensure};

use super::{times, words};
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, cpu, interleaved, median, peak, wall};
use crate::runs::{Fit, Log, pass_at};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};
use crate::tools::Tools;

/// How near to CRFsuite's last objective is near enough.
const NEAR: f64 = 1.0001;
/// Iterations of the runs whose difference is the cost of an evaluation.
const LIMITS: [&str; 2] = ["5", "15"];
/// Pairs of runs with one thread and with two.
const THREAD_RUNS: usize = 5;
const PLAIN: [&str; 4] = ["--learner", "lbfgs", "--c2", "1"];
const THEIR_MODEL: &str = "lbfgs.crfsuite-model";

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    if !bench.tools.has_learner("lbfgs") {
        screen::note("skipped: lbfgs, since `seqoia train --learner list` does not show it");
        return Ok(());
    }
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(()) };
    let mut paths = vec![Way::new(0, &[PLAIN.map(str::to_owned).to_vec()])];
    paths.extend(bench.paths.iter().zip(1..).map(|(steps, number)| Way::new(number, steps)));
    to_the_end(bench, &task, &paths)?;
    evaluation(bench, &task, &paths)?;
    two_threads(bench, &task)
}

/// A way of ours to the objective.
struct Way {
    name: String,
    steps: Vec<Vec<String>>,
    model: String,
    log: String,
}

impl Way {
    fn new(number: usize, steps: &[Vec<String>]) -> Way {
        let name = match number {
            0 => "seqoia lbfgs".to_owned(),
            _ => format!("seqoia path {number}"),
        };
        Way {
            name,
            steps: steps.to_vec(),
            model: format!("lbfgs-{number}.seqoia"),
            log: format!("lbfgs-{number}.jsonl"),
        }
    }

    /// All steps on so many threads; the last one makes `passes` passes, or stops by itself.
    fn call(&self, tools: &Tools, task: &Task, threads: usize, passes: Option<&str>) -> Call {
        let mut before = None;
        for (step, number) in self.steps.iter().zip(1..) {
            let mut flags = words(step);
            let is_last = number == self.steps.len();
            if is_last {
                flags.extend(["--log", &self.log]);
                flags.extend(passes.iter().flat_map(|passes| ["--passes", passes]));
            }
            let model = if is_last { self.model.clone() } else { format!("step{number}.seqoia") };
            let call = tools.train_with(task, threads, &flags, &model);
            before = Some(match before {
                None => call,
                Some(first) => call.after(first),
            });
        }
        before.unwrap_or_else(|| tools.train_with(task, threads, &PLAIN, &self.model))
    }
}

fn their_call(tools: &Tools, task: &Task, limit: Option<&str>) -> Call {
    let call = tools.crfsuite(task, &["train", "train.crfsuite", THEIR_MODEL, "lbfgs", "c2=1"]);
    match limit {
        Some(limit) => call.with(&[&format!("max_iterations={limit}")]),
        None => call,
    }
}

fn model_size(task: &Task, name: &str) -> Cell {
    fs::metadata(task.folder.join(name)).map_or(Cell::Empty, |data| Cell::Bytes(data.len()))
}

fn to_the_end(bench: &mut Bench, task: &Task, paths: &[Way]) -> Result<()> {
    let tools = &bench.tools;
    let mut calls = vec![their_call(tools, task, None)];
    calls.extend(paths.iter().map(|path| path.call(tools, task, 1, None)));
    let runs = interleaved(bench.repeat, &calls)?;
    let fits: Vec<Fit> = runs[0].iter().map(|run| Fit::parse(&run.output)).collect::<Result<_>>()?;
    let fit = &fits[0];
    let known = task.weights.is_none_or(|weights| weights == fit.features);
    ensure!(known, "CRFsuite has {} weights, not {:?}", fit.features, task.weights);
    let last = fit.losses.last().copied().unwrap_or(f64::NAN);
    let near = pass_at(&fit.losses, NEAR * last).unwrap_or(fit.losses.len());
    let their_stop = median(fits.iter().map(Fit::cpu));
    let their_near = median(fits.iter().map(|fit| fit.cpu_until(near)));

    let mut table = Table::new(
        "lbfgs",
        format!("{}, c2 = 1, one thread", task.title),
        &["CPU s", "to its stop", "to its 0.01 %", "objective", "passes", "F1", "peak", "model"],
    );
    table.command("python-crfsuite", calls[0].line());
    tools.crfsuite(task, &["tag", "test.crfsuite", THEIR_MODEL]).into_file("predicted").run()?;
    let text = fs::read_to_string(task.folder.join("predicted"))?;
    let their_f1 = score::theirs(tools, task, task.test, &text.split_whitespace().collect::<Vec<_>>())?;
    let ratios = |seconds| [times(their_stop, seconds), times(their_near, seconds)];
    let row = |seconds, objective, passes: usize, rest: [Cell; 3]| {
        let [stop, near] = ratios(seconds);
        let head = [Cell::Seconds(seconds), stop, near, Cell::Number(objective), Cell::Count(passes as u64)];
        head.into_iter().chain(rest)
    };
    let rest = [Cell::Percent(their_f1), Cell::Bytes(peak(&runs[0])), model_size(task, THEIR_MODEL)];
    table.row("python-crfsuite", row(their_stop, last, fit.losses.len(), rest));
    let rest = [Cell::Empty, Cell::Empty, Cell::Empty];
    table.row("  within 0.01 %", row(their_near, fit.losses[near - 1], near, rest));

    let mut ends = vec![];
    for (path, runs) in paths.iter().zip(&runs[1..]) {
        let log = Log::read(task, &path.log)?;
        let known = task.weights.is_none_or(|weights| weights == log.weights);
        ensure!(known, "seqoia has {} weights, not {:?}", log.weights, task.weights);
        let f1 = score::ours(tools, task, &path.model, task.test)?;
        let rest = [Cell::Percent(f1), Cell::Bytes(peak(runs)), model_size(task, &path.model)];
        ends.push((log, cpu(runs), rest));
    }
    let near_passes: Vec<Option<String>> = ends
        .iter()
        .map(|(log, ..)| pass_at(&log.objectives, NEAR * last).map(|pass| pass.to_string()))
        .collect();
    let near_calls: Vec<Call> = paths
        .iter()
        .zip(&near_passes)
        .filter_map(|(path, passes)| Some(path.call(tools, task, 1, Some(passes.as_deref()?))))
        .collect();
    let mut near_runs = interleaved(bench.repeat, &near_calls)?.into_iter();
    for ((path, (log, seconds, rest)), passes) in paths.iter().zip(ends).zip(&near_passes) {
        table.command(path.name.clone(), path.call(tools, task, 1, None).line());
        let objective = log.objectives.last().copied().unwrap_or(f64::NAN);
        table.row(path.name.clone(), row(seconds, objective, log.objectives.len(), rest));
        let (Some(_), Some(runs)) = (passes, passes.as_ref().and_then(|_| near_runs.next())) else {
            table.note(format!("{} never comes within 0.01 %", path.name));
            continue;
        };
        let log = Log::read(task, &path.log)?;
        let f1 = score::ours(tools, task, &path.model, task.test)?;
        let rest = [Cell::Percent(f1), Cell::Bytes(peak(&runs)), model_size(task, &path.model)];
        let objective = log.objectives.last().copied().unwrap_or(f64::NAN);
        table.row("  within 0.01 %", row(cpu(&runs), objective, log.objectives.len(), rest));
    }
    table.note("ratios: CPU time of python-crfsuite to its stop, or until it is within 0.01 %, to ours;");
    table.note("its seconds are those inside the library, ours the whole process with reading and writing");
    bench.show(&table)
}

fn evaluation(bench: &mut Bench, task: &Task, paths: &[Way]) -> Result<()> {
    let tools = &bench.tools;
    let single: Vec<&Way> = paths.iter().filter(|path| path.steps.len() == 1).collect();
    let mut calls = LIMITS.map(|limit| their_call(tools, task, Some(limit))).to_vec();
    for path in &single {
        calls.extend(LIMITS.map(|limit| path.call(tools, task, 1, Some(limit))));
    }
    let mut evaluations = vec![];
    for path in &single {
        let mut counts = vec![];
        for limit in LIMITS {
            path.call(tools, task, 1, Some(limit)).run()?;
            counts.push(Log::read(task, &path.log)?.evaluations);
        }
        evaluations.push(counts[1] - counts[0]);
    }
    let runs = interleaved(bench.repeat, &calls)?;
    let fits = |runs: &[crate::measure::Usage]| -> Result<Vec<Fit>> {
        runs.iter().map(|run| Fit::parse(&run.output)).collect()
    };
    let (few, more) = (fits(&runs[0])?, fits(&runs[1])?);
    let trials = |fit: &Fit| fit.trials.iter().sum::<f64>();
    let count = trials(&more[0]) - trials(&few[0]);
    let theirs = median(few.iter().zip(&more).map(|(few, more)| (more.train - few.train) / count));
    let mut table = Table::new(
        "lbfgs",
        format!("{}, one evaluation of objective and gradient", task.title),
        &["CPU s", "ratio", "evaluations"],
    );
    table.command("python-crfsuite", calls[1].line());
    table.row("python-crfsuite", [Cell::Seconds(theirs), Cell::Times(1.0), Cell::Number(count)]);
    for (i, (path, count)) in single.iter().zip(evaluations).enumerate() {
        let (few, more) = (&runs[2 + 2 * i], &runs[3 + 2 * i]);
        let ours = median(few.iter().zip(more).map(|(few, more)| (more.cpu - few.cpu) / count));
        table.command(path.name.clone(), calls[3 + 2 * i].line());
        table.row(path.name.clone(), [Cell::Seconds(ours), times(theirs, ours), Cell::Number(count)]);
    }
    table.note(format!("by the difference of runs of {} and {} iterations", LIMITS[1], LIMITS[0]));
    bench.show(&table)
}

fn two_threads(bench: &mut Bench, task: &Task) -> Result<()> {
    let way = Way::new(0, &[PLAIN.map(str::to_owned).to_vec()]);
    let calls = [1, 2].map(|threads| way.call(&bench.tools, task, threads, None));
    let runs = interleaved(THREAD_RUNS, &calls)?;
    let mut table = Table::new(
        "lbfgs",
        format!("{}, two threads, whole runs by the clock", task.title),
        &["clock s", "speed-up", "CPU s", "peak"],
    );
    table.command("seqoia", calls[1].line());
    for (name, runs_of) in ["1 thread", "2 threads"].into_iter().zip(&runs) {
        let speed_up = times(wall(&runs[0]), wall(runs_of));
        let cells =
            [Cell::Seconds(wall(runs_of)), speed_up, Cell::Seconds(cpu(runs_of)), Cell::Bytes(peak(runs_of))];
        table.row(name, cells);
    }
    table.note(format!("medians of {THREAD_RUNS} runs in turns; other work on the machine shows here"));
    bench.show(&table)
}
