//! What labellings a sequence may have: those that keep to rules, and to the labels that are known of
//! some positions.

use super::kernel::Real;
use super::{Rules, SpaceView};

/// Sets of labels that stand for a label that is known in part. A gold label from K on is the number of
/// a set: K is the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    labels: usize,
    bits: Vec<u32>, // [sets][ceil(K / 32)]
}

impl Sets {
    /// Of `labels` labels: no sets yet.
    #[must_use]
    pub fn new(labels: usize) -> Self {
        Sets { labels, bits: vec![] }
    }

    fn blocks(&self) -> usize {
        self.labels.div_ceil(32)
    }

    /// Adds a set; its number.
    pub fn add(&mut self, members: impl IntoIterator<Item = u16>) -> usize {
        let at = self.bits.len();
        self.bits.resize(at + self.blocks(), 0);
        for y in members.into_iter().map(usize::from).filter(|y| *y < self.labels) {
            self.bits[at + y / 32] |= 1 << (y % 32);
        }
        self.labels + at / self.blocks().max(1)
    }

    /// Whether `y` is the label `known`, or in the set of that number.
    #[inline]
    #[must_use]
    pub fn holds(&self, known: u16, y: u16) -> bool {
        let (known, y) = (usize::from(known), usize::from(y));
        match known.checked_sub(self.labels) {
            None => known == y,
            Some(set) => self.bits[set * self.blocks() + y / 32] >> (y % 32) & 1 == 1,
        }
    }

    /// Whether `known` is a set of all labels, which says nothing.
    #[must_use]
    pub fn holds_all(&self, known: u16) -> bool {
        let Some(set) = usize::from(known).checked_sub(self.labels) else { return self.labels == 1 };
        let bits = &self.bits[set * self.blocks()..][..self.blocks()];
        bits.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() == self.labels
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Whether one of these gold labels is known in part only.
    #[must_use]
    pub fn any(&self, labels: &[u16]) -> bool {
        labels.iter().any(|y| usize::from(*y) >= self.labels)
    }
}

/// What is known of each position of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// A label or the number of a set for each position.
    pub labels: &'a [u16],
    /// The sets.
    pub sets: &'a Sets,
}

/// Pairs of labels that cannot stand side by side at single places of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Labels that cannot be the first.
    pub no_start: Vec<u16>,
    /// Labels that cannot be the last.
    pub no_end: Vec<u16>,
    /// A position from 1 on, a label of the position before it and a label of its own.
    pub pairs: Vec<(u32, u16, u16)>,
}

/// The limits of one sequence; free by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Which labels may follow each other.
    pub rules: Option<&'a Rules>,
    /// What is known of the positions.
    pub known: Option<Known<'a>>,
    /// What is known of neighbours: for decoders only.
    pub steps: Option<&'a Steps>,
    /// It begins, and ends, inside a sequence, where the rules of ends do not hold.
    pub inside: [bool; 2],
}

impl<'a> Limits<'a> {
    /// Any labelling that keeps to the rules, if there are any.
    #[must_use]
    pub fn rules(rules: Option<&'a Rules>) -> Self {
        Limits { rules, ..Limits::default() }
    }

    /// Every labelling is allowed.
    pub(crate) fn is_free(&self) -> bool {
        self.rules.is_none() && self.known.is_none()
    }

    /// Puts `value` at each label and pair that is ruled out: into `nodes` [T][W] and `edges`, matrices
    /// [K][W] one after another.
    pub(crate) fn put<R: Real>(&self, space: SpaceView<'_>, value: R, nodes: &mut [R], edges: &mut [R]) {
        let width = space.width;
        if let Some(rules) = self.rules {
            let (no_start, no_end) = rules.ends();
            let last = nodes.len().saturating_sub(width);
            if !nodes.is_empty() && !self.inside[0] {
                no_start.iter().for_each(|y| nodes[usize::from(*y)] = value);
            }
            if !nodes.is_empty() && !self.inside[1] {
                no_end.iter().for_each(|y| nodes[last + usize::from(*y)] = value);
            }
            for matrix in edges.chunks_exact_mut(space.labels * width) {
                rules.forbidden(width).for_each(|pair| matrix[pair] = value);
            }
        }
        if let Some(Known { labels, sets }) = self.known {
            for (row, &known) in nodes.chunks_exact_mut(width).zip(labels) {
                for (y, x) in (0u16..).zip(&mut row[..space.labels]) {
                    if !sets.holds(known, y) {
                        *x = value;
                    }
                }
            }
        }
    }

    /// Whether any labelling of `length` positions is allowed.
    #[must_use]
    pub fn can_be_met(&self, length: usize) -> bool {
        if let (Some(rules), Some(Known { labels, sets })) = (self.rules, self.known)
            && !sets.any(labels)
        {
            return rules.broken_at(labels).is_none(); // what is known in full is one labelling
        }
        let Some(rules) = self.rules else {
            let Some(Known { labels, sets }) = self.known else { return true };
            let some =
                |known: &u16| (0..sets.labels).any(|y| sets.holds(*known, seqoia_core::cast::label(y)));
            return labels.iter().all(some);
        };
        let all = (0..rules.labels()).map(seqoia_core::cast::label);
        let (mut open, mut next): (Vec<Option<u16>>, Vec<Option<u16>>) = (vec![None], vec![]);
        for t in 0..length {
            let known = |y: &u16| self.known.is_none_or(|k| k.sets.holds(k.labels[t], *y));
            let reached = |y: &u16| open.iter().any(|before| rules.allows(*before, Some(*y)));
            next.clear();
            next.extend(all.clone().filter(known).filter(reached).map(Some));
            std::mem::swap(&mut open, &mut next);
        }
        length == 0 || open.iter().any(|last| rules.allows(*last, None))
    }
}
