//! Averaged structured perceptron (Collins 2002 [1]); minibatches as in Zhao & Huang 2013 [2].
//!
//! ```text
//! z = argmax_z w.phi(x,z) + cost(y,z);   if z != y:  w += c (phi(x,y) - phi(x,z))      ship: mean of all w
//! ```
//!
//! In a batch the mean of the violated differences is added [2, alg. 4]; a batch of one is [1].
//! Cost of an example: one search; an update touches the weights that differ. Memory: a number
//! a weight, and two more for each that was near an update. Differs from [1]: the mean runs over batches, each counted once; an example of weight c
//! counts c times.

use crate::averaging::{self, Averaged};
use crate::perceptron::steps;
use crate::search;
use seqoia_core::{Case, Learner, Note, Profile, Result, Search, Slot, Team, Update};

/// The perceptron whose shipped weights are the mean over all its updates.
#[derive(Clone, Debug)]
pub struct AveragedPerceptron {
    search: Search,
    w: Averaged,
}

impl AveragedPerceptron {
    /// With this update for inexact search.
    #[must_use]
    pub fn new(update: Update) -> Self {
        let search = Search { k: 1, cost: 0.0, update };
        AveragedPerceptron { search, w: Averaged::default() }
    }

    /// The same with costs: gold must win by as much as the wrong labels cost.
    #[must_use]
    pub fn with_cost(mut self, cost: f64) -> Self {
        self.search.cost = cost;
        self
    }
}

impl Learner for AveragedPerceptron {
    fn profile(&self) -> Profile {
        search::profile("averaged-perceptron", &self.search, averaging::PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.begin(team.weights());
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.violations(self.w.weights(), &self.search, note)
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        for (step, violation) in steps(batch) {
            self.w.add(&violation.delta, step);
        }
        self.w.tick();
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.rest(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.mean()
    }

    fn take_weights(&mut self) -> Vec<f64> {
        self.w.take_mean()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        self.w.state()
    }
}
