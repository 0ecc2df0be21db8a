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

use crate::averaging::{self, Average};
use crate::perceptron::steps;
use crate::search;
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Search, Slot, Team, Update, Weights};

/// The perceptron whose shipped weights are the mean over all its updates.
#[derive(Clone, Debug)]
pub struct AveragedPerceptron {
    search: Search,
    w: Vec<f64>, // [weights]
    average: Average,
}

impl AveragedPerceptron {
    /// With this update for inexact search.
    #[must_use]
    pub fn new(update: Update) -> Self {
        let search = Search { k: 1, cost: 0.0, update };
        AveragedPerceptron { search, w: vec![], average: Average::default() }
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
        search::profile("averaged-perceptron", &self.search, size_of::<f64>() + averaging::PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.average.begin(&self.w);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.violations(Weights::plain(&self.w), &self.search, note)
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        for (step, violation) in steps(batch) {
            violation.delta.add_to(step, &mut self.w);
            self.average.add(&violation.delta, step);
        }
        self.average.tick();
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.average.rest(&self.w, team)
    }

    fn weights(&self) -> Vec<f64> {
        let mut mean = self.w.clone();
        self.average.mean(&mut mean);
        mean
    }

    fn take_weights(&mut self) -> Vec<f64> {
        let mut mean = std::mem::take(&mut self.w);
        self.average.mean(&mut mean);
        mean
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let average = self.average.state(self.w.len());
        let mut slots = vec![Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) }];
        slots.extend(average);
        slots
    }
}
