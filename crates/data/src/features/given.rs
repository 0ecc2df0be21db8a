//! The attributes that a file has, looked up some hundred at a time.
//!
//! A table is much larger than a cache, and a look-up goes through three places of it: the slot, where the string
//! starts, its text. One after another, each waits for memory; so all names of some tokens are hashed first, then all
//! slots are asked for, and so on, and the waits overlap.

use std::ops::Range;

use super::numbers::dense_first;
use super::table::hash_string;
use super::{Attributes, Dictionary, UNKNOWN, Values};
use crate::format::{Block, Span};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// Names that are looked up together: enough to overlap all waits, few enough to stay in the first cache.
const WINDOW: usize = 512;
/// Tables below this many bytes are in a cache, and asking for them ahead of time is work for nothing.
const SMALL: usize = 1 << 18;

/// One worker's buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    codes: Vec<u64>,         // [names] hashes
    values: Vec<u32>,        // [names] numbers in the table of strings
    names: Vec<(Span, f32)>, // [names] of a stretch of tokens that have other attributes, too
    ends: Vec<usize>,        // [tokens] where the names of each of them end
    key: Vec<u32>,           // [stride] the tuple of an attribute
    later: Vec<(u32, f32)>,  // those of a token that have no dense rows
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
            self.find(dictionary, block, names.clone(), D::fetch_given);
            for i in first..token {
                let range = block.attribute_range(i);
                let looked_up = range.start - names.start..range.end - names.start;
                self.append(dictionary, [group, stride], &block.given()[range], looked_up, nodes);
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
        self.find(values, block, names, |_, _| ());
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
        self.append(attributes, [group, stride], &names[range.clone()], range, nodes);
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

    /// Looks up the values of some names of a block. `fetch` asks for what will be looked at behind a value.
    fn find<V: Values>(
        &mut self,
        values: &mut V,
        block: &Block,
        names: Range<usize>,
        fetch: impl Fn(&V, u32),
    ) {
        let names = &block.given()[names];
        let strings = values.strings();
        let large = strings.text.len() + 4 * strings.slots.len() > SMALL;
        self.codes.clear();
        self.codes.extend(names.iter().map(|&(name, _)| hash_string(block.bytes_of(name))));
        self.values.clear();
        if large {
            self.codes.iter().for_each(|&code| strings.fetch_slot(code));
            self.values.extend(self.codes.iter().map(|&code| strings.fetch_start(code).unwrap_or(UNKNOWN)));
            for &value in &self.values {
                strings.fetch_text(value);
                fetch(values, value);
            }
            self.values.clear();
        }
        let looked_up = names.iter().zip(&self.codes);
        self.values
            .extend(looked_up.map(|(&(name, _), &code)| values.value_hashed(block.bytes_of(name), code)));
    }

    /// Appends the attributes of one token. Values are kept from the first on that is not 1.
    fn append(
        &mut self,
        attributes: &mut impl Attributes,
        [group, stride]: [u32; 2],
        names: &[(Span, f32)],
        looked_up: Range<usize>,
        nodes: &mut Ragged,
    ) {
        self.key.clear();
        self.key.resize(stride as usize, 0);
        self.key[0] = group;
        self.later.clear();
        let dense = attributes.dense();
        let valued = !nodes.values.is_empty() || names.iter().any(|(_, number)| *number != 1.0);
        let from = nodes.items.len();
        let known = self.values[looked_up].iter().zip(names).filter(|(value, _)| **value < UNKNOWN);
        for (&value, &(_, number)) in known {
            self.key[1] = value;
            let attribute = attributes.given(&self.key);
            if attribute >= UNKNOWN {
                continue;
            }
            if !valued && attribute >= dense && dense > 0 {
                self.later.push((attribute, 1.0));
                continue;
            }
            if number != 1.0 || !nodes.values.is_empty() {
                nodes.values.resize(nodes.items.len(), 1.0);
                nodes.values.push(number);
            }
            nodes.items.push(attribute);
        }
        if !valued {
            return nodes.items.extend(self.later.iter().map(|(attribute, _)| *attribute));
        }
        dense_first(nodes, from, dense, &mut self.later);
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
