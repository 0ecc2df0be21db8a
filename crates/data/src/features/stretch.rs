//! The tuples of a stretch of tokens, put together before any of them is looked up: a table is much larger than a
//! cache, and a sentence has hundreds of look-ups that need not wait for each other.
//!
//! Templates run one after another over all tokens of the stretch, so that each reads its views as arrays. Those of
//! which a piece has no value in the whole stretch are left out, and what does not exist at a token takes no room:
//! most templates of lists and of tests fire rarely.

use std::ops::Range;

use super::given::Given;
use super::longest::LongestMatch;
use super::table::hash;
use super::template::{Compiled, Program};
use super::views::Views;
use super::{NONE, UNKNOWN, Values};
use crate::error::{Error, Result};
use crate::format::{Block, LARGEST};
use crate::text::short_number;
use seqoia_core::cast::narrow;

/// Tokens of a stretch, at most.
pub(super) const WINDOW: usize = 64;

/// The tokens of a sentence, as many at a time.
pub(super) fn windows(sentence: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = sentence.end;
    sentence.clone().step_by(WINDOW).map(move |from| from..end.min(from + WINDOW))
}

/// The tuples of some tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    alive: Vec<bool>,    // [views] some value is known
    width: usize,        // templates that may fire
    counts: Vec<usize>,  // [tokens] templates that do
    wanted: Vec<Wanted>, // [tokens][width] the first `counts` of each token
    tuples: Vec<usize>,  // [tokens] templates of them with several pieces
    keys: Vec<u32>,      // [tokens][width][stride] their tuples, the first `tuples` of each token
    numbers: Vec<f32>,   // [tokens][width] their values, if templates have such; NaN: outside the sentence
    /// Values of the attributes that the file has beside them.
    pub(super) given: Given,
}

/// One attribute that is to be looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Number of the template.
    pub(super) template: u32,
    /// The value of the one piece; `NONE` if there are several.
    pub(super) value: u32,
    /// If there are several, the hash of the tuple, and then what [`Attributes::fetch`](super::Attributes::fetch)
    /// made of it.
    pub(super) code: u64,
}

impl Stretch {
    /// Takes in `window`, some tokens of a sentence whose views were filled.
    ///
    /// # Errors
    /// A value that is no number, with its line.
    #[allow(clippy::too_many_arguments)] // what is read, and how
    pub(super) fn fill(
        &mut self,
        program: &Program,
        views: &Views,
        values: &mut impl Values,
        file: &str,
        block: &Block,
        sentence: &Range<usize>,
        window: Range<usize>,
    ) -> Result<()> {
        let tokens = window.start - sentence.start..window.end - sentence.start;
        self.combine(program, views, tokens.clone(), sentence.len());
        if program.templates_have_values {
            self.read_numbers(program, file, block, sentence, tokens)?;
        }
        if program.given().is_some() {
            self.given.collect(values, block, window);
        }
        Ok(())
    }

    /// Puts the tuples of some tokens together, of a sentence of `length` whose views were filled.
    fn combine(&mut self, program: &Program, views: &Views, tokens: Range<usize>, length: usize) {
        let rows = &views.rows;
        let row = length + 2 * program.pad;
        let padded = |view: usize| &rows[view * row + tokens.start..][..tokens.len() + 2 * program.pad];
        self.alive.clear();
        // Without a way out in the middle: this runs in vectors.
        let some = |view| padded(view).iter().fold(false, |some, value| some | (*value < UNKNOWN));
        self.alive.extend((0..program.views.len()).map(some));
        let alive = |template: &Compiled| template.pieces.iter().all(|(view, _)| self.alive[*view]);
        let room = |template: &Compiled| if template.bags { views.longest.most } else { 1 };
        self.width = program.compiled.iter().filter(|template| alive(template)).map(room).sum();
        for counts in [&mut self.counts, &mut self.tuples] {
            counts.clear();
            counts.resize(tokens.len(), 0);
        }
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
            let mut add = |pieces: &[&[u32]]| self.add(narrow(number), template, program.stride, pieces);
            match &*template.pieces {
                [a] if template.bags => self.add_bags(narrow(number), piece(a), &views.longest),
                [a] => self.add_single(narrow(number), piece(a)),
                [a, b] => add(&[piece(a), piece(b)]),
                [a, b, c] => add(&[piece(a), piece(b), piece(c)]),
                more => add(&more.iter().map(piece).collect::<Vec<_>>()),
            }
        }
        self.alive = alive;
    }

    /// Reads the values of attributes, of templates that have such.
    fn read_numbers(
        &mut self,
        program: &Program,
        file: &str,
        block: &Block,
        sentence: &Range<usize>,
        tokens: Range<usize>,
    ) -> Result<()> {
        self.numbers.clear();
        self.numbers.resize(self.counts.len() * self.width, 1.0);
        for (t, from) in tokens.zip((0..).step_by(self.width.max(1))) {
            for i in from..from + self.counts[from / self.width.max(1)] {
                let template = &program.compiled[self.wanted[i].template as usize];
                if let Some((column, offset)) = template.value {
                    let number = number(file, block, sentence, t, column, offset)?;
                    self.numbers[i] = number.unwrap_or(f32::NAN);
                }
            }
        }
        Ok(())
    }

    fn add_single(&mut self, template: u32, values: &[u32]) {
        for ((t, &value), count) in values.iter().enumerate().zip(&mut self.counts) {
            // Written in any case, counted only if it is known: whether a template fires cannot be foreseen.
            self.wanted[t * self.width + *count] = Wanted { template, value, code: 0 };
            *count += usize::from(value < UNKNOWN);
        }
    }

    fn add_bags(&mut self, template: u32, bags: &[u32], found: &LongestMatch) {
        for ((t, &bag), count) in bags.iter().enumerate().zip(&mut self.counts) {
            let values = if bag < UNKNOWN { found.bag(bag) } else { &[] };
            for (wanted, &value) in self.wanted[t * self.width + *count..].iter_mut().zip(values) {
                *wanted = Wanted { template, value, code: 0 };
            }
            *count += values.len();
        }
    }

    #[inline(always)] // for every number of pieces of its own
    fn add(&mut self, number: u32, template: &Compiled, stride: usize, pieces: &[&[u32]]) {
        for (t, (count, tuples)) in self.counts.iter_mut().zip(&mut self.tuples).enumerate() {
            if !pieces.iter().all(|values| values[t] < UNKNOWN) {
                continue;
            }
            let at = t * self.width + *count;
            let key = &mut self.keys[(t * self.width + *tuples) * stride..][..stride];
            let (pieces_of, padding) = key[1..].split_at_mut(pieces.len());
            pieces_of.iter_mut().zip(pieces).for_each(|(slot, values)| *slot = values[t]);
            padding.fill(0);
            key[0] = template.group;
            self.wanted[at] = Wanted { template: number, value: NONE, code: hash(key) };
            *count += 1;
            *tuples += 1;
        }
    }

    /// Look-ups that there is room for; some, if there is a token.
    pub(super) fn lookups(&self) -> usize {
        self.counts.len() * (self.width + 1) + self.given.len()
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The value of a token's attribute; none if it is outside the sentence.
    #[inline]
    pub(super) fn number(&self, t: usize, i: usize) -> Option<f32> {
        match self.numbers.get(t * self.width + i) {
            Some(number) => Some(*number).filter(|number| !number.is_nan()),
            None => Some(1.0),
        }
    }

    /// What is to be looked up for a token of the stretch, to be changed.
    #[inline]
    pub(super) fn at_mut(&mut self, t: usize) -> &mut [Wanted] {
        &mut self.wanted[t * self.width..][..self.counts[t]]
    }

    /// What is to be looked up for a token of the stretch, in the order of templates.
    #[inline]
    pub(super) fn at(&self, t: usize) -> &[Wanted] {
        &self.wanted[t * self.width..][..self.counts[t]]
    }

    /// The tuples of a token that have several pieces, one after another.
    #[inline]
    pub(super) fn keys_at(&self, t: usize, stride: usize) -> &[u32] {
        &self.keys[t * self.width * stride..][..self.tuples[t] * stride]
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Wanted>() * self.wanted.capacity()
            + 4 * (self.keys.capacity() + self.numbers.capacity())
            + self.given.bytes()
    }
}

/// The number in a column, so many tokens away; none outside the sentence.
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
    match short_number(field).map_or_else(|| field.parse::<f32>(), Ok) {
        Ok(x) if x.abs() <= LARGEST => Ok(Some(x)),
        Ok(x) if !x.is_nan() => {
            let what = format!("'{field}' in column {column} is too large a value");
            Err(Error::at(file, block.line(i), what).help("scale the column: values go up to 1e12"))
        }
        _ => Err(Error::at(file, block.line(i), format!("'{field}' in column {column} is no number"))
            .help("the template reads this column with %v; use %x to read it as text")),
    }
}
