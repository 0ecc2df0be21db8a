//! The short way to a re-ranker: lists to learn from; the rest by default, as on the command line.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia_data::open::Input;

use super::{CandidateSet, RerankTask, Reranker};
use crate::error::Result;
use crate::run::{LearnOptions, Passes, Run, Watch, Wish};

/// The learner unless another is named: lists are few and short, so that the exact optimum is cheap.
pub const DEFAULT_LEARNER: &str = "lbfgs";

/// A re-ranker to be trained, see [`Reranker::train`].
///
/// Wrong options are told by [`fit`](Self::fit).
pub struct RerankTraining {
    lists: Input,
    dev: Option<Input>,
    wish: Wish,
    threads: usize,
    seed: u64,
}

impl Reranker {
    /// Trains on lists of candidates with costs.
    ///
    /// ```no_run
    /// use seqoia::Reranker;
    /// use seqoia::data::open::open;
    ///
    /// let model = Reranker::train(open("lists.jsonl".as_ref())?).dev(open("dev.jsonl".as_ref())?).fit()?;
    /// model.save("rerank.seqoia")?;
    /// # Ok::<(), seqoia::Error>(())
    /// ```
    #[must_use]
    pub fn train(lists: Input) -> RerankTraining {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        RerankTraining { lists, dev: None, wish: Wish::default(), threads, seed: 1 }
    }
}

impl RerankTraining {
    /// Lists to score every pass on; the pass with the lowest cost is kept.
    #[must_use]
    pub fn dev(mut self, lists: Input) -> Self {
        self.dev = Some(lists);
        self
    }

    /// The learner, by name.
    #[must_use]
    pub fn learner(mut self, name: &str) -> Self {
        self.wish.learner = Some(name.to_owned());
        self
    }

    /// A parameter of the learner or of the strategy, such as `rate`.
    #[must_use]
    pub fn set(mut self, parameter: &str, value: impl Display) -> Self {
        self.wish.parameters.retain(|(name, _)| name != parameter);
        self.wish.parameters.push((parameter.to_owned(), value.to_string()));
        self
    }

    /// The number of passes (epochs).
    #[must_use]
    pub fn passes(mut self, passes: u64) -> Self {
        self.wish.passes = Some(Passes::Exactly(passes));
        self
    }

    /// At most so many threads; one for each core without it. They never change the model.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The random seed; 1 without it.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Reads the lists and trains.
    ///
    /// # Errors
    /// Lists that cannot be read, options that do not fit each other, training that fails.
    pub fn fit(self) -> Result<Reranker> {
        self.fit_with(&mut (), &Arc::default())
    }

    /// The same, telling `watch` about every pass. Raise `stop` to end it: the best weights so far are kept.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(self, watch: &mut dyn Watch, stop: &Arc<AtomicBool>) -> Result<Reranker> {
        let options = self.wish.options(None, DEFAULT_LEARNER)?;
        let learn = LearnOptions { threads: self.threads.max(1), seed: self.seed, ..options };
        learn.check()?;
        let set = CandidateSet::read(self.lists)?;
        let dev = self.dev.map(|dev| set.read_dev(dev)).transpose()?;
        let task = RerankTask::new(&set, dev.as_ref());
        let run = Run::new(&task, &learn)?;
        let trained = run.run(watch, stop)?;
        Reranker::from_bytes("model", &run.model(&trained)?)
    }
}
