//! What a user can choose about training, checked once.

mod data;
mod features;
mod label;

use std::sync::Arc;

use seqoia_core::param::Settings;
use seqoia_learners::registry::{Entry, LEARNERS, Penalty};
use seqoia_structures::chain::Precision;

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};

pub use data::{DataOptions, PairChoice, RuleChoice};
pub use features::{FeatureChoice, Features};
pub use label::LabelColumn;

/// A penalty as the user gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// A number.
    Plain(f64),
    /// A number divided by the number of training examples: other tools' units.
    OverN(f64),
}

impl Strength {
    /// The number of the objective.
    #[must_use]
    pub fn value(self, n: f64) -> f64 {
        match self {
            Strength::Plain(x) => x,
            Strength::OverN(x) => x / n,
        }
    }
}

/// How many passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// This many.
    Exactly(u64),
    /// At most this many; the learner's own test may end it before.
    AtMost(u64),
}

/// Who works on what, when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    /// One example at a time.
    Serial,
    /// Batches in parallel.
    Minibatch,
    /// Whole passes.
    Batch,
}

impl StrategyChoice {
    /// All, with a line about each.
    pub const ALL: [(StrategyChoice, &'static str, &'static str); 3] = [
        (StrategyChoice::Serial, "serial", "one example at a time"),
        (StrategyChoice::Minibatch, "minibatch", "--batch-size examples in parallel, then one step"),
        (StrategyChoice::Batch, "batch", "whole passes, for learners that work on them"),
    ];

    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|s| s.0 == self).map_or("", |s| s.1)
    }

    /// By name.
    ///
    /// # Errors
    /// A sentence with the nearest name.
    pub fn parse(name: &str) -> std::result::Result<Self, String> {
        if let Some(found) = Self::ALL.iter().find(|s| s.1 == name) {
            return Ok(found.0);
        }
        let names = Self::ALL.map(|s| s.1);
        Err(match seqoia_core::param::nearest(name, names.into_iter()) {
            Some(other) => format!("there is no strategy '{name}'; did you mean {other}?"),
            None => format!("there is no strategy '{name}'; there are: {}", names.join(", ")),
        })
    }
}

const L1: &str = "|w|_1 (--l1, --c1, --rho1)";
const L2: &str = "|w|^2 (--l2, --c2, --rho2, -C)";

/// How to learn.
#[derive(Clone)]
pub struct TrainOptions {
    /// The learner.
    pub learner: &'static Entry,
    /// Its parameters.
    pub settings: Settings,
    /// l1, if given.
    pub l1: Option<Strength>,
    /// l2, if given.
    pub l2: Option<Strength>,
    /// The strategy; the learner's own if none.
    pub strategy: Option<StrategyChoice>,
    /// Examples a step.
    pub batch_size: usize,
    /// At most this many threads; never changes the result.
    pub threads: usize,
    /// How many passes; the learner's own number if none.
    pub passes: Option<Passes>,
    /// Keep the last weights instead of the best on dev data.
    pub keep_last: bool,
    /// Stop after so many passes without gain on dev data.
    pub patience: Option<u64>,
    /// Fixes all that is random.
    pub seed: u64,
    /// Arithmetic of sums over whole passes.
    pub precision: Precision,
    /// Labels that search keeps a position; exact search if none.
    pub beam: Option<usize>,
    /// Weights to start from, as long as the training set's; zeros if none.
    pub start: Option<Vec<f64>>,
    /// A checkpoint after so many passes each, and at the end: see [`crate::Watch::checkpoint`].
    pub checkpoint_every: Option<u64>,
    /// A run to go on with.
    pub resume: Option<Arc<Checkpoint>>,
}

impl TrainOptions {
    /// A learner with its defaults.
    #[must_use]
    pub fn new(learner: &'static Entry, settings: Settings) -> Self {
        TrainOptions {
            learner,
            settings,
            l1: None,
            l2: None,
            strategy: None,
            batch_size: 1,
            threads: 1,
            passes: None,
            keep_last: false,
            patience: None,
            seed: 1,
            precision: Precision::F64,
            beam: None,
            start: None,
            checkpoint_every: None,
            resume: None,
        }
    }

    /// The update for inexact search, if the user chose one.
    pub(crate) fn update(&self) -> Option<&'static str> {
        self.settings.word("update")
    }

    /// The strategy that will run.
    ///
    /// # Errors
    /// A batch size that the strategy does not use, penalties that the learner does not know, a beam for
    /// one that does not search.
    pub fn check(&self) -> Result<StrategyChoice> {
        let name = self.learner.name;
        let unknown = |what: &str| {
            let others = LEARNERS.iter().filter(|l| match what {
                L1 => l.penalty == Penalty::L1L2,
                _ => l.penalty != Penalty::None,
            });
            let others: Vec<_> = others.map(|l| l.name).collect();
            Err(Error::Option(format!("{name} has no penalty {what}; these have: {}", others.join(", "))))
        };
        match self.learner.penalty {
            Penalty::None if self.l1.is_some() => return unknown(L1),
            Penalty::None if self.l2.is_some() => return unknown(L2),
            Penalty::L2 if self.l1.is_some() => return unknown(L1),
            _ => (),
        }
        match self.patience {
            Some(0) => return Err(Error::Option("--patience 0: at least one pass is needed".to_owned())),
            Some(_) if self.keep_last => {
                let what = "--patience counts the passes since the best one: it goes with --keep best";
                return Err(Error::Option(what.to_owned()));
            }
            _ => (),
        }
        let strategy = self.strategy.unwrap_or(match (self.learner.whole, self.batch_size) {
            (true, _) => StrategyChoice::Batch,
            (false, 0..=1) => StrategyChoice::Serial,
            (false, _) => StrategyChoice::Minibatch,
        });
        match (self.learner.whole, strategy) {
            (true, StrategyChoice::Minibatch) => {
                return Err(Error::Option(format!(
                    "{name} works on whole passes: use strategy batch or serial"
                )));
            }
            (false, StrategyChoice::Batch) => {
                return Err(Error::Option(format!(
                    "{name} works on single examples: use strategy serial or minibatch"
                )));
            }
            _ => (),
        }
        if self.precision == Precision::F32 && !self.learner.whole {
            return Err(Error::Option(format!(
                "{name} does not use --precision f32: it makes no sums over whole passes"
            )));
        }
        if self.beam.is_some() && !self.learner.searches() {
            let others: Vec<_> = LEARNERS.iter().filter(|l| l.searches()).map(|l| l.name).collect();
            return Err(Error::Option(format!(
                "{name} does not search, so it does not use --beam; these do: {}",
                others.join(", ")
            )));
        }
        if let (None, Some(update)) = (self.beam, self.update().filter(|u| *u != "full")) {
            return Err(Error::Option(format!(
                "--update {update} goes with --beam N: without a beam the search is exact, and whole labellings \
                 are compared"
            )));
        }
        if self.batch_size > 1 && strategy != StrategyChoice::Minibatch {
            return Err(Error::Option(format!(
                "--batch-size {}: strategy {} does not use it; minibatch does",
                self.batch_size,
                strategy.name()
            )));
        }
        Ok(strategy)
    }
}
