//! Proximal steps of weights with rates of their own, put off until somebody looks (Duchi et al. 2011).
//!
//! ```text
//! every step:  w_j <- sign(w_j) max(0, |w_j| - a) / (1 + b),   a = h_j l1,  b = h_j l2,  h_j = rate / (delta + sqrt(G_j))
//! k steps at the same h_j:  |w_j| <- max(0, (|w_j| + a/b) (1 + b)^-k - a/b),   for b = 0:  max(0, |w_j| - k a)
//! ```
//!
//! Exact, since h_j changes only where a gradient touches the weight. A weight that is 0 stays 0, which is what makes models
//! small.

use crate::objective::Objective;
use crate::planes::BLOCK;
use seqoia_core::{Result, Row, Team, each};

/// Bytes per weight.
pub(crate) const PER_WEIGHT: usize = size_of::<u32>();

/// What is put off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shrink {
    penalty: Objective,
    rate: f64,
    delta: f64,
    last: Vec<u32>, // [weights] the step up to which it has been shrunk
    now: u32,       // steps since all of them were
    rows: Vec<Row>,
}

impl Shrink {
    pub(crate) fn new(penalty: Objective, rate: f64, delta: f64) -> Self {
        Shrink { penalty, rate, delta, ..Shrink::default() }
    }

    /// A weight after k steps.
    fn after(&self, w: f64, square: f32, k: u32) -> f64 {
        if w == 0.0 || k == 0 {
            return w;
        }
        let h = self.rate / (self.delta + f64::from(square).sqrt());
        let (a, b, k) = (h * self.penalty.l1, h * self.penalty.l2, f64::from(k));
        let size =
            if b == 0.0 { w.abs() - k * a } else { (w.abs() + a / b) * (-k * b.ln_1p()).exp() - a / b };
        size.max(0.0).copysign(w)
    }

    /// Brings these rows up to date.
    fn wake_rows(&mut self, rows: &[Row], w: &mut [f64], squares: &[f32]) {
        for row in rows {
            let at = row.at as usize;
            let k = self.now - self.last[at];
            if k > 0 {
                for j in at..at + row.len as usize {
                    w[j] = self.after(w[j], squares[j], k);
                    self.last[j] = self.now;
                }
            }
        }
    }

    /// Brings the weights of these examples up to date.
    pub(crate) fn wake(
        &mut self,
        ids: &[usize],
        w: &mut [f64],
        squares: &[f32],
        team: &mut dyn Team,
    ) -> Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        team.rows(ids, &mut rows)?;
        self.wake_rows(&rows, w, squares);
        self.rows = rows;
        Ok(())
    }

    /// A step was made along the rows of some notes: they are shrunk by it, all others later.
    pub(crate) fn step<'a>(&mut self, rows: impl Iterator<Item = &'a [Row]>, w: &mut [f64], squares: &[f32]) {
        self.now += 1;
        rows.for_each(|rows| self.wake_rows(rows, w, squares));
    }

    /// The weights, all of them.
    pub(crate) fn plain(&self, w: &[f64], squares: &[f32]) -> Vec<f64> {
        let all = w.iter().zip(squares).zip(&self.last);
        all.map(|((w, square), last)| self.after(*w, *square, self.now - last)).collect()
    }

    /// Brings all weights up to date.
    pub(crate) fn flush(&mut self, w: &mut [f64], squares: &[f32], team: &mut dyn Team) -> Result<()> {
        let mut last = std::mem::take(&mut self.last);
        last.resize(w.len(), 0); // after a load there were none
        let (this, now) = (&*self, self.now);
        let blocks = w.chunks_mut(BLOCK).zip(squares.chunks(BLOCK)).zip(last.chunks_mut(BLOCK));
        each(team, blocks.collect(), |((w, squares), last)| {
            for ((w, square), last) in w.iter_mut().zip(squares).zip(last) {
                *w = this.after(*w, *square, now - *last);
                *last = 0;
            }
        })?;
        (self.last, self.now) = (last, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Random;

    #[test]
    fn many_steps_at_once_are_the_steps_one_by_one() {
        let mut random = Random::new(5, 0, 0, "shrink");
        for round in 0..500 {
            let l2 = if round % 3 == 0 { 0.0 } else { random.unit() };
            let l1 = if round % 4 == 0 { 0.0 } else { random.unit() * 0.1 };
            let shrink = Shrink::new(Objective { l1, l2 }, 0.3, 0.5);
            let (square, start) = (seqoia_core::cast::single(random.unit() * 9.0), random.unit() * 2.0 - 1.0);
            let h = 0.3 / (0.5 + f64::from(square).sqrt());
            let mut w: f64 = start;
            for k in 1..30 {
                w = w.signum() * (w.abs() - h * l1).max(0.0) / (1.0 + h * l2);
                let at_once = shrink.after(start, square, k);
                assert!((at_once - w).abs() < 1e-12, "{round} {k}: {at_once} {w}");
            }
        }
    }
}
