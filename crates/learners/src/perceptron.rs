//! Structured perceptron (Collins 2002 [1]); minibatches as in Zhao & Huang 2013 [2].
//!
//! ```text
//! z = argmax_z w.phi(x,z) + cost(y,z);   if z != y:  w += c (phi(x,y) - phi(x,z))
//! ```
//!
//! In a batch the mean of the violated differences is added [2, alg. 4]; a batch of one is [1].
//! Cost of an example: one search; an update touches the weights that differ. Memory: one number a
//! weight. Differs from [1]: an example of weight c counts c times. Ships the last weights; the
//! averaged perceptron is nearly always better.

use crate::search;
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Search, Slot, Team, Update, Weights};

/// The perceptron without averaging.
#[derive(Clone, Debug)]
pub struct Perceptron {
    search: Search,
    w: Vec<f64>, // [weights]
}

impl Perceptron {
    /// With this update for inexact search.
    #[must_use]
    pub fn new(update: Update) -> Self {
        Perceptron { search: Search { k: 1, cost: 0.0, update }, w: vec![] }
    }

    /// The same with costs: gold must win by as much as the wrong labels cost.
    #[must_use]
    pub fn with_cost(mut self, cost: f64) -> Self {
        self.search.cost = cost;
        self
    }
}

impl Learner for Perceptron {
    fn profile(&self) -> Profile {
        search::profile("perceptron", &self.search, size_of::<f64>())
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.violations(Weights::plain(&self.w), &self.search, note)
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        for (step, violation) in steps(batch) {
            violation.delta.add_to(step, &mut self.w);
        }
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn take_weights(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.w)
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) }]
    }
}

/// The violations of a batch with their step c / |C|, C being the violated examples [2, alg. 4].
pub(crate) fn steps(batch: &[Note]) -> impl Iterator<Item = (f64, &seqoia_core::Violation)> {
    let violated = seqoia_core::cast::real(batch.iter().filter(|n| !n.found().is_empty()).count());
    batch.iter().filter_map(move |n| Some((n.weight / violated, n.found().first()?)))
}
