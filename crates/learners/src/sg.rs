//! Stochastic gradient descent with a constant rate, on examples drawn with replacement (Schmidt et al. 2015, "SG").
//!
//! ```text
//! i uniform in 1..n;   w <- (1 - rate l2) w - rate c_i grad loss_i(w)
//! ```
//!
//! It comes near the optimum fast and then moves around it, the nearer the smaller the rate; `asg` ships the mean of the
//! same iterates, `sgd` lets the rate fall. The paper takes the best power of ten by the training objective; here the
//! rate is calibrated on a sample unless it is given, as that of `sgd`. In a batch the gradients of its examples are
//! averaged. Cost of a step: one gradient. Memory: one number per weight.

use crate::calibrate;
use crate::scaled::Scaled;
use seqoia_core::param::{Param, Settings};
use seqoia_core::{Case, Data, Learner, Mix, Note, Profile, Result, Slot, Team};

/// The parameters of `sg`.
pub(crate) const PARAMS: &[Param] = &[calibrate::RATE];

/// Stochastic gradient descent with a constant rate.
#[derive(Clone, Debug)]
pub struct Sg {
    l2: f64,
    given: Option<f64>,
    eta: f64,
    w: Scaled,
}

impl Sg {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Sg { l2, given: settings.real("rate"), eta: 0.0, w: Scaled::default() }
    }
}

/// Puts `steps` examples in `ids`, drawn with replacement.
pub(crate) fn draw(steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) {
    let n = team.examples();
    let random = team.random("draw");
    ids.extend((0..steps).map(|_| random.below(n)));
}

impl Learner for Sg {
    fn profile(&self) -> Profile {
        Profile::log_linear("sg", 2 * size_of::<f64>()) // v, and the trials of the calibration
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.v.resize(team.weights(), 0.0);
        self.eta = calibrate::given_or(self.given, team, &self.w.v, self.l2)?;
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
        self.w.step(1.0 - self.eta * self.l2, self.eta, batch, team)
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
            Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta) },
        ]
    }
}
