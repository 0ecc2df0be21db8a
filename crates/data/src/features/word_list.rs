//! A dictionary for text without blanks: which stretches of characters are words.
//!
//! With D the words and x the characters, attributes of position i tell which x[j..i] and x[i..k] are in D
//! (Sun, Wang & Li 2012, "Fast Online Training with Frequency-Adaptive Learning Rates for Chinese Word
//! Segmentation and New Word Detection"). Text is compared in full width, as Chinese text has both.
//!
//! D may be made of the training text itself. A sentence must then not find its own words because they stand
//! in it: training would see a world without unknown words, and might trust D too much. So a word of one
//! sentence alone has that sentence's mark, and is no word to it.
//!
//! Every stretch of characters that a word begins with is in the table too, so a search knows when to stop.

use super::function::full_width;
use super::{Strings, StringsView};
use crate::error::{Error, Result};
use crate::text;
use xxhash_rust::xxh3::Xxh3;

/// No word is longer than this many characters: |x[i..k]| for k up to i + 5.
pub const LONGEST: u8 = 6;

/// The mark of a string that only begins a word.
const BEGINNING: u32 = 0;
/// The mark of a word to all sentences; that of sentence n alone, counted from 1, is this plus n.
const EVERYWHERE: u32 = 1;

/// Words.
#[derive(Clone, Debug, Default)]
pub struct WordList {
    strings: Strings,
    marks: Vec<u32>, // [strings]
    buffer: String,
}

impl WordList {
    /// Reads words, one a line; what stands behind a blank (a frequency, a tag) is not read. Words of more
    /// than [`LONGEST`] characters are left out.
    ///
    /// # Errors
    /// No word at all; too much text.
    pub fn read(&mut self, file: &str, text: &str) -> Result<()> {
        for (line, row) in text::lines(text) {
            let Some(word) = row.split_whitespace().next() else { continue };
            if !self.add(word, 0) {
                return Err(Error::at(file, line, "the dictionary has more than 4 GiB of text"));
            }
        }
        match self.is_empty() {
            false => Ok(()),
            true => Err(Error::new(file, format!("there is no word of up to {LONGEST} characters"))
                .help("a dictionary has a word a line")),
        }
    }

    /// Adds a word of a training sentence, counted from 1, or of no sentence (0); false if the table is full.
    #[must_use]
    pub fn add(&mut self, word: &str, sentence: u32) -> bool {
        if word.chars().nth(LONGEST.into()).is_some() {
            return true;
        }
        self.buffer.clear();
        for c in word.chars().map(full_width) {
            self.buffer.push(c);
            let Some(id) = self.strings.intern(self.buffer.as_bytes()) else { return false };
            if id as usize == self.marks.len() {
                self.marks.push(BEGINNING);
            }
        }
        let id = self.strings.view().find(self.buffer.as_bytes());
        let own = EVERYWHERE.saturating_add(sentence);
        if let Some(mark) = self.marks.get_mut(id as usize) {
            *mark = if *mark == BEGINNING || *mark == own { own } else { EVERYWHERE };
        }
        true
    }

    /// No words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + 4 * self.marks.capacity()
    }

    /// Marks of all strings as they are for text that is not the training text: for the model.
    #[must_use]
    pub fn settled(&self) -> Vec<u32> {
        self.marks.iter().map(|&mark| mark.min(EVERYWHERE)).collect()
    }

    /// The arrays, as they are for a training sentence, counted from 1, or for any other text (0).
    #[must_use]
    pub fn view(&self, sentence: u32) -> WordListView<'_> {
        WordListView { strings: self.strings.view(), marks: &self.marks, sentence }
    }

    pub(super) fn update(&self, digest: &mut Xxh3) {
        let strings = self.strings.view();
        digest.update(strings.text);
        strings.starts.iter().chain(&self.marks).for_each(|n| digest.update(&n.to_le_bytes()));
    }
}

/// Borrowed arrays of a [`WordList`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WordListView<'a> {
    /// Words and their beginnings.
    pub strings: StringsView<'a>,
    /// Whether each is a word: 0 if it only begins one, 1 if it is one, n + 1 if it is one to all but
    /// sentence n of the training text.
    pub marks: &'a [u32],
    /// The sentence of the training text that looks for words, counted from 1; 0 for other text.
    pub sentence: u32,
}

impl WordListView<'_> {
    /// The number of a string in full width, and whether it is a word; none if no word begins with it.
    #[inline]
    pub(super) fn find(&self, string: &str) -> Option<(u32, bool)> {
        let id = self.strings.find(string.as_bytes());
        let mark = *self.marks.get(id as usize)?;
        let own = mark > EVERYWHERE && mark - EVERYWHERE == self.sentence;
        Some((id, mark != BEGINNING && !own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_sentence_are_none_to_it() {
        let mut words = WordList::default();
        words.read("f", "中国 3 ns\n\n六五四三二一零\n").unwrap();
        for (word, sentence) in [("AB", 1), ("ＡＢ", 1), ("中国", 2), ("人民", 2), ("ＡBC", 3), ("人民", 3)]
        {
            assert!(words.add(word, sentence));
        }
        let find = |sentence, word| words.view(sentence).find(word).map(|(_, is_word)| is_word);
        for (word, of) in [("中国", [true; 4]), ("ＡＢ", [true, false, true, true]), ("人民", [true; 4])]
        {
            assert_eq!([0, 1, 2, 3].map(|sentence| find(sentence, word)), of.map(Some), "{word}");
        }
        assert_eq!([find(3, "ＡＢＣ"), find(0, "ＡＢＣ")], [Some(false), Some(true)]);
        assert_eq!(
            [find(0, "中"), find(0, "国"), find(0, "六"), find(0, "AB")],
            [Some(false), None, None, None]
        );
        assert_eq!(words.settled().iter().max(), Some(&EVERYWHERE));
        assert!(WordList::default().read("f", "\n六五四三二一零\n").is_err());
    }
}
