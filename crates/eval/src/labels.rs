//! Scores of each label, for tags that are no chunks: how many tokens have it, how many got it, how many both.

use std::collections::HashMap;

use crate::{Sentence, TypeScores};

/// The scores of each label that occurs on either side, the most frequent of the gold first, those of one count
/// in byte order. Every label counts, `O` as well.
pub fn labels(sentences: &[Sentence]) -> Vec<TypeScores> {
    let mut counts: HashMap<&str, [u64; 3]> = HashMap::new(); // gold, found, right
    for token in sentences.iter().flat_map(|sentence| &sentence.tokens) {
        let [gold, _, correct] = counts.entry(&token.gold).or_default();
        *gold += 1;
        *correct += u64::from(token.gold == token.found);
        counts.entry(&token.found).or_default()[1] += 1;
    }
    let score = |(name, [gold, found, correct]): (&str, [u64; 3])| TypeScores {
        name: name.into(),
        gold,
        found,
        correct,
    };
    let mut all: Vec<TypeScores> = counts.into_iter().map(score).collect();
    all.sort_unstable_by(|a, b| b.gold.cmp(&a.gold).then_with(|| a.name.cmp(&b.name)));
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use crate::{Options, Scored, Unit, read};

    #[test]
    fn every_token_counts_once_on_each_side() {
        let text = "a DT DT\nb NN VB\nc NN NN\n\nd O NN\ne 0 0\nf DT O\n";
        let sentences = read(text.as_bytes(), "x", &Options::default()).unwrap();
        let all = labels(&sentences);
        let rows: Vec<_> = all.iter().map(|l| (l.name.as_str(), l.gold, l.found, l.correct)).collect();
        assert_eq!(rows, [("DT", 2, 1, 1), ("NN", 2, 2, 1), ("0", 1, 1, 1), ("O", 1, 1, 0), ("VB", 0, 1, 0)]);
        let (tokens, right) = Scored::of(&sentences, Unit::Tokens).accuracy.token_counts();
        let sum = |count: fn(&TypeScores) -> u64| all.iter().map(count).sum::<u64>();
        assert_eq!([sum(|l| l.gold), sum(|l| l.found), sum(|l| l.correct)], [tokens, tokens, right]);
    }
}
