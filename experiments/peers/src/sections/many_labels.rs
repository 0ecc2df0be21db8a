//! Many labels: the cost of an evaluation of objective and gradient and the peak memory with 472 and
//! with 49 tags, by the difference of L-BFGS runs, and the accuracy of the averaged perceptron.

use std::path::Path;

use anyhow::Result;

use super::times;
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, Usage, cpu, interleaved, median, peak};
use crate::runs::{Fit, Log, trials};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};

const THEIR_MODEL: &str = "labels.crfsuite-model";
const OUR_MODEL: &str = "labels.seqoia";
const PASSES: &str = "10";

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for (name, limits) in [(TaskName::Brown, ["2", "4"]), (TaskName::Xpos, ["3", "13"])] {
        if let Some(task) = bench.task(name)? {
            evaluation(bench, &task, limits)?;
        }
    }
    match bench.task(TaskName::Xpos)? {
        Some(task) => accuracy(bench, &task),
        None => Ok(()),
    }
}

/// A tool with its runs of few and of more iterations.
struct Measured {
    name: &'static str,
    line: String,
    pass: f64,
    peak: u64,
    estimate: Option<u64>,
}

fn evaluation(bench: &mut Bench, task: &Task, limits: [&str; 2]) -> Result<()> {
    let tools = &bench.tools;
    let setting = |limit: &str| format!("max_iterations={limit}");
    let ours = limits.map(|limit| {
        let log = format!("labels-{limit}.jsonl");
        let flags = ["--learner", "lbfgs", "--c2", "1", "--passes", limit, "--log", &log];
        tools.train(task, &flags, OUR_MODEL)
    });
    let compliant =
        limits.map(|limit| tools.compliant_learn(task, "lbfgs", &["c2=1", &setting(limit)], THEIR_MODEL));
    let python = limits.map(|limit| {
        tools.crfsuite(task, &["train", "train.crfsuite", THEIR_MODEL, "lbfgs", "c2=1", &setting(limit)])
    });
    let has_ours = tools.has_learner("lbfgs");
    let mut calls: Vec<Call> = compliant.iter().chain(&python).cloned().collect();
    if has_ours {
        calls.extend(ours.iter().cloned());
    } else {
        screen::note("without seqoia, since `seqoia train --learner list` does not show lbfgs");
    }
    let runs = interleaved(bench.repeat, &calls)?;
    let highest = |pair: &[Vec<Usage>]| pair.iter().map(|runs| peak(runs)).max().unwrap_or(0);
    let pass = |pair: &[Vec<Usage>], cost: &dyn Fn(&Usage) -> Result<(f64, f64)>| -> Result<f64> {
        let mut passes = vec![];
        for (few, more) in pair[0].iter().zip(&pair[1]) {
            let ((few_cpu, few_count), (cpu, count)) = (cost(few)?, cost(more)?);
            passes.push((cpu - few_cpu) / (count - few_count));
        }
        Ok(median(passes))
    };
    let mut tools_measured = vec![
        Measured {
            name: "crfsuite-compliant-rs",
            line: compliant[1].line(),
            pass: pass(&runs[..2], &|run| Ok((run.cpu, trials(&run.output))))?,
            peak: highest(&runs[..2]),
            estimate: None,
        },
        Measured {
            name: "python-crfsuite",
            line: python[1].line(),
            pass: pass(&runs[2..4], &|run| {
                let fit = Fit::parse(&run.output)?;
                Ok((fit.train, fit.trials.iter().sum()))
            })?,
            peak: highest(&runs[2..4]),
            estimate: None,
        },
    ];
    if has_ours {
        let logs = limits.map(|limit| Log::read(task, &format!("labels-{limit}.jsonl")));
        let [few, more] = logs;
        let (few, more) = (few?, more?);
        let count = more.evaluations - few.evaluations;
        let differences = runs[4].iter().zip(&runs[5]).map(|(few, more)| (more.cpu - few.cpu) / count);
        tools_measured.insert(
            0,
            Measured {
                name: "seqoia",
                line: ours[1].line(),
                pass: median(differences),
                peak: highest(&runs[4..]),
                estimate: Some(more.estimate),
            },
        );
    }
    let mut table = Table::new(
        "many-labels",
        format!("{}, one evaluation of objective and gradient", task.title),
        &["CPU s", "ratio", "peak", "ratio of peaks", "own estimate"],
    );
    let first = (tools_measured[0].pass, tools_measured[0].peak);
    for tool in &tools_measured {
        table.command(tool.name, tool.line.clone());
        table.row(
            tool.name,
            [
                Cell::Seconds(tool.pass),
                times(tool.pass, first.0),
                Cell::Bytes(tool.peak),
                times(real(tool.peak), real(first.1)),
                tool.estimate.map_or(Cell::Empty, Cell::Bytes),
            ],
        );
    }
    table.note(format!("by the difference of runs of {} and {} iterations", limits[1], limits[0]));
    bench.show(&table)
}

/// Ten passes of the averaged perceptron, last weights.
fn accuracy(bench: &mut Bench, task: &Task) -> Result<()> {
    let tools = &bench.tools;
    let ours = tools.train(task, &["--learner", "averaged-perceptron", "--passes", PASSES], OUR_MODEL);
    let theirs = ["train", "train.crfsuite", THEIR_MODEL, "ap", &format!("max_iterations={PASSES}")];
    let calls = [ours, tools.crfsuite(task, &theirs)];
    let runs = interleaved(bench.repeat, &calls)?;
    let mut fits = vec![];
    for run in &runs[1] {
        fits.push(Fit::parse(&run.output)?);
    }
    let (ours, theirs) = (cpu(&runs[0]), median(fits.iter().map(Fit::cpu)));
    let mut table = Table::new(
        "many-labels",
        format!("{}, averaged perceptron, {PASSES} passes", task.title),
        &["CPU s", "ratio", "dev", "test", "peak"],
    );
    table.command("seqoia", calls[0].line());
    table.command("python-crfsuite", calls[1].line());
    let mut our_scores = vec![];
    let mut their_scores = vec![];
    for file in [task.dev, task.test] {
        our_scores.push(Cell::Percent(score::ours(tools, task, OUR_MODEL, file)?));
        let data = Path::new(file).with_extension("crfsuite");
        let args = ["tag", &data.to_string_lossy(), THEIR_MODEL];
        tools.crfsuite(task, &args).into_file("predicted").run()?;
        their_scores.push(Cell::Percent(score::predicted(tools, task, file)?));
    }
    let rows = [("seqoia", ours, our_scores), ("python-crfsuite", theirs, their_scores)];
    for ((name, seconds, scores), runs) in rows.into_iter().zip(&runs) {
        let head = [Cell::Seconds(seconds), times(seconds, ours)];
        table.row(name, head.into_iter().chain(scores).chain([Cell::Bytes(peak(runs))]));
    }
    table.note("CRFsuite's seconds are those inside the library, ours the whole process");
    bench.show(&table)
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn real(n: u64) -> f64 {
    n as f64
}
