//! Runs a program of templates over a sentence.
//!
//! Each field is looked up once; functions of it are cached by its number; templates then combine
//! numbers only. The arrays of a view have room for the boundaries on both sides, so no template
//! asks whether it looks outside the sentence.

use std::ops::Range;
use std::sync::Arc;

use super::function::YES;
use super::lexicon::PLACES;
use super::table::hash;
use super::template::Program;
use super::{
    Boundary, Function, Keys, KeysView, Lexica, LexicaView, NONE, Source, Strings, StringsView, UNKNOWN,
};
use crate::error::{Error, Result};
use crate::format::Block;
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// In place of a hash: the attribute does not exist here.
const ABSENT: u64 = 0;
/// In place of a hash: looked up by its one value.
const DIRECT: u64 = 1;
/// Marks a function value that has not been computed yet.
const UNSET: u32 = u32::MAX - 2;

/// The largest value: its square, times all features and passes that there may be, is still far from
/// infinity in single precision.
const LARGEST: f32 = 1e12;

/// Gives numbers to values and attributes.
pub trait Dictionary {
    /// Attributes below this number have dense rows and are to come first in their lists.
    fn dense(&self) -> u32;
    /// The number of a value, or [`UNKNOWN`].
    fn value(&mut self, string: &str) -> u32;
    /// The number of an attribute of a token or of an edge, given its tuple and the hash of that;
    /// [`UNKNOWN`] leaves it out.
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32;
    /// Word lists that attributes look into.
    fn lexica(&self) -> LexicaView<'_>;
    /// The table that [`Dictionary::attribute`] will look into.
    fn keys(&self, edge: bool) -> KeysView<'_>;
    /// Asks for the memory of the attribute that has most likely this hash.
    fn fetch(&self, edge: bool, code: u64) {
        self.keys(edge).fetch_key(code);
    }
}

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
    full: bool,
}

impl Growing {
    /// An empty one for a program.
    #[must_use]
    pub fn new(program: &Program, lexica: Arc<Lexica>) -> Self {
        let keys = Keys::new(program.stride());
        Growing { strings: Strings::default(), nodes: keys.clone(), edges: keys, lexica, full: false }
    }

    /// Something did not fit any more: four billion of anything are too many.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl Dictionary for Growing {
    fn dense(&self) -> u32 {
        0 // numbers are not the last ones yet
    }

    #[inline]
    fn value(&mut self, string: &str) -> u32 {
        self.strings.intern(string.as_bytes()).unwrap_or_else(|| {
            self.full = true;
            UNKNOWN
        })
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        let keys = if edge { &mut self.edges } else { &mut self.nodes };
        keys.intern_hashed(key, code).unwrap_or_else(|| {
            self.full = true;
            UNKNOWN
        })
    }

    fn lexica(&self) -> LexicaView<'_> {
        self.lexica.view()
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

impl Dictionary for Frozen<'_> {
    fn dense(&self) -> u32 {
        self.dense
    }

    #[inline]
    fn value(&mut self, string: &str) -> u32 {
        self.strings.find(string.as_bytes())
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

    fn lexica(&self) -> LexicaView<'_> {
        self.lexica
    }

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        if edge { self.edges } else { self.nodes }
    }

    #[inline]
    fn fetch(&self, edge: bool, code: u64) {
        let id = self.keys(edge).fetch_key(code);
        if let (Some(id), Some(numbers)) = (id, if edge { self.edge_numbers } else { self.node_numbers }) {
            prefetch(numbers, id as usize);
        }
    }
}

/// One worker's buffers for extracting attributes with one dictionary.
#[derive(Clone, Debug)]
pub struct Extractor {
    program: Arc<Program>,
    columns: Vec<u16>,           // that views read
    base: Vec<Vec<u32>>,         // [columns][T] numbers of the fields
    caches: Vec<Vec<u32>>,       // [views][values] numbers of the function's values
    direct: Vec<u32>,            // [values][templates with one piece] their attributes: a word's lie together
    rows: Vec<u32>,              // [views][pad + T + pad]
    outside: Vec<[Vec<u32>; 2]>, // [views] before and behind, [pad] each, nearest first
    singles: usize,              // templates with one piece
    places: [u32; 2],
    yes: u32,            // the value of a test that fires
    lists: usize,        // lists of names that views read
    listed: [u32; 4],    // the values of places in a name
    marks: [Vec<u8>; 2], // [lists][T] places in names, in natural and in lower case
    keys: Vec<u32>,      // [T][templates][stride] tuples of the sentence
    codes: Vec<u64>,     // [T][templates] their hashes, or a mark
    key: Vec<u32>,       // [stride] of an attribute that the file has
    later: Vec<(u32, f32)>,
    text: String,
}

impl Extractor {
    /// For a program and the dictionary that all later calls are given.
    pub fn new(program: Arc<Program>, dictionary: &mut impl Dictionary) -> Self {
        let mut columns = vec![];
        for view in &program.views {
            if let Source::Column(c, _) | Source::Cluster(c, _) = view.source
                && !columns.contains(&c)
            {
                columns.push(c);
            }
        }
        let mut outside = vec![];
        for view in &program.views {
            let mut side = |plain: &str, sign: char| -> Vec<u32> {
                (1..=program.pad)
                    .map(|distance| match view.boundary {
                        Boundary::Plain => dictionary.value(plain),
                        Boundary::Numbered => dictionary.value(&format!("_B{sign}{distance}")),
                        Boundary::Nothing => NONE,
                    })
                    .collect()
            };
            outside.push([side("<s>", '-'), side("</s>", '+')]);
        }
        let reads = |source: fn(Source) -> bool| program.views.iter().any(|v| source(v.source));
        let wants_place = reads(|s| s == Source::Place);
        let places = ["first", "inner"].map(|p| if wants_place { dictionary.value(p) } else { NONE });
        let tests = reads(|s| matches!(s, Source::First | Source::Twin(..)));
        let yes = if tests { dictionary.value(YES) } else { NONE };
        let lists = program.views.iter().filter_map(|v| match v.source {
            Source::Listed(_, list) | Source::ListedLower(_, list) => Some(usize::from(list) + 1),
            _ => None,
        });
        let lists = lists.max().unwrap_or(0);
        let listed = PLACES.map(|p| if lists > 0 { dictionary.value(p) } else { NONE });
        Extractor {
            base: vec![vec![]; columns.len()],
            caches: vec![vec![]; program.views.len()],
            direct: vec![],
            singles: program.compiled.iter().filter(|t| t.pieces.len() == 1).count(),
            rows: vec![],
            outside,
            places,
            yes,
            lists,
            listed,
            marks: [vec![], vec![]],
            keys: vec![],
            codes: vec![],
            key: vec![],
            later: vec![],
            text: String::new(),
            columns,
            program,
        }
    }

    /// Appends the attributes of a sentence, one list a token, those with dense rows first. Lists of
    /// edges are appended only if the program has attributes of edges.
    ///
    /// # Errors
    /// A value that is no number, with its line.
    pub fn extract<D: Dictionary>(
        &mut self,
        dictionary: &mut D,
        file: &str,
        block: &Block,
        tokens: Range<usize>,
        nodes: &mut Ragged,
        edges: &mut Ragged,
    ) -> Result<()> {
        self.fill_rows(dictionary, block, tokens.clone());
        self.look_ahead(dictionary, tokens.len());
        let program = Arc::clone(&self.program);
        let (values, dense, stride) = (program.has_values(), dictionary.dense(), program.stride);
        for out in [&mut *nodes, &mut *edges] {
            if out.starts.is_empty() {
                out.starts.push(0);
            }
        }
        let (given, mut looked) = (program.given(), 0);
        for t in 0..tokens.len() {
            let (from, mut single) = ([nodes.items.len(), edges.items.len()], 0);
            for template in &program.compiled {
                let (key, code) = (&self.keys[looked * stride..][..stride], self.codes[looked]);
                looked += 1;
                let column = single;
                single += usize::from(template.pieces.len() == 1);
                if code == ABSENT {
                    continue;
                }
                let value = match template.value {
                    None => 1.0,
                    Some((column, offset)) => match number(file, block, &tokens, t, column, offset)? {
                        Some(value) => value,
                        None => continue, // outside the sentence
                    },
                };
                let attribute = match code {
                    // One piece: looked up once for each value.
                    DIRECT => cached(&mut self.direct, key[1], self.singles, column, || {
                        dictionary.attribute(template.edge, key, hash(key))
                    }),
                    _ => dictionary.attribute(template.edge, key, code),
                };
                if attribute < UNSET {
                    let out = if template.edge { &mut *edges } else { &mut *nodes };
                    out.items.push(attribute);
                    out.values.extend(values.then_some(value));
                }
            }
            if let Some(group) = given {
                self.given(dictionary, group, block.attributes(tokens.start + t), nodes);
            }
            dense_first(nodes, from[0], dense, &mut self.later);
            nodes.starts.push(narrow(nodes.items.len()));
            if program.has_edges() {
                edges.starts.push(narrow(edges.items.len()));
            }
        }
        Ok(())
    }

    /// Appends the attributes that the file has. Values are kept from the first on that is not 1.
    fn given<'a, D: Dictionary>(
        &mut self,
        dictionary: &mut D,
        group: u32,
        attributes: impl Iterator<Item = (&'a str, f32)>,
        nodes: &mut Ragged,
    ) {
        self.key.resize(self.program.stride, 0);
        for (name, value) in attributes {
            self.key[0] = group;
            self.key[1] = dictionary.value(name);
            if self.key[1] >= UNKNOWN {
                continue;
            }
            let attribute = dictionary.attribute(false, &self.key, hash(&self.key));
            if attribute >= UNSET {
                continue;
            }
            if value != 1.0 || !nodes.values.is_empty() {
                nodes.values.resize(nodes.items.len(), 1.0);
                nodes.values.push(value);
            }
            nodes.items.push(attribute);
        }
    }

    /// Puts together the tuples of all attributes of the sentence and asks for the memory where they
    /// will be looked up: a table is much larger than a cache, and a sentence has hundreds of look-ups
    /// that need not wait for each other.
    fn look_ahead(&mut self, dictionary: &impl Dictionary, length: usize) {
        let program = &*self.program;
        let (row, stride) = (length + 2 * program.pad, program.stride);
        self.keys.clear();
        self.codes.clear();
        self.keys.resize(length * program.compiled.len() * stride, 0);
        let mut keys = self.keys.chunks_exact_mut(stride);
        for t in 0..length {
            for (template, key) in program.compiled.iter().zip(&mut keys) {
                key[0] = template.group;
                let mut known = true;
                for (slot, &(view, offset)) in key[1..].iter_mut().zip(&template.pieces) {
                    *slot = self.rows[view * row + (program.pad + t).wrapping_add_signed(offset)];
                    known &= *slot < UNKNOWN;
                }
                self.codes.push(match (known, template.pieces.len()) {
                    (false, _) => ABSENT,
                    (true, 1) => {
                        prefetch(&self.direct, key[1] as usize * self.singles);
                        DIRECT
                    }
                    (true, _) => {
                        let code = hash(key) | 1 << 63; // unlike the marks; no table looks at this bit
                        dictionary.keys(template.edge).fetch_slot(code);
                        code
                    }
                });
            }
        }
        let looked_up = self.codes.iter().zip(program.compiled.iter().cycle());
        for (&code, template) in looked_up.filter(|(code, _)| **code > DIRECT) {
            dictionary.fetch(template.edge, code);
        }
    }

    /// Finds the names of the sentence, if a view reads them.
    fn mark_names(&mut self, lexica: LexicaView<'_>, block: &Block, tokens: &Range<usize>) {
        for (lower, names) in [lexica.names, lexica.lower].into_iter().enumerate() {
            let column = self.program.views.iter().find_map(|v| match v.source {
                Source::Listed(column, _) if lower == 0 => Some(column),
                Source::ListedLower(column, _) if lower == 1 => Some(column),
                _ => None,
            });
            let Some(column) = column else { continue };
            let field = |i: usize| block.field(tokens.start + i, usize::from(column));
            let lowered: Vec<String> = match lower {
                0 => vec![],
                _ => (0..tokens.len()).map(|i| field(i).to_lowercase()).collect(),
            };
            let word = |i: usize| lowered.get(i).map_or_else(|| field(i), String::as_str);
            names.mark(self.lists, tokens.len(), word, &mut self.text, &mut self.marks[lower]);
        }
    }

    fn fill_rows(&mut self, dictionary: &mut impl Dictionary, block: &Block, tokens: Range<usize>) {
        for (column, base) in self.columns.iter().zip(&mut self.base) {
            base.clear();
            base.extend(tokens.clone().map(|i| dictionary.value(block.field(i, usize::from(*column)))));
        }
        self.mark_names(dictionary.lexica(), block, &tokens);
        let pad = self.program.pad;
        let row = tokens.len() + 2 * pad;
        self.rows.clear();
        self.rows.resize(self.program.views.len() * row, NONE);
        for (v, view) in self.program.views.iter().enumerate() {
            let out = &mut self.rows[v * row..][..row];
            let [before, behind] = &self.outside[v];
            for distance in 0..pad {
                out[pad - 1 - distance] = before[distance];
                out[row - pad + distance] = behind[distance];
            }
            let out = &mut out[pad..row - pad];
            match view.source {
                Source::Given => (), // never compiled
                Source::Place => {
                    out.fill(self.places[1]);
                    out.iter_mut().take(1).for_each(|o| *o = self.places[0]);
                }
                Source::First => out.iter_mut().take(1).for_each(|o| *o = self.yes),
                Source::Twin(column, distance) => {
                    let field = |i: usize| block.field(i, usize::from(column));
                    for (out, i) in out.iter_mut().zip(tokens.clone()) {
                        let other = i.checked_add_signed(distance.into()).filter(|j| tokens.contains(j));
                        // By text: two unknown characters have the same number.
                        if other.is_some_and(|j| field(i) == field(j)) {
                            *out = self.yes;
                        }
                    }
                }
                Source::Listed(_, list) | Source::ListedLower(_, list) => {
                    let marks = &self.marks[usize::from(matches!(view.source, Source::ListedLower(..)))];
                    let marks = marks.iter().skip(usize::from(list) * tokens.len());
                    for (out, &place) in out.iter_mut().zip(marks) {
                        *out = self.listed.get(usize::from(place)).copied().unwrap_or(NONE);
                    }
                }
                Source::Cluster(column, most) => {
                    let base = &self.base[self.columns.iter().position(|c| *c == column).unwrap_or(0)];
                    for ((out, &id), i) in out.iter_mut().zip(base).zip(tokens.clone()) {
                        *out = cached(&mut self.caches[v], id, 1, 0, || {
                            let word = block.field(i, usize::from(column));
                            match dictionary.lexica().clusters.cut(word, most.into(), &mut self.text) {
                                true => dictionary.value(&self.text),
                                false => NONE,
                            }
                        });
                    }
                }
                Source::Column(column, function) => {
                    let base = &self.base[self.columns.iter().position(|c| *c == column).unwrap_or(0)];
                    if function == Function::Same {
                        out.copy_from_slice(base);
                        continue;
                    }
                    for ((out, &id), i) in out.iter_mut().zip(base).zip(tokens.clone()) {
                        let field = || block.field(i, usize::from(column));
                        *out = cached(&mut self.caches[v], id, 1, 0, || {
                            match function.apply(field(), &mut self.text) {
                                true => dictionary.value(&self.text),
                                false => NONE,
                            }
                        });
                    }
                }
            }
        }
    }
}

/// Row `id`, column `column` of a cache with rows of `width`: computed once for each known word.
#[inline]
fn cached(cache: &mut Vec<u32>, id: u32, width: usize, column: usize, compute: impl FnOnce() -> u32) -> u32 {
    if id >= UNSET {
        return compute(); // an unknown word has no number to cache under
    }
    let at = id as usize * width + column;
    if cache.len() <= at {
        cache.resize((id as usize + 1) * width, UNSET);
    }
    if cache[at] == UNSET {
        cache[at] = compute();
    }
    cache[at]
}

fn number(
    file: &str,
    block: &Block,
    tokens: &Range<usize>,
    t: usize,
    column: usize,
    offset: isize,
) -> Result<Option<f32>> {
    let Some(i) = (tokens.start + t).checked_add_signed(offset).filter(|i| tokens.contains(i)) else {
        return Ok(None);
    };
    let field = block.field(i, column);
    match field.parse::<f32>() {
        Ok(x) if x.abs() <= LARGEST => Ok(Some(x)),
        Ok(x) if !x.is_nan() => {
            let what = format!("'{field}' in column {column} is too large a value");
            Err(Error::at(file, block.line(i), what).help("scale the column: values go up to 1e12"))
        }
        _ => Err(Error::at(file, block.line(i), format!("'{field}' in column {column} is no number"))
            .help("the template reads this column with %v; use %x to read it as text")),
    }
}

/// Brings attributes below `dense` to the front of the list that is being written; the order is kept
/// otherwise.
fn dense_first(lists: &mut Ragged, from: usize, dense: u32, later: &mut Vec<(u32, f32)>) {
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
