//! Forward and backward along one sequence of a batch.

use super::super::super::Sets;
use super::super::forward_backward::{add_pairs, row_sum, times, times_all, times_each, times_scale};
use super::super::lost::{is_bearable, is_whole};
use super::super::{Real, SpaceView, dispatch};
use super::{Batch, Work, width_of};
use crate::exp::ln;
use seqoia_core::SequenceView;
use seqoia_core::cast::{label, real};

/// Takes posteriors as they are found. Not a closure: one that is not inlined would be compiled without the
/// instructions of the loop that calls it.
pub(super) trait Posteriors<R: Real> {
    /// Those of position `t`, times c; `gold` has a number for each pair of labels.
    fn take<const W: usize>(&mut self, gold: &mut [f64], t: usize, part: &mut [R]);
}

/// Gives scores as they are asked for, first position first.
pub(super) trait Scores<R: Real> {
    /// Puts those of position `t` into `row`.
    fn put<const W: usize>(&mut self, t: usize, row: &mut [R]);
}

/// Scores that are there already.
pub(super) struct There;

impl<R: Real> Scores<R> for There {
    #[inline(always)]
    fn put<const W: usize>(&mut self, _: usize, _: &mut [R]) {}
}

/// Turns the scores of a position into psi and tells the largest; None if they are too far apart.
#[inline(always)]
fn psi_of_scores<R: Real>(
    work: &Work<'_, R>,
    x: SequenceView<'_>,
    t: usize,
    range: R,
    sets: Option<&Sets>,
    psi: &mut [R],
) -> Option<R> {
    let labels = work.space.labels;
    let (mut least, mut most) = (psi[0], psi[0]);
    for &x in &psi[1..labels] {
        least = if x < least { x } else { least };
        most = if x > most { x } else { most };
    }
    let fits = (most - least) + range <= R::LIMIT;
    if !fits {
        return None;
    }
    R::exp_all(psi, most);
    psi[labels..].fill(R::ZERO);
    if let Some(sets) = sets {
        for (y, psi) in psi[..labels].iter_mut().enumerate() {
            *psi = if sets.holds(x.labels[t], label(y)) { *psi } else { R::ZERO };
        }
    }
    if let Some(rules) = work.limits.rules {
        let (no_start, no_end) = rules.ends();
        let out = if t == 0 { no_start } else { &[] };
        out.iter().for_each(|y| psi[usize::from(*y)] = R::ZERO);
        let out = if t + 1 == x.len() { no_end } else { &[] };
        out.iter().for_each(|y| psi[usize::from(*y)] = R::ZERO);
    }
    Some(most)
}

#[inline(always)]
fn fits<R: Real, const W: usize>(
    batch: &mut Batch<R>,
    space: SpaceView<'_>,
    range: f64,
    edges: bool,
) -> bool {
    let (labels, width) = (space.labels, width_of::<W>(space));
    let Batch { nodes, alpha, scales, steps, e, .. } = batch;
    is_whole(nodes, alpha, range)
        || is_bearable(nodes, scales, width, |t, lost, row| {
            if edges {
                steps.put(t, e, |pair| pair);
            }
            times::<R, W>(&lost[..labels], e, width, row);
            if edges {
                steps.take_back(t, e, |pair| pair);
            }
        })
}

impl<R: Real> Batch<R> {
    /// Turns scores into psi, fills alpha and the scales; log Z, or None if that takes the log domain. `range` is that
    /// of the transitions of this sequence. With `sets`, over what the gold labels may be.
    #[inline(always)]
    pub(super) fn forward<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        range: R,
        sets: Option<&Sets>,
        mut scores: impl Scores<R>,
    ) -> Option<f64> {
        let (length, labels, width) = (x.len(), work.space.labels, width_of::<W>(work.space));
        self.alpha.resize(length * width, R::ZERO);
        self.scales.resize(length, R::ZERO);
        let (edges, mut offset, mut product, mut logs) = (!x.edges.is_empty(), 0.0, 1.0, 0.0);
        if let Some(first) = self.nodes.get_mut(..width) {
            scores.put::<W>(0, first);
        }
        for t in 0..length {
            let (psi, next) = self.nodes[t * width..].split_at_mut(width);
            if t + 1 < length {
                scores.put::<W>(t + 1, &mut next[..width]);
            }
            offset += psi_of_scores(work, x, t, range, sets, psi)?.to_f64();
            let (before, row) = self.alpha.split_at_mut(t * width);
            let row = &mut row[..width];
            if t == 0 {
                row.copy_from_slice(psi);
            } else {
                if edges {
                    self.steps.put(t, &mut self.e, |pair| pair);
                }
                let before = &before[(t - 1) * width..][..labels];
                if W == 0 {
                    times::<R, W>(before, &self.e, width, row);
                    row.iter_mut().zip(&*psi).for_each(|(row, psi)| *row *= *psi);
                } else {
                    times::<R, W>(before, &self.e, W, row);
                    times_each(row, &self.nodes[t * W..][..W]);
                }
                if edges {
                    self.steps.take_back(t, &mut self.e, |pair| pair);
                }
            }
            let scale = row_sum(row);
            let inverse = R::ONE / scale;
            times_all(row, inverse);
            self.scales[t] = inverse;
            (product, logs) = times_scale(product, scale.to_f64(), logs);
        }
        logs += ln(product);
        if work.limits.rules.is_some() && !(logs.is_finite() && self.fits(work, range, edges)) {
            return None;
        }
        Some(offset + logs + work.most.to_f64() * real(length.saturating_sub(1)))
    }

    /// Whether underflow under rules cost nothing that matters. Apart, so that loops without rules are compiled as if it
    /// were not there.
    #[inline(never)]
    fn fits(&mut self, work: &Work<'_, R>, range: R, edges: bool) -> bool {
        let (batch, space, range) = (self, work.space, range.to_f64());
        dispatch!(work.isa, space.width, fits::<R>(batch: &mut Batch<R>, space: SpaceView<'_>, range: f64, edges: bool) -> bool)
    }

    /// Gives c times the posterior of each position away, from the last; r of each position
    /// replaces its psi. Adds the sums of pairs.
    #[inline(always)]
    pub(super) fn backward<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        c: R,
        mut to: impl Posteriors<R>,
    ) {
        let (labels, width) = (work.space.labels, width_of::<W>(work.space));
        let across = |pair: usize| pair % width * width + pair / width;
        if W == 0 {
            self.backward_any(work, x, c, to);
            return self.add_pairs::<W>(labels, width, c);
        }
        let mut beta = [R::ONE; W];
        beta[labels..].fill(R::ZERO);
        for t in (0..x.len()).rev() {
            let alpha = &self.alpha.as_chunks::<W>().0[t];
            let mut part = [R::ZERO; W];
            for j in 0..W {
                part[j] = c * (alpha[j] * beta[j]);
            }
            to.take::<W>(&mut self.gold, t, &mut part);
            if t > 0 {
                let (r, scale) = (&mut self.nodes.as_chunks_mut::<W>().0[t], self.scales[t]);
                times_each(r, &beta); // was psi
                times_all(r, scale);
                if !x.edges.is_empty() {
                    self.steps.put(t, &mut self.transposed, across);
                }
                times::<R, W>(&r[..labels], &self.transposed, W, &mut beta);
                if work.limits.rules.is_some() {
                    // A label that nothing leads to may have any beta, and no part in what follows.
                    let before = &self.alpha.as_chunks::<W>().0[t - 1];
                    for j in 0..W {
                        beta[j] = if before[j] == R::ZERO { R::ZERO } else { beta[j] };
                    }
                }
                // In memory, as a whole: the compiler takes a row apart that it holds in registers.
                std::hint::black_box(&mut beta);
                if !x.edges.is_empty() {
                    self.steps.take_back(t, &mut self.transposed, across);
                }
            }
        }
        self.add_pairs::<W>(labels, width, c);
    }

    /// The same where the width is not known beforehand, but for the pairs.
    #[inline(always)]
    fn backward_any(&mut self, work: &Work<'_, R>, x: SequenceView<'_>, c: R, mut to: impl Posteriors<R>) {
        let (labels, width) = (work.space.labels, work.space.width);
        let across = |pair: usize| pair % width * width + pair / width;
        let (mut beta, mut part) = (std::mem::take(&mut self.beta), std::mem::take(&mut self.part));
        beta.clear();
        beta.resize(labels, R::ONE);
        beta.resize(width, R::ZERO);
        for t in (0..x.len()).rev() {
            let alpha = &self.alpha[t * width..][..width];
            if work.limits.rules.is_some() {
                let dead = beta.iter_mut().zip(alpha).filter(|(_, alpha)| **alpha == R::ZERO);
                dead.for_each(|(beta, _)| *beta = R::ZERO);
            }
            part.clear();
            part.extend(alpha.iter().zip(&beta).map(|(alpha, beta)| c * (*alpha * *beta)));
            to.take::<0>(&mut self.gold, t, &mut part);
            if t > 0 {
                let (r, scale) = (&mut self.nodes[t * width..][..width], self.scales[t]);
                r.iter_mut().zip(&beta).for_each(|(r, beta)| *r = *r * *beta * scale); // was psi
                if !x.edges.is_empty() {
                    self.steps.put(t, &mut self.transposed, across);
                }
                times::<R, 0>(&r[..labels], &self.transposed, width, &mut beta);
                if !x.edges.is_empty() {
                    self.steps.take_back(t, &mut self.transposed, across);
                }
            }
        }
        (self.beta, self.part) = (beta, part);
    }

    #[inline(always)]
    fn add_pairs<const W: usize>(&mut self, labels: usize, width: usize, c: R) {
        add_pairs::<R, f64, W>(&self.alpha, &self.nodes, labels, width, c, &mut self.pairs);
    }
}
