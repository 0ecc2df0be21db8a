//! Stochastic gradient descent with the schedule of Bottou's crfsgd (He & Wang 2012, "SGD").
//!
//! ```text
//! eta_t = eta0 / (1 + eta0 l2 t),   t = 0, 1, 2, ... counts steps over all passes
//! w <- (1 - eta_t l2) w - eta_t c_i grad loss_i(w)
//! ```
//!
//! The decay is one multiplication: w is stored as scale * v (Shalev-Shwartz et al. 2007). eta0 is
//! calibrated on a sample unless it is given. With l2 = 0 the rate is eta0 / (1 + examples so far / n). In a
//! batch the gradients of its examples, all at the same w, are averaged, and the batch is one step.
//! With `cost` the loss is the softmax-margin (Gimpel & Smith 2010). Cost of an example: one gradient.
//! Memory: one number a weight.

use crate::calibrate;
use crate::search::COST;
use seqoia_core::cast::{real, real64};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights};

/// The parameters of `sgd`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Auto("calibrated on a sample"),
        help: "initial learning rate",
    },
    COST,
];

/// Below this the scale is folded into the weights.
const FOLD: f64 = 1e-6;

/// Stochastic gradient descent.
#[derive(Clone, Debug)]
pub struct Sgd {
    l2: f64,
    given: Option<f64>,
    cost: f64,
    eta0: f64,
    v: Vec<f64>, // [weights] w = scale * v
    scale: f64,
    t: u64,    // steps made
    seen: u64, // examples in them
}

impl Sgd {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let (given, cost) = (settings.real("rate"), settings.number(COST.name));
        Sgd { l2, given, cost, eta0: 0.0, v: vec![], scale: 1.0, t: 0, seen: 0 }
    }

    fn eta(&self, n: f64) -> f64 {
        match self.l2 {
            0.0 => self.eta0 / (1.0 + real64(self.seen) / n),
            l2 => self.eta0 / (1.0 + self.eta0 * l2 * real64(self.t)),
        }
    }

    fn fold(&mut self) {
        let scale = self.scale;
        self.v.iter_mut().for_each(|v| *v *= scale);
        self.scale = 1.0;
    }
}

impl Learner for Sgd {
    fn profile(&self) -> Profile {
        let mut needs = vec![Question::Expectations];
        needs.extend((self.cost > 0.0).then_some(Question::Costs));
        Profile {
            name: "sgd",
            needs,
            whole: false,
            stops: false,
            calibrated: self.cost == 0.0,
            per_weight: 2 * size_of::<f64>(), // v, and the trials of the calibration
            per_example: 0,
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.v.resize(team.weights(), 0.0);
        self.eta0 = match self.given {
            Some(rate) => rate,
            None => calibrate::rate(team, &self.v, self.l2)?,
        };
        if self.eta0 * self.l2 >= 1.0 {
            return Err(Error::Learner(format!(
                "a rate of {:e} with l2 = {:e} wipes the weights out at every step; the product must be below 1",
                self.eta0, self.l2
            )));
        }
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.add_costs(self.cost)?;
        case.gradient(Weights { values: &self.v, scale: self.scale }, note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let eta = self.eta(real(team.examples()));
        self.scale *= 1.0 - eta * self.l2;
        team.spread(batch, -eta / (self.scale * real(batch.len())), &mut self.v)?;
        if self.scale < FOLD {
            self.fold();
        }
        self.t += 1;
        self.seen += batch.len() as u64;
        Ok(())
    }

    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        self.fold();
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.v.iter().map(|v| self.scale * v).collect()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.v) },
            Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta0) },
            Slot { name: "steps", mix: Mix::Same, data: Data::Count(&mut self.t) },
            Slot { name: "seen", mix: Mix::Same, data: Data::Count(&mut self.seen) },
        ]
    }
}
