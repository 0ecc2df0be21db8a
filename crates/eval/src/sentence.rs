//! A sentence with both of its labellings, for whoever looks at errors and not only at scores.

use crate::{Accuracy, Scored, Spans};

/// Counts sentences, one after another.
///
/// ```
/// use seqoia_eval::{Counter, Unit};
///
/// let mut counter = Counter::new(Unit::Chunks);
/// // Labels are compared as they are; chunks are counted by labels that `Spans` knows in full.
/// counter.sentence([("S-X", "S-X"), ("S-X", "O")], [("B-X", "B-X"), ("B-X", "O")]);
/// let scored = counter.finish();
/// assert_eq!((scored.accuracy.tokens(), scored.spans.recall()), (50.0, 50.0));
/// ```
#[derive(Debug, Clone)]
pub struct Counter {
    spans: Spans,
    accuracy: Accuracy,
}

impl Counter {
    /// Starts to count.
    #[must_use]
    pub fn new(unit: Unit) -> Self {
        Self { spans: Spans::new(unit.raw()), accuracy: Accuracy::default() }
    }

    /// Counts a sentence: gold and found labels, and those that chunks are counted by; none of the latter if
    /// chunks are not wanted.
    pub fn sentence<'a>(
        &mut self,
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        chunks: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        labels.into_iter().for_each(|(gold, found)| self.accuracy.token(gold == found));
        chunks.into_iter().for_each(|(gold, found)| self.spans.token(gold, found));
        self.accuracy.end_sentence();
        self.spans.end_sentence();
    }

    /// The scores.
    #[must_use]
    pub fn finish(self) -> Scored {
        Scored { spans: self.spans.finish(), accuracy: self.accuracy }
    }
}

/// A token with its two labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// Its line in the file, from 1.
    pub line: u64,
    /// The word; empty if the file has none.
    pub word: String,
    /// The label it should have.
    pub gold: String,
    /// The label it got.
    pub found: String,
}

/// The tokens of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence {
    /// From left to right.
    pub tokens: Vec<Token>,
    /// Gold and found labels that chunks are counted by, if those of the file are in a scheme that [`Spans`]
    /// does not know in full; else empty.
    pub converted: Vec<[String; 2]>,
}

/// What a score counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Tokens with a label each: the score is accuracy.
    Tokens,
    /// Chunks: the score is F1.
    Chunks,
    /// Every token not labelled `O` is a chunk, and its whole label the type: `conlleval -r`.
    Raw,
}

impl Unit {
    /// Whether labels have no prefix.
    pub(crate) fn raw(self) -> bool {
        self != Unit::Chunks
    }

    /// Whether chunks are counted, and not labels.
    pub fn is_chunks(self) -> bool {
        self != Unit::Tokens
    }

    /// The name of its score.
    pub fn score(self) -> &'static str {
        if self.is_chunks() { "F1" } else { "accuracy" }
    }
}

impl Sentence {
    /// Gold and found labels, as chunks are counted by.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.tokens.iter().enumerate().map(|(i, token)| match self.converted.get(i) {
            Some([gold, found]) => (gold.as_str(), found.as_str()),
            None => (token.gold.as_str(), token.found.as_str()),
        })
    }

    /// How many tokens got a wrong label.
    pub fn wrong(&self) -> usize {
        self.tokens.iter().filter(|token| token.gold != token.found).count()
    }
}

impl Scored {
    /// The scores of sentences.
    ///
    /// ```
    /// use seqoia_eval::{Options, Scored, Unit, read};
    ///
    /// let sentences = read("a DT DT\ndog NN VB\n".as_bytes(), "dev.txt", &Options::default())?;
    /// assert_eq!(Scored::of(&sentences, Unit::Tokens).accuracy.tokens(), 50.0);
    /// # Ok::<(), seqoia_eval::Error>(())
    /// ```
    pub fn of(sentences: &[Sentence], unit: Unit) -> Scored {
        let mut counter = Counter::new(unit);
        for sentence in sentences {
            let labels = sentence.tokens.iter().map(|token| (token.gold.as_str(), token.found.as_str()));
            counter.sentence(labels, sentence.labels());
        }
        counter.finish()
    }
}
