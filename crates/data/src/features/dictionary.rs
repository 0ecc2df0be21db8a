//! Who gives numbers to values and attributes: a table that grows, or one that is only looked into.

use std::sync::Arc;

use super::table::{hash, hash_string};
use super::template::Program;
use super::{Keys, KeysView, Lexica, LexicaView, Strings, StringsView, UNKNOWN};
use seqoia_core::prefetch;

/// In place of a number: it has not been looked for yet.
pub(super) const UNSET: u32 = u32::MAX - 2;

/// In place of the number of a tuple: the table does not have it.
const NOT_THERE: u64 = u64::MAX;

/// Gives numbers to values: what templates read.
pub trait Values {
    /// The number of a value, or [`UNKNOWN`].
    fn value(&mut self, string: &str) -> u32 {
        self.value_hashed(string.as_bytes(), hash_string(string.as_bytes()))
    }
    /// The same for a string whose hash is known.
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32;
    /// The same for a string that has most likely the number `likely`.
    #[inline]
    fn value_fetched(&mut self, string: &[u8], code: u64, likely: u32) -> u32 {
        if self.strings().is(likely, string) { likely } else { self.value_hashed(string, code) }
    }
    /// The table that it looks into.
    fn strings(&self) -> StringsView<'_>;
    /// Word lists that views look into.
    fn lexica(&self) -> LexicaView<'_>;
}

/// Gives numbers to attributes: tuples of values.
pub trait Attributes {
    /// Whether what it says of a tuple never changes.
    const FIXED: bool = false;
    /// Attributes below this number have dense rows and are to come first in their lists.
    fn dense(&self) -> u32;
    /// The number of an attribute of the file's own, given its tuple (group, value); [`UNKNOWN`] leaves it out.
    /// The value is known.
    fn given(&mut self, key: &[u32]) -> u32;
    /// The number of an attribute of a token or of an edge, given its tuple and the hash of that;
    /// [`UNKNOWN`] leaves it out.
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32;
    /// The table that [`Attributes::attribute`] will look into.
    fn keys(&self, edge: bool) -> KeysView<'_>;
    /// Asks for the memory of the attribute that has most likely this hash. What it returns is for
    /// [`Attributes::fetched`].
    fn fetch(&self, edge: bool, code: u64) -> u64 {
        self.keys(edge).fetch_key(code);
        code
    }
    /// As [`Attributes::attribute`], with what [`Attributes::fetch`] returned in place of the hash.
    fn fetched(&mut self, edge: bool, key: &[u32], fetched: u64) -> u32 {
        self.attribute(edge, key, fetched)
    }
}

/// Gives numbers to both.
pub trait Dictionary: Values + Attributes {}

impl<D: Values + Attributes> Dictionary for D {}

/// A dictionary that takes in whatever is new: for reading training data.
#[derive(Clone, Debug)]
pub struct Growing {
    /// Values of pieces.
    pub strings: Strings,
    /// Attributes of tokens.
    pub nodes: Keys,
    /// Attributes of edges.
    pub edges: Keys,
    /// Word lists from outside.
    pub lexica: Arc<Lexica>,
    /// The training sentence that is read, counted from 1, which does not look into its own words; 0 if none.
    pub sentence: u32,
    /// All attributes are the file's own. Each is one value then, and has its number: there is nothing to look up.
    pub(super) plain: Option<u32>, // their group
    full: [bool; 2], // of values, of attributes
}

impl Growing {
    /// An empty one for a program.
    #[must_use]
    pub fn new(program: &Program, lexica: Arc<Lexica>) -> Self {
        let keys = Keys::new(program.stride());
        Growing {
            strings: Strings::default(),
            nodes: keys.clone(),
            edges: keys,
            lexica,
            sentence: 0,
            plain: program.given().filter(|_| program.is_given_alone()),
            full: [false; 2],
        }
    }

    /// Something did not fit any more: four billion of anything are too many.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full.contains(&true)
    }

    /// Its tables of values and of attributes, for two threads.
    pub(super) fn split(&mut self) -> (NewValues<'_>, NewAttributes<'_>) {
        let Growing { strings, nodes, edges, lexica, sentence, plain, full: [values_full, keys_full] } = self;
        let values = NewValues { strings, lexica, sentence: *sentence, full: values_full };
        (values, NewAttributes { nodes, edges, plain: *plain, full: keys_full })
    }
}

/// The half of a [`Growing`] that values are in.
pub(super) struct NewValues<'a> {
    strings: &'a mut Strings,
    lexica: &'a Lexica,
    pub(super) sentence: u32,
    pub(super) full: &'a mut bool,
}

/// The half of a [`Growing`] that attributes are in.
pub(super) struct NewAttributes<'a> {
    nodes: &'a mut Keys,
    edges: &'a mut Keys,
    plain: Option<u32>,
    pub(super) full: &'a mut bool,
}

impl NewValues<'_> {
    /// Bytes of the table.
    pub(super) fn bytes(&self) -> usize {
        self.strings.used()
    }
}

impl NewAttributes<'_> {
    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.used() + self.edges.used()
    }

    /// Number of attributes.
    pub(super) fn len(&self) -> usize {
        self.nodes.view().len() + self.edges.view().len()
    }
}

impl Values for NewValues<'_> {
    #[inline]
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
        self.strings.intern_hashed(string, code).unwrap_or_else(|| {
            *self.full = true;
            UNKNOWN
        })
    }

    #[inline]
    fn strings(&self) -> StringsView<'_> {
        self.strings.view()
    }

    fn lexica(&self) -> LexicaView<'_> {
        self.lexica.view_from(self.sentence)
    }
}

impl Attributes for NewAttributes<'_> {
    fn dense(&self) -> u32 {
        0 // numbers are not the last ones yet
    }

    #[inline]
    fn given(&mut self, key: &[u32]) -> u32 {
        if self.plain.is_none() {
            return self.attribute(false, key, hash(key));
        }
        if key[1] as usize == self.nodes.view().len() {
            self.nodes.push(key);
        }
        key[1]
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        let keys = if edge { &mut *self.edges } else { &mut *self.nodes };
        keys.intern_hashed(key, code).unwrap_or_else(|| {
            *self.full = true;
            UNKNOWN
        })
    }

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        if edge { self.edges.view() } else { self.nodes.view() }
    }
}

impl Values for Growing {
    #[inline]
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
        self.split().0.value_hashed(string, code)
    }

    #[inline]
    fn strings(&self) -> StringsView<'_> {
        self.strings.view()
    }

    fn lexica(&self) -> LexicaView<'_> {
        self.lexica.view_from(self.sentence)
    }
}

impl Attributes for Growing {
    fn dense(&self) -> u32 {
        0
    }

    #[inline]
    fn given(&mut self, key: &[u32]) -> u32 {
        self.split().1.given(key)
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        self.split().1.attribute(edge, key, code)
    }

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        if edge { self.edges.view() } else { self.nodes.view() }
    }
}

/// A dictionary that only looks up: for dev data and for prediction.
#[derive(Clone, Copy, Debug)]
pub struct Frozen<'a> {
    /// Values of pieces.
    pub strings: StringsView<'a>,
    /// Attributes of tokens.
    pub nodes: KeysView<'a>,
    /// Attributes of edges.
    pub edges: KeysView<'a>,
    /// Numbers of attributes in the model, if they are not those of the tables.
    pub node_numbers: Option<&'a [u32]>,
    /// The same for edges.
    pub edge_numbers: Option<&'a [u32]>,
    /// Attributes of tokens below this number have dense rows.
    pub dense: u32,
    /// Word lists from outside.
    pub lexica: LexicaView<'a>,
}

impl Frozen<'_> {
    /// The number of a tuple in the table of attributes of tokens, or [`UNKNOWN`]. Where all attributes are the
    /// file's own a tuple has the number of its value, which a look tells; the table may then have no slots.
    #[must_use]
    #[inline]
    pub fn node(&self, key: &[u32]) -> u32 {
        if let &[group, value] = key
            && self.nodes.stride == 2
            && self.nodes.keys.as_chunks().0.get(value as usize) == Some(&[group, value])
        {
            return value;
        }
        self.nodes.find(key)
    }
}

impl Values for Frozen<'_> {
    #[inline]
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
        self.strings.find_hashed(string, code)
    }

    #[inline]
    fn strings(&self) -> StringsView<'_> {
        self.strings
    }

    fn lexica(&self) -> LexicaView<'_> {
        self.lexica
    }
}

impl Attributes for Frozen<'_> {
    const FIXED: bool = true;

    fn dense(&self) -> u32 {
        self.dense
    }

    #[inline]
    fn given(&mut self, key: &[u32]) -> u32 {
        let id = self.node(key);
        match self.node_numbers {
            Some(numbers) => numbers.get(id as usize).copied().unwrap_or(UNKNOWN),
            None => id,
        }
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        let (keys, numbers) =
            if edge { (self.edges, self.edge_numbers) } else { (self.nodes, self.node_numbers) };
        let id = keys.find_hashed(key, code);
        match numbers {
            Some(numbers) => numbers.get(id as usize).copied().unwrap_or(UNKNOWN),
            None => id,
        }
    }

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        if edge { self.edges } else { self.nodes }
    }

    /// The number of the tuple that most likely is the one: the table does not change, so this need not be found twice.
    #[inline]
    fn fetch(&self, edge: bool, code: u64) -> u64 {
        let Some(id) = self.keys(edge).fetch_key(code) else { return NOT_THERE };
        if let Some(numbers) = if edge { self.edge_numbers } else { self.node_numbers } {
            prefetch(numbers, id as usize);
        }
        id.into()
    }

    #[inline]
    fn fetched(&mut self, edge: bool, key: &[u32], fetched: u64) -> u32 {
        let Ok(id) = u32::try_from(fetched) else { return UNKNOWN };
        let (keys, numbers) =
            if edge { (self.edges, self.edge_numbers) } else { (self.nodes, self.node_numbers) };
        if !keys.is(id, key) {
            return self.attribute(edge, key, hash(key)); // another tuple with these bits of the hash
        }
        match numbers {
            Some(numbers) => numbers.get(id as usize).copied().unwrap_or(UNKNOWN),
            None => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fetched_is_found_as_without() {
        let (mut keys, tuple) = (Keys::new(3), |i: u32| [i % 7, i, 0]);
        (0..500).for_each(|i| assert_eq!(keys.intern(&tuple(i)), Some(i)));
        let numbers: Vec<u32> = (0..500).rev().collect();
        for numbers in [None, Some(numbers.as_slice())] {
            let mut frozen = Frozen {
                strings: StringsView::default(),
                nodes: keys.view(),
                edges: KeysView::default(),
                node_numbers: numbers,
                edge_numbers: None,
                dense: 0,
                lexica: LexicaView::default(),
            };
            for key in (0..1000).map(tuple) {
                let code = hash(&key);
                let expected = frozen.attribute(false, &key, code);
                let fetched = frozen.fetch(false, code);
                assert_eq!(frozen.fetched(false, &key, fetched), expected);
                // As if another tuple had the same bits of the hash.
                assert_eq!(frozen.fetched(false, &key, 3), expected);
                assert_eq!(frozen.fetched(false, &key, u64::from(u32::MAX)), expected);
                let fetched = frozen.fetch(true, code);
                assert_eq!(frozen.fetched(true, &key, fetched), UNKNOWN);
            }
        }
    }
}
