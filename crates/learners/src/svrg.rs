//! SVRG: stochastic variance-reduced gradient (Johnson & Zhang 2013).
//!
//! ```text
//! every `every` passes:  s = w,   G = (1/n) sum_i c_i grad loss_i(s)
//! steps:  i drawn;   w <- (1 - rate l2) w - rate (c_i grad loss_i(w) - c_i grad loss_i(s) + G)
//! ```
//!
//! No table: instead the gradient of an example at s is computed again, so a step costs two evaluations, and G one of
//! all examples. The rate is constant, 1/(4 L) unless it is given, with L the largest of the estimates that line searches
//! find for up to 1000 examples at the start. Examples come in the strategy's order. G reaches weights lazily ([`Lazy`]).
//! In a batch each example makes a step with its share. Memory: [`Lazy`] and one number per weight.

use crate::lazy::{self, Lazy};
use crate::sampling::{Found, search};
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Data, Error, Learner, Mix, Note, Profile, Question, Result, Slot, Team, Weights};

/// The parameters of `svrg`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rate",
        kind: Kind::Real { above: 0.0, most: f64::INFINITY },
        default: Value::Auto("1/(4 L), L by line searches"),
        help: "learning rate",
    },
    Param {
        name: "every",
        kind: Kind::Count { least: 1, most: 1_000_000 },
        default: Value::Count(2),
        help: "passes between two full gradients",
    },
];

/// Examples whose L is looked for.
const SAMPLE: usize = 1000;

/// Stochastic variance-reduced gradient.
#[derive(Clone, Debug)]
pub struct Svrg {
    l2: f64,
    given: Option<f64>,
    every: u64,
    eta: f64,
    lazy: Lazy,
    snapshot: Vec<f64>, // [weights]
    passes: u64,
}

impl Svrg {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let (given, every) = (settings.real("rate"), settings.count("every").unwrap_or(1));
        Svrg { l2, given, every, eta: 0.0, lazy: Lazy::default(), snapshot: vec![], passes: 0 }
    }

    /// The largest L of some examples at the weights of the start.
    fn curvature(&self, team: &mut dyn Team) -> Result<f64> {
        let (n, mut notes) = (team.examples(), vec![]);
        let random = team.random("sample");
        let ids: Vec<usize> = match n {
            0..=SAMPLE => (0..n).collect(),
            _ => (0..SAMPLE).map(|_| random.below(n)).collect(),
        };
        let look = |case: &mut Case<'_>, note: &mut Note| {
            case.gradient(self.lazy.weights(), note);
            search(case, self.lazy.weights(), 1.0, note);
            Ok(())
        };
        team.ask(&ids, &look, &mut notes)?;
        Ok(notes.iter().filter_map(Found::of).map(|found| found.l).fold(1.0, f64::max))
    }
}

impl Learner for Svrg {
    fn profile(&self) -> Profile {
        Profile {
            needs: vec![Question::Expectations, Question::Rows],
            same_examples: true,
            ..Profile::log_linear("svrg", lazy::PER_WEIGHT + size_of::<f64>())
        }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.lazy.begin(team.weights());
        self.lazy.flush(team)?;
        self.eta = match self.given {
            Some(rate) => rate,
            None => 1.0 / (4.0 * (self.curvature(team)? + self.l2)),
        };
        if self.eta * self.l2 >= 1.0 {
            let what = format!("a rate of {:e} with l2 = {:e} wipes the weights out", self.eta, self.l2);
            return Err(Error::Learner(what));
        }
        Ok(())
    }

    fn open(&mut self, team: &mut dyn Team) -> Result<()> {
        if self.passes.is_multiple_of(self.every) {
            self.snapshot = self.lazy.v.clone();
            team.total(None, Weights::plain(&self.snapshot), Some(&mut self.lazy.d))?;
            let n = real(team.examples());
            self.lazy.d.iter_mut().for_each(|d| *d /= n);
        }
        self.passes += 1;
        Ok(())
    }

    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        team.next(steps, ids);
        self.lazy.wake(ids, team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        case.gradient(Weights::plain(&self.snapshot), note);
        let there = std::mem::take(&mut note.parts);
        case.gradient(self.lazy.weights(), note);
        note.parts.iter_mut().zip(there).for_each(|(part, there)| *part -= there);
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let share = self.eta / real(batch.len());
        self.lazy.step(1.0 - self.eta * self.l2, self.eta, team)?;
        let by = -share / self.lazy.scale();
        team.spread(batch, by, &mut self.lazy.v)
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        let n = self.lazy.v.len();
        if self.lazy.d.len() != n || ![0, n].contains(&self.snapshot.len()) {
            return Err(Error::other_state());
        }
        self.lazy.flush(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.lazy.plain()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY_NOT), data };
        vec![
            slot("w", Data::F64(&mut self.lazy.v)),
            slot("full", Data::F64(&mut self.lazy.d)),
            slot("snapshot", Data::F64(&mut self.snapshot)),
            slot("rate", Data::Real(&mut self.eta)),
            slot("passes", Data::Count(&mut self.passes)),
        ]
    }
}

const WHY_NOT: &str = "its steps belong to one snapshot of the weights, and copies would have others";
