//! The gradient of a chunk joins the total: `to += g` where a weight exists, and `g = 0`, in one sweep.
//!
//! Chunks leave values in the holes of rows, because adding whole rows is cheaper than looking. One
//! sweep over both planes instead of three (holes, sum, zero) matters: planes are larger than caches.

use super::super::Space;
use super::{Real, dispatch};
use seqoia_core::Isa;

/// Adds `g` to `to` and clears it. Nothing is to be done if `g` is empty.
pub(crate) fn collect<R: Real>(isa: Isa, space: &Space, g: &mut [R], to: &mut [f64]) {
    if g.is_empty() {
        return;
    }
    let width = space.view().width;
    dispatch!(isa, width, rows::<R>(space: &Space, g: &mut [R], to: &mut [f64]));
}

#[inline(always)]
fn rows<R: Real, const W: usize>(space: &Space, g: &mut [R], to: &mut [f64]) {
    let view = space.view();
    let width = if W == 0 { view.width } else { W };
    let (rows, singles) = g.split_at_mut(view.singles_at());
    let (to_rows, to_singles) = to.split_at_mut(view.singles_at());
    let masks = space.all_holes().chunks_exact(width.div_ceil(32));
    for ((g, to), holes) in rows.chunks_exact_mut(width).zip(to_rows.chunks_exact_mut(width)).zip(masks) {
        for ((g, to), &holes) in g.chunks_mut(32).zip(to.chunks_mut(32)).zip(holes) {
            for (j, (g, to)) in g.iter_mut().zip(to).enumerate() {
                // Without a branch, so that it runs in vectors.
                *to += if holes >> j & 1 == 0 { g.to_f64() } else { 0.0 };
                *g = R::ZERO;
            }
        }
    }
    for (g, to) in singles.iter_mut().zip(to_singles) {
        *to += g.to_f64();
        *g = R::ZERO;
    }
}
