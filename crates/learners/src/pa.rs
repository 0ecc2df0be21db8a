//! Passive-aggressive learning, PA-I with cost-augmented search (Crammer et al. 2006; He & Wang 2012, eqs. 2 to 5).
//!
//! ```text
//! z = argmax_z w.phi(x, z) + cost(y, z),   v = phi(x, y) - phi(x, z),   loss = cost(y, z) - w.v
//! w <- w + min(c_i C, loss / |v|^2) v  if loss > 0;     ship the mean of all w
//! ```
//!
//! The smallest step after which gold wins by the cost of what was found, but never longer than C. C is critical (0.01 for
//! whole sentences with a cost of 1 per wrong label; -C sets it), there is no other choice to make. Passes are the cheapest of
//! all learners but the perceptron's. In a batch each example makes its own step, at the same w, divided by the number of
//! examples. Cost of a step: one search; an update touches the rows that differ. Memory: three numbers per weight.

use crate::averaging::{self, Average};
use crate::search::{self, UPDATE};
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Search, Slot, Team, Weights};

/// The parameters of `pa`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "step",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(0.01),
        help: "longest step (C)",
    },
    Param { default: Value::Real(1.0), ..search::COST },
    UPDATE,
];

/// Passive-aggressive learning.
#[derive(Clone, Debug)]
pub struct Pa {
    longest: f64,
    search: Search,
    w: Vec<f64>, // [weights]
    average: Average,
}

impl Pa {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let search = Search { k: 1, cost: settings.number("cost"), update: search::update(settings) };
        Pa { longest: settings.number("step"), search, w: vec![], average: Average::default() }
    }
}

impl Learner for Pa {
    fn profile(&self) -> Profile {
        search::profile("pa", &self.search, size_of::<f64>() + averaging::PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.average.begin(&self.w);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        search::pa_step(case, Weights::plain(&self.w), &self.search, self.longest, note)
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        let share = 1.0 / real(batch.len());
        for note in batch.iter().filter(|note| note.own[0] > 0.0) {
            let Some(found) = note.found().first() else { continue };
            let step = share * note.own[0];
            found.delta.add_to(step, &mut self.w);
            self.average.add(&found.delta, step);
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
