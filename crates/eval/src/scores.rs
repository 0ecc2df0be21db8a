//! What chunk scoring gives: counts, the figures made of them, the print of `conlleval`, and JSON.
//!
//! With g chunks in the gold, f found and c right,
//!
//! ```text
//! precision P = 100 c / f      recall R = 100 c / g      F1 = 2 P R / (P + R)
//! ```
//!
//! and each is 0 where its denominator is.
//!
//! Reference: `conlleval`, version 2004-01-26, with its oddities, since other programs read its output: names are
//! padded by bytes, the line of the empty type comes twice if both sides have it, and a text without tokens gets
//! one line only.

use std::fmt::Write;

use serde::{Serialize, Serializer};

use crate::{Tally, percent};

/// Precision, recall and F1 in per cent.
pub(crate) fn figures(gold: u64, found: u64, correct: u64) -> (f64, f64, f64) {
    let (precision, recall) = (percent(correct, found), percent(correct, gold));
    let sum = precision + recall;
    (precision, recall, if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 })
}

/// The scores of a whole text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanScores {
    /// Tokens seen.
    pub tokens: u64,
    /// Tokens with the same tag and type on both sides.
    pub tokens_correct: u64,
    /// Chunks in the gold.
    pub gold: u64,
    /// Chunks in the guess.
    pub found: u64,
    /// Chunks that are in both.
    pub correct: u64,
    /// The scores by type, for every type with a chunk on either side, in byte order of the names.
    pub types: Vec<TypeScores>,
}

/// The scores of one type of chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeScores {
    /// What follows the first `-` of a label; empty if there is none.
    pub name: String,
    /// Chunks of the type in the gold.
    pub gold: u64,
    /// Chunks of the type in the guess.
    pub found: u64,
    /// Chunks of the type that are in both.
    pub correct: u64,
}

impl SpanScores {
    /// Right tokens in per cent.
    pub fn accuracy(&self) -> f64 {
        percent(self.tokens_correct, self.tokens)
    }

    /// The counts of chunks.
    pub fn tally(&self) -> Tally {
        Tally { gold: self.gold, found: self.found, correct: self.correct }
    }

    /// Right chunks among those found, in per cent.
    pub fn precision(&self) -> f64 {
        self.tally().precision()
    }

    /// Right chunks among those of the gold, in per cent.
    pub fn recall(&self) -> f64 {
        self.tally().recall()
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        self.tally().f1()
    }

    /// The bytes that `conlleval` prints for the same text.
    pub fn conlleval(&self) -> String {
        let Self { tokens, gold, found, correct, .. } = self;
        let mut out = format!(
            "processed {tokens} tokens with {gold} phrases; found: {found} phrases; correct: {correct}.\n"
        );
        // Writing to a string cannot fail.
        let mut line = |arguments: std::fmt::Arguments| out.write_fmt(arguments).unwrap_or_default();
        let (precision, recall, f1) = figures(*gold, *found, *correct);
        if *tokens > 0 {
            line(format_args!("accuracy: {:6.2}%; precision: {precision:6.2}%; ", self.accuracy()));
            line(format_args!("recall: {recall:6.2}%; FB1: {f1:6.2}\n"));
        }
        for TypeScores { name, gold, found, correct } in &self.types {
            let (precision, recall, f1) = figures(*gold, *found, *correct);
            let pad = 17_usize.saturating_sub(name.len());
            // The reference does not see that an empty name repeats.
            let times = if name.is_empty() && *gold > 0 && *found > 0 { 2 } else { 1 };
            for _ in 0..times {
                line(format_args!("{:pad$}{name}: precision: {precision:6.2}%; ", ""));
                line(format_args!("recall: {recall:6.2}%; FB1: {f1:6.2}  {found}\n"));
            }
        }
        out
    }
}

impl TypeScores {
    /// The counts, which give the figures.
    pub fn tally(&self) -> Tally {
        Tally { gold: self.gold, found: self.found, correct: self.correct }
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        self.tally().f1()
    }
}

/// The counts and the figures, so that a reader of the JSON need not divide.
#[derive(Serialize)]
struct SpanView<'a> {
    tokens: u64,
    tokens_correct: u64,
    gold: u64,
    found: u64,
    correct: u64,
    accuracy: f64,
    precision: f64,
    recall: f64,
    f1: f64,
    types: &'a [TypeScores],
}

/// The same for a type.
#[derive(Serialize)]
struct TypeView<'a> {
    name: &'a str,
    gold: u64,
    found: u64,
    correct: u64,
    precision: f64,
    recall: f64,
    f1: f64,
}

impl Serialize for SpanScores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tokens, tokens_correct, gold, found, correct, ref types } = *self;
        let (precision, recall, f1) = figures(gold, found, correct);
        let accuracy = self.accuracy();
        SpanView { tokens, tokens_correct, gold, found, correct, accuracy, precision, recall, f1, types }
            .serialize(serializer)
    }
}

impl Serialize for TypeScores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { ref name, gold, found, correct } = *self;
        let (precision, recall, f1) = figures(gold, found, correct);
        TypeView { name, gold, found, correct, precision, recall, f1 }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    fn kind(name: &str, gold: u64, found: u64, correct: u64) -> TypeScores {
        TypeScores { name: name.into(), gold, found, correct }
    }

    #[test]
    fn figures_by_hand() {
        let scores = kind("NP", 10, 4, 3);
        assert_eq!((scores.tally().precision(), scores.tally().recall()), (75.0, 30.0));
        assert!((scores.f1() - 300.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn no_denominator_gives_nought() {
        let scores = SpanScores::default();
        assert_eq!(
            (scores.accuracy(), scores.precision(), scores.recall(), scores.f1()),
            (0.0, 0.0, 0.0, 0.0)
        );
        assert_eq!(kind("NP", 3, 0, 0).f1(), 0.0);
        assert_eq!(kind("NP", 0, 3, 0).f1(), 0.0);
    }

    #[test]
    fn a_text_without_tokens_prints_one_line() {
        let print = SpanScores::default().conlleval();
        assert_eq!(print, "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n");
    }

    #[test]
    fn ties_round_to_even_as_in_c() {
        let types = vec![kind("A", 800, 32, 1), kind("B", 32, 800, 3)];
        let scores = SpanScores { tokens: 32, tokens_correct: 5, gold: 832, found: 832, correct: 4, types };
        let print = scores.conlleval();
        assert!(print.contains("accuracy:  15.62%;"), "15.625 is halfway:\n{print}");
        assert!(print.contains("A: precision:   3.12%; recall:   0.12%;"), "3.125 and 0.125:\n{print}");
        assert!(print.contains("B: precision:   0.38%; recall:   9.38%;"), "0.375 and 9.375:\n{print}");
    }

    #[test]
    fn per_cents_multiply_first() {
        let scores = SpanScores { tokens: 160, tokens_correct: 23, ..SpanScores::default() };
        assert!(scores.conlleval().contains("accuracy:  14.38%;"), "23/160*100 would print 14.37");
    }

    #[test]
    fn names_are_padded_by_bytes_and_never_cut() {
        let types = vec![kind("a_name_longer_than_it", 1, 1, 1), kind("Städte", 1, 1, 1)];
        let print =
            SpanScores { tokens: 2, tokens_correct: 2, gold: 2, found: 2, correct: 2, types }.conlleval();
        assert!(print.contains("\na_name_longer_than_it: "), "{print}");
        assert!(print.contains("\n          Städte: "), "ten blanks and seven bytes:\n{print}");
    }

    #[test]
    fn json_has_counts_and_figures() {
        let types = vec![kind("NP", 2, 4, 2)];
        let scores = SpanScores { tokens: 8, tokens_correct: 6, gold: 2, found: 4, correct: 2, types };
        let f1 = scores.f1();
        assert_eq!(
            serde_json::to_value(scores).unwrap(),
            serde_json::json!({
                "tokens": 8, "tokens_correct": 6, "gold": 2, "found": 4, "correct": 2,
                "accuracy": 75.0, "precision": 50.0, "recall": 100.0, "f1": f1,
                "types": [{
                    "name": "NP", "gold": 2, "found": 4, "correct": 2,
                    "precision": 50.0, "recall": 100.0, "f1": f1,
                }],
            })
        );
    }
}
