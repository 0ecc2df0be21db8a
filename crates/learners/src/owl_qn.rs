//! OWL-QN: L-BFGS for objectives with |w|_1 (Andrew & Gao 2007 [1]).
//!
//! ```text
//! F(w) = f(w) + l1 |w|_1,   f(w) = (1/n) sum_i c_i loss_i(w) + (l2/2) |w|^2,   g = grad f
//! pg_j = g_j + l1 sign(w_j)                          if w_j != 0
//!      = g_j + l1  if g_j < -l1;  g_j - l1  if g_j > l1;  0 otherwise      if w_j = 0
//! d = -H pg, but 0 where d_j pg_j >= 0
//! w' = w + t d, but 0 where it leaves the orthant of w (of -pg where w_j = 0)
//! accept if F(w') <= F(w) + 1e-4 pg.(w' - w), else halve t
//! ```
//!
//! H is built from changes of the smooth gradient g [1, 3.2]. Weights become exactly zero, and a model
//! file drops those. With l2 > 0 this is the elastic net. Stops as `lbfgs`, with pg for the gradient.

use crate::descent::Descent;
use crate::objective::{Objective, or_infinite, smooth};
use crate::planes::{BLOCK, inner, moved, sum_blocks};
use seqoia_core::cast::real;
use seqoia_core::param::Settings;
use seqoia_core::{Done, Learner, Profile, Result, Slot, Team, each};

/// Halvings of one line search.
const TRIALS: usize = 40;

/// Orthant-wise limited-memory quasi-Newton.
#[derive(Clone, Debug)]
pub struct OwlQn {
    penalty: Objective,
    at: Descent,
    pg: Vec<f64>, // [weights]; scratch
}

impl OwlQn {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, penalty: Objective) -> Self {
        OwlQn { penalty, at: Descent::new(settings, false), pg: vec![] }
    }

    /// F and the gradient of its smooth part.
    fn value(team: &mut dyn Team, penalty: Objective, w: &[f64], g: &mut Vec<f64>) -> Result<f64> {
        let f = smooth(team, penalty.l2, w, g)?;
        let sizes = sum_blocks(team, w.len(), 1, |r, out| out[0] = w[r].iter().map(|w| w.abs()).sum())?;
        Ok(f + penalty.l1 * sizes[0])
    }

    fn pseudo_gradient(&mut self, team: &mut dyn Team) -> Result<()> {
        let (l1, Descent { w, g, .. }) = (self.penalty.l1, &self.at);
        self.pg.resize(w.len(), 0.0);
        let items = self.pg.chunks_mut(BLOCK).zip(w.chunks(BLOCK).zip(g.chunks(BLOCK))).collect();
        each(team, items, |(pg, (w, g)): (&mut [f64], (&[f64], &[f64]))| {
            for ((pg, w), g) in pg.iter_mut().zip(w).zip(g) {
                *pg = pseudo(*w, *g, l1);
            }
        })
    }

    /// `trial` = the projection of w + t d onto the orthant; returns pg.(trial - w).
    fn project(&mut self, team: &mut dyn Team, t: f64) -> Result<f64> {
        let (Descent { trial, w, d, .. }, pg) = (&mut self.at, &self.pg);
        trial.resize(w.len(), 0.0);
        let (w, d) = (&*w, &*d);
        let items = trial.chunks_mut(BLOCK).enumerate().collect();
        each(team, items, |(block, trial): (usize, &mut [f64])| {
            for (j, x) in trial.iter_mut().enumerate() {
                let i = block * BLOCK + j;
                let orthant = if w[i] == 0.0 { -pg[i] } else { w[i] };
                let moved = w[i] + t * d[i];
                *x = if moved * orthant <= 0.0 { 0.0 } else { moved };
            }
        })?;
        let trial = &*trial;
        Ok(sum_blocks(team, w.len(), 1, |r, out| {
            out[0] = r.map(|i| pg[i] * (trial[i] - w[i])).sum();
        })?[0])
    }

    /// |w|.
    fn size(&self, team: &mut dyn Team) -> Result<f64> {
        Ok(inner(team, &self.at.w, &self.at.w)?.sqrt())
    }
}

/// [1, eq. 4].
fn pseudo(w: f64, g: f64, l1: f64) -> f64 {
    if w != 0.0 {
        g + l1 * w.signum()
    } else if g < -l1 {
        g + l1
    } else if g > l1 {
        g - l1
    } else {
        0.0
    }
}

impl Learner for OwlQn {
    fn profile(&self) -> Profile {
        let scratch = size_of::<f64>(); // pg
        let profile = self.at.profile("owl-qn");
        Profile { per_weight: profile.per_weight + scratch, ..profile }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.at.begin(team.weights());
        let f = Self::value(team, self.penalty, &self.at.w, &mut self.at.g)?;
        self.at.start(f);
        Ok(())
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        let (f0, n) = (self.at.value().unwrap_or(0.0), real(team.examples()));
        self.pseudo_gradient(team)?;
        let slope = inner(team, &self.pg, &self.pg)?.sqrt();
        if slope == 0.0 {
            return Ok(Done::Stuck("the gradient is zero"));
        }
        for _ in 0..2 {
            let Descent { memory, d, .. } = &mut self.at;
            memory.direction(team, &self.pg, d)?;
            let items = d.chunks_mut(BLOCK).zip(self.pg.chunks(BLOCK)).collect();
            each(team, items, |(d, pg): (&mut [f64], &[f64])| {
                d.iter_mut().zip(pg).filter(|(d, pg)| **d * **pg >= 0.0).for_each(|(d, _)| *d = 0.0);
            })?;
            let steepest = memory.is_empty();
            let mut t = if steepest { 1.0 / slope } else { 1.0 };
            for _ in 0..TRIALS {
                let gain = self.project(team, t)?;
                let f = or_infinite(Self::value(team, self.penalty, &self.at.trial, &mut self.at.trial_g))?;
                if f <= f0 + 1e-4 * gain && gain < 0.0 {
                    // The step after projection: s = trial - w.
                    let Descent { memory, w, g, d, trial, trial_g, .. } = &mut self.at;
                    moved(team, trial, -1.0, w, d)?;
                    memory.push(team, 1.0, d, trial_g, g)?;
                    self.at.accept(f);
                    self.pseudo_gradient(team)?;
                    let slope = inner(team, &self.pg, &self.pg)?.sqrt();
                    return Ok(self.at.test(slope, self.size(team)?, n));
                }
                t *= 0.5;
                if team.stopping() {
                    return Ok(Done::Pass);
                }
            }
            if steepest {
                break;
            }
            self.at.memory.forget();
        }
        self.at.stuck("OWL-QN", slope, self.size(team)?, n, team.noise())
    }

    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        self.at.rest()
    }

    fn objective(&self) -> Option<f64> {
        self.at.value()
    }

    fn weights(&self) -> Vec<f64> {
        self.at.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        self.at.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pseudo_gradient_is_the_steepest_one_sided_slope() {
        assert_eq!(pseudo(1.0, 0.5, 0.2), 0.7);
        assert_eq!(pseudo(-1.0, 0.5, 0.2), 0.3);
        assert_eq!([pseudo(0.0, 0.1, 0.2), pseudo(0.0, 0.5, 0.2), pseudo(0.0, -0.5, 0.2)], [0.0, 0.3, -0.3]);
    }
}
