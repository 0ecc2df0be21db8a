//! The attributes that a file has, looked up some hundred at a time.
//!
//! A table is much larger than a cache, and a look-up goes through three places of it: the slot, where the string
//! starts, its text. One after another, each waits for memory; so all names of some tokens are hashed first, then all
//! slots are asked for, and so on, and the waits overlap. What a slot names is the right string nearly always, so it is
//! compared with that before a slot is looked at again. Where tables do not change, the attribute of a string is kept
//! beside its number: one place instead of two. Fewer or more names at once (64 to 512) take the same time.

use std::ops::Range;

use super::dictionary::UNSET;
use super::numbers::push_known;
use super::table::hash_string;
use super::{Attributes, Dictionary, UNKNOWN, Values};
use crate::format::{Block, Span};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// Names that are looked up together: enough to overlap all waits, few enough to stay in the first cache.
const WINDOW: usize = 512;
/// Tables below this many bytes are in a cache, and asking for them ahead of time is work for nothing.
const SMALL: usize = 1 << 18;

/// One worker's buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    codes: Vec<u64>,         // [names] hashes
    values: Vec<u32>,        // [names] numbers in the table of strings, then their attributes
    names: Vec<(Span, f32)>, // [names] of a stretch of tokens that have other attributes, too
    ends: Vec<usize>,        // [tokens] where the names of each of them end
    key: Vec<u32>,           // [stride] the tuple of an attribute
    known: Vec<u32>, // [values of a table that does not change] attributes with all bits flipped, or 0
    later: Vec<u32>, // those of a token that have no dense rows
    numbers: Vec<f32>, // and their values
}

impl Given {
    /// Appends the attributes of tokens of which there are no others: one list per token, those with dense rows
    /// first.
    pub(super) fn extract<D: Dictionary>(
        &mut self,
        dictionary: &mut D,
        [group, stride]: [u32; 2],
        block: &Block,
        tokens: Range<usize>,
        nodes: &mut Ragged,
    ) {
        let mut token = tokens.start;
        while token < tokens.end {
            let (first, mut names) = (token, block.attribute_range(token));
            token += 1;
            while token < tokens.end && names.len() < WINDOW {
                names.end = block.attribute_range(token).end;
                token += 1;
            }
            if D::FIXED && self.known.len() != dictionary.strings().len() {
                self.known = vec![0; dictionary.strings().len()]; // pages come as they are touched
            }
            self.find(dictionary, block, names.clone());
            self.put_attributes(dictionary, [group, stride], 0..names.len());
            for i in first..token {
                let range = block.attribute_range(i);
                let found = range.start - names.start..range.end - names.start;
                self.append(dictionary.dense(), &block.given()[range], found, nodes);
                nodes.starts.push(narrow(nodes.items.len()));
            }
        }
    }

    /// Looks up the values of the attributes that some tokens have beside others.
    pub(super) fn collect(&mut self, values: &mut impl Values, block: &Block, tokens: Range<usize>) {
        self.ends.clear();
        self.names.clear();
        let (Some(first), Some(last)) = (tokens.clone().next(), tokens.clone().next_back()) else { return };
        let names = block.attribute_range(first).start..block.attribute_range(last).end;
        self.ends.extend(tokens.map(|i| block.attribute_range(i).end - names.start));
        self.names.extend_from_slice(&block.given()[names.clone()]);
        self.find(values, block, names);
    }

    /// Appends those of one of these tokens.
    pub(super) fn append_collected(
        &mut self,
        attributes: &mut impl Attributes,
        [group, stride]: [u32; 2],
        t: usize,
        nodes: &mut Ragged,
    ) {
        let range = t.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[t];
        let names = std::mem::take(&mut self.names);
        self.put_attributes(attributes, [group, stride], range.clone());
        self.append(attributes.dense(), &names[range.clone()], range, nodes);
        self.names = names;
    }

    /// Names that were collected.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.codes.capacity() + self.ends.capacity())
            + 4 * self.values.capacity()
            + size_of::<(Span, f32)>() * self.names.capacity()
    }

    /// Looks up the values of some names of a block.
    fn find(&mut self, values: &mut impl Values, block: &Block, names: Range<usize>) {
        let names = &block.given()[names];
        let strings = values.strings();
        let large = strings.text.len() + 4 * strings.slots.len() > SMALL;
        self.codes.clear();
        self.codes.extend(names.iter().map(|&(name, _)| {
            let code = hash_string(block.bytes_of(name));
            if large {
                strings.fetch_slot(code);
            }
            code
        }));
        self.values.clear();
        if !large {
            let looked_up = names.iter().zip(&self.codes);
            let found = looked_up.map(|(&(name, _), &code)| values.value_hashed(block.bytes_of(name), code));
            return self.values.extend(found);
        }
        self.values.extend(self.codes.iter().map(|&code| strings.fetch_start(code).unwrap_or(UNKNOWN)));
        for &value in &self.values {
            strings.fetch_text(value);
            prefetch(&self.known, value as usize);
        }
        for ((value, &(name, _)), &code) in self.values.iter_mut().zip(names).zip(&self.codes) {
            *value = values.value_fetched(block.bytes_of(name), code, *value);
        }
    }

    /// Puts attributes in the place of values.
    fn put_attributes<A: Attributes>(
        &mut self,
        attributes: &mut A,
        [group, stride]: [u32; 2],
        values: Range<usize>,
    ) {
        let Given { key, known, values: all, .. } = self;
        key.clear();
        key.resize(stride as usize, 0);
        key[0] = group;
        for value in &mut all[values] {
            *value = match known.get_mut(*value as usize) {
                Some(known) if *known != 0 => !*known,
                _ if *value >= UNKNOWN => UNKNOWN,
                unset => {
                    key[1] = *value;
                    let attribute = attributes.given(key);
                    unset.into_iter().for_each(|known| *known = !attribute);
                    attribute
                }
            };
        }
    }

    /// Appends the attributes of one token. Values are kept from the first on that is not 1.
    fn append(&mut self, dense: u32, names: &[(Span, f32)], found: Range<usize>, nodes: &mut Ragged) {
        let attributes = &self.values[found];
        let mut pairs = attributes.iter().zip(names);
        if nodes.values.is_empty() && !pairs.any(|(a, (_, number))| *number != 1.0 && *a < UNSET) {
            return push_known(&mut nodes.items, attributes, dense, &mut self.later);
        }
        let from = nodes.items.len();
        nodes.values.resize(from, 1.0);
        push_known(&mut nodes.items, attributes, dense, &mut self.later);
        // The same once more for the values.
        nodes.values.resize(from + attributes.len(), 0.0);
        self.numbers.resize(self.numbers.len().max(attributes.len()), 0.0);
        let (mut first, mut others) = (0, 0);
        let values = &mut nodes.values[from..];
        let later = &mut self.numbers[..attributes.len()];
        for (&attribute, &(_, number)) in attributes.iter().zip(names) {
            values[first] = number;
            later[others] = number;
            first += usize::from(attribute < dense);
            others += usize::from(attribute >= dense && attribute < UNSET);
        }
        values[first..first + others].copy_from_slice(&later[..others]);
        nodes.values.truncate(from + first + others);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::super::{Extractor, Frozen, Growing, LexicaView, Program, Template};
    use super::*;
    use crate::format::{self, Blocks, Kind};
    use crate::open::Input;

    fn block(text: &str) -> Block {
        let (mut blocks, mut block) = (Blocks::new(Input::from_bytes("x", text).unwrap()), Block::default());
        let format = format::first(&mut blocks, &mut block, Some(Kind::Crfsuite)).unwrap();
        format.parse("x", &mut block).unwrap();
        block
    }

    fn extract(extractor: &mut Extractor, dictionary: &mut impl Dictionary, text: &str) -> Ragged {
        let (block, mut nodes, mut edges) = (block(text), Ragged::default(), Ragged::default());
        let tokens = 0..block.tokens().len();
        extractor.extract(dictionary, "x", &block, tokens, &mut nodes, &mut edges).unwrap();
        nodes
    }

    /// Names are numbered as they come and found again, in tables below and above the size of a cache, in windows
    /// that end inside a sentence; those that are new to a frozen dictionary are left out.
    #[test]
    fn names_are_numbered_and_found() {
        for names in [50, 60_000] {
            let name = |i: usize| format!("name-{}", i * 7919 % names);
            let row = |t: usize, new: &str| {
                let fields = (0..t % 40).map(|i| format!("\t{}", name(t * 31 + i)));
                format!("X{new}{}\n", fields.collect::<String>())
            };
            let program = Arc::new(Program::new(vec![Template::given()]));
            let mut growing = Growing::new(&program, Arc::default());
            let mut extractor = Extractor::new(Arc::clone(&program), &mut growing);
            let text: String = (0..5000).map(|t| row(t, "")).collect();
            let found = extract(&mut extractor, &mut growing, &text);
            let (mut numbers, mut expected) = (HashMap::new(), vec![]);
            for t in 0..5000 {
                for i in 0..t % 40 {
                    let next = numbers.len();
                    expected.push(narrow(*numbers.entry(name(t * 31 + i)).or_insert(next)));
                }
            }
            assert_eq!(found.items, expected);
            assert!(found.values.is_empty());
            let frozen = Frozen {
                strings: growing.strings.view(),
                nodes: growing.nodes.view(),
                edges: growing.edges.view(),
                node_numbers: None,
                edge_numbers: None,
                dense: 0,
                lexica: LexicaView::default(),
            };
            let text: String = (0..5000).map(|t| row(t, "\tnew\tnew:2")).collect();
            let mut extractor = Extractor::new(program, &mut { frozen });
            assert_eq!(extract(&mut extractor, &mut { frozen }, &text), found);
            // Those with dense rows first, the order kept otherwise.
            let dense = Frozen { dense: 9, ..frozen };
            let sorted = extract(&mut extractor, &mut { dense }, &text);
            for t in 0..5000 {
                let mut list = found.view().at(t).to_vec();
                list.sort_by_key(|a| *a >= 9);
                assert_eq!(sorted.view().at(t), list);
            }
        }
    }
}
