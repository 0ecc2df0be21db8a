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
    /// Several l2, from large to small, instead of one: each begins at the weights of the one before. Empty: no path.
    pub l2_path: Vec<Strength>,
    /// Cut sequences at random into pieces of about so many tokens while learning: see [`seqoia_strategies::Cuts`].
    pub cut: Option<usize>,
    /// The strategy; the learner's own if none.
    pub strategy: Option<Chosen>,
    /// At most this many threads; never changes the result.
    pub threads: usize,
    /// How many passes; the learner's own number if none.
    pub passes: Option<Passes>,
    /// No further pass once so many evaluations per example were made; a pass is not cut short.
    pub max_effective: Option<f64>,
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
            l2_path: vec![],
            cut: None,
            strategy: None,
            threads: 1,
            passes: None,
            max_effective: None,
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
        let l2 = self.l2_path.first().copied().or(self.l2);
        Objective { l1: self.l1.map_or(0.0, |s| s.value(n)), l2: l2.map_or(usual, |s| s.value(n)) }
    }

    /// The penalties of a path, from large to small; one, if there is no path.
    ///
    /// # Errors
    /// Values that do not fall.
    pub(crate) fn path(&self, n: f64) -> Result<Vec<f64>> {
        if self.l2_path.is_empty() {
            return Ok(vec![self.objective(n).l2]);
        }
        let path: Vec<f64> = self.l2_path.iter().map(|s| s.value(n)).collect();
        if let Some(pair) = path.windows(2).find(|pair| pair[1] >= pair[0]) {
            let what = format!("{} follows {}: values go from large to small", pair[1], pair[0]);
            return Err(BadOption::of("l2-path", "", what).into());
        }
        Ok(path)
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
            Penalty::None if !self.l2_path.is_empty() => return unknown("l2-path"),
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
        if let Some(most) = self.max_effective.filter(|most| most.is_nan() || *most <= 0.0) {
            let what = "expected a number above 0";
            return Err(BadOption::of("max-effective-passes", most, what).into());
        }
        if self.objective_every == Some(0) {
            return Err(BadOption::of("objective-every", 0, "at least every pass").into());
        }
        let profile = self.profile();
        self.check_path(&profile)?;
        self.check_cut(&profile)?;
        let strategy = match &self.strategy {
            Some(chosen) => chosen.clone(),
            None => Chosen::new(None, &[], &profile)?,
        };
        let accepted = strategy.entry.accepts(&profile);
        accepted.map_err(|e| BadOption::of("strategy", strategy.entry.name, e.to_string()))?;
        Ok(strategy)
    }

    fn check_path(&self, profile: &Profile) -> Result<()> {
        let what = match self.l2_path.len() {
            0 => return Ok(()),
            1 => "give two values at least, from large to small".to_owned(),
            _ if self.l2.is_some() => "it stands for `l2`: give one of them".to_owned(),
            _ if self.patience.is_some() => {
                "it does not go with `patience`: every l2 is trained to its end".to_owned()
            }
            _ if profile.own_start => {
                format!(
                    "{} begins at weights of its own, so it cannot go on from those of another l2",
                    profile.name
                )
            }
            _ => return Ok(()),
        };
        Err(BadOption::of("l2-path", "", what).into())
    }

    fn check_cut(&self, profile: &Profile) -> Result<()> {
        let Some(length) = self.cut else { return Ok(()) };
        let can = |profile: &Profile| !profile.whole && !profile.same_examples;
        if can(profile) && length > 0 {
            return Ok(());
        }
        let what = match length {
            0 => "a piece has one token at least".to_owned(),
            _ => {
                let those = LEARNERS.iter().filter(|l| can(&l.profile(&l.defaults()))).map(|l| l.name);
                format!(
                    "{} needs the same examples in every pass, and pieces are others each time; these take it: {}",
                    profile.name,
                    those.collect::<Vec<_>>().join(", ")
                )
            }
        };
        Err(BadOption::of("cut", length, what).into())
    }
}
