//! Wapiti's regular expressions: a sequence of single characters, each of which may be optional or repeated.
//!
//! ```text
//! .          any character
//! \a \d \l   a letter, a digit, a lower-case letter
//! \p \s \u   a punctuation mark or symbol, a blank, an upper-case letter
//! \w         a letter or a digit; in upper case (\A, \D, ...) each stands for all other characters
//! \x         any other x: the character itself; so does every character that is none of these
//! x?  x*     perhaps x, if that goes; x any number of times, as few as go
//! ^  $       first: at the start of the word; last: at its end
//! ```
//!
//! The first place of the word where it matches counts. Written by hand since the dialect is none that a
//! library reads: `*` takes as little as it can, `?` as much. Wapiti goes back and forth; here a row of bits a
//! character says which rests of the expression match from there on, so that no expression is slow on any
//! word. Differences: characters count, where Wapiti takes bytes, and letters are those of all alphabets. Where
//! a `?` takes a character and has to give it back, Wapiti's match is too long, here it is not.

use serde::{Deserialize, Serialize};

use super::function::full_width;

/// One bit for each item and one for the end.
const MOST: usize = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    Any,
    Class(char), // the lower-case letter behind the backslash
    Other(char), // all characters that are not in the class
    Only(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Times {
    Once,
    Perhaps,
    Any,
}

/// A regular expression, ready to match.
///
/// ```
/// use seqoia_data::features::Pattern;
///
/// let find = |pattern: &str, word: &str| Pattern::parse(pattern).unwrap().find(word);
/// assert_eq!(find(r"\d\d*", "B-52"), Some(2..3)); // as few as go
/// assert_eq!(find(r"\d\d*$", "B-52"), Some(2..4));
/// assert_eq!(find("^.?.?", "word"), Some(0..2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    items: Vec<(Set, Times)>,
    start: bool, // at the start of the word only
    end: bool,
}

impl Pattern {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let (start, rest) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let mut pattern = Pattern { items: vec![], start, end: false };
        let mut letters = rest.chars().peekable();
        while let Some(letter) = letters.next() {
            let set = match letter {
                '$' if letters.peek().is_none() => {
                    pattern.end = true;
                    break;
                }
                '*' | '?' => {
                    return Err(format!(
                        "'{letter}' in \"{text}\" stands behind nothing that it could repeat"
                    ));
                }
                '.' => Set::Any,
                '\\' => match letters.next() {
                    Some(class @ ('a' | 'd' | 'l' | 'p' | 's' | 'u' | 'w')) => Set::Class(class),
                    Some(class @ ('A' | 'D' | 'L' | 'P' | 'S' | 'U' | 'W')) => {
                        Set::Other(class.to_ascii_lowercase())
                    }
                    Some(escaped) => Set::Only(escaped),
                    None => return Err(format!("\"{text}\" ends with a backslash")),
                },
                _ => Set::Only(letter),
            };
            let times = match letters.peek() {
                Some('*') => Times::Any,
                Some('?') => Times::Perhaps,
                _ => Times::Once,
            };
            if times != Times::Once {
                letters.next();
            }
            pattern.items.push((set, times));
        }
        match pattern.items.len() {
            0..=MOST => Ok(pattern),
            n => Err(format!("\"{text}\" has {n} characters to match; {MOST} are the most")),
        }
    }

    /// Where it matches first, in bytes.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<std::ops::Range<usize>> {
        let letters: Vec<char> = word.chars().collect();
        let rests = self.rests(&letters);
        let starts = if self.start { 1 } else { rests.len() };
        let from = rests[..starts].iter().position(|rest| rest & 1 != 0)?;
        let (mut at, mut i) = (from, 0);
        while let Some((set, times)) = self.items.get(i) {
            let takes = || letters.get(at).is_some_and(|letter| set.has(*letter));
            let goes = |at: usize| rests[at] >> (i + 1) & 1 != 0;
            match times {
                Times::Once => (at, i) = (at + 1, i + 1),
                Times::Perhaps => (at, i) = (at + usize::from(takes() && goes(at + 1)), i + 1),
                Times::Any if goes(at) => i += 1,
                Times::Any => at += 1,
            }
        }
        let bytes = |n: usize| letters[..n].iter().map(|letter| letter.len_utf8()).sum();
        Some(bytes(from)..bytes(at))
    }

    /// For each place of the word, and its end: bit i is set if the items from i on match there.
    fn rests(&self, letters: &[char]) -> Vec<u64> {
        let n = self.items.len();
        let mut rests = vec![0u64; letters.len() + 1];
        for at in (0..=letters.len()).rev() {
            let last = at == letters.len();
            let mut here = u64::from(last || !self.end) << n;
            for (i, (set, times)) in self.items.iter().enumerate().rev() {
                let behind = if last || !set.has(letters[at]) { 0 } else { rests[at + 1] };
                let goes = match times {
                    Times::Once => behind >> (i + 1),
                    Times::Perhaps => behind >> (i + 1) | here >> (i + 1),
                    Times::Any => behind >> i | here >> (i + 1),
                };
                here |= (goes & 1) << i;
            }
            rests[at] = here;
        }
        rests
    }

    /// The same expression for text in full width.
    #[must_use]
    pub(super) fn widened(&self) -> Pattern {
        let mut wide = self.clone();
        for (set, _) in &mut wide.items {
            if let Set::Only(letter) = set {
                *letter = full_width(*letter);
            }
        }
        wide
    }
}

impl Set {
    fn has(self, letter: char) -> bool {
        match self {
            Set::Any => true,
            Set::Class(class) => is(class, letter),
            Set::Other(class) => !is(class, letter),
            Set::Only(own) => own == letter,
        }
    }
}

/// For ASCII the classes of C.
fn is(class: char, letter: char) -> bool {
    match class {
        'a' => letter.is_alphabetic(),
        'd' => letter.is_numeric(),
        'l' => letter.is_lowercase(),
        'p' => !letter.is_alphanumeric() && !letter.is_whitespace() && !letter.is_control(),
        's' => letter.is_whitespace(),
        'u' => letter.is_uppercase(),
        _ => letter.is_alphanumeric(),
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Pattern::parse(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.to_string()
    }
}

impl std::fmt::Display for Pattern {
    /// In a form that reads as the same expression; no quotation mark stands unescaped.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.start {
            f.write_str("^")?;
        }
        for (i, (set, times)) in self.items.iter().enumerate() {
            match set {
                Set::Any => f.write_str(".")?,
                Set::Class(class) => write!(f, "\\{class}")?,
                Set::Other(class) => write!(f, "\\{}", class.to_ascii_uppercase())?,
                Set::Only(c @ ('.' | '*' | '?' | '$' | '\\' | '"')) => write!(f, "\\{c}")?,
                Set::Only('^') if i == 0 => f.write_str("\\^")?,
                Set::Only(c) => write!(f, "{c}")?,
            }
            f.write_str(match times {
                Times::Once => "",
                Times::Perhaps => "?",
                Times::Any => "*",
            })?;
        }
        f.write_str(if self.end { "$" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(pattern: &str, word: &str) -> Option<String> {
        Pattern::parse(pattern).unwrap().find(word).map(|range| word[range].to_owned())
    }

    #[test]
    fn every_construct() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(find("b", "abc"), some("b"));
        assert_eq!(find("b.", "abc"), some("bc"));
        assert_eq!(find("c.", "abc"), None);
        assert_eq!(find("", "abc"), some(""));
        assert_eq!(find("^b", "abc"), None);
        assert_eq!(find("^ab", "abc"), some("ab"));
        assert_eq!(find("b$", "abc"), None);
        assert_eq!(find("bc$", "abc"), some("bc"));
        assert_eq!(find("^$", ""), some(""));
        assert_eq!(find("^$", "a"), None);
        assert_eq!(find("a^", "a^"), some("a^")); // in the middle it is a character
        assert_eq!(find("$a", "$a"), some("$a"));
        assert_eq!(find("$*a", "$$a"), some("$$a"));
        assert_eq!(find("^^", "^"), some("^"));
        assert_eq!(find(r"\\", r"a\b"), some(r"\"));
        assert_eq!(find(r"\.\*\?", "a.*?"), some(".*?"));
        assert_eq!(find(r#"\""#, "a\""), some("\""));
        assert_eq!(find("ab?", "abc"), some("ab"));
        assert_eq!(find("ab?", "ac"), some("a"));
        assert_eq!(find("a?ab", "abc"), some("ab")); // the `?` gives its character back
        assert_eq!(find("ab*", "abbb"), some("a")); // as few as go
        assert_eq!(find("ab*$", "abbb"), some("abbb"));
        assert_eq!(find("ab*c", "xabbbc"), some("abbbc"));
        assert_eq!(find(".?.?$", "abc"), some("bc"));
        assert_eq!(find(".?.?$", "c"), some("c"));
        assert_eq!(find("^.?.?.?", "é"), some("é"));
    }

    #[test]
    fn classes_are_those_of_c_and_go_beyond_ascii() {
        for letter in (0u8..128).map(char::from) {
            let test = |class: &str| Pattern::parse(class).unwrap().find(&letter.to_string()).is_some();
            let classes = [
                ("a", letter.is_ascii_alphabetic()),
                ("d", letter.is_ascii_digit()),
                ("l", letter.is_ascii_lowercase()),
                ("p", letter.is_ascii_punctuation()),
                ("s", letter.is_ascii_whitespace() || letter == '\u{b}'),
                ("u", letter.is_ascii_uppercase()),
                ("w", letter.is_ascii_alphanumeric()),
            ];
            for (class, is) in classes {
                assert_eq!(test(&format!("\\{class}")), is, "{class} {letter:?}");
                assert_eq!(test(&format!("\\{}", class.to_uppercase())), !is, "{class} {letter:?}");
            }
        }
        assert_eq!(find(r"\u\l", "Éa"), Some("Éa".to_owned()));
        assert_eq!(find(r"\p", "«"), Some("«".to_owned()));
        assert_eq!(find(r"\p", "語"), None);
    }

    #[test]
    fn what_is_no_expression_is_said() {
        let error = |text: &str| Pattern::parse(text).unwrap_err();
        assert_eq!(error("*a"), "'*' in \"*a\" stands behind nothing that it could repeat");
        assert!(error("a**").contains("behind nothing"));
        assert!(error("^?").contains("behind nothing"));
        assert!(error("a\\").contains("backslash"));
        assert!(Pattern::parse(&".?".repeat(63)).is_ok());
        assert!(error(&".?".repeat(64)).contains("63 are the most"));
    }

    /// The rules as they are told, by going back and forth.
    fn slow(items: &[(Set, Times)], end: bool, letters: &[char]) -> Option<usize> {
        let Some(((set, times), rest)) = items.split_first() else {
            return (!end || letters.is_empty()).then_some(0);
        };
        let taken = letters.split_first().filter(|(first, _)| set.has(**first)).map(|(_, others)| others);
        let one_more = |n: usize| n + 1;
        match times {
            Times::Once => slow(rest, end, taken?).map(one_more),
            Times::Perhaps => taken
                .and_then(|others| slow(rest, end, others))
                .map(one_more)
                .or_else(|| slow(rest, end, letters)),
            Times::Any => slow(rest, end, letters)
                .or_else(|| taken.and_then(|others| slow(items, end, others)).map(one_more)),
        }
    }

    proptest! {
        #[test]
        fn bits_find_what_going_back_and_forth_finds(
            text in r"\^?([ab.^$]|\\[adlpsuwADLPSUW.])?([*?]?([ab.]|\\[dwDW])){0,5}[*?]?\$?",
            word in "[abA1.^$é]{0,7}",
        ) {
            let Ok(pattern) = Pattern::parse(&text) else { return Ok(()) };
            let letters: Vec<char> = word.chars().collect();
            let starts = if pattern.start { 0..=0 } else { 0..=letters.len() };
            let wanted = starts.into_iter().find_map(|at| {
                slow(&pattern.items, pattern.end, &letters[at..]).map(|n| letters[at..at + n].iter().collect())
            });
            prop_assert_eq!(find(&text, &word), wanted);
            let again = Pattern::parse(&pattern.to_string());
            prop_assert_eq!(again, Ok(pattern));
        }
    }
}
