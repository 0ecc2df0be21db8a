//! The mean of all weight vectors of a run, for the price of one more sparse addition an update.
//!
//! ```text
//! update number i (from 0) of a pass:  w += d_i,   h += i d_i
//! sum of w after each of s updates  =  s w_end - h
//! ```
//!
//! (Daumé 2006, section 2; exact as long as weights do not decay.) The sum is brought up to date at
//! the end of each pass, so that h, which grows with s, starts anew and keeps its digits.

use seqoia_core::cast::real64;
use seqoia_core::{Data, Delta, Mix, Result, Slot, Team, each};

/// Weights that one job of [`Average::rest`] works on.
const BLOCK: usize = 1 << 16;

/// The mean of the weight vectors after each batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Average {
    h: Vec<f64>,   // [weights] this pass: sum of i d_i
    s: u64,        // batches of this pass
    sum: Vec<f64>, // [weights] earlier passes: sum of w after each batch
    t: f64,        // batches of earlier passes; a mean of several after mixing
}

impl Average {
    pub(crate) fn begin(&mut self, weights: usize) {
        self.h.resize(weights, 0.0);
        self.sum.resize(weights, 0.0);
    }

    /// Goes with `w += step * delta`.
    pub(crate) fn add(&mut self, delta: &Delta, step: f64) {
        if self.s > 0 {
            delta.add_to(real64(self.s) * step, &mut self.h);
        }
    }

    /// A batch has ended.
    pub(crate) fn tick(&mut self) {
        self.s += 1;
    }

    /// Takes the pass into the sum.
    pub(crate) fn rest(&mut self, w: &[f64], team: &mut dyn Team) -> Result<()> {
        let (s, n) = (real64(self.s), w.len());
        self.h.resize(n, 0.0);
        self.sum.resize(n, 0.0);
        let blocks = self.sum.chunks_mut(BLOCK).zip(w.chunks(BLOCK)).zip(self.h.chunks_mut(BLOCK));
        each(team, blocks.collect(), |((sum, w), h)| {
            for ((sum, w), h) in sum.iter_mut().zip(w).zip(h) {
                *sum += s * w - *h;
                *h = 0.0;
            }
        })?;
        self.t += s;
        self.s = 0;
        Ok(())
    }

    /// The mean; `w` itself before the first batch.
    pub(crate) fn weights(&self, w: &[f64]) -> Vec<f64> {
        let s = real64(self.s);
        let total = self.t + s;
        if total == 0.0 {
            return w.to_vec();
        }
        let at = |plane: &[f64], j: usize| plane.get(j).copied().unwrap_or(0.0);
        (0..w.len()).map(|j| (at(&self.sum, j) + s * w[j] - at(&self.h, j)) / total).collect()
    }

    /// What is left of it at rest.
    pub(crate) fn state(&mut self) -> [Slot<'_>; 2] {
        [
            Slot { name: "sum", mix: Mix::Mean, data: Data::F64(&mut self.sum) },
            Slot { name: "batches", mix: Mix::Mean, data: Data::Real(&mut self.t) },
        ]
    }
}
