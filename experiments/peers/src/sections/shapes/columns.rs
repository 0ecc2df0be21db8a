//! What is measured on a row: the calls that a column needs, and the figure that comes out of their runs.
//!
//! - `lbfgs`, `lbfgs-f32`: an iteration, the mean of the eight behind the ninth (of very many steps: of the two behind
//!   the second); c2 = 1 on both sides. Ours is a run of 17 less one of 9. python-crfsuite tells when an iteration ends, so one run does, and its long preparation is not
//!   in the difference. Single precision is compared with double precision, too.
//! - `ap`: an epoch of the averaged perceptron, the mean of the four or more behind the second, in the same way; so many
//!   that ours take [`ENOUGH`] seconds.
//! - `adagrad`: one pass and everything around it, against one pass of Vowpal Wabbit's search, reading included on
//!   both sides; the start of Python is subtracted.
//! - `reading`: a run of 2 epochs less 2 epochs, against crfsuite-compliant-rs, which reads text, too.
//! - `labelling`: tokens per second per core of `predict`, reading and writing included, against python-crfsuite's
//!   tagger on ready lists. A run on one sequence is subtracted for the start.
//! - Both also by the clock, with two threads against one, ours alone.
//! - `memory`: peak of the run of 17 iterations. python-crfsuite is fed line by line, so no Python lists of the whole
//!   file count; the interpreter does.
//! - `whole`: see `whole.rs`.

use anyhow::{Context, Result};
use clap::ValueEnum;
use seqoia::core::cast;
use serde::Deserialize;

use super::row::Row;
use crate::measure::{Call, Usage, cpu, median, wall};
use crate::runs::{Fit, Log};
use crate::table::Cell;
use crate::tools::Tools;

/// CPU seconds that the measured epochs should take together: less is noise.
const ENOUGH: f64 = 0.3;
/// The most epochs.
const MOST: usize = 100;
/// Vowpal Wabbit learns one classifier for each label: with more than this it is not a rival.
const SEARCHED: usize = 120;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Column {
    /// An iteration of L-BFGS
    Lbfgs,
    /// The same in single precision
    LbfgsF32,
    /// An epoch of the averaged perceptron
    Ap,
    /// One pass of AdaGrad, reading included
    Adagrad,
    /// Reading the training file
    Reading,
    /// Labelling, in tokens per second
    Labelling,
    /// Peak memory of L-BFGS
    Memory,
    /// Whole training and the quality of the model, real rows only
    Whole,
}

/// Ours beside theirs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// What was measured.
    pub(super) column: &'static str,
    /// Who theirs is.
    pub(super) rival: &'static str,
    /// With its unit.
    pub(super) ours: Cell,
    /// With its unit.
    pub(super) theirs: Cell,
    /// How many times better ours is.
    pub(super) ratio: f64,
}

impl Figure {
    /// Of CPU seconds.
    pub(super) fn seconds(column: &'static str, rival: &'static str, ours: f64, theirs: f64) -> Figure {
        Figure {
            column,
            rival,
            ours: Cell::Seconds(ours),
            theirs: Cell::Seconds(theirs),
            ratio: theirs / ours,
        }
    }
}

/// What the script tells about labelling.
#[derive(Deserialize)]
struct Speed {
    tokens: f64,
    seconds: f64,
}

impl Column {
    /// Whether it has a meaning for this row.
    pub(super) fn fits(self, row: &Row) -> bool {
        match self {
            Column::Adagrad => row.task.counts.labels.len() <= SEARCHED,
            Column::Whole => row.whole.is_some(),
            _ => true,
        }
    }

    /// Calls that are made in turns.
    pub(super) fn calls(self, tools: &Tools, row: &Row) -> Vec<Call> {
        let task = &row.task;
        let ours = |passes| our_lbfgs(tools, row, passes, "f64");
        let theirs = || their_training(tools, row, "lbfgs", &["c2=1"], row.passes[1]);
        match self {
            Column::Lbfgs => row.passes.map(ours).into_iter().chain([theirs()]).collect(),
            Column::LbfgsF32 => {
                let single = |passes| our_lbfgs(tools, row, passes, "f32");
                [row.passes.map(single), row.passes.map(ours)]
                    .concat()
                    .into_iter()
                    .chain([theirs()])
                    .collect()
            }
            Column::Ap => {
                let theirs = their_training(tools, row, "ap", &[], row.ap[1]);
                row.ap.map(|passes| epochs(tools, row, 1, passes)).into_iter().chain([theirs]).collect()
            }
            Column::Adagrad => vec![
                tools.train(task, &["--learner", "adagrad", "--passes", "1"], "adagrad.seqoia"),
                tools.vowpal_learn(task, &["-b", "22", "--search_alpha", "1e-6"], "vw.model"),
                tools.vowpal(task, &["--version"]),
            ],
            Column::Reading => {
                let theirs = |passes: usize| {
                    let settings = [format!("max_iterations={passes}")];
                    tools.compliant_learn(task, "ap", &[&settings[0]], "compliant.crfsuite-model")
                };
                let ours = |threads| row.epochs.map(|passes| epochs(tools, row, threads, passes));
                [ours(1), row.epochs.map(theirs), ours(2)].concat()
            }
            Column::Labelling => {
                let ours = |threads: &str, file: &str| {
                    let model = our_model(row.passes[1], "f64");
                    let args = ["predict", "--quiet", "--threads", threads, "-m", &model, file];
                    tools.seqoia(task, &args).into_file("predicted")
                };
                let both = |threads| [ours(threads, &row.inputs[0]), ours(threads, &row.inputs[1])];
                let model = their_model("lbfgs", row.passes[1]);
                let theirs = tools.crfsuite(task, &["speed", row.theirs[1], &model]);
                [both("1"), both("2")].concat().into_iter().chain([theirs]).collect()
            }
            Column::Memory => vec![ours(row.passes[1]), theirs()],
            Column::Whole => vec![], // made once, not in turns
        }
    }

    /// Calls that leave models for the others; once is enough.
    pub(super) fn models(self, tools: &Tools, row: &Row) -> Vec<Call> {
        match self {
            Column::Labelling => vec![
                our_lbfgs(tools, row, row.passes[1], "f64"),
                their_training(tools, row, "lbfgs", &["c2=1"], row.passes[1]),
            ],
            _ => vec![],
        }
    }

    /// What the runs of its calls say, in their order.
    ///
    /// # Errors
    /// Output that is not as expected.
    pub(super) fn figures(self, row: &Row, runs: &[&[Usage]]) -> Result<Vec<Figure>> {
        let (crfsuite, vowpal) = ("python-crfsuite", "vowpalwabbit");
        Ok(match self {
            Column::Lbfgs => {
                let (ours, theirs) = (ours(row.passes, runs[0], runs[1]), theirs(row.passes, runs[2])?);
                vec![Figure::seconds("lbfgs", crfsuite, ours, theirs)]
            }
            Column::LbfgsF32 => {
                if same_sums(runs[1], runs[3]) {
                    return Ok(vec![]); // sums over pairs are in double precision always
                }
                let [single, double] = [0, 2].map(|at| ours(row.passes, runs[at], runs[at + 1]));
                let theirs = theirs(row.passes, runs[4])?;
                vec![
                    Figure::seconds("lbfgs-f32", crfsuite, single, theirs),
                    Figure::seconds("f32 to f64", "seqoia f64", single, double),
                ]
            }
            Column::Ap => {
                let (ours, theirs) = (ours(row.ap, runs[0], runs[1]), theirs(row.ap, runs[2])?);
                vec![Figure::seconds("ap", crfsuite, ours, theirs)]
            }
            Column::Adagrad => {
                vec![Figure::seconds("adagrad", vowpal, cpu(runs[0]), cpu(runs[1]) - cpu(runs[2]))]
            }
            Column::Reading => {
                let of = |at: usize, time| reading(row.epochs, runs[at], runs[at + 1], time);
                let threads = [of(4, wall), of(0, wall)];
                vec![
                    Figure::seconds("reading", "crfsuite-compliant-rs", of(0, cpu), of(2, cpu)),
                    Figure::seconds("reading 2 threads", "seqoia 1 thread", threads[0], threads[1]),
                ]
            }
            Column::Labelling => {
                let tokens = cast::real64(row.tokens);
                let of = |at: usize, time: Time| tokens / (time(runs[at]) - time(runs[at + 1]));
                let mut speeds = vec![];
                for run in runs[4] {
                    let speed: Speed =
                        serde_json::from_str(&run.output).context("the script did not tell its speed")?;
                    speeds.push(speed.tokens / speed.seconds);
                }
                let rates = |column, rival, ours: f64, theirs: f64| {
                    let ratio = ours / theirs;
                    Figure { column, rival, ours: Cell::Rate(ours), theirs: Cell::Rate(theirs), ratio }
                };
                vec![
                    rates("labelling", crfsuite, of(0, cpu), median(speeds)),
                    rates("labelling 2 threads", "seqoia 1 thread", of(2, wall), of(0, wall)),
                ]
            }
            Column::Memory => {
                let peak = |runs: &[Usage]| {
                    let mut peaks: Vec<u64> = runs.iter().map(|run| run.peak).collect();
                    peaks.sort_unstable();
                    peaks[peaks.len() / 2]
                };
                let (ours, theirs) = (peak(runs[0]), peak(runs[1]));
                let ratio = cast::real64(theirs) / cast::real64(ours);
                let [ours, theirs] = [ours, theirs].map(Cell::Bytes);
                vec![Figure { column: "memory", rival: crfsuite, ours, theirs, ratio }]
            }
            Column::Whole => vec![],
        })
    }
}

fn our_model(passes: usize, precision: &str) -> String {
    format!("lbfgs-{passes}-{precision}.seqoia")
}

fn their_model(algorithm: &str, passes: usize) -> String {
    format!("{algorithm}-{passes}.crfsuite-model")
}

fn our_lbfgs(tools: &Tools, row: &Row, passes: usize, precision: &str) -> Call {
    let number = passes.to_string();
    let flags = ["--learner", "lbfgs", "--c2", "1", "--passes", &number, "--precision", precision, "--json"];
    tools.train(&row.task, &flags, &our_model(passes, precision))
}

fn their_training(tools: &Tools, row: &Row, algorithm: &str, settings: &[&str], passes: usize) -> Call {
    let call =
        tools.crfsuite(&row.task, &["train", row.theirs[0], &their_model(algorithm, passes), algorithm]);
    call.with(settings).with(&[&format!("max_iterations={passes}")])
}

/// Our averaged perceptron.
pub(super) fn epochs(tools: &Tools, row: &Row, threads: usize, passes: usize) -> Call {
    let flags = ["--learner", "averaged-perceptron", "--passes", &passes.to_string(), "--json"];
    tools.train_with(&row.task, threads, &flags, &format!("ap-{passes}.seqoia"))
}

/// Epochs whose difference takes long enough, where this one took `seconds`.
pub(super) fn enough(epochs: [usize; 2], seconds: f64) -> [usize; 2] {
    let [few, more] = epochs;
    let long = |more: &usize| cast::real(more - few) * seconds >= ENOUGH * cast::real(epochs[1] - few);
    [few, (more..MOST).find(long).unwrap_or(MOST)]
}

/// Whether two runs of L-BFGS went the same way to the bit.
fn same_sums(a: &[Usage], b: &[Usage]) -> bool {
    let objectives = |runs: &[Usage]| Some(Log::parse(&runs.first()?.output).ok()?.objectives);
    objectives(a).is_some_and(|a| objectives(b).is_some_and(|b| a == b))
}

/// CPU time, or that by the clock.
type Time = fn(&[Usage]) -> f64;

/// A pass of ours, from runs of few passes and of more.
fn ours(passes: [usize; 2], few: &[Usage], more: &[Usage]) -> f64 {
    (cpu(more) - cpu(few)) / cast::real(passes[1] - passes[0])
}

/// The same of python-crfsuite's, from runs of more.
fn theirs(passes: [usize; 2], more: &[Usage]) -> Result<f64> {
    let mut costs = vec![];
    for run in more {
        costs.push(Fit::parse(&run.output)?.iteration(passes[0], passes[1]));
    }
    Ok(median(costs))
}

/// Everything but the epochs, from runs of few epochs and of more.
fn reading(epochs: [usize; 2], few: &[Usage], more: &[Usage], time: Time) -> f64 {
    time(few) - cast::real(epochs[0]) * (time(more) - time(few)) / cast::real(epochs[1] - epochs[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCHS: [usize; 2] = [2, 6];

    fn run(cpu: f64, output: &str) -> Usage {
        Usage { cpu, wall: cpu, peak: 0, output: output.to_owned() }
    }

    #[test]
    fn passes_and_reading_by_difference() {
        let (few, more) = ([run(5.0, ""), run(6.0, "")], [run(9.0, ""), run(10.0, ""), run(9.5, "")]);
        assert_eq!(ours(EPOCHS, &few, &more), 1.0);
        assert_eq!(reading(EPOCHS, &few, &more, cpu), 3.5);
    }

    #[test]
    fn short_epochs_are_more() {
        assert_eq!(enough(EPOCHS, 0.5), EPOCHS); // 0.5 s for four epochs
        assert_eq!(enough(EPOCHS, 0.1), [2, 14]); // 12 of 0.025 s
        assert_eq!(enough(EPOCHS, 0.001), [2, MOST]);
        assert_eq!(enough(EPOCHS, -0.1), [2, MOST]);
    }

    #[test]
    fn double_precision_is_known_by_its_sums() {
        let log = |objective: f64| {
            let text = format!(
                "{{\"event\":\"start\",\"sequences\":1,\"memory\":1,\"weights\":1}}\n\
                 {{\"event\":\"pass\",\"objective\":{objective},\"effective_passes\":1}}"
            );
            [run(1.0, &text)]
        };
        assert!(same_sums(&log(0.5), &log(0.5)) && !same_sums(&log(0.5), &log(0.25)));
        assert!(!same_sums(&[run(1.0, "")], &[run(1.0, "")]));
    }

    #[test]
    fn iterations_of_theirs_are_told() {
        let text = r#"{"append":1,"train":9,"features":3,"losses":[],"seconds":[],"trials":[],"ends":[1,2,4,7,11,14]}"#;
        assert_eq!(theirs(EPOCHS, &[run(0.0, text)]).unwrap(), 3.0);
    }
}
