//! DCA: dual coordinate ascent steps in the primal (Martins et al. 2010, CMU-ML-10-109; He & Wang 2012, eqs. 8 and 9).
//!
//! ```text
//! eta = min(C, c_i loss_i(w) / |c_i grad loss_i(w)|^2),   C = 1 / (l2 n)
//! w <- w - eta c_i grad loss_i(w);     ship the mean of all w
//! ```
//!
//! A step goes as far as the loss of one example pays: it solves `min |w' - w|^2 / (2 C) + loss_i(w')` on the segment
//! along the gradient, exactly for the hinge, by a lower bound of the dual for the log loss. There is no rate to choose.
//! The loss is the log loss, the softmax-margin (costs inside log Z) or the hinge, with which it is PA-I.
//!
//! It does not minimise F: each visit adds to what earlier visits of the example added, up to C every time, so weights go on
//! growing with the passes; the mean stays good. (`sdca` replaces what an earlier visit added, and ends at the
//! optimum of F.) Judge it by test scores. In a batch each example makes its own step, at the same w, divided by the
//! number of examples. Cost of a step: one gradient or search, and two sweeps over its rows for |g|^2. Memory: two
//! numbers per weight.

use crate::running::{PER_WEIGHT, Running, Step};
use crate::search;
use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Learner, Note, Profile, Question, Result, Search, Slot, Team, Update};

/// The parameters of `dca`.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "loss",
        kind: Kind::Word(&["log", "softmax-margin", "hinge"]),
        default: Value::Word("log"),
        help: "what an example loses",
    },
    Param {
        name: "cost",
        kind: Kind::FromZero,
        default: Value::Auto("1 for the two losses with costs"),
        help: "added to the score of each wrong label while training: gold must win by as much",
    },
];

/// Losses and squares below this make no step.
const NOTHING: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    Log,
    SoftmaxMargin,
    Hinge,
}

/// Dual coordinate ascent steps.
#[derive(Clone, Debug)]
pub struct Dca {
    l2: f64,
    loss: Loss,
    cost: f64,
    longest: f64, // C
    w: Running,
    moves: Vec<Note>, // parts times steps; scratch
}

impl Dca {
    /// With checked settings.
    #[must_use]
    pub fn new(settings: &Settings, l2: f64) -> Self {
        let loss = match settings.word("loss") {
            Some("hinge") => Loss::Hinge,
            Some("softmax-margin") => Loss::SoftmaxMargin,
            _ => Loss::Log,
        };
        let cost = settings.real("cost").unwrap_or(if loss == Loss::Log { 0.0 } else { 1.0 });
        Dca { l2, loss, cost, longest: f64::INFINITY, w: Running::default(), moves: vec![] }
    }
}

impl Learner for Dca {
    fn profile(&self) -> Profile {
        let question = if self.loss == Loss::Hinge { Question::Violations } else { Question::Expectations };
        let mut needs = vec![question];
        needs.extend((self.cost > 0.0).then_some(Question::Costs));
        Profile { calibrated: self.loss == Loss::Log, ..Profile::online("dca", needs, PER_WEIGHT) }
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.begin(team.weights());
        self.rest(team)
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let w = self.w.weights();
        if self.loss == Loss::Hinge {
            let search = Search { k: 1, cost: self.cost, update: Update::Full };
            return search::pa_step(case, w, &search, self.longest, note);
        }
        case.add_costs(self.cost)?;
        case.gradient(w, note);
        case.expand(0.0, note);
        let square = case.square(&note.delta, w.values.len());
        let step =
            if note.loss < NOTHING || square < NOTHING { 0.0 } else { self.longest.min(note.loss / square) };
        note.own[0] = step;
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        if self.loss == Loss::Hinge {
            let share = 1.0 / real(batch.len());
            let found =
                batch.iter().filter_map(|note| Some((&note.found().first()?.delta, share * note.own[0])));
            self.w.add(found);
            return Ok(());
        }
        self.moves.resize_with(batch.len(), Note::default);
        for (to, note) in self.moves.iter_mut().zip(batch) {
            to.clear(note.id, note.weight);
            to.parts.extend(note.parts.iter().map(|part| note.own[0] * part));
        }
        self.w.step(Step { factor: 1.0, eta: 1.0, averages: true }, &self.moves, team)
    }

    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.longest = if self.l2 > 0.0 { 1.0 / (self.l2 * real(team.examples())) } else { f64::INFINITY };
        self.w.rest(team)
    }

    fn weights(&self) -> Vec<f64> {
        self.w.mean()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        self.w.state().into_iter().collect()
    }
}
