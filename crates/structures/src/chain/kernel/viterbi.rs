//! Best labelling of a chain (Viterbi 1967).
//!
//! ```text
//! best_0(y) = s_0(y);   best_t(y) = s_t(y) + max_{y'} [ best_{t-1}(y') + a_t(y', y) ]
//! ```
//!
//! The forward sweep keeps scores only: an add and a maximum per label pair, a row in registers.
//! Back pointers would need a compare and a blend of indices for every pair; the argument of the
//! maximum is found again on the way back, for one label a position. Equal scores go to the lower
//! label, everywhere.

use super::{Real, SpaceView, dispatch};
use seqoia_core::Isa;
use seqoia_core::cast::label;

pub(super) fn best_prefixes<R: Real>(
    isa: Isa,
    space: SpaceView<'_>,
    nodes: &[R],
    edges: &[R],
    stride: usize,
    best: &mut Vec<R>,
) {
    best.clear();
    best.resize(nodes.len(), R::ZERO);
    let best = best.as_mut_slice();
    dispatch!(isa, space.width, sweep::<R>(space: SpaceView<'_>, nodes: &[R], edges: &[R], stride: usize, best: &mut [R]));
}

#[inline(always)]
fn sweep<R: Real, const W: usize>(
    space: SpaceView<'_>,
    nodes: &[R],
    edges: &[R],
    stride: usize,
    best: &mut [R],
) {
    let width = if W == 0 { space.width } else { W };
    let Some(length) = nodes.len().checked_div(width).filter(|&t| t > 0) else { return };
    best[..width].copy_from_slice(&nodes[..width]);
    for t in 1..length {
        let (done, row) = best.split_at_mut(t * width);
        let before = &done[(t - 1) * width..][..space.labels];
        let (row, scores) = (&mut row[..width], &nodes[t * width..][..width]);
        let edges = &edges[(t - 1) * stride..];
        if W == 0 {
            wide(before, edges, width, row);
        } else {
            narrow::<R, W>(before, edges, row);
        }
        row.iter_mut().zip(scores).for_each(|(b, s)| *b += *s);
    }
}

/// All targets in registers.
#[inline(always)]
fn narrow<R: Real, const W: usize>(before: &[R], edges: &[R], row: &mut [R]) {
    let mut top = [R::LEAST; W];
    for (&b, edge) in before.iter().zip(edges.as_chunks::<W>().0) {
        for j in 0..W {
            let x = b + edge[j];
            top[j] = if x > top[j] { x } else { top[j] };
        }
    }
    row.copy_from_slice(&top);
}

/// Eight targets at a time; a wide row is a multiple of 8.
#[inline(always)]
fn wide<R: Real>(before: &[R], edges: &[R], width: usize, row: &mut [R]) {
    const B: usize = 8;
    for (block, out) in row.chunks_exact_mut(B).enumerate() {
        let mut top = [R::LEAST; B];
        for (from, &b) in before.iter().enumerate() {
            let edge = &edges[from * width + block * B..][..B];
            for j in 0..B {
                let x = b + edge[j];
                top[j] = if x > top[j] { x } else { top[j] };
            }
        }
        out.copy_from_slice(&top);
    }
}

/// Follows the best prefixes back, into `labels`; ties go to the lower label. The score of the path.
pub(crate) fn best_path<R: Real>(
    space: SpaceView<'_>,
    edges: &[R],
    stride: usize,
    best: &[R],
    labels: &mut Vec<u16>,
) -> R {
    let (width, length) = (space.width, best.len() / space.width);
    labels.clear();
    labels.resize(length, 0);
    if length == 0 {
        return R::ZERO;
    }
    let row = |t: usize| &best[t * width..][..space.labels];
    let (mut y, score) = first_max(row(length - 1).iter().copied());
    labels[length - 1] = label(y);
    for t in (1..length).rev() {
        let edges = &edges[(t - 1) * stride..];
        (y, _) = first_max(row(t - 1).iter().enumerate().map(|(from, &b)| b + edges[from * width + y]));
        labels[t - 1] = label(y);
    }
    score
}

/// Position and value of the maximum, the first of equals.
#[inline(always)]
pub(super) fn first_max<R: Real>(values: impl Iterator<Item = R>) -> (usize, R) {
    let (mut at, mut top) = (0, R::LEAST);
    for (i, x) in values.enumerate() {
        if x > top {
            (at, top) = (i, x);
        }
    }
    (at, top)
}
