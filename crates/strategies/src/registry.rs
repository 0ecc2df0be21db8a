//! The list of strategies: name, parameters, which learners they take and how they are made.
//!
//! The command line, `train --strategy list` and the tests that hold for every strategy read it.

use std::sync::Arc;

use crate::{Setup, batch, minibatch, serial};
use seqoia_core::param::{Param, Settings, nearest};
use seqoia_core::{BadOption, Error, Profile, Result, Strategy, Structure};

/// Which learners a strategy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Every learner.
    Every,
    /// Those that learn from several examples at once.
    Batches,
    /// Those that work on whole passes.
    Whole,
}

impl Takes {
    fn fits(self, learner: &Profile) -> bool {
        match self {
            Takes::Every => true,
            Takes::Batches => learner.takes_batches(),
            Takes::Whole => learner.whole,
        }
    }
}

/// Makes a strategy over a structure, with settings that come from [`Entry::check`].
pub type Make = fn(Arc<dyn Structure>, Setup, &Settings) -> Result<Box<dyn Strategy>>;

/// One strategy.
#[derive(Debug)]
pub struct Entry {
    /// As on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Which learners it takes.
    pub takes: Takes,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes it.
    pub make: Make,
}

/// Every strategy there is, in the order in which `--strategy list` shows them.
pub const STRATEGIES: &[Entry] = &[serial::ENTRY, minibatch::ENTRY, batch::ENTRY];

impl Entry {
    /// Checks parameters given as text.
    ///
    /// # Errors
    /// A parameter that it does not have, with the strategies that do, or a value outside its range.
    pub fn check(&self, given: &[(String, String)]) -> std::result::Result<Settings, BadOption> {
        let unused = given.iter().find(|(name, _)| !self.has(name));
        if let Some((name, value)) = unused {
            let users: Vec<_> = STRATEGIES.iter().filter(|s| s.has(name)).map(|s| s.name).collect();
            if !users.is_empty() {
                let users = users.join(", ");
                let what = format!("strategy {} does not use this option; these do: {users}", self.name);
                return Err(BadOption::of(name, value, what));
            }
        }
        Settings::check(self.name, self.params, given)
    }

    fn has(&self, param: &str) -> bool {
        self.params.iter().any(|p| p.name == param)
    }

    /// Whether this learner can join.
    ///
    /// # Errors
    /// A sentence that names those strategies which it can join.
    pub fn accepts(&self, learner: &Profile) -> Result<()> {
        if self.takes.fits(learner) {
            return Ok(());
        }
        let others = STRATEGIES.iter().filter(|s| s.takes.fits(learner)).map(|s| s.name);
        Err(Error::Mismatch(format!(
            "{} works on {}, which strategy {} does not: use {}",
            learner.name,
            match learner.one_by_one {
                true => "one example at a time",
                false if learner.whole => "whole passes",
                false => "single examples",
            },
            self.name,
            others.collect::<Vec<_>>().join(" or ")
        )))
    }
}

/// A strategy with its parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The strategy.
    pub entry: &'static Entry,
    /// Its parameters.
    pub settings: Settings,
}

impl Chosen {
    /// The strategy of this name or, without one, that of the learner: `batch` for whole passes, `minibatch` if a
    /// batch size is given, else `serial`. `given` are parameters of strategies as text.
    ///
    /// # Errors
    /// An unknown name, with the nearest one, a parameter that the strategy does not use or a value outside its
    /// range.
    pub fn new(
        name: Option<&str>,
        given: &[(String, String)],
        learner: &Profile,
    ) -> std::result::Result<Chosen, BadOption> {
        let entry = match name {
            Some(name) => find(name)?,
            None if learner.whole => &batch::ENTRY,
            None if given.is_empty() => &serial::ENTRY,
            None => &minibatch::ENTRY,
        };
        Ok(Chosen { entry, settings: entry.check(given)? })
    }

    /// Makes the strategy.
    ///
    /// # Errors
    /// When a lane cannot be opened.
    pub fn build(&self, structure: Arc<dyn Structure>, setup: Setup) -> Result<Box<dyn Strategy>> {
        (self.entry.make)(structure, setup, &self.settings)
    }

    /// Examples that are looked at before each step.
    #[must_use]
    pub fn batch(&self) -> usize {
        minibatch::size(&self.settings)
    }
}

/// Looks a strategy up by name.
///
/// # Errors
/// An unknown name, with the nearest one.
pub fn find(name: &str) -> std::result::Result<&'static Entry, BadOption> {
    let names = || STRATEGIES.iter().map(|s| s.name);
    STRATEGIES.iter().find(|s| s.name == name).ok_or_else(|| {
        let other = match nearest(name, names()) {
            Some(other) => format!("did you mean {other}?"),
            None => format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
        };
        BadOption::of("strategy", name, format!("there is no such strategy; {other}"))
    })
}
