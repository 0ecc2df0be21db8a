//! The short way to a model: what to learn from and with which features; the rest by default, as on the command line.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia_data::scheme::Scheme;

use super::options::recipes::DEFAULT_LEARNER;
use super::{ChainOptions, DataOptions, DevSet, LabelColumn, LabelTask, Labeller, PairChoice};
use super::{RuleChoice, Source, TrainingSet};
use crate::error::{BadOption, Result};
use crate::run::{LearnOptions, Passes, Run, Strength, Watch, Wish};

/// A labeller to be trained, see [`Labeller::train`].
///
/// Wrong options are told by [`fit`](Self::fit).
pub struct Training {
    source: Source,
    dev: Option<Source>,
    data: DataOptions,
    chain: ChainOptions,
    wish: Wish,
    threads: usize,
    seed: u64,
    patience: Option<u64>,
    wrong: Option<BadOption>, // the first
}

impl Labeller {
    /// Trains on a file, an open text or [`Sentences`](seqoia_data::format::Sentences) in memory.
    ///
    /// ```no_run
    /// use seqoia::Labeller;
    ///
    /// let model = Labeller::train("train.txt").features("ner").dev("dev.txt").fit()?;
    /// model.save("ner.seqoia")?;
    /// # Ok::<(), seqoia::Error>(())
    /// ```
    #[must_use]
    pub fn train(data: impl Into<Source>) -> Training {
        Training {
            source: data.into(),
            dev: None,
            data: DataOptions::default(),
            chain: ChainOptions::default(),
            wish: Wish::default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            seed: 1,
            patience: None,
            wrong: None,
        }
    }
}

impl Training {
    /// A named feature set, such as `ner`; it brings the learner and the settings that are best for its task.
    #[must_use]
    pub fn features(mut self, set: &str) -> Self {
        self.data.features.sets.push(set.to_owned());
        self
    }

    /// Feature templates as in CRF++: their text.
    #[must_use]
    pub fn template(mut self, text: &str) -> Self {
        self.data.features.templates.push(("template".to_owned(), text.to_owned()));
        self
    }

    /// Feature patterns as in Wapiti: their text.
    #[must_use]
    pub fn patterns(mut self, text: &str) -> Self {
        self.data.features.patterns.push(("patterns".to_owned(), text.to_owned()));
        self
    }

    /// Data to score every pass on; the best pass is kept.
    #[must_use]
    pub fn dev(mut self, data: impl Into<Source>) -> Self {
        self.dev = Some(data.into());
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

    /// The penalty l1.
    #[must_use]
    pub fn l1(mut self, strength: Strength) -> Self {
        self.wish.l1 = Some(strength);
        self
    }

    /// The penalty l2.
    #[must_use]
    pub fn l2(mut self, strength: Strength) -> Self {
        self.wish.l2 = Some(strength);
        self
    }

    /// The column of the label: its number from 0, or its name in CoNLL-U; the last one without it.
    #[must_use]
    pub fn label(mut self, column: &str) -> Self {
        match LabelColumn::parse(column) {
            Ok(column) => self.data.label = column,
            Err(error) => self.wrong = self.wrong.or(Some(error)),
        }
        self
    }

    /// The label scheme to train in.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.data.scheme = Some(scheme);
        self
    }

    /// Which (attribute, label) pairs have a weight.
    #[must_use]
    pub fn pairs(mut self, pairs: PairChoice) -> Self {
        self.data.pairs = Some(pairs);
        self
    }

    /// Attributes seen fewer times are dropped.
    #[must_use]
    pub fn cutoff(mut self, times: u32) -> Self {
        self.data.cutoff = times;
        self
    }

    /// Which labels may follow each other.
    #[must_use]
    pub fn rules(mut self, rules: RuleChoice) -> Self {
        self.data.rules = Some(rules);
        self
    }

    /// How the data is read: everything that has no method of its own.
    #[must_use]
    pub fn data_options(mut self, change: impl FnOnce(&mut DataOptions)) -> Self {
        change(&mut self.data);
        self
    }

    /// Stops after so many passes without gain on dev data.
    #[must_use]
    pub fn patience(mut self, passes: u64) -> Self {
        self.patience = Some(passes);
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

    /// Reads the data and trains.
    ///
    /// # Errors
    /// Data that cannot be read, options that do not fit it or each other, training that fails.
    pub fn fit(self) -> Result<Labeller> {
        self.fit_with(&mut (), &Arc::default())
    }

    /// The same, telling `watch` about every pass. Raise `stop` to end it: the best weights so far are kept.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(mut self, watch: &mut dyn Watch, stop: &Arc<AtomicBool>) -> Result<Labeller> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong.into());
        }
        let recipe = self.data.recipe().map(|recipe| &recipe.learn);
        let learn = LearnOptions {
            threads: self.threads.max(1),
            seed: self.seed,
            patience: self.patience,
            ..self.wish.options(recipe, DEFAULT_LEARNER)?
        };
        learn.check()?;
        self.chain.check(&learn)?;
        self.data.threads = Some(self.threads.max(1));
        let set = TrainingSet::read(self.source, &self.data)?;
        let dev = self.dev.map(|dev| DevSet::read(dev, &set)).transpose()?;
        let task = LabelTask::new(&set, dev.as_ref()).with_chain(self.chain);
        let run = Run::new(&task, &learn)?;
        let trained = run.run(watch, stop)?;
        Labeller::from_bytes("model", &run.model(&trained)?)
    }
}
