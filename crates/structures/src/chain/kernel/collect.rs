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
pub(crate) struct Touched {
    stretches: Vec<u8>, // not 0: touched; of those that are not listed nothing is known
}

impl Touched {
    /// Single weights of a stretch: 2^8, as many as fill a few cache lines of marks for a million.
    const BITS: u32 = 8;

    /// Room for the single weights of a space; what is touched stays so.
    pub(crate) fn resize(&mut self, space: SpaceView<'_>) {
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

/// Adds `g`, which has a number for each weight, to `to` and clears it. Nothing is to be done if `g` is empty.
pub(crate) fn collect(isa: Isa, space: &Space, touched: &Touched, g: &mut [f64], to: &mut [f64]) {
    if g.is_empty() {
        return;
    }
    let view = space.view();
    let (rows, g) = g.split_at_mut(view.singles_at());
    let (to_rows, to) = to.split_at_mut(view.singles_at());
    let (singles, edges) = g.split_at_mut(view.singles.len());
    let (to_singles, to_edges) = to.split_at_mut(view.singles.len());
    add_rows::<f64, 1>(isa, space, 0, rows, to_rows);
    add_singles(isa, touched, singles, to_singles);
    add_singles(isa, &Touched::default(), edges, to_edges);
}

/// The same for rows, from row `first` on; those of `g` are STEP times as long as they are wide, with what is added
/// at their end.
pub(super) fn add_rows<R: Real, const STEP: usize>(
    isa: Isa,
    space: &Space,
    first: usize,
    g: &mut [R],
    to: &mut [f64],
) {
    let step = STEP;
    dispatch!(isa, space.view().width, rows::<R>(space: &Space, step: usize, first: usize, g: &mut [R], to: &mut [f64]));
}

#[inline(always)]
fn rows<R: Real, const W: usize>(space: &Space, step: usize, first: usize, g: &mut [R], to: &mut [f64]) {
    let width = if W == 0 { space.view().width } else { W };
    let blocks = width.div_ceil(32);
    let masks = space.all_holes()[first * blocks..].chunks_exact(blocks);
    for ((g, to), holes) in g.chunks_exact_mut(step * width).zip(to.chunks_exact_mut(width)).zip(masks) {
        let g = &mut g[(step - 1) * width..][..width];
        for ((g, to), &holes) in g.chunks_mut(32).zip(to.chunks_mut(32)).zip(holes) {
            // By masks, so that it runs in vectors, and four at a time: a loop over eight or twelve numbers is unrolled
            // into single ones.
            let ((fours, rest), (to, last)) = (g.as_chunks_mut::<4>(), to.as_chunks_mut::<4>());
            for (i, (g, to)) in fours.iter_mut().zip(to).enumerate() {
                let bits = holes >> (4 * i);
                let some: [R; 4] = std::array::from_fn(|j| g[j].unless(bits >> j & 1));
                for j in 0..4 {
                    to[j] += some[j].to_f64();
                }
                *g = [R::ZERO; 4];
            }
            for (j, (g, to)) in rest.iter_mut().zip(last).enumerate() {
                *to += g.unless(holes >> j & 1).to_f64(); // two labels
                *g = R::ZERO;
            }
        }
    }
}

/// The same for weights of which each exists, but for stretches that are known not to be touched.
pub(super) fn add_singles<R: Real>(isa: Isa, touched: &Touched, g: &mut [R], to: &mut [f64]) {
    dispatch!(isa, 0, singles::<R>(touched: &Touched, g: &mut [R], to: &mut [f64]));
}

#[inline(always)]
fn singles<R: Real, const W: usize>(touched: &Touched, g: &mut [R], to: &mut [f64]) {
    let marks = touched.stretches.iter().map(|touched| *touched != 0).chain(std::iter::repeat(true));
    let stretches = g.chunks_mut(1 << Touched::BITS).zip(to.chunks_mut(1 << Touched::BITS));
    for ((g, to), touched) in stretches.zip(marks) {
        if touched {
            for (g, to) in g.iter_mut().zip(to) {
                *to += g.to_f64();
                *g = R::ZERO;
            }
        }
    }
    debug_assert_eq!(W, 0, "there are no rows");
}
