//! What is measured on a row: the calls that a column needs, and the figure that comes out of their runs.
//!
//! - `lbfgs`, `lbfgs-f32`: an iteration, as a run of 17 less one of 9, divided by 8; c2 = 1 on both sides.
//!   python-crfsuite's time is that inside `train`. Single precision is compared with double precision, too.
//! - `ap`: an epoch of the averaged perceptron, as a run of 6 less one of 2, divided by 4.
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
use crate::measure::{Call, Usage, median};
use crate::runs::Fit;
use crate::table::Cell;
use crate::tools::Tools;

/// Iterations of L-BFGS.
const PASSES: [&str; 2] = ["9", "17"];
/// Epochs of the averaged perceptron.
const EPOCHS: [&str; 2] = ["2", "6"];
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
        let theirs = |passes| their_training(tools, row, "lbfgs", &["c2=1"], passes);
        let epochs = |passes: &str| {
            let flags = ["--learner", "averaged-perceptron", "--passes", passes];
            tools.train(task, &flags, &format!("ap-{passes}.seqoia"))
        };
        match self {
            Column::Lbfgs => [PASSES.map(ours), PASSES.map(theirs)].concat(),
            Column::LbfgsF32 => {
                let single = |passes| our_lbfgs(tools, row, passes, "f32");
                [PASSES.map(single), PASSES.map(ours), PASSES.map(theirs)].concat()
            }
            Column::Ap => {
                let theirs = |passes| their_training(tools, row, "ap", &[], passes);
                [EPOCHS.map(epochs), EPOCHS.map(theirs)].concat()
            }
            Column::Adagrad => vec![
                tools.train(task, &["--learner", "adagrad", "--passes", "1"], "adagrad.seqoia"),
                tools.vowpal_learn(task, &["-b", "22", "--search_alpha", "1e-6"], "vw.model"),
                tools.vowpal(task, &["--version"]),
            ],
            Column::Reading => {
                let theirs = |passes: &str| {
                    let settings = [format!("max_iterations={passes}")];
                    tools.compliant_learn(task, "ap", &[&settings[0]], "compliant.crfsuite-model")
                };
                [EPOCHS.map(epochs), EPOCHS.map(theirs)].concat()
            }
            Column::Labelling => {
                let ours = |file: &str| {
                    let model = our_model(PASSES[0], "f64");
                    let args = ["predict", "--quiet", "--threads", "1", "-m", &model, file];
                    tools.seqoia(task, &args).into_file("predicted")
                };
                let model = their_model("lbfgs", PASSES[0]);
                let theirs = tools.crfsuite(task, &["speed", row.theirs[1], &model]);
                vec![ours(&row.inputs[0]), ours(&row.inputs[1]), theirs]
            }
            Column::Memory => vec![ours(PASSES[1]), theirs(PASSES[1])],
        }
    }

    /// Calls that leave models for the others; once is enough.
    pub(super) fn models(self, tools: &Tools, row: &Row) -> Vec<Call> {
        match self {
            Column::Labelling => vec![
                our_lbfgs(tools, row, PASSES[0], "f64"),
                their_training(tools, row, "lbfgs", &["c2=1"], PASSES[0]),
            ],
            _ => vec![],
        }
    }

    /// What the runs of its calls say, in their order.
    ///
    /// # Errors
    /// Output that is not as expected.
    pub(super) fn figures(self, row: &Row, runs: &[&[Usage]]) -> Result<Vec<Figure>> {
        let cpu = |run: &Usage| Ok(run.cpu);
        let (crfsuite, vowpal) = ("python-crfsuite", "vowpalwabbit");
        Ok(match self {
            Column::Lbfgs => {
                let (ours, theirs) = (each(runs[0], runs[1], 8.0, cpu)?, their_iteration(runs[2], runs[3])?);
                vec![Figure::seconds("lbfgs", crfsuite, ours, theirs)]
            }
            Column::LbfgsF32 => {
                let single = each(runs[0], runs[1], 8.0, cpu)?;
                let double = each(runs[2], runs[3], 8.0, cpu)?;
                let theirs = their_iteration(runs[4], runs[5])?;
                vec![
                    Figure::seconds("lbfgs-f32", crfsuite, single, theirs),
                    Figure::seconds("f32 to f64", "seqoia f64", single, double),
                ]
            }
            Column::Ap => {
                let train = |run: &Usage| Ok(Fit::parse(&run.output)?.train);
                let (ours, theirs) = (each(runs[0], runs[1], 4.0, cpu)?, each(runs[2], runs[3], 4.0, train)?);
                vec![Figure::seconds("ap", crfsuite, ours, theirs)]
            }
            Column::Adagrad => {
                let theirs = median(runs[1].iter().zip(runs[2]).map(|(pass, start)| pass.cpu - start.cpu));
                vec![Figure::seconds("adagrad", vowpal, crate::measure::cpu(runs[0]), theirs)]
            }
            Column::Reading => {
                let (ours, theirs) = (reading(runs[0], runs[1]), reading(runs[2], runs[3]));
                vec![Figure::seconds("reading", "crfsuite-compliant-rs", ours, theirs)]
            }
            Column::Labelling => {
                let tokens = cast::real64(row.tokens);
                let ours =
                    median(runs[0].iter().zip(runs[1]).map(|(many, few)| tokens / (many.cpu - few.cpu)));
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

fn our_model(passes: &str, precision: &str) -> String {
    format!("lbfgs-{passes}-{precision}.seqoia")
}

fn their_model(algorithm: &str, passes: &str) -> String {
    format!("{algorithm}-{passes}.crfsuite-model")
}

fn our_lbfgs(tools: &Tools, row: &Row, passes: &str, precision: &str) -> Call {
    let flags = ["--learner", "lbfgs", "--c2", "1", "--passes", passes, "--precision", precision, "--json"];
    tools.train(&row.task, &flags, &our_model(passes, precision))
}

fn their_training(tools: &Tools, row: &Row, algorithm: &str, settings: &[&str], passes: &str) -> Call {
    let call =
        tools.crfsuite(&row.task, &["train", row.theirs[0], &their_model(algorithm, passes), algorithm]);
    call.with(settings).with(&[&format!("max_iterations={passes}")])
}

/// What one of `count` more passes costs, by runs that were made in turns.
fn each(few: &[Usage], more: &[Usage], count: f64, cost: impl Fn(&Usage) -> Result<f64>) -> Result<f64> {
    let pairs = few.iter().zip(more);
    let costs: Vec<f64> =
        pairs.map(|(few, more)| Ok((cost(more)? - cost(few)?) / count)).collect::<Result<_>>()?;
    Ok(median(costs))
}

/// An iteration of CRFsuite's; it may have stopped before it was told to.
fn their_iteration(few: &[Usage], more: &[Usage]) -> Result<f64> {
    let mut costs = vec![];
    for (few, more) in few.iter().zip(more) {
        let [few, more] = [Fit::parse(&few.output)?, Fit::parse(&more.output)?];
        let count = more.losses.len().saturating_sub(few.losses.len());
        costs.push((more.train - few.train) / cast::real(count)); // no number if it stopped: not shown
    }
    Ok(median(costs))
}

/// Everything but the epochs, from runs of 2 and of 6.
fn reading(two: &[Usage], six: &[Usage]) -> f64 {
    median(two.iter().zip(six).map(|(two, six)| two.cpu - (six.cpu - two.cpu) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cpu: f64, output: &str) -> Usage {
        Usage { cpu, wall: cpu, peak: 0, output: output.to_owned() }
    }

    #[test]
    fn passes_and_reading_by_difference() {
        let (few, more) = ([run(5.0, ""), run(6.0, "")], [run(9.0, ""), run(10.0, "")]);
        assert_eq!(each(&few, &more, 4.0, |run| Ok(run.cpu)).unwrap(), 1.0);
        assert_eq!(reading(&few, &more), 3.5);
    }

    #[test]
    fn iterations_are_those_that_were_made() {
        let fit = |train: f64, losses: &str| {
            let text = format!(
                r#"{{"append":1,"train":{train},"features":3,"losses":[{losses}],"seconds":[],"trials":[]}}"#
            );
            run(0.0, &text)
        };
        assert_eq!(their_iteration(&[fit(1.0, "3,2")], &[fit(7.0, "3,2,1,1")]).unwrap(), 3.0);
        assert!(!their_iteration(&[fit(1.0, "3,2")], &[fit(7.0, "3,2")]).unwrap().is_finite());
    }
}
