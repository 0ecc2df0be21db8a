//! ADF: stochastic gradient descent with rates that fall the faster the more often a feature is used (Sun, Wang & Li,
//! ACL 2012, algorithm 1; He & Wang 2012, "ADF").
//!
//! ```text
//! for each example:  v_j += 1 for each weight j of an attribute in it;   w_j -= gamma_j c_i grad_j loss_i(w)
//! after every q examples, for all j:  u = v_j / q;   gamma_j *= upper - u (upper - lower);   v_j = 0
//!                                     w_j *= 1 - gamma_j l2 q
//! ```
//!
//! An attribute that occurs twice in an example is used once. All labels of an attribute share a rate. A weight that is
//! never used keeps nearly its first rate; one that is used in every example (label pairs) loses 40 % of it in each of
//! the ten windows of a pass and is frozen after about one. So rates are summable and F ends above its optimum: the result
//! depends on the first rate and on the order, and a few passes are enough.
//!
//! The first rate is calibrated on a sample as that of `sgd`, with constant rates in the trials. Windows hold
//! q = n / `windows` examples, go on over passes and end behind a step. The penalty is applied at their ends, to all
//! weights, as in Sun's toolkit. In a batch each example makes a step with its share of the mean gradient. Cost of a step:
//! one gradient, one rate per row; a sweep over all weights per window. Memory: two numbers per weight and three counts, of
//! which only those at the beginning of a row are touched.

use crate::calibrate;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::steps::rows_step;
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Result, Slot, Team, Weights};

/// The parameters of `adf`.
pub(crate) const PARAMS: &[Param] = &[
    calibrate::RATE,
    Param {
        name: "upper",
        kind: Kind::Fraction,
        default: Value::Real(0.995),
        help: "factor of the rate per window of a feature that is never used",
    },
    Param {
        name: "lower",
        kind: Kind::Fraction,
        default: Value::Real(0.6),
        help: "factor of the rate per window of a feature that is used in every example",
    },
    Param {
        name: "windows",
        kind: Kind::Count { least: 1, most: 1_000_000 },
        default: Value::Count(10),
        help: "times per pass that rates fall",
    },
];

/// Adaptive stochastic gradient descent by feature frequency.
#[derive(Clone, Debug)]
pub struct Adf {
    l2: f64,
    given: Option<f64>,
    upper: f64,
    lower: f64,
    windows: u64,
    w: Vec<f64>,       // [weights]
    rates: Vec<f64>,   // [weights] at the first weight of a row: gamma; 0: the row was never used
    lengths: Vec<u32>, // [weights] there too: the length of the row
    counts: Vec<u32>,  // [weights] there too: v, examples of the window that used it
    seen: Vec<u32>,    // [weights] there too: the last example of the pass that counted it
    unused: f64,       // gamma of a row that was never used
    example: u32,      // of the pass, from 1
    filled: u64,       // examples of the window
}

impl Adf {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        Adf {
            l2,
            given: settings.real("rate"),
            upper: settings.number("upper"),
            lower: settings.number("lower"),
            windows: settings.count("windows").unwrap_or(1),
            w: vec![],
            rates: vec![],
            lengths: vec![],
            counts: vec![],
            seen: vec![],
            unused: 0.0,
            example: 0,
            filled: 0,
        }
    }

    /// A step for an example, and counts what it used, each row once.
    fn step(&mut self, note: &Note, share: f64) {
        self.example += 1;
        for row in &note.delta.rows {
            let at = row.at as usize;
            if self.rates[at] == 0.0 {
                (self.rates[at], self.lengths[at]) = (self.unused, row.len);
            }
            self.counts[at] += u32::from(std::mem::replace(&mut self.seen[at], self.example) != self.example);
        }
        rows_step(&note.delta, share, &self.rates, &mut self.w);
        self.filled += 1;
    }

    /// The window is full: rates fall, and weights decay.
    fn close(&mut self) {
        let q = real(usize::try_from(std::mem::take(&mut self.filled)).unwrap_or(usize::MAX));
        let (fall, decay) = ((self.upper - self.lower) / q, self.l2 * q);
        self.unused *= self.upper;
        let mut at = 0;
        while at < self.w.len() {
            if self.rates[at] == 0.0 {
                at += 1;
                continue;
            }
            self.rates[at] *= self.upper - f64::from(std::mem::take(&mut self.counts[at])) * fall;
            let (factor, end) = ((1.0 - self.rates[at] * decay).max(0.0), at + self.lengths[at] as usize);
            self.w[at..end].iter_mut().for_each(|w| *w *= factor);
            at = end;
        }
    }
}

impl Learner for Adf {
    fn profile(&self) -> Profile {
        // w, the rates, three counts; at the start the trial of the calibration.
        Profile::log_linear("adf", 2 * size_of::<f64>() + 3 * size_of::<u32>())
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0);
        let rate = calibrate::given_or(self.given, team, &self.w, self.l2)?;
        self.unused = rate;
        self.rates = vec![0.0; self.w.len()];
        (self.lengths, self.counts) = (vec![0; self.w.len()], vec![0; self.w.len()]);
        self.rest(team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(Weights::plain(&self.w), note);
        case.expand_all(note);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let window = (team.examples() as u64 / self.windows).max(1);
        let share = 1.0 / real(batch.len());
        for note in batch {
            self.step(note, share);
        }
        if self.filled >= window {
            self.close();
        }
        Ok(())
    }

    fn rest(&mut self, _: &mut dyn Team) -> Result<()> {
        if [self.rates.len(), self.lengths.len(), self.counts.len()] != [self.w.len(); 3] {
            return Err(Error::other_state());
        }
        let mut end = 0;
        for (at, length) in self.lengths.iter().enumerate().filter(|(at, _)| self.rates[*at] != 0.0) {
            if at < end || *length == 0 || at + *length as usize > self.w.len() {
                return Err(Error::other_state());
            }
            end = at + *length as usize;
        }
        self.example = 0;
        self.seen.clear();
        self.seen.resize(self.w.len(), 0);
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![
            Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) },
            Slot { name: "rates", mix: Mix::Mean, data: Data::F64(&mut self.rates) },
            Slot { name: "unused", mix: Mix::Mean, data: Data::Real(&mut self.unused) },
            Slot { name: "lengths", mix: Mix::Same, data: Data::U32(&mut self.lengths) },
            Slot { name: "counts", mix: Mix::Same, data: Data::U32(&mut self.counts) },
            Slot { name: "filled", mix: Mix::Same, data: Data::Count(&mut self.filled) },
        ]
    }
}
