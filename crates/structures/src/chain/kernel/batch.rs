//! Loss and gradient of many sequences in one sweep: the fused form of scores, forward-backward and
//! spread, for whole-pass learners.
//!
//! The formulas are those of `forward_backward`. What is gained over asking for parts:
//!
//! - exp of the transitions is computed once a chunk, and multiplied into the expected transitions
//!   once a chunk: `E (x) sum_t alpha_{t-1} r_t`;
//! - the gold label is subtracted from the posterior before it is scattered, so sums stay small (which
//!   is what lets single precision work) and no observed counts are needed;
//! - dense rows of the gradient are added without a look at their holes, which are cleared once;
//! - rows of the next position are prefetched while this one is worked on.
//!
//! What did not help, on the chunks of CoNLL-2000 and Zen 3: dividing alpha after its use instead of
//! before, rows kept in local arrays (the compiler takes them apart), the range of a row in vectors,
//! single weights numbered by first occurrence. The time goes to the rows of weights and gradient.
//!
//! Sequences with attributes on edges, with values, with limits of their own, or with scores too far
//! apart for the linear domain are left to the caller.

use super::super::{Limits, Rules};
use super::forward_backward::{row_sum, rows_range, times, times_scale};
use super::gather::fetch;
use super::{Real, SpaceView, Touched, dispatch};
use crate::exp::{exp64, ln};
use seqoia_core::Isa;
use seqoia_core::{Corpus, Sequence, SequenceView};

/// Buffers of one worker.
#[derive(Clone, Debug, Default)]
pub struct Batch<R> {
    e: Vec<R>,          // [K][W] exp(a - m)
    transposed: Vec<R>, // [K][W]
    pairs: Vec<f64>,    // [K][W] sum of alpha_{t-1} r_t: too large a sum for single precision
    gold: Vec<f64>,     // [K][W] weighted count of the gold pairs
    nodes: Vec<R>,      // [T][W] scores, then psi, then r
    alpha: Vec<R>,      // [T][W]
    scales: Vec<R>,     // [T] 1 / c_t
}

/// What a sweep needs to know beside the buffers.
struct Work<'a, R> {
    space: SpaceView<'a>,
    corpus: &'a dyn Corpus<Sequence>,
    ids: &'a [usize],
    w: &'a [R],
    most: R,  // largest transition
    range: R, // largest minus smallest transition
    limit: R, // how far scores may differ
    limits: SumLimits<'a>,
}

/// What labellings are held to.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumLimits<'a> {
    /// The rules of all sequences but the odd ones.
    pub rules: Option<&'a Rules>,
    /// Which sequences have limits of their own; none if it is empty.
    pub own: &'a [bool],
}

impl<R: Real> Batch<R> {
    /// Adds the gradient to `g`, which may get values in its holes, marks what it touched, and returns the loss.
    /// Sequences that it cannot do go to `odd`.
    #[allow(clippy::too_many_arguments)]
    pub fn sum(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        corpus: &dyn Corpus<Sequence>,
        limits: SumLimits<'_>,
        ids: &[usize],
        w: &[R],
        g: Option<(&mut [R], &mut Touched)>,
        odd: &mut Vec<usize>,
    ) -> f64 {
        let (labels, width) = (space.labels, space.width);
        let matrix = labels * width;
        let Some(limit) = Limits::rules(limits.rules).limit() else {
            odd.extend_from_slice(ids);
            return 0.0;
        };
        let (least, most) = rows_range(&w[..matrix], width, labels);
        self.e.resize(matrix, R::ZERO);
        self.transposed.resize(matrix, R::ZERO);
        // In double precision: an error here is the same at every position, so it adds up.
        for (e, a) in self.e.chunks_exact_mut(width).zip(w.chunks_exact(width)) {
            for y in 0..labels {
                e[y] = R::from_f64(exp64(a[y].to_f64() - most.to_f64()));
            }
        }
        if let Some(rules) = limits.rules {
            rules.forbidden(width).for_each(|pair| self.e[pair] = R::ZERO);
        }
        for y in 0..labels {
            (0..labels).for_each(|from| self.transposed[y * width + from] = self.e[from * width + y]);
        }
        for plane in [&mut self.pairs, &mut self.gold] {
            plane.clear();
            plane.resize(matrix, 0.0);
        }
        let work = &Work { space, corpus, ids, w, most, range: most - least, limit, limits };
        let this = self;
        dispatch!(isa, width, sweep::<R>(this: &mut Batch<R>, work: &Work<'_, R>, g: Option<(&mut [R], &mut Touched)>, odd: &mut Vec<usize>) -> f64)
    }
}

#[inline(always)]
fn sweep<R: Real, const W: usize>(
    b: &mut Batch<R>,
    work: &Work<'_, R>,
    mut g: Option<(&mut [R], &mut Touched)>,
    odd: &mut Vec<usize>,
) -> f64 {
    let mut total = 0.0;
    for &id in work.ids {
        let x = work.corpus.view(id).filter(|_| !work.limits.own.get(id).is_some_and(|odd| *odd));
        let x = x.filter(|x| x.edges.is_empty() && x.nodes.values.is_empty() && W > 0);
        let Some(x) = x else {
            odd.push(id);
            continue;
        };
        b.score::<W>(work, x);
        let gold = b.gold_score::<W>(work, x);
        let Some(log_z) = b.forward::<W>(work, x.len()) else {
            odd.push(id);
            continue;
        };
        total += x.weight * (log_z - gold);
        if let Some((g, touched)) = &mut g {
            b.backward::<W>(work, x, g, touched);
        }
    }
    if let Some((g, _)) = g {
        let pairs = b.pairs.iter().zip(&b.e).zip(&b.gold);
        g.iter_mut().zip(pairs).for_each(|(g, ((p, e), gold))| *g += R::from_f64(p * e.to_f64() - gold));
    }
    total
}

impl<R: Real> Batch<R> {
    #[inline(always)]
    fn score<const W: usize>(&mut self, work: &Work<'_, R>, x: SequenceView<'_>) {
        let space = work.space;
        self.nodes.resize(x.len() * W, R::ZERO);
        let (rows, singles) = work.w[space.rows_at()..].split_at(space.dense * W);
        for (t, out) in self.nodes.as_chunks_mut::<W>().0.iter_mut().enumerate() {
            if t + 1 < x.len() {
                fetch::<R, W>(space, x.nodes.at(t + 1), rows, singles);
            }
            let ids = x.nodes.at(t);
            let mut sum = [R::ZERO; W];
            let mut rest = ids;
            while let Some((&a, after)) = rest.split_first()
                && (a as usize) < space.dense
            {
                let row = &rows[a as usize * W..][..W];
                for j in 0..W {
                    sum[j] += row[j];
                }
                rest = after;
            }
            *out = sum;
            for &a in rest {
                space.each_single(a, |p, y| out[y] += singles[p]);
            }
        }
    }

    #[inline(always)]
    fn gold_score<const W: usize>(&self, work: &Work<'_, R>, x: SequenceView<'_>) -> f64 {
        let (mut score, mut before) = (0.0, None::<usize>);
        for (row, &y) in self.nodes.as_chunks::<W>().0.iter().zip(x.labels) {
            let y = usize::from(y);
            score += row[y].to_f64();
            if let Some(before) = before {
                score += work.w[before * W + y].to_f64();
            }
            before = Some(y);
        }
        score
    }

    /// Turns scores into psi, fills alpha and the scales; log Z, or None if scores are too far apart.
    #[inline(always)]
    fn forward<const W: usize>(&mut self, work: &Work<'_, R>, length: usize) -> Option<f64> {
        let labels = work.space.labels;
        self.alpha.resize(length * W, R::ZERO);
        self.scales.resize(length, R::ZERO);
        let (mut offset, mut product, mut logs) = (0.0, 1.0, 0.0);
        for t in 0..length {
            let psi = &mut self.nodes.as_chunks_mut::<W>().0[t];
            let (mut least, mut most) = (psi[0], psi[0]);
            for &x in &psi[1..labels] {
                least = if x < least { x } else { least };
                most = if x > most { x } else { most };
            }
            let fits = (most - least) + work.range <= work.limit;
            if !fits {
                return None;
            }
            offset += most.to_f64();
            for x in psi.iter_mut() {
                *x = (*x - most).exp();
            }
            psi[labels..].fill(R::ZERO);
            if let Some(rules) = work.limits.rules {
                let (no_start, no_end) = rules.ends();
                let out = if t == 0 { no_start } else { &[] };
                out.iter().for_each(|y| psi[usize::from(*y)] = R::ZERO);
                let out = if t + 1 == length { no_end } else { &[] };
                out.iter().for_each(|y| psi[usize::from(*y)] = R::ZERO);
            }
            let (before, row) = self.alpha.split_at_mut(t * W);
            let row = &mut row[..W];
            if t == 0 {
                row.copy_from_slice(psi);
            } else {
                times::<R, W>(&before[(t - 1) * W..][..labels], &self.e, W, row);
                for j in 0..W {
                    row[j] *= psi[j];
                }
            }
            let scale = row_sum(row);
            let inverse = R::ONE / scale;
            for a in row {
                *a *= inverse;
            }
            self.scales[t] = inverse;
            (product, logs) = times_scale(product, scale.to_f64(), logs);
        }
        Some(
            offset
                + logs
                + ln(product)
                + work.most.to_f64() * seqoia_core::cast::real(length.saturating_sub(1)),
        )
    }

    /// Posterior minus gold into the gradient, position by position from the last; r of each position
    /// replaces its psi.
    #[inline(always)]
    fn backward<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        g: &mut [R],
        touched: &mut Touched,
    ) {
        let (space, c) = (work.space, R::from_f64(x.weight));
        let labels = space.labels;
        let (rows, singles) = g[space.rows_at()..].split_at_mut(space.dense * W);
        let mut beta = [R::ONE; W];
        beta[labels..].fill(R::ZERO);
        for t in (0..x.len()).rev() {
            if t > 0 {
                fetch::<R, W>(space, x.nodes.at(t - 1), rows, singles);
            }
            let alpha = &self.alpha.as_chunks::<W>().0[t];
            let y = usize::from(x.labels[t]);
            let mut part = [R::ZERO; W];
            for j in 0..W {
                part[j] = c * (alpha[j] * beta[j]);
            }
            part[y] += R::ZERO - c;
            let mut ids = x.nodes.at(t);
            while let Some((&a, after)) = ids.split_first()
                && (a as usize) < space.dense
            {
                let row = &mut rows[a as usize * W..][..W];
                for j in 0..W {
                    row[j] += part[j];
                }
                ids = after;
            }
            for &a in ids {
                space.each_single(a, |p, y| {
                    singles[p] += part[y];
                    touched.touch(p);
                });
            }
            if t > 0 {
                self.gold[usize::from(x.labels[t - 1]) * W + y] += x.weight;
                let (place, scale) = (&mut self.nodes.as_chunks_mut::<W>().0[t], self.scales[t]);
                let (psi, mut r) = (*place, [R::ZERO; W]);
                for j in 0..W {
                    r[j] = psi[j] * beta[j] * scale;
                }
                if work.limits.rules.is_some() {
                    // A label that nothing leads to may have any beta, and no part in what follows.
                    for j in 0..W {
                        r[j] = if alpha[j] == R::ZERO { R::ZERO } else { r[j] };
                    }
                }
                *place = r;
                times::<R, W>(&r[..labels], &self.transposed, W, &mut beta);
            }
        }
        self.add_pairs::<W>(x.len(), labels, c);
    }

    /// `pairs[y'][y] += c sum_t alpha_{t-1}(y') r_t(y)`: two stretches of the result stay in registers
    /// while t runs.
    #[inline(always)]
    fn add_pairs<const W: usize>(&mut self, length: usize, labels: usize, c: R) {
        match W {
            4 => self.add_stretch::<W, 4>(length, labels, c, 0),
            8 => self.add_stretch::<W, 8>(length, labels, c, 0),
            12 => self.add_stretch::<W, 12>(length, labels, c, 0),
            16 => self.add_stretch::<W, 16>(length, labels, c, 0),
            20 => self.add_stretch::<W, 20>(length, labels, c, 0),
            24 => self.add_stretch::<W, 24>(length, labels, c, 0),
            28 => (0..W).step_by(4).for_each(|at| self.add_stretch::<W, 4>(length, labels, c, at)),
            _ => (0..W).step_by(8).for_each(|at| self.add_stretch::<W, 8>(length, labels, c, at)),
        }
    }

    #[inline(always)]
    fn add_stretch<const W: usize, const B: usize>(&mut self, length: usize, labels: usize, c: R, at: usize) {
        let (alpha, r) = (self.alpha.as_chunks::<W>().0, self.nodes.as_chunks::<W>().0);
        let rows = self.pairs.as_chunks_mut::<W>().0;
        for from in (0..labels).step_by(2) {
            let second = (from + 1).min(labels - 1);
            let (mut one, mut two) = ([R::ZERO; B], [R::ZERO; B]);
            for t in 1..length {
                let (a, b, r) = (alpha[t - 1][from], alpha[t - 1][second], &r[t][at..at + B]);
                for j in 0..B {
                    one[j] += a * r[j];
                    two[j] += b * r[j];
                }
            }
            for j in 0..B {
                rows[from][at + j] += (c * one[j]).to_f64();
            }
            if second != from {
                for j in 0..B {
                    rows[second][at + j] += (c * two[j]).to_f64();
                }
            }
        }
    }
}
