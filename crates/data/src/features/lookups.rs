//! Numbers of tuples in tables that do not change, for dev data and for prediction: what [`Stretch`] and [`Numbers`]
//! find, in fewer steps.
//!
//! Templates often read the same at different places: `%x[-1,1]/%x[0,1]` of a token is `%x[0,1]/%x[1,1]` of the one
//! before. Such templates are a *family*; each tuple of values is met once for all of them, and what the table says of
//! each member is kept under the tuple: in a row for each value if there is one value, in a cache of fixed size if
//! there are several. So most tuples cost a look at one place, where the table takes three (slot, tuple, number) for
//! each template. Numbers do not depend on the order in which they are asked for, since the table does not grow.
//!
//! A window is gone through in steps, so that waits for memory overlap: places of all tuples are asked for, then read;
//! what is missing is looked up in the table, in three steps again; then the lists are written.
//!
//! [`Stretch`]: super::stretch::Stretch
//! [`Numbers`]: super::numbers::Numbers

use std::ops::Range;

use super::dictionary::UNSET;
use super::numbers::push_known;
use super::table::hash;
use super::template::Program;
use super::{Attributes, UNKNOWN};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// Members of a family stand no further from each other: each window has so many rows of cells more.
const REACH: usize = 8;
/// Caches of a worker take at most this part of the table of tuples.
const PART: usize = 4;
/// Tuples of a cache: no more help, and fewer do not pay the look.
const MOST: usize = 1 << 14;
const LEAST: usize = 1 << 6;
/// A tuple that does not exist, since a value is not known.
const NOWHERE: usize = usize::MAX;

/// Templates that read the same at different places.
#[derive(Clone, Debug)]
struct Family {
    pieces: Vec<(usize, isize)>, // view, offset from the first piece
    first: isize,                // the lowest offset of a first piece
    span: usize,                 // from that to the highest
    members: Vec<Member>,
    tuples: usize,   // of the cache, a power of two; 0: a row for each value
    known: Vec<u32>, // [tuples][pieces + members], values plus 1, then attributes; or [values][members]
    at: Vec<usize>,  // [tokens + span] where in `known`, for the window at hand
}

/// A template of a family.
#[derive(Clone, Debug)]
struct Member {
    template: usize,
    group: u32,
    edge: bool,
    offset: isize, // of its first piece
    cell: usize,   // of its attribute at the first tuple of a window
}

/// A tuple that no cache knows.
#[derive(Clone, Copy, Debug)]
struct Missing {
    family: usize,
    tuple: usize, // of the window
}

/// One worker's buffers for looking up with one dictionary.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    families: Vec<Family>,
    sized: bool,
    alive: Vec<bool>,      // [families] all of their views have known values in the window
    margin: usize,         // rows of cells before and behind the window
    cells: Vec<u32>,       // [margin + tokens + margin][templates that are alive] attributes, edges last
    missing: Vec<Missing>, // in the window
    keys: Vec<u32>,        // [missing][members][stride]
    codes: Vec<u64>,       // [missing][members]
    later: Vec<u32>,       // scratch
}

impl Lookups {
    /// For a program.
    pub(super) fn new(program: &Program) -> Self {
        let mut families: Vec<Family> = vec![];
        for (template, compiled) in program.compiled.iter().enumerate() {
            let offset = compiled.pieces.first().map_or(0, |piece| piece.1);
            let pieces: Vec<_> = compiled.pieces.iter().map(|(view, at)| (*view, at - offset)).collect();
            let near = |family: &Family| {
                let all = family.members.iter().map(|member| member.offset.abs_diff(offset));
                family.pieces == pieces && all.max().unwrap_or(0) <= REACH
            };
            let member = Member { template, group: compiled.group, edge: compiled.edge, offset, cell: 0 };
            match families.iter_mut().find(|family| near(family)) {
                Some(family) => family.members.push(member),
                None => families.push(Family::new(pieces, member)),
            }
        }
        families.iter_mut().for_each(Family::measure);
        Lookups {
            margin: families.iter().map(|family| family.span).max().unwrap_or(0),
            alive: vec![false; families.len()],
            families,
            sized: false,
            cells: vec![],
            missing: vec![],
            keys: vec![],
            codes: vec![],
            later: vec![],
        }
    }

    /// Appends the attributes of some tokens of a sentence of `length` whose views are `rows`: one list per token,
    /// those with dense rows first. Lists of edges are appended only if the program has attributes of edges.
    #[allow(clippy::too_many_arguments)] // what is read, and where it goes
    pub(super) fn append<A: Attributes>(
        &mut self,
        program: &Program,
        attributes: &mut A,
        rows: &[u32],
        length: usize,
        tokens: Range<usize>,
        nodes: &mut Ragged,
        edges: &mut Ragged,
    ) {
        if !self.sized {
            self.size(program, attributes);
        }
        let row = length + 2 * program.pad;
        let views = Views { rows, row, from: program.pad + tokens.start, tokens: tokens.len() };
        self.alive.clear();
        self.alive.extend(self.families.iter().map(|family| family.is_alive(&views, program.pad)));
        let [of_nodes, of_edges] = self.lay_out(program);
        let width = of_nodes + of_edges;
        self.cells.clear();
        self.cells.resize((tokens.len() + 2 * self.margin) * width, UNKNOWN);
        self.missing.clear();
        for family in alive(&mut self.families, &self.alive) {
            family.fetch(&views);
        }
        for number in (0..self.families.len()).filter(|number| self.alive[*number]) {
            self.families[number].find(number, &views, width, &mut self.cells, &mut self.missing);
        }
        self.look_up(program, attributes, &views, width);
        let dense = attributes.dense();
        for t in 0..tokens.len() {
            let cells = &self.cells[(self.margin + t) * width..][..width];
            let (of_node, of_edge) = cells.split_at(of_nodes);
            append(nodes, of_node, dense, &mut self.later);
            if program.has_edges() {
                append(edges, of_edge, 0, &mut self.later);
            }
        }
    }

    /// Chooses the sizes of caches, by the size of the table.
    fn size(&mut self, program: &Program, attributes: &impl Attributes) {
        self.sized = true;
        let joint = self.families.iter().filter(|family| family.pieces.len() > 1).count();
        let table = [false, true].map(|edge| attributes.keys(edge).len() * program.stride);
        let room = (table[0] + table[1]) / PART / joint.max(1);
        for family in self.families.iter_mut().filter(|family| family.pieces.len() > 1) {
            let most = (room / family.entry()).clamp(LEAST, MOST);
            family.tuples = 1 << most.ilog2();
            family.known = vec![0; family.tuples * family.entry()]; // pages come as they are touched
        }
    }

    /// Gives each template that is alive a column of cells, in the order of templates. How many are of nodes and of
    /// edges.
    fn lay_out(&mut self, program: &Program) -> [usize; 2] {
        let mut widths = [0, 0];
        let mut columns = vec![0; program.compiled.len()];
        for family in alive(&mut self.families, &self.alive) {
            family.members.iter().for_each(|member| columns[member.template] = 1);
        }
        for (column, template) in columns.iter_mut().zip(&program.compiled).filter(|(column, _)| **column > 0)
        {
            let next = &mut widths[usize::from(template.edge)];
            *column = *next;
            *next += 1;
        }
        let width = widths[0] + widths[1];
        for family in alive(&mut self.families, &self.alive) {
            for member in &mut family.members {
                let column = columns[member.template] + if member.edge { widths[0] } else { 0 };
                let behind = (member.offset - family.first).unsigned_abs();
                member.cell = (self.margin - behind) * width + column;
            }
        }
        widths
    }

    /// Finds what is missing in the table, and keeps it.
    fn look_up(
        &mut self,
        program: &Program,
        attributes: &mut impl Attributes,
        views: &Views<'_>,
        width: usize,
    ) {
        let Lookups { families, cells, missing, keys, codes, .. } = self;
        let stride = program.stride;
        keys.clear();
        codes.clear();
        for &Missing { family, tuple } in &*missing {
            let family = &families[family];
            for member in &family.members {
                let from = keys.len();
                keys.push(member.group);
                keys.extend(family.pieces.iter().map(|piece| views.value(family.first, *piece, tuple)));
                keys.resize(from + stride, 0);
                let code = hash(&keys[from..]);
                attributes.keys(member.edge).fetch_slot(code);
                codes.push(code);
            }
        }
        let members = missing.iter().flat_map(|missing| &families[missing.family].members);
        for (code, member) in codes.iter_mut().zip(members) {
            *code = attributes.fetch(member.edge, *code);
        }
        let mut looked_up = keys.chunks_exact(stride).zip(&*codes);
        for &Missing { family, tuple } in &*missing {
            let family = &mut families[family];
            let (at, pieces) = (family.at[tuple], family.keyed());
            for (i, member) in family.members.iter().enumerate() {
                let Some((key, code)) = looked_up.next() else { return };
                let attribute = attributes.fetched(member.edge, key, *code).min(UNKNOWN);
                cells[member.cell + tuple * width] = attribute;
                family.known[at + pieces + i] = attribute;
            }
            for i in 0..pieces {
                family.known[at + i] = views.value(family.first, family.pieces[i], tuple) + 1;
            }
        }
    }

    /// Bytes it takes for a window.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        let at: usize = self.families.iter().map(|family| family.at.capacity()).sum();
        8 * (at + self.codes.capacity()) + 4 * (self.cells.capacity() + self.keys.capacity())
    }
}

/// The views of a window.
struct Views<'a> {
    rows: &'a [u32],
    row: usize,  // numbers of a view
    from: usize, // of the first token
    tokens: usize,
}

impl<'a> Views<'a> {
    /// What a piece reads in each of so many tuples.
    fn piece(&self, first: isize, (view, offset): (usize, isize), tuples: usize) -> &'a [u32] {
        &self.rows[view * self.row + self.from.wrapping_add_signed(first + offset)..][..tuples]
    }

    fn value(&self, first: isize, piece: (usize, isize), tuple: usize) -> u32 {
        self.piece(first, piece, tuple + 1)[tuple]
    }
}

/// The families whose views have known values.
fn alive<'a>(families: &'a mut [Family], alive: &'a [bool]) -> impl Iterator<Item = &'a mut Family> {
    families.iter_mut().zip(alive).filter(|(_, alive)| **alive).map(|(family, _)| family)
}

impl Family {
    fn new(pieces: Vec<(usize, isize)>, member: Member) -> Self {
        Family { pieces, first: 0, span: 0, members: vec![member], tuples: 0, known: vec![], at: vec![] }
    }

    /// Finds out from where to where it reads.
    fn measure(&mut self) {
        let offsets = || self.members.iter().map(|member| member.offset);
        let (first, last) = (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0));
        (self.first, self.span) = (first, last.abs_diff(first));
    }

    /// Values that stand beside the attributes of a tuple.
    fn keyed(&self) -> usize {
        if self.tuples > 0 { self.pieces.len() } else { 0 }
    }

    /// Numbers of a tuple in the cache.
    fn entry(&self) -> usize {
        self.pieces.len() + self.members.len()
    }

    fn is_alive(&self, views: &Views<'_>, pad: usize) -> bool {
        self.pieces.iter().all(|&(view, _)| {
            let from = view * views.row + views.from - pad;
            // Without a way out in the middle: this runs in vectors.
            let values = &views.rows[from..][..views.tokens + 2 * pad];
            values.iter().fold(false, |some, value| some | (*value < UNKNOWN))
        })
    }

    /// Finds the places of the tuples of a window and asks for them.
    fn fetch(&mut self, views: &Views<'_>) {
        let (tuples, first) = (views.tokens + self.span, self.first);
        let piece = |piece: &(usize, isize)| views.piece(first, *piece, tuples);
        match &*self.pieces {
            [] => {
                self.at.clear();
                self.at.resize(tuples, 0);
                self.known.resize(self.members.len(), UNSET);
            }
            [a] => self.fetch_rows(piece(a)),
            [a, b] => self.fetch_tuples(tuples, [piece(a), piece(b)]),
            [a, b, c] => self.fetch_tuples(tuples, [piece(a), piece(b), piece(c)]),
            [a, b, c, ..] => {
                // The first three values choose the place; all of them are compared there.
                self.fetch_tuples(tuples, [piece(a), piece(b), piece(c)]);
                for more in &self.pieces[3..] {
                    for (at, value) in self.at.iter_mut().zip(views.piece(first, *more, tuples)) {
                        *at = if *value < UNKNOWN { *at } else { NOWHERE };
                    }
                }
            }
        }
    }

    fn fetch_rows(&mut self, values: &[u32]) {
        let members = self.members.len();
        self.at.clear();
        self.at.extend(values.iter().map(|value| match *value {
            value if value < UNKNOWN => value as usize * members,
            _ => NOWHERE,
        }));
        let end = self.at.iter().filter(|at| **at != NOWHERE).max().map_or(0, |at| at + members);
        if self.known.len() < end {
            self.known.resize(end, UNSET);
        }
        self.at.iter().for_each(|at| prefetch(&self.known, *at));
    }

    fn fetch_tuples<const N: usize>(&mut self, tuples: usize, pieces: [&[u32]; N]) {
        let (mask, entry) = (self.tuples - 1, self.entry());
        self.at.clear();
        self.at.extend((0..tuples).map(|j| {
            let values = pieces.map(|piece| piece[j]);
            #[allow(clippy::cast_possible_truncation)] // all bits of a hash are good
            let slot = (hash(&values) >> 29) as usize & mask;
            let at = if values.iter().all(|value| *value < UNKNOWN) { slot * entry } else { NOWHERE };
            prefetch(&self.known, at);
            at
        }));
    }

    /// Puts the attributes of the tuples that are known into their cells, and notes those that are not.
    fn find(
        &self,
        number: usize,
        views: &Views<'_>,
        width: usize,
        cells: &mut [u32],
        missing: &mut Vec<Missing>,
    ) {
        let (tuples, first) = (views.tokens + self.span, self.first);
        let mut fill = |pieces: &[&[u32]]| self.fill(number, pieces, width, cells, missing);
        let piece = |piece: &(usize, isize)| views.piece(first, *piece, tuples);
        match &*self.pieces {
            [] | [_] => fill(&[]),
            [a, b] => fill(&[piece(a), piece(b)]),
            [a, b, c] => fill(&[piece(a), piece(b), piece(c)]),
            more => fill(&more.iter().map(piece).collect::<Vec<_>>()),
        }
    }

    #[inline(always)] // for every number of pieces of its own
    fn fill(
        &self,
        number: usize,
        pieces: &[&[u32]],
        width: usize,
        cells: &mut [u32],
        missing: &mut Vec<Missing>,
    ) {
        let members = self.members.len();
        for (tuple, &at) in self.at.iter().enumerate().filter(|(_, at)| **at != NOWHERE) {
            let entry = &self.known[at..at + pieces.len() + members];
            let (values, attributes) = entry.split_at(pieces.len());
            let known = match pieces {
                [] => attributes[0] != UNSET,
                _ => values.iter().zip(pieces).all(|(value, piece)| *value == piece[tuple] + 1),
            };
            if known {
                for (member, attribute) in self.members.iter().zip(attributes) {
                    cells[member.cell + tuple * width] = *attribute;
                }
            } else {
                missing.push(Missing { family: number, tuple });
            }
        }
    }
}

/// Appends a list: of these attributes those that are known, those below `dense` first.
fn append(lists: &mut Ragged, attributes: &[u32], dense: u32, later: &mut Vec<u32>) {
    push_known(&mut lists.items, attributes, dense, later);
    lists.starts.push(narrow(lists.items.len()));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::stretch::WINDOW;
    use super::super::{
        Dictionary, Extractor, Frozen, Growing, KeysView, LexicaView, StringsView, Template, Values, crfpp,
        sets, wapiti,
    };
    use super::*;
    use crate::format::{self, Block, Blocks};
    use crate::open::Input;
    use seqoia_core::Random;

    /// The same dictionary, looked into template by template.
    #[derive(Clone, Copy)]
    struct Slow<'a>(Frozen<'a>);

    impl Values for Slow<'_> {
        fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
            self.0.value_hashed(string, code)
        }
        fn strings(&self) -> StringsView<'_> {
            self.0.strings()
        }
        fn lexica(&self) -> LexicaView<'_> {
            self.0.lexica()
        }
    }

    impl Attributes for Slow<'_> {
        fn dense(&self) -> u32 {
            self.0.dense()
        }
        fn given(&mut self, key: &[u32]) -> u32 {
            self.0.given(key)
        }
        fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
            self.0.attribute(edge, key, code)
        }
        fn keys(&self, edge: bool) -> KeysView<'_> {
            self.0.keys(edge)
        }
    }

    /// Rows of few tags and many words, in sentences of all lengths.
    fn text(random: &mut Random, words: usize) -> String {
        let mut text = String::new();
        for length in [1, 2, 3, 30, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW + 7] {
            for _ in 0..length {
                let word = random.below(words).min(random.below(words));
                text.push_str(&format!("W{word} T{} {}\n", random.below(9), random.below(2)));
            }
            text.push('\n');
        }
        text
    }

    fn read(text: &str) -> Block {
        let mut blocks = Blocks::new(Input::from_bytes("x", text).unwrap());
        let mut block = Block::default();
        format::first(&mut blocks, &mut block, None).unwrap().parse("x", &mut block).unwrap();
        block
    }

    fn lists<D: Dictionary>(extractor: &mut Extractor, dictionary: &mut D, block: &Block) -> [Ragged; 2] {
        let [mut nodes, mut edges] = [Ragged::default(), Ragged::default()];
        for sentence in block.sentences() {
            extractor.extract(dictionary, "x", block, sentence.tokens, &mut nodes, &mut edges).unwrap();
        }
        [nodes, edges]
    }

    fn programs() -> Vec<Vec<Template>> {
        let templates = "U:%x[-1,0]\nU:%x[1,0]\nU1:%x[0,1]\nU2:%x[-2,1]\nU3:\n\
                         U4:%x[-1,0]/%x[0,0]\nU5:%x[0,0]/%x[1,0]\nB1:%x[1,0]/%x[2,0]\nU6:%x[0,1]/%x[0,0]\n\
                         U7:%x[-1,1]/%x[0,1]/%x[1,1]\nU8:%x[0,1]/%x[1,1]/%x[2,1]\nB2:%x[0,1]\nB\n\
                         U9:%x[-2,1]/%x[-1,1]/%x[0,1]/%x[1,1]\nUa:%x[-1,1]/%x[0,1]/%x[1,1]/%x[2,1]\n\
                         Ub:%x[20,0]/%x[21,0]\nUc:%x[-20,1]\nUd:%x[0,0]/%x[-1,0]\n";
        let patterns =
            "u:a=%x[@1,0]/%x[0,1]\nu:b=%x[@1,0]/%x[1,1]\n*:c=%m[0,0,\"1\"]\nu:d=%t[0,0,\"7\"]/%x[0,1]\n";
        let roles = sets::Roles { word: 0, pos: 1 };
        let mut programs = vec![
            crfpp::parse("t", templates).unwrap().templates,
            wapiti::parse("p", patterns).unwrap().templates,
        ];
        programs.extend(["chunking", "ner", "pos"].map(|set| sets::find(set, roles).unwrap()));
        programs
    }

    /// Small caches, whose tuples push each other out, and rare attributes that the model does not have.
    #[test]
    fn what_is_kept_is_what_the_table_says() {
        for (number, templates) in (0..).zip(programs()) {
            let (program, mut random) =
                (Arc::new(Program::new(templates)), Random::new(number, 0, 0, "lookups"));
            let mut growing = Growing::new(&program, Arc::default());
            let mut extractor = Extractor::new(Arc::clone(&program), &mut growing);
            lists(&mut extractor, &mut growing, &read(&text(&mut random, 120)));
            let count = growing.nodes.view().len();
            let numbers: Vec<u32> = (0..count)
                .map(|_| if random.below(5) == 0 { UNKNOWN } else { narrow(random.below(count)) })
                .collect();
            let frozen = Frozen {
                strings: growing.strings.view(),
                nodes: growing.nodes.view(),
                edges: growing.edges.view(),
                node_numbers: Some(&numbers),
                edge_numbers: None,
                dense: narrow(count / 3),
                lexica: LexicaView::default(),
            };
            let (mut fast, mut slow) = (frozen, Slow(frozen));
            let mut fast_extractor = Extractor::new(Arc::clone(&program), &mut fast);
            let mut slow_extractor = Extractor::new(Arc::clone(&program), &mut slow);
            for words in [120, 200, 20] {
                let block = read(&text(&mut random, words));
                let found = lists(&mut fast_extractor, &mut fast, &block);
                assert_eq!(found, lists(&mut slow_extractor, &mut slow, &block), "program {number}");
                assert!(found[0].items.len() > block.tokens().len());
            }
        }
    }

    #[test]
    fn templates_that_read_the_same_elsewhere_are_one_family() {
        let roles = sets::Roles { word: 0, pos: 1 };
        let families = |templates| {
            let lookups = Lookups::new(&Program::new(templates));
            lookups.families.iter().map(|f| (f.pieces.len(), f.members.len())).collect::<Vec<_>>()
        };
        // Words, tags, and their pairs and triples.
        assert_eq!(
            families(sets::find("chunking", roles).unwrap()),
            [(1, 5), (2, 2), (1, 5), (2, 4), (3, 3)]
        );
        let far = crfpp::parse("t", "U0:%x[0,0]\nU1:%x[9,0]\nU2:%x[-8,0]\n").unwrap().templates;
        assert_eq!(families(far), [(1, 2), (1, 1)]);
    }

    #[test]
    fn a_long_sentence_takes_no_more_room() {
        let roles = sets::Roles { word: 0, pos: 1 };
        let program = Arc::new(Program::new(sets::find("chunking", roles).unwrap()));
        let mut growing = Growing::new(&program, Arc::default());
        let room = |growing: &Growing, tokens: usize| {
            let mut frozen = Frozen {
                strings: growing.strings.view(),
                nodes: growing.nodes.view(),
                edges: growing.edges.view(),
                node_numbers: None,
                edge_numbers: None,
                dense: 0,
                lexica: LexicaView::default(),
            };
            let mut extractor = Extractor::new(Arc::clone(&program), &mut frozen);
            lists(&mut extractor, &mut frozen, &read(&"Rome NNP O\n".repeat(tokens)));
            extractor.lookups.bytes()
        };
        let mut extractor = Extractor::new(Arc::clone(&program), &mut growing);
        lists(&mut extractor, &mut growing, &read(&"Rome NNP O\n".repeat(9)));
        assert_eq!(room(&growing, 20 * WINDOW + 1), room(&growing, WINDOW));
    }
}
