//! The inner loops of a chain, and the choice of the instruction set.
//!
//! Loops are written over rows of fixed length so that the compiler keeps them in vector registers,
//! and are compiled twice: for the processor the build was made for and for AVX2. Which one runs is
//! decided when a kernel is made. Nothing here uses fused multiply-add and every sum has a fixed
//! order, so both give the same bits; `exp` and `ln` are our own for the same reason.

#![allow(unsafe_code)] // the call into a function compiled for an instruction set that was detected

mod batch;
mod collect;
mod forward_backward;
mod gather;
mod lost;
mod plane;
mod viterbi;
mod wide;

pub(crate) use viterbi::best_path;
pub(crate) use wide::Wide;

pub use batch::{Batch, SumLimits};

pub(crate) use collect::{Touched, collect};
pub(crate) use forward_backward::ForwardBackward;
pub use plane::Plane;

use super::SpaceView;
pub(crate) use seqoia_core::prefetch;
use seqoia_core::{Isa, Items};

/// From this many numbers a row on, no loops are compiled for its width.
pub(crate) const WIDE: usize = 65;

/// Number types that weights and scores may have.
pub trait Real:
    Copy
    + Default
    + Send
    + Sync
    + PartialOrd
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::AddAssign
    + std::ops::MulAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Below every score.
    const LEAST: Self;
    /// If scores of one position and of the transitions differ by no more than this together, no
    /// probability underflows when it is normalised by position: exp(-LIMIT) is a normal number.
    const LIMIT: Self;
    /// What underflow may cost under rules, in units of the smallest normal number; also a bound of what is worked with on
    /// the way back.
    const MOST_LOST: f64;
    /// From double precision.
    fn from_f64(x: f64) -> Self;
    /// To double precision.
    fn to_f64(self) -> f64;
    /// `x = e^(x - most)` for each of `row`, which is a multiple of 2 long and has nothing above `most`; 0 where that
    /// underflows.
    fn exp_all(row: &mut [Self], most: Self);
    /// The number if `bit` is 0, 0 if it is 1: by a mask, which the compiler keeps in vectors.
    fn unless(self, bit: u32) -> Self;
    /// Numbers in double precision as they are, if that is what this type is.
    fn same(numbers: &[f64]) -> Option<&[Self]>;
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const LEAST: f64 = f64::NEG_INFINITY;
    const LIMIT: f64 = 650.0;
    const MOST_LOST: f64 = 1e290;
    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn exp_all(row: &mut [f64], most: f64) {
        let (fours, rest) = row.as_chunks_mut::<4>();
        for four in fours {
            *four = crate::exp::exp64_each(four.map(|x| x - most));
        }
        for two in rest.as_chunks_mut::<2>().0 {
            *two = crate::exp::exp64_each(two.map(|x| x - most));
        }
    }
    #[inline(always)]
    fn unless(self, bit: u32) -> f64 {
        f64::from_bits(self.to_bits() & u64::from(bit).wrapping_sub(1))
    }
    #[inline(always)]
    fn same(numbers: &[f64]) -> Option<&[f64]> {
        Some(numbers)
    }
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const LEAST: f32 = f32::NEG_INFINITY;
    const LIMIT: f32 = 80.0;
    const MOST_LOST: f64 = 1e30; // 1e-8 of Z
    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        seqoia_core::cast::single(x)
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn exp_all(row: &mut [f32], most: f32) {
        let (eights, rest) = row.as_chunks_mut::<8>();
        for eight in eights {
            *eight = crate::exp::exp32_each(eight.map(|x| x - most));
        }
        let (fours, rest) = rest.as_chunks_mut::<4>();
        for four in fours {
            *four = crate::exp::exp32_each(four.map(|x| x - most));
        }
        for two in rest.as_chunks_mut::<2>().0 {
            *two = crate::exp::exp32_each(two.map(|x| x - most));
        }
    }
    #[inline(always)]
    fn unless(self, bit: u32) -> f32 {
        f32::from_bits(self.to_bits() & bit.wrapping_sub(1))
    }
    #[inline(always)]
    fn same(_: &[f64]) -> Option<&[f32]> {
        None
    }
}

/// Runs a loop body compiled for the chosen instruction set and for the row width W. A body is an
/// `#[inline(always)]` function `body::<R, W>(args)`; W = 0 stands for "any width".
macro_rules! dispatch {
    ($isa:expr, $width:expr, $body:ident::<$r:ident>($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2<$r: $crate::chain::kernel::Real, const W: usize>($($arg: $type),*) $(-> $out)? {
            $body::<$r, W>($($arg),*)
        }
        fn plain<$r: $crate::chain::kernel::Real, const W: usize>($($arg: $type),*) $(-> $out)? {
            $body::<$r, W>($($arg),*)
        }
        macro_rules! at_width {
            ($w:literal) => {
                match $isa {
                    $crate::chain::kernel::Isa::Portable => plain::<$r, $w>($($arg),*),
                    // SAFETY: `Isa::Avx2` comes from `Isa::detect`, which saw AVX2 on this processor.
                    #[cfg(target_arch = "x86_64")]
                    $crate::chain::kernel::Isa::Avx2(_) => unsafe { avx2::<$r, $w>($($arg),*) },
                }
            };
        }
        match $width {
            2 => at_width!(2),
            4 => at_width!(4),
            8 => at_width!(8),
            12 => at_width!(12),
            16 => at_width!(16),
            20 => at_width!(20),
            24 => at_width!(24),
            28 => at_width!(28),
            32 => at_width!(32),
            40 => at_width!(40),
            48 => at_width!(48),
            56 => at_width!(56),
            64 => at_width!(64),
            _ => at_width!(0),
        }
    }};
}
pub(crate) use dispatch;

/// The loops of one chain layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    isa: Isa,
}

impl Kernel {
    pub(crate) fn new(isa: Isa) -> Self {
        Kernel { isa }
    }

    pub(crate) fn isa(self) -> Isa {
        self.isa
    }

    /// `out[t][y] = scale * s_t(y)`, padding included (it reads 0). `out` is [T][W].
    pub(crate) fn node_scores<R: Real>(
        self,
        space: SpaceView<'_>,
        w: &[R],
        scale: R,
        nodes: Items<'_>,
        out: &mut [R],
    ) {
        gather::node_scores(self.isa, space, w, scale, nodes, out);
    }

    /// `out[t][y'][y] = scale * a_t(y', y)` for t = 1..T, from [K][W] plain transitions and the
    /// attributes of the edge. `out` is [T-1][K][W].
    pub(crate) fn edge_scores<R: Real>(
        self,
        space: SpaceView<'_>,
        w: &[R],
        scale: R,
        edges: Items<'_>,
        out: &mut [R],
    ) {
        gather::edge_scores(space, w, scale, edges, out);
    }

    /// `to += parts` through the attributes; `to` holds the weights from index `at` on. `buffer` is for
    /// wide rows.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn spread_nodes<R: Real>(
        self,
        space: &super::Space,
        nodes: Items<'_>,
        parts: &[R],
        step: R,
        at: usize,
        to: &mut [R],
        buffer: &mut Vec<R>,
    ) {
        gather::spread_nodes(self.isa, space, nodes, parts, step, at, to, buffer);
    }

    /// Best scores of all prefixes: `best[t][y]`, without back pointers (they are cheaper to find
    /// again for the one label chosen at each position). `edges` is [K][W], or [T-1][K][W] with
    /// `stride` K * W.
    pub(crate) fn best_prefixes<R: Real>(
        self,
        space: SpaceView<'_>,
        nodes: &[R],
        edges: &[R],
        stride: usize,
        best: &mut Vec<R>,
    ) {
        viterbi::best_prefixes(self.isa, space, nodes, edges, stride, best);
    }
}
