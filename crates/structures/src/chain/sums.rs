//! Sums over whole chunks: which kernel does which part of them.

use super::kernel::{Batch, Plane, Real, SumLimits, Touched, Wide, collect};
use super::{Chain, Precision};
use seqoia_core::Weights;

/// One worker's buffers.
#[derive(Default)]
pub(super) struct Sums {
    double: InPrecision<f64>,
    single: InPrecision<f32>,
    wide: Option<Wide>,
    touched: Touched, // by the gradient that waits in the vector that is lent
}

/// What a sum over all label pairs needs.
#[derive(Default)]
struct InPrecision<R> {
    batch: Batch<R>,
    plane: Plane<R>,
    ready: bool, // the plane has the weights of the sums that follow
}

impl<R: Real> InPrecision<R> {
    /// The loss of the examples that are not `odd`; their gradient waits in the plane.
    fn sum(
        &mut self,
        chain: &Chain,
        limits: SumLimits<'_>,
        ids: &[usize],
        w: &[f64],
        wanted: bool,
        odd: &mut Vec<usize>,
    ) -> f64 {
        let space = chain.space.view();
        if !std::mem::replace(&mut self.ready, true) {
            self.plane.fill(space, w);
        }
        let InPrecision { batch, plane, .. } = self;
        batch.sum(chain.isa, space, &*chain.corpus, limits, ids, w, plane, wanted, odd)
    }
}

impl Sums {
    /// Sums under other weights follow.
    pub(super) fn prepare(&mut self) {
        (self.double.ready, self.single.ready) = (false, false);
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
        let limits = SumLimits {
            rules: chain.limits.rules.as_deref(),
            broken: &chain.limits.broken,
            partial: Some((&chain.limits.partial, &chain.limits.sets)),
        };
        if w.scale != 1.0 {
            odd.extend_from_slice(ids);
            return 0.0;
        }
        if chain.by_pairs {
            let space = chain.space.view();
            self.touched.resize(space);
            let g = g.map(|g| {
                g.resize(w.values.len(), 0.0);
                (g.as_mut_slice(), &mut self.touched)
            });
            let exists = |from: usize, to: usize| chain.space.holes(from)[to / 32] >> (to % 32) & 1 == 0;
            let wide = self.wide.get_or_insert_with(|| Wide::new(space.labels, limits.rules, exists));
            return wide.sum(chain.isa, space, &*chain.corpus, limits, ids, w.values, g, odd);
        }
        let wanted = g.is_some();
        if chain.precision == Precision::F64 {
            return self.double.sum(chain, limits, ids, w.values, wanted, odd);
        }
        let mut far = vec![];
        let loss = self.single.sum(chain, limits, ids, w.values, wanted, &mut far);
        if far.is_empty() {
            return loss;
        }
        // Scores too far apart for single precision: the same in double.
        loss + self.double.sum(chain, limits, &far, w.values, wanted, odd)
    }

    /// Whatever weight has a part in the gradient that is lent: somebody else added to it.
    pub(super) fn touch_all(&mut self, chain: &Chain) {
        self.touched.resize(chain.space.view());
        self.touched.touch_all();
    }

    /// Adds what waits, and `g`, to `to`.
    pub(super) fn collect(&mut self, chain: &Chain, g: &mut [f64], to: &mut [f64]) {
        self.single.plane.collect(chain.isa, &chain.space, to);
        self.double.plane.collect(chain.isa, &chain.space, to);
        collect(chain.isa, &chain.space, &self.touched, g, to);
        self.touched.clear();
    }

    /// Nothing waits any more.
    pub(super) fn forget(&mut self) {
        self.single.plane.forget();
        self.double.plane.forget();
        self.prepare();
        self.touched.clear();
    }
}
