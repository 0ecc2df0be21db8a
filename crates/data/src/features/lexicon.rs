//! Word lists that attributes look into: word clusters and lists of names; [`WordList`], [`Thesaurus`] and
//! [`Varieties`] have files of their own.
//!
//! Both are tables of [`Strings`], so they stand in a model file as they are searched. Clusters
//! (Brown et al. 1992; Koo, Carreras & Collins 2008): a word has a path in a binary tree, and a prefix
//! of the path is a coarser cluster. Lists of names: every entry, and every stretch of words that an
//! entry begins with, has a mask of the lists it is in, so a search knows when to stop.

use super::function::{full_width, lower};
use super::table::hash_string;
use super::{Strings, StringsView, Thesaurus, ThesaurusView, UNKNOWN, Varieties, VarietiesView};
use super::{WordList, WordListView};
use crate::error::{Error, Result};
use crate::text;
use xxhash_rust::xxh3::Xxh3;

/// No entry of a list is longer than this many words.
const LONGEST: usize = 8;
/// Nor than this many characters, if those are its words.
const MOST_CHARACTERS: usize = 20;
/// The most lists: bits of a mask.
pub const LISTS: usize = 32;

/// What attributes may look into.
#[derive(Clone, Debug, Default)]
pub struct Lexica {
    /// Word clusters.
    pub clusters: Clusters,
    /// Lists of names.
    pub names: Names,
    /// A dictionary for text without blanks.
    pub words: WordList,
    /// Words and their categories.
    pub thesaurus: Thesaurus,
    /// What text without word boundaries tells about words.
    pub varieties: Varieties,
}

/// The same, borrowed, as it lies in a model file.
#[derive(Clone, Copy, Debug, Default)]
pub struct LexicaView<'a> {
    /// Word clusters.
    pub clusters: ClustersView<'a>,
    /// Lists of names, upper and lower case as they are.
    pub names: NamesView<'a>,
    /// Lists of names in lower case.
    pub lower: NamesView<'a>,
    /// A dictionary for text without blanks.
    pub words: WordListView<'a>,
    /// Words and their categories.
    pub thesaurus: ThesaurusView<'a>,
    /// What text without word boundaries tells about words.
    pub varieties: VarietiesView<'a>,
}

impl Lexica {
    /// A number for what is in it; none if that is nothing.
    #[must_use]
    pub fn digest(&self) -> Option<u64> {
        let counted = !self.thesaurus.is_empty() || !self.varieties.is_empty();
        if self.clusters.is_empty() && self.names.lists.is_empty() && self.words.is_empty() && !counted {
            return None;
        }
        let mut digest = Xxh3::new();
        for strings in [&self.clusters.words, &self.clusters.paths, &self.names.natural.strings] {
            digest.update(strings.view().text);
            strings.view().starts.iter().for_each(|n| digest.update(&n.to_le_bytes()));
        }
        let numbers = self.clusters.path_of.iter().chain(&self.names.natural.masks);
        numbers.for_each(|n| digest.update(&n.to_le_bytes()));
        self.names.lists.iter().for_each(|list| digest.update(list.as_bytes()));
        if !self.words.is_empty() {
            self.words.update(&mut digest);
        }
        if counted {
            self.thesaurus.update(&mut digest);
            self.varieties.update(&mut digest);
        }
        Some(digest.digest())
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.clusters.bytes()
            + self.names.bytes()
            + self.words.bytes()
            + self.thesaurus.bytes()
            + self.varieties.bytes()
    }

    /// The arrays.
    #[must_use]
    pub fn view(&self) -> LexicaView<'_> {
        let clusters = ClustersView {
            words: self.clusters.words.view(),
            paths: self.clusters.paths.view(),
            path_of: &self.clusters.path_of,
        };
        let (names, lower) = (self.names.natural.view(), self.names.lower.view());
        let (words, thesaurus, varieties) =
            (self.words.view(0), self.thesaurus.view(), self.varieties.view());
        LexicaView { clusters, names, lower, words, thesaurus, varieties }
    }

    /// The same for a sentence of the training text, counted from 1, which does not look into its own words.
    pub(super) fn view_from(&self, sentence: u32) -> LexicaView<'_> {
        let mut view = self.view();
        view.words.sentence = sentence;
        view
    }
}

/// Words and their paths.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    words: Strings,
    paths: Strings,
    path_of: Vec<u32>, // [words]
    read: bool,
}

impl Clusters {
    /// Reads rows `path<TAB>word` with anything behind another tab.
    ///
    /// # Errors
    /// A row without a tab, a path that is not made of 0 and 1, a word with two paths.
    pub fn read(file: &str, text: &str) -> Result<Clusters> {
        let mut clusters = Clusters { read: true, ..Clusters::default() };
        let mut rows = text::lines(text).filter(|(_, row)| !row.is_empty());
        let mut some = Vec::with_capacity(AT_ONCE);
        loop {
            some.clear();
            let words = rows.by_ref().take(AT_ONCE).map(|(line, row)| {
                let word = row.split('\t').nth(1).unwrap_or_default().as_bytes();
                let code = hash_string(word);
                clusters.words.view().fetch_slot(code);
                (line, row, code)
            });
            some.extend(words);
            if some.is_empty() {
                return Ok(clusters);
            }
            for &(line, row, code) in &some {
                clusters.add(file, line, row, code)?;
            }
        }
    }

    /// Takes in a row whose word has this hash.
    fn add(&mut self, file: &str, line: u64, row: &str, code: u64) -> Result<()> {
        let bad = |what: String| Error::at(file, line, what).help("a row is wanted: path<TAB>word");
        let (path, rest) = row.split_once('\t').ok_or_else(|| bad("there is no tab".to_owned()))?;
        if path.is_empty() || !path.bytes().all(|b| b == b'0' || b == b'1') {
            return Err(bad(format!("'{path}' is no path of 0 and 1")));
        }
        let word = rest.split('\t').next().unwrap_or_default();
        let full = || bad("the file is too large".to_owned());
        let id = self.words.intern_hashed(word.as_bytes(), code).ok_or_else(full)? as usize;
        let path = match self.last_path(path) {
            Some(last) => last, // rows of one cluster stand together
            None => self.paths.intern(path.as_bytes()).ok_or_else(full)?,
        };
        match self.path_of.get(id) {
            Some(&other) if other != path => Err(bad(format!("'{word}' has two paths"))),
            Some(_) => Ok(()),
            None => {
                self.path_of.push(path);
                Ok(())
            }
        }
    }

    /// The number of the path that the last word got, if it is this one.
    fn last_path(&self, path: &str) -> Option<u32> {
        let last = *self.path_of.last()?;
        (self.paths.view().get(last)? == path.as_bytes()).then_some(last)
    }

    /// No words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.path_of.is_empty()
    }

    /// How many words there are; none if no file was read.
    #[must_use]
    pub fn entries(&self) -> Option<usize> {
        self.read.then_some(self.path_of.len())
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.paths.bytes() + 4 * self.path_of.capacity()
    }
}

/// Borrowed arrays of [`Clusters`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ClustersView<'a> {
    /// The words.
    pub words: StringsView<'a>,
    /// The paths.
    pub paths: StringsView<'a>,
    /// Number of each word's path.
    pub path_of: &'a [u32],
}

impl ClustersView<'_> {
    /// Writes the path of a word, or else of the word in lower case, cut to `most` steps; false if
    /// neither has one.
    pub(super) fn cut(&self, word: &str, most: usize, out: &mut String) -> bool {
        out.clear();
        let mut id = self.words.find(word.as_bytes());
        if id == UNKNOWN {
            lower(word, out);
            id = self.words.find(out.as_bytes());
            out.clear();
        }
        let path = self.path_of.get(id as usize).and_then(|&path| self.paths.get(path));
        let Some(path) = path.and_then(|path| std::str::from_utf8(&path[..path.len().min(most)]).ok()) else {
            return false;
        };
        out.push_str(path);
        true
    }
}

/// Lists of names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    lists: Vec<String>,
    entries: Vec<usize>, // [lists]
    natural: Entries,
    lower: Entries,
    of_characters: bool,
}

impl Names {
    /// Lists for text whose tokens are characters: every character of an entry is a word, in full width.
    #[must_use]
    pub fn of_characters() -> Names {
        Names { of_characters: true, ..Names::default() }
    }

    /// Whether they are for text whose tokens are characters.
    #[must_use]
    pub fn are_of_characters(&self) -> bool {
        self.of_characters
    }

    /// Reads a list: one entry a row, its words separated by blanks. `list` is what attributes call it.
    ///
    /// # Errors
    /// More than [`LISTS`] lists; a list that is there already; too much text.
    pub fn read(&mut self, list: &str, file: &str, text: &str) -> Result<()> {
        if self.lists.len() == LISTS {
            return Err(Error::new(file, format!("there can be {LISTS} lists of names"))
                .help("put some of them into one file"));
        }
        if self.lists.iter().any(|l| l == list) {
            return Err(Error::new(file, format!("there is a list called {list} already"))
                .help("lists are called after their files: rename one"));
        }
        let mask = 1 << self.lists.len();
        self.lists.push(list.to_owned());
        let (mut entries, mut natural, mut lowered) = (0, Batch::default(), Batch::default());
        let mut rows = text::lines(text).peekable();
        let (mut apart, longest) =
            (String::new(), if self.of_characters { MOST_CHARACTERS } else { LONGEST });
        while let Some((line, row)) = rows.next() {
            let row = if self.of_characters { in_characters(row, &mut apart) } else { row };
            if (1..=longest).contains(&row.split_whitespace().take(longest + 1).count()) {
                natural.push(row, |word, text| text.push_str(word), &self.natural);
                lowered.push(row, lower, &self.lower);
                entries += 1;
            }
            let wait = natural.rows < AT_ONCE && rows.peek().is_some();
            if !(wait || self.natural.add(&mut natural, mask) && self.lower.add(&mut lowered, mask)) {
                return Err(Error::at(file, line, "the lists of names have more than 4 GiB of text"));
            }
        }
        self.entries.push(entries);
        Ok(())
    }

    /// How many entries of each list can be found: rows of one to eight words, or of one to twenty characters.
    #[must_use]
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// The lists, in the order of their bits.
    #[must_use]
    pub fn lists(&self) -> &[String] {
        &self.lists
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.natural.bytes() + self.lower.bytes()
    }
}

/// An entry with its characters as words, in full width.
fn in_characters<'a>(row: &str, apart: &'a mut String) -> &'a str {
    apart.clear();
    for c in row.chars().filter(|c| !c.is_whitespace()) {
        apart.push(full_width(c));
        apart.push(' ');
    }
    apart
}

/// Entries of all lists and what they begin with.
#[derive(Clone, Debug, Default)]
struct Entries {
    strings: Strings,
    masks: Vec<u32>, // [strings]
}

impl Entries {
    /// Adds entries to the lists of a mask, and clears the batch; false if the table is full.
    fn add(&mut self, batch: &mut Batch, mask: u32) -> bool {
        let view = self.strings.view();
        let ids: [_; AT_ONCE] = std::array::from_fn(|_| UNKNOWN);
        for some in batch.beginnings.chunks(AT_ONCE) {
            let mut ids = ids;
            for (id, beginning) in ids.iter_mut().zip(some) {
                *id = view.fetch_start(beginning.code).unwrap_or(UNKNOWN);
            }
            ids.iter().for_each(|id| view.fetch_text(*id));
        }
        for beginning in &batch.beginnings {
            let text = &batch.text.as_bytes()[beginning.from..beginning.to];
            let Some(id) = self.strings.intern_hashed(text, beginning.code) else { return false };
            if id as usize == self.masks.len() {
                self.masks.push(0);
            }
            if beginning.whole {
                self.masks[id as usize] |= mask;
            }
        }
        batch.rows = 0;
        batch.text.clear();
        batch.beginnings.clear();
        true
    }

    fn view(&self) -> NamesView<'_> {
        NamesView { strings: self.strings.view(), masks: &self.masks }
    }

    fn bytes(&self) -> usize {
        self.strings.bytes() + 4 * self.masks.capacity()
    }
}

/// Rows that are put together before any is looked up, so that look-ups do not wait for each other's memory.
const AT_ONCE: usize = 64;

/// Entries that are to be added.
#[derive(Default)]
struct Batch {
    rows: usize,
    text: String, // their words, separated by single blanks; entries follow one another
    beginnings: Vec<Beginning>,
}

/// The words that an entry begins with.
struct Beginning {
    from: usize,
    to: usize,
    code: u64,
    whole: bool, // they are the entry
}

impl Batch {
    /// Takes in an entry, whose words `push` appends, and asks for the memory where it will be looked up.
    fn push(&mut self, row: &str, push: impl Fn(&str, &mut String), into: &Entries) {
        let from = self.text.len();
        for word in row.split_whitespace() {
            if self.text.len() > from {
                self.text.push(' ');
            }
            push(word, &mut self.text);
            let code = hash_string(&self.text.as_bytes()[from..]);
            into.strings.view().fetch_slot(code);
            self.beginnings.push(Beginning { from, to: self.text.len(), code, whole: false });
        }
        if let Some(last) = self.beginnings.last_mut() {
            last.whole = true;
        }
        self.rows += 1;
    }
}

/// Borrowed arrays of entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamesView<'a> {
    /// Entries and their beginnings.
    pub strings: StringsView<'a>,
    /// The lists that each is in; none if it only begins an entry.
    pub masks: &'a [u32],
}

/// Where a token stands in an entry: the name of the attribute's value.
pub(super) const PLACES: [&str; 4] = ["B", "I", "E", "S"];
/// Not in an entry.
pub(super) const NOWHERE: u8 = u8::MAX;

impl NamesView<'_> {
    /// Whether a word begins an entry.
    pub(super) fn begins(&self, word: &str) -> bool {
        self.strings.find(word.as_bytes()) != UNKNOWN
    }

    /// For each of `lists` and each token its place among [`PLACES`], or [`NOWHERE`]: `out` is
    /// `[lists][T]`. From each token the longest entry counts; one that ends no further than an
    /// earlier one does not. `begins` tells whether an entry may begin at each token, `push` appends the word of a
    /// token, `buffer` is scratch. Returns a mask of the lists of which some entry was found.
    pub(super) fn mark(
        &self,
        lists: usize,
        begins: &[bool],
        push: impl Fn(usize, &mut String),
        buffer: &mut String,
        out: &mut Vec<u8>,
    ) -> u32 {
        let (tokens, mut found) = (begins.len(), 0);
        out.clear();
        out.resize(lists * tokens, NOWHERE);
        let mut ends = [0; LISTS]; // of the last entry of each list
        for start in (0..tokens).filter(|start| begins[*start]) {
            let (mut longest, mut met) = ([0; LISTS], 0);
            buffer.clear();
            for end in start + 1..=tokens.min(start + MOST_CHARACTERS) {
                if end > start + 1 {
                    buffer.push(' ');
                }
                push(end - 1, buffer);
                let id = self.strings.find(buffer.as_bytes());
                let Some(&mask) = self.masks.get(id as usize) else { break };
                bits(mask).for_each(|list| longest[list] = end);
                met |= mask;
            }
            for list in bits(met).take_while(|list| *list < lists) {
                let end = longest[list];
                if end <= ends[list] {
                    continue;
                }
                for t in start.max(ends[list])..end {
                    out[list * tokens + t] = match (t == start, t + 1 == end) {
                        (true, true) => 3,
                        (true, false) => 0,
                        (false, true) => 2,
                        (false, false) => 1,
                    };
                }
                ends[list] = end;
            }
            found |= met;
        }
        found
    }
}

/// The numbers of the bits that are set, ascending.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::cast::narrow;

    #[test]
    fn a_word_has_its_path_or_that_of_its_lower_case() {
        let lexica = Lexica {
            clusters: Clusters::read("c", "0101\tthe\t5\n0110\tParis\n\n0101\tthe\t5\n").unwrap(),
            ..Lexica::default()
        };
        let (view, mut out) = (lexica.view().clusters, String::new());
        let mut cut = |word: &str, most| view.cut(word, most, &mut out).then(|| out.clone());
        assert_eq!(cut("The", 2).as_deref(), Some("01"));
        assert_eq!(cut("Paris", 20).as_deref(), Some("0110"));
        assert_eq!(cut("paris", 20), None);
        for (text, line, what) in [
            ("01 the\n", 1, "there is no tab"),
            ("0\ta\n2\tb\n", 2, "'2' is no path"),
            ("0\ta\n1\ta\n", 2, "two paths"),
        ] {
            let error = Clusters::read("c", text).unwrap_err();
            assert!(error.line == line && error.what.contains(what), "{error}");
        }
    }

    #[test]
    fn batches_give_the_numbers_of_one_row_after_another() {
        let name = |i: usize| format!("Saint {} of {}", i % 50, i % 70);
        let rows: Vec<String> = (0..3 * AT_ONCE + 5).map(name).collect();
        let (mut names, mut expected) = (Names::default(), Strings::default());
        names.read("l", "f", &rows.join("\n\n")).unwrap();
        assert_eq!(names.entries(), [rows.len()]);
        for row in &rows {
            let ends = row.match_indices(' ').map(|(at, _)| at).chain([row.len()]);
            ends.for_each(|end| assert!(expected.intern(&row.as_bytes()[..end]).is_some()));
        }
        let found = names.natural.view();
        assert_eq!((found.strings.text, found.strings.slots), (expected.view().text, expected.view().slots));
        for id in 0..narrow(found.masks.len()) {
            let is_entry = rows.iter().any(|row| Some(row.as_bytes()) == found.strings.get(id));
            assert_eq!(found.masks[id as usize], u32::from(is_entry));
        }
        let row = |i: usize| format!("{:b}\tw{i}\n", i / 3);
        let clusters = Clusters::read("c", &(0..3 * AT_ONCE + 5).map(row).collect::<String>()).unwrap();
        assert_eq!(clusters.entries(), Some(3 * AT_ONCE + 5));
        assert!(clusters.path_of.iter().enumerate().all(|(i, path)| *path as usize == i / 3));
    }

    #[test]
    fn the_longest_name_from_each_token_counts() {
        let mut names = Names::default();
        names.read("city", "f", "New York\nYork\nNew York City Hall\nCity\n").unwrap();
        names.read("team", "f", "york city fc\n\n").unwrap();
        assert!(names.read("city", "f", "").is_err());
        let lexica = Lexica { names, ..Lexica::default() };
        let words = ["In", "New", "York", "City", "FC", "York"];
        let mark = |view: NamesView<'_>, lower: bool| {
            let lowered = words.map(str::to_lowercase);
            let (mut buffer, mut out) = (String::new(), vec![]);
            let word = |i: usize| if lower { lowered[i].as_str() } else { words[i] };
            let begins: Vec<bool> = (0..words.len()).map(|i| view.begins(word(i))).collect();
            assert!(begins.contains(&false) && begins.contains(&true));
            let found = view.mark(2, &begins, |i, out| out.push_str(word(i)), &mut buffer, &mut out);
            assert_eq!(found, if lower { 0b11 } else { 0b01 });
            let name = |&p: &u8| PLACES.get(usize::from(p)).copied().unwrap_or("-");
            out.iter().map(name).collect::<String>()
        };
        assert_eq!(mark(lexica.view().names, false), "-BES-S------");
        assert_eq!(mark(lexica.view().lower, true), "-BES-S--BIE-");
    }
}
