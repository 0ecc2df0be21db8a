//! What templates read of a sentence: a row of numbers for each view.
//!
//! Each field is looked up once; functions of it are cached by its number. The rows have room for the boundaries on
//! both sides, so no template asks whether it looks outside the sentence.

use std::ops::Range;
use std::sync::Arc;

use super::dictionary::UNSET;
use super::function::{NO, YES, full_width, lower};
use super::lexicon::{NOWHERE, PLACES};
use super::longest::LongestMatch;
use super::mentions::Mentions;
use super::seen::Seen;
use super::template::Program;
use super::view::{self, FAR};
use super::word_list::LONGEST;
use super::{Function, LexicaView, NONE, NamesView, Source, UNKNOWN, Values};
use crate::format::Block;
use seqoia_core::prefetch;

/// How many tokens were found in lists so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Of each list of names, in either case.
    pub names: Vec<u64>,
    /// In clusters.
    pub clusters: u64,
    /// In words of the lexicon.
    pub lexicon: u64,
    /// In pairs that the raw text has more than once.
    pub raw_text: u64,
}

/// One worker's buffers for reading sentences with one table of values.
#[derive(Clone, Debug)]
pub(super) struct Views {
    program: Arc<Program>,
    columns: Vec<u16>,           // that views read
    base: Vec<Vec<u32>>,         // [columns][T] numbers of the fields
    facts: Vec<usize>,           // [views] which fact about a value of its column a view is
    width: usize,                // facts: those of views, then whether names begin with it, in both cases
    caches: Vec<u32>,            // [values][facts] numbers of the functions' values: a word's lie together
    pub(super) rows: Vec<u32>,   // [views][pad + T + pad]
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
    pub(super) longest: LongestMatch,
    alone: [u32; 2], // the values of a word of several tokens and of one
    seen: Seen,
    pub(super) matched: Matched,
    mentioned: Option<(u16, bool)>, // the column in whose mentions views look, in full width
    mentions: Mentions,
    text: String,
    wide: String,
}

impl Views {
    /// For a program and the table of values that all later calls are given.
    pub(super) fn new(program: Arc<Program>, values: &mut impl Values) -> Self {
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
                    true => values.value(&text),
                    false => NONE,
                };
                (1..=distances).map(value).collect()
            }));
        }
        let reads = |source: fn(&Source) -> bool| program.views.iter().any(|v| source(&v.source));
        let wants_place = reads(|s| *s == Source::Place);
        let places = ["first", "inner"].map(|p| if wants_place { values.value(p) } else { NONE });
        let tests = reads(|s| matches!(s, Source::First | Source::Twin(..)));
        let yes = if tests { values.value(YES) } else { NONE };
        let no = if program.views.iter().any(|v| v.fails) { values.value(NO) } else { NONE };
        let lists = program.views.iter().filter_map(|v| match v.source {
            Source::Listed(_, list) | Source::ListedLower(_, list) => Some(usize::from(list) + 1),
            _ => None,
        });
        let lists = lists.max().unwrap_or(0);
        let listed = PLACES.map(|p| if lists > 0 { values.value(p) } else { NONE });
        let long = reads(|s| matches!(s, Source::LongestStarting(_) | Source::LongestEnding(_)));
        let lengths = (1..=LONGEST).filter(|_| long).map(|n| values.value(&n.to_string())).collect();
        let cut = reads(|s| matches!(s, Source::Alone(..)));
        let alone = ["many", "one"].map(|v| if cut { values.value(v) } else { NONE });
        let seen = Seen::new(&program, values);
        Views {
            longest: LongestMatch::default(),
            alone,
            seen,
            base: vec![vec![]; columns.len()],
            facts,
            width: cached_views + 2,
            caches: vec![],
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
            matched: Matched { names: vec![0; lists], ..Matched::default() },
            mentioned: program.views.iter().find_map(|v| match v.source {
                Source::Mention(column, ..) => Some((column, v.wide)),
                _ => None,
            }),
            mentions: Mentions::default(),
            text,
            wide,
            columns,
            program,
        }
    }

    /// Bytes of what is kept of each value.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.caches.len() + self.word_values.len())
    }

    /// A file is read from its start once more.
    pub(super) fn again(&mut self) {
        self.matched = Matched { names: vec![0; self.lists], ..Matched::default() };
    }

    /// Finds the names of the sentence, if a view reads them.
    fn mark_names(&mut self, values: &mut impl Values, block: &Block, tokens: &Range<usize>) {
        for case in [0, 1] {
            let column = self.program.views.iter().find_map(|v| match v.source {
                Source::Listed(column, _) if case == 0 => Some((column, v.wide)),
                Source::ListedLower(column, _) if case == 1 => Some((column, v.wide)),
                _ => None,
            });
            let Some((column, wide)) = column else { continue };
            let push = |i: usize, out: &mut String| match block.field(tokens.start + i, usize::from(column)) {
                word if wide && case == 0 => out.extend(word.chars().map(full_width)),
                word if wide => out.extend(word.chars().map(full_width).flat_map(char::to_lowercase)),
                word if case == 0 => out.push_str(word),
                word => lower(word, out),
            };
            // Most words begin no name; that is found out once for each.
            let ids = self.columns.iter().position(|c| *c == column).map(|c| &self.base[c]);
            let fact = [self.width - 2 + case, self.width];
            self.begins.clear();
            for i in 0..tokens.len() {
                let id = ids.map_or(UNKNOWN, |ids| ids[i]);
                let begins = cached(values, &mut self.caches, fact, id, |values| {
                    self.text.clear();
                    push(i, &mut self.text);
                    if names_of(values.lexica(), case).begins(&self.text) { UNKNOWN } else { NONE }
                });
                self.begins.push(begins == UNKNOWN);
            }
            let names = names_of(values.lexica(), case);
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
    fn find_words(&mut self, values: &mut impl Values, block: &Block, tokens: &Range<usize>) {
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
                let Some((id, is_word)) = values.lexica().words.find(&self.text) else { break };
                if is_word {
                    let at = id as usize;
                    if self.word_values.len() <= at {
                        self.word_values.resize(at + 1, UNSET);
                    }
                    if self.word_values[at] == UNSET {
                        self.word_values[at] = values.value(&self.text);
                    }
                    self.words[length * tokens.len() + start] = self.word_values[at];
                }
            }
        }
    }

    /// Cuts the sentence into words of the lexicon, if a view reads them.
    fn find_longest(&mut self, values: &mut impl Values, block: &Block, tokens: &Range<usize>) {
        let column = self.program.views.iter().find_map(|v| match v.source {
            Source::Category(column, _) | Source::Alone(column, _) => Some(usize::from(column)),
            _ => None,
        });
        let Some(column) = column else { return };
        let field = |t| block.field(tokens.start + t, column);
        self.matched.lexicon += self.longest.find(values, tokens.len(), field) as u64;
    }

    /// Computes the views: what templates combine.
    pub(super) fn fill(&mut self, values: &mut impl Values, block: &Block, tokens: Range<usize>) {
        for (column, base) in self.columns.iter().zip(&mut self.base) {
            base.clear();
            base.extend(tokens.clone().map(|i| values.value(block.field(i, usize::from(*column)))));
        }
        for id in self.base.iter().flatten().filter(|id| **id < UNKNOWN) {
            prefetch_all(&self.caches, *id as usize * self.width, self.width);
        }
        self.mark_names(values, block, &tokens);
        self.find_words(values, block, &tokens);
        self.find_longest(values, block, &tokens);
        self.matched.raw_text += self.seen.find(values, block, &tokens);
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
            let fact = [self.facts[v], self.width];
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
                Source::Category(_, backward) => {
                    out.copy_from_slice(&self.longest.bags[usize::from(backward)]);
                }
                Source::Alone(_, backward) => {
                    let alone = &self.longest.alone[usize::from(backward)];
                    out.iter_mut().zip(alone).for_each(|(out, one)| *out = self.alone[usize::from(*one)]);
                }
                Source::Variety(_, length, before) => self.seen.varieties(length, before, out),
                Source::Binding(_) => self.seen.bindings(out),
                Source::Mention(column, which, step) | Source::MentionPath(column, which, step, _) => {
                    for (out, i) in out.iter_mut().zip(tokens.clone()) {
                        let Some(beside) = self.mentions.beside(i, which, step) else { continue };
                        let field = |at| block.field(at, usize::from(column));
                        let some = match (beside, &view.source) {
                            (Err(end), _) => Function::Same.apply(end, &mut self.text),
                            (Ok(at), Source::MentionPath(.., most)) => {
                                let clusters = values.lexica().clusters;
                                clusters.cut(field(at), usize::from(*most), &mut self.text)
                            }
                            (Ok(at), _) => {
                                let function = if step == 0 { Function::BriefShape } else { Function::Lower };
                                function.apply(view.in_width(field(at), &mut self.wide), &mut self.text)
                            }
                        };
                        if some {
                            *out = values.value(&self.text);
                        }
                    }
                }
                Source::Cluster(column, most) => {
                    for ((out, &id), i) in out.iter_mut().zip(base(column)).zip(tokens.clone()) {
                        *out = cached(values, &mut self.caches, fact, id, |values| {
                            let word = block.field(i, usize::from(column));
                            match values.lexica().clusters.cut(word, most.into(), &mut self.text) {
                                true => values.value(&self.text),
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
                        *out = cached(values, &mut self.caches, fact, id, |values| {
                            match view.read(field(), &mut self.wide, &mut self.text) {
                                true => values.value(&self.text),
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
fn prefetch_all(numbers: &[u32], from: usize, count: usize) {
    const LINE: usize = 16; // numbers in a line of a cache
    (from..from + count).step_by(LINE).for_each(|at| prefetch(numbers, at));
}

/// A fact about a value: computed once for each.
#[inline]
fn cached<V: Values>(
    values: &mut V,
    cache: &mut Vec<u32>,
    [fact, facts]: [usize; 2],
    id: u32,
    compute: impl FnOnce(&mut V) -> u32,
) -> u32 {
    if id >= UNSET {
        return compute(values); // an unknown word has no number to cache under
    }
    let at = id as usize * facts + fact;
    if cache.len() <= at {
        cache.resize((id as usize + 1) * facts, UNSET);
    }
    if cache[at] == UNSET {
        cache[at] = compute(values);
    }
    cache[at]
}
