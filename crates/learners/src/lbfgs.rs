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

use crate::planes::{inner, moved};
use crate::quasi_newton::Memory;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Data, Done, Error, Learner, Mix, Question, Result, Slot, Team, Weights};

/// The parameters of `lbfgs` and `owl-qn`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "history",
        kind: Kind::Count { least: 1, most: 1000 },
        default: Value::Count(6),
        help: "pairs that stand for the Hessian",
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

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopping {
    tolerance: f64,
    period: usize,
    gradient: f64,
}

impl Stopping {
    pub(crate) fn new(settings: &Settings) -> Self {
        Stopping {
            tolerance: settings.real("tolerance").unwrap_or(1e-5),
            period: settings.count("period").map_or(10, |n| usize::try_from(n).unwrap_or(10)),
            gradient: settings.real("gradient").unwrap_or(1e-5),
        }
    }

    /// `values`: F after each pass; `slope` = |grad F|.
    pub(crate) fn test(&self, values: &[f64], slope: f64, size: f64, n: f64) -> Done {
        if n * slope <= self.gradient * size.max(1.0) {
            return Done::Converged("the gradient is small enough");
        }
        let Some(before) = values.len().checked_sub(self.period + 1).map(|i| values[i]) else {
            return Done::Pass;
        };
        let now = values[values.len() - 1];
        if (before - now) / now.abs().max(f64::MIN_POSITIVE) < self.tolerance {
            return Done::Converged("the objective falls too little");
        }
        Done::Pass
    }
}

/// Limited-memory BFGS.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    l2: f64,
    stopping: Stopping,
    memory: Memory,
    w: Vec<f64>,       // [weights]
    g: Vec<f64>,       // [weights] gradient at w
    values: Vec<f64>,  // F at the start and after each pass
    d: Vec<f64>,       // [weights] direction; scratch
    trial: Vec<f64>,   // [weights] w + t d; scratch
    trial_g: Vec<f64>, // [weights]; scratch
}

impl Lbfgs {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let history = settings.count("history").map_or(6, |n| usize::try_from(n).unwrap_or(6));
        Lbfgs {
            l2,
            stopping: Stopping::new(settings),
            memory: Memory::new(history),
            w: vec![],
            g: vec![],
            values: vec![],
            d: vec![],
            trial: vec![],
            trial_g: vec![],
        }
    }

    /// A step that meets the Wolfe conditions, by bracketing; `trial` and `trial_g` are those of it.
    /// None if there is none to be found.
    fn search(
        &mut self,
        team: &mut dyn Team,
        first: f64,
        f0: f64,
        slope0: f64,
    ) -> Result<Option<(f64, f64)>> {
        let (mut low, mut high, mut t) = ((0.0, f0, slope0), None, first);
        for _ in 0..TRIALS {
            moved(team, &self.w, t, &self.d, &mut self.trial)?;
            let f = smooth(team, self.l2, &self.trial, &mut self.trial_g)?;
            let slope = inner(team, &self.trial_g, &self.d)?;
            let by_slope = f <= f0 + NOISE * f0.abs() && slope <= (2.0 * C1 - 1.0) * slope0;
            let low_enough = f <= f0 + C1 * t * slope0 || by_slope;
            if !low_enough || !f.is_finite() {
                high = Some((t, f, slope));
            } else if slope < C2 * slope0 {
                low = (t, f, slope);
            } else {
                return Ok(Some((t, f)));
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

/// (1/n) sum loss + (l2/2) |w|^2 and its gradient.
pub(crate) fn smooth(team: &mut dyn Team, l2: f64, w: &[f64], g: &mut Vec<f64>) -> Result<f64> {
    let n = real(team.examples());
    g.resize(w.len(), 0.0);
    let loss = team.total(None, Weights::plain(w), Some(g))?;
    let size = {
        let items: Vec<_> = g.chunks_mut(crate::planes::BLOCK).zip(w.chunks(crate::planes::BLOCK)).collect();
        seqoia_core::each(team, items, |(g, w): (&mut [f64], &[f64])| {
            g.iter_mut().zip(w).for_each(|(g, w)| *g = *g / n + l2 * w);
        })?;
        inner(team, w, w)?
    };
    Ok(loss / n + 0.5 * l2 * size)
}

impl Learner for Lbfgs {
    fn needs(&self) -> &'static [Question] {
        &[Question::Expectations]
    }

    fn whole(&self) -> bool {
        true
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.memory.begin(self.w.len());
        let f = smooth(team, self.l2, &self.w, &mut self.g)?;
        self.values = vec![f];
        Ok(())
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        let (f0, n) = (self.values.last().copied().unwrap_or(0.0), real(team.examples()));
        for _ in 0..2 {
            self.memory.direction(team, &self.g, &mut self.d)?;
            let slope0 = inner(team, &self.g, &self.d)?;
            let steepest = self.memory.is_empty();
            if slope0 < 0.0 {
                // The first direction has no scale: its first step has length 1.
                let first = if steepest { 1.0 / inner(team, &self.g, &self.g)?.sqrt() } else { 1.0 };
                if let Some((t, f)) = self.search(team, first, f0, slope0)? {
                    self.memory.push(team, t, &self.d, &self.trial_g, &self.g)?;
                    std::mem::swap(&mut self.w, &mut self.trial);
                    std::mem::swap(&mut self.g, &mut self.trial_g);
                    self.values.push(f);
                    let (slope, size) = (inner(team, &self.g, &self.g)?, inner(team, &self.w, &self.w)?);
                    return Ok(self.stopping.test(&self.values, slope.sqrt(), size.sqrt(), n));
                }
            }
            if steepest || team.stopping() {
                break;
            }
            self.memory.forget(); // once: the memory may be what misleads
        }
        if team.stopping() {
            return Ok(Done::Pass);
        }
        let slope = inner(team, &self.g, &self.g)?.sqrt();
        if n * slope <= 1e-2 * inner(team, &self.w, &self.w)?.sqrt().max(1.0) {
            return Ok(Done::Converged("the objective cannot be resolved further"));
        }
        Err(Error::Learner(format!(
            "L-BFGS finds no lower objective after {} passes, at F = {f0}, |grad F| = {slope:e}; is the penalty very weak?",
            self.values.len() - 1
        )))
    }

    /// Scratch planes are not part of the state.
    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        self.memory.rest(&self.w, &self.g, &self.values)
    }

    fn objective(&self) -> Option<f64> {
        self.values.last().copied()
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        const WHY: &str = "L-BFGS works on whole passes and cannot be mixed";
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        let mut slots = vec![
            slot("w", Data::F64(&mut self.w)),
            slot("g", Data::F64(&mut self.g)),
            slot("values", Data::F64(&mut self.values)),
        ];
        slots.extend(self.memory.state());
        slots
    }
}
