//! k-fold cross-validation: every sentence is scored once by a model that never saw it.
//!
//! Folds are stretches of the file, so that sentences of one document stay together as far as possible:
//! drawn at random, a model would be tested on documents that it knows in part. A fold's model is trained
//! for all its passes and then scored once; nothing is chosen on the fold that is scored.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia_core::{Judge, Score};
use seqoia_data::format::{Blocks, Pieces};
use seqoia_data::open::Input;
use seqoia_data::part;
use seqoia_strategies::Crew;

use super::{ChainOptions, DataOptions, DevJudge, DevSet, LabelTask, TrainingSet};
use crate::error::{BadOption, Result, counted};
use crate::run::{Ended, LearnOptions, Run};

/// One fold, scored by a model of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// From 1.
    pub number: usize,
    /// Sentences that were scored.
    pub sentences: usize,
    /// Their tokens.
    pub tokens: usize,
    /// Their scores; the first is the main one.
    pub scores: Vec<Score>,
    /// Passes that training took.
    pub passes: u64,
}

/// A file cut into folds.
pub struct Folds {
    name: String,
    text: Pieces,
    data: DataOptions,
    count: usize,
}

/// One fold left out: what is learned from, and what is scored.
pub struct LeftOut {
    number: usize,
    set: TrainingSet,
    held_out: DevSet,
}

impl Folds {
    /// Reads a file. `check` looks at all of it before anything is trained: mistakes in options are told before an
    /// hour of training.
    ///
    /// # Errors
    /// Data that cannot be read, fewer sentences than folds; what `check` finds.
    pub fn read(
        input: Input,
        data: &DataOptions,
        count: usize,
        check: impl FnOnce(&TrainingSet) -> Result<()>,
    ) -> Result<Folds> {
        if count < 2 {
            return Err(BadOption::of("folds", count, "at least two folds are needed").into());
        }
        let name = input.name.clone();
        let text = Pieces::read(Blocks::new(input), data.format_of_text())?;
        if text.len() < count {
            let have = counted(text.len(), "sentence");
            return Err(BadOption::of("folds", count, format!("{name} has only {have}")).into());
        }
        if data.partial.is_some() {
            let what = "all labels are scored, and with `partial` some are not known";
            return Err(BadOption::of("folds", count, what).into());
        }
        let data = DataOptions { format: Some(text.kind()), ..data.clone() };
        let whole = TrainingSet::read(Input::from_bytes(&name, text.choose(|_| true))?, &data)?;
        check(&whole)?;
        // What is right for the whole file is right for its parts: so is its scheme, of which a part may show nothing.
        let data = DataOptions { part_of: Some(whole.schemes), ..data };
        Ok(Folds { name, text, data, count })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Fold `number`, from 1, left out.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub fn leave_out(&self, number: usize) -> Result<LeftOut> {
        let fold = part::fold(number, self.count, self.text.len());
        let read =
            |inside: bool| Input::from_bytes(&self.name, self.text.choose(|i| fold.contains(&i) == inside));
        let set = TrainingSet::read(read(false)?, &self.data)?;
        let held_out = DevSet::read(read(true)?, &set)?;
        Ok(LeftOut { number, set, held_out })
    }
}

impl LeftOut {
    /// Trains on the others and scores this one.
    ///
    /// # Errors
    /// Training that fails or is stopped.
    pub fn score(&self, options: &LearnOptions, chain: ChainOptions, stop: &Arc<AtomicBool>) -> Result<Fold> {
        let task = LabelTask::new(&self.set, None).with_chain(chain);
        let trained = Run::new(&task, options)?.run(&mut (), stop)?;
        if trained.ended == Ended::Interrupted {
            return Err(BadOption::new(format!("stopped by the user in fold {}", self.number)).into());
        }
        let crew = Arc::new(Crew::new(options.threads.max(1)));
        let scores = DevJudge::new(&self.held_out, &self.set, crew).scores(&trained.weights)?;
        let (sentences, tokens) = (self.held_out.len(), self.held_out.tokens());
        Ok(Fold { number: self.number, sentences, tokens, scores, passes: trained.passes })
    }
}

/// Trains and scores `folds` times; `each` is told of every fold as it is done.
///
/// # Errors
/// Data that cannot be read, fewer sentences than folds, options that do not go together, a stop by the
/// user.
pub fn cross_validate(
    input: Input,
    data: &DataOptions,
    options: &LearnOptions,
    chain: ChainOptions,
    folds: usize,
    stop: &Arc<AtomicBool>,
    each: &mut dyn FnMut(&Fold),
) -> Result<Vec<Fold>> {
    let folds = Folds::read(input, data, folds, |whole| {
        Run::new(&LabelTask::new(whole, None).with_chain(chain), options).map(|_| ())
    })?;
    let mut done = vec![];
    for number in 1..=folds.len() {
        let fold = folds.leave_out(number)?.score(options, chain, stop)?;
        each(&fold);
        done.push(fold);
    }
    Ok(done)
}

/// Mean and standard deviation (n - 1) of the scores, by name.
#[must_use]
pub fn mean_and_deviation(folds: &[Fold]) -> Vec<(&'static str, f64, f64)> {
    let names: Vec<&'static str> =
        folds.first().map(|fold| fold.scores.iter().map(|s| s.name).collect()).unwrap_or_default();
    let of = |name: &'static str| {
        let values: Vec<f64> =
            folds.iter().flat_map(|f| &f.scores).filter(|s| s.name == name).map(|s| s.value).collect();
        let n = seqoia_core::cast::real(values.len());
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        (name, mean, (squares / (n - 1.0).max(1.0)).sqrt())
    };
    names.into_iter().map(of).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn a_fold_without_chunks_is_scored_like_the_others() {
        // All chunks are in the first half, so the second half knows of no scheme.
        let text = "a B-X\nb I-X\nc O\n\n".repeat(6) + &"d O\ne O\n\n".repeat(6);
        let mut data = DataOptions::default();
        data.features.templates.push(("t".to_owned(), "U:%x[0,0]\nB\n".to_owned()));
        let entry = seqoia_learners::registry::find("averaged-perceptron").unwrap();
        let (options, chain) = (LearnOptions::new(entry, entry.defaults()), ChainOptions::default());
        for scheme in [None, Some(seqoia_data::scheme::Scheme::Iobes)] {
            data.scheme = scheme;
            let input = Input::from_bytes("x", text.as_str()).unwrap();
            let stop = Arc::default();
            let folds = cross_validate(input, &data, &options, chain, 2, &stop, &mut |_| ()).unwrap();
            let names = |fold: &Fold| fold.scores.iter().map(|s| s.name).collect::<Vec<_>>();
            assert_eq!(folds.iter().map(names).collect::<Vec<_>>(), [["f1", "accuracy"]; 2]);
        }
    }

    #[test]
    fn means_are_means() {
        let fold =
            |x| Fold { number: 1, sentences: 1, tokens: 1, scores: vec![Score::gain("f1", x)], passes: 1 };
        let all = mean_and_deviation(&[fold(1.0), fold(2.0), fold(6.0)]);
        assert_eq!(all[0].0, "f1");
        assert!((all[0].1 - 3.0).abs() < 1e-12 && (all[0].2 - 7f64.sqrt()).abs() < 1e-12);
    }
}
