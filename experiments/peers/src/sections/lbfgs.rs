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
use crate::measure::{Call, Usage, cpu, interleaved, median, peak, wall};
use crate::runs::{self, Fit, Log, pass_at, per_evaluation};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};
use crate::tools::Tools;

/// How near to CRFsuite's last objective is near enough.
const NEAR: f64 = 1.0001;
/// Iterations of the runs whose difference is the cost of an evaluation.
const LIMITS: [usize; 2] = [5, 25];
/// Pairs of runs with one thread and with two.
const THREAD_RUNS: usize = 5;
const THEIR_MODEL: &str = "lbfgs.crfsuite-model";

/// The task and our ways to its optimum; none if there is nothing to compare.
fn prepare(bench: &mut Bench) -> Result<Option<(Task, Vec<Way>)>> {
    if !bench.tools.has_learner("lbfgs") {
        screen::note("skipped: lbfgs, since `seqoia train --learner list` does not show it");
        return Ok(None);
    }
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(None) };
    let mut ways = Way::usual();
    ways.extend(bench.paths.iter().zip(1..).filter_map(|(steps, number)| Way::path(number, steps)));
    Ok(Some((task, ways)))
}

/// A way of ours to the objective: flags of `seqoia train`, step by step.
struct Way {
    name: String,
    model: String,
    first: Vec<Vec<String>>,
    last: Vec<String>,
}

impl Way {
    fn new(name: &str, model: &str, first: &[&[&str]], last: &[&str]) -> Way {
        let owned = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        let first = first.iter().map(|step| owned(step)).collect();
        Way { name: name.to_owned(), model: model.to_owned(), first, last: owned(last) }
    }

    fn plain() -> Way {
        Way::new("seqoia lbfgs", "lbfgs.seqoia", &[], &["--learner", "lbfgs", "--c2", "1"])
    }

    /// Plain, in single precision, and the shortest way known: the start by stochastic gradients.
    fn usual() -> Vec<Way> {
        let single = ["--learner", "lbfgs", "--c2", "1", "--precision", "f32"];
        let start: &[&str] = &["--learner", "sgd", "--c2", "1", "--passes", "5"];
        let then = [single.as_slice(), &["--history", "9", "--warm-start", "step1.seqoia"]].concat();
        vec![
            Way::plain(),
            Way::new("seqoia lbfgs f32", "single.seqoia", &[], &single),
            Way::new("seqoia sgd, lbfgs f32", "start.seqoia", &[start], &then),
        ]
    }

    /// A path that the user gave; none if it has no steps.
    fn path(number: usize, steps: &[Vec<String>]) -> Option<Way> {
        let (last, first) = steps.split_last()?;
        let (name, model) = (format!("seqoia path {number}"), format!("path{number}.seqoia"));
        Some(Way { name, model, first: first.to_vec(), last: last.clone() })
    }

    /// All steps; the last one makes `passes` passes, or stops by itself.
    fn call(&self, tools: &Tools, task: &Task, threads: usize, passes: Option<usize>) -> Call {
        let passes = passes.map_or(vec![], |passes| vec!["--passes".to_owned(), passes.to_string()]);
        let flags = [words(&self.last), vec!["--json"], words(&passes)].concat();
        let last = tools.train_with(task, threads, &flags, &self.model);
        let first = self.first.iter().zip(1..).fold(None, |before: Option<Call>, (step, number)| {
            let call = tools.train_with(task, threads, &words(step), &format!("step{number}.seqoia"));
            Some(match before {
                Some(before) => call.after(before),
                None => call,
            })
        });
        match first {
            Some(first) => last.after(first),
            None => last,
        }
    }
}

/// How a run ended.
struct End {
    seconds: f64,
    objective: f64,
    passes: usize,
    rest: [Cell; 3], // F1, peak, size of the model
}

impl End {
    /// Of runs of ours, whose model is still there.
    fn ours(tools: &Tools, task: &Task, way: &Way, runs: &[Usage]) -> Result<End> {
        let log = Log::parse(&runs[0].output)?;
        let known = task.weights.is_none_or(|weights| weights == log.weights);
        ensure!(known, "seqoia has {} weights, not {:?}", log.weights, task.weights);
        let f1 = score::ours(tools, task, &way.model, task.test)?;
        Ok(End {
            seconds: cpu(runs),
            objective: log.objectives.last().copied().unwrap_or(f64::NAN),
            passes: log.objectives.len(),
            rest: [Cell::Percent(f1), Cell::Bytes(peak(runs)), size(task, &way.model)],
        })
    }

    /// The cells of its row, beside CRFsuite's seconds to its stop and until it is near.
    fn cells(self, their_stop: f64, their_near: f64) -> impl Iterator<Item = Cell> {
        let head = [
            Cell::Seconds(self.seconds),
            times(their_stop, self.seconds),
            times(their_near, self.seconds),
            Cell::Number(self.objective),
            Cell::Count(self.passes as u64),
        ];
        head.into_iter().chain(self.rest)
    }
}

fn size(task: &Task, name: &str) -> Cell {
    fs::metadata(task.folder.join(name)).map_or(Cell::Empty, |data| Cell::Bytes(data.len()))
}

fn their_call(tools: &Tools, task: &Task, limit: Option<usize>) -> Call {
    let call = tools.crfsuite(task, &["train", "train.crfsuite", THEIR_MODEL, "lbfgs", "c2=1"]);
    match limit {
        Some(limit) => call.with(&[&format!("max_iterations={limit}")]),
        None => call,
    }
}

/// Whole runs to the optimum.
pub(crate) fn to_the_end(bench: &mut Bench) -> Result<()> {
    let Some((task, ways)) = &prepare(bench)? else { return Ok(()) };
    let tools = &bench.tools;
    let mut calls = vec![their_call(tools, task, None)];
    calls.extend(ways.iter().map(|way| way.call(tools, task, 1, None)));
    let runs = interleaved(bench.repeat, &calls)?;

    let fits: Vec<Fit> = runs[0].iter().map(|run| Fit::parse(&run.output)).collect::<Result<_>>()?;
    let fit = &fits[0];
    let known = task.weights.is_none_or(|weights| weights == fit.features);
    ensure!(known, "CRFsuite has {} weights, not {:?}", fit.features, task.weights);
    let passes = fit.losses.len();
    let last = fit.losses.last().copied().unwrap_or(f64::NAN);
    let target = NEAR * last;
    let near = pass_at(&fit.losses, target).unwrap_or(passes);
    let their_stop = median(fits.iter().map(Fit::cpu));
    let their_near = median(fits.iter().map(|fit| fit.cpu_until(near)));
    tools.crfsuite(task, &["tag", "test.crfsuite", THEIR_MODEL]).into_file("predicted").run()?;
    let f1 = score::predicted(tools, task, task.test)?;

    let mut table = Table::new(
        "lbfgs",
        format!("{}, c2 = 1, one thread", task.title),
        &["CPU s", "to its stop", "to its 0.01 %", "objective", "passes", "F1", "peak", "model"],
    );
    for (name, call) in
        ["python-crfsuite"].into_iter().chain(ways.iter().map(|w| w.name.as_str())).zip(&calls)
    {
        table.command(name, call.line());
    }
    let rest = [Cell::Percent(f1), Cell::Bytes(peak(&runs[0])), size(task, THEIR_MODEL)];
    let end = End { seconds: their_stop, objective: last, passes, rest };
    table.row("python-crfsuite", end.cells(their_stop, their_near));
    let objective = fit.losses.get(near.saturating_sub(1)).copied().unwrap_or(f64::NAN);
    let rest = [Cell::Empty, Cell::Empty, Cell::Empty];
    let end = End { seconds: their_near, objective, passes: near, rest };
    table.row("  within 0.01 %", end.cells(their_stop, their_near));
    for (way, runs) in ways.iter().zip(&runs[1..]) {
        let end = End::ours(tools, task, way, runs)?;
        table.row(way.name.clone(), end.cells(their_stop, their_near));
        // A run that ends there, for the exact cost with everything that belongs to it.
        let objectives = Log::parse(&runs[0].output)?.objectives;
        let Some(passes) = pass_at(&objectives, target) else {
            table.note(format!("{} never comes within 0.01 %", way.name));
            continue;
        };
        let runs = interleaved(bench.repeat, &[way.call(tools, task, 1, Some(passes))])?;
        let end = End::ours(tools, task, way, &runs[0])?;
        table.row("  within 0.01 %", end.cells(their_stop, their_near));
    }
    table.note("ratios: CPU time of python-crfsuite to its stop, or until it is within 0.01 %, to ours;");
    table.note("its seconds are those inside the library, ours the whole process with reading and writing");
    bench.show(&table)
}

/// What one evaluation costs.
pub(crate) fn evaluation(bench: &mut Bench) -> Result<()> {
    let Some((task, ways)) = &prepare(bench)? else { return Ok(()) };
    let tools = &bench.tools;
    let ways: Vec<&Way> = ways.iter().filter(|way| way.first.is_empty()).collect();
    let mut calls = LIMITS.map(|limit| their_call(tools, task, Some(limit))).to_vec();
    for way in &ways {
        calls.extend(LIMITS.map(|limit| way.call(tools, task, 1, Some(limit))));
    }
    let runs = interleaved(bench.repeat, &calls)?;
    let mut table = Table::new(
        "evaluation",
        format!("{}, one evaluation of objective and gradient", task.title),
        &["CPU s", "ratio", "evaluations"],
    );
    let (theirs, count) = per_evaluation(&runs[0], &runs[1], runs::python)?;
    table.command("python-crfsuite", calls[1].line());
    table.row("python-crfsuite", [Cell::Seconds(theirs), Cell::Times(1.0), Cell::Number(count)]);
    for ((way, calls), runs) in ways.iter().zip(calls[2..].chunks(2)).zip(runs[2..].chunks(2)) {
        let (ours, count) = per_evaluation(&runs[0], &runs[1], runs::ours)?;
        table.command(way.name.clone(), calls[1].line());
        table.row(way.name.clone(), [Cell::Seconds(ours), times(theirs, ours), Cell::Number(count)]);
    }
    table.note(format!("by the difference of runs of {} and {} iterations", LIMITS[1], LIMITS[0]));
    bench.show(&table)
}

/// What a second thread gains.
pub(crate) fn two_threads(bench: &mut Bench) -> Result<()> {
    let Some((task, _)) = &prepare(bench)? else { return Ok(()) };
    let calls = [1, 2].map(|threads| Way::plain().call(&bench.tools, task, threads, None));
    let runs = interleaved(THREAD_RUNS, &calls)?;
    let mut table = Table::new(
        "threads",
        format!("{}, two threads, whole runs by the clock", task.title),
        &["clock s", "speed-up", "CPU s", "peak"],
    );
    table.command("seqoia", calls[1].line());
    let one = wall(&runs[0]);
    for (name, runs) in ["1 thread", "2 threads"].into_iter().zip(&runs) {
        let clock = wall(runs);
        table.row(
            name,
            [Cell::Seconds(clock), times(one, clock), Cell::Seconds(cpu(runs)), Cell::Bytes(peak(runs))],
        );
    }
    table.note(format!("medians of {THREAD_RUNS} runs in turns; other work on the machine shows here"));
    bench.show(&table)
}
