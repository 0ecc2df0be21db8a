//! Runs a program of templates over a sentence.
//!
//! Each field is looked up once; functions of it are cached by its number; templates then combine
//! numbers only. The arrays of a view have room for the boundaries on both sides, so no template
//! asks whether it looks outside the sentence.

use std::ops::Range;
use std::sync::Arc;

use super::template::Program;
use super::{Boundary, Function, Keys, KeysView, NONE, Source, Strings, StringsView, UNKNOWN};
use crate::error::{Error, Result};
use crate::format::Block;
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// Marks a function value that has not been computed yet.
const UNSET: u32 = u32::MAX - 2;

/// Gives numbers to values and attributes.
pub trait Dictionary {
    /// Attributes have their last numbers, and lists are to be sorted by them.
    const FINAL: bool;
    /// The number of a value, or [`UNKNOWN`].
    fn value(&mut self, string: &str) -> u32;
    /// The number of an attribute of a token or of an edge; [`UNKNOWN`] leaves it out.
    fn attribute(&mut self, edge: bool, key: &[u32]) -> u32;
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
    full: bool,
}

impl Growing {
    /// An empty one for a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let keys = Keys::new(program.stride());
        Growing { strings: Strings::default(), nodes: keys.clone(), edges: keys, full: false }
    }

    /// Something did not fit any more: four billion of anything are too many.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl Dictionary for Growing {
    const FINAL: bool = false;

    #[inline]
    fn value(&mut self, string: &str) -> u32 {
        self.strings.intern(string.as_bytes()).unwrap_or_else(|| {
            self.full = true;
            UNKNOWN
        })
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32]) -> u32 {
        let keys = if edge { &mut self.edges } else { &mut self.nodes };
        keys.intern(key).unwrap_or_else(|| {
            self.full = true;
            UNKNOWN
        })
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
}

impl Dictionary for Frozen<'_> {
    const FINAL: bool = true;

    #[inline]
    fn value(&mut self, string: &str) -> u32 {
        self.strings.find(string.as_bytes())
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32]) -> u32 {
        let (keys, numbers) =
            if edge { (self.edges, self.edge_numbers) } else { (self.nodes, self.node_numbers) };
        let id = keys.find(key);
        match numbers {
            Some(numbers) => numbers.get(id as usize).copied().unwrap_or(UNKNOWN),
            None => id,
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
    direct: Vec<Vec<u32>>,       // [templates][values] attributes of templates with one piece
    rows: Vec<u32>,              // [views][pad + T + pad]
    outside: Vec<[Vec<u32>; 2]>, // [views] before and behind, [pad] each, nearest first
    places: [u32; 2],
    key: Vec<u32>,
    text: String,
}

impl Extractor {
    /// For a program and the dictionary that all later calls are given.
    pub fn new(program: Arc<Program>, dictionary: &mut impl Dictionary) -> Self {
        let mut columns = vec![];
        for view in &program.views {
            if let Source::Column(c, _) = view.source
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
                    })
                    .collect()
            };
            outside.push([side("<s>", '-'), side("</s>", '+')]);
        }
        let wants_place = program.views.iter().any(|v| v.source == Source::Place);
        let places = ["first", "inner"].map(|p| if wants_place { dictionary.value(p) } else { NONE });
        Extractor {
            base: vec![vec![]; columns.len()],
            caches: vec![vec![]; program.views.len()],
            direct: vec![vec![]; program.compiled.len()],
            rows: vec![],
            outside,
            places,
            key: vec![0; program.stride()],
            text: String::new(),
            columns,
            program,
        }
    }

    /// Appends the attributes of a sentence, one list a token; in the order of their numbers if those
    /// are final. Lists of edges are appended only if the program has attributes of edges.
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
        let program = Arc::clone(&self.program);
        let (length, values) = (tokens.len(), program.has_values());
        let row = length + 2 * program.pad;
        for out in [&mut *nodes, &mut *edges] {
            if out.starts.is_empty() {
                out.starts.push(0);
            }
        }
        for t in 0..length {
            let from = [nodes.items.len(), edges.items.len()];
            'templates: for (template, direct) in program.compiled.iter().zip(&mut self.direct) {
                if let ([(view, offset)], None) = (&template.pieces[..], template.value) {
                    // One piece: looked up once for each value.
                    let value = self.rows[view * row + (program.pad + t).wrapping_add_signed(*offset)];
                    if value >= UNKNOWN {
                        continue;
                    }
                    let attribute = cached(direct, value, || {
                        self.key[0] = template.group;
                        self.key[1] = value;
                        self.key[2..].fill(0);
                        dictionary.attribute(template.edge, &self.key)
                    });
                    if attribute < UNSET {
                        let out = if template.edge { &mut *edges } else { &mut *nodes };
                        out.items.push(attribute);
                        out.values.extend(values.then_some(1.0));
                    }
                    continue;
                }
                self.key[0] = template.group;
                for (slot, &(view, offset)) in self.key[1..].iter_mut().zip(&template.pieces) {
                    *slot = self.rows[view * row + (program.pad + t).wrapping_add_signed(offset)];
                    if *slot >= UNKNOWN {
                        continue 'templates;
                    }
                }
                self.key[1 + template.pieces.len()..].fill(0);
                let value = match template.value {
                    None => 1.0,
                    Some((column, offset)) => match number(file, block, &tokens, t, column, offset)? {
                        Some(value) => value,
                        None => continue, // outside the sentence
                    },
                };
                let attribute = dictionary.attribute(template.edge, &self.key);
                if attribute >= UNKNOWN {
                    continue;
                }
                let out = if template.edge { &mut *edges } else { &mut *nodes };
                out.items.push(attribute);
                if values {
                    out.values.push(value);
                }
            }
            if D::FINAL {
                sort_last(nodes, from[0]);
                sort_last(edges, from[1]);
            }
            nodes.starts.push(narrow(nodes.items.len()));
            if program.has_edges() {
                edges.starts.push(narrow(edges.items.len()));
            }
        }
        Ok(())
    }

    fn fill_rows(&mut self, dictionary: &mut impl Dictionary, block: &Block, tokens: Range<usize>) {
        for (column, base) in self.columns.iter().zip(&mut self.base) {
            base.clear();
            base.extend(tokens.clone().map(|i| dictionary.value(block.field(i, usize::from(*column)))));
        }
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
                Source::Place => {
                    out.fill(self.places[1]);
                    out.iter_mut().take(1).for_each(|o| *o = self.places[0]);
                }
                Source::Column(column, function) => {
                    let base = &self.base[self.columns.iter().position(|c| *c == column).unwrap_or(0)];
                    if function == Function::Same {
                        out.copy_from_slice(base);
                        continue;
                    }
                    for ((out, &id), i) in out.iter_mut().zip(base).zip(tokens.clone()) {
                        let field = || block.field(i, usize::from(column));
                        *out = cached(&mut self.caches[v], id, || {
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

/// The value of a function, computed once for each known word.
#[inline]
fn cached(cache: &mut Vec<u32>, id: u32, compute: impl FnOnce() -> u32) -> u32 {
    if id >= UNSET {
        return compute(); // an unknown word has no number to cache under
    }
    if cache.len() <= id as usize {
        cache.resize(id as usize + 1, UNSET);
    }
    if cache[id as usize] == UNSET {
        cache[id as usize] = compute();
    }
    cache[id as usize]
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
        Ok(x) if x.is_finite() => Ok(Some(x)),
        _ => Err(Error::at(file, block.line(i), format!("'{field}' in column {column} is no number"))
            .help("the template reads this column with %v; use %x to read it as text")),
    }
}

/// Sorts the list that is being written.
fn sort_last(lists: &mut Ragged, from: usize) {
    if lists.values.is_empty() {
        lists.items[from..].sort_unstable();
        return;
    }
    let mut both: Vec<(u32, f32)> =
        lists.items[from..].iter().copied().zip(lists.values[from..].iter().copied()).collect();
    both.sort_by_key(|b| b.0);
    for (i, (item, value)) in both.into_iter().enumerate() {
        (lists.items[from + i], lists.values[from + i]) = (item, value);
    }
}
