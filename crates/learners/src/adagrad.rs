//! AdaGrad: stochastic gradient descent with a rate for each weight (Duchi, Hazan & Singer 2011).
//!
//! ```text
//! g = c_i grad loss_i(w);   G_j += g_j^2
//! alpha_j = rate / (delta + sqrt(G_j));   w_j <- (w_j - alpha_j g_j) / (1 + alpha_j l2)
//! ```
//!
//! Without a penalty unless l2 is given. Rare features take long steps, frequent ones short steps, so
//! one pass is often enough; with `--pairs all` labels that an attribute never had are learned from,
//! too. The division by 1 + alpha_j l2 is put off until the weight is read again: alpha_j is constant
//! in between, so k steps are one power. In a batch each example makes a step with its share of the mean
//! gradient, all at the same w. Cost of an example: one gradient, and a root for each weight in it. Memory: a double and a single a weight, a count more
//! with l2.
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
use seqoia_core::vecmath::adaptive_step;
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
    last: Vec<u32>,    // [weights] steps of this pass whose decay is in w; empty if l2 = 0
    t: u32,            // steps of this pass
    rows: Vec<Row>,    // scratch
}

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
            last: vec![],
            t: 0,
            rows: vec![],
        }
    }
}

/// The decay of so many steps at once. By squaring, since powers of the system's library have other last bits on
/// other processors.
fn decay(mut steps: u32, rate: f64, delta: f64, l2: f64, squares: f32) -> f64 {
    let (mut power, mut product) = (1.0 + l2 * rate / (delta + f64::from(squares).sqrt()), 1.0);
    while steps > 0 {
        product *= if steps & 1 == 1 { power } else { 1.0 };
        power *= power;
        steps >>= 1;
    }
    1.0 / product
}

impl Learner for AdaGrad {
    fn profile(&self) -> Profile {
        let mut needs = vec![Question::Expectations];
        needs.extend((self.l2 > 0.0).then_some(Question::Rows)); // whose decay is owed
        needs.extend((self.cost > 0.0).then_some(Question::Costs));
        let last = if self.l2 > 0.0 { size_of::<u32>() } else { 0 };
        Profile {
            name: "adagrad",
            needs,
            whole: false,
            stops: false,
            calibrated: self.cost == 0.0,
            per_weight: size_of::<f64>() + size_of::<f32>() + last,
            per_example: 0,
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0); // not empty after a warm start
        self.squares.resize(self.w.len(), 0.0);
        self.rest(team)
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        team.next(steps, ids);
        if self.l2 > 0.0 {
            self.rows.clear();
            team.rows(ids, &mut self.rows)?;
            for j in self.rows.iter().flat_map(|r| r.at as usize..r.at as usize + r.len as usize) {
                let owed = self.t - self.last[j];
                if owed > 0 && self.w[j] != 0.0 {
                    self.w[j] *= decay(owed, self.rate, self.delta, self.l2, self.squares[j]);
                }
                self.last[j] = self.t;
            }
        }
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.add_costs(self.cost)?;
        case.gradient(Weights::plain(&self.w), note);
        case.expand(self.least, note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], _: &mut dyn Team) -> Result<()> {
        let (part, rate, delta) = (1.0 / real(batch.len()), single(self.rate), single(self.delta));
        for note in batch {
            adaptive_step(&note.delta, part, rate, delta, &mut self.w, &mut self.squares);
        }
        self.t += 1;
        Ok(())
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.squares.len() != self.w.len() {
            return Err(Error::Mismatch("the saved state belongs to another learner or data set".to_owned()));
        }
        if self.l2 > 0.0 {
            self.last.resize(self.w.len(), 0);
            let (t, rate, delta, l2) = (self.t, self.rate, self.delta, self.l2);
            let rest = self.squares.chunks(BLOCK).zip(self.last.chunks_mut(BLOCK));
            each(team, self.w.chunks_mut(BLOCK).zip(rest).collect(), |(w, (squares, last))| {
                for ((w, squares), last) in w.iter_mut().zip(squares).zip(last) {
                    if *w != 0.0 && *last < t {
                        *w *= decay(t - *last, rate, delta, l2, *squares);
                    }
                    *last = 0;
                }
            })?;
        }
        self.t = 0;
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decay_of_many_steps_is_that_of_one_step_many_times() {
        let (rate, delta, l2) = (0.2, 0.1, 0.05);
        for squares in [0.0_f32, 0.03, 2.5, 400.0] {
            let alpha = rate / (delta + f64::from(squares).sqrt());
            let (mut w, mut done) = (1.0, 0);
            for steps in [0, 1, 2, 3, 7, 8, 100, 1023] {
                while done < steps {
                    w /= 1.0 + alpha * l2;
                    done += 1;
                }
                let at_once = decay(steps, rate, delta, l2, squares);
                assert!((at_once - w).abs() <= 1e-12 * w, "{steps} steps, G = {squares}: {at_once} {w}");
            }
        }
    }

    #[test]
    fn a_decay_of_very_many_steps_is_a_number() {
        assert_eq!(decay(u32::MAX, 0.2, 0.1, 0.05, 0.0), 0.0);
        assert_eq!(decay(u32::MAX, 0.2, 0.1, 0.0, 0.0), 1.0);
    }
}
