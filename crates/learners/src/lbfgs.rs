//! L-BFGS: limited-memory quasi-Newton on the whole objective (Liu & Nocedal 1989 [1]).
//!
//! ```text
//! F(w) = (1/n) sum_i c_i loss_i(w) + (l2/2) |w|^2
//! d = -H grad F(w);   w += t d,   t by a search for the Wolfe conditions
//! F(w + t d) <= F(w) + c1 t d.grad F(w)      (c1 = 1e-4)
//! d.grad F(w + t d) >= c2 d.grad F(w)        (c2 = 0.9)
//! ```
//!
//! Near the optimum F stops resolving the decrease before its gradient does; then the condition on
//! slopes alone decides ([2], eq. 4.1). One pass is one accepted step; loss and gradient come from
//! one evaluation, and nearly every step needs exactly one. Stops when F falls by less than
//! `tolerance` over `period` passes, relative to F, as CRFsuite does, or when
//! n |grad F| <= `gradient` max(1, |w|).
//! Memory a weight: five doubles and 2m singles.
//!
//! [2] Hager & Zhang 2005, SIAM J. Optim. 16.

use crate::descent::Descent;
use crate::objective::{Reached, or_too_long, smooth, smooth_along};
use crate::planes::{inner, moved};
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Done, Learner, Profile, Result, Slot, Team};

/// The parameters of `lbfgs` and `owl-qn`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "history",
        kind: Kind::Count { least: 1, most: 1000 },
        default: Value::Count(6),
        help: "correction pairs kept (m)",
    },
    Param {
        name: "tolerance",
        kind: Kind::Real { above: 0.0, most: 1.0 },
        default: Value::Real(1e-5),
        help: "stop when (F[k-period] - F[k]) / F[k] is below",
    },
    Param {
        name: "period",
        kind: Kind::Count { least: 1, most: 1000 },
        default: Value::Count(10),
        help: "passes over which the decrease is looked at",
    },
    Param {
        name: "gradient",
        kind: Kind::Real { above: 0.0, most: 1.0 },
        default: Value::Real(1e-5),
        help: "stop when n |grad F| / max(1, |w|) is below",
    },
];

const C1: f64 = 1e-4;
const C2: f64 = 0.9;
/// Trials of one line search.
const TRIALS: usize = 20;
/// Relative error of F below which slopes decide.
const NOISE: f64 = 1e-8;

/// Limited-memory BFGS.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    l2: f64,
    pub(crate) at: Descent,
}

impl Lbfgs {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Lbfgs { l2, at: Descent::new(settings, true) }
    }

    /// The same for a caller who asks for directions at gradients of its own, too.
    pub(crate) fn anywhere(settings: &Settings, l2: f64) -> Self {
        Lbfgs { l2, at: Descent::new(settings, false) }
    }

    /// A step that meets the Wolfe conditions, by bracketing; `trial` and `trial_g` are those of it.
    /// None if there is none to be found.
    fn search(&mut self, team: &mut dyn Team, first: f64, f0: f64, slope0: f64) -> Result<Option<Accepted>> {
        let (mut low, mut high, mut t) = ((0.0, f0, slope0), None, first);
        for _ in 0..TRIALS {
            let Descent { w, d, trial, trial_g, .. } = &mut self.at;
            let square = moved(team, w, t, d, trial)?;
            let reached = smooth_along(team, None, self.l2, trial, square, d, trial_g);
            let reached = or_too_long(reached, Reached::TOO_LONG)?;
            let Reached { f, slope, .. } = reached;
            let by_slope = f <= f0 + team.noise().max(NOISE) * f0.abs() && slope <= (2.0 * C1 - 1.0) * slope0;
            let low_enough = f <= f0 + C1 * t * slope0 || by_slope;
            if !low_enough || !f.is_finite() {
                high = Some((t, f, slope));
            } else if slope < C2 * slope0 {
                low = (t, f, slope);
            } else {
                return Ok(Some(Accepted { t, square, reached }));
            }
            t = match high {
                None => 2.0 * t,
                Some(high) => between(low, high),
            };
            if team.stopping() {
                break;
            }
        }
        Ok(None)
    }

    /// |grad F| and |w|.
    fn sizes(&self, team: &mut dyn Team) -> Result<(f64, f64)> {
        let Descent { w, g, .. } = &self.at;
        Ok((inner(team, g, g)?.sqrt(), inner(team, w, w)?.sqrt()))
    }
}

/// A step that was found: how long it is, |w|^2 and F there.
struct Accepted {
    t: f64,
    square: f64,
    reached: Reached,
}

/// Where the cubic through two points and their slopes is least, kept away from both ends.
fn between(low: (f64, f64, f64), high: (f64, f64, f64)) -> f64 {
    let ((a, fa, da), (b, fb, db)) = (low, high);
    let d1 = da + db - 3.0 * (fa - fb) / (a - b);
    let root = (d1 * d1 - da * db).sqrt();
    let t = b - (b - a) * (db + root - d1) / (db - da + 2.0 * root);
    let (least, most) = (a + 0.1 * (b - a), b - 0.1 * (b - a));
    if t.is_finite() { t.clamp(least.min(most), least.max(most)) } else { 0.5 * (a + b) }
}

impl Learner for Lbfgs {
    fn profile(&self) -> Profile {
        self.at.profile("lbfgs")
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.at.begin(team.weights());
        let f = smooth(team, self.l2, &self.at.w, &mut self.at.g)?;
        self.at.start(f);
        Ok(())
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        let (f0, n) = (self.at.value().unwrap_or(0.0), real(team.examples()));
        for _ in 0..2 {
            let Descent { memory, g, d, .. } = &mut self.at;
            let slope0 = memory.direction(team, g, d)?;
            let steepest = memory.is_empty();
            if slope0 < 0.0 {
                // The first direction has no scale: its first step has length 1.
                let first = if steepest { 1.0 / inner(team, g, g)?.sqrt() } else { 1.0 };
                if let Some(Accepted { t, square, reached }) = self.search(team, first, f0, slope0)? {
                    let Descent { memory, g, d, trial_g, .. } = &mut self.at;
                    memory.push(team, t, d, trial_g, g)?;
                    self.at.accept(reached.f);
                    return Ok(self.at.test(reached.gradient.sqrt(), square.sqrt(), n));
                }
            }
            if steepest || team.stopping() {
                break;
            }
            self.at.memory.forget(); // once: the memory may be what misleads
        }
        if team.stopping() {
            return Ok(Done::Pass);
        }
        let (slope, size) = self.sizes(team)?;
        self.at.stuck("L-BFGS", slope, size, n, team.noise())
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
