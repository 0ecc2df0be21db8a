//! Sums over whole chunks: which kernel does which part of them.

use super::kernel::{Batch, SumLimits, Touched, Wide, collect};
use super::{Chain, Precision};
use seqoia_core::Weights;
use seqoia_core::cast::single;

/// One worker's buffers.
#[derive(Default)]
pub(super) struct Sums {
    batch: Batch<f64>,
    single: Single,
    wide: Option<Wide>,
    touched: Touched, // by the gradients that wait
}

/// What a sum in single precision needs.
#[derive(Default)]
struct Single {
    batch: Batch<f32>,
    w: Vec<f32>, // [weights] of the sums that follow
    g: Vec<f32>, // [weights] waits for `collect`
}

impl Sums {
    /// Sums under these weights follow.
    pub(super) fn prepare(&mut self, chain: &Chain, w: Weights<'_>) {
        if in_single(chain, w) {
            self.single.w.clear();
            self.single.w.extend(w.values.iter().map(|x| single(*x)));
        }
    }

    /// The part of a sum that a fused kernel can do; examples that are left go to `odd`. The gradient is in `g`
    /// or waits here.
    pub(super) fn fused(
        &mut self,
        chain: &Chain,
        ids: &[usize],
        w: Weights<'_>,
        g: Option<&mut Vec<f64>>,
        odd: &mut Vec<usize>,
    ) -> f64 {
        let (space, isa, corpus) = (chain.space.view(), chain.isa, &*chain.corpus);
        let limits = SumLimits {
            rules: chain.limits.rules.as_deref(),
            own: &chain.limits.own,
            partial: Some((&chain.limits.partial, &chain.limits.sets)),
        };
        if w.scale != 1.0 {
            odd.extend_from_slice(ids);
            return 0.0;
        }
        let touched = &mut self.touched;
        touched.resize(space);
        if in_single(chain, w) {
            let Single { batch, w: copy, g: waiting } = &mut self.single;
            waiting.resize(if g.is_some() { w.values.len() } else { waiting.len() }, 0.0);
            let mut far = vec![];
            let gradient = g.is_some().then_some((waiting.as_mut_slice(), &mut *touched));
            let loss = batch.sum(isa, space, corpus, limits, ids, copy, gradient, &mut far);
            if far.is_empty() {
                return loss;
            }
            // Scores too far apart for single precision: the same in double.
            let g = g.map(|g| {
                g.resize(w.values.len(), 0.0);
                (g.as_mut_slice(), touched)
            });
            return loss + self.batch.sum(isa, space, corpus, limits, &far, w.values, g, odd);
        }
        let g = g.map(|g| {
            g.resize(w.values.len(), 0.0);
            (g.as_mut_slice(), touched)
        });
        if !chain.by_pairs {
            return self.batch.sum(isa, space, corpus, limits, ids, w.values, g, odd);
        }
        let exists = |from: usize, to: usize| chain.space.holes(from)[to / 32] >> (to % 32) & 1 == 0;
        let wide = self.wide.get_or_insert_with(|| Wide::new(space.labels, limits.rules, exists));
        wide.sum(isa, space, corpus, limits, ids, w.values, g, odd)
    }

    /// Whatever weight has a part in the gradient that waits: somebody else added to it.
    pub(super) fn touch_all(&mut self) {
        self.touched.touch_all();
    }

    /// Adds what waits, and `g`, to `to`.
    pub(super) fn collect(&mut self, chain: &Chain, g: &mut [f64], to: &mut [f64]) {
        collect(chain.isa, &chain.space, &self.touched, &mut self.single.g, to);
        collect(chain.isa, &chain.space, &self.touched, g, to);
        self.touched.clear();
    }

    /// Nothing waits any more.
    pub(super) fn forget(&mut self) {
        self.single.g.clear();
        self.touched.clear();
    }
}

/// Whether sums under these weights are in single precision.
fn in_single(chain: &Chain, w: Weights<'_>) -> bool {
    chain.precision == Precision::F32 && !chain.by_pairs && w.scale == 1.0
}
