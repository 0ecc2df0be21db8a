//! The running mean of weights that decay, for two sparse additions per step (Xu 2010).
//!
//! ```text
//! w_t = (1 - eta_t l2) w_{t-1} - eta_t g_t,     mean_t = (1 - mu_t) mean_{t-1} + mu_t w_t
//!
//! w = u / a,                                     mean = (m + tau u) / b
//! a_t = a_{t-1} / (1 - eta_t l2),                b_t = b_{t-1} / (1 - mu_t)
//! u_t = u_{t-1} - a_t eta_t g_t,                 m_t = m_{t-1} + tau_{t-1} a_t eta_t g_t
//! tau_t = tau_{t-1} + mu_t b_t / a_t
//! ```
//!
//! Here mu is 1 / (weight vectors in the mean), so the mean is that of all of them since it is kept; before, it is w
//! itself and m is 0. At rest a = b = 1 and tau = 0, so that u is w and m the mean.

use crate::planes::BLOCK;
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Kind, Param, Value};
use seqoia_core::steps::add_rows;
use seqoia_core::{Data, Delta, Mix, Note, Result, Slot, Team, Weights, each};

/// When learners that ship the mean begin to keep it; each has a default of its own.
pub(crate) const START: Param = Param {
    name: "start",
    kind: Kind::FromZero,
    default: Value::Real(0.0),
    help: "passes before the mean is kept",
};

/// Above this a and b are folded into the planes.
const FOLD: f64 = 1e5;

/// Weights and their mean.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    u: Vec<f64>, // [weights]
    m: Vec<f64>, // [weights]
    a: f64,
    b: f64,
    tau: f64,
    count: u64, // weight vectors in the mean
}

/// Bytes per weight.
pub(crate) const PER_WEIGHT: usize = 2 * size_of::<f64>();

impl Default for Running {
    fn default() -> Self {
        Running { u: vec![], m: vec![], a: 1.0, b: 1.0, tau: 0.0, count: 0 }
    }
}

/// A step: w decays by the factor and goes by `-eta` times the mean gradient; the mean is kept from here on, or not yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) factor: f64,
    pub(crate) eta: f64,
    pub(crate) averages: bool,
}

impl Running {
    pub(crate) fn begin(&mut self, weights: usize) {
        self.u.resize(weights, 0.0);
        self.m.resize(weights, 0.0);
    }

    /// The weights themselves.
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights { values: &self.u, scale: 1.0 / self.a }
    }

    /// The weights at rest.
    pub(crate) fn last(&self) -> &[f64] {
        &self.u
    }

    /// The mean; before it is kept, the weights.
    pub(crate) fn mean(&self) -> Vec<f64> {
        if self.count < 2 {
            return self.u.iter().map(|u| u / self.a).collect();
        }
        self.u.iter().zip(&self.m).map(|(u, m)| (m + self.tau * u) / self.b).collect()
    }

    pub(crate) fn step(&mut self, step: Step, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let Step { factor, eta, averages } = step;
        self.count = if averages { self.count + 1 } else { 1 };
        if self.count == 2 {
            (self.b, self.tau) = (self.a, 1.0); // up to here the mean was w
        }
        self.a /= factor;
        let by = self.a * eta / real(batch.len());
        team.spread(batch, -by, &mut self.u)?;
        if self.count > 1 && self.tau != 0.0 {
            team.spread(batch, self.tau * by, &mut self.m)?;
        }
        self.count_in();
        if self.a > FOLD || self.b > FOLD { self.rest(team) } else { Ok(()) }
    }

    /// A step without decay whose directions are rows, each times its factor.
    pub(crate) fn add<'a>(&mut self, steps: impl Iterator<Item = (&'a Delta, f64)>) {
        self.count += 1;
        if self.count == 2 {
            (self.b, self.tau) = (self.a, 1.0);
        }
        let kept = if self.count > 1 { self.tau } else { 0.0 };
        for (delta, step) in steps.filter(|(_, step)| *step != 0.0) {
            add_rows(delta, self.a * step, &mut self.u);
            if kept != 0.0 {
                add_rows(delta, -kept * self.a * step, &mut self.m);
            }
        }
        self.count_in();
    }

    /// The weights as they are now go into the mean.
    fn count_in(&mut self) {
        if self.count > 1 {
            let mu = 1.0 / real64(self.count);
            self.b /= 1.0 - mu;
            self.tau += mu * self.b / self.a;
        }
    }

    pub(crate) fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        let Running { u, m, a, b, tau, count } = self;
        let (scale, mean, of_u) = (1.0 / *a, 1.0 / *b, *tau / *b);
        let kept = *count > 1;
        if (scale, mean, of_u) != (1.0, 1.0, 0.0) {
            let blocks = u.chunks_mut(BLOCK).zip(m.chunks_mut(BLOCK)).collect();
            each(team, blocks, |(u, m): (&mut [f64], &mut [f64])| {
                for (u, m) in u.iter_mut().zip(m) {
                    if kept {
                        *m = *m * mean + of_u * *u;
                    }
                    *u *= scale;
                }
            })?;
        }
        (*a, *b, *tau) = (1.0, 1.0, 0.0);
        Ok(())
    }

    pub(crate) fn state(&mut self) -> [Slot<'_>; 3] {
        [
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.u) },
            Slot { name: "mean", mix: Mix::Mean, data: Data::F64(&mut self.m) },
            Slot { name: "averaged", mix: Mix::Same, data: Data::Count(&mut self.count) },
        ]
    }
}
