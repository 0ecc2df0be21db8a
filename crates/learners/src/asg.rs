//! Averaged stochastic gradient descent with a constant rate (Polyak & Juditsky 1992; Schmidt et al. 2015, "ASG").
//!
//! ```text
//! i uniform in 1..n;   w_t = (1 - rate l2) w_{t-1} - rate c_i grad loss_i(w_{t-1})
//! ship  the mean of all w from the end of `start` passes on
//! ```
//!
//! The iterates are those of `sg`. The mean needs two sparse additions per step ([`Running`]). Cost of a step: one
//! gradient. Memory: two numbers per weight.

use crate::calibrate;
use crate::running::{PER_WEIGHT, Running, START, Step};
use crate::sg::draw;
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Param, Settings};
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Slot, Team};

/// The parameters of `asg`.
pub(crate) const PARAMS: &[Param] = &[calibrate::RATE, START];

/// Averaged stochastic gradient descent with a constant rate.
#[derive(Clone, Debug)]
pub struct Asg {
    l2: f64,
    given: Option<f64>,
    start: f64, // passes
    eta: f64,
    w: Running,
    t: u64, // examples seen
}

impl Asg {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let (given, start) = (settings.real("rate"), settings.number("start"));
        Asg { l2, given, start, eta: 0.0, w: Running::default(), t: 0 }
    }
}

impl Learner for Asg {
    fn profile(&self) -> Profile {
        Profile::log_linear("asg", PER_WEIGHT)
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.begin(team.weights());
        self.eta = calibrate::given_or(self.given, team, self.w.last(), self.l2)?;
        Ok(())
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        draw(steps, ids, team);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(self.w.weights(), note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let averages = real64(self.t) >= self.start * real(team.examples());
        self.t += batch.len() as u64;
        self.w.step(Step { factor: 1.0 - self.eta * self.l2, eta: self.eta, averages }, batch, team)
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.rest(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.mean()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let mut slots = self.w.state().into_iter().collect::<Vec<_>>();
        slots.push(Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta) });
        slots.push(Slot { name: "seen", mix: Mix::Same, data: Data::Count(&mut self.t) });
        slots
    }
}
