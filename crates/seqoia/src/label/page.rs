//! A sentence as a page shows it: words, the labels found, the labels that the file has, probabilities.

use std::ops::Range;

use seqoia_data::format::{Block, Format, Kind, Place, is_cut};

use super::Labeller;
use super::Predictor;
use super::columns::{as_written, word_column};
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

/// What was found against the labels of the file, over all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Against {
    /// Labels that were compared.
    pub labels: u64,
    /// Those that differ.
    pub errors: u64,
    /// Sentences with such labels.
    pub sentences: u64,
}

/// Compares while labelling. Whether the labels of a file are gold can only be said at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparing {
    against: Against,
    first: Option<String>,
    differ: bool, // a column of one value is a place for labels
    raw: bool,    // text without blanks
    cut: bool,
}

impl Comparing {
    /// A sentence and the labels that were found, as they are written; whether any is another than in the file.
    pub(crate) fn add(
        &mut self,
        labeller: &Labeller,
        format: &dyn Format,
        block: &Block,
        tokens: Range<usize>,
        found: &[String],
    ) -> bool {
        let Some(column) = gold_column(labeller, format) else { return false };
        let mut wrong = 0;
        for (i, found) in tokens.zip(found) {
            let gold = block.field(i, column);
            if is_conll(format.kind()) && gold == "_" {
                continue;
            }
            match &self.first {
                Some(first) => self.differ |= first != gold,
                None => self.first = Some(gold.to_owned()),
            }
            self.against.labels += 1;
            wrong += u64::from(gold != found);
        }
        self.against.errors += wrong;
        self.against.sentences += u64::from(wrong > 0);
        wrong > 0
    }

    /// A block that was labelled.
    pub(crate) fn block(&mut self, format: &dyn Format, block: &Block) {
        if format.kind() == Kind::Words {
            self.raw = true;
            self.cut |= is_cut(block);
        }
    }

    /// The next blocks' counts.
    pub(crate) fn join(&mut self, other: Comparing) {
        self.against.labels += other.against.labels;
        self.against.errors += other.against.errors;
        self.against.sentences += other.against.sentences;
        self.differ |=
            other.differ || self.first.is_some() && other.first.is_some() && self.first != other.first;
        self.first = self.first.take().or(other.first);
        self.raw |= other.raw;
        self.cut |= other.cut;
    }

    /// The counts, if the labels of the file were gold.
    pub(crate) fn finish(self) -> Option<Against> {
        (self.differ && (self.cut || !self.raw)).then_some(self.against)
    }
}

/// Whether a label is another than in the file.
pub(crate) fn is_wrong(sentence: &[Seen]) -> bool {
    sentence.iter().any(|token| token.gold.as_ref().is_some_and(|gold| *gold != token.label))
}

/// Leaves so many sentences: those with errors, if the labels of the file are gold, and the first of the others.
pub(crate) fn choose(seen: &mut Vec<Vec<Seen>>, most: usize, gold: bool) {
    let wrong = if gold { seen.iter().filter(|s| is_wrong(s)).count().min(most) } else { 0 };
    let mut left = [most - wrong, wrong];
    seen.retain(|sentence| {
        let left = &mut left[usize::from(gold && is_wrong(sentence))];
        let kept = *left > 0;
        *left = left.saturating_sub(1);
        kept
    });
}

fn is_conll(kind: Kind) -> bool {
    matches!(kind, Kind::Conllu | Kind::Conllx)
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
    let conll = is_conll(format.kind());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_with_errors_are_kept_before_others() {
        let sentence = |word: &str, gold: &str| {
            let (word, label) = (word.to_owned(), "N".to_owned());
            vec![Seen { word, label, gold: Some(gold.to_owned()), line: 1, probabilities: vec![] }]
        };
        let all = || vec![sentence("a", "N"), sentence("b", "N"), sentence("c", "V"), sentence("d", "V")];
        let left = |most, gold| {
            let mut seen = all();
            choose(&mut seen, most, gold);
            seen.iter().map(|s| s[0].word.as_str()).collect::<String>()
        };
        assert_eq!([left(3, true), left(1, true), left(9, true)], ["acd", "c", "abcd"]);
        assert_eq!([left(3, false), left(0, false)], ["abc", ""]);
    }
}
