//! How good a model is on a labelled file, without writing anything.

use seqoia_core::Score;
use seqoia_data::format::Place;

use super::columns::{check_columns, label_column};
use super::raw;
use super::scorer::Scorer;
use super::{Labeller, Predictor, Source};
use crate::error::Result;

/// How good a model is on labelled data.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// F1 of chunks, if labels are chunks; then the share of tokens that are right.
    pub scores: Vec<Score>,
    /// Tokens that were labelled.
    pub tokens: u64,
}

impl Labeller {
    /// How good it is on labelled data: the score that counts first (F1 of chunks, where labels are chunks), then the
    /// share of tokens that are right.
    ///
    /// # Errors
    /// Data that cannot be read, does not fit the model or has no labels.
    pub fn score(&self, data: impl Into<Source>) -> Result<Vec<Score>> {
        Ok(try_out(self, data)?.scores)
    }
}

/// Labels a file on one thread and scores what is found.
///
/// # Errors
/// Data that cannot be read, does not fit the model or has no labels.
pub fn try_out(model: &Labeller, source: impl Into<Source>) -> Result<Trial> {
    let mut reader = source.into().reader(Some(model.kind()), model.reads_documents())?;
    let (file, format) = (reader.name().to_owned(), reader.format());
    check_columns(model, &file, &*format)?;
    let label = label_column(model, &*format);
    if format.label() == Place::Missing || label >= format.columns() {
        return Err(seqoia_data::Error::new(file, "there are no labels to compare with").into());
    }
    let mut predictor = Predictor::new(model);
    let mut scorer = Scorer::new(model.schemes().file.map(|file| [file; 2]));
    let (mut names, mut tokens) = (vec![], 0);
    let mut raw = raw::Watch::default();
    while let Some(block) = reader.next()? {
        raw.look(&*format, block);
        for sentence in block.sentences() {
            predictor.read(&file, block, sentence.tokens.clone(), label)?;
            let best = predictor.best_labels()?.to_vec();
            predictor.names(&best, &mut names);
            tokens += names.len() as u64;
            let gold: Vec<&str> = sentence.tokens.map(|i| block.field(i, label)).collect();
            let found: Vec<&str> = names.iter().map(String::as_str).collect();
            scorer.sentence(&gold, &found);
        }
    }
    raw.check(&file)?;
    Ok(Trial { scores: scorer.scores(), tokens })
}
