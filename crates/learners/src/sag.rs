//! SAG: stochastic average gradient (Le Roux, Schmidt & Bach 2012; Schmidt et al. 2015, algorithms 1 and 2).
//!
//! ```text
//! i drawn;   g = c_i grad loss_i(w);   d += g - g_i;   g_i = g;   m = examples seen so far
//! w <- (1 - alpha l2) w - (alpha / m) d
//! ```
//!
//! `sag`: i uniform; one L for all examples, raised by whichever example needs it; L *= 2^(-1/n) after each step;
//! alpha = 1 / (L + l2). `sag-nus` and `sag-nus-star` draw difficult examples more often, and differ in nothing but
//! their [`Sampling`]. All of them reach the optimum of F at a linear rate and have no rate to choose.
//!
//! Differs from the paper: algorithm 1 prints "while m < n and ...", which never starts; it stops here when
//! |d/n + l2 w| is at most `stop` in every weight after a pass in which all examples were seen, and a full gradient
//! confirms it. The search asks for more than, not at least, as much decrease, and gives up after 100 doublings.
//!
//! In a batch all examples are looked at under one w, and each then makes a step of its own, shorter from five examples
//! on: alpha * min(1, 4 / batch) (without that, batches of 8 diverged on small dense data). Cost of a step: one gradient;
//! two more sweeps over its rows; a search now and then. Memory: [`Lazy`] and the [`Gradients`].

use crate::gradients::{Gradients, TABLE};
use crate::lazy::{self, Lazy};
use crate::objective::Objective;
use crate::sampling::{Found, LIPSCHITZ, Sampling};
use crate::table::WHY;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{
    Case, Data, Done, Error, Learner, Mix, Note, Profile, Question, Random, Result, Slot, Team, Weights,
    online,
};

/// When methods with a table stop.
pub(crate) const STOP: Param = Param {
    name: "stop",
    kind: Kind::Real { above: 0.0, most: 1.0 },
    default: Value::Real(1e-6),
    help: "stop when every number of grad F is below",
};

/// The parameters of `sag`, `sag-nus` and `sag-nus-star`.
pub(crate) const PARAMS: &[Param] = &[TABLE, LIPSCHITZ, STOP];

/// Batches up to this size make full steps.
const FULL: f64 = 4.0;

/// How much of a step each example of a batch makes.
pub(crate) fn damping(batch: usize) -> f64 {
    (FULL / real(batch.max(1))).min(1.0)
}

/// Stochastic average gradient.
#[derive(Clone, Debug)]
pub(crate) struct Sag<S> {
    name: &'static str,
    l2: f64,
    stop: f64,
    lazy: Lazy,
    table: Gradients,
    sampling: S,
    difference: Note, // of what is stored; scratch
    near: f64,        // |d/n + l2 w| when a full gradient was last looked at
}

impl<S: Sampling> Sag<S> {
    /// With checked settings.
    pub(crate) fn with(name: &'static str, settings: &Settings, l2: f64, sampling: S) -> Self {
        Sag {
            name,
            l2,
            stop: settings.number("stop"),
            lazy: Lazy::default(),
            table: Gradients::new(settings),
            sampling,
            difference: Note::default(),
            near: f64::MAX,
        }
    }
}

/// Whether the gradient of F is small in every weight: first as far as `d`, the sum of the gradients that are remembered,
/// tells, then as it is. `near` remembers the first where the second was not small, so that it is not computed at every
/// pass. Where a weight is 0, an l1 penalty takes up to l1 of the gradient away.
pub(crate) fn is_done(
    team: &mut dyn Team,
    d: &[f64],
    w: &[f64],
    penalty: Objective,
    stop: f64,
    near: &mut f64,
) -> Result<bool> {
    let n = real(team.examples());
    let left = |g: f64, w: f64| match w {
        0.0 => (g.abs() - penalty.l1).max(0.0),
        w => (g + penalty.l1 * w.signum()).abs(),
    };
    let largest =
        |g: &[f64]| g.iter().zip(w).map(|(g, w)| left(g / n + penalty.l2 * w, *w)).fold(0.0, f64::max);
    let now = largest(d);
    if now > stop.min(0.5 * *near) {
        return Ok(false);
    }
    *near = now;
    let mut g = vec![0.0; w.len()];
    team.total(None, Weights::plain(w), Some(&mut g))?;
    Ok(largest(&g) <= stop)
}

impl<S: Sampling> Learner for Sag<S> {
    fn profile(&self) -> Profile {
        self.table.profile(Profile {
            needs: vec![Question::Expectations, Question::Rows],
            stops: true,
            per_example: 6 * size_of::<f64>() + 3 * size_of::<u32>(),
            ..Profile::log_linear(self.name, lazy::PER_WEIGHT)
        })
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.lazy.begin(team.weights());
        self.rest(team)
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        let random = team.random("draw");
        ids.extend((0..steps).map(|_| self.sampling.draw(random)));
        self.lazy.wake(ids, team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        self.table.look(case, self.lazy.weights(), self.sampling.first(case.id), note)
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let damping = damping(batch.len());
        self.table.open();
        for (number, note) in batch.iter().enumerate() {
            self.sampling.learn(note.id, Found::of(note));
            if number > 0 {
                self.lazy.wake_again(number);
            }
            self.table.replace(note, true, &mut self.difference)?;
            self.table.add(&self.difference, 1.0, team, &mut self.lazy.d)?;
            let alpha = damping * self.sampling.step(self.l2);
            self.lazy.step(1.0 - alpha * self.l2, alpha / real(self.table.stored()), team)?;
        }
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.lazy.d.len() != self.lazy.v.len() || !self.sampling.begin(team.examples()) {
            return Err(Error::other_state());
        }
        self.table.begin(team)?;
        self.lazy.flush(team)
    }

    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        online(self, team)?;
        let all = self.table.stored() == team.examples() && !team.stopping();
        let done = all
            && is_done(
                team,
                &self.lazy.d,
                &self.lazy.v,
                Objective { l1: 0.0, l2: self.l2 },
                self.stop,
                &mut self.near,
            )?;
        Ok(if done { Done::Converged("the gradient is small enough") } else { Done::Pass })
    }

    fn change_l2(&mut self, l2: f64) -> bool {
        self.sampling.change_l2(l2);
        (self.l2, self.near) = (l2, f64::MAX);
        true
    }

    fn weights(&self) -> Vec<f64> {
        self.lazy.plain()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        let mut slots = vec![
            slot("w", Data::F64(&mut self.lazy.v)),
            slot("d", Data::F64(&mut self.lazy.d)),
            slot("near", Data::Real(&mut self.near)),
        ];
        slots.extend(self.table.state());
        slots.extend(self.sampling.state());
        slots
    }
}

/// One estimate for all examples, which are drawn alike.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    n: usize,
    l: f64,    // from which the next search begins
    used: f64, // for the step at hand
}

impl Uniform {
    pub(crate) fn new(settings: &Settings) -> Self {
        let l = settings.number("lipschitz");
        Uniform { n: 0, l, used: l }
    }

    pub(crate) fn estimate(&self) -> f64 {
        self.used
    }
}

impl Sampling for Uniform {
    fn begin(&mut self, n: usize) -> bool {
        self.n = n;
        true
    }

    fn draw(&self, random: &mut Random) -> usize {
        random.below(self.n)
    }

    fn probability(&self, _: usize) -> f64 {
        1.0 / real(self.n)
    }

    fn first(&self, _: usize) -> Option<f64> {
        Some(self.l)
    }

    fn learn(&mut self, _: usize, found: Option<Found>) {
        let found = found.filter(|found| found.doubled).map_or(0.0, |found| found.l);
        self.used = self.l.max(found);
        self.l = self.used * (-1.0 / real(self.n)).exp2();
    }

    fn step(&self, l2: f64) -> f64 {
        1.0 / (self.used + l2)
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![Slot { name: "lipschitz", mix: Mix::Never(WHY), data: Data::Real(&mut self.l) }]
    }
}
