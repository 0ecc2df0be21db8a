//! Stochastic gradient descent with the schedule of Bottou's crfsgd (He & Wang 2012, "SGD").
//!
//! ```text
//! eta_t = eta0 / (1 + eta0 l2 t),   t = 0, 1, 2, ... counts steps over all passes
//! w <- (1 - eta_t l2) w - eta_t c_i grad loss_i(w)
//! ```
//!
//! The decay is one multiplication: w is stored as scale * v (Shalev-Shwartz et al. 2007). eta0 is
//! calibrated on a sample unless it is given. With l2 = 0 the rate is eta0 / (1 + examples so far / n). In a
//! batch the gradients of its examples, all at the same w, are averaged, and the batch is one step.
//! With `cost` the loss is the softmax-margin (Gimpel & Smith 2010). Cost of an example: one gradient.
//! Memory: one number a weight.

use crate::calibrate;
use crate::scaled::Scaled;
use crate::search::COST;
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Param, Settings};
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Question, Result, Slot, Team};

/// The parameters of `sgd`.
pub(crate) const PARAMS: &[Param] = &[calibrate::RATE, COST];

/// Stochastic gradient descent.
#[derive(Clone, Debug)]
pub struct Sgd {
    l2: f64,
    given: Option<f64>,
    cost: f64,
    eta0: f64,
    w: Scaled,
    t: u64,    // steps made
    seen: u64, // examples in them
}

impl Sgd {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let (given, cost) = (settings.real("rate"), settings.number(COST.name));
        Sgd { l2, given, cost, eta0: 0.0, w: Scaled::default(), t: 0, seen: 0 }
    }

    fn eta(&self, n: f64) -> f64 {
        match self.l2 {
            0.0 => self.eta0 / (1.0 + real64(self.seen) / n),
            l2 => self.eta0 / (1.0 + self.eta0 * l2 * real64(self.t)),
        }
    }
}

impl Learner for Sgd {
    fn profile(&self) -> Profile {
        let mut needs = vec![Question::Expectations];
        needs.extend((self.cost > 0.0).then_some(Question::Costs));
        let per_weight = 2 * size_of::<f64>(); // v, and the trials of the calibration
        Profile { calibrated: self.cost == 0.0, ..Profile::online("sgd", needs, per_weight) }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.v.resize(team.weights(), 0.0);
        self.eta0 = calibrate::given_or(self.given, team, &self.w.v, self.l2)?;
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.add_costs(self.cost)?;
        case.gradient(self.w.weights(), note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let eta = self.eta(real(team.examples()));
        self.w.step(1.0 - eta * self.l2, eta, batch, team)?;
        self.t += 1;
        self.seen += batch.len() as u64;
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.fold(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.plain()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w.v) },
            Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta0) },
            Slot { name: "steps", mix: Mix::Same, data: Data::Count(&mut self.t) },
            Slot { name: "seen", mix: Mix::Same, data: Data::Count(&mut self.seen) },
        ]
    }
}
