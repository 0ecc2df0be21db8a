//! Seam 3: who works on what, when.

use std::sync::{Arc, Mutex};

use crate::{Asked, Case, Done, Learner, Note, Random, Result, Row, Shelf, Weights};

/// What a worker does with one example.
pub type Look<'a> = dyn Fn(&mut Case<'_>, &mut Note) -> Result<()> + Sync + 'a;

/// Workers and their order, as a strategy lends them to a learner. Examples are 0..n here (a shard's
/// own, if it is a shard).
pub trait Team {
    /// Number of examples.
    fn examples(&self) -> usize;
    /// Size of all examples together, in the structure's own unit (tokens).
    fn size(&self) -> usize;
    /// Number of weights.
    fn weights(&self) -> usize;
    /// Steps per `learn`.
    fn batch(&self) -> usize;
    /// Appends the next `count` examples of the strategy's order, which starts anew when used up.
    fn next(&mut self, count: usize, ids: &mut Vec<usize>);
    /// A stream fixed by (seed, pass, shard, purpose); it goes on within a pass.
    fn random(&mut self, purpose: &'static str) -> &mut Random;
    /// Appends the rows that these examples read.
    ///
    /// # Errors
    /// When an example cannot be read.
    fn rows(&mut self, ids: &[usize], rows: &mut Vec<Row>) -> Result<()>;
    /// Asks these examples; notes come in the order of `ids`, whoever answered first.
    ///
    /// # Errors
    /// The first error in the order of `ids`.
    fn ask(&mut self, ids: &[usize], look: &Look<'_>, notes: &mut Vec<Note>) -> Result<()>;
    /// `to += step * (the parts of these notes, as features)`, note by note in order.
    ///
    /// # Errors
    /// When an example cannot be read.
    fn spread(&mut self, notes: &[Note], step: f64, to: &mut [f64]) -> Result<()>;
    /// `sum_i c_i loss_i` over these examples (None: all) in fixed chunks and, if wanted, its
    /// gradient (overwritten). Plain data in and out: the call that a cluster can serve.
    ///
    /// # Errors
    /// When an example cannot be read or its loss is not finite.
    fn total(&mut self, ids: Option<&[usize]>, w: Weights<'_>, g: Option<&mut [f64]>) -> Result<f64>;
    /// Relative error of a total: [`crate::Structure::noise`].
    fn noise(&self) -> f64;
    /// Calls `job` on every free worker, at least once, and waits; see [`each`].
    ///
    /// # Errors
    /// When a worker panics.
    fn run(&mut self, job: &(dyn Fn() + Sync)) -> Result<()>;
    /// A place outside memory for so many numbers: [`crate::Structure::shelf`].
    ///
    /// # Errors
    /// When there is no room.
    fn shelf(&mut self, _length: usize) -> Result<Option<Arc<dyn Shelf>>> {
        Ok(None)
    }
    /// The user wants an end: leave a valid state and return.
    fn stopping(&self) -> bool;
}

/// Jobs that share nothing, spread over the team's workers: `items` hold the slices that each may
/// write. Cut by size, never by threads, so the result is the same for any number of them.
///
/// # Errors
/// When a worker panics.
pub fn each<T: Send>(team: &mut dyn Team, items: Vec<T>, job: impl Fn(T) + Sync) -> Result<()> {
    let queue = Mutex::new(items.into_iter());
    let take = || queue.lock().ok()?.next();
    team.run(&|| {
        while let Some(item) = take() {
            job(item);
        }
    })
}

/// Owns its teams (lanes and decoders live as long as it does) and runs passes.
pub trait Strategy {
    /// Refuses, with a sentence, a learner that cannot join.
    ///
    /// # Errors
    /// That sentence.
    fn accepts(&self, learner: &dyn Learner) -> Result<()>;
    /// Once: `learner.begin`; or, for a learner whose state was loaded, `learner.rest`.
    ///
    /// # Errors
    /// As the learner's.
    fn begin(&mut self, learner: &mut dyn Learner, loaded: bool) -> Result<()>;
    /// Pass `number`, counted from 1.
    ///
    /// # Errors
    /// As the learner's.
    fn pass(&mut self, number: u64, learner: &mut dyn Learner) -> Result<Report>;
    /// `sum_i c_i loss_i` over all examples of all shards: the trainer divides by n, adds l1 and l2.
    ///
    /// # Errors
    /// When an example cannot be read or its loss is not finite.
    fn total(&mut self, w: Weights<'_>, g: Option<&mut [f64]>) -> Result<f64>;
}

/// What a pass saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How it ended.
    pub done: Done,
    /// Looks.
    pub examples: u64,
    /// Sum of the notes' losses, each at the weights of its moment.
    pub loss: f64,
    /// Examples whose search found something better than gold.
    pub wrong: u64,
    /// Evaluations.
    pub asked: Asked,
}

/// A named figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// `f1`, `accuracy`, ...
    pub name: &'static str,
    /// In per cent where that makes sense.
    pub value: f64,
    /// Whether a lower one is better (costs) or a higher one.
    pub lower_is_better: bool,
}

impl Score {
    /// A score of which more is better.
    #[must_use]
    pub fn gain(name: &'static str, value: f64) -> Score {
        Score { name, value, lower_is_better: false }
    }

    /// A score of which less is better.
    #[must_use]
    pub fn cost(name: &'static str, value: f64) -> Score {
        Score { name, value, lower_is_better: true }
    }

    /// Whether it is better than another of its kind.
    #[must_use]
    pub fn beats(&self, other: &Score) -> bool {
        if self.lower_is_better { self.value < other.value } else { self.value > other.value }
    }
}

/// Scores weights on held-out data, for the trainer. The first score decides.
pub trait Judge {
    /// Decodes the held-out data with these weights and scores the result.
    ///
    /// # Errors
    /// When the data cannot be decoded.
    fn scores(&mut self, w: &[f64]) -> Result<Vec<Score>>;
}
