//! A lexicon of meanings: words with the codes of the categories that they belong to, such as Tongyici Cilin, in which
//! `Af10B05#` are governors, mayors and heads of counties. Every beginning of a code is a coarser category (He & Wang
//! 2012, section 3.2).
//!
//! Every stretch of characters that a word begins with is in the table, too, so a search knows when to stop. Text and
//! words are compared in full width.

use super::function::full_width;
use super::{Strings, StringsView};
use crate::error::{Error, Result};
use crate::text;
use seqoia_core::cast::narrow;
use xxhash_rust::xxh3::Xxh3;

/// No word is longer than this many characters.
pub(super) const LONGEST: usize = 16;
/// How many characters of a code make a category, from large classes to the finest groups.
const LEVELS: [usize; 5] = [1, 2, 4, 5, 7];

/// Words and the codes of their categories.
#[derive(Clone, Debug, Default)]
pub struct Thesaurus {
    strings: Strings,
    ends: Vec<u32>, // [strings] where the codes of each end in the list; those of beginnings are none
    list: Vec<u32>, // codes of all words
    codes: Strings,
    words: usize,
}

impl Thesaurus {
    /// Reads lines `CODE word word ...`. Words of more than 16 characters are left out; a word may stand in several
    /// lines.
    ///
    /// # Errors
    /// A line that is not like this, a header, no word at all, too much text.
    pub fn read(file: &str, text: &str) -> Result<Thesaurus> {
        let (mut strings, mut codes, mut pairs) = (Strings::default(), Strings::default(), vec![]);
        let mut rows = text::lines(text).filter(|(_, row)| !row.trim().is_empty()).peekable();
        let mut first = true;
        let full = |line| Error::at(file, line, "the lexicon has more than 4 GiB of text");
        while let Some((line, row)) = rows.next() {
            let mut fields = row.split_whitespace();
            let code = fields.next().unwrap_or_default();
            let below = rows.peek().and_then(|(_, row)| row.split_whitespace().next());
            if std::mem::take(&mut first) && !has_digit(code) && below.is_some_and(has_digit) {
                return Err(Error::at(
                    file,
                    line,
                    format!("'{code}' does not look like a code: is this a header?"),
                )
                .help("take the line out; every line is a code and its words, with blanks between them"));
            }
            if !code.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(Error::at(file, line, format!("a line must start with a code, and '{code}' is not ASCII"))
                    .help("every line is a code of ASCII letters and digits and its words, such as Af10B05# 省长 市长"));
            }
            let mut fields = fields.peekable();
            if fields.peek().is_none() {
                return Err(Error::at(file, line, format!("no words follow the code '{code}'"))
                    .help("put the words behind the code, with blanks between them, or take the line out"));
            }
            let code = codes.intern(code.as_bytes()).ok_or_else(|| full(line))?;
            for word in fields.filter(|word| word.chars().nth(LONGEST).is_none()) {
                let word = add(&mut strings, word).ok_or_else(|| full(line))?;
                pairs.push((word, code));
            }
        }
        if pairs.is_empty() {
            return Err(Error::new(file, format!("it lists no words of up to {LONGEST} characters"))
                .help("every line of a lexicon is a code and its words, such as Af10B05# 省长 市长"));
        }
        pairs.sort_by_key(|(word, _)| *word); // a word's codes stay in the order of the file
        Ok(Thesaurus::of(strings, &codes, &pairs))
    }

    /// Codes get numbers in the order of the words.
    fn of(strings: Strings, known: &Strings, pairs: &[(u32, u32)]) -> Thesaurus {
        let (mut codes, mut list, mut ends, mut words) = (Strings::default(), vec![], vec![], 0);
        let mut pairs = pairs.iter().peekable();
        for word in 0..narrow(strings.view().len()) {
            let from = list.len();
            while let Some((_, code)) = pairs.next_if(|(of, _)| *of == word) {
                // As many as there were, so they fit again.
                let code = codes.intern(known.view().get(*code).unwrap_or_default()).unwrap_or_default();
                if !list[from..].contains(&code) {
                    list.push(code);
                }
            }
            words += usize::from(list.len() > from);
            ends.push(narrow(list.len()));
        }
        Thesaurus { strings, ends, list, codes, words }
    }

    /// No words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many words there are.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + self.codes.bytes() + 4 * (self.ends.capacity() + self.list.capacity())
    }

    /// The arrays.
    #[must_use]
    pub fn view(&self) -> ThesaurusView<'_> {
        let (strings, codes) = (self.strings.view(), self.codes.view());
        ThesaurusView { strings, ends: &self.ends, list: &self.list, codes }
    }

    pub(super) fn update(&self, digest: &mut Xxh3) {
        for strings in [self.strings.view(), self.codes.view()] {
            digest.update(strings.text);
            strings.starts.iter().for_each(|n| digest.update(&n.to_le_bytes()));
        }
        self.ends.iter().chain(&self.list).for_each(|n| digest.update(&n.to_le_bytes()));
    }
}

fn has_digit(code: &str) -> bool {
    code.bytes().any(|b| b.is_ascii_digit())
}

/// Adds a word and what it begins with; none if the table is full.
fn add(strings: &mut Strings, word: &str) -> Option<u32> {
    let (mut text, mut last) = (String::new(), None);
    for c in word.chars().map(full_width) {
        text.push(c);
        last = Some(strings.intern(text.as_bytes())?);
    }
    last
}

/// Borrowed arrays of a [`Thesaurus`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ThesaurusView<'a> {
    /// Words and their beginnings.
    pub strings: StringsView<'a>,
    /// Where the codes of each end in the list.
    pub ends: &'a [u32],
    /// Numbers of codes.
    pub list: &'a [u32],
    /// The codes.
    pub codes: StringsView<'a>,
}

impl<'a> ThesaurusView<'a> {
    /// The number of a string in full width, and whether it is a word; none if no word begins with it.
    #[inline]
    pub(super) fn find(&self, string: &str) -> Option<(u32, bool)> {
        let id = self.strings.find(string.as_bytes());
        self.ends.get(id as usize)?;
        Some((id, !self.of(id).is_empty()))
    }

    /// The codes of a word.
    fn of(&self, id: u32) -> &'a [u32] {
        let end = |at: u32| self.ends.get(at as usize).map_or(0, |end| *end as usize);
        let start = id.checked_sub(1).map_or(0, end);
        self.list.get(start..end(id)).unwrap_or_default()
    }

    /// Calls `see` with the categories of a word, of each code from the coarsest to the finest; one may come twice.
    pub(super) fn categories(&self, id: u32, mut see: impl FnMut(&'a str)) {
        let texts = self.of(id).iter().filter_map(|&code| self.codes.get(code));
        for code in texts.filter_map(|text| std::str::from_utf8(text).ok()) {
            LEVELS.iter().filter_map(|level| code.get(..*level)).for_each(&mut see);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_categories_of_all_its_codes() {
        let text = "\u{feff}Af10B05# 省长 市长\n\nHg05A01= 教授 教授\nAe13A10# 教授 ABC\n";
        let lexicon = Thesaurus::read("f", text).unwrap();
        assert_eq!(lexicon.words(), 4);
        let view = lexicon.view();
        let of = |word: &str| {
            let mut found = vec![];
            view.categories(view.find(word).unwrap().0, |category| found.push(category));
            found
        };
        assert_eq!(of("市长"), ["A", "Af", "Af10", "Af10B", "Af10B05"]);
        assert_eq!(of("教授").join(" "), "H Hg Hg05 Hg05A Hg05A01 A Ae Ae13 Ae13A Ae13A10");
        assert_eq!((view.find("省").map(|s| s.1), view.find("长")), (Some(false), None));
        assert_eq!(view.find("ＡＢＣ").map(|s| s.1), Some(true));
    }

    #[test]
    fn what_is_no_lexicon_is_told_with_its_line() {
        for (text, line, what) in [
            ("", 0, "it lists no words"),
            ("Af10B05# 市长\nAf10B06#\n", 2, "no words follow the code 'Af10B06#'"),
            ("Af10B05#,市长\n", 1, "is not ASCII"),
            ("code words\nAf10B05# 市长\n", 1, "is this a header?"),
            ("市长 省长\n", 1, "'市长' is not ASCII"),
        ] {
            let error = Thesaurus::read("f", text).unwrap_err();
            assert!(error.line == line && error.what.contains(what) && !error.help.is_empty(), "{error}");
        }
    }
}
