//! The k best labellings, found one after another (algorithm 3 of Huang & Chiang 2005, for a chain).
//!
//! The prefixes that end in label y at position t form a list, best first; the i-th of it is the best of
//!
//! ```text
//! candidate(y') = score of the next unused prefix of the list (t - 1, y') + a_t(y', y)
//! ```
//!
//! plus s_t(y). The first prefix of every list is known from Viterbi's sweep, which is a vector kernel. All
//! others are only looked for when a labelling asks for them: the next labelling needs one further prefix of at
//! most one list per position, so k labellings take T K K steps of the sweep and k T K of this file, where
//! filling all lists (`merge.rs`, the slow twin of the tests) takes k T K K.
//!
//! Equal scores go to the lower label before. What is ruled out scores `Real::LEAST` and is in no list.

#[cfg(test)]
mod merge;
#[cfg(test)]
mod tests;

use super::kernel::Real;
use super::{Labelling, SpaceView};
use seqoia_core::cast::{label, narrow};

/// The most prefixes, which are numbered with 32 bits: where k labels a list would be more, fewer are found.
const MOST: usize = 1 << 28;

/// No prefix or list of this number.
const NONE: u32 = u32::MAX;

/// The largest k for so many positions and labels.
pub(super) fn most(length: usize, labels: usize) -> usize {
    MOST / length.saturating_mul(labels).max(1)
}

/// Scores of all positions and transitions, and the best prefixes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'a, R> {
    pub(crate) nodes: &'a [R], // [T][W]
    pub(crate) edges: &'a [R], // [K][W] with stride 0, or [T-1][K][W]
    pub(crate) stride: usize,
    pub(crate) best: &'a [R], // [T][W]
}

#[derive(Clone, Copy, Debug)]
struct Prefix<R> {
    score: R,
    from: u16,
    before: u32, // the prefix that it is longer than by one label; NONE is the first of its list
    next: u32,   // the next one of its list
}

/// The prefixes that end in one label at one position, as far as they were asked for.
#[derive(Clone, Copy, Debug)]
struct List {
    t: u32,
    y: u16,
    first: u32,
    last: u32,
    done: bool, // there are no more
}

/// Buffers of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct KBest<R> {
    prefixes: Vec<Prefix<R>>,
    lists: Vec<List>,
    numbers: Vec<u32>, // [T * K + 1] of each list, where there is one; the last is that of whole labellings
    candidates: Vec<R>, // [lists][K] scores of the next prefixes, without that of the label itself
    heads: Vec<u32>,   // [lists][K] and which they are; NONE is the first of its list
    waiting: Vec<usize>, // lists that wait for a prefix of the one behind them
}

impl<R: Real> KBest<R> {
    /// At most `k` labellings, best first.
    pub(crate) fn run(&mut self, space: SpaceView<'_>, scored: Scored<'_, R>, k: usize) -> Vec<Labelling> {
        let length = scored.nodes.len() / space.width;
        let k = k.min(most(length, space.labels)).max(usize::from(k > 0));
        if length == 0 || k == 0 {
            return vec![];
        }
        self.prefixes.clear();
        self.lists.clear();
        self.candidates.clear();
        self.heads.clear();
        self.numbers.clear();
        self.numbers.resize(length * space.labels + 1, NONE);
        let mut on = On { found: self, space, scored, length };
        let mut labellings = vec![];
        // The labellings end in any label: a list behind the last position, to which transitions score nothing.
        let end = on.list(length, 0);
        let mut at = on.found.lists[end].first;
        while at != NONE {
            labellings.push(on.trace(at));
            if labellings.len() == k {
                break;
            }
            at = on.after(end);
        }
        labellings
    }
}

/// The work on one sequence.
struct On<'a, R> {
    found: &'a mut KBest<R>,
    space: SpaceView<'a>,
    scored: Scored<'a, R>,
    length: usize,
}

impl<R: Real> On<'_, R> {
    fn edge(&self, t: usize, from: usize, y: usize) -> R {
        if t == self.length {
            return R::ZERO;
        }
        self.scored.edges[(t - 1) * self.scored.stride + from * self.space.width + y]
    }

    /// Score of a label itself.
    fn here(&self, t: usize, y: usize) -> R {
        if t == self.length { R::ZERO } else { self.scored.nodes[t * self.space.width + y] }
    }

    /// The list of a label at a position from 1 on, with its first prefix.
    fn list(&mut self, t: usize, y: usize) -> usize {
        let (labels, width) = (self.space.labels, self.space.width);
        let slot = t * labels + y;
        if self.found.numbers[slot] != NONE {
            return self.found.numbers[slot] as usize;
        }
        let list = self.found.lists.len();
        self.found.numbers[slot] = narrow(list);
        self.found.lists.push(List { t: narrow(t), y: label(y), first: NONE, last: NONE, done: false });
        self.found.heads.resize((list + 1) * labels, NONE);
        let before = &self.scored.best[(t - 1) * width..][..labels];
        if t == self.length {
            self.found.candidates.extend(before.iter().map(|b| *b + R::ZERO));
        } else {
            let column = self.scored.edges[(t - 1) * self.scored.stride + y..].iter().step_by(width);
            self.found.candidates.extend(before.iter().zip(column).map(|(b, edge)| *b + *edge));
        }
        self.pop(list);
        list
    }

    /// Appends the best candidate to a list; it stays a candidate until the next one is asked for.
    fn pop(&mut self, list: usize) {
        let labels = self.space.labels;
        let List { t, y, last, .. } = self.found.lists[list];
        let Some((from, score)) = first_best(&self.found.candidates[list * labels..][..labels]) else {
            self.found.lists[list].done = true;
            return;
        };
        let before = self.found.heads[list * labels + from];
        let at = narrow(self.found.prefixes.len());
        let score = score + self.here(t as usize, usize::from(y));
        self.found.prefixes.push(Prefix { score, from: label(from), before, next: NONE });
        if last == NONE {
            self.found.lists[list].first = at;
        } else {
            self.found.prefixes[last as usize].next = at;
        }
        self.found.lists[list].last = at;
    }

    /// The prefix behind the last of a list, or NONE.
    ///
    /// It needs the prefix behind the one that the last was made of, and so on: a walk down and up again, by hand,
    /// since a recursion would be as deep as the sequence is long.
    fn after(&mut self, list: usize) -> u32 {
        self.found.waiting.clear();
        let mut at = list;
        loop {
            if self.found.lists[at].done {
                break;
            }
            self.found.waiting.push(at);
            let (t, used) = (self.found.lists[at].t as usize, self.found.lists[at].last);
            if t <= 1 {
                break; // at position 0 there is one prefix per label
            }
            let before = self.before(t, used);
            if before == NONE || self.found.prefixes[before as usize].next != NONE {
                break;
            }
            at = self.list(t - 1, usize::from(self.found.prefixes[used as usize].from));
        }
        let last = self.found.lists[list].last;
        while let Some(at) = self.found.waiting.pop() {
            self.replace(at);
            self.pop(at);
        }
        self.found.prefixes[last as usize].next
    }

    /// Puts the next candidate in the place of the one that was used last.
    fn replace(&mut self, list: usize) {
        let List { t, y, last, .. } = self.found.lists[list];
        let (t, from) = (t as usize, usize::from(self.found.prefixes[last as usize].from));
        let next = match self.before(t, last) {
            NONE => NONE,
            before => self.found.prefixes[before as usize].next,
        };
        let score = match next {
            NONE => R::LEAST,
            next => self.found.prefixes[next as usize].score + self.edge(t, from, usize::from(y)),
        };
        let slot = list * self.space.labels + from;
        self.found.candidates[slot] = score;
        self.found.heads[slot] = next;
    }

    /// What a prefix of position `t` is longer than by one label; NONE is one of position 0.
    fn before(&mut self, t: usize, prefix: u32) -> u32 {
        let Prefix { from, before, .. } = self.found.prefixes[prefix as usize];
        if before != NONE || t <= 1 {
            return before;
        }
        let list = self.list(t - 1, usize::from(from));
        let first = self.found.lists[list].first;
        self.found.prefixes[prefix as usize].before = first;
        first
    }

    fn trace(&mut self, end: u32) -> Labelling {
        let score = self.found.prefixes[end as usize].score.to_f64();
        let mut path = vec![0; self.length];
        let mut prefix = end;
        for t in (0..self.length).rev() {
            path[t] = self.found.prefixes[prefix as usize].from;
            if t > 0 {
                prefix = self.before(t + 1, prefix);
            }
        }
        Labelling { labels: path, score }
    }
}

/// The best candidate above `Real::LEAST`, the first of equals. In two sweeps, which take no branch for each.
fn first_best<R: Real>(candidates: &[R]) -> Option<(usize, R)> {
    const LANES: usize = 8;
    let larger = |top: R, x: R| if x > top { x } else { top };
    let (blocks, rest) = candidates.as_chunks::<LANES>();
    let mut tops = [R::LEAST; LANES];
    for block in blocks {
        (0..LANES).for_each(|j| tops[j] = larger(tops[j], block[j]));
    }
    let top = tops.iter().chain(rest).fold(R::LEAST, |top, x| larger(top, *x));
    if top > R::LEAST {
        let at = candidates.iter().position(|x| *x == top)?;
        return Some((at, candidates[at]));
    }
    None
}
