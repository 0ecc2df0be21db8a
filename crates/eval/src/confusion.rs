//! Confusions: which label was taken for which, how often, and where to look.
//!
//! They are counted by token and with whole labels, as the file has them: `B-NP -> I-NP` says that a start was
//! missed, `B-NP -> B-VP` that the type was.

use std::collections::HashMap;

use serde::Serialize;

use crate::Sentence;

/// A gold label, what was found instead, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// The label that was right.
    pub gold: String,
    /// The label that was found.
    pub found: String,
    /// How many tokens.
    pub count: u64,
    /// The lines of the first few, from 1.
    pub lines: Vec<u64>,
}

/// All confusions, the most frequent first, those of one count in byte order; each with at most so many lines.
pub fn confusions(sentences: &[Sentence], lines: usize) -> Vec<Confusion> {
    let mut places: HashMap<(&str, &str), (u64, Vec<u64>)> = HashMap::new();
    for token in sentences.iter().flat_map(|s| &s.tokens).filter(|t| t.gold != t.found) {
        let (count, seen) = places.entry((&token.gold, &token.found)).or_default();
        *count += 1;
        if seen.len() < lines {
            seen.push(token.line);
        }
    }
    let mut all: Vec<Confusion> = places
        .into_iter()
        .map(|((gold, found), (count, lines))| Confusion {
            gold: gold.into(),
            found: found.into(),
            count,
            lines,
        })
        .collect();
    all.sort_unstable_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (&a.gold, &a.found).cmp(&(&b.gold, &b.found)))
    });
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use crate::{Options, Scored, Unit, read};

    #[test]
    fn counted_in_order_with_first_lines() {
        let text = "a X Y\nb X Y\n\nc Y X\nd X X\n\ne A X\nf X Y\n";
        let sentences = read(text.as_bytes(), "x", &Options::default()).unwrap();
        let confusion = |gold: &str, found: &str, count, lines: &[u64]| Confusion {
            gold: gold.into(),
            found: found.into(),
            count,
            lines: lines.into(),
        };
        assert_eq!(
            confusions(&sentences, 2),
            [confusion("X", "Y", 3, &[1, 2]), confusion("A", "X", 1, &[7]), confusion("Y", "X", 1, &[4]),]
        );
        let (tokens, right) = Scored::of(&sentences, Unit::Tokens).accuracy.token_counts();
        let wrong: u64 = confusions(&sentences, 0).iter().map(|c| c.count).sum();
        assert_eq!(wrong, tokens - right, "every wrong token is in one of them");
    }
}
