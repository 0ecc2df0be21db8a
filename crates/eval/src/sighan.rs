//! Word segmentation as the SIGHAN bakeoffs score it: words of a text without blanks, found against gold.
//!
//! A line is a sequence of words between blanks, the same characters on both sides. A word is right if the gold
//! has a word from the same character to the same character. With g words in the gold, f found and c right,
//!
//! ```text
//! R = c / g      P = c / f      F = 2 P R / (P + R)
//! OOV rate = o / g      OOV recall = right ones among o      IV recall = right ones among g - o
//! ```
//!
//! where o counts the words of the gold that the training words do not have (out of vocabulary). As in the
//! bakeoffs these are fractions, not per cents.
//!
//! Reference: Sproat and Emerson, *The First International Chinese Word Segmentation Bakeoff*, SIGHAN 2003, and
//! the script `score` of the second, 2005. Where this differs: the script aligns the words of a line with `diff`,
//! which does not know where a word stands, so that it can miss right words; for real segmentations both agree
//! in all three digits that the script prints. Its insertions, deletions and substitutions are those of `diff`
//! and are not given. A line whose characters differ is an error here, and a wrong alignment there.

use std::collections::HashSet;
use std::hash::BuildHasher;

use serde::{Serialize, Serializer};

use crate::columns::{Complaint, not_utf8};
use crate::{Error, Tally};

/// The scores of a segmented text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segmentation {
    /// The words of each line.
    pub lines: Vec<Tally>,
    /// Known and unknown words, if the training words were given.
    pub vocabulary: Option<Vocabulary>,
}

/// The words of the gold by whether the training words have them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Words that training did not have.
    pub oov: u64,
    /// Those of them that were found.
    pub oov_correct: u64,
    /// Words that training had.
    pub iv: u64,
    /// Those of them that were found.
    pub iv_correct: u64,
}

/// A text and what errors call it.
pub type Named<'a> = (&'a str, &'a [u8]);

impl Segmentation {
    /// Scores `found` against `gold`, with the words of the training data if they are known.
    ///
    /// ```
    /// use seqoia_eval::Segmentation;
    ///
    /// let (gold, found) = ("ab c d\n".as_bytes(), "a b c d\n".as_bytes());
    /// let scores = Segmentation::score(("gold", gold), ("found", found), None::<&std::collections::HashSet<_>>)?;
    /// let words = scores.words();
    /// assert_eq!((words.gold, words.found, words.correct), (3, 4, 2));
    /// # Ok::<(), seqoia_eval::Error>(())
    /// ```
    ///
    /// # Errors
    /// A line that is not the same text, one that is missing, text that is not UTF-8, no word at all.
    pub fn score<S: BuildHasher>(
        gold: Named,
        found: Named,
        training: Option<&HashSet<String, S>>,
    ) -> Result<Self, Error> {
        let mut vocabulary = training.map(|_| Vocabulary::default());
        let (gold_name, found_name) = (gold.0, found.0);
        let (gold, found) = (lines(gold)?, lines(found)?);
        let mut tallies = vec![];
        for (i, (gold, found)) in gold.iter().zip(&found).enumerate() {
            let line = i as u64 + 1;
            if let Some(at) = differ(gold, found) {
                return Err(error(found_name, line, other_text(gold_name, line, at)));
            }
            let spans: HashSet<(usize, usize)> =
                words(found).map(|(start, word)| (start, word.len())).collect();
            let mut tally = Tally { found: spans.len() as u64, ..Tally::default() };
            for (start, word) in words(gold) {
                let right = u64::from(spans.contains(&(start, word.len())));
                tally.gold += 1;
                tally.correct += right;
                match (&mut vocabulary, training) {
                    (Some(seen), Some(training)) if training.contains(word) => {
                        seen.iv += 1;
                        seen.iv_correct += right;
                    }
                    (Some(seen), _) => {
                        seen.oov += 1;
                        seen.oov_correct += right;
                    }
                    (None, _) => (),
                }
            }
            tallies.push(tally);
        }
        if gold.len() != found.len() {
            let shorter = gold.len().min(found.len()) as u64;
            return Err(error(found_name, shorter + 1, other_lines(gold_name, gold.len(), found.len())));
        }
        if tallies.iter().all(|tally| tally.gold == 0) {
            return Err(error(gold_name, 1, nothing()));
        }
        Ok(Self { lines: tallies, vocabulary })
    }

    /// The words of all lines.
    pub fn words(&self) -> Tally {
        self.lines.iter().sum()
    }

    /// R, P and F.
    pub fn figures(&self) -> (f64, f64, f64) {
        let all = self.words();
        (all.recall() / 100.0, all.precision() / 100.0, all.f1() / 100.0)
    }
}

impl Vocabulary {
    /// The share of words that training did not have.
    pub fn oov_rate(&self) -> f64 {
        share(self.oov, self.oov + self.iv).unwrap_or_default()
    }

    /// The share of them that was found; none if there are none.
    pub fn oov_recall(&self) -> Option<f64> {
        share(self.oov_correct, self.oov)
    }

    /// The share of the other words that was found; none if there are none.
    pub fn iv_recall(&self) -> Option<f64> {
        share(self.iv_correct, self.iv)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| seqoia_core::cast::real64(part) / seqoia_core::cast::real64(whole))
}

/// The lines of a text. Empty ones at its end are a matter of taste and are left out.
fn lines<'a>((name, text): Named<'a>) -> Result<Vec<&'a str>, Error> {
    let mut lines = vec![];
    for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let fail = |e: std::str::Utf8Error| error(name, i as u64 + 1, not_utf8(e.valid_up_to()));
        let line = str::from_utf8(line).map_err(fail)?;
        lines.push(if i == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line });
    }
    lines.truncate(lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |i| i + 1));
    Ok(lines)
}

/// The words of a line, each with the bytes of words before it. All blanks count, those of Chinese type too.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().scan(0, |end, word| {
        *end += word.len();
        Some((*end - word.len(), word))
    })
}

/// The first character, from 1 and without blanks, in which two lines differ.
fn differ(a: &str, b: &str) -> Option<usize> {
    let mut a = a.chars().filter(|c| !c.is_whitespace());
    let mut b = b.chars().filter(|c| !c.is_whitespace());
    (1..).find_map(|at| match (a.next(), b.next()) {
        (None, None) => Some(None),
        (x, y) => (x != y).then_some(Some(at)),
    })?
}

fn error(name: &str, line: u64, (what, help): Complaint) -> Error {
    Error { name: name.into(), line, what, help }
}

fn other_text(gold: &str, line: u64, at: usize) -> Complaint {
    let help = "both files hold the same characters and differ in blanks only; full-width and half-width forms \
                are different characters";
    (format!("not the text of {gold}:{line}: they differ from character {at} on"), help.into())
}

fn other_lines(gold: &str, there: usize, here: usize) -> Complaint {
    let lines = |n: usize| if n == 1 { "1 line".to_owned() } else { format!("{n} lines") };
    (
        format!("the text has {}, {gold} has {there}", lines(here)),
        "segment the lines of the gold, each to a line, empty ones too".into(),
    )
}

fn nothing() -> Complaint {
    ("no word, nothing to score".into(), "expected are words between blanks, a sentence a line".into())
}

/// The counts and the figures, so that a reader of the JSON need not divide.
#[derive(Serialize)]
struct View {
    metric: &'static str,
    lines: usize,
    gold: u64,
    found: u64,
    correct: u64,
    recall: f64,
    precision: f64,
    f1: f64,
    #[serde(flatten)]
    vocabulary: Option<VocabularyView>,
}

#[derive(Serialize)]
struct VocabularyView {
    oov: u64,
    oov_correct: u64,
    iv: u64,
    iv_correct: u64,
    oov_rate: f64,
    oov_recall: Option<f64>,
    iv_recall: Option<f64>,
}

impl Serialize for Segmentation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tally { gold, found, correct } = self.words();
        let (recall, precision, f1) = self.figures();
        let vocabulary = self.vocabulary.map(|v| VocabularyView {
            oov: v.oov,
            oov_correct: v.oov_correct,
            iv: v.iv,
            iv_correct: v.iv_correct,
            oov_rate: v.oov_rate(),
            oov_recall: v.oov_recall(),
            iv_recall: v.iv_recall(),
        });
        let lines = self.lines.len();
        View { metric: "sighan", lines, gold, found, correct, recall, precision, f1, vocabulary }
            .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use proptest::prelude::*;

    fn score(gold: &str, found: &str, training: Option<&[&str]>) -> Result<Segmentation, Error> {
        let training: Option<HashSet<String>> =
            training.map(|words| words.iter().map(|&word| word.into()).collect());
        Segmentation::score(("gold", gold.as_bytes()), ("found", found.as_bytes()), training.as_ref())
    }

    #[test]
    fn by_hand() {
        let scores =
            score("今天  天气 很 好\n\n好 人\n", "今天 天 气　很好\n\n好 人", Some(&["今天", "很", "好"]));
        let scores = scores.unwrap();
        let words = scores.words();
        assert_eq!((words.gold, words.found, words.correct), (6, 6, 3));
        // Unknown: 天气 (not found) and 人 (found).
        let vocabulary = scores.vocabulary.unwrap();
        assert_eq!(vocabulary, Vocabulary { oov: 2, oov_correct: 1, iv: 4, iv_correct: 2 });
        assert_eq!(vocabulary.oov_rate(), 2.0 / 6.0);
        assert_eq!((vocabulary.oov_recall(), vocabulary.iv_recall()), (Some(0.5), Some(0.5)));
        assert_eq!(scores.figures(), (0.5, 0.5, 0.5));
        assert_eq!(scores.lines.len(), 3);
    }

    #[test]
    fn no_unknown_word_has_no_recall() {
        let vocabulary = score("a b", "a b", Some(&["a", "b"])).unwrap().vocabulary.unwrap();
        assert_eq!((vocabulary.oov_rate(), vocabulary.oov_recall()), (0.0, None));
        assert_eq!(score("a b", "a b", None).unwrap().vocabulary, None);
    }

    #[test]
    fn line_ends_marks_and_blanks_do_not_matter() {
        let plain = score("ab c\nd\n", "a b c\nd\n", None).unwrap();
        for found in ["\u{feff}a b c\r\nd\r\n\r\n", " a  b\tc  \nd", "a\u{3000}b c\nd\n\n\n"] {
            assert_eq!(score("ab c\nd\n", found, None).unwrap(), plain, "{found:?}");
        }
    }

    #[test]
    fn errors_name_both_lines() {
        for (gold, found, line, what, help) in [
            ("ab\ncd", "ab\nce", 2, "not the text of gold:2: they differ from character 2 on", "full-width"),
            ("ab\ncd", "ab\nc d e", 2, "not the text of gold:2: they differ from character 3 on", "blanks"),
            ("ab\ncd", "ab", 2, "the text has 1 line, gold has 2", "empty ones too"),
            ("ab", "ab\ncd", 2, "the text has 2 lines, gold has 1", "segment"),
            ("\n", " ", 1, "nothing to score", "words between blanks"),
        ] {
            let error = score(gold, found, None).unwrap_err();
            assert_eq!(error.line, line, "{found:?}");
            assert!(error.what.contains(what) && error.help.contains(help), "{error}");
        }
        let bytes: (&str, &[u8]) = ("found", b"ab\n\xff");
        let error = Segmentation::score(("gold", b"ab\nc"), bytes, None::<&HashSet<String>>).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (2, "not UTF-8 at byte 1 of the line"));
    }

    /// A text of letters cut at the marked places.
    fn cut(cuts: &[bool]) -> String {
        let pieces = cuts.iter().zip("abcabcabcabc".chars());
        pieces.map(|(&cut, letter)| if cut { format!("{letter} ") } else { letter.into() }).collect()
    }

    proptest! {
        #[test]
        fn words_are_sets_of_spans(cuts in prop::collection::vec(any::<(bool, bool)>(), 1..12)) {
            let (a, b): (Vec<bool>, Vec<bool>) = cuts.into_iter().unzip();
            let (gold, found) = (cut(&a), cut(&b));
            let scores = score(&gold, &found, Some(&["a", "ab"])).unwrap();
            let spans = |text: &str| words(text).map(|(s, w)| (s, s + w.len())).collect::<HashSet<_>>();
            let (x, y) = (spans(&gold), spans(&found));
            let expected = (x.len() as u64, y.len() as u64, x.intersection(&y).count() as u64);
            let all = scores.words();
            prop_assert_eq!((all.gold, all.found, all.correct), expected);
            let seen = scores.vocabulary.unwrap();
            prop_assert_eq!((seen.oov + seen.iv, seen.oov_correct + seen.iv_correct), (all.gold, all.correct));
            // The sides swap precision and recall.
            let other = score(&found, &gold, None).unwrap().figures();
            prop_assert_eq!((other.1, other.0), (scores.figures().0, scores.figures().1));
        }
    }
}
