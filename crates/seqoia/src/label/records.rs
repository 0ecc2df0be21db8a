//! A sentence and what was found in it as a JSON object: `predict --json`.

use seqoia_data::format::{self, Block, Format, Kind};
use seqoia_data::scheme::Scheme;
use serde::Serialize;

use super::columns::word_column;
use super::{Labeller, Predictor, Ranked};
use crate::error::{Error, Result};

/// A sentence as JSON.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<&'a str>>,
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    /// That of the labels in `marginals`, where it is another than in `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbest: Option<Vec<Ranked>>,
}

impl Record<'_> {
    /// Whether it has this key. Those of a file must not be there twice.
    fn has(&self, key: &str) -> bool {
        match key {
            "tokens" => self.tokens.is_some(),
            "labels" => true,
            "probability" => self.probability.is_some(),
            "scheme" => self.scheme.is_some(),
            "marginals" => self.marginals.is_some(),
            "nbest" => self.nbest.is_some(),
            _ => false,
        }
    }
}

/// Appends the record of the sentence that was read last.
pub(super) fn json(
    predictor: &mut Predictor,
    format: &dyn Format,
    block: &Block,
    tokens: std::ops::Range<usize>,
    marginals: bool,
    k: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let first = tokens.start;
    let word = word_column(predictor.labeller(), format);
    let mut record = Record {
        tokens: word.map(|word| tokens.map(|i| block.field(i, word)).collect()),
        labels: vec![],
        probability: None,
        scheme: None,
        marginals: None,
        nbest: None,
    };
    if k > 1 {
        let ranked = predictor.ranked(k)?;
        if let Some(best) = ranked.first() {
            record.labels.clone_from(&best.labels);
            record.probability = Some(best.probability);
        }
        record.nbest = Some(ranked);
    }
    if marginals || k <= 1 {
        let best = predictor.best_labels()?.to_vec();
        predictor.names(&best, &mut record.labels);
        if marginals {
            let p = predictor.probabilities(&best)?;
            record.probability = Some(p.sequence);
            let (names, scheme) = predictor.labeller().single_names();
            record.scheme = scheme.map(Scheme::name);
            let row = |row: &Vec<f64>| names.iter().cloned().zip(row.iter().map(|p| (*p).into())).collect();
            record.marginals = Some(p.marginals.iter().map(row).collect());
        }
    }
    let line = block.tokens().get(first).map_or("", |token| block.slice(token.span));
    write(&record, format.kind(), line, out)
}

/// Appends the record of a line that is a sentence without tokens. An empty line of JSON lines has no keys at all.
pub(super) fn empty(
    labeller: &Labeller,
    kind: Kind,
    line: &str,
    marginals: bool,
    k: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let words = kind != Kind::Jsonl || format::has_json_key(line, "tokens");
    let nothing = || Ranked { labels: vec![], score: 0.0, probability: 1.0 };
    let record = Record {
        tokens: words.then(Vec::new),
        labels: vec![],
        probability: (marginals || k > 1).then_some(1.0),
        scheme: labeller.single_names().1.filter(|_| marginals).map(Scheme::name),
        marginals: marginals.then(Vec::new),
        nbest: (k > 1).then(|| vec![nothing()]),
    };
    write(&record, kind, line, out)
}

/// Appends a record, with the keys of its line that mean nothing to us.
fn write(record: &Record<'_>, kind: Kind, line: &str, out: &mut Vec<u8>) -> Result<()> {
    let line = if kind == Kind::Jsonl { line } else { "" };
    let taken = |key: &str| matches!(key, "tokens" | "features" | "labels" | "weight") || record.has(key);
    format::put_with_other_keys(line, taken, record, out).map_err(|e| Error::Output(e.to_string()))
}
