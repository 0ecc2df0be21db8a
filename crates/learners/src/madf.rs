//! MADF: stochastic gradient descent with a fixed part of the rate for each weight, the smaller the more frequent its
//! feature is (He & Wang 2012, eqs. 14 and 15).
//!
//! ```text
//! B_j = 1 / (1/most + (1/least - 1/most) f_j),   f_j = occurrences of feature j / tokens
//! w_j <- w_j - eta_t B_j (c_i grad_j loss_i(w) + l2 w_j)
//! eta_t = eta0 / (1 + eta0 l2 t)  (`by-step`),   eta0 / (1 + passes so far)  (`by-pass`)
//! ```
//!
//! Differs from the paper: eq. 14 prints the rate as 1/t, which does not train; the text speaks of a first rate from a
//! sub-sample, so the schedule is that of `sgd`, with eta0 calibrated with B in the trials. What f counts is open
//! between the text and table 4, so `frequency` says it: `pair`, how often attribute and gold label (or two gold labels)
//! occur together, or `attribute`, how often the attribute occurs, whatever the label (then label pairs are not
//! counted, and have the largest part). B multiplies the penalty as well: else the fixed point would be another. Weights decay 16 times per pass, at
//! every step if there are fewer than 32 in it. In a batch each example makes a step with its share of the mean
//! gradient. Cost of a step: one gradient, one factor for each weight in it. Memory: a double and a single per weight.

use crate::calibrate;
use crate::planes::BLOCK;
use crate::sweep::sweep;
use seqoia_core::cast::{real, real64, single};
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::steps::rated_step;
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Result, Slot, Team, Weights, each};

/// The parameters of `madf`.
pub(crate) const PARAMS: &[Param] = &[
    calibrate::RATE,
    Param {
        name: "smallest",
        kind: Kind::Real { above: 0.0, most: 1.0 },
        default: Value::Real(0.001),
        help: "part of the rate of a feature of every token (a)",
    },
    Param {
        name: "largest",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Real(1.0),
        help: "part of the rate of a feature that never occurs (b)",
    },
    Param {
        name: "frequency",
        kind: Kind::Word(&["pair", "attribute"]),
        default: Value::Word("pair"),
        help: "what is counted: an attribute with its gold label, or alone",
    },
    Param {
        name: "schedule",
        kind: Kind::Word(&["by-step", "by-pass"]),
        default: Value::Word("by-step"),
        help: "how the rate falls: as that of sgd, or 1 / (1 + passes)",
    },
];

/// How often weights decay in a pass.
const DECAYS: u64 = 16;
/// The rate of `by-pass` that is not calibrated.
const BY_PASS: f64 = 1.0;

/// Stochastic gradient descent with rates by the frequency of features.
#[derive(Clone, Debug)]
pub struct Madf {
    l2: f64,
    given: Option<f64>,
    ends: [f64; 2], // a and b
    pairs: bool,    // an attribute is counted with its gold label
    by_pass: bool,
    eta0: f64,
    w: Vec<f64>,     // [weights]
    rates: Vec<f32>, // [weights] B
    t: u64,          // steps made
    seen: u64,       // examples in them
    owed: f64,       // sum of the rates of steps whose decay is not in w
    steps: u64,      // how many
}

impl Madf {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Madf {
            l2,
            given: settings.real("rate"),
            ends: [settings.number("smallest"), settings.number("largest")],
            pairs: settings.word("frequency") == Some("pair"),
            by_pass: settings.word("schedule") == Some("by-pass"),
            eta0: 0.0,
            w: vec![],
            rates: vec![],
            t: 0,
            seen: 0,
            owed: 0.0,
            steps: 0,
        }
    }

    fn eta(&self, n: f64) -> f64 {
        match self.l2 {
            _ if self.by_pass => self.eta0 / (1.0 + (real64(self.seen) / n).floor()),
            0.0 => self.eta0 / (1.0 + real64(self.seen) / n),
            l2 => self.eta0 / (1.0 + self.eta0 * l2 * real64(self.t)),
        }
    }

    /// B, from what the examples hold.
    fn count(&self, team: &mut dyn Team) -> Result<Vec<f32>> {
        let mut counts = vec![0.0; team.weights()];
        let look = |case: &mut Case<'_>, note: &mut Note| {
            note.parts.resize(case.parts(), 0.0);
            if !self.pairs {
                note.parts[..case.single_parts()].fill(1.0);
            } else {
                let zeros = vec![0.0; case.parts()];
                case.gold_score(&zeros);
                case.gold(1.0, &mut note.parts);
            }
            Ok(())
        };
        sweep(team, &look, |notes, team| team.spread(notes, 1.0, &mut counts))?;
        let (tokens, [a, b]) = (real(team.size().max(1)), self.ends);
        // Values may be negative, and so may what they add up to.
        let rate = |count: f64| 1.0 / (1.0 / b + (1.0 / a - 1.0 / b) * (count / tokens).clamp(0.0, 1.0));
        Ok(counts.into_iter().map(|count| single(rate(count))).collect())
    }

    /// Takes the decay of the steps since the last time into the weights.
    fn decay(&mut self, team: &mut dyn Team) -> Result<()> {
        let owed = std::mem::take(&mut self.owed) * self.l2;
        self.steps = 0;
        if owed == 0.0 {
            return Ok(());
        }
        let blocks = self.w.chunks_mut(BLOCK).zip(self.rates.chunks(BLOCK)).collect();
        each(team, blocks, |(w, rates): (&mut [f64], &[f32])| {
            for (w, rate) in w.iter_mut().zip(rates) {
                *w *= (1.0 - owed * f64::from(*rate)).max(0.0);
            }
        })
    }
}

impl Learner for Madf {
    fn profile(&self) -> Profile {
        // w and B; while B is counted or the rate calibrated, one plane more, which is scratch.
        Profile::log_linear("madf", 3 * size_of::<f64>())
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0);
        self.rates = self.count(team)?;
        self.eta0 = match self.given {
            Some(rate) => rate,
            None if self.by_pass => BY_PASS,
            None => calibrate::rate(team, &self.w, self.l2, Some(&self.rates))?,
        };
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(Weights::plain(&self.w), note);
        case.expand(0.0, note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let eta = self.eta(real(team.examples()));
        let steps = (team.examples() as u64).div_ceil(batch.len() as u64);
        let every = if steps < 2 * DECAYS { 1 } else { steps / DECAYS };
        (self.owed, self.steps) = (self.owed + eta, self.steps + 1);
        if every == 1 {
            self.decay(team)?; // before the step, whose gradient was taken at the weights as they were
        }
        for note in batch {
            rated_step(&note.delta, eta / real(batch.len()), &self.rates, &mut self.w);
        }
        self.t += 1;
        self.seen += batch.len() as u64;
        if self.steps >= every { self.decay(team) } else { Ok(()) }
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.rates.len() != self.w.len() {
            return Err(Error::other_state());
        }
        self.decay(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) },
            Slot { name: "rates", mix: Mix::Same, data: Data::F32(&mut self.rates) },
            Slot { name: "rate", mix: Mix::Same, data: Data::Real(&mut self.eta0) },
            Slot { name: "steps", mix: Mix::Same, data: Data::Count(&mut self.t) },
            Slot { name: "seen", mix: Mix::Same, data: Data::Count(&mut self.seen) },
        ]
    }
}
