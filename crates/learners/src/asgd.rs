//! Averaged stochastic gradient descent with a falling rate (Xu 2010; Bottou's crfasgd; He & Wang 2012, "ASGD").
//!
//! ```text
//! eta_t = eta0 / (1 + eta0 l2 t)^0.75,   t = 0, 1, 2, ... counts steps over all passes
//! w <- (1 - eta_t l2) w - eta_t c_i grad loss_i(w)
//! ship  the mean of all w from the end of `start` passes on
//! ```
//!
//! The rate falls more slowly than that of `sgd`, and the mean takes the noise out. eta0 is calibrated on a sample
//! unless it is given. With l2 = 0 the rate is eta0 / (1 + examples so far / n)^0.75. In a batch the gradients of its
//! examples are averaged, and the batch is one step. Cost of a step: one gradient; from the second pass on one more
//! sparse addition ([`Running`]). Memory: two numbers per weight.

use crate::calibrate;
use crate::running::{PER_WEIGHT, Running, START, Step};
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Param, Settings, Value};
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Slot, Team};

/// The parameters of `asgd`.
pub(crate) const PARAMS: &[Param] = &[calibrate::RATE, Param { default: Value::Real(1.0), ..START }];

const POWER: f64 = 0.75;

/// Averaged stochastic gradient descent with a falling rate.
#[derive(Clone, Debug)]
pub struct Asgd {
    l2: f64,
    given: Option<f64>,
    start: f64, // passes
    eta0: f64,
    w: Running,
    t: u64,    // steps made
    seen: u64, // examples in them
}

impl Asgd {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let (given, start) = (settings.real("rate"), settings.number("start"));
        Asgd { l2, given, start, eta0: 0.0, w: Running::default(), t: 0, seen: 0 }
    }
}

impl Learner for Asgd {
    fn profile(&self) -> Profile {
        Profile::log_linear("asgd", PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.begin(team.weights());
        self.eta0 = calibrate::given_or(self.given, team, self.w.last(), self.l2)?;
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(self.w.weights(), note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let (n, seen) = (real(team.examples()), real64(self.seen));
        let fallen = if self.l2 == 0.0 { seen / n } else { self.eta0 * self.l2 * real64(self.t) };
        let eta = self.eta0 / (1.0 + fallen).powf(POWER);
        let averages = seen >= self.start * n;
        self.t += 1;
        self.seen += batch.len() as u64;
        self.w.step(Step { factor: 1.0 - eta * self.l2, eta, averages }, batch, team)
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.rest(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.mean()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let mut slots = self.w.state().into_iter().collect::<Vec<_>>();
        slots.push(Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta0) });
        slots.push(Slot { name: "steps", mix: Mix::Same, data: Data::Count(&mut self.t) });
        slots.push(Slot { name: "seen", mix: Mix::Same, data: Data::Count(&mut self.seen) });
        slots
    }
}
