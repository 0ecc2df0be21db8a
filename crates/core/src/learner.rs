//! Seam 2: how weights change.

use crate::{Case, Note, Question, Result, Team};

/// What a run must know about a learner before it lets it work. It follows from the learner's settings, and
/// stands here and nowhere else: strategies, memory estimates, model files and help ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name, for messages.
    pub name: &'static str,
    /// What it asks a structure.
    pub needs: Vec<Question>,
    /// It works on whole passes (L-BFGS) and writes its own `pass`; else it learns from examples.
    pub whole: bool,
    /// It steps after each example, and cannot look at several under the same weights.
    pub one_by_one: bool,
    /// It has a stopping test of its own, which ends a run unless the user fixed the number of passes.
    pub stops: bool,
    /// It minimises log loss, so that the exponentials of its scores are proportional to probabilities.
    pub calibrated: bool,
    /// Bytes that it keeps for each weight while it works, scratch included.
    pub per_weight: usize,
    /// Bytes that it keeps for each example.
    pub per_example: usize,
    /// Bytes that it keeps for each part of each example: a table of marginals.
    pub per_part: usize,
    /// Bytes that it keeps for each piece of each example: a table of marginals with all pairs apart.
    pub per_piece: usize,
    /// Bytes that it keeps for each weight of the features of each example: a table of gradients.
    pub per_entry: usize,
    /// It relies on the same examples in every pass: what it remembers of each, or a sum over all of them.
    pub same_examples: bool,
    /// It begins at weights of its own and takes no others.
    pub own_start: bool,
    /// What it keeps of parts or pieces may lie outside memory: [`crate::Structure::shelf`].
    pub shelf: bool,
}

impl Profile {
    /// Of a learner that learns from examples, keeps so many bytes per weight and nothing per example, and makes no
    /// probabilities.
    #[must_use]
    pub const fn online(name: &'static str, needs: Vec<Question>, per_weight: usize) -> Profile {
        Profile {
            name,
            needs,
            whole: false,
            one_by_one: false,
            stops: false,
            calibrated: false,
            per_weight,
            per_example: 0,
            per_part: 0,
            per_piece: 0,
            per_entry: 0,
            same_examples: false,
            own_start: false,
            shelf: false,
        }
    }

    /// The same of one that follows the gradient of the log loss of single examples: it does make probabilities.
    #[must_use]
    pub fn log_linear(name: &'static str, per_weight: usize) -> Profile {
        Profile { calibrated: true, ..Profile::online(name, vec![Question::Expectations], per_weight) }
    }

    /// It can look at several examples under the same weights.
    #[must_use]
    pub const fn takes_batches(&self) -> bool {
        !self.whole && !self.one_by_one
    }

    /// It searches for outputs that beat the gold one, so the search may be inexact.
    #[must_use]
    pub fn searches(&self) -> bool {
        self.needs.contains(&Question::Violations)
    }
}

/// Knows nothing of structures, threads, files, time. Most learners are `look`, `learn`, `state`.
#[allow(unused_variables)]
pub trait Learner: Send + Sync {
    /// What others must know about it.
    fn profile(&self) -> Profile;
    /// Once, on the whole data: sizes its planes to `team.weights()`; calibration, counts.
    ///
    /// # Errors
    /// When an example cannot be answered or the method cannot start.
    fn begin(&mut self, team: &mut dyn Team) -> Result<()>;
    /// A pass begins: what an online learner does then, before its first step.
    ///
    /// # Errors
    /// As `learn`.
    fn open(&mut self, team: &mut dyn Team) -> Result<()> {
        Ok(())
    }
    /// Puts the examples of the next `steps` steps in `ids` (most: one a step) and brings up to date
    /// what `look` reads there (lazy learners: `team.rows`). Default: the strategy's order.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        team.next(steps, ids);
        Ok(())
    }
    /// Asks about one example. Runs on any worker, many at a time; pure.
    ///
    /// # Errors
    /// When the structure cannot answer.
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        Ok(())
    }
    /// Changes the state; the notes of one batch, in order; one caller at a time. May use the team's
    /// `spread`, `rows` and, through `each`, its workers.
    ///
    /// # Errors
    /// When the method gives up.
    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        Ok(())
    }
    /// End of a pass, and after a load: scale factors folded, lazy rows caught up, derived values
    /// rebuilt. Weights, mixing and checkpoints see only this form.
    ///
    /// # Errors
    /// When workers fail.
    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        Ok(())
    }
    /// One sweep over the examples, or one accepted step of a whole-pass learner.
    ///
    /// # Errors
    /// As `look` and `learn`.
    fn pass(&mut self, team: &mut dyn Team) -> Result<Done> {
        online(self, team)
    }
    /// Goes on under another l2 with all that it remembers, if nothing of that depends on l2; false: it cannot, and a new
    /// one begins at its weights.
    fn change_l2(&mut self, l2: f64) -> bool {
        false
    }
    /// F at the end of the last pass, if the learner knows it without being asked to compute it.
    fn objective(&self) -> Option<f64> {
        None
    }
    /// The weights to use and to ship (averaged, if it averages); valid at any time.
    fn weights(&self) -> Vec<f64>;
    /// The same when a run has ended and asks for nothing else: a learner may give its own memory away.
    fn take_weights(&mut self) -> Vec<f64> {
        self.weights()
    }
    /// All of its state at rest: one list for checkpoints, mixing, the wire, the memory report.
    fn state(&mut self) -> Vec<Slot<'_>>;
}

/// The pass of every online learner: as many looks as there are examples.
///
/// # Errors
/// As the learner's own calls.
pub fn online<L: Learner + ?Sized>(learner: &mut L, team: &mut dyn Team) -> Result<Done> {
    learner.open(team)?;
    let (mut ids, mut notes, mut left) = (vec![], vec![], team.examples());
    while left > 0 && !team.stopping() {
        ids.clear();
        learner.pick(team.batch().min(left), &mut ids, team)?;
        team.ask(&ids, &|case, note| learner.look(case, note), &mut notes)?;
        learner.learn(&notes, team)?;
        left = left.saturating_sub(ids.len().max(1));
    }
    learner.rest(team)?;
    Ok(Done::Pass)
}

/// How a pass ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Done {
    /// There may be more to learn.
    #[default]
    Pass,
    /// The learner's own stopping test says so, in these words.
    Converged(&'static str),
    /// No further pass can change anything, in these words: the end, however many passes were asked for.
    Stuck(&'static str),
}

/// One piece of a learner's state.
pub struct Slot<'a> {
    /// Its name, unique within the learner.
    pub name: &'static str,
    /// What becomes of it when copies of a learner meet.
    pub mix: Mix,
    /// The numbers.
    pub data: Data<'a>,
}

/// The numbers of a slot. A missing number is 0, so 0 must mean "untouched" (keep 1/sigma - 1, not
/// sigma).
pub enum Data<'a> {
    /// A plane of weights.
    F64(&'a mut Vec<f64>),
    /// A plane in single precision.
    F32(&'a mut Vec<f32>),
    /// Counters or time stamps.
    U32(&'a mut Vec<u32>),
    /// One number.
    Real(&'a mut f64),
    /// One count.
    Count(&'a mut u64),
}

/// What becomes of a slot when copies of a learner meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// The mean `sum_i mu_i x_i`.
    Mean,
    /// The first copy's.
    Same,
    /// The learner cannot be mixed, for this reason.
    Never(&'static str),
}
