//! What is measured on a row: the calls that a column needs, and the figure that comes out of their runs.
//!
//! - `lbfgs`, `lbfgs-f32`: an iteration, the mean of the eight behind the ninth; c2 = 1 on both sides. Ours is a run of
//!   17 less one of 9. python-crfsuite tells when an iteration ends, so one run does, and its long preparation is not
//!   in the difference. Single precision is compared with double precision, too.
//! - `ap`: an epoch of the averaged perceptron, the mean of the four behind the second, in the same way.
//! - `adagrad`: one pass and everything around it, against one pass of Vowpal Wabbit's search, reading included on
//!   both sides; the start of Python is subtracted.
//! - `reading`: a run of 2 epochs less 2 epochs, against crfsuite-compliant-rs, which reads text, too.
//! - `labelling`: tokens per second per core of `predict`, reading and writing included, against python-crfsuite's
//!   tagger on ready lists. A run on one sequence is subtracted for the start.
//! - `memory`: peak of the run of 17 iterations. python-crfsuite is fed line by line, so no Python lists of the whole
//!   file count; the interpreter does.

use anyhow::{Context, Result};
use clap::ValueEnum;
use seqoia::core::cast;
use serde::Deserialize;

use super::row::Row;
use crate::measure::{Call, Usage, cpu, median};
use crate::runs::Fit;
use crate::table::Cell;
use crate::tools::Tools;

/// Iterations of L-BFGS.
const PASSES: [usize; 2] = [9, 17];
/// Epochs of the averaged perceptron.
const EPOCHS: [usize; 2] = [2, 6];
/// More labels than this are always summed in double precision.
const SINGLE: usize = 64;
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
    fn seconds(column: &'static str, rival: &'static str, ours: f64, theirs: f64) -> Figure {
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
        let labels = row.task.counts.labels.len();
        match self {
            Column::LbfgsF32 => labels <= SINGLE,
            Column::Adagrad => labels <= SEARCHED,
            _ => true,
        }
    }

    /// Calls that are made in turns.
    pub(super) fn calls(self, tools: &Tools, row: &Row) -> Vec<Call> {
        let task = &row.task;
        let ours = |passes| our_lbfgs(tools, row, passes, "f64");
        let theirs = || their_training(tools, row, "lbfgs", &["c2=1"], PASSES[1]);
        let epochs = |passes: usize| {
            let flags = ["--learner", "averaged-perceptron", "--passes", &passes.to_string()];
            tools.train(task, &flags, &format!("ap-{passes}.seqoia"))
        };
        match self {
            Column::Lbfgs => PASSES.map(ours).into_iter().chain([theirs()]).collect(),
            Column::LbfgsF32 => {
                let single = |passes| our_lbfgs(tools, row, passes, "f32");
                [PASSES.map(single), PASSES.map(ours)].concat().into_iter().chain([theirs()]).collect()
            }
            Column::Ap => {
                let theirs = their_training(tools, row, "ap", &[], EPOCHS[1]);
                EPOCHS.map(epochs).into_iter().chain([theirs]).collect()
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
                [EPOCHS.map(epochs), EPOCHS.map(theirs)].concat()
            }
            Column::Labelling => {
                let ours = |file: &str| {
                    let model = our_model(PASSES[1], "f64");
                    let args = ["predict", "--quiet", "--threads", "1", "-m", &model, file];
                    tools.seqoia(task, &args).into_file("predicted")
                };
                let model = their_model("lbfgs", PASSES[1]);
                let theirs = tools.crfsuite(task, &["speed", row.theirs[1], &model]);
                vec![ours(&row.inputs[0]), ours(&row.inputs[1]), theirs]
            }
            Column::Memory => vec![ours(PASSES[1]), theirs()],
        }
    }

    /// Calls that leave models for the others; once is enough.
    pub(super) fn models(self, tools: &Tools, row: &Row) -> Vec<Call> {
        match self {
            Column::Labelling => vec![
                our_lbfgs(tools, row, PASSES[1], "f64"),
                their_training(tools, row, "lbfgs", &["c2=1"], PASSES[1]),
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
                let (ours, theirs) = (ours(PASSES, runs[0], runs[1]), theirs(PASSES, runs[2])?);
                vec![Figure::seconds("lbfgs", crfsuite, ours, theirs)]
            }
            Column::LbfgsF32 => {
                let [single, double] = [0, 2].map(|at| ours(PASSES, runs[at], runs[at + 1]));
                let theirs = theirs(PASSES, runs[4])?;
                vec![
                    Figure::seconds("lbfgs-f32", crfsuite, single, theirs),
                    Figure::seconds("f32 to f64", "seqoia f64", single, double),
                ]
            }
            Column::Ap => {
                let (ours, theirs) = (ours(EPOCHS, runs[0], runs[1]), theirs(EPOCHS, runs[2])?);
                vec![Figure::seconds("ap", crfsuite, ours, theirs)]
            }
            Column::Adagrad => {
                vec![Figure::seconds("adagrad", vowpal, cpu(runs[0]), cpu(runs[1]) - cpu(runs[2]))]
            }
            Column::Reading => {
                let (ours, theirs) = (reading(runs[0], runs[1]), reading(runs[2], runs[3]));
                vec![Figure::seconds("reading", "crfsuite-compliant-rs", ours, theirs)]
            }
            Column::Labelling => {
                let tokens = cast::real64(row.tokens);
                let ours = tokens / (cpu(runs[0]) - cpu(runs[1]));
                let mut speeds = vec![];
                for run in runs[2] {
                    let speed: Speed =
                        serde_json::from_str(&run.output).context("the script did not tell its speed")?;
                    speeds.push(speed.tokens / speed.seconds);
                }
                let theirs = median(speeds);
                let (ratio, rival) = (ours / theirs, crfsuite);
                let [ours, theirs] = [ours, theirs].map(Cell::Rate);
                vec![Figure { column: "labelling", rival, ours, theirs, ratio }]
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
fn reading(few: &[Usage], more: &[Usage]) -> f64 {
    cpu(few) - cast::real(EPOCHS[0]) * ours(EPOCHS, few, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cpu: f64, output: &str) -> Usage {
        Usage { cpu, wall: cpu, peak: 0, output: output.to_owned() }
    }

    #[test]
    fn passes_and_reading_by_difference() {
        let (few, more) = ([run(5.0, ""), run(6.0, "")], [run(9.0, ""), run(10.0, ""), run(9.5, "")]);
        assert_eq!(ours(EPOCHS, &few, &more), 1.0);
        assert_eq!(reading(&few, &more), 3.5);
    }

    #[test]
    fn iterations_of_theirs_are_told() {
        let text = r#"{"append":1,"train":9,"features":3,"losses":[],"seconds":[],"trials":[],"ends":[1,2,4,7,11,14]}"#;
        assert_eq!(theirs(EPOCHS, &[run(0.0, text)]).unwrap(), 3.0);
    }
}
