//! A sentence as a page shows it: words, the labels found, the labels that the file has, probabilities.

use std::ops::Range;

use seqoia_data::format::{Block, Format, Kind, Place};

use super::Labeller;
use super::Predictor;
use super::columns::word_column;
use super::file::as_written;
use crate::error::Result;

/// The likeliest labels of a token that are kept, down to [`LEAST`].
const MOST: usize = 5;
const LEAST: f64 = 0.0005;

/// A token that was labelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The word; where tokens are attributes, the first of them.
    pub word: String,
    /// The label found.
    pub label: String,
    /// The label that the file has, if it has one.
    pub gold: Option<String>,
    /// Its line in the file.
    pub line: u64,
    /// Its likeliest labels and their probabilities.
    pub probabilities: Vec<(String, f64)>,
}

/// The column of gold labels, if the file has one.
fn gold_column(labeller: &Labeller, format: &dyn Format) -> Option<usize> {
    match format.label() {
        Place::Fixed(column) => Some(column),
        Place::Missing => None,
        Place::Last | Place::Chosen => {
            let column = labeller.meta().label_column;
            (format.kind() == labeller.kind() && column < format.columns()).then_some(column)
        }
    }
}

/// The sentence that was read last, with these labels.
pub(crate) fn look(
    predictor: &mut Predictor,
    format: &dyn Format,
    block: &Block,
    tokens: Range<usize>,
) -> Result<Vec<Seen>> {
    let best = predictor.best_labels()?.to_vec();
    let probabilities = predictor.probabilities(&best)?;
    let mut labels = vec![];
    predictor.names(&best, &mut labels);
    as_written(predictor.labeller(), format.kind(), &mut labels);
    let (names, _) = predictor.labeller().single_names();
    let word = word_column(predictor.labeller(), format);
    let gold = gold_column(predictor.labeller(), format);
    let conll = matches!(format.kind(), Kind::Conllu | Kind::Conllx);
    let mut seen = vec![];
    for ((i, label), row) in tokens.zip(labels).zip(&probabilities.marginals) {
        let mut likely: Vec<(String, f64)> =
            names.iter().cloned().zip(row.iter().copied()).filter(|(_, p)| *p >= LEAST).collect();
        likely.sort_by(|a, b| b.1.total_cmp(&a.1)); // equal ones stay in order
        likely.truncate(MOST);
        let text = match word {
            Some(word) => block.field(i, word),
            None => block.attributes(i).next().map_or("", |(name, _)| name),
        };
        let gold = gold.map(|column| block.field(i, column)).filter(|g| !(conll && *g == "_"));
        seen.push(Seen {
            word: text.to_owned(),
            label,
            gold: gold.map(str::to_owned),
            line: block.line(i),
            probabilities: likely,
        });
    }
    Ok(seen)
}
