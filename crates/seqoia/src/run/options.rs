//! How to learn: what a user can choose about any run, checked once.

use std::sync::Arc;

use seqoia_core::Profile;
use seqoia_core::param::Settings;
use seqoia_learners::registry::{Entry, LEARNERS, Objective, Penalty};
use seqoia_strategies::registry::Chosen;

use super::Checkpoint;
use crate::error::{BadOption, Result};

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

/// Weights to start from.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// As long as the structure's, or shorter if its feature space is open.
    pub weights: Vec<f64>,
    /// Open feature spaces: what they belong to, see [`seqoia_core::Structure::memo`].
    pub memo: Option<Vec<u8>>,
}

/// How to learn.
#[derive(Clone)]
pub struct LearnOptions {
    /// The learner.
    pub learner: &'static Entry,
    /// Its parameters.
    pub settings: Settings,
    /// l1, if given.
    pub l1: Option<Strength>,
    /// l2, if given.
    pub l2: Option<Strength>,
    /// The strategy; the learner's own if none.
    pub strategy: Option<Chosen>,
    /// At most this many threads; never changes the result.
    pub threads: usize,
    /// How many passes; the learner's own number if none.
    pub passes: Option<Passes>,
    /// Keep the last weights instead of the best on dev data.
    pub keep_last: bool,
    /// Stop after so many passes without gain on dev data.
    pub patience: Option<u64>,
    /// After every so many passes the training objective is computed, if the learner does not know it: a sweep over the data.
    pub objective_every: Option<u64>,
    /// Random seed.
    pub seed: u64,
    /// Weights to start from; zeros if none.
    pub start: Option<Start>,
    /// A checkpoint after so many passes each, and at the end: see [`crate::Watch::checkpoint`].
    pub checkpoint_every: Option<u64>,
    /// What the learner remembers of each example lies on disk, if its task has a place there.
    pub shelves: bool,
    /// A run to go on with.
    pub resume: Option<Arc<Checkpoint>>,
}

impl LearnOptions {
    /// A learner with these settings, all else by default.
    #[must_use]
    pub fn new(learner: &'static Entry, settings: Settings) -> Self {
        LearnOptions {
            learner,
            settings,
            l1: None,
            l2: None,
            strategy: None,
            threads: 1,
            passes: None,
            keep_last: false,
            patience: None,
            objective_every: None,
            seed: 1,
            start: None,
            checkpoint_every: None,
            shelves: false,
            resume: None,
        }
    }

    /// The penalties for data whose examples weigh n together.
    pub(crate) fn objective(&self, n: f64) -> Objective {
        let usual = if self.l1.is_some() { 0.0 } else { self.learner.l2 / n };
        Objective { l1: self.l1.map_or(0.0, |s| s.value(n)), l2: self.l2.map_or(usual, |s| s.value(n)) }
    }

    /// What must be known about the learner with these options. What it asks may depend on whether there is a
    /// penalty, not on how large it is, so the number of examples does not matter.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.learner.build(&self.settings, self.objective(1.0)).profile()
    }

    /// The strategy that will run.
    ///
    /// # Errors
    /// A strategy that does not take the learner, penalties that the learner does not know.
    pub fn check(&self) -> Result<Chosen> {
        let name = self.learner.name;
        let unknown = |option: &str| {
            let (norm, known): (_, fn(Penalty) -> bool) = match option {
                "l1" => ("|w|_1", |penalty| penalty == Penalty::L1L2),
                _ => ("|w|^2", |penalty| penalty != Penalty::None),
            };
            let [with, without] = [true, false]
                .map(|has| -> Vec<_> { LEARNERS.iter().filter(|l| known(l.penalty) == has).collect() });
            let names = |all: &[&Entry]| all.iter().map(|l| l.name).collect::<Vec<_>>().join(", ");
            let what = match with.len() <= without.len() {
                true => format!("{name} has no penalty {norm}; these have: {}", names(&with)),
                false => {
                    format!("{name} has no penalty {norm}; every learner but {} has one", names(&without))
                }
            };
            Err(BadOption::of(option, "", what).into())
        };
        match self.learner.penalty {
            Penalty::None if self.l1.is_some() => return unknown("l1"),
            Penalty::None if self.l2.is_some() => return unknown("l2"),
            Penalty::L2 if self.l1.is_some() => return unknown("l1"),
            _ => (),
        }
        match self.patience {
            Some(0) => return Err(BadOption::of("patience", 0, "at least one pass is needed").into()),
            Some(n) if self.keep_last => {
                let what = "it counts the passes since the best one, so it goes with `keep best`";
                return Err(BadOption::of("patience", n, what).into());
            }
            _ => (),
        }
        if self.objective_every == Some(0) {
            return Err(BadOption::of("objective-every", 0, "at least every pass").into());
        }
        let profile = self.profile();
        let strategy = match &self.strategy {
            Some(chosen) => chosen.clone(),
            None => Chosen::new(None, &[], &profile)?,
        };
        let accepted = strategy.entry.accepts(&profile);
        accepted.map_err(|e| BadOption::of("strategy", strategy.entry.name, e.to_string()))?;
        Ok(strategy)
    }
}
