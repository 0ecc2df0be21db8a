//! Longest match: text without blanks is cut into words of a lexicon, from the left and from the right. Each time the
//! longest word there is taken; a character that starts no word, or ends none, stands alone.
//!
//! What a character has of a matched word is a *bag* of values: the categories of the word, each with the character's
//! place. A word has its bags made once.

use super::dictionary::UNSET;
use super::function::full_width;
use super::lexicon::PLACES;
use super::thesaurus::LONGEST;
use super::{NONE, UNKNOWN, Values};
use seqoia_core::cast::narrow;

/// Where a word starts or ends: its tokens and its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    length: u32, // 0: none
    number: u32,
}

/// One worker's buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct LongestMatch {
    starting: Vec<Word>, // [T] the longest that starts here
    ending: Vec<Word>,   // [T] and that ends here
    /// Bags of the tokens, by forward and by backward match; `NONE` if there is no word.
    pub(super) bags: [Vec<u32>; 2],
    /// Whether each token is a word of its own.
    pub(super) alone: [Vec<bool>; 2],
    of_word: Vec<u32>, // [words][places] the bag, or UNSET
    ends: Vec<u32>,    // [bags]
    values: Vec<u32>,  // of all bags
    /// Values of the largest bag in the sentence.
    pub(super) most: usize,
    text: String,
}

impl LongestMatch {
    /// Finds the words of a sentence of so many tokens; tells how many tokens are in one. `field` is the text of a
    /// token.
    pub(super) fn find<'a>(
        &mut self,
        values: &mut impl Values,
        tokens: usize,
        field: impl Fn(usize) -> &'a str,
    ) -> usize {
        self.look_up(values, tokens, field);
        self.most = 0;
        let mut covered = 0;
        for backward in [false, true] {
            self.cut(values, tokens, backward);
            let bags = &self.bags[usize::from(backward)];
            covered = covered.max(bags.iter().filter(|bag| **bag != NONE).count());
            let sizes = bags.iter().filter(|bag| **bag != NONE).map(|bag| self.bag(*bag).len());
            self.most = sizes.max().unwrap_or(0).max(self.most);
        }
        covered
    }

    fn look_up<'a>(&mut self, values: &impl Values, tokens: usize, field: impl Fn(usize) -> &'a str) {
        for words in [&mut self.starting, &mut self.ending] {
            words.clear();
            words.resize(tokens, Word::default());
        }
        let lexicon = values.lexica().thesaurus;
        for start in 0..tokens {
            self.text.clear();
            for end in start..tokens.min(start + LONGEST) {
                self.text.extend(field(end).chars().map(full_width));
                let Some((number, is_word)) = lexicon.find(&self.text) else { break };
                if is_word {
                    let word = Word { length: narrow(end + 1 - start), number };
                    self.starting[start] = word;
                    // The first one that is found to end there is the longest.
                    if self.ending[end].length == 0 {
                        self.ending[end] = word;
                    }
                }
            }
        }
    }

    /// Cuts the sentence into words.
    fn cut(&mut self, values: &mut impl Values, tokens: usize, backward: bool) {
        let mut bags = std::mem::take(&mut self.bags[usize::from(backward)]);
        let mut alone = std::mem::take(&mut self.alone[usize::from(backward)]);
        bags.clear();
        bags.resize(tokens, NONE);
        alone.clear();
        alone.resize(tokens, true);
        let mut done = 0;
        while done < tokens {
            let word = if backward { self.ending[tokens - 1 - done] } else { self.starting[done] };
            let length = (word.length as usize).max(1);
            let start = if backward { tokens - done - length } else { done };
            done += length;
            if word.length == 0 {
                continue;
            }
            for t in start..start + length {
                let place = match (t == start, t + 1 == start + length) {
                    (true, true) => 3,
                    (true, false) => 0,
                    (false, true) => 2,
                    (false, false) => 1,
                };
                bags[t] = self.make(values, word.number, place);
                alone[t] = length == 1;
            }
        }
        self.bags[usize::from(backward)] = bags;
        self.alone[usize::from(backward)] = alone;
    }

    /// The bag of a word's categories with a place.
    fn make(&mut self, values: &mut impl Values, word: u32, place: usize) -> u32 {
        let at = word as usize * PLACES.len() + place;
        if self.of_word.len() <= at {
            self.of_word.resize(at + 1, UNSET);
        }
        if self.of_word[at] == UNSET {
            let from = self.values.len();
            let lexicon = values.lexica().thesaurus;
            let mut names = vec![]; // a word's bags are made once
            lexicon.categories(word, |category| names.push(format!("{category}/{}", name(place))));
            for name in names {
                let value = values.value(&name);
                if value < UNKNOWN && !self.values[from..].contains(&value) {
                    self.values.push(value);
                }
            }
            self.of_word[at] = narrow(self.ends.len());
            self.ends.push(narrow(self.values.len()));
        }
        self.of_word[at]
    }

    /// The values of a bag.
    #[inline]
    pub(super) fn bag(&self, bag: u32) -> &[u32] {
        let end = |at: u32| self.ends[at as usize] as usize;
        let start = bag.checked_sub(1).map_or(0, end);
        &self.values[start..end(bag)]
    }
}

/// How values call a place: M is a middle, as in segmented text.
fn name(place: usize) -> &'static str {
    if place == 1 { "M" } else { PLACES[place] }
}

#[cfg(test)]
mod tests {
    use super::super::{Growing, Lexica, Program, Thesaurus};
    use super::*;
    use seqoia_core::Random;
    use std::sync::Arc;

    /// Words by their definition: from one side, the longest that fits.
    fn slowly(text: &[char], words: &[String], backward: bool) -> Vec<usize> {
        let (mut left, mut lengths) = (text.to_vec(), vec![]);
        while !left.is_empty() {
            let fits = |n: &usize| {
                let part = if backward { &left[left.len() - n..] } else { &left[..*n] };
                words.contains(&part.iter().collect::<String>())
            };
            let n = (1..=left.len().min(LONGEST)).rev().find(fits).unwrap_or(1);
            lengths.push(n);
            left = if backward { left[..left.len() - n].to_vec() } else { left[n..].to_vec() };
        }
        if backward {
            lengths.reverse();
        }
        lengths
    }

    #[test]
    fn words_are_those_of_the_definition() {
        let mut random = Random::new(7, 0, 0, "longest");
        let mut letters = |most: usize| -> String {
            let length = 1 + random.below(most);
            (0..length).map(|_| ['中', '国', '人', '大'][random.below(4)]).collect()
        };
        for _ in 0..200 {
            let words: Vec<String> = (0..8).map(|_| letters(4)).collect();
            let lexicon = Thesaurus::read("f", &format!("Aa01A01= {}\n", words.join(" "))).unwrap();
            let lexica = Lexica { thesaurus: lexicon, ..Lexica::default() };
            let mut values = Growing::new(&Program::new(vec![]), Arc::new(lexica));
            let mut found = LongestMatch::default();
            for _ in 0..4 {
                let text: Vec<char> = letters(12).chars().collect();
                let fields: Vec<String> = text.iter().map(char::to_string).collect();
                found.find(&mut values, text.len(), |t| fields[t].as_str());
                for backward in [false, true] {
                    let mut t = 0;
                    for length in slowly(&text, &words, backward) {
                        let word: String = text[t..t + length].iter().collect();
                        for i in 0..length {
                            let at = usize::from(backward);
                            assert_eq!(found.alone[at][t + i], length == 1);
                            let place = match (i, length) {
                                (_, 1) => "S",
                                (0, _) => "B",
                                (i, n) if i + 1 == n => "E",
                                _ => "M",
                            };
                            let bag = found.bags[at][t + i];
                            assert_eq!(bag != NONE, words.contains(&word), "{word}");
                            let expected = format!("Aa01/{place}");
                            let strings = values.strings.view();
                            let has = |v: &u32| strings.get(*v) == Some(expected.as_bytes());
                            assert!(bag == NONE || found.bag(bag).iter().any(has));
                            assert!(bag == NONE || found.bag(bag).len() == 5);
                        }
                        t += length;
                    }
                    assert_eq!(t, text.len());
                }
            }
        }
    }
}
