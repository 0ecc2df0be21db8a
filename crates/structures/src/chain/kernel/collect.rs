//! The gradient of a chunk joins the total: `to += g` where a weight exists, and `g = 0`, in one sweep.
//!
//! Chunks leave values in the holes of rows, because adding whole rows is cheaper than looking. One
//! sweep over both planes instead of three (holes, sum, zero) matters: planes are larger than caches.
//! Most single weights are of attributes that occur once or twice, in one chunk: stretches of them that a chunk
//! did not touch are left alone. Equally frequent attributes are numbered as they come, so such stretches are long.

use super::super::Space;
use super::{Real, SpaceView, dispatch};
use seqoia_core::Isa;

/// Which stretches of single weights were touched since the last time that a gradient was collected.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    stretches: Vec<u8>, // not 0: touched
}

impl Touched {
    /// Single weights of a stretch: 2^8, as many as fill a few cache lines of marks for a million.
    const BITS: u32 = 8;

    /// Room for the single weights of a space; what is touched stays so.
    pub fn resize(&mut self, space: SpaceView<'_>) {
        self.stretches.resize(space.singles.len().div_ceil(1 << Self::BITS), 0);
    }

    /// Touches the single weight at this position.
    #[inline(always)]
    pub(crate) fn touch(&mut self, position: usize) {
        self.stretches[position >> Self::BITS] = 1;
    }

    /// Touches all of them.
    pub(crate) fn touch_all(&mut self) {
        self.stretches.fill(1);
    }

    pub(crate) fn clear(&mut self) {
        self.stretches.fill(0);
    }
}

/// Adds `g` to `to` and clears it. Nothing is to be done if `g` is empty.
pub(crate) fn collect<R: Real>(isa: Isa, space: &Space, touched: &Touched, g: &mut [R], to: &mut [f64]) {
    if g.is_empty() {
        return;
    }
    let width = space.view().width;
    dispatch!(isa, width, rows::<R>(space: &Space, touched: &Touched, g: &mut [R], to: &mut [f64]));
}

#[inline(always)]
fn rows<R: Real, const W: usize>(space: &Space, touched: &Touched, g: &mut [R], to: &mut [f64]) {
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
    let (singles, edges) = singles.split_at_mut(view.singles.len());
    let (to_singles, to_edges) = to_singles.split_at_mut(view.singles.len());
    let stretches = singles.chunks_mut(1 << Touched::BITS).zip(to_singles.chunks_mut(1 << Touched::BITS));
    for ((g, to), _) in stretches.zip(&touched.stretches).filter(|(_, touched)| **touched != 0) {
        add(g, to);
    }
    add(edges, to_edges);
}

#[inline(always)]
fn add<R: Real>(g: &mut [R], to: &mut [f64]) {
    for (g, to) in g.iter_mut().zip(to) {
        *to += g.to_f64();
        *g = R::ZERO;
    }
}
