//! Foreign text before a person's eyes: tokens, labels and names of files may hold characters that colour, clear or
//! reorder what a terminal shows, ring its bell, or never end.
//!
//! What is read by programs (predicted text, JSON, models as text) stays as it is.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters of a word in running text; paths should still fit.
const WORD: usize = 500;
/// Characters of a cell of a table.
const CELL: usize = 200;

/// Running text, its lines as they are: characters that are not seen as themselves are written as `\u{1b}`, and words
/// beyond any use are cut.
///
/// ```
/// assert_eq!(seqoia_report::visible("no file \u{1b}[31mred\n"), "no file \\u{1b}[31mred\n");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let kept = |c: char| c == '\n' || c == '\t';
    let is_long = |word: &str| word.len() > WORD && word.chars().nth(WORD).is_some();
    if !text.chars().any(|c| hidden(c) && !kept(c)) && !text.split(char::is_whitespace).any(is_long) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end_matches(char::is_whitespace);
        match is_long(word) {
            true => {
                put(&mut out, word.chars().take(WORD), kept);
                out.push_str("...");
                // What the sentence adds to the word.
                let rest = word.trim_end_matches(['\'', '"', ':', ';', ',', '.', ')']);
                out.push_str(&word[rest.len()..][..(word.len() - rest.len()).min(3)]);
            }
            false => put(&mut out, word.chars(), kept),
        }
        put(&mut out, part[word.len()..].chars(), kept);
    }
    Cow::Owned(out)
}

/// A name in a cell of a table: the same without line ends, and shorter.
pub(crate) fn cell(text: String) -> String {
    let long = text.len() > CELL && text.chars().nth(CELL).is_some();
    if !long && !text.chars().any(hidden) {
        return text;
    }
    let mut out = String::new();
    put(&mut out, text.chars().take(CELL), |_| false);
    out.push_str(if long { "..." } else { "" });
    out
}

fn put(out: &mut String, characters: impl Iterator<Item = char>, kept: impl Fn(char) -> bool) {
    for c in characters {
        match hidden(c) && !kept(c) {
            // Writing to a string cannot fail.
            true => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
            false => out.push(c),
        }
    }
}

/// Whether a character is not seen as itself: controls, line ends of any kind, directions of writing, blanks without
/// width, tags. Joiners stay: words of many languages have them.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_seen_instead() {
        let bad = "a\u{1b}[2Jb\u{7}c\u{202e}d\0e\rf\u{9b}g\u{2066}h\u{7f}";
        let good = "a\\u{1b}[2Jb\\u{7}c\\u{202e}d\\u{0}e\\u{d}f\\u{9b}g\\u{2066}h\\u{7f}";
        assert_eq!(visible(bad), good);
        assert_eq!(cell(bad.to_owned()), good);
        assert_eq!(visible("a\n\tb\n"), "a\n\tb\n");
        assert_eq!(cell("a\n\tb".to_owned()), "a\\u{a}\\u{9}b");
    }

    #[test]
    fn words_of_people_stay_as_they_are() {
        for text in ["", "the  cat\n\n  sat", "می‌خواهم", "👩‍👩‍👧", "naïve cafe\u{301}", "中文 שלום"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
            assert_eq!(cell(text.replace('\n', " ")), text.replace('\n', " "));
        }
    }

    #[test]
    fn names_beyond_use_are_cut() {
        let long = "é".repeat(100_000);
        assert_eq!(visible(&format!("no '{long}': a b")), format!("no '{}...': a b", "é".repeat(WORD - 1)));
        assert_eq!(cell(long), format!("{}...", "é".repeat(CELL)));
        let just = "é".repeat(WORD);
        assert_eq!(visible(&just), just);
    }
}
