//! AdaGrad: stochastic gradient descent with a rate for each weight (Duchi, Hazan & Singer 2011).
//!
//! ```text
//! g = c_i grad loss_i(w);   G_j += g_j^2
//! alpha_j = rate / (delta + sqrt(G_j));   w_j <- (w_j - alpha_j g_j) / (1 + alpha_j l2)
//! ```
//!
//! Without a penalty unless l2 is given. Rare features take long steps, frequent ones short steps, so
//! one pass is often enough; with `--pairs all` labels that an attribute never had are learned from,
//! too. The division by 1 + alpha_j l2 is made for many steps at once, 4 to 16 times per pass, at the alpha_j of that
//! moment: then reading a weight costs nothing. (Truncated gradient descent does so: Langford, Li & Zhang 2009, their
//! K.) It is made as soon as steps have gone through four times as many weights as there are, which keeps it below a
//! third of the time; with fewer than 32 steps per pass, as soon as they have gone through a quarter. In a batch each example makes a step with its share of
//! the mean gradient, all at the same w. Cost of an example: one gradient, and a root for each weight in it. Memory: a
//! double and a single per weight.
//!
//! With l1, and as `adagrad-exact`, both penalties are proximal steps, exact and put off ([`Shrink`]): weights that no gradient
//! pulls away are exactly 0. `adagrad-exact` is the setting of Schmidt et al. 2015: delta 1, no `least`, l2 = 1/n.
//!
//! With `average` the mean of the weights after each step is shipped: what each weight was is added up when it changes, for
//! as many steps as it was so. Not with l1, where it changes between.
//!
//! Differs from the paper: a position whose gradient is at most `least` in every label makes no step.
//! Most positions are certain after a while, so most rows of weights are left alone. And a feature that
//! occurs at several positions of an example takes a step for each of them, all with gradients at the
//! same w. Merging them first was tried: it took a third more time and the scores stayed the same. With
//! `cost` the loss is the softmax-margin (Gimpel & Smith 2010).

use crate::objective::Objective;
use crate::planes::BLOCK;
use crate::search::COST;
use crate::shrink::{self, Shrink};
use seqoia_core::cast::{narrow, real, real64, single};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::steps::catch_up;
use seqoia_core::vecmath::{adaptive_decay, adaptive_step};
use seqoia_core::{
    Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Row, Slot, Team, Weights, each,
};

/// The parameters of `adagrad`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(0.2),
        help: "initial learning rate",
    },
    Param {
        name: "delta",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(0.1),
        help: "keeps the first steps short: added to sqrt(G)",
    },
    Param {
        name: "least",
        kind: Kind::Fraction,
        default: Value::Real(0.003),
        help: "a position whose gradient is below this in every label makes no step",
    },
    AVERAGE,
    COST,
];

/// The parameters of `adagrad-exact`.
pub(crate) const EXACT: &[Param] = &[
    PARAMS[0],
    Param { default: Value::Real(1.0), ..PARAMS[1] },
    Param { default: Value::Real(0.0), ..PARAMS[2] },
    AVERAGE,
    COST,
];

const AVERAGE: Param = Param {
    name: "average",
    kind: Kind::Word(&["yes", "no"]),
    default: Value::Word("no"),
    help: "ship the mean of all weights instead of the last ones",
};

/// Stochastic gradient descent with a rate for each weight.
#[derive(Clone, Debug)]
pub struct AdaGrad {
    name: &'static str,
    l2: f64, // that of put-off decay; 0 if it is proximal
    rate: f64,
    delta: f64,
    least: f64,
    cost: f64,
    w: Vec<f64>,       // [weights]
    squares: Vec<f32>, // [weights] G
    t: u32,            // steps whose decay is not in w
    touched: usize,    // weights that they went through
    shrink: Option<Shrink>,
    mean: Option<Mean>,
}

/// The sum of what each weight was after each step.
#[derive(Clone, Debug, Default)]
struct Mean {
    sum: Vec<f64>,   // [weights]
    last: Vec<u32>,  // [weights] the step up to which it is in the sum
    moved: Vec<f64>, // minus the numbers of the steps since all were in it, from 0
    steps: u64,      // in the sum of all
}

impl Mean {
    /// What these rows were goes into the sum, before they change.
    fn add(&mut self, rows: &[Row], w: &[f64]) {
        let now = narrow(self.moved.len() - 1);
        catch_up(rows, &self.moved, now, &mut self.last, w, &mut self.sum);
    }

    fn tick(&mut self) {
        self.moved.push(-real(self.moved.len()));
    }

    /// What all weights were goes into the sum.
    fn flush(&mut self, w: &[f64], team: &mut dyn Team) -> Result<()> {
        self.last.resize(w.len(), 0); // after a load there were none
        self.sum.resize(w.len(), 0.0);
        let now = narrow(self.moved.len().saturating_sub(1));
        let blocks = self.sum.chunks_mut(BLOCK).zip(w.chunks(BLOCK)).zip(self.last.chunks_mut(BLOCK));
        each(team, blocks.collect(), |((sum, w), last): ((&mut [f64], &[f64]), &mut [u32])| {
            for ((sum, w), last) in sum.iter_mut().zip(w).zip(last) {
                *sum += f64::from(now - *last) * w;
                *last = 0;
            }
        })?;
        self.steps += u64::from(now);
        self.moved = vec![0.0];
        Ok(())
    }

    fn of(&self, w: &[f64]) -> Vec<f64> {
        let now = narrow(self.moved.len().saturating_sub(1));
        let steps = real64(self.steps + u64::from(now));
        if steps == 0.0 {
            return w.to_vec();
        }
        let all = self.sum.iter().zip(w).zip(&self.last);
        all.map(|((sum, w), last)| (sum + f64::from(now - last) * w) / steps).collect()
    }
}

/// How often weights decay in a pass, at least and at most.
const DECAYS: [usize; 2] = [4, 16];
/// How many times as many weights as there are steps go through before weights decay.
const TOUCHED: usize = 4;

impl AdaGrad {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, penalty: Objective) -> Self {
        let l1 = penalty.l1 > 0.0;
        Self::with("adagrad", settings, penalty, l1)
    }

    /// `adagrad-exact`, with checked settings.
    #[must_use]
    pub fn exact(settings: &Settings, penalty: Objective) -> Self {
        Self::with("adagrad-exact", settings, penalty, true)
    }

    fn with(name: &'static str, settings: &Settings, penalty: Objective, proximal: bool) -> Self {
        let rate = settings.number("rate");
        // In single precision it must not become 0: a weight without a gradient would be 0/0.
        let delta = settings.number("delta").max(f32::MIN_POSITIVE.into());
        AdaGrad {
            name,
            l2: if proximal { 0.0 } else { penalty.l2 },
            rate,
            delta,
            least: settings.number("least"),
            cost: settings.number(COST.name),
            w: vec![],
            squares: vec![],
            t: 0,
            touched: 0,
            shrink: proximal.then(|| Shrink::new(penalty, rate, delta)),
            mean: (settings.word(AVERAGE.name) == Some("yes")).then(Mean::default),
        }
    }

    /// Whether it is time for weights to decay, with so many steps in a pass.
    fn is_due(&self, steps: usize) -> bool {
        let [latest, earliest] = DECAYS.map(|times| self.t as usize >= (steps / times).max(1));
        let few = steps < 2 * DECAYS[1];
        let enough = TOUCHED * self.touched >= self.w.len();
        few && enough || latest || earliest && self.touched >= TOUCHED * self.w.len()
    }

    /// Takes the decay of the steps since the last time into the weights.
    fn decay(&mut self, team: &mut dyn Team) -> Result<()> {
        self.touched = 0;
        let steps = std::mem::take(&mut self.t);
        if steps == 0 {
            return Ok(()); // or there is no penalty, and no step was counted
        }
        if let Some(mean) = &mut self.mean {
            mean.flush(&self.w, team)?;
        }
        let (rate, delta) = (single(self.l2 * self.rate), single(self.delta));
        let blocks = self.w.chunks_mut(BLOCK).zip(self.squares.chunks(BLOCK)).collect();
        each(team, blocks, |(w, squares)| adaptive_decay(steps, rate, delta, squares, w))
    }
}

impl Learner for AdaGrad {
    fn profile(&self) -> Profile {
        let mut needs = vec![Question::Expectations];
        needs.extend((self.cost > 0.0).then_some(Question::Costs));
        needs.extend(self.shrink.as_ref().map(|_| Question::Rows));
        let more = if self.shrink.is_some() { shrink::PER_WEIGHT } else { 0 };
        let mean = if self.mean.is_some() { size_of::<f64>() + size_of::<u32>() } else { 0 };
        let per_weight = size_of::<f64>() + size_of::<f32>() + more + mean;
        Profile { calibrated: self.cost == 0.0, ..Profile::online(self.name, needs, per_weight) }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.shrink.is_some() && self.mean.is_some() {
            let what = "a mean of weights is not kept along with an l1 penalty or by adagrad-exact: leave `average` out";
            return Err(Error::Learner(what.to_owned()));
        }
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.squares.resize(self.w.len(), 0.0);
        self.rest(team)
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        team.next(steps, ids);
        match &mut self.shrink {
            Some(shrink) => shrink.wake(ids, &mut self.w, &self.squares, team),
            None => Ok(()),
        }
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.add_costs(self.cost)?;
        case.gradient(Weights::plain(&self.w), note);
        case.expand(self.least, note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let (part, rate, delta) = (1.0 / real(batch.len()), single(self.rate), single(self.delta));
        if let Some(mean) = &mut self.mean {
            batch.iter().for_each(|note| mean.add(&note.delta.rows, &self.w));
            mean.tick();
        }
        for note in batch {
            adaptive_step(&note.delta, part, rate, delta, &mut self.w, &mut self.squares);
        }
        if let Some(shrink) = &mut self.shrink {
            let rows = batch.iter().map(|note| note.delta.rows.as_slice());
            shrink.step(rows, &mut self.w, &self.squares);
        }
        if self.l2 == 0.0 {
            return Ok(());
        }
        self.t += 1;
        let rows = batch.iter().flat_map(|note| &note.delta.rows);
        self.touched += rows.map(|row| row.len as usize).sum::<usize>();
        let steps = team.examples().div_ceil(team.batch().max(1));
        if self.is_due(steps) { self.decay(team) } else { Ok(()) }
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.squares.len() != self.w.len() {
            return Err(Error::other_state());
        }
        if let Some(shrink) = &mut self.shrink {
            shrink.flush(&mut self.w, &self.squares, team)?;
        }
        if let Some(mean) = &mut self.mean {
            mean.flush(&self.w, team)?;
        }
        self.decay(team)
    }

    fn weights(&self) -> Vec<f64> {
        match (&self.mean, &self.shrink) {
            (Some(mean), _) => mean.of(&self.w),
            (None, Some(shrink)) => shrink.plain(&self.w, &self.squares),
            (None, None) => self.w.clone(),
        }
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let mut slots = vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) },
            Slot { name: "squares", mix: Mix::Mean, data: Data::F32(&mut self.squares) },
        ];
        if let Some(mean) = &mut self.mean {
            slots.push(Slot { name: "sum", mix: Mix::Mean, data: Data::F64(&mut mean.sum) });
            slots.push(Slot { name: "averaged", mix: Mix::Same, data: Data::Count(&mut mean.steps) });
        }
        slots
    }
}
