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
//! third of the time; with fewer than 32 steps per pass, at every step. In a batch each example makes a step with its share of
//! the mean gradient, all at the same w. Cost of an example: one gradient, and a root for each weight in it. Memory: a
//! double and a single per weight.
//!
//! Differs from the paper: a position whose gradient is at most `least` in every label makes no step.
//! Most positions are certain after a while, so most rows of weights are left alone. And a feature that
//! occurs at several positions of an example takes a step for each of them, all with gradients at the
//! same w. Merging them first was tried: it took a third more time and the scores stayed the same. With
//! `cost` the loss is the softmax-margin (Gimpel & Smith 2010).

use crate::planes::BLOCK;
use crate::search::COST;
use seqoia_core::cast::{real, single};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::vecmath::{adaptive_decay, adaptive_step};
use seqoia_core::{
    Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights, each,
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
    COST,
];

/// Stochastic gradient descent with a rate for each weight.
#[derive(Clone, Debug)]
pub struct AdaGrad {
    l2: f64,
    rate: f64,
    delta: f64,
    least: f64,
    cost: f64,
    w: Vec<f64>,       // [weights]
    squares: Vec<f32>, // [weights] G
    t: u32,            // steps whose decay is not in w
    touched: usize,    // weights that they went through
}

/// How often weights decay in a pass, at least and at most.
const DECAYS: [usize; 2] = [4, 16];
/// How many times as many weights as there are steps go through before weights decay.
const TOUCHED: usize = 4;

impl AdaGrad {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        AdaGrad {
            l2,
            rate: settings.number("rate"),
            // In single precision it must not become 0: a weight without a gradient would be 0/0.
            delta: settings.number("delta").max(f32::MIN_POSITIVE.into()),
            least: settings.number("least"),
            cost: settings.number(COST.name),
            w: vec![],
            squares: vec![],
            t: 0,
            touched: 0,
        }
    }

    /// Whether it is time for weights to decay, with so many steps in a pass.
    fn is_due(&self, steps: usize) -> bool {
        let [latest, earliest] = DECAYS.map(|times| self.t as usize >= (steps / times).max(1));
        let few = steps < 2 * DECAYS[1];
        few || latest || earliest && self.touched >= TOUCHED * self.w.len()
    }

    /// Takes the decay of the steps since the last time into the weights.
    fn decay(&mut self, team: &mut dyn Team) -> Result<()> {
        self.touched = 0;
        let steps = std::mem::take(&mut self.t);
        if steps == 0 {
            return Ok(()); // or there is no penalty, and no step was counted
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
        Profile {
            name: "adagrad",
            needs,
            whole: false,
            stops: false,
            calibrated: self.cost == 0.0,
            per_weight: size_of::<f64>() + size_of::<f32>(),
            per_example: 0,
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.squares.resize(self.w.len(), 0.0);
        self.rest(team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.add_costs(self.cost)?;
        case.gradient(Weights::plain(&self.w), note);
        case.expand(self.least, note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let (part, rate, delta) = (1.0 / real(batch.len()), single(self.rate), single(self.delta));
        for note in batch {
            adaptive_step(&note.delta, part, rate, delta, &mut self.w, &mut self.squares);
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
            return Err(Error::Mismatch("the saved state belongs to another learner or data set".to_owned()));
        }
        self.decay(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) },
            Slot { name: "squares", mix: Mix::Mean, data: Data::F32(&mut self.squares) },
        ]
    }
}
