//! Scores of known and of unknown words: what a model remembers against what it generalises to.
//!
//! A word is known if the training data have it, letter for letter. A token counts with its word. A chunk counts
//! as unknown if one of its words is, on each side by its own extent; a right chunk is the same on both sides, so
//! the counts of the two parts add up to those of the whole.

use serde::Serialize;

use crate::{Sentence, Tally, Unit, chunks, percent};

/// The scores of both parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ByKnown {
    /// Known words, and chunks that hold no other.
    pub known: Part,
    /// Unknown words, and chunks that hold one.
    pub unknown: Part,
}

/// The scores of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Tokens.
    pub tokens: u64,
    /// Tokens with the right label.
    pub tokens_correct: u64,
    /// Chunks; none if labels are no chunks.
    pub chunks: Option<Tally>,
}

impl Part {
    /// Right tokens in per cent.
    pub fn accuracy(&self) -> f64 {
        percent(self.tokens_correct, self.tokens)
    }
}

/// The counts and the figures, so that a reader of the JSON need not divide.
#[derive(Serialize)]
struct View {
    tokens: u64,
    tokens_correct: u64,
    token_accuracy: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Tally>,
}

impl Serialize for Part {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tokens, tokens_correct, chunks } = *self;
        View { tokens, tokens_correct, token_accuracy: self.accuracy(), chunks }.serialize(serializer)
    }
}

impl ByKnown {
    /// Counts the parts; `knows` says whether a word is known.
    pub fn of(sentences: &[Sentence], unit: Unit, knows: impl Fn(&str) -> bool) -> Self {
        let start = Part { chunks: unit.is_chunks().then(Tally::default), ..Part::default() };
        let mut parts = [start.clone(), start]; // known, unknown
        let mut unknown: Vec<bool> = vec![];
        for sentence in sentences {
            unknown.clear();
            unknown.extend(sentence.tokens.iter().map(|token| !knows(&token.word)));
            for (token, &unknown) in sentence.tokens.iter().zip(&unknown) {
                let part = &mut parts[usize::from(unknown)];
                part.tokens += 1;
                part.tokens_correct += u64::from(token.gold == token.found);
            }
            if !unit.is_chunks() {
                continue;
            }
            let gold = chunks(sentence.labels().map(|labels| labels.0), unit);
            let found = chunks(sentence.labels().map(|labels| labels.1), unit);
            let mut count = |chunk: &crate::Chunk, one: Tally| {
                let holds_unknown = unknown[chunk.start..chunk.end].contains(&true);
                if let Some(tally) = &mut parts[usize::from(holds_unknown)].chunks {
                    tally.add(one);
                }
            };
            gold.iter().for_each(|chunk| count(chunk, Tally { gold: 1, ..Tally::default() }));
            // Both are in order of their starts, of which a side has no two alike.
            let mut rest = gold.as_slice();
            for chunk in &found {
                rest = &rest[rest.partition_point(|other| other.start < chunk.start)..];
                let correct = u64::from(rest.first() == Some(chunk));
                count(chunk, Tally { gold: 0, found: 1, correct });
            }
        }
        let [known, unknown] = parts;
        Self { known, unknown }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use crate::{Options, Scored, read};

    const TEXT: &str = "\
old B-A B-A
new I-A I-A
old O B-A
old B-B B-B

new B-B B-A
old O O
old B-A B-A
new I-A O
";

    #[test]
    fn a_chunk_with_an_unknown_word_is_unknown() {
        let sentences = read(TEXT.as_bytes(), "x", &Options::default()).unwrap();
        let ByKnown { known, unknown } = ByKnown::of(&sentences, Unit::Chunks, |word| word == "old");
        let tally = |gold, found, correct| Some(Tally { gold, found, correct });
        // Known: gold B at 4; found B-A at 3, B at 4, B-A at 8 (cut short, so it holds no unknown word).
        assert_eq!(known, Part { tokens: 5, tokens_correct: 4, chunks: tally(1, 3, 1) });
        assert_eq!(unknown, Part { tokens: 3, tokens_correct: 1, chunks: tally(3, 2, 1) });
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let sentences = read(TEXT.as_bytes(), "x", &Options::default()).unwrap();
        for unit in [Unit::Chunks, Unit::Raw, Unit::Tokens] {
            let scored = Scored::of(&sentences, unit);
            for word in ["old", "new", "neither"] {
                let ByKnown { known, unknown } = ByKnown::of(&sentences, unit, |w| w == word);
                let (tokens, right) = scored.accuracy.token_counts();
                assert_eq!(known.tokens + unknown.tokens, tokens);
                assert_eq!(known.tokens_correct + unknown.tokens_correct, right);
                let sum: Tally = known.chunks.into_iter().chain(unknown.chunks).sum();
                if unit.is_chunks() {
                    let spans = &scored.spans;
                    assert_eq!((sum.gold, sum.found, sum.correct), (spans.gold, spans.found, spans.correct));
                } else {
                    assert_eq!((known.chunks, unknown.chunks), (None, None));
                }
            }
        }
    }
}
