//! Runs a program of templates over a sentence.
//!
//! Each field is looked up once; functions of it are cached by its number; templates then combine
//! numbers only. The arrays of a view have room for the boundaries on both sides, so no template
//! asks whether it looks outside the sentence.

use std::ops::Range;
use std::sync::Arc;

use super::dictionary::{Place, UNSET};
use super::function::{NO, YES, full_width, lower};
use super::given::Given;
use super::lexicon::{NOWHERE, PLACES};
use super::lookups::Lookups;
use super::mentions::Mentions;
use super::table::hash;
use super::template::Program;
use super::view::{self, FAR};
use super::word_list::LONGEST;
use super::{Dictionary, Function, LexicaView, NONE, NamesView, Source, UNKNOWN};
use crate::error::{Error, Result};
use crate::format::{Block, LARGEST};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;
use seqoia_core::prefetch;

/// Tokens whose tuples are put together before any is looked up.
const WINDOW: usize = 64;

/// How many tokens were found in lists so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Of each list of names, in either case.
    pub names: Vec<u64>,
    /// In clusters.
    pub clusters: u64,
}

/// One worker's buffers for extracting attributes with one dictionary.
#[derive(Clone, Debug)]
pub struct Extractor {
    program: Arc<Program>,
    columns: Vec<u16>,           // that views read
    base: Vec<Vec<u32>>,         // [columns][T] numbers of the fields
    facts: Vec<usize>,           // [views] which fact about a value of its column a view is
    width: usize,                // facts: those of views, then whether names begin with it, in both cases
    caches: Vec<u32>,            // [values][facts] numbers of the functions' values: a word's lie together
    direct: Vec<u32>,            // [values][templates with one piece] their attributes: a word's lie together
    few: Vec<u32>,               // [values][those that read few values] the same
    rows: Vec<u32>,              // [views][pad + T + pad]
    outside: Vec<[Vec<u32>; 2]>, // [views] before and behind, [pad, at least FAR] each, nearest first
    places: [u32; 2],
    yes: u32,              // the value of a test that fires
    no: u32,               // of one that does not, where it is asked for
    lists: usize,          // lists of names that views read
    listed: [u32; 4],      // the values of places in a name
    lengths: Vec<u32>,     // the values of lengths of words, from 1
    marks: [Vec<u8>; 2],   // [lists][T] places in names, in natural and in lower case
    begins: Vec<bool>,     // [T] whether a name may begin there
    found: [u32; 2],       // masks of the lists that have names in the sentence, in both cases
    words: Vec<u32>,       // [LONGEST][T] the word of each length that starts here: its value
    word_values: Vec<u32>, // [words of the dictionary] their values
    matched: Matched,
    mentioned: Option<(u16, bool)>, // the column in whose mentions views look, in full width
    mentions: Mentions,
    lookups: Lookups, // of at most WINDOW tokens
    key: Vec<u32>,    // [stride] scratch
    given: Given,
    later: Vec<(u32, f32)>,
    text: String,
    wide: String,
}

impl Extractor {
    /// For a program and the dictionary that all later calls are given.
    pub fn new(program: Arc<Program>, dictionary: &mut impl Dictionary) -> Self {
        let mut columns = vec![];
        for view in &program.views {
            use Source::{Cluster, Column, Match, MatchLower, Test};
            if let Column(c, _) | Test(c, _) | Match(c, _) | MatchLower(c, _) | Cluster(c, _) = view.source
                && !columns.contains(&c)
            {
                columns.push(c);
            }
        }
        let (mut facts, mut cached_views) = (vec![], 0);
        for view in &program.views {
            use Source::{Cluster, Column, Match, MatchLower, Test};
            facts.push(cached_views);
            let is_cached =
                matches!(view.source, Column(..) | Test(..) | Match(..) | MatchLower(..) | Cluster(..));
            cached_views += usize::from(is_cached);
        }
        let (mut outside, mut wide, mut text) = (vec![], String::new(), String::new());
        for view in &program.views {
            let distances = if view.fixed.is_some() { program.pad.max(FAR) } else { program.pad };
            outside.push(['-', '+'].map(|sign| {
                let value = |distance| match view.outside(sign, distance, &mut wide, &mut text) {
                    true => dictionary.value(&text),
                    false => NONE,
                };
                (1..=distances).map(value).collect()
            }));
        }
        let reads = |source: fn(&Source) -> bool| program.views.iter().any(|v| source(&v.source));
        let wants_place = reads(|s| *s == Source::Place);
        let places = ["first", "inner"].map(|p| if wants_place { dictionary.value(p) } else { NONE });
        let tests = reads(|s| matches!(s, Source::First | Source::Twin(..)));
        let yes = if tests { dictionary.value(YES) } else { NONE };
        let no = if program.views.iter().any(|v| v.fails) { dictionary.value(NO) } else { NONE };
        let lists = program.views.iter().filter_map(|v| match v.source {
            Source::Listed(_, list) | Source::ListedLower(_, list) => Some(usize::from(list) + 1),
            _ => None,
        });
        let lists = lists.max().unwrap_or(0);
        let listed = PLACES.map(|p| if lists > 0 { dictionary.value(p) } else { NONE });
        let long = reads(|s| matches!(s, Source::LongestStarting(_) | Source::LongestEnding(_)));
        let lengths = (1..=LONGEST).filter(|_| long).map(|n| dictionary.value(&n.to_string())).collect();
        Extractor {
            base: vec![vec![]; columns.len()],
            facts,
            width: cached_views + 2,
            caches: vec![],
            direct: vec![],
            few: vec![],
            rows: vec![],
            outside,
            places,
            yes,
            no,
            lists,
            listed,
            lengths,
            marks: [vec![], vec![]],
            begins: vec![],
            found: [0, 0],
            words: vec![],
            word_values: vec![],
            matched: Matched { names: vec![0; lists], clusters: 0 },
            mentioned: program.views.iter().find_map(|v| match v.source {
                Source::Mention(column, ..) => Some((column, v.wide)),
                _ => None,
            }),
            mentions: Mentions::default(),
            lookups: Lookups::default(),
            key: vec![],
            given: Given::default(),
            later: vec![],
            text,
            wide,
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
        let program = Arc::clone(&self.program);
        let (values, dense, stride) = (program.has_values(), dictionary.dense(), program.stride);
        for out in [&mut *nodes, &mut *edges] {
            if out.starts.is_empty() {
                out.starts.push(0);
            }
        }
        let given = program.given();
        if let Some(group) = given.filter(|_| program.is_given_alone()) {
            self.given.extract(dictionary, [group, narrow(stride)], block, tokens, nodes);
            return Ok(());
        }
        self.fill_rows(dictionary, block, tokens.clone());
        for t in 0..tokens.len() {
            if t % WINDOW == 0 {
                let stretch = t..tokens.len().min(t + WINDOW);
                self.lookups.fill(&program, dictionary, &self.rows, &self.direct, stretch, tokens.len());
            }
            let from = nodes.items.len();
            let keys = self.lookups.keys_at(t % WINDOW, stride).chunks_exact(stride);
            for (wanted, key) in self.lookups.at(t % WINDOW).iter().zip(keys) {
                let template = &program.compiled[wanted.template as usize];
                let value = match template.value {
                    None => 1.0,
                    Some((column, offset)) => match number(file, block, &tokens, t, column, offset)? {
                        Some(value) => value,
                        None => continue, // outside the sentence
                    },
                };
                let attribute = match wanted.value {
                    NONE => dictionary.fetched(template.edge, key, wanted.code),
                    // One piece: looked up once for each value.
                    value => {
                        let (cache, place) = match template.few {
                            false => (
                                &mut self.direct,
                                Place::Single(template.column, program.singles, template.edge),
                            ),
                            true => (&mut self.few, Place::Few(template.column, program.few, template.edge)),
                        };
                        cached(dictionary, cache, place, value, |dictionary| {
                            self.key.clear();
                            self.key.extend([template.group, value]);
                            self.key.resize(stride, 0);
                            dictionary.attribute(template.edge, &self.key, hash(&self.key))
                        })
                    }
                };
                if attribute < UNSET {
                    let out = if template.edge { &mut *edges } else { &mut *nodes };
                    out.items.push(attribute);
                    if values {
                        out.values.push(value);
                    }
                }
            }
            if let Some(group) = given {
                self.given.add(dictionary, [group, narrow(stride)], block, tokens.start + t, nodes);
                nodes.values.resize(nodes.items.len(), 1.0); // templates beside them have values
            }
            dense_first(nodes, from, dense, &mut self.later);
            nodes.starts.push(narrow(nodes.items.len()));
            if program.has_edges() {
                edges.starts.push(narrow(edges.items.len()));
            }
        }
        Ok(())
    }

    /// Finds the names of the sentence, if a view reads them.
    fn mark_names(&mut self, dictionary: &mut impl Dictionary, block: &Block, tokens: &Range<usize>) {
        for case in [0, 1] {
            let column = self.program.views.iter().find_map(|v| match v.source {
                Source::Listed(column, _) if case == 0 => Some(column),
                Source::ListedLower(column, _) if case == 1 => Some(column),
                _ => None,
            });
            let Some(column) = column else { continue };
            let push = |i: usize, out: &mut String| match block.field(tokens.start + i, usize::from(column)) {
                word if case == 0 => out.push_str(word),
                word => lower(word, out),
            };
            // Most words begin no name; that is found out once for each.
            let ids = self.columns.iter().position(|c| *c == column).map(|c| &self.base[c]);
            let fact = Place::View(self.width - 2 + case, self.width);
            self.begins.clear();
            for i in 0..tokens.len() {
                let id = ids.map_or(UNKNOWN, |ids| ids[i]);
                let begins = cached(dictionary, &mut self.caches, fact, id, |dictionary| {
                    self.text.clear();
                    push(i, &mut self.text);
                    if names_of(dictionary.lexica(), case).begins(&self.text) { UNKNOWN } else { NONE }
                });
                self.begins.push(begins == UNKNOWN);
            }
            let names = names_of(dictionary.lexica(), case);
            let (begins, marks) = (&self.begins, &mut self.marks[case]);
            self.found[case] = names.mark(self.lists, begins, push, &mut self.text, marks);
            if case == 1 {
                let lists = self.marks[case].chunks_exact(tokens.len().max(1));
                for (count, marks) in self.matched.names.iter_mut().zip(lists) {
                    *count += marks.iter().filter(|mark| **mark != NOWHERE).count() as u64;
                }
            }
        }
    }

    /// Finds the words of the dictionary in the sentence, if a view reads them.
    fn find_words(&mut self, dictionary: &mut impl Dictionary, block: &Block, tokens: &Range<usize>) {
        let column = self.program.views.iter().find_map(|v| match v.source {
            Source::WordStarting(column, _)
            | Source::WordEnding(column, _)
            | Source::LongestStarting(column)
            | Source::LongestEnding(column) => Some(usize::from(column)),
            _ => None,
        });
        let Some(column) = column else { return };
        self.words.clear();
        self.words.resize(usize::from(LONGEST) * tokens.len(), NONE);
        for start in 0..tokens.len() {
            self.text.clear();
            for (length, i) in (tokens.start + start..tokens.end).take(LONGEST.into()).enumerate() {
                self.text.extend(block.field(i, column).chars().map(full_width));
                let Some((id, is_word)) = dictionary.lexica().words.find(&self.text) else { break };
                if is_word {
                    let at = id as usize;
                    if self.word_values.len() <= at {
                        self.word_values.resize(at + 1, UNSET);
                    }
                    if self.word_values[at] == UNSET {
                        self.word_values[at] = dictionary.value(&self.text);
                    }
                    self.words[length * tokens.len() + start] = self.word_values[at];
                }
            }
        }
    }

    /// Computes the views: what templates combine.
    fn fill_rows(&mut self, dictionary: &mut impl Dictionary, block: &Block, tokens: Range<usize>) {
        for (column, base) in self.columns.iter().zip(&mut self.base) {
            base.clear();
            base.extend(tokens.clone().map(|i| dictionary.value(block.field(i, usize::from(*column)))));
        }
        for id in self.base.iter().flatten().filter(|id| **id < UNKNOWN) {
            match id.checked_sub(dictionary.base()) {
                Some(own) => prefetch_all(&self.caches, own as usize * self.width, self.width),
                None => dictionary.fetch_facts(*id, self.width),
            }
        }
        self.mark_names(dictionary, block, &tokens);
        self.find_words(dictionary, block, &tokens);
        if let Some((column, wide)) = self.mentioned {
            self.mentions.follow(block, usize::from(column), wide, &tokens);
        }
        let base = |column: u16| &self.base[self.columns.iter().position(|c| *c == column).unwrap_or(0)];
        let pad = self.program.pad;
        let mut clustered = None;
        let row = tokens.len() + 2 * pad;
        self.rows.clear();
        self.rows.resize(self.program.views.len() * row, NONE);
        for (v, view) in self.program.views.iter().enumerate() {
            let out = &mut self.rows[v * row..][..row];
            let [before, behind] = &self.outside[v];
            let fact = Place::View(self.facts[v], self.width);
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
                Source::First => {
                    out.fill(if view.fails { self.no } else { NONE });
                    out.iter_mut().take(1).for_each(|o| *o = self.yes);
                }
                Source::Twin(column, distance) => {
                    let field = |i: usize| block.field(i, usize::from(column));
                    for (out, i) in out.iter_mut().zip(tokens.clone()) {
                        let other = i.checked_add_signed(distance.into()).filter(|j| tokens.contains(j));
                        // By text: two unknown characters have the same number.
                        match other.map(|j| view.same(field(i), field(j))) {
                            Some(true) => *out = self.yes,
                            Some(false) if view.fails => *out = self.no,
                            _ => (),
                        }
                    }
                }
                Source::Listed(_, list) | Source::ListedLower(_, list) => {
                    let case = usize::from(matches!(view.source, Source::ListedLower(..)));
                    if self.found[case] & 1_u32.checked_shl(list.into()).unwrap_or(0) != 0 {
                        let marks = self.marks[case].iter().skip(usize::from(list) * tokens.len());
                        for (out, &place) in out.iter_mut().zip(marks) {
                            *out = self.listed.get(usize::from(place)).copied().unwrap_or(NONE);
                        }
                    }
                }
                Source::WordStarting(_, length) => {
                    let words = of_length(&self.words, length, tokens.len());
                    out.iter_mut().zip(words).for_each(|(out, word)| *out = *word);
                }
                Source::WordEnding(_, length) => {
                    let words = of_length(&self.words, length, tokens.len());
                    let ends = out.iter_mut().skip(usize::from(length).saturating_sub(1));
                    ends.zip(words).for_each(|(out, word)| *out = *word);
                }
                Source::LongestStarting(_) | Source::LongestEnding(_) => {
                    let ending = matches!(view.source, Source::LongestEnding(_));
                    for length in 1..=LONGEST {
                        let words = of_length(&self.words, length, tokens.len());
                        let first = if ending { usize::from(length) - 1 } else { 0 };
                        let found = out.iter_mut().skip(first).zip(words).filter(|(_, word)| **word != NONE);
                        found.for_each(|(out, _)| *out = self.lengths[usize::from(length) - 1]);
                    }
                }
                Source::Mention(column, which, step) | Source::MentionPath(column, which, step, _) => {
                    for (out, i) in out.iter_mut().zip(tokens.clone()) {
                        let Some(beside) = self.mentions.beside(i, which, step) else { continue };
                        let field = |at| block.field(at, usize::from(column));
                        let some = match (beside, &view.source) {
                            (Err(end), _) => Function::Same.apply(end, &mut self.text),
                            (Ok(at), Source::MentionPath(.., most)) => {
                                let clusters = dictionary.lexica().clusters;
                                clusters.cut(field(at), usize::from(*most), &mut self.text)
                            }
                            (Ok(at), _) => {
                                let function = if step == 0 { Function::BriefShape } else { Function::Lower };
                                function.apply(view.in_width(field(at), &mut self.wide), &mut self.text)
                            }
                        };
                        if some {
                            *out = dictionary.value(&self.text);
                        }
                    }
                }
                Source::Cluster(column, most) => {
                    for ((out, &id), i) in out.iter_mut().zip(base(column)).zip(tokens.clone()) {
                        *out = cached(dictionary, &mut self.caches, fact, id, |dictionary| {
                            let word = block.field(i, usize::from(column));
                            match dictionary.lexica().clusters.cut(word, most.into(), &mut self.text) {
                                true => dictionary.value(&self.text),
                                false => NONE,
                            }
                        });
                    }
                    clustered = clustered.or_else(|| Some(out.iter().filter(|id| **id != NONE).count()));
                }
                Source::Column(column, Function::Same) if !view.wide => out.copy_from_slice(base(column)),
                Source::Column(column, _)
                | Source::Test(column, _)
                | Source::Match(column, _)
                | Source::MatchLower(column, _) => {
                    for ((out, &id), i) in out.iter_mut().zip(base(column)).zip(tokens.clone()) {
                        let field = || block.field(i, usize::from(column));
                        *out = cached(dictionary, &mut self.caches, fact, id, |dictionary| {
                            match view.read(field(), &mut self.wide, &mut self.text) {
                                true => dictionary.value(&self.text),
                                false => NONE,
                            }
                        });
                    }
                }
            }
            if let Some(place) = view.fixed {
                let value = match view::fixed(place, tokens.len()) {
                    Ok(at) => out.get(at).copied(),
                    Err(outside) => {
                        let side = if outside < 0 { before } else { behind };
                        side.get(outside.unsigned_abs().min(FAR) - 1).copied()
                    }
                };
                out.fill(value.unwrap_or(NONE));
            }
        }
        self.matched.clusters += clustered.unwrap_or(0) as u64;
    }

    /// Forgets what was found out about values, so that they may get other numbers.
    pub(super) fn forget(&mut self) {
        self.caches.clear();
        self.direct.clear();
        self.few.clear();
        self.word_values.clear();
    }

    /// Bytes of what was found out about values.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.caches.capacity() + self.direct.capacity() + self.few.capacity())
    }

    /// How many pieces the attributes of a group have.
    pub(super) fn arity(&self, group: u32) -> usize {
        self.program.arity(group)
    }

    /// Takes over what another one found in lists.
    pub(super) fn add_matched(&mut self, other: &mut Extractor) {
        self.matched.clusters += std::mem::take(&mut other.matched.clusters);
        for (count, more) in self.matched.names.iter_mut().zip(&mut other.matched.names) {
            *count += std::mem::take(more);
        }
    }

    /// What was found in lists so far.
    #[must_use]
    pub fn matched(&self) -> &Matched {
        &self.matched
    }
}

/// Names as they are, or in lower case.
fn names_of(lexica: LexicaView<'_>, case: usize) -> NamesView<'_> {
    if case == 0 { lexica.names } else { lexica.lower }
}

/// The words of one length, for each token that they may start at.
fn of_length(words: &[u32], length: u8, tokens: usize) -> &[u32] {
    let before = usize::from(length).checked_sub(1).map(|n| n * tokens);
    before.and_then(|from| words.get(from..from + tokens)).unwrap_or_default()
}

/// Asks for `count` numbers from a place on.
pub(super) fn prefetch_all(numbers: &[u32], from: usize, count: usize) {
    const LINE: usize = 16; // numbers in a line of a cache
    (from..from + count).step_by(LINE).for_each(|at| prefetch(numbers, at));
}

/// A fact about a value: computed once for each.
#[inline]
fn cached<D: Dictionary>(
    dictionary: &mut D,
    cache: &mut Vec<u32>,
    place: Place,
    id: u32,
    compute: impl FnOnce(&mut D) -> u32,
) -> u32 {
    if id >= UNSET {
        return compute(dictionary); // an unknown word has no number to cache under
    }
    let Some(own) = id.checked_sub(dictionary.base()) else {
        let kept = dictionary.kept(place, id);
        if kept != UNSET {
            return kept;
        }
        let value = compute(dictionary);
        dictionary.note(place, id, value);
        return value;
    };
    let (Place::View(column, width) | Place::Single(column, width, _) | Place::Few(column, width, _)) = place;
    let at = own as usize * width + column;
    if cache.len() <= at {
        cache.resize((own as usize + 1) * width, UNSET);
    }
    if cache[at] == UNSET {
        cache[at] = compute(dictionary);
        dictionary.note(place, id, cache[at]);
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

#[cfg(test)]
mod tests {
    use super::super::{Growing, sets};
    use super::*;
    use crate::format::{self, Blocks};
    use crate::open::Input;

    #[test]
    fn a_long_sentence_takes_no_more_room_for_its_tuples() {
        let roles = sets::Roles { word: 0, pos: 1 };
        let program = Arc::new(Program::new(sets::find("ner", roles).unwrap()));
        let room = |tokens: usize| {
            let mut blocks = Blocks::new(Input::from_bytes("x", "Rome NNP O\n".repeat(tokens)).unwrap());
            let mut block = Block::default();
            format::first(&mut blocks, &mut block, None).unwrap().parse("x", &mut block).unwrap();
            let mut dictionary = Growing::new(&program, Arc::default());
            let mut extractor = Extractor::new(Arc::clone(&program), &mut dictionary);
            let (mut nodes, mut edges) = (Ragged::default(), Ragged::default());
            extractor.extract(&mut dictionary, "x", &block, 0..tokens, &mut nodes, &mut edges).unwrap();
            assert_eq!(nodes.starts.len(), tokens + 1);
            extractor.lookups.room()
        };
        assert_eq!(room(20 * WINDOW + 1), room(WINDOW));
    }
}
