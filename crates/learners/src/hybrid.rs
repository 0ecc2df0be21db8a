//! L-BFGS on a growing sample (Friedlander & Schmidt 2012; Schmidt et al. 2015, "Hybrid").
//!
//! ```text
//! B_0: one example;   |B_{k+1}| = min(ceil(growth |B_k| + 1), n);   B_k: the first |B_k| of one permutation
//! f_k(w) = (1/|B_k|) sum_{i in B_k} c_i loss_i(w) + (l2/2) |w|^2
//! d = -H grad f_k(w);   w' = w + t d,   t = 1, 1/2, 1/4, ... until  f_k(w') <= f_k(w) + c1 t d.grad f_k(w)
//! s = w' - w,   y = grad f_k(w') - grad f_k(w), both on B_k
//! ```
//!
//! Samples are nested, so what grows is added to the gradient at w', and an iteration costs |B_{k+1}| evaluations beside
//! those of rejected steps. As soon as all examples are in the sample this is L-BFGS with its own line search, and only
//! then it may stop. Small samples make y noisy; a pair without curvature is skipped. One pass is one accepted step. Memory
//! per weight: as L-BFGS, and a plane while the sample grows.

use crate::lbfgs::{Lbfgs, PARAMS as QUASI_NEWTON};
use crate::objective::{Reached, or_too_long, smooth_along};
use crate::planes::{inner, moved};
use seqoia_core::cast::{narrow, real};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Data, Done, Learner, Mix, Profile, Result, Slot, Team, Weights};

/// The parameters of `hybrid`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "growth",
        kind: Kind::Real { above: 1.0, most: 1000.0 },
        default: Value::Real(1.1),
        help: "how much larger the sample is after each step",
    },
    Param { default: Value::Count(10), ..QUASI_NEWTON[0] },
    QUASI_NEWTON[1],
    QUASI_NEWTON[2],
    QUASI_NEWTON[3],
];

const C1: f64 = 1e-4;
/// Trials of one line search.
const TRIALS: usize = 30;

/// L-BFGS on a growing sample.
#[derive(Clone, Debug)]
pub struct Hybrid {
    l2: f64,
    growth: f64,
    inner: Lbfgs,
    order: Vec<u32>, // [n] the permutation
    sample: u64,     // its first examples, which are in the sample
}

impl Hybrid {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let growth = settings.number("growth");
        Hybrid { l2, growth, inner: Lbfgs::anywhere(settings, l2), order: vec![], sample: 0 }
    }

    fn size(&self) -> usize {
        usize::try_from(self.sample).unwrap_or(usize::MAX).min(self.order.len())
    }

    /// The first examples of the permutation.
    fn ids(&self, range: std::ops::Range<usize>) -> Vec<usize> {
        self.order[range].iter().map(|id| *id as usize).collect()
    }

    /// A step that lowers the mean over the sample enough; none if there is none.
    fn search(&mut self, team: &mut dyn Team, first: f64, slope0: f64) -> Result<Option<(f64, Reached)>> {
        let (ids, f0) = (self.ids(0..self.size()), self.inner.at.value().unwrap_or(0.0));
        let (mut t, l2) = (first, self.l2);
        let at = &mut self.inner.at;
        for _ in 0..TRIALS {
            let square = moved(team, &at.w, t, &at.d, &mut at.trial)?;
            let reached = smooth_along(team, Some(&ids), l2, &at.trial, square, &at.d, &mut at.trial_g);
            let reached = or_too_long(reached, Reached::TOO_LONG)?;
            if reached.f <= f0 + C1 * t * slope0 {
                return Ok(Some((t, reached)));
            }
            t *= 0.5;
            if team.stopping() {
                break;
            }
        }
        Ok(None)
    }

    /// Takes more examples in: F and its gradient at w become those of the larger sample.
    fn grow(&mut self, team: &mut dyn Team) -> Result<()> {
        let (before, n) = (self.size(), self.order.len());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // above 0; too large is cut to n
        let wanted = (self.growth * real(before) + 1.0).ceil() as usize;
        let after = wanted.min(n);
        if after == before {
            return Ok(());
        }
        let new = self.ids(before..after);
        let at = &mut self.inner.at;
        let mut added = vec![0.0; at.w.len()];
        let loss = team.total(Some(&new), Weights::plain(&at.w), Some(&mut added))?;
        let penalty = 0.5 * self.l2 * inner(team, &at.w, &at.w)?;
        let (old, all) = (real(before), real(after));
        let f = ((at.value().unwrap_or(0.0) - penalty) * old + loss) / all + penalty;
        let l2 = self.l2;
        for ((g, w), added) in at.g.iter_mut().zip(&at.w).zip(&added) {
            *g = ((*g - l2 * w) * old + added) / all + l2 * w;
        }
        at.start(f);
        self.sample = after as u64;
        Ok(())
    }
}

impl Learner for Hybrid {
    fn profile(&self) -> Profile {
        let profile = self.inner.at.profile("hybrid");
        Profile {
            per_weight: profile.per_weight + size_of::<f64>(),
            per_example: size_of::<u32>(),
            ..profile
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.inner.at.begin(team.weights());
        self.order = (0..team.examples()).map(narrow).collect();
        team.random("sample").shuffle(&mut self.order);
        self.sample = self.order.len().min(1) as u64;
        let (ids, at) = (self.ids(0..self.size()), &mut self.inner.at);
        let square = inner(team, &at.w, &at.w)?;
        let reached = smooth_along(team, Some(&ids), self.l2, &at.w, square, &at.w, &mut at.g)?;
        at.start(reached.f);
        Ok(())
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        if self.size() == self.order.len() {
            return self.inner.pass(team);
        }
        for _ in 0..2 {
            let at = &mut self.inner.at;
            let slope0 = at.memory.direction(team, &at.g, &mut at.d)?;
            let steepest = at.memory.is_empty();
            let first = if steepest { 1.0 / inner(team, &at.g, &at.g)?.sqrt() } else { 1.0 };
            if slope0 < 0.0
                && first.is_finite()
                && let Some((t, reached)) = self.search(team, first, slope0)?
            {
                let at = &mut self.inner.at;
                at.memory.push(team, t, &at.d, &at.trial_g, &at.g)?;
                at.accept(reached.f);
                break;
            }
            if steepest || team.stopping() {
                break; // this sample has no more to say
            }
            self.inner.at.memory.forget();
        }
        if !team.stopping() {
            self.grow(team)?;
        }
        Ok(Done::Pass)
    }

    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        self.inner.at.rest()
    }

    fn objective(&self) -> Option<f64> {
        // On a part of the examples it is another function.
        if self.size() == self.order.len() { self.inner.at.value() } else { None }
    }

    fn weights(&self) -> Vec<f64> {
        self.inner.at.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        const WHY: &str = "quasi-Newton methods work on whole passes and cannot be mixed";
        let mut slots = self.inner.at.state();
        slots.push(Slot { name: "order", mix: Mix::Never(WHY), data: Data::U32(&mut self.order) });
        slots.push(Slot { name: "sample", mix: Mix::Never(WHY), data: Data::Count(&mut self.sample) });
        slots
    }
}
