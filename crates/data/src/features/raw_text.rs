//! What text without word boundaries tells about words: a string that many different characters stand before and behind
//! is more likely a word, and two characters that meet more often than by chance belong together (Sun & Xu 2011,
//! "Enhancing Chinese Word Segmentation Using Unlabeled Data").
//!
//! - *Accessor variety* of a string of 2 to 4 characters: how many different characters stand before it, and how many
//!   behind it. The start and the end of a line count as a different character each time. Known as floor(log2).
//! - *Mutual information* of two neighbouring characters: log2(p(ab) / (p(a) p(b))), the first from pairs within a line,
//!   the others from characters; floored. It is computed in whole numbers, so it is the same on every machine.
//!
//! Strings seen once are left out. Text is taken in full width, without its blanks.
//!
//! Counting sorts all places of the text by the five characters from there on: the places of a string then stand
//! together, sorted by what is behind them. The text backwards tells what is before.

use super::function::full_width;
use super::{Strings, StringsView, UNKNOWN};
use crate::error::{Error, Result};
use crate::text;
use seqoia_core::cast::narrow;
use xxhash_rust::xxh3::Xxh3;

/// Strings are counted up to this length.
pub const LONGEST: usize = 4;
/// Bits of a character.
const BITS: u32 = 21;
/// Bits of a variety in a number; mutual information has those above both.
const CLASS: u32 = 6;
/// What is added to mutual information, so that it is no less than 0; more of it counts as the most.
const MIDDLE: u32 = 64;

/// Text that is to be counted.
#[derive(Clone, Debug)]
pub struct RawText {
    places: Vec<u32>, // characters; 0 before, between and behind lines
}

impl Default for RawText {
    fn default() -> Self {
        RawText { places: vec![0] }
    }
}

impl RawText {
    /// Takes in a text, a sentence or a paragraph a line.
    ///
    /// # Errors
    /// No two characters in a line; more than four billion of them.
    pub fn read(&mut self, file: &str, text: &str) -> Result<()> {
        let mut pairs = false;
        for (line, row) in text::lines(text) {
            let from = self.places.len();
            self.places.extend(row.chars().filter(|c| !c.is_whitespace()).map(|c| u32::from(full_width(c))));
            pairs |= self.places.len() > from + 1;
            if self.places.len() > from {
                self.places.push(0);
            }
            if self.places.len() > UNKNOWN as usize {
                return Err(Error::at(file, line, "the raw text has more than four billion characters"));
            }
        }
        match pairs {
            true => Ok(()),
            false => {
                Err(Error::new(file, "every line has fewer than two characters, so nothing can be counted")
                    .help("give plain text, a sentence or a paragraph a line"))
            }
        }
    }

    /// Bytes that counting takes beside the result.
    #[must_use]
    pub fn bytes(&self) -> usize {
        (4 + 4 + size_of::<u128>()) * self.places.len()
    }

    /// Counts.
    ///
    /// # Errors
    /// More than 4 GiB of different strings.
    pub fn count(mut self) -> Result<Varieties> {
        let full = || Error::new("the raw text", "there are more than 4 GiB of strings seen twice");
        let mut varieties = Varieties { counted: self.bytes(), ..Varieties::default() };
        let (mut single, mut pairs, mut fits) = (vec![0u32; 0x11_0000], vec![], true);
        let mut text = String::new();
        groups(&self.places, |string, group| {
            if let &[c] = string {
                single[c as usize] = group.count;
            } else if group.count > 1 {
                spell(string.iter(), &mut text);
                fits &= varieties.strings.intern(text.as_bytes()).is_some();
                varieties.numbers.push(class(group.variety));
                if let &[a, b] = string {
                    pairs.push((varieties.numbers.len() - 1, a, b, group.count));
                }
            }
        });
        if !fits {
            return Err(full());
        }
        let characters = self.places.iter().filter(|c| **c != 0).count() as u64;
        let all = self.places.windows(2).filter(|pair| pair[0] != 0 && pair[1] != 0).count() as u64;
        for (at, a, b, count) in pairs {
            let (a, b) = (single[a as usize], single[b as usize]);
            let information = information([count.into(), all, a.into(), b.into(), characters]);
            let number = u32::try_from(information + i64::from(MIDDLE)).unwrap_or(0);
            varieties.numbers[at] |= number.clamp(1, INFORMATION - 1) << (2 * CLASS);
        }
        self.places.reverse();
        groups(&self.places, |string, group| {
            if string.len() > 1 && group.count > 1 {
                spell(string.iter().rev(), &mut text);
                let id = varieties.strings.view().find(text.as_bytes());
                if let Some(number) = varieties.numbers.get_mut(id as usize) {
                    *number |= class(group.variety) << CLASS;
                }
            }
        });
        varieties.numbers.shrink_to_fit();
        Ok(varieties)
    }
}

/// What was seen of a string.
#[derive(Clone, Copy, Default)]
struct Group {
    count: u32,
    variety: u32, // of what is behind it
    last: u32,
}

/// Calls `see` with every string of up to [`LONGEST`] characters, in some order that the text alone decides.
fn groups(places: &[u32], mut see: impl FnMut(&[u32], Group)) {
    let mut order: Vec<u128> = Vec::with_capacity(places.len());
    let from = |at: usize| {
        let line = places[at..].iter().take(LONGEST + 1).take_while(|c| **c != 0);
        let (key, length) = line.fold((0, 0), |(key, n), c| (key << BITS | u128::from(*c), n + 1));
        key << (BITS * (narrow(LONGEST) + 1 - length))
    };
    order.extend((0..places.len()).filter(|at| places[*at] != 0).map(from));
    order.sort_unstable();
    let character = |key: u128, at: usize| {
        u32::try_from(key >> (BITS as usize * (LONGEST - at)) & ((1 << BITS) - 1)).unwrap_or_default()
    };
    let (mut string, mut open) = ([0; LONGEST], [Group::default(); LONGEST]);
    // One more, which has no character: it ends all groups.
    for key in order.into_iter().chain([0]) {
        let different = (0..LONGEST).find(|at| string[*at] != character(key, *at)).unwrap_or(LONGEST);
        for at in (different..LONGEST).rev().filter(|at| open[*at].count > 0) {
            see(&string[..=at], open[at]);
        }
        open[different..].fill(Group::default());
        for at in 0..LONGEST {
            string[at] = character(key, at);
            if string[at] == 0 {
                string[at..].fill(0);
                break;
            }
            let (group, next) = (&mut open[at], character(key, at + 1));
            group.variety += u32::from(next == 0 || next != group.last);
            group.count += 1;
            group.last = next;
        }
    }
}

fn spell<'a>(string: impl Iterator<Item = &'a u32>, out: &mut String) {
    out.clear();
    out.extend(string.filter_map(|c| char::from_u32(*c)));
}

/// The bits of a variety: floor(log2) and one, so that none is 0.
fn class(variety: u32) -> u32 {
    variety.max(1).ilog2() + 1
}

/// floor(log2(p(ab) / (p(a) p(b)))), of counts of the pair, all pairs, both characters, all characters.
fn information([pair, pairs, a, b, characters]: [u64; 5]) -> i64 {
    let [pair, pairs, a, b, characters] = [pair, pairs, a, b, characters].map(u128::from);
    let (over, under) = (pair * characters * characters, pairs * a * b); // 96 bits
    if over == 0 || under == 0 {
        return 0;
    }
    let difference = i64::from(over.ilog2()) - i64::from(under.ilog2());
    let shift = difference.unsigned_abs();
    // Of the same length now.
    let fits = if difference < 0 { (over << shift) >= under } else { over >= (under << shift) };
    difference - i64::from(!fits)
}

/// Strings seen more than once, with accessor variety and mutual information.
#[derive(Clone, Debug, Default)]
pub struct Varieties {
    strings: Strings,
    numbers: Vec<u32>, // [strings]
    counted: usize,
}

impl Varieties {
    /// No strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.strings.bytes() + 4 * self.numbers.capacity()
    }

    /// Bytes that counting took.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.counted
    }

    /// The arrays.
    #[must_use]
    pub fn view(&self) -> VarietiesView<'_> {
        VarietiesView { strings: self.strings.view(), numbers: &self.numbers }
    }

    pub(super) fn update(&self, digest: &mut Xxh3) {
        let strings = self.strings.view();
        digest.update(strings.text);
        strings.starts.iter().chain(&self.numbers).for_each(|n| digest.update(&n.to_le_bytes()));
    }
}

/// Borrowed arrays of [`Varieties`].
#[derive(Clone, Copy, Debug, Default)]
pub struct VarietiesView<'a> {
    /// The strings.
    pub strings: StringsView<'a>,
    /// From the lowest bits on: variety behind and before, both as 1 + floor(log2), and for two characters mutual
    /// information plus 64.
    pub numbers: &'a [u32],
}

impl VarietiesView<'_> {
    /// What is known of a string in full width, if it was seen more than once.
    #[inline]
    pub(super) fn find(&self, string: &str) -> Option<Known> {
        self.numbers.get(self.strings.find(string.as_bytes()) as usize).map(|number| Known(*number))
    }
}

/// What is known of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known(u32);

/// Different classes of variety, and of mutual information.
pub(super) const CLASSES: usize = 32;
pub(super) const INFORMATION: u32 = 2 * MIDDLE;

impl Known {
    /// floor(log2) of the variety behind or before it; none if it is not known.
    #[inline]
    pub(super) fn variety(self, before: bool) -> Option<usize> {
        let number = if before { self.0 >> CLASS } else { self.0 };
        ((number & ((1 << CLASS) - 1)) as usize).checked_sub(1).filter(|class| *class < CLASSES)
    }

    /// Mutual information of its two characters, [`MIDDLE`] added.
    #[inline]
    pub(super) fn information(self) -> Option<u32> {
        Some(self.0 >> (2 * CLASS)).filter(|n| (1..INFORMATION).contains(n))
    }

    /// How values call mutual information.
    pub(super) fn name(information: u32) -> String {
        (i64::from(information) - i64::from(MIDDLE)).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Random;
    use std::collections::{HashMap, HashSet};

    /// By the definition: all places of all strings.
    fn check(lines: &[String]) {
        let mut raw = RawText::default();
        if raw.read("f", &lines.join("\n")).is_err() {
            return;
        }
        let counted = raw.count().unwrap();
        let (mut count, mut sides) = (HashMap::new(), HashMap::new());
        let (mut ends, mut pairs, mut all) = (0, 0_u32, 0_u32);
        for line in lines {
            let line: Vec<char> = line.chars().collect();
            all += narrow(line.len());
            pairs += narrow(line.len().saturating_sub(1));
            for n in 1..=LONGEST {
                for (at, string) in line.windows(n).enumerate() {
                    let string: String = string.iter().collect();
                    *count.entry(string.clone()).or_insert(0_u32) += 1;
                    let mut side = |before: bool, c: Option<&char>| {
                        ends += 1;
                        let c = c.map_or_else(|| format!("end {ends}"), char::to_string);
                        sides.entry((string.clone(), before)).or_insert_with(HashSet::new).insert(c);
                    };
                    side(true, at.checked_sub(1).and_then(|at| line.get(at)));
                    side(false, line.get(at + n));
                }
            }
        }
        let view = counted.view();
        let expected = count.iter().filter(|(s, n)| **n > 1 && s.chars().nth(1).is_some());
        assert_eq!(expected.count(), counted.len());
        for (string, n) in count.iter().filter(|(s, _)| s.chars().nth(1).is_some()) {
            let found = view.find(string);
            assert_eq!(found.is_some(), *n > 1);
            let Some(found) = found else { continue };
            for before in [true, false] {
                let variety = sides[&(string.clone(), before)].len();
                assert_eq!(found.variety(before), Some(variety.ilog2() as usize), "{string} {before}");
            }
            let characters: Vec<String> = string.chars().map(String::from).collect();
            if let [a, b] = &*characters {
                let p = |n: u32, of: u32| f64::from(n) / f64::from(of);
                let exact = (p(*n, pairs) / (p(count[a], all) * p(count[b], all))).log2();
                let found: f64 = Known::name(found.information().unwrap()).parse().unwrap();
                assert!(found <= exact + 1e-9 && exact < found + 1.0 + 1e-9, "{string} {found} {exact}");
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_definition() {
        let mut random = Random::new(3, 0, 0, "raw");
        for round in 0..200 {
            let lines = 1 + random.below(6);
            let line = |random: &mut Random| {
                let length = random.below(12);
                (0..length).map(|_| ['中', '国', '人', 'Ａ', '。'][random.below(2 + round % 4)]).collect()
            };
            let lines: Vec<String> = (0..lines).map(|_| line(&mut random)).collect();
            check(&lines);
        }
    }

    #[test]
    fn information_is_floored_exactly() {
        // p(ab) / (p(a) p(b)) = (2/8) / (4/8 4/8) = 1, then a little more and a little less.
        assert_eq!(information([2, 8, 4, 4, 8]), 0);
        assert_eq!([information([1, 8, 4, 4, 8]), information([3, 8, 4, 4, 8])], [-1, 0]);
        assert_eq!([information([4, 8, 4, 4, 8]), information([2, 9, 4, 4, 8])], [1, -1]);
        let most = u64::from(u32::MAX);
        assert_eq!(information([most, 1, 1, 1, most]), 95);
        assert_eq!(information([1, most, most, most, 1]), -96);
    }

    #[test]
    fn blanks_and_width_do_not_count_and_files_follow_one_another() {
        let count = |texts: &[&str]| {
            let mut raw = RawText::default();
            texts.iter().for_each(|text| raw.read("f", text).unwrap());
            let counted = raw.count().unwrap();
            (counted.strings.view().text.to_vec(), counted.numbers.clone())
        };
        let whole = count(&["\u{feff}中国 人A\n\n中 国人Ａ\n"]);
        assert_eq!(whole, count(&["中国人Ａ", "中国人A"]));
        assert!(!whole.1.is_empty());
        assert!(
            RawText::default().read("f", "一\n二\n").unwrap_err().what.contains("fewer than two characters")
        );
    }
}
