//! How good a model is on a labelled file, without writing anything.

use std::sync::Arc;

use seqoia_core::Score;
use seqoia_data::format::{self, Block, Blocks, Place};
use seqoia_data::open::Input;

use super::columns::{check_columns, label_column};
use super::raw;
use super::scorer::Scorer;
use super::{Labeller, Predictor};
use crate::error::{Error, Result};

/// How good a model is on labelled data.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// F1 of chunks, or the share of tokens that are right.
    pub score: Score,
    /// Tokens that were labelled.
    pub tokens: u64,
}

/// Labels a file on one thread and scores what is found.
///
/// # Errors
/// Data that cannot be read, does not fit the model or has no labels.
pub fn try_out(model: &Arc<Labeller>, input: Input) -> Result<Trial> {
    let file = input.name.clone();
    let mut blocks = Blocks::new(input).whole_documents(model.program().reads_mentions());
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, Some(model.kind()))?;
    check_columns(model, &file, &*format)?;
    let label = label_column(model, &*format);
    if format.label() == Place::Missing || label >= format.columns() {
        return Err(Error::Mismatch(format!("{file} has no labels to compare with")));
    }
    let mut predictor = Predictor::new(Arc::clone(model));
    let mut scorer = Scorer::new(model.schemes().file.map(|file| [file; 2]));
    let (mut names, mut tokens) = (vec![], 0);
    let mut raw = raw::Watch::default();
    loop {
        format.parse(&file, &mut block)?;
        raw.look(&*format, &block);
        for sentence in block.sentences() {
            predictor.read(&file, &block, sentence.tokens.clone(), label)?;
            let best = predictor.best_labels()?.to_vec();
            predictor.names(&best, &mut names);
            tokens += names.len() as u64;
            let gold: Vec<&str> = sentence.tokens.map(|i| block.field(i, label)).collect();
            let found: Vec<&str> = names.iter().map(String::as_str).collect();
            scorer.sentence(&gold, &found);
        }
        if !blocks.fill(&mut block)? {
            break;
        }
    }
    raw.check(&file)?;
    let score = scorer.scores().remove(0);
    Ok(Trial { score, tokens })
}
