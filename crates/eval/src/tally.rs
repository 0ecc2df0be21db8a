//! The counts that a score is made of, sentence by sentence, so that sentences can be drawn again and swapped.
//!
//! With g things in the gold, f found and c right, F1 = 2 P R / (P + R) of precision and recall as in
//! `scores.rs`. Where every token has one label g = f, and F1 is the accuracy: one count serves both.

use serde::{Serialize, Serializer};

use crate::scores::figures;
use crate::{Sentence, Spans, Unit};

/// Gold, found and right things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those of the gold.
    pub gold: u64,
    /// Those found.
    pub found: u64,
    /// Those that are both.
    pub correct: u64,
}

impl Tally {
    /// Right ones among those found, in per cent.
    pub fn precision(&self) -> f64 {
        figures(self.gold, self.found, self.correct).0
    }

    /// Right ones among those of the gold, in per cent.
    pub fn recall(&self) -> f64 {
        figures(self.gold, self.found, self.correct).1
    }

    /// The harmonic mean of precision and recall; the accuracy where there are as many found as in the gold.
    pub fn f1(&self) -> f64 {
        figures(self.gold, self.found, self.correct).2
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: Tally) {
        self.gold += other.gold;
        self.found += other.found;
        self.correct += other.correct;
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(all: I) -> Tally {
        let mut sum = Tally::default();
        all.for_each(|one| sum.add(one));
        sum
    }
}

impl<'a> std::iter::Sum<&'a Tally> for Tally {
    fn sum<I: Iterator<Item = &'a Tally>>(all: I) -> Tally {
        all.copied().sum()
    }
}

/// The counts and the figures, so that a reader of the JSON need not divide.
#[derive(Serialize)]
struct View {
    gold: u64,
    found: u64,
    correct: u64,
    precision: f64,
    recall: f64,
    f1: f64,
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { gold, found, correct } = *self;
        let (precision, recall, f1) = figures(gold, found, correct);
        View { gold, found, correct, precision, recall, f1 }.serialize(serializer)
    }
}

/// The counts of each sentence. Their sum is that of the whole text.
pub fn tallies(sentences: &[Sentence], unit: Unit) -> Vec<Tally> {
    if unit == Unit::Tokens {
        let right = |s: &Sentence| s.tokens.iter().filter(|t| t.gold == t.found).count() as u64;
        let tally = |s: &Sentence| {
            let tokens = s.tokens.len() as u64;
            Tally { gold: tokens, found: tokens, correct: right(s) }
        };
        return sentences.iter().map(tally).collect();
    }
    let mut spans = Spans::new(unit.raw());
    let mut before = Tally::default();
    let mut tallies: Vec<Tally> = sentences
        .iter()
        .map(|sentence| {
            sentence.labels().for_each(|(gold, found)| spans.token(gold, found));
            spans.end_sentence();
            let now = spans.so_far();
            let tally = Tally {
                gold: now.gold - before.gold,
                found: now.found - before.found,
                correct: now.correct - before.correct,
            };
            before = now;
            tally
        })
        .collect();
    // The tag `.` keeps a chunk open behind the end of its sentence, as in the reference.
    let all = spans.finish();
    if let Some(last) = tallies.last_mut() {
        last.correct += all.correct - before.correct;
    }
    tallies
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use crate::{Options, Scored, read};

    fn sentences(text: &str) -> Vec<Sentence> {
        read(text.as_bytes(), "x", &Options::default()).unwrap()
    }

    #[test]
    fn they_add_up_to_the_score() {
        let text =
            "v B-A B-A\nw I-A O\n\nx B-B B-B\ny B-A B-B\n\nz I-A I-A\nz .-A .-A\n\nx I-A I-A\nz .-A .-A";
        let sentences = sentences(text);
        for unit in [Unit::Chunks, Unit::Raw] {
            let scored = Scored::of(&sentences, unit);
            let (sum, spans): (Tally, _) = (tallies(&sentences, unit).iter().sum(), scored.spans);
            assert_eq!((sum.gold, sum.found, sum.correct), (spans.gold, spans.found, spans.correct));
            assert_eq!(sum.f1(), spans.f1());
        }
        let (tokens, right) = Scored::of(&sentences, Unit::Tokens).accuracy.token_counts();
        let sum: Tally = tallies(&sentences, Unit::Tokens).iter().sum();
        assert_eq!((sum.gold, sum.found, sum.correct), (tokens, tokens, right));
        assert!((sum.f1() - 75.0).abs() < 1e-12);
    }

    #[test]
    fn each_sentence_has_its_own() {
        let all = tallies(&sentences("v B-A B-A\nw I-A O\n\nx B-B B-B\ny B-A B-B"), Unit::Chunks);
        let tally = |gold, found, correct| Tally { gold, found, correct };
        assert_eq!(all, [tally(1, 1, 0), tally(2, 2, 1)]);
    }
}
