//! Gives tuples their numbers: the second half of extraction, which alone looks into the tables of attributes.
//!
//! Tables are much larger than a cache, so a stretch is gone through three times: slots are asked for, then the tuples
//! that they name, then numbers are found. An attribute of one value is looked up once for each value.

use super::dictionary::UNSET;
use super::stretch::{Stretch, Wanted};
use super::table::hash;
use super::template::Program;
use super::{Attributes, NONE};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// One worker's buffers for numbering with one table of attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    direct: Vec<u32>, // [values][templates with one piece] their attributes: a word's lie together
    few: Vec<u32>,    // [values][those that read few values] the same
    key: Vec<u32>,    // [stride] scratch
    later: Vec<(u32, f32)>,
}

impl Numbers {
    /// Appends the attributes of a stretch, one list per token, those with dense rows first. Lists of edges are
    /// appended only if the program has attributes of edges.
    pub(super) fn append<A: Attributes>(
        &mut self,
        program: &Program,
        attributes: &mut A,
        stretch: &mut Stretch,
        nodes: &mut Ragged,
        edges: &mut Ragged,
    ) {
        let (dense, stride) = (attributes.dense(), program.stride);
        let (has_values, has_edges) = (program.has_values(), program.has_edges());
        self.fetch(program, attributes, stretch);
        for t in 0..stretch.len() {
            let from = nodes.items.len();
            let mut keys = stretch.keys_at(t, stride).chunks_exact(stride);
            for (i, wanted) in stretch.at(t).iter().enumerate() {
                let key = if wanted.value == NONE { keys.next() } else { None };
                let number = if has_values { stretch.number(t, i) } else { Some(1.0) };
                let Some(number) = number else { continue }; // outside the sentence
                let template = &program.compiled[wanted.template as usize];
                let attribute = match key {
                    Some(key) => attributes.fetched(template.edge, key, wanted.code),
                    None => self.single(program, attributes, wanted.template, wanted.value),
                };
                if attribute < UNSET {
                    let out = if template.edge { &mut *edges } else { &mut *nodes };
                    out.items.push(attribute);
                    if has_values {
                        out.values.push(number);
                    }
                }
            }
            if let Some(group) = program.given() {
                stretch.given.append_collected(attributes, [group, narrow(stride)], t, nodes);
                nodes.values.resize(nodes.items.len(), 1.0); // templates beside them have values
            }
            dense_first(nodes, from, dense, &mut self.later);
            nodes.starts.push(narrow(nodes.items.len()));
            if has_edges {
                edges.starts.push(narrow(edges.items.len()));
            }
        }
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.direct.len() + self.few.len())
    }

    /// Asks for all that will be looked at.
    fn fetch(&self, program: &Program, attributes: &impl Attributes, stretch: &mut Stretch) {
        for t in 0..stretch.len() {
            for &Wanted { template, value, code } in stretch.at(t) {
                let template = &program.compiled[template as usize];
                match value {
                    NONE => attributes.keys(template.edge).fetch_slot(code),
                    _ if template.few => (), // so few that they are in a cache
                    value => prefetch(&self.direct, value as usize * program.singles + template.column),
                }
            }
        }
        for t in 0..stretch.len() {
            for wanted in stretch.at_mut(t).iter_mut().filter(|wanted| wanted.value == NONE) {
                let edge = program.compiled[wanted.template as usize].edge;
                wanted.code = attributes.fetch(edge, wanted.code);
            }
        }
    }

    /// The attribute of one value.
    #[inline]
    fn single<A: Attributes>(
        &mut self,
        program: &Program,
        attributes: &mut A,
        template: u32,
        value: u32,
    ) -> u32 {
        let template = &program.compiled[template as usize];
        let (cache, columns) = match template.few {
            false => (&mut self.direct, program.singles),
            true => (&mut self.few, program.few),
        };
        let at = value as usize * columns + template.column;
        if cache.len() <= at {
            cache.resize((value as usize + 1) * columns, UNSET);
        }
        if cache[at] == UNSET {
            self.key.clear();
            self.key.extend([template.group, value]);
            self.key.resize(program.stride, 0);
            cache[at] = attributes.attribute(template.edge, &self.key, hash(&self.key));
        }
        cache[at]
    }
}

/// Brings attributes below `dense` to the front of the list that is being written; the order is kept
/// otherwise.
pub(super) fn dense_first(lists: &mut Ragged, from: usize, dense: u32, later: &mut Vec<(u32, f32)>) {
    if dense == 0 {
        return;
    }
    let mut kept = from;
    later.clear();
    for i in from..lists.items.len() {
        let (item, value) = (lists.items[i], lists.values.get(i).copied().unwrap_or(1.0));
        if item < dense {
            lists.items[kept] = item;
            if let Some(v) = lists.values.get_mut(kept) {
                *v = value;
            }
            kept += 1;
        } else {
            later.push((item, value));
        }
    }
    for (i, &(item, value)) in (kept..).zip(&*later) {
        lists.items[i] = item;
        if let Some(v) = lists.values.get_mut(i) {
            *v = value;
        }
    }
}

/// Appends those of these attributes that are known, those below `dense` first; the order is kept otherwise. `later`
/// is scratch.
#[inline]
pub(super) fn push_known(items: &mut Vec<u32>, attributes: &[u32], dense: u32, later: &mut Vec<u32>) {
    let from = items.len();
    items.resize(from + attributes.len(), 0);
    if later.len() < attributes.len() {
        later.resize(attributes.len(), 0);
    }
    let (mut first, mut others) = (0, 0);
    let (to, later) = (&mut items[from..], &mut later[..attributes.len()]);
    for &attribute in attributes {
        // Written in any case, counted only if it is wanted there: that cannot be foreseen.
        to[first] = attribute;
        later[others] = attribute;
        first += usize::from(attribute < dense);
        others += usize::from(attribute >= dense && attribute < UNSET);
    }
    to[first..first + others].copy_from_slice(&later[..others]);
    items.truncate(from + first + others);
}
