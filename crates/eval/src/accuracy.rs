//! Accuracy: the share of tokens, and of whole sentences, with the right label.
//!
//! With *n* tokens of which *c* carry the gold label the accuracy is 100 c / n. A sentence is right when all of
//! its tokens are, which is the measure that a user of whole sentences feels. Empty sentences are not counted:
//! two empty lines in a row are a slip of the file and no easy point.

use serde::{Serialize, Serializer};

use crate::percent;

/// Counts right tokens and right sentences.
///
/// ```
/// let mut accuracy = seqoia_eval::Accuracy::default();
/// for right in [true, true, true, false] {
///     accuracy.token(right);
/// }
/// accuracy.end_sentence();
/// assert_eq!((accuracy.tokens(), accuracy.sentences()), (75.0, 0.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accuracy {
    tokens: u64,
    tokens_correct: u64,
    sentences: u64,
    sentences_correct: u64,
    /// The counts of tokens when the sentence began: what a sentence holds is the difference.
    start: (u64, u64),
}

impl Accuracy {
    /// Counts a token; the caller compares, since it may hold labels as numbers.
    pub fn token(&mut self, gold_equals_guess: bool) {
        self.tokens += 1;
        self.tokens_correct += u64::from(gold_equals_guess);
    }

    /// Ends the sentence. One that is still open counts its tokens, but not yet as a sentence.
    pub fn end_sentence(&mut self) {
        let (length, correct) = (self.tokens - self.start.0, self.tokens_correct - self.start.1);
        self.sentences += u64::from(length > 0);
        self.sentences_correct += u64::from(length > 0 && length == correct);
        self.start = (self.tokens, self.tokens_correct);
    }

    /// Right tokens in per cent.
    pub fn tokens(&self) -> f64 {
        percent(self.tokens_correct, self.tokens)
    }

    /// Wholly right sentences in per cent.
    pub fn sentences(&self) -> f64 {
        percent(self.sentences_correct, self.sentences)
    }

    /// How many tokens were seen, and how many of them were right.
    pub fn token_counts(&self) -> (u64, u64) {
        (self.tokens, self.tokens_correct)
    }

    /// How many sentences were ended, and how many of them were right.
    pub fn sentence_counts(&self) -> (u64, u64) {
        (self.sentences, self.sentences_correct)
    }
}

/// The counts and both figures, so that a reader of the JSON need not divide.
#[derive(Serialize)]
struct View {
    tokens: u64,
    tokens_correct: u64,
    sentences: u64,
    sentences_correct: u64,
    token_accuracy: f64,
    sentence_accuracy: f64,
}

impl Serialize for Accuracy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tokens, tokens_correct, sentences, sentences_correct, .. } = *self;
        let (token_accuracy, sentence_accuracy) = (self.tokens(), self.sentences());
        View { tokens, tokens_correct, sentences, sentences_correct, token_accuracy, sentence_accuracy }
            .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    fn count(sentences: &[&[bool]]) -> Accuracy {
        let mut accuracy = Accuracy::default();
        for sentence in sentences {
            sentence.iter().for_each(|&right| accuracy.token(right));
            accuracy.end_sentence();
        }
        accuracy
    }

    #[test]
    fn nothing_is_nought() {
        let accuracy = count(&[]);
        assert_eq!((accuracy.tokens(), accuracy.sentences()), (0.0, 0.0));
    }

    #[test]
    fn one_wrong_token_spoils_its_sentence_only() {
        let accuracy = count(&[&[true, false], &[true], &[true, true, true], &[false, true]]);
        assert_eq!(accuracy.token_counts(), (8, 6));
        assert_eq!(accuracy.sentence_counts(), (4, 2));
        assert_eq!((accuracy.tokens(), accuracy.sentences()), (75.0, 50.0));
    }

    #[test]
    fn empty_sentences_do_not_count() {
        assert_eq!(count(&[&[], &[true], &[], &[]]).sentence_counts(), (1, 1));
    }

    #[test]
    fn an_open_sentence_counts_its_tokens_only() {
        let mut accuracy = count(&[&[true]]);
        accuracy.token(false);
        assert_eq!((accuracy.token_counts(), accuracy.sentence_counts()), ((2, 1), (1, 1)));
    }

    #[test]
    fn json_has_counts_and_figures() {
        let json = serde_json::to_value(count(&[&[true, false], &[true, true]])).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "tokens": 4, "tokens_correct": 3, "sentences": 2, "sentences_correct": 1,
                "token_accuracy": 75.0, "sentence_accuracy": 50.0,
            })
        );
    }
}
