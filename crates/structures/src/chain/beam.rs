//! Beam search over prefixes, and the prefixes that margin learners compare when search is inexact
//! (Collins & Roark 2004; Huang et al. 2012 [1]).
//!
//! ```text
//! keep the b best labels of each position; a label not kept starts no prefix
//! violation at t:  v_t = score(best prefix of length t) - score(gold prefix of length t)
//! early: the first t at which gold is not kept;  latest: the last t with v_t >= 0 and a wrong prefix;
//! max-violation: the t with the largest v_t
//! ```
//!
//! Prefixes that end in the same label are merged, so a beam of K is exact. With inexact search a
//! comparison of whole labellings may be no violation at all, and learners then learn nonsense: that
//! is why prefixes are compared [1].

use super::SpaceView;
use super::kernel::Real;
use seqoia_core::Update;
use seqoia_core::cast::label;

/// Prefix scores of one search; what was not kept scores `Real::LEAST`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beam<R> {
    best: Vec<R>,    // [T][W]
    order: Vec<u16>, // [K] labels of the position at hand, best first
    kept: Vec<u16>,  // those of the position before that start a prefix, ascending
}

impl<R: Real> Beam<R> {
    /// Fills the prefix scores; at most `size` labels of each position are kept.
    pub(crate) fn run(&mut self, space: SpaceView<'_>, nodes: &[R], edges: &[R], stride: usize, size: usize) {
        let (width, labels) = (space.width, space.labels);
        self.best.clear();
        self.best.resize(nodes.len(), R::LEAST);
        self.kept.clear();
        self.kept.extend((0..labels).map(label));
        for t in 0..nodes.len() / width {
            let (before, row) = self.best.split_at_mut(t * width);
            let row = &mut row[..labels];
            if t == 0 {
                row.fill(R::ZERO);
            } else {
                let (edges, before) = (&edges[(t - 1) * stride..], &before[(t - 1) * width..]);
                for from in self.kept.iter().map(|y| usize::from(*y)) {
                    for (best, edge) in row.iter_mut().zip(&edges[from * width..]) {
                        let arrive = before[from] + *edge;
                        *best = if arrive > *best { arrive } else { *best };
                    }
                }
            }
            row.iter_mut().zip(&nodes[t * width..]).for_each(|(best, node)| *best += *node);
            if size < labels {
                self.order.clear();
                self.order.extend((0..labels).map(label));
                // Equal scores: the lower label is kept. No score is NaN, so they compare.
                self.order.sort_by(|a, b| {
                    let (a, b) = (row[usize::from(*a)], row[usize::from(*b)]);
                    b.partial_cmp(&a).unwrap_or(std::cmp::Ordering::Equal)
                });
                let (kept, pruned) = self.order.split_at(size);
                pruned.iter().for_each(|&y| row[usize::from(y)] = R::LEAST);
                self.kept.clear();
                self.kept.extend_from_slice(kept);
                self.kept.sort_unstable();
            }
        }
    }

    /// The best prefix of `length` positions, into `labels`; its score.
    pub(crate) fn trace(
        &self,
        space: SpaceView<'_>,
        edges: &[R],
        stride: usize,
        length: usize,
        labels: &mut Vec<u16>,
    ) -> R {
        super::kernel::best_path(space, edges, stride, &self.best[..length * space.width], labels)
    }

    /// Length of the prefixes that `update` compares: gold's and the best of the beam. `gold(t)` is the
    /// score of the gold prefix of length t + 1.
    pub(crate) fn length(&self, space: SpaceView<'_>, update: Update, gold: &[R], labels: &[u16]) -> usize {
        let row = |t: usize| &self.best[t * space.width..][..space.labels];
        let top = |t: usize| row(t).iter().fold(R::LEAST, |top, &x| if x > top { x } else { top });
        let violation = |t: usize| top(t) - gold[t];
        let length = labels.len();
        match update {
            Update::Full => length,
            Update::Early => {
                let lost = |&t: &usize| row(t)[usize::from(labels[t])] == R::LEAST;
                (0..length).find(lost).map_or(length, |t| t + 1)
            }
            Update::Latest => (0..length).rev().find(|&t| violation(t) >= R::ZERO).map_or(0, |t| t + 1),
            Update::MaxViolation => {
                let (mut at, mut most) = (0, R::LEAST);
                for t in 0..length {
                    if violation(t) >= most {
                        (at, most) = (t + 1, violation(t));
                    }
                }
                at
            }
        }
    }
}
