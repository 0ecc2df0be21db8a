//! Where each weight of a chain lies in the flat vector.
//!
//! Only (attribute, label) pairs that occur get a weight (or all pairs, on request). On real data a
//! few per cent of the attributes go with many labels and carry nine tenths of the work, and most go
//! with one label only. So there are two kinds of attributes: *dense* ones have a row of W weights,
//! one for each label and padding up to a multiple of the vector width, in which pairs that do not
//! occur are holes that stay 0; *sparse* ones have a short list of (label, weight). Which attribute is
//! which is a question of time: a row is read and written faster, and every number in it, holes included,
//! takes part in whatever learners do with all weights. Dense ones are
//! numbered first and frequent ones before rare ones: the rows that are used most share cache lines
//! and pages. The number of a sparse attribute is the number of dense ones plus the position of its
//! list, and the last label of a list is marked, so that finding a list takes no look-up and its
//! weights can be fetched ahead of time. Lists of one label, which most are, come last: loops over them have no end
//! to find.
//!
//! ```text
//! weights:  [K][W] transitions | [dense][W] rows | single weights of sparse attributes | of edges
//! ```

use super::kernel::WIDE;
use seqoia_core::Pairs;
use seqoia_core::cast::{label, narrow, real};

/// New numbers of the attributes: `nodes[old] = new`, `edges[old] = new`; an attribute without any
/// weight has none.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    /// Of the attributes of positions.
    pub nodes: Vec<u32>,
    /// Of the attributes of edges.
    pub edges: Vec<u32>,
}

impl Renumbering {
    /// Stands for no number.
    pub const NONE: u32 = u32::MAX;
}

/// What weights are laid out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Learning weights for the pairs that occur.
    Observed,
    /// Learning weights for all pairs.
    All,
    /// A model file, in single precision: pairs that are left, of attributes whose frequency is not known.
    Stored,
}

/// About as many nanoseconds: what an attribute takes each time that it occurs in a pass, as a list of n labels (a
/// branch that is often mispredicted, then a load and a store for each label) and as a row of W numbers; and what a
/// weight takes in each pass of L-BFGS and of sums over chunks, whether it exists or is a hole. Estimated, then chosen
/// among five sets of constants by passes of `lbfgs` on CoNLL-2000, CoNLL-2003 and made data with 5 to 33 labels
/// on an AMD EPYC; neighbouring sets differ by less than the noise. Against rows for every attribute with a sixth of
/// the labels, passes of online learners take 3 to 6 % more on CoNLL-2000 (the perceptron 3 % less) and 10 to 17 % less
/// on made data with nine labels.
const LIST: (f64, f64) = (8.0, 3.0);
const ROW: (f64, f64) = (2.0, 0.25);
const WEIGHT: f64 = 10.0;

/// Attributes by kind (0, 1 or 2), frequent ones first, otherwise as they are; and how many are of kind 0. Most counts are
/// small, so they are sorted by counting; those of the few large ones of each kind are then compared.
fn by_kind_and_rarity(nodes: &Pairs, kind: impl Fn(usize) -> usize) -> (Vec<u32>, usize) {
    const LARGE: usize = 4096;
    let class = |a: usize| kind(a) * LARGE + LARGE - (nodes.counts[a] as usize).clamp(1, LARGE);
    let classes: Vec<u16> = (0..nodes.len()).map(|a| label(class(a))).collect();
    let mut starts = vec![0_u32; 3 * LARGE + 1];
    classes.iter().for_each(|&class| starts[usize::from(class) + 1] += 1);
    for class in 0..3 * LARGE {
        starts[class + 1] += starts[class];
    }
    let mut next = starts.clone();
    let mut order = vec![0; nodes.len()];
    for (a, &class) in classes.iter().enumerate() {
        order[next[usize::from(class)] as usize] = narrow(a);
        next[usize::from(class)] += 1;
    }
    for kind in 0..3 {
        let [from, to] = [0, 1].map(|after| starts[kind * LARGE + after] as usize);
        order[from..to].sort_by_key(|&a| std::cmp::Reverse(nodes.counts[a as usize]));
    }
    (order, starts[LARGE] as usize)
}

/// Whether an attribute that occurs `count` times, with `labels` labels, is cheaper as a row of `width` than as a list.
fn prefers_row(width: usize, labels: usize, count: u32) -> bool {
    let (width, labels) = (real(width), real(labels));
    let saved = f64::from(count) * (LIST.0 + LIST.1 * labels - ROW.0 - ROW.1 * width);
    labels >= 2.0 && saved > WEIGHT * (width - labels)
}

/// The layout of the weights of a chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    labels: usize,
    width: usize,
    dense: usize,
    lists: usize,          // sparse attributes
    ones: usize,           // the first attribute of those at the end that have one label each
    singles: Vec<u16>,     // [..] label of each single weight, the last one of a list marked
    edge_starts: Vec<u32>, // [E + 1] index of the first weight of an edge attribute
    edge_pairs: Vec<u32>,  // [..] y' * W + y of each of its weights
    holes: Vec<u32>,       // [K + dense][ceil(W/32)] bits of weights that do not exist
    complete: bool,        // no holes but the padding
    transitions: bool,     // plain label pairs have weights
}

/// Borrowed arrays of a [`Space`], or of a mapped model file: all that decoding needs.
#[derive(Clone, Copy, Debug)]
pub struct SpaceView<'a> {
    /// K.
    pub labels: usize,
    /// W: length of a dense row.
    pub width: usize,
    /// How many attributes have dense rows.
    pub dense: usize,
    /// Label of each single weight; the last one of each list has the bit [`SpaceView::LAST`].
    pub singles: &'a [u16],
    /// Attributes from this number on have lists of one label.
    pub ones: usize,
    /// `[E + 1]`: where the weights of each edge attribute begin.
    pub edge_starts: &'a [u32],
    /// `y' * W + y` of each of them.
    pub edge_pairs: &'a [u32],
}

impl SpaceView<'_> {
    /// Marks the last label of a list.
    pub const LAST: u16 = 1 << 15;

    /// Calls `see` with position and label of each single weight of a sparse attribute; the first
    /// single weight of all has position 0. A loop for kernels: most lists have one label.
    #[inline(always)]
    pub(crate) fn each_single(&self, attribute: u32, mut see: impl FnMut(usize, usize)) {
        let mut position = attribute as usize - self.dense;
        while let Some(&y) = self.singles.get(position) {
            see(position, usize::from(y & !Self::LAST));
            if y & Self::LAST != 0 {
                break;
            }
            position += 1;
        }
    }

    /// Position and label of the single weight of an attribute that has one: no branch to be mispredicted.
    #[inline(always)]
    pub(crate) fn only_single(&self, attribute: u32) -> (usize, usize) {
        let position = attribute as usize - self.dense;
        (position, usize::from(self.singles[position] & !Self::LAST))
    }

    /// How many single weights a sparse attribute has.
    #[must_use]
    pub fn singles_of(&self, attribute: u32) -> usize {
        let mut count = 0;
        self.each_single(attribute, |_, _| count += 1);
        count
    }

    /// The single weights of a sparse attribute: index and label.
    #[must_use]
    pub fn list(&self, attribute: u32) -> Vec<(usize, u16)> {
        self.entries(attribute).collect()
    }

    /// The same one by one.
    pub fn entries(&self, attribute: u32) -> impl Iterator<Item = (usize, u16)> {
        let (from, first) = (attribute as usize - self.dense, self.singles_at());
        let length = self.singles[from..].iter().position(|y| y & Self::LAST != 0).map_or(0, |last| last + 1);
        (from..from + length).map(move |position| (first + position, self.singles[position] & !Self::LAST))
    }

    /// Index of the first dense row.
    #[must_use]
    pub fn rows_at(&self) -> usize {
        self.labels * self.width
    }

    /// Index of the first single weight.
    #[must_use]
    pub fn singles_at(&self) -> usize {
        self.rows_at() + self.dense * self.width
    }

    /// Index of the first weight of an edge attribute.
    #[must_use]
    pub fn edges_at(&self) -> usize {
        self.singles_at() + self.singles.len()
    }

    /// Number of weights.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.edges_at() + self.edge_pairs.len()
    }

    /// The numbers of the sparse attributes, ascending.
    pub fn sparse(&self) -> impl Iterator<Item = u32> {
        let is_first = |i: usize| i == 0 || self.singles[i - 1] & Self::LAST != 0;
        (0..self.singles.len()).filter(move |&i| is_first(i)).map(|i| narrow(self.dense + i))
    }

    /// Whether an attribute of a position has this number.
    #[must_use]
    pub fn has(&self, attribute: u32) -> bool {
        let a = attribute as usize;
        let follows = |i: usize| i < self.singles.len() && (i == 0 || self.singles[i - 1] & Self::LAST != 0);
        a < self.dense || follows(a - self.dense)
    }

    /// Number of attributes of edges.
    #[must_use]
    pub fn edge_attributes(&self) -> usize {
        self.edge_starts.len().saturating_sub(1)
    }

    /// Checks everything that kernels rely on; for arrays that come from a file.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let ascending = |starts: &[u32], first: usize, end: usize| {
            starts.first().is_none_or(|&s| s as usize == first)
                && starts.last().is_none_or(|&s| s as usize == end)
                && starts.is_sorted()
        };
        let rows = self.dense.checked_add(self.labels).and_then(|rows| rows.checked_mul(self.width));
        self.labels >= 1
            && rows.is_some_and(|numbers| numbers <= u32::MAX as usize)
            && [Space::padded(self.labels), Space::stored(self.labels)].contains(&self.width)
            && self.labels < usize::from(Self::LAST)
            && self.singles.last().is_none_or(|y| y & Self::LAST != 0)
            && self.edge_starts.is_empty() == self.edge_pairs.is_empty()
            && self.weights() <= u32::MAX as usize
            && ascending(self.edge_starts, self.edges_at(), self.weights())
            && self.singles.iter().all(|&y| usize::from(y & !Self::LAST) < self.labels)
            && self
                .edge_pairs
                .iter()
                .all(|&p| (p as usize) / self.width < self.labels && (p as usize) % self.width < self.labels)
    }
}

impl Space {
    /// Lays out the weights of `labels` labels. `nodes` and `edges` say which pairs occur; `transitions` which
    /// label pairs `y' * K + y` occur, or `None` if the model has no plain label pairs.
    #[must_use]
    pub fn new(
        labels: usize,
        nodes: &Pairs,
        edges: &Pairs,
        transitions: Option<&[u32]>,
        layout: Layout,
    ) -> (Space, Renumbering) {
        let all = layout == Layout::All;
        let width = if layout == Layout::Stored { Self::stored(labels) } else { Self::padded(labels) };
        let is_dense = |a: usize| match layout {
            Layout::All => true,
            Layout::Observed => prefers_row(width, nodes.of(a).len(), nodes.counts[a]),
            Layout::Stored => nodes.of(a).len() >= Self::stored_rows_from(width),
        };
        // Lists of one label come last, but in a file, whose order does not change.
        let is_one = |a: usize| layout != Layout::Stored && nodes.of(a).len() == 1;
        let kind = |a: usize| if is_dense(a) { 0 } else { 1 + usize::from(is_one(a)) };
        let (order, dense) = by_kind_and_rarity(nodes, kind);
        let mut space = Space {
            labels,
            width,
            dense,
            ones: dense,
            transitions: transitions.is_some(),
            ..Space::default()
        };
        space.holes = vec![u32::MAX; (labels + dense) * Self::blocks(width)];
        for &pair in transitions.unwrap_or_default() {
            space.exists(pair as usize / labels, pair as usize % labels);
        }
        if all {
            let first = if transitions.is_some() { 0 } else { labels };
            let whole = Self::padding(labels, width);
            let rows = space.holes.chunks_exact_mut(Self::blocks(width)).skip(first);
            rows.for_each(|row| row.copy_from_slice(&whole));
        }
        let mut renumbering = Renumbering {
            nodes: vec![Renumbering::NONE; nodes.len()],
            edges: (0..narrow(edges.len())).collect(),
        };
        for (new, &old) in order.iter().enumerate() {
            let seen = nodes.of(old as usize);
            if new < dense {
                renumbering.nodes[old as usize] = narrow(new);
                if !all {
                    seen.iter().for_each(|&y| space.exists(labels + new, y as usize));
                }
            } else if let Some((&last, others)) = seen.split_last() {
                renumbering.nodes[old as usize] = narrow(dense + space.singles.len());
                if !is_one(old as usize) {
                    space.ones = dense + space.singles.len() + seen.len();
                }
                space.singles.extend(others.iter().map(|&y| label(y as usize)));
                space.singles.push(label(last as usize) | SpaceView::LAST);
                space.lists += 1;
            }
        }
        space.lay_edges(edges, all);
        space.complete =
            space.holes.chunks(Self::blocks(width)).all(|row| row == Self::padding(labels, width));
        (space, renumbering)
    }

    fn lay_edges(&mut self, edges: &Pairs, all: bool) {
        let (labels, width) = (self.labels, self.width);
        let padded = |pair: u32| narrow(pair as usize / labels * width + pair as usize % labels);
        for attribute in 0..edges.len() {
            let next = self.view().weights();
            self.edge_starts.push(narrow(next));
            match all {
                true => self.edge_pairs.extend((0..narrow(labels * labels)).map(padded)),
                false => self.edge_pairs.extend(edges.of(attribute).iter().copied().map(padded)),
            }
        }
        if !self.edge_starts.is_empty() {
            let end = self.view().weights();
            self.edge_starts.push(narrow(end));
        }
    }

    /// K rounded up to whole vectors: 2, a multiple of 4 up to 32 labels, of 8 beyond.
    #[must_use]
    pub fn padded(labels: usize) -> usize {
        match labels {
            ..=2 => 2,
            3..=32 => labels.next_multiple_of(4),
            _ => labels.next_multiple_of(8),
        }
    }

    /// The width of a row in a model file: K rounded up to whole vectors of single precision.
    #[must_use]
    pub fn stored(labels: usize) -> usize {
        if labels <= 4 { 4 } else { labels.next_multiple_of(8) }
    }

    /// From how many labels on an attribute of a model file has a row: a sixth of it, so that holes cost at most five
    /// times the weights that exist.
    fn stored_rows_from(width: usize) -> usize {
        (width / 6).max(2)
    }

    fn blocks(width: usize) -> usize {
        width.div_ceil(32)
    }

    /// The mask of a row that has all its labels.
    fn padding(labels: usize, width: usize) -> Vec<u32> {
        let bit = |block: usize, j: usize| u32::from(block * 32 + j >= labels) << j;
        (0..Self::blocks(width)).map(|b| (0..32).map(|j| bit(b, j)).sum()).collect()
    }

    fn exists(&mut self, row: usize, y: usize) {
        self.holes[row * Self::blocks(self.width) + y / 32] &= !(1 << (y % 32));
    }

    /// The arrays that decoding needs.
    #[must_use]
    pub fn view(&self) -> SpaceView<'_> {
        SpaceView {
            labels: self.labels,
            width: self.width,
            dense: self.dense,
            singles: &self.singles,
            ones: self.ones,
            edge_starts: &self.edge_starts,
            edge_pairs: &self.edge_pairs,
        }
    }

    /// K.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Number of attributes of positions.
    #[must_use]
    pub fn attributes(&self) -> usize {
        self.dense + self.lists
    }

    /// Whether plain label pairs have weights.
    #[must_use]
    pub fn has_transitions(&self) -> bool {
        self.transitions
    }

    /// Holes of a row, 32 labels a word: rows 0..K are the transitions, then the dense attributes.
    pub(crate) fn holes(&self, row: usize) -> &[u32] {
        let blocks = Self::blocks(self.width);
        &self.holes[row * blocks..(row + 1) * blocks]
    }

    /// The masks of all rows, transitions first: `div_ceil(W, 32)` each.
    pub(crate) fn all_holes(&self) -> &[u32] {
        &self.holes
    }

    /// Index of the weight of an attribute of positions with a label, if it exists.
    #[must_use]
    pub fn node_weight(&self, attribute: u32, y: u16) -> Option<usize> {
        let (space, a, y) = (self.view(), attribute as usize, usize::from(y));
        if a < space.dense {
            let exists = self.holes(space.labels + a)[y / 32] >> (y % 32) & 1 == 0;
            return exists.then(|| space.rows_at() + a * space.width + y);
        }
        let mut found = None;
        space.each_single(attribute, |p, label| {
            found = if label == y { Some(space.singles_at() + p) } else { found }
        });
        found
    }

    /// How many weights all pairs of so many labels and attributes would have.
    #[must_use]
    pub fn weights_of_all(labels: usize, nodes: usize, edges: usize) -> u64 {
        let (labels, width) = (labels as u64, Self::padded(labels) as u64);
        let rows = (labels + nodes as u64).saturating_mul(width);
        rows.saturating_add((edges as u64).saturating_mul(labels * labels))
    }

    /// Index of the weight of the plain label pair y', y, if it exists.
    #[must_use]
    pub fn transition_weight(&self, before: u16, y: u16) -> Option<usize> {
        let (before, y) = (usize::from(before), usize::from(y));
        let exists = self.holes(before)[y / 32] >> (y % 32) & 1 == 0;
        exists.then_some(before * self.width + y)
    }

    /// So many labels, and so few pairs of them, that it is faster to sum over the pairs that occur than over all in
    /// vectors; in double precision only. A pair is taken to cost as much as sixteen numbers of a row: with 65 labels
    /// and a fifth of all pairs, and with 120 labels and all of them, vectors were faster.
    #[must_use]
    pub fn sums_by_pairs(&self) -> bool {
        let blocks = Self::blocks(self.width);
        let pairs: usize = self.holes[..self.labels * blocks].iter().map(|h| h.count_zeros() as usize).sum();
        self.width >= WIDE && 16 * pairs < self.labels * self.labels
    }

    /// No row has other holes than its padding.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Number of weights that exist.
    #[must_use]
    pub fn existing(&self) -> usize {
        let in_rows: usize = self.holes.iter().map(|h| h.count_zeros() as usize).sum();
        in_rows + self.singles.len() + self.edge_pairs.len()
    }

    /// How many weights of a row exist: that of a label's transitions, or behind the labels that of a dense attribute.
    #[must_use]
    pub fn weights_in_row(&self, row: usize) -> usize {
        self.holes(row).iter().map(|h| h.count_zeros() as usize).sum()
    }

    /// Sets every weight that does not exist to 0.
    pub fn clear_holes(&self, weights: &mut [f64]) {
        let blocks = Self::blocks(self.width);
        for (row, holes) in weights.chunks_mut(self.width).zip(self.holes.chunks(blocks)) {
            for (part, &bits) in row.chunks_mut(32).zip(holes) {
                if bits != 0 {
                    // Without a branch, so that it runs in vectors.
                    part.iter_mut()
                        .enumerate()
                        .for_each(|(j, w)| *w = if bits >> j & 1 == 0 { *w } else { 0.0 });
                }
            }
        }
    }

    /// Bytes that the layout takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.edge_starts.len() + self.edge_pairs.len() + self.holes.len()) + 2 * self.singles.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(lists: &[&[u32]], counts: &[u32]) -> Pairs {
        let mut p = Pairs { starts: vec![0], labels: vec![], counts: counts.to_vec() };
        for list in lists {
            p.labels.extend_from_slice(list);
            p.starts.push(narrow(p.labels.len()));
        }
        p
    }

    /// Sorting by counting is sorting, below, at and above the counts that are told apart.
    #[test]
    fn attributes_are_sorted_by_kind_and_rarity() {
        let counts: Vec<u32> =
            (0..500_u32).map(|i| [1, 2, 4095, 4096, 4097, 1 << 20][i as usize * 7 % 6]).collect();
        let nodes = pairs(&vec![&[0_u32][..]; counts.len()], &counts);
        let kind = |a: usize| a * 5 % 3;
        let mut expected: Vec<u32> = (0..500).collect();
        expected.sort_by_key(|&a| (kind(a as usize), std::cmp::Reverse(counts[a as usize])));
        let first = (0..counts.len()).filter(|&a| kind(a) == 0).count();
        assert_eq!(by_kind_and_rarity(&nodes, kind), (expected, first));
    }

    #[test]
    fn frequent_attributes_with_many_labels_have_rows() {
        for width in [4, 8, 12, 24, 64, 400] {
            for labels in 1..=width {
                let row = |count: u32| prefers_row(width, labels, count);
                // Once cheaper, always cheaper: with more occurrences, and with more labels.
                assert!((1..200).all(|count| !row(count) || (row(count + 1) && row(1_000_000))));
                assert!(
                    (1..200).all(|count| !row(count) || prefers_row(width, (labels + 1).min(width), count))
                );
            }
            assert!(!prefers_row(width, 1, u32::MAX) && prefers_row(width, width, 1));
        }
        // Rare ones stay lists: their holes would cost more than is saved.
        assert!(!prefers_row(12, 2, 3) && prefers_row(12, 2, 100) && !prefers_row(400, 4, 1_000_000));
    }

    #[test]
    fn dense_and_frequent_attributes_come_first() {
        let nodes = pairs(&[&[0], &[0, 1, 2], &[2], &[0, 1]], &[9, 3, 10, 5]);
        let (space, new) = Space::new(3, &nodes, &Pairs::default(), Some(&[0, 4, 5]), Layout::Stored);
        assert_eq!(new.nodes, [3, 1, 2, 0]); // two rows, then lists of one label each
        let v = space.view();
        assert_eq!((v.width, v.dense, v.weights()), (4, 2, 3 * 4 + 2 * 4 + 2));
        assert_eq!(v.singles, [2 | SpaceView::LAST, SpaceView::LAST]);
        assert_eq!((v.list(2), v.list(3)), (vec![(20, 2)], vec![(21, 0)]));
        assert_eq!([0, 1, 2].map(|y| space.node_weight(0, y)), [Some(12), Some(13), None]);
        assert_eq!([0, 1, 2].map(|y| space.node_weight(2, y)), [None, None, Some(20)]);
        assert_eq!([0, 1, 2].map(|y| space.transition_weight(1, y)), [None, Some(5), Some(6)]);
        assert_eq!(v.sparse().collect::<Vec<_>>(), [2, 3]);
        assert_eq!([0, 1, 2, 3, 4].map(|a| v.has(a)), [true, true, true, true, false]);
        assert_eq!(space.attributes(), 4);
        assert_eq!(space.existing(), 3 + 5 + 2);
        assert!(v.is_sound());
    }

    #[test]
    fn holes_are_the_pairs_that_do_not_occur() {
        let nodes = pairs(&[&[0, 2]], &[1]);
        let (space, _) = Space::new(3, &nodes, &Pairs::default(), Some(&[1]), Layout::Stored);
        let mut w = vec![1.0; space.view().weights()];
        space.clear_holes(&mut w);
        assert_eq!(w[..4], [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(w[12..], [1.0, 0.0, 1.0, 0.0]);
        assert_eq!(w.iter().sum::<f64>(), 3.0);
    }

    #[test]
    fn all_pairs_leave_padding_only() {
        let nodes = pairs(&[&[0], &[1]], &[1, 2]);
        let edges = pairs(&[&[3]], &[1]);
        let (space, _) = Space::new(2, &nodes, &edges, Some(&[]), Layout::All);
        assert!(space.is_complete());
        assert_eq!(space.existing(), 4 + 4 + 4);
        assert_eq!(space.view().edge_pairs, [0, 1, 2, 3]);
        assert!(space.view().is_sound());
    }

    #[test]
    fn unsound_arrays_are_seen() {
        let nodes = pairs(&[&[0], &[1]], &[1, 2]);
        let (space, _) = Space::new(2, &nodes, &Pairs::default(), Some(&[0]), Layout::Observed);
        let v = space.view();
        assert!(v.is_sound());
        assert!(!SpaceView { labels: 0, ..v }.is_sound());
        assert!(!SpaceView { singles: &[0, 7 | SpaceView::LAST], ..v }.is_sound());
        assert!(!SpaceView { singles: &[0, 1], ..v }.is_sound());
        assert!(!SpaceView { edge_starts: &[1], edge_pairs: &[1], ..v }.is_sound());
    }
}
