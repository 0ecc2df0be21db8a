//! Many labels: the cost of an evaluation of objective and gradient and the peak memory with 472 and
//! with 49 tags, by the difference of L-BFGS runs, and the accuracy of the averaged perceptron.

use std::path::Path;

use anyhow::Result;

use super::times;
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, Usage, cpu, interleaved, median, peak};
use crate::runs::{self, Fit, Log, per_evaluation};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};

const THEIR_MODEL: &str = "labels.crfsuite-model";
const OUR_MODEL: &str = "labels.seqoia";
const PASSES: &str = "10";

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for (name, limits) in [(TaskName::Brown, [2, 4]), (TaskName::Xpos, [3, 13])] {
        if let Some(task) = bench.task(name)? {
            evaluation(bench, &task, limits)?;
        }
    }
    match bench.task(TaskName::Xpos)? {
        Some(task) => accuracy(bench, &task),
        None => Ok(()),
    }
}

/// A tool with its calls of few and of more iterations, and how to read off what they took.
struct Tool {
    name: &'static str,
    calls: [Call; 2],
    cost: fn(&Usage) -> Result<(f64, f64)>,
}

fn evaluation(bench: &mut Bench, task: &Task, limits: [usize; 2]) -> Result<()> {
    let tools = &bench.tools;
    let setting = |limit| format!("max_iterations={limit}");
    let ours = limits.map(|limit| {
        let flags = ["--learner", "lbfgs", "--c2", "1", "--json", "--passes", &limit.to_string()];
        tools.train(task, &flags, OUR_MODEL)
    });
    let compliant =
        limits.map(|limit| tools.compliant_learn(task, "lbfgs", &["c2=1", &setting(limit)], THEIR_MODEL));
    let python = limits.map(|limit| {
        tools.crfsuite(task, &["train", "train.crfsuite", THEIR_MODEL, "lbfgs", "c2=1", &setting(limit)])
    });
    let mut compared = vec![
        Tool { name: "seqoia", calls: ours, cost: runs::ours },
        Tool { name: "crfsuite-compliant-rs", calls: compliant, cost: runs::compliant },
        Tool { name: "python-crfsuite", calls: python, cost: runs::python },
    ];
    if !tools.has_learner("lbfgs") {
        screen::note("without seqoia, since `seqoia train --learner list` does not show lbfgs");
        compared.remove(0);
    }
    let calls: Vec<Call> = compared.iter().flat_map(|tool| tool.calls.clone()).collect();
    let all = interleaved(bench.repeat, &calls)?;
    let mut table = Table::new(
        "many-labels",
        format!("{}, one evaluation of objective and gradient", task.title),
        &["CPU s", "ratio", "peak", "ratio of peaks", "own estimate"],
    );
    let mut first = None;
    for (tool, runs) in compared.iter().zip(all.chunks(2)) {
        let (seconds, _) = per_evaluation(&runs[0], &runs[1], tool.cost)?;
        let highest = peak(&runs[0]).max(peak(&runs[1]));
        let (first_seconds, first_peak) = *first.get_or_insert((seconds, highest));
        // Only ours says beforehand what it will take.
        let estimate = Log::parse(&runs[1][0].output).map_or(Cell::Empty, |log| Cell::Bytes(log.estimate));
        table.command(tool.name, tool.calls[1].line());
        table.row(
            tool.name,
            [
                Cell::Seconds(seconds),
                times(seconds, first_seconds),
                Cell::Bytes(highest),
                times(real(highest), real(first_peak)),
                estimate,
            ],
        );
    }
    table.note(format!("by the difference of runs of {} and {} iterations", limits[1], limits[0]));
    bench.show(&table)
}

/// Ten passes of the averaged perceptron, last weights; ours with the pairs that occur and with all.
fn accuracy(bench: &mut Bench, task: &Task) -> Result<()> {
    let tools = &bench.tools;
    let ours = |model: &str, flags: &[&str]| {
        let flags = [&["--learner", "averaged-perceptron", "--passes", PASSES], flags].concat();
        tools.train(task, &flags, model)
    };
    let theirs = ["train", "train.crfsuite", THEIR_MODEL, "ap", &format!("max_iterations={PASSES}")];
    let models = [OUR_MODEL, "labels-all.seqoia"];
    let calls = [ours(models[0], &[]), ours(models[1], &["--pairs", "all"]), tools.crfsuite(task, &theirs)];
    let runs = interleaved(bench.repeat, &calls)?;
    let mut fits = vec![];
    for run in &runs[2] {
        fits.push(Fit::parse(&run.output)?);
    }
    let theirs = median(fits.iter().map(Fit::cpu));
    let mut table = Table::new(
        "many-labels",
        format!("{}, averaged perceptron, {PASSES} passes", task.title),
        &["CPU s", "ratio", "dev", "test", "peak"],
    );
    let names = ["seqoia", "seqoia, all pairs", "python-crfsuite"];
    for (number, ((name, runs), call)) in names.into_iter().zip(&runs).zip(&calls).enumerate() {
        table.command(name, call.line());
        let model = models.get(number).copied();
        let seconds = if model.is_some() { cpu(runs) } else { theirs };
        let mut cells = vec![Cell::Seconds(seconds), times(theirs, seconds)];
        for file in [task.dev, task.test] {
            cells.push(Cell::Percent(match model {
                Some(model) => score::ours(tools, task, model, file)?,
                None => {
                    let data = Path::new(file).with_extension("crfsuite");
                    let args = ["tag", &data.to_string_lossy(), THEIR_MODEL];
                    tools.crfsuite(task, &args).into_file("predicted").run()?;
                    score::predicted(tools, task, file)?
                }
            }));
        }
        cells.push(Cell::Bytes(peak(runs)));
        table.row(name, cells);
    }
    table.note("CRFsuite's seconds are those inside the library, ours the whole process");
    bench.show(&table)
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn real(n: u64) -> f64 {
    n as f64
}
