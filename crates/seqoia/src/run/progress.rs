//! What a run tells while it works, and what it gives in the end.

use seqoia_core::{Report, Score};

/// Why training ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All passes were made.
    Passes,
    /// As many evaluations per example as were wanted.
    Evaluations,
    /// The learner's own test, in its words.
    Converged(String),
    /// No gain on dev data for so many passes.
    Patience(u64),
    /// The user wanted it.
    Interrupted,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Passes => write!(f, "all passes made"),
            Ended::Evaluations => write!(f, "all effective passes made"),
            Ended::Converged(why) => write!(f, "{why}"),
            Ended::Patience(1) => write!(f, "no gain on dev data for 1 pass"),
            Ended::Patience(n) => write!(f, "no gain on dev data for {n} passes"),
            Ended::Interrupted => write!(f, "by the user"),
        }
    }
}

/// One row of the training table.
#[derive(Clone, Debug)]
pub struct PassRow {
    /// Number of the pass, from 1.
    pub number: u64,
    /// What the learner saw.
    pub report: Report,
    /// F, if the learner knows it.
    pub objective: Option<f64>,
    /// The l2 that it was made under, on a path of several.
    pub l2: Option<f64>,
    /// Examples of the training set; where they are cut, pieces.
    pub examples: usize,
    /// Dev scores; the first decides.
    pub scores: Vec<Score>,
    /// The best pass so far.
    pub best: bool,
}

/// What became of one l2 of a path.
#[derive(Clone, Debug)]
pub struct PathRow {
    /// The l2.
    pub l2: f64,
    /// Passes made under it.
    pub passes: u64,
    /// F under it, if the structure has log loss.
    pub objective: Option<f64>,
    /// Weights that are not 0 in a model.
    pub nonzero: usize,
    /// Dev scores of its last weights.
    pub scores: Vec<Score>,
}

/// Bytes of a learner's memory of each example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// What it takes.
    pub bytes: usize,
    /// What a gradient of each example would take, in single precision, with every weight.
    pub dense: usize,
}

/// Is told what happens; prints, logs or does nothing.
pub trait Watch {
    /// The learner has gone through the data. What is only to be told (objective, dev scores) follows, then `pass`.
    fn learned(&mut self) {}
    /// A pass has ended.
    fn pass(&mut self, row: &PassRow);
    /// An l2 of a path has come to its end, after its last pass.
    fn path(&mut self, _row: &PathRow) {}
    /// A checkpoint is to be kept ([`LearnOptions::checkpoint_every`](super::LearnOptions::checkpoint_every)): the
    /// bytes of its file.
    fn checkpoint(&mut self, _pass: u64, _file: &[u8]) {}
}

impl Watch for () {
    fn pass(&mut self, _: &PassRow) {}
}

/// What training gives.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The weights to ship.
    pub weights: Vec<f64>,
    /// Open feature spaces: what the weights belong to, see [`seqoia_core::Structure::memo`].
    pub memo: Option<Vec<u8>>,
    /// Dev scores of these weights.
    pub scores: Vec<Score>,
    /// The pass they are from.
    pub best_pass: u64,
    /// Passes made.
    pub passes: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The l2 that they were learned under.
    pub l2: f64,
    /// The table of learners that remember each example.
    pub table: Option<TableSize>,
}

/// How far a run has come: what a checkpoint holds beside the learner's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Passes made.
    pub(super) pass: u64,
    /// Evaluations per example so far at this l2, of this run alone.
    pub(super) effective: f64,
    /// Number of the l2 on a path.
    pub(super) step: usize,
    /// Passes made before it.
    pub(super) before: u64,
    /// Number of the l2 that the weights to ship are from.
    pub(super) best_step: usize,
    /// The learner's own test held after the last one, in its words.
    pub(super) converged: Option<String>,
    /// The weights to ship.
    pub(super) best: Vec<f64>,
    /// The pass they are from.
    pub(super) best_pass: u64,
    /// Their dev scores.
    pub(super) scores: Vec<Score>,
}
