//! The chunks of one side, for those who want to know which words a chunk holds.
//!
//! The rules are those of [`Spans`](crate::Spans), which counts without collecting: a chunk starts where they
//! say so and goes on until they end it or another one starts. With the tags `B`, `I` and `O`, in any order, the
//! chunks that both sides have are exactly those that `Spans` counts as right.

use crate::Unit;
use crate::spans::{Tag, cut, ends, starts, tag};

/// A stretch of tokens of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The first token, from 0.
    pub start: usize,
    /// The token behind the last.
    pub end: usize,
    /// The type; empty if labels have none.
    pub kind: &'a str,
}

/// The chunks of a sentence's labels, from left to right.
///
/// ```
/// use seqoia_eval::{Chunk, Unit, chunks};
///
/// let found = chunks(["B-A", "I-A", "O", "I-B"], Unit::Chunks);
/// assert_eq!(found, [Chunk { start: 0, end: 2, kind: "A" }, Chunk { start: 3, end: 4, kind: "B" }]);
/// ```
pub fn chunks<'a>(labels: impl IntoIterator<Item = &'a str>, unit: Unit) -> Vec<Chunk<'a>> {
    let mut chunks: Vec<Chunk<'a>> = vec![];
    let (mut before, mut kind_before, mut open) = (Tag::Outside, "", false);
    for (i, label) in labels.into_iter().enumerate() {
        let (now, kind) = cut(label, unit.raw());
        let (now, same) = (tag(now), kind == kind_before);
        open &= !ends(before, now, same);
        if starts(before, now, same) {
            chunks.push(Chunk { start: i, end: i + 1, kind });
            open = true;
        } else if let (true, Some(chunk)) = (open, chunks.last_mut()) {
            chunk.end = i + 1;
        }
        (before, kind_before) = (now, kind);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sentence, Tally, Token, tallies};
    use proptest::prelude::*;

    #[test]
    fn raw_labels_are_chunks_of_their_own() {
        let found = chunks(["DT", "DT", "O"], Unit::Raw);
        assert_eq!(
            found.iter().map(|c| (c.start, c.end, c.kind)).collect::<Vec<_>>(),
            [(0, 1, "DT"), (1, 2, "DT")]
        );
        assert!(chunks([], Unit::Chunks).is_empty());
    }

    proptest! {
        #[test]
        fn what_both_sides_have_is_what_the_scorer_counts(
            labels in prop::collection::vec(
                prop::sample::select(vec!["B-A", "I-A", "B-B", "I-B", "O", "B", "I", "O-A"]), 0..24)
        ) {
            let token = |pair: &[&str]| Token { gold: pair[0].into(), found: pair[1].into(), ..Token::default() };
            let tokens: Vec<Token> = labels.chunks_exact(2).map(token).collect();
            let sentence = Sentence { tokens, ..Sentence::default() };
            let gold = chunks(sentence.labels().map(|l| l.0), Unit::Chunks);
            let found = chunks(sentence.labels().map(|l| l.1), Unit::Chunks);
            let both = gold.iter().filter(|chunk| found.contains(chunk)).count() as u64;
            let ours = Tally { gold: gold.len() as u64, found: found.len() as u64, correct: both };
            let theirs: Tally = tallies(&[sentence], Unit::Chunks).iter().sum();
            prop_assert_eq!(ours, theirs);
        }
    }
}
