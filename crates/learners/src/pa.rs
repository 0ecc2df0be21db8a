//! Passive-aggressive learning, PA-I with cost-augmented search (Crammer et al. 2006; He & Wang 2012, eqs. 2 to 5).
//!
//! ```text
//! z = argmax_z w.phi(x, z) + cost(y, z),   v = phi(x, y) - phi(x, z),   loss = cost(y, z) - w.v
//! w <- w + min(c_i C, loss / |v|^2) v  if loss > 0;     ship the mean of all w
//! ```
//!
//! The smallest step after which gold wins by the cost of what was found, but never longer than C (`step`). C is critical:
//! 0.01 is for whole sentences with a cost of 1 per wrong label; prefixes of a beam want more. In a batch each example makes
//! its own step, at the same w, divided by the number of examples. Cost of a step: one search; an update touches the rows that differ. Memory: three numbers per weight.

use crate::averaging::{self, Averaged};
use crate::search::{self, UPDATE};
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Learner, Note, Profile, Result, Search, Slot, Team};

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
    w: Averaged,
}

impl Pa {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let search = Search { k: 1, cost: settings.number("cost"), update: search::update(settings) };
        Pa { longest: settings.number("step"), search, w: Averaged::default() }
    }
}

impl Learner for Pa {
    fn profile(&self) -> Profile {
        search::profile("pa", &self.search, averaging::PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.begin(team.weights());
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        search::pa_step(case, self.w.weights(), &self.search, self.longest, note)
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        let share = 1.0 / real(batch.len());
        for note in batch.iter().filter(|note| note.own[0] > 0.0) {
            let Some(found) = note.found().first() else { continue };
            self.w.add(&found.delta, share * note.own[0]);
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
