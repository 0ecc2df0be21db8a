//! Attributes of edges in a batch: label pairs that have other weights at one position than everywhere.
//!
//! At position t a pair that such attributes know has the factor `E_t = exp(a + sum of their weights - m)` instead of
//! E. The others keep theirs, so E is changed at the pairs that are known, used, and put right again. The expected
//! number of a pair is the one that all positions share, E times the sum of alpha r, plus `alpha r (E_t - E)` where it
//! is known.

use super::super::{Real, SpaceView};
use super::Work;
use crate::exp::exp64;
use seqoia_core::SequenceView;
use seqoia_core::cast::narrow;

/// The pairs of one sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps<R> {
    starts: Vec<usize>, // [T + 1] into `pairs`
    pairs: Vec<u32>,    // y' * W + y
    factors: Vec<R>,    // E_t of each
    before: Vec<R>,     // E of each
    seen: Vec<u32>,     // [K][W] where the pair stands among those of the position at hand, from 1
    terms: Vec<f64>,    // sums of weights, then exponents, of the position at hand
}

/// Calls `see` with index (among those of edges), pair and value of each weight that the attributes of edges have at a
/// position.
#[inline(always)]
fn each_weight(space: SpaceView<'_>, x: SequenceView<'_>, t: usize, mut see: impl FnMut(usize, usize, f64)) {
    let values = x.edges.values_at(t);
    for (i, &a) in x.edges.at(t).iter().enumerate() {
        let (from, to) = (space.edge_starts[a as usize] as usize, space.edge_starts[a as usize + 1] as usize);
        let value = values.map_or(1.0, |values| f64::from(values[i]));
        let pairs = &space.edge_pairs[from - space.edges_at()..to - space.edges_at()];
        (from - space.edges_at()..).zip(pairs).for_each(|(at, pair)| see(at, *pair as usize, value));
    }
}

/// What the attributes of edges at a position add to the score of a pair.
#[inline(always)]
pub(super) fn score<R: Real>(work: &Work<'_, R>, x: SequenceView<'_>, t: usize, pair: usize) -> f64 {
    let mut sum = 0.0;
    each_weight(work.space, x, t, |at, other, value| {
        sum += if other == pair { work.w.edges[at].to_f64() * value } else { 0.0 };
    });
    sum
}

impl<R: Real> Steps<R> {
    /// The factors of all positions; how far transitions are apart then.
    #[inline(always)]
    pub(super) fn fill(&mut self, work: &Work<'_, R>, x: SequenceView<'_>, e: &[R]) -> R {
        let Steps { starts, pairs, factors, before, seen, terms } = self;
        seen.resize(e.len(), 0);
        pairs.clear();
        factors.clear();
        before.clear();
        starts.clear();
        starts.extend([0, 0]); // none lead to the first position
        let (mut least, mut most) = (-work.range.to_f64(), 0.0);
        for t in 1..x.len() {
            let first = pairs.len();
            terms.clear();
            each_weight(work.space, x, t, |at, pair, value| {
                if seen[pair] == 0 {
                    pairs.push(narrow(pair));
                    terms.push(0.0);
                    seen[pair] = narrow(terms.len());
                }
                terms[seen[pair] as usize - 1] += work.w.edges[at].to_f64() * value;
            });
            for (term, &pair) in terms.iter_mut().zip(&pairs[first..]) {
                let pair = pair as usize;
                seen[pair] = 0;
                *term += work.w.transitions[pair].to_f64() - work.most.to_f64();
                // What rules forbid stays so.
                *term = if e[pair] == R::ZERO { f64::NEG_INFINITY } else { *term };
                before.push(e[pair]);
            }
            for &term in terms.iter().filter(|term| **term != f64::NEG_INFINITY) {
                least = if term < least { term } else { least };
                most = if term > most { term } else { most };
            }
            factors.extend(terms.iter().map(|term| R::from_f64(exp64(*term))));
            starts.push(pairs.len());
        }
        R::from_f64(most - least)
    }

    fn of(&self, t: usize) -> std::ops::Range<usize> {
        self.starts[t]..self.starts[t + 1]
    }

    /// Puts the factors of a position into E, or into its transpose: `place` says where a pair lies.
    #[inline(always)]
    pub(super) fn put(&self, t: usize, e: &mut [R], place: impl Fn(usize) -> usize) {
        for i in self.of(t) {
            e[place(self.pairs[i] as usize)] = self.factors[i];
        }
    }

    /// The opposite of `put`.
    #[inline(always)]
    pub(super) fn take_back(&self, t: usize, e: &mut [R], place: impl Fn(usize) -> usize) {
        for i in self.of(t) {
            e[place(self.pairs[i] as usize)] = self.before[i];
        }
    }

    /// After `backward`: c times the expected number of each weight's pair to its place in `g`, minus that of gold
    /// labels. What the pairs have beyond the factor that all positions share is subtracted from `gold`, which will
    /// be subtracted itself.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn spread(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        c: f64,
        labels: Option<&[u16]>,
        alpha: &[R],
        r: &[R],
        e: &[R],
        gold: &mut [f64],
        g: &mut [R],
    ) {
        let width = work.space.width;
        self.terms.resize(e.len(), 0.0);
        for t in 1..x.len() {
            for i in self.of(t) {
                let pair = self.pairs[i] as usize;
                let product =
                    alpha[(t - 1) * width + pair / width].to_f64() * r[t * width + pair % width].to_f64() * c;
                gold[pair] -= product * (self.factors[i].to_f64() - self.before[i].to_f64());
                self.terms[pair] = product * self.factors[i].to_f64();
            }
            let right = labels.map(|labels| usize::from(labels[t - 1]) * width + usize::from(labels[t]));
            each_weight(work.space, x, t, |at, pair, value| {
                let gold = if right == Some(pair) { c } else { 0.0 };
                g[at] += R::from_f64(value * (self.terms[pair] - gold));
            });
        }
    }
}
