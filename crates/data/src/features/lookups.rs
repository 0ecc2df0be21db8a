//! The tuples of a stretch of tokens, put together before any of them is looked up: a table is much larger than a
//! cache, and a sentence has hundreds of look-ups that need not wait for each other.
//!
//! Templates run one after another over all tokens of the stretch, so that each reads its views as arrays. Those of
//! which a piece has no value in the whole stretch are left out, and what does not exist at a token takes no room:
//! most templates of lists and of tests fire rarely.

use std::ops::Range;

use super::table::hash;
use super::template::{Compiled, Program};
use super::{Dictionary, NONE, UNKNOWN};
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// The tuples of some tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups {
    alive: Vec<bool>,    // [views] some value is known
    width: usize,        // templates that may fire
    counts: Vec<usize>,  // [tokens] templates that do
    wanted: Vec<Wanted>, // [tokens][width] the first `counts` of each token
    keys: Vec<u32>,      // [tokens][width][stride] their tuples, where there are several pieces
}

/// One attribute that is to be looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Number of the template.
    pub(super) template: u32,
    /// The value of the one piece; `NONE` if there are several.
    pub(super) value: u32,
    /// If there are several, the hash of the tuple, and then what [`Dictionary::fetch`] made of it.
    pub(super) code: u64,
}

impl Lookups {
    /// Takes in some tokens of a sentence of `length` whose views are `rows`, and asks for the memory where their
    /// attributes are. Those of one value are in `direct`.
    pub(super) fn fill(
        &mut self,
        program: &Program,
        dictionary: &impl Dictionary,
        rows: &[u32],
        direct: &[u32],
        tokens: Range<usize>,
        length: usize,
    ) {
        let row = length + 2 * program.pad;
        let padded = |view: usize| &rows[view * row + tokens.start..][..tokens.len() + 2 * program.pad];
        self.alive.clear();
        // Without a way out in the middle: this runs in vectors.
        let some = |view| padded(view).iter().fold(false, |some, value| some | (*value < UNKNOWN));
        self.alive.extend((0..program.views.len()).map(some));
        for &(view, column) in program.singles_of.iter().filter(|(view, _)| self.alive[*view]) {
            for &value in padded(view).iter().filter(|value| **value < UNKNOWN) {
                match value.checked_sub(dictionary.base()) {
                    Some(own) => prefetch(direct, own as usize * program.singles + column),
                    None => dictionary.fetch_single(value as usize * program.singles + column),
                }
            }
        }
        let alive = |template: &Compiled| template.pieces.iter().all(|(view, _)| self.alive[*view]);
        self.width = program.compiled.iter().filter(|template| alive(template)).count();
        self.counts.clear();
        self.counts.resize(tokens.len(), 0);
        let room = tokens.len() * self.width;
        if self.wanted.len() < room {
            self.wanted.resize(room, Wanted { template: 0, value: NONE, code: 0 });
            self.keys.resize(room * program.stride, 0);
        }
        let alive = std::mem::take(&mut self.alive);
        for (number, template) in program.compiled.iter().enumerate() {
            if !template.pieces.iter().all(|(view, _)| alive[*view]) {
                continue;
            }
            let piece = |&(view, offset): &(usize, isize)| {
                &rows[view * row + (program.pad + tokens.start).wrapping_add_signed(offset)..][..tokens.len()]
            };
            let mut add =
                |pieces: &[&[u32]]| self.add(narrow(number), template, program.stride, dictionary, pieces);
            match &*template.pieces {
                [a] => self.add_single(narrow(number), piece(a)),
                [a, b] => add(&[piece(a), piece(b)]),
                [a, b, c] => add(&[piece(a), piece(b), piece(c)]),
                more => add(&more.iter().map(piece).collect::<Vec<_>>()),
            }
        }
        self.alive = alive;
        for (some, count) in self.wanted.chunks_exact_mut(self.width.max(1)).zip(&self.counts) {
            for wanted in some[..*count].iter_mut().filter(|wanted| wanted.value == NONE) {
                wanted.code = dictionary.fetch(program.compiled[wanted.template as usize].edge, wanted.code);
            }
        }
    }

    fn add_single(&mut self, template: u32, values: &[u32]) {
        for ((t, &value), count) in values.iter().enumerate().zip(&mut self.counts) {
            // Written in any case, counted only if it is known: whether a template fires cannot be foreseen.
            self.wanted[t * self.width + *count] = Wanted { template, value, code: 0 };
            *count += usize::from(value < UNKNOWN);
        }
    }

    #[inline(always)] // for every number of pieces of its own
    fn add(
        &mut self,
        number: u32,
        template: &Compiled,
        stride: usize,
        dictionary: &impl Dictionary,
        pieces: &[&[u32]],
    ) {
        let table = dictionary.keys(template.edge);
        for (t, count) in self.counts.iter_mut().enumerate() {
            if !pieces.iter().all(|values| values[t] < UNKNOWN) {
                continue;
            }
            let at = t * self.width + *count;
            let key = &mut self.keys[at * stride..][..stride];
            let (pieces_of, padding) = key[1..].split_at_mut(pieces.len());
            pieces_of.iter_mut().zip(pieces).for_each(|(slot, values)| *slot = values[t]);
            padding.fill(0);
            key[0] = template.group;
            let code = hash(key);
            table.fetch_slot(code);
            self.wanted[at] = Wanted { template: number, value: NONE, code };
            *count += 1;
        }
    }

    /// What is to be looked up for a token of the stretch, in the order of templates.
    #[inline]
    pub(super) fn at(&self, t: usize) -> &[Wanted] {
        &self.wanted[t * self.width..][..self.counts[t]]
    }

    /// The tuples of a token, one after another.
    #[inline]
    pub(super) fn keys_at(&self, t: usize, stride: usize) -> &[u32] {
        &self.keys[t * self.width * stride..][..self.counts[t] * stride]
    }

    /// Numbers that there is room for.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.wanted.capacity() + self.keys.capacity()
    }
}
