//! The loop of a run: passes, dev scores, the best model, early stopping, the reason why it ended.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqoia_core::cast::{real, real64, single};
use seqoia_core::{Data, Done, Learner, Profile, Question, Score, Strategy, Structure, Weights};
use seqoia_learners::registry::Objective;
use seqoia_strategies::registry::Chosen;
use seqoia_strategies::{Crew, Piece, Setup};
use xxhash_rust::xxh3::xxh3_64;

use super::checkpoint::{self, Digests};
use super::path::Sizes;
use super::progress::{Ended, PassRow, Progress, TableSize, Trained, Watch};
use super::{Bill, Head, LearnOptions, Load, Need, Passes, Start, Task, Terms};
use crate::error::{BadOption, Error, Result};

/// Passes of a run that something else ends.
const ENDLESS: u64 = 1 << 32;

/// A run that is ready to start.
pub struct Run<'a> {
    task: &'a dyn Task,
    pub(super) options: &'a LearnOptions,
    strategy: Chosen,
    pub(super) objective: Objective,
    pub(super) path: Vec<f64>, // the l2 one after another
    pub(super) profile: Profile,
    passes: Passes,
}

impl<'a> Run<'a> {
    /// Checks that data and options go together.
    ///
    /// # Errors
    /// A sentence about those that do not.
    pub fn new(task: &'a dyn Task, options: &'a LearnOptions) -> Result<Self> {
        let strategy = options.check()?;
        task.check(options)?;
        let objective = options.objective(task.weight());
        let path = options.path(task.weight())?;
        let profile = options.learner.build(&options.settings, objective).profile();
        let passes = options.passes.unwrap_or(match profile.stops {
            _ if options.max_effective.is_some() => Passes::AtMost(ENDLESS),
            true => Passes::AtMost(options.learner.passes),
            false => Passes::Exactly(options.learner.passes),
        });
        Ok(Run { task, options, strategy, objective, path, profile, passes })
    }

    /// The strategy that will run.
    #[must_use]
    pub fn strategy(&self) -> &Chosen {
        &self.strategy
    }

    /// The penalties; those of the first step of a path.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The l2 one after another: one, if there is no path.
    #[must_use]
    pub fn l2_path(&self) -> &[f64] {
        &self.path
    }

    /// What is known about the learner.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// How many passes at most, those of all steps of a path together.
    #[must_use]
    pub fn passes(&self) -> u64 {
        self.passes_each().saturating_mul(self.path.len() as u64)
    }

    /// The same under one l2.
    fn passes_each(&self) -> u64 {
        match self.passes {
            Passes::Exactly(n) | Passes::AtMost(n) => n,
        }
    }

    /// Bytes that training takes, data included: an upper bound.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bill().total()
    }

    /// The same, by what takes them.
    #[must_use]
    pub fn bill(&self) -> Bill {
        /// The program itself, and what files and threads take.
        const PROGRAM: usize = 16 << 20;
        let (threads, learner) = (self.options.threads, &self.profile);
        let batch = if learner.whole { 0 } else { self.strategy.batch() };
        let pieces = learner.needs.contains(&Question::Pieces);
        let need = self.task.memory(&Load { threads, batch, pieces, entries: learner.per_entry > 0 });
        // For each worker rows of weights and of their gradient, in both precisions at the worst, and the gradient of
        // what goes another way; or a plane of scratch, or of a calibration. What a search finds is a list.
        let workers = if learner.whole { 4 } else { 2 * usize::from(!learner.searches()) } * threads;
        // The weights of the moment, unless a search gives them away in the end; the best ones, where they are kept.
        let kept = need.judged || self.options.checkpoint_every.is_some() || self.options.resume.is_some();
        let planes = workers
            + usize::from(kept || !learner.searches())
            + usize::from(kept)
            + usize::from(self.has_path());
        let file = if self.options.checkpoint_every.is_some() { learner.per_weight + 8 } else { 0 };
        let learning = (learner.per_weight + file + 8 * planes) * need.weights;
        let saving = need.reading + 8 * need.weights;
        let table = match self.options.shelves && learner.shelf {
            true => 0,
            false => {
                learner.per_part * need.parts
                    + learner.per_piece * need.pieces
                    + learner.per_entry * need.entries
            }
        };
        let pieces = |length: usize| size_of::<Piece>() * (self.task.examples() + self.task.size() / length);
        let cuts = self.options.cut.map_or(0, |length| pieces(length.max(1)));
        // The file that the run goes on from is mapped, and was read once.
        let resumed = self.options.resume.as_ref().map_or(0, |checkpoint| checkpoint.bytes());
        let (during, bytes) = match learning >= saving {
            true => ("weights and the learner's numbers for each", learning),
            false => ("weights, and reading or writing beside them", saving),
        };
        Bill {
            items: vec![
                ("the program", PROGRAM),
                ("the data, its tables and the layout of weights", need.data),
                (during, bytes),
                (
                    "what the learner remembers of each example",
                    learner.per_example * self.task.examples() + table + cuts,
                ),
                ("workers and batches", need.workers),
                ("the checkpoint", resumed),
            ],
        }
    }

    /// Whether what the learner remembers of each example may lie on disk: a checkpoint has to hold it.
    #[must_use]
    pub fn may_shelve(&self) -> bool {
        self.profile.shelf && self.options.checkpoint_every.is_none() && self.options.resume.is_none()
    }

    /// The pass after which the run goes on, if it resumes another.
    ///
    /// # Errors
    /// A checkpoint of other data or other options: a sentence that says which.
    pub fn resumed(&self) -> Result<Option<u64>> {
        let Some(checkpoint) = &self.options.resume else { return Ok(None) };
        checkpoint.check(&self.digests(), self.passes())?;
        Ok(Some(checkpoint.pass()))
    }

    /// Trains until the passes are made, the learner has converged, dev scores have stalled, or
    /// `stop` is raised. With checkpoints a pass is not cut short by `stop`: only whole passes can be
    /// gone on from with the same result.
    ///
    /// # Errors
    /// When an example cannot be answered, the method fails, weights are not finite, or a checkpoint
    /// does not fit.
    pub fn run(&self, watch: &mut dyn Watch, stop: &Arc<AtomicBool>) -> Result<Trained> {
        let (task, options) = (self.task, self.options);
        let crew = Arc::new(Crew::new(options.threads.max(1)));
        let structure = task.structure(options)?;
        self.resumed()?;
        let sizes = Sizes::new(options, &*structure)?;
        let mut learner = self.build(options.resume.as_ref().map_or(0, |c| c.step()), sizes);
        let mut progress = Progress::default();
        if let Some(checkpoint) = &options.resume {
            progress = checkpoint.load(&mut *learner, &*structure)?;
        } else if let Some(start) = &options.start {
            self.start(start, &mut *learner, &*structure)?;
        }
        let setup = Setup {
            crew: Arc::clone(&crew),
            seed: options.seed,
            chunks: Setup::chunks(task.size()),
            stop: if options.checkpoint_every.is_some() { Arc::default() } else { Arc::clone(stop) },
            cut: options.cut,
        };
        let mut strategy = self.strategy.build(Arc::clone(&structure), setup)?;
        strategy.accepts(&*learner)?;
        if options.objective_every.is_some() && !structure.offers().contains(&Question::Expectations) {
            let what = format!("a {} has no log loss to compute", structure.name());
            return Err(BadOption::of("objective-every", "", what).into());
        }
        let mut judge = task.judge(&crew, &structure);
        let has_dev = judge.is_some();
        let mut scores_of = |weights: &[f64]| {
            let scores = judge.as_mut().map_or(Ok(vec![]), |j| j.scores(weights))?;
            match scores.iter().find(|score| !score.value.is_finite()) {
                // A model that holds it could not be opened again.
                Some(Score { name, value, .. }) => {
                    Err(seqoia_core::Error::Learner(format!("the dev score {name} is {value}")))
                }
                None => Ok(scores),
            }
        };
        if progress.pass > 0 {
            progress.scores = scores_of(&progress.best)?;
        }
        strategy.begin(&mut *learner, options.resume.is_some())?;
        let table = self.table(&mut *learner);
        let digests = options.checkpoint_every.map(|every| (every.max(1), self.digests()));

        // A resumed run may have nothing left to do.
        let mut ended = self.ended(&progress, has_dev, stop);
        while ended.is_none() {
            let pass = progress.pass + 1;
            let mut report = strategy.pass(pass, &mut *learner)?;
            report.loss /= sizes.scale; // of a sequence: that of its pieces
            watch.learned();
            // Without dev data the last weights are the only ones that count.
            if !has_dev {
                progress.best = vec![];
            }
            // Those of a search need not be looked at before: with weights that are not finite it fails.
            let asked = options.objective_every.is_some_and(|every| pass.is_multiple_of(every.max(1)));
            let waits =
                !has_dev && !asked && digests.is_none() && self.profile.searches() && !self.has_path();
            let weights = if waits { vec![] } else { fit(learner.weights(), pass)? };
            let objective = match learner.objective() {
                None if asked => Some(self.value(&mut *strategy, &weights, progress.step)?),
                known => known,
            };
            let scores = scores_of(&weights)?;
            let gain = match (progress.scores.first(), scores.first()) {
                (Some(old), Some(new)) => options.keep_last || new.beats(old),
                _ => true,
            };
            progress.pass = pass;
            progress.effective += real64(report.asked.total()) / real(sizes.looks.max(1));
            progress.converged = match &report.done {
                Done::Converged(why) | Done::Stuck(why) => Some((*why).to_owned()),
                Done::Pass => None,
            };
            let stuck = matches!(report.done, Done::Stuck(_));
            watch.pass(&PassRow {
                number: pass,
                report,
                objective,
                l2: self.has_path().then(|| self.l2(progress.step)),
                examples: sizes.looks,
                scores: scores.clone(),
                best: gain && !scores.is_empty() && !options.keep_last,
            });
            let over = self.has_path() && (stuck || self.over(&progress).is_some());
            if over {
                let scores = scores.clone();
                watch.path(&self.path_row(&progress, &mut *strategy, objective, &weights, scores)?);
            }
            if gain {
                (progress.best, progress.best_pass, progress.scores) = (weights, pass, scores);
                progress.best_step = progress.step;
            }
            ended = self.ended(&progress, has_dev, stop);
            if stuck && ended.is_none() {
                ended = progress.converged.clone().map(Ended::Converged);
            }
            if over && progress.step + 1 < self.path.len() {
                self.next_step(&mut progress, &mut learner, &mut *strategy, &*structure, sizes)?;
                ended = ended.filter(|ended| *ended == Ended::Interrupted);
            }
            if waits && ended.is_some() {
                progress.best = fit(learner.take_weights(), pass)?;
            }
            let due = |every: u64| pass.is_multiple_of(every) || ended.is_some();
            if let Some((_, digests)) = digests.as_ref().filter(|(every, _)| due(*every)) {
                watch.checkpoint(pass, &checkpoint::bytes(digests, &progress, &mut *learner, &*structure));
            }
        }
        let l2 = self.l2(progress.best_step);
        let Progress { best, best_pass, scores, pass, .. } = progress;
        let ended = ended.filter(|_| pass > 0);
        let ended = ended.ok_or_else(|| BadOption::of("passes", 0, "at least one pass is needed"))?;
        let memo = structure.memo();
        Ok(Trained { weights: best, memo, scores, best_pass, passes: pass, ended, l2, table })
    }

    /// The memory of each example, if the learner has one.
    fn table(&self, learner: &mut dyn Learner) -> Option<TableSize> {
        let kept = self.profile.per_part + self.profile.per_piece + self.profile.per_entry;
        // To be asked for its state costs other learners a sweep over the weights.
        let slots = if kept > 0 { learner.state() } else { vec![] };
        let bytes = slots.iter().find_map(|slot| match (slot.name, &slot.data) {
            ("table", Data::F32(table)) => Some(size_of::<f32>() * table.len()),
            _ => None,
        })?;
        let Need { features, .. } = self.task.memory(&Load::default());
        Some(TableSize { bytes, dense: size_of::<f32>() * self.task.examples() * features })
    }

    /// F at these weights under the l2 of this step, by a sweep over the data.
    pub(super) fn value(&self, strategy: &mut dyn Strategy, w: &[f64], step: usize) -> Result<f64> {
        let (l1, l2) = (self.objective.l1, self.l2(step));
        let mean = strategy.total(Weights::plain(w), None)? / real(self.task.examples());
        let (squares, sizes) = (w.iter().map(|w| w * w), w.iter().map(|w| w.abs()));
        Ok(mean + 0.5 * l2 * squares.sum::<f64>() + l1 * sizes.sum::<f64>())
    }

    /// The bytes of the model file.
    ///
    /// # Errors
    /// Weights that a file cannot hold.
    pub fn model(&self, trained: &Trained) -> Result<Vec<u8>> {
        self.task.model(trained, self.head(trained))
    }

    /// Writes the model file, and tells its size.
    ///
    /// # Errors
    /// Weights that a file cannot hold; a file that cannot be written, which then is what it was.
    pub fn save(&self, trained: &Trained, path: &Path) -> Result<usize> {
        self.task.save(trained, self.head(trained), path)
    }

    fn head(&self, trained: &Trained) -> Head {
        Head {
            made_by: format!("seqoia {}", env!("CARGO_PKG_VERSION")),
            kind: self.task.kind().to_owned(),
            calibrated: self.profile.calibrated,
            training: self.terms_of(trained),
            data_digest: self.task.inputs().remove(checkpoint::DATA).unwrap_or_default(),
            examples: self.task.examples(),
            scores: trained.scores.iter().map(|s: &Score| (s.name.to_owned(), s.value)).collect(),
            passes: trained.passes,
            best_pass: trained.best_pass,
            ended: trained.ended.to_string(),
        }
    }

    /// How these weights were trained.
    fn terms_of(&self, trained: &Trained) -> Terms {
        let mut terms = self.terms();
        if self.has_path() {
            terms.insert("l2-path".to_owned(), terms["l2"].clone());
            terms.insert("l2".to_owned(), trained.l2.to_string());
        }
        terms
    }

    /// How it is trained, as text; never the number of threads.
    fn terms(&self) -> Terms {
        let options = self.options;
        let mut all = self.task.terms(options);
        let settings = options.settings.iter().chain(self.strategy.settings.iter());
        all.extend(settings.map(|(name, value)| (name.to_owned(), value.to_string())));
        for (name, value) in [
            ("learner", options.learner.name.to_owned()),
            ("strategy", self.strategy.entry.name.to_owned()),
            ("l1", self.objective.l1.to_string()),
            ("l2", self.path.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")),
            ("seed", options.seed.to_string()),
        ] {
            all.insert(name.to_owned(), value);
        }
        if let Some(length) = options.cut {
            all.insert("cut".to_owned(), length.to_string());
        }
        if let Some(Start { weights, memo }) = &options.start {
            let mut bytes: Vec<u8> = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.extend(memo.iter().flatten());
            all.insert(checkpoint::START.to_owned(), format!("{:016x}", xxh3_64(&bytes)));
        }
        all
    }

    /// All that a run which goes on with this one must have in common with it.
    fn digests(&self) -> Digests {
        let mut terms = self.terms();
        for (name, value) in [
            ("version of Seqoia", env!("CARGO_PKG_VERSION").to_owned()),
            ("keep", if self.options.keep_last { "last" } else { "best" }.to_owned()),
            ("patience", self.options.patience.map_or("none".to_owned(), |n| n.to_string())),
        ] {
            terms.insert(name.to_owned(), value);
        }
        Digests { terms, inputs: self.task.inputs() }
    }

    /// Puts the weights of a warm start where `begin` finds them.
    pub(super) fn start(
        &self,
        start: &Start,
        learner: &mut dyn Learner,
        structure: &dyn Structure,
    ) -> Result<()> {
        if let Some(memo) = &start.memo {
            structure.recall(memo)?;
        }
        let mut slots = learner.state();
        let w = slots.iter_mut().find_map(|slot| match (slot.name, &mut slot.data) {
            ("w", Data::F64(w)) => Some(w),
            _ => None,
        });
        match w {
            Some(w) if checkpoint::fits(start.weights.len(), structure) => w.clone_from(&start.weights),
            Some(_) => {
                let what = "the weights to start from are not those of this data";
                return Err(Error::Mismatch(what.to_owned()));
            }
            None => {
                let what = format!("{} takes no weights to start from", self.options.learner.name);
                return Err(BadOption::of("warm-start", "", what).into());
            }
        }
        Ok(())
    }

    fn ended(&self, progress: &Progress, dev: bool, stop: &AtomicBool) -> Option<Ended> {
        let since = progress.pass - progress.best_pass;
        let stalled = self.options.patience.filter(|n| dev && since >= *n && progress.pass > 0);
        if progress.pass > 0 && stop.load(Ordering::Relaxed) {
            return Some(Ended::Interrupted);
        }
        match self.over(progress) {
            Some(Ended::Passes) | None if stalled.is_some() => stalled.map(Ended::Patience),
            over => over,
        }
    }

    /// Whether the l2 at hand has come to its end, whatever dev data and the user say.
    fn over(&self, progress: &Progress) -> Option<Ended> {
        let enough = |most: f64| progress.effective >= most;
        match (&progress.converged, self.passes) {
            (Some(why), Passes::AtMost(_)) => Some(Ended::Converged(why.clone())),
            _ if self.options.max_effective.is_some_and(enough) => Some(Ended::Evaluations),
            _ => (progress.pass - progress.before == self.passes_each()).then_some(Ended::Passes),
        }
    }
}

/// Weights that can become a model.
fn fit(weights: Vec<f64>, pass: u64) -> Result<Vec<f64>> {
    let Some(what) = unfit(&weights) else { return Ok(weights) };
    Err(seqoia_core::Error::Learner(format!(
        "after pass {pass} {what}; no model was written; try a lower rate, a stronger penalty or another learner"
    ))
    .into())
}

/// Why weights cannot become a model, if they cannot.
fn unfit(weights: &[f64]) -> Option<&'static str> {
    if weights.iter().all(|w| single(*w).is_finite()) {
        return None;
    }
    Some(match weights.iter().all(|w| w.is_finite()) {
        true => "some weights are too large for a model, which holds single precision",
        false => "some weights are not finite",
    })
}
