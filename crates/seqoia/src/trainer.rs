//! Runs passes: dev scores, the best model, early stopping, the reason why it ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqoia_core::{Corpus, Data, Done, Judge, Report, Score, Strategy, Structure};
use seqoia_learners::registry::{LEARNERS, Objective};
use seqoia_strategies::{Crew, OneTeam, Setup, batch, minibatch, serial};
use seqoia_structures::chain::Precision;

use crate::checkpoint;
use crate::error::{Error, Result};
use crate::judge::{DevJudge, DevSet};
use crate::options::{Passes, StrategyChoice, TrainOptions};
use crate::training_set::TrainingSet;

/// Why training ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All passes were made.
    Passes,
    /// The learner's own test, in its words.
    Converged(String),
    /// No gain on dev data for so many passes.
    Patience(u64),
    /// The user wanted it.
    Interrupted,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Passes => write!(f, "all passes made"),
            Ended::Converged(why) => write!(f, "{why}"),
            Ended::Patience(1) => write!(f, "no gain on dev data for 1 pass"),
            Ended::Patience(n) => write!(f, "no gain on dev data for {n} passes"),
            Ended::Interrupted => write!(f, "by the user"),
        }
    }
}

/// One row of the training table.
#[derive(Clone, Debug)]
pub struct PassRow {
    /// Number of the pass, from 1.
    pub number: u64,
    /// What the learner saw.
    pub report: Report,
    /// F, if the learner knows it.
    pub objective: Option<f64>,
    /// Examples of the training set.
    pub examples: usize,
    /// Dev scores; the first decides.
    pub scores: Vec<Score>,
    /// The best pass so far.
    pub best: bool,
}

/// Is told what happens; prints, logs or does nothing.
pub trait Watch {
    /// A pass has ended.
    fn pass(&mut self, row: &PassRow);
    /// A checkpoint is to be kept ([`TrainOptions::checkpoint_every`]): the bytes of its file.
    fn checkpoint(&mut self, _pass: u64, _file: &[u8]) {}
}

impl Watch for () {
    fn pass(&mut self, _: &PassRow) {}
}

/// What training gives.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The weights to ship.
    pub weights: Vec<f64>,
    /// Dev scores of these weights.
    pub scores: Vec<Score>,
    /// The pass they are from.
    pub best_pass: u64,
    /// Passes made.
    pub passes: u64,
    /// Why it ended.
    pub ended: Ended,
}

/// How far a run has come: what a checkpoint holds beside the learner's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Passes made.
    pub(crate) pass: u64,
    /// The learner's own test held after the last one, in its words.
    pub(crate) converged: Option<String>,
    /// The weights to ship.
    pub(crate) best: Vec<f64>,
    /// The pass they are from.
    pub(crate) best_pass: u64,
    /// Their dev scores.
    pub(crate) scores: Vec<Score>,
}

/// A run that is ready to start.
pub struct Trainer<'a> {
    pub(crate) set: &'a TrainingSet,
    pub(crate) options: &'a TrainOptions,
    strategy: StrategyChoice,
    objective: Objective,
    passes: Passes,
}

impl<'a> Trainer<'a> {
    /// Checks that data and options go together.
    ///
    /// # Errors
    /// A sentence about those that do not.
    pub fn new(set: &'a TrainingSet, options: &'a TrainOptions) -> Result<Self> {
        let strategy = options.check()?;
        let counts = options.learner.counts_costs() && options.settings.number("cost") > 0.0;
        if !set.costs.is_empty() && !counts {
            let those = LEARNERS.iter().filter(|l| l.counts_costs()).map(|l| l.name).collect::<Vec<_>>();
            return Err(Error::Option(format!(
                "--label-cost goes with --cost X, X above 0, and a learner that looks at costs: {}",
                those.join(", ")
            )));
        }
        let n = set.weight;
        let default = options.learner.l2 / n;
        let objective = Objective {
            l1: options.l1.map_or(0.0, |s| s.value(n)),
            l2: options.l2.map_or(if options.l1.is_some() { 0.0 } else { default }, |s| s.value(n)),
        };
        let passes = options.passes.unwrap_or(match options.learner.whole {
            true => Passes::AtMost(options.learner.passes),
            false => Passes::Exactly(options.learner.passes),
        });
        Ok(Trainer { set, options, strategy, objective, passes })
    }

    /// The strategy that will run.
    #[must_use]
    pub fn strategy(&self) -> StrategyChoice {
        self.strategy
    }

    /// The penalties.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// Labels that search keeps a position; none if it is exact. A beam that has room for every label is,
    /// unless prefixes are to be compared all the same.
    #[must_use]
    pub fn beam(&self) -> Option<usize> {
        self.options.beam.filter(|&size| size < self.set.labels.len() || self.options.update().is_some())
    }

    /// The arithmetic of sums over whole passes, which many labels decide.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.options.precision.with_labels(self.set.labels.len())
    }

    /// How many passes at most.
    #[must_use]
    pub fn passes(&self) -> u64 {
        match self.passes {
            Passes::Exactly(n) | Passes::AtMost(n) => n,
        }
    }

    /// Bytes that training takes, data included: an upper bound.
    #[must_use]
    pub fn memory(&self, dev: Option<&DevSet>) -> usize {
        let weights = self.set.space.view().weights() * 8;
        // The learner, its checkpoint, the weights of the moment, the best ones, what a save makes of them,
        // and for each worker a gradient and its copies in single precision, or one plane of scratch.
        let learner = self.options.learner.planes(&self.options.settings);
        let file = if self.options.checkpoint_every.is_some() { learner + 1 } else { 0 };
        let worker = if self.options.learner.whole { 2 } else { 1 };
        let planes = learner + file + 4 + worker * self.options.threads;
        // Indexing sorted all occurrences by attribute, which may have taken more than learning does.
        let indexing = 8 * self.set.corpus.nodes.items.len() + 24 * self.set.node_numbers.len();
        let program = 16 << 20;
        program
            + self.set.bytes()
            + dev.map_or(0, DevSet::bytes)
            + (planes * weights).max(indexing)
            + self.of_sentences()
    }

    /// Bytes that grow with the longest sentence and with a batch.
    fn of_sentences(&self) -> usize {
        /// A token of a block of text, with its columns.
        const TOKEN: usize = 150;
        /// Arrays of doubles [T][W] of a worker: scores, exponentials, forward and backward sums, and so on.
        const ARRAYS: usize = 10;
        let (set, space) = (self.set, self.set.space.view());
        let starts = std::iter::once(0).chain(set.corpus.ends.iter().copied());
        let mut lengths: Vec<usize> =
            set.corpus.ends.iter().zip(starts).map(|(end, start)| (end - start) as usize).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let longest = lengths.first().copied().unwrap_or(0);
        let matrix = 8 * space.labels * space.width;
        let edges = |tokens: usize, sentences: usize| match set.corpus.edges.items.is_empty() {
            true => sentences * matrix,
            false => tokens * matrix,
        };
        let row = 8 * space.width;
        let worker = ARRAYS * longest * row + 4 * edges(longest, 1);
        // What is found out about a batch: parts of each sentence, and their gradient as rows of weights.
        let batch = if self.options.learner.whole { 0 } else { self.options.batch_size.min(lengths.len()) };
        let tokens: usize = lengths[..batch].iter().sum();
        let items = set.corpus.nodes.items.len() / set.corpus.tokens().max(1) + 1;
        let notes =
            2 * (tokens * row + edges(tokens, batch)) + tokens * items * 16 * space.width.div_ceil(32);
        longest * TOKEN + self.options.threads * worker + notes + notes / 8 // buffers grow in steps
    }

    /// The pass after which the run goes on, if it resumes another.
    ///
    /// # Errors
    /// A checkpoint of other data or other options: a sentence that says which.
    pub fn resumed(&self, dev: Option<&DevSet>) -> Result<Option<u64>> {
        let Some(checkpoint) = &self.options.resume else { return Ok(None) };
        checkpoint.check(&checkpoint::terms(self, dev), self.passes())?;
        Ok(Some(checkpoint.pass()))
    }

    /// Trains until the passes are made, the learner has converged, dev scores have stalled, or
    /// `stop` is raised. With checkpoints a pass is not cut short by `stop`: only whole passes can be
    /// gone on from with the same result.
    ///
    /// # Errors
    /// When an example cannot be answered, the method fails, weights are not finite, or a checkpoint
    /// does not fit.
    pub fn run(
        &self,
        dev: Option<&DevSet>,
        watch: &mut dyn Watch,
        stop: &Arc<AtomicBool>,
    ) -> Result<Trained> {
        let (set, options) = (self.set, self.options);
        let crew = Arc::new(Crew::new(options.threads.max(1)));
        let chain = set.chain()?.with_precision(self.precision());
        let structure: Arc<dyn Structure> = match self.beam() {
            Some(size) => Arc::new(chain.with_beam(size)),
            None => Arc::new(chain),
        };
        let mut strategy = self.team(structure, &crew, stop)?;
        let mut learner = options.learner.build(&options.settings, self.objective);
        strategy.accepts(&mut *learner)?;
        let mut judge = dev.map(|dev| DevJudge::new(dev, set, Arc::clone(&crew)));
        let mut scores_of = |weights: &[f64]| judge.as_mut().map_or(Ok(vec![]), |j| j.scores(weights));

        let mut progress = Progress::default();
        self.resumed(dev)?;
        if let Some(checkpoint) = &options.resume {
            progress = checkpoint.load(&mut *learner, set.space.view().weights())?;
            progress.scores = scores_of(&progress.best)?;
        } else if let Some(start) = &options.start {
            // Every learner calls its weights `w` and takes them as it finds them when it begins.
            let mut slots = learner.state();
            let w = slots.iter_mut().find_map(|slot| match (slot.name, &mut slot.data) {
                ("w", Data::F64(w)) => Some(w),
                _ => None,
            });
            match w {
                Some(w) if start.len() == set.space.view().weights() => w.clone_from(start),
                Some(_) => {
                    let what = "the weights to start from are not those of this data";
                    return Err(Error::Mismatch(what.to_owned()));
                }
                None => {
                    let what = format!("{} takes no weights to start from", options.learner.name);
                    return Err(Error::Option(what));
                }
            }
        }
        strategy.begin(&mut *learner, options.resume.is_some())?;
        let terms = options.checkpoint_every.map(|every| (every.max(1), checkpoint::terms(self, dev)));

        // A resumed run may have nothing left to do.
        let mut ended = self.ended(&progress, dev.is_some(), stop);
        while ended.is_none() {
            let pass = progress.pass + 1;
            let report = strategy.pass(pass, &mut *learner)?;
            let weights = learner.weights();
            if weights.iter().any(|w| !w.is_finite()) {
                return Err(seqoia_core::Error::Learner(format!(
                    "after pass {pass} some weights are not finite; try a stronger penalty or another learner"
                ))
                .into());
            }
            let scores = scores_of(&weights)?;
            let score = |scores: &[Score]| scores.first().map(|s| s.value);
            let gain = match (score(&progress.scores), score(&scores)) {
                (Some(old), Some(new)) => options.keep_last || new > old,
                _ => true,
            };
            progress.pass = pass;
            progress.converged = match &report.done {
                Done::Converged(why) | Done::Stuck(why) => Some((*why).to_owned()),
                Done::Pass => None,
            };
            let stuck = matches!(report.done, Done::Stuck(_));
            watch.pass(&PassRow {
                number: pass,
                report,
                objective: learner.objective(),
                examples: set.corpus.len(),
                scores: scores.clone(),
                best: gain && !scores.is_empty() && !options.keep_last,
            });
            if gain {
                (progress.best, progress.best_pass, progress.scores) = (weights, pass, scores);
            }
            ended = self.ended(&progress, dev.is_some(), stop);
            if stuck && ended.is_none() {
                ended = progress.converged.clone().map(Ended::Converged);
            }
            let due = |every: u64| pass.is_multiple_of(every) || ended.is_some();
            if let Some((_, terms)) = terms.as_ref().filter(|(every, _)| due(*every)) {
                watch.checkpoint(pass, &checkpoint::bytes(terms, &progress, &mut *learner));
            }
        }
        let Progress { best, best_pass, scores, pass, .. } = progress;
        let ended = ended.filter(|_| pass > 0);
        let ended = ended.ok_or_else(|| Error::Option("no pass was made: --passes is 0".to_owned()))?;
        Ok(Trained { weights: best, scores, best_pass, passes: pass, ended })
    }

    fn ended(&self, progress: &Progress, dev: bool, stop: &AtomicBool) -> Option<Ended> {
        let since = progress.pass - progress.best_pass;
        let stalled = self.options.patience.filter(|n| dev && since >= *n && progress.pass > 0);
        match (&progress.converged, self.passes) {
            _ if progress.pass > 0 && stop.load(Ordering::Relaxed) => Some(Ended::Interrupted),
            (Some(why), Passes::AtMost(_)) => Some(Ended::Converged(why.clone())),
            _ if stalled.is_some() => stalled.map(Ended::Patience),
            _ => (progress.pass == self.passes()).then_some(Ended::Passes),
        }
    }

    fn team(
        &self,
        structure: Arc<dyn Structure>,
        crew: &Arc<Crew>,
        stop: &Arc<AtomicBool>,
    ) -> Result<OneTeam> {
        let setup = Setup {
            crew: Arc::clone(crew),
            seed: self.options.seed,
            batch: self.options.batch_size.max(1),
            chunks: Setup::chunks(self.set.corpus.tokens()),
            stop: if self.options.checkpoint_every.is_some() { Arc::default() } else { Arc::clone(stop) },
        };
        Ok(match self.strategy {
            StrategyChoice::Serial => serial::serial(structure, setup)?,
            StrategyChoice::Minibatch => minibatch::minibatch(structure, setup)?,
            StrategyChoice::Batch => batch::batch(structure, setup)?,
        })
    }
}
