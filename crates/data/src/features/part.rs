//! What one block adds to a training set, found by a worker that only looks into what is there.
//!
//! Numbers of values and attributes follow the order in which the file has them, so one thread has to give them. But
//! most of what a block has is known from the blocks before it. So workers look into the tables as they were when the
//! round began; what they do not find there gets numbers behind all others, in order of arrival in the block, in
//! tables of the block's own. When all blocks of the round are done, they are taken in, in the order of the file:
//! each new value and tuple is looked up once more and gets the number that reading in one go would have given it,
//! and the numbers of the block are put in its place. What this takes goes by what is new, not by what occurs.
//!
//! What templates read of a value, and attributes of one value, are kept by the number of the value ([`Kept`]). New
//! entries are noted by the workers and put there with their last numbers.

use std::ops::Range;

use super::dictionary::{Place, UNSET};
use super::extract::{Extractor, prefetch_all};
use super::table::{hash, hash_string};
use super::{
    Dictionary, Growing, Keys, KeysView, Labels, LexicaView, MOST_LABELS, OR, Strings, StringsView, UNKNOWN,
};
use crate::error::{Error, Result};
use crate::format::Block;
use seqoia_core::cast::narrow;
use seqoia_core::{Ragged, prefetch};

/// What is known of values, by their numbers, for all workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    views: Vec<u32>,  // [values][facts] what views read of a value
    direct: Vec<u32>, // [values][templates with one piece] their attributes
    few: Vec<u32>,    // [values][those that read few values] the same
}

/// An entry for [`Kept`].
#[derive(Clone, Copy, Debug)]
struct Note {
    place: Place,
    id: u32,
    value: u32,
}

impl Kept {
    #[inline]
    fn get(&self, place: Place, id: u32) -> u32 {
        let (cache, column, width) = match place {
            Place::View(column, width) => (&self.views, column, width),
            Place::Single(column, width, _) => (&self.direct, column, width),
            Place::Few(column, width, _) => (&self.few, column, width),
        };
        cache.get(id as usize * width + column).copied().unwrap_or(UNSET)
    }

    fn set(&mut self, place: Place, id: u32, value: u32) {
        let (cache, column, width) = match place {
            Place::View(column, width) => (&mut self.views, column, width),
            Place::Single(column, width, _) => (&mut self.direct, column, width),
            Place::Few(column, width, _) => (&mut self.few, column, width),
        };
        let at = id as usize * width + column;
        if cache.len() <= at {
            cache.resize((id as usize + 1) * width, UNSET);
        }
        cache[at] = value;
    }

    /// Bytes it takes, with those that an array has just left when it grew.
    pub(super) fn bytes(&self) -> usize {
        let longest = self.views.capacity().max(self.direct.capacity());
        4 * (self.views.capacity() + self.direct.capacity() + self.few.capacity() + longest / 2)
    }
}

/// What is new in a block.
#[derive(Clone, Debug)]
struct New {
    strings: Strings,
    codes: Vec<u64>, // [strings] their hashes
    nodes: Keys,
    edges: Keys,
    notes: Vec<Note>,
}

/// How many values and attributes there were when the round began: new ones are numbered from there on.
#[derive(Clone, Copy, Debug, Default)]
struct Bases {
    values: u32,
    nodes: u32,
    edges: u32,
}

/// Looks up what is known and numbers what is new.
struct Adding<'a> {
    known: &'a Growing,
    kept: &'a Kept,
    new: &'a mut New,
    bases: Bases,
    sentence: u32,
}

impl Dictionary for Adding<'_> {
    fn dense(&self) -> u32 {
        0
    }

    #[inline]
    fn value(&mut self, string: &str) -> u32 {
        self.value_hashed(string.as_bytes(), hash_string(string.as_bytes()))
    }

    #[inline]
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
        let id = self.known.strings.view().find_hashed(string, code);
        if id != UNKNOWN {
            return id;
        }
        let New { strings, codes, .. } = &mut *self.new;
        match strings.intern_hashed(string, code) {
            Some(id) => {
                if id as usize == codes.len() {
                    codes.push(code);
                }
                self.bases.values.saturating_add(id)
            }
            None => UNKNOWN,
        }
    }

    #[inline]
    fn given(&mut self, key: &[u32]) -> u32 {
        // A new one has the number of its new value, until both get their last ones.
        if self.known.plain().is_some() { key[1] } else { self.attribute(false, key, hash(key)) }
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        // One with a new value cannot be known.
        if key[1..].iter().all(|&value| value < self.bases.values) {
            let known = self.keys(edge).find_hashed(key, code);
            if known != UNKNOWN {
                return known;
            }
        }
        let (keys, base) = match edge {
            false => (&mut self.new.nodes, self.bases.nodes),
            true => (&mut self.new.edges, self.bases.edges),
        };
        keys.intern_hashed(key, code).map_or(UNKNOWN, |id| base.saturating_add(id))
    }

    fn lexica(&self) -> LexicaView<'_> {
        let mut view = self.known.lexica.view();
        view.words.sentence = self.sentence;
        view
    }

    #[inline]
    fn strings(&self) -> StringsView<'_> {
        self.known.strings.view()
    }

    fn fetch_given(&self, _: u32) {}

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        if edge { self.known.edges.view() } else { self.known.nodes.view() }
    }

    #[inline]
    fn base(&self) -> u32 {
        self.bases.values
    }

    #[inline]
    fn kept(&self, place: Place, id: u32) -> u32 {
        self.kept.get(place, id)
    }

    #[inline]
    fn fetch_single(&self, place: usize) {
        prefetch(&self.kept.direct, place);
    }

    #[inline]
    fn fetch_facts(&self, id: u32, facts: usize) {
        prefetch_all(&self.kept.views, id as usize * facts, facts);
    }

    #[inline]
    fn note(&mut self, place: Place, id: u32, value: u32) {
        self.new.notes.push(Note { place, id, value });
    }
}

/// The sentences of one block, in numbers of which some are not the last ones.
#[derive(Clone, Debug)]
pub(super) struct Part {
    new: New,
    last: Last,
    bases: Bases,
    pub(super) extractor: Extractor,
    labels: Labels,
    pub(super) gold: Vec<u16>,
    pub(super) nodes: Ragged,
    pub(super) edges: Ragged,
    pub(super) ends: Vec<u32>,
    pub(super) weights: Vec<f64>, // empty if all are 1
    pub(super) lines: Vec<u32>,
    error: Option<Error>,
}

/// Look-ups ahead of which a slot is asked for.
const AHEAD: usize = 16;

/// The last numbers of what was new in a block.
#[derive(Clone, Debug, Default)]
struct Last {
    values: Vec<u32>,
    tuples: [Tuples; 2], // of tokens and of edges
}

/// New tuples with the last numbers of their values.
#[derive(Clone, Debug, Default)]
struct Tuples {
    keys: Vec<u32>, // [n][stride]
    codes: Vec<u64>,
    numbers: Vec<u32>, // their own
}

impl Part {
    /// An empty one, with an extractor that was made for the dictionary.
    pub(super) fn new(extractor: Extractor, stride: usize) -> Self {
        let keys = Keys::new(stride);
        Part {
            new: New {
                strings: Strings::default(),
                codes: vec![],
                nodes: keys.clone(),
                edges: keys,
                notes: vec![],
            },
            last: Last::default(),
            bases: Bases::default(),
            extractor,
            labels: Labels::default(),
            gold: vec![],
            nodes: Ragged::default(),
            edges: Ragged::default(),
            ends: vec![],
            weights: vec![],
            lines: vec![],
            error: None,
        }
    }

    /// Reads a block whose first sentence has this number in the file, from 0. An error is kept with what was read
    /// before it.
    pub(super) fn read(
        &mut self,
        known: &Growing,
        kept: &Kept,
        file: &str,
        block: &Block,
        label: usize,
        before: usize,
    ) {
        self.clear();
        self.bases = Bases {
            values: narrow(known.strings.view().len()),
            nodes: narrow(known.nodes.view().len()),
            edges: narrow(known.edges.view().len()),
        };
        for sentence in block.sentences() {
            if let Err(error) = self.sentence(known, kept, file, block, sentence.tokens, label, before) {
                self.error = Some(error);
                return;
            }
        }
    }

    fn clear(&mut self) {
        self.new.strings.clear();
        self.new.codes.clear();
        self.new.nodes.clear();
        self.new.edges.clear();
        self.new.notes.clear();
        self.extractor.forget();
        self.labels = Labels::default();
        for lists in [&mut self.nodes, &mut self.edges] {
            lists.starts.clear();
            lists.items.clear();
            lists.values.clear();
        }
        self.gold.clear();
        self.ends.clear();
        self.weights.clear();
        self.lines.clear();
        self.error = None;
    }

    #[allow(clippy::too_many_arguments)] // one call
    fn sentence(
        &mut self,
        known: &Growing,
        kept: &Kept,
        file: &str,
        block: &Block,
        tokens: Range<usize>,
        label: usize,
        before: usize,
    ) -> Result<()> {
        let Part { new, bases, extractor, nodes, edges, .. } = self;
        let sentence = narrow(before + self.ends.len() + 1);
        let mut adding = Adding { known, kept, new, bases: *bases, sentence };
        extractor.extract(&mut adding, file, block, tokens.clone(), nodes, edges)?;
        self.lines.extend(tokens.clone().map(|i| u32::try_from(block.line(i)).unwrap_or(u32::MAX)));
        for i in tokens.clone() {
            let name = block.field(i, label);
            if name.contains(OR) {
                return Err(Error::at(file, block.line(i), format!("the label {name:?} holds a line end"))
                    .help("a label is a word: take it out"));
            }
            self.gold.push(self.labels.intern(name).unwrap_or(u16::MAX)); // none if there are too many
        }
        let weight = block.weight(tokens.start);
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.resize(self.ends.len(), 1.0);
            self.weights.push(weight);
        }
        self.ends.push(narrow(self.gold.len()));
        Ok(())
    }

    /// Gives new labels and values their last numbers: the first of four steps, of which the second and the last need
    /// nothing but the block.
    ///
    /// # Errors
    /// What is broken in the block, the first of it: `too_many` makes an error of a line with a label too many.
    pub(super) fn number_values(
        &mut self,
        dictionary: &mut Growing,
        labels: &mut Labels,
        too_many: impl FnOnce(u32) -> Error,
    ) -> Result<()> {
        let last: Vec<Option<u16>> = self
            .labels
            .iter()
            .map(|name| labels.intern(name).filter(|&id| usize::from(id) < MOST_LABELS))
            .collect();
        for (t, y) in self.gold.iter_mut().enumerate() {
            match last.get(usize::from(*y)).copied().flatten() {
                Some(id) => *y = id,
                None => return Err(too_many(self.lines.get(t).copied().unwrap_or(0))),
            }
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let (strings, codes) = (self.new.strings.view(), &self.new.codes);
        self.last.values.clear();
        for (i, &code) in codes.iter().enumerate() {
            if let Some(&code) = codes.get(i + AHEAD) {
                dictionary.strings.view().fetch_slot(code);
            }
            let value = dictionary.value_hashed(strings.get(narrow(i)).unwrap_or_default(), code);
            self.last.values.push(value);
        }
        Ok(())
    }

    /// Puts the last numbers of values into tuples, and hashes these.
    pub(super) fn hash_tuples(&mut self) {
        let Part { new, bases, last, extractor, .. } = self;
        for (new, tuples) in [&new.nodes, &new.edges].into_iter().zip(&mut last.tuples) {
            let stride = new.view().stride.max(1);
            tuples.keys.clear();
            tuples.keys.extend_from_slice(new.view().keys);
            tuples.codes.clear();
            for key in tuples.keys.chunks_exact_mut(stride) {
                let pieces = extractor.arity(key[0]); // the rest is padding
                renumber(&mut key[1..=pieces], bases.values, &last.values);
                tuples.codes.push(hash(key));
            }
        }
    }

    /// Gives new tuples their last numbers.
    pub(super) fn number_tuples(&mut self, dictionary: &mut Growing) {
        if let Some(group) = dictionary.plain() {
            for &value in &self.last.values {
                dictionary.given(&[group, value]);
            }
            self.last.tuples[0].numbers.clone_from(&self.last.values);
            return;
        }
        let stride = self.new.nodes.view().stride.max(1);
        for (edge, Tuples { keys, codes, numbers }) in [false, true].into_iter().zip(&mut self.last.tuples) {
            numbers.clear();
            for (i, (key, &code)) in keys.chunks_exact(stride).zip(&*codes).enumerate() {
                if let Some(&code) = codes.get(i + AHEAD) {
                    dictionary.keys(edge).fetch_slot(code);
                }
                numbers.push(dictionary.attribute(edge, key, code));
            }
        }
    }

    /// Puts all last numbers in place.
    pub(super) fn settle(&mut self) {
        let Part { new, bases, last, nodes, edges, .. } = self;
        let [of_nodes, of_edges] = &last.tuples;
        renumber(&mut nodes.items, bases.nodes, &of_nodes.numbers);
        renumber(&mut edges.items, bases.edges, &of_edges.numbers);
        for note in &mut new.notes {
            let (base, map) = match note.place {
                Place::View(..) => (bases.values, &last.values),
                Place::Single(.., false) | Place::Few(.., false) => (bases.nodes, &of_nodes.numbers),
                Place::Single(.., true) | Place::Few(.., true) => (bases.edges, &of_edges.numbers),
            };
            note.id = last_number(note.id, bases.values, &last.values);
            note.value = last_number(note.value, base, map);
        }
    }

    /// Keeps what was found out about values, for all workers.
    pub(super) fn keep(&self, kept: &mut Kept) {
        self.new.notes.iter().for_each(|note| kept.set(note.place, note.id, note.value));
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let lists = |l: &Ragged| 4 * (l.starts.capacity() + l.items.capacity() + l.values.capacity());
        let New { strings, codes, nodes, edges, notes } = &self.new;
        let new = strings.bytes() + nodes.bytes() + edges.bytes() + 8 * codes.capacity();
        let last =
            4 * self.last.values.capacity() + self.last.tuples.iter().map(Tuples::bytes).sum::<usize>();
        let tokens = 2 * self.gold.capacity() + 4 * (self.ends.capacity() + self.lines.capacity());
        let known = self.extractor.bytes();
        known
            + new
            + size_of::<Note>() * notes.capacity()
            + lists(&self.nodes)
            + lists(&self.edges)
            + tokens
            + last
    }
}

impl Tuples {
    fn bytes(&self) -> usize {
        4 * (self.keys.capacity() + self.numbers.capacity()) + 8 * self.codes.capacity()
    }
}

#[inline]
fn last_number(number: u32, base: u32, last: &[u32]) -> u32 {
    match number.checked_sub(base) {
        Some(new) if number < UNSET => last.get(new as usize).copied().unwrap_or(number),
        _ => number,
    }
}

fn renumber(items: &mut [u32], base: u32, last: &[u32]) {
    items.iter_mut().for_each(|item| *item = last_number(*item, base, last));
}
