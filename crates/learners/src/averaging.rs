//! The mean of all weight vectors of a run, for the price of one more sparse addition an update.
//!
//! ```text
//! update number i (from 0) of a pass:  w += d_i,   h += i d_i
//! sum of w after each of s updates  =  s w_end - h
//! ```
//!
//! (Daumé 2006, section 2; exact as long as weights do not decay.) The sum is brought up to date at
//! the end of each pass, so that h, which grows with s, starts anew and keeps its digits.
//!
//! A weight that was never updated is 0, and so are its sums. Most are, where every attribute has a weight for every
//! label; so h and the sum are kept for blocks of 8 weights, from the first update of a block on.

use seqoia_core::cast::{narrow, real64};
use seqoia_core::{Data, Delta, Mix, Result, Slot, Team, Weights, each};

/// Weights that move by sparse additions, and their mean, which is what is shipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Averaged {
    w: Vec<f64>, // [weights]
    average: Average,
}

impl Averaged {
    /// So many weights, 0 or those of a warm start.
    pub(crate) fn begin(&mut self, weights: usize) {
        self.w.resize(weights, 0.0);
        self.average.begin(&self.w);
    }

    /// The weights themselves.
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights::plain(&self.w)
    }

    /// `w += step * delta`.
    pub(crate) fn add(&mut self, delta: &Delta, step: f64) {
        delta.add_to(step, &mut self.w);
        self.average.add(delta, step);
    }

    /// A batch has ended.
    pub(crate) fn tick(&mut self) {
        self.average.s += 1;
    }

    pub(crate) fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.average.rest(&self.w, team)
    }

    pub(crate) fn mean(&self) -> Vec<f64> {
        let mut mean = self.w.clone();
        self.average.mean(&mut mean);
        mean
    }

    /// The same in the place of the weights.
    pub(crate) fn take_mean(&mut self) -> Vec<f64> {
        let mut mean = std::mem::take(&mut self.w);
        self.average.mean(&mut mean);
        mean
    }

    pub(crate) fn state(&mut self) -> Vec<Slot<'_>> {
        let average = self.average.state(self.w.len());
        let mut slots = vec![Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) }];
        slots.extend(average);
        slots
    }
}

/// Weights of a block: a cache line of them.
const BLOCK: usize = 8;
/// So many weights have all their blocks from the start: in the order of the weights they are faster.
const SMALL: usize = 1 << 20;
/// Blocks that one job of [`Average::rest`] works on.
const JOB: usize = 1 << 13;

/// Bytes per weight, if all of them are updated: w, h, the sum, a number per block and where the block lies.
pub(crate) const PER_WEIGHT: usize = 3 * size_of::<f64>() + 1;

/// The mean of the weight vectors after each batch.
#[derive(Clone, Debug, Default)]
struct Average {
    numbers: Vec<u32>, // [weights / BLOCK] of each block, from 1; 0 if it was never updated
    places: Vec<u32>,  // [blocks] which of them it is
    h: Vec<f64>,       // [blocks][BLOCK] this pass: sum of i d_i
    s: u64,            // batches of this pass
    sum: Vec<f64>,     // [blocks][BLOCK] earlier passes: sum of w after each batch
    t: f64,            // batches of earlier passes; a mean of several after mixing
    lent: bool,        // the weights may be others than those of the last update, and `plane` is the sum
    plane: Vec<f64>,   // [weights] the sum while others look at it
}

impl Average {
    /// Of these weights, which are 0 or those of a warm start.
    fn begin(&mut self, w: &[f64]) {
        self.lent = true;
        self.take_back(w);
        if w.len() <= SMALL {
            (0..w.len().div_ceil(BLOCK)).for_each(|place| _ = self.block(place));
        }
    }

    /// Goes with `w += step * delta`.
    fn add(&mut self, delta: &Delta, step: f64) {
        let step = real64(self.s) * step;
        for row in &delta.rows {
            let (at, from) = (row.at as usize, row.from as usize);
            if row.len == 1 {
                *self.h_of(at) += step * delta.pool[from]; // single weights are the common case
            } else {
                row.present().for_each(|j| *self.h_of(at + j) += step * delta.pool[from + j]);
            }
        }
    }

    /// Takes the pass into the sum.
    fn rest(&mut self, w: &[f64], team: &mut dyn Team) -> Result<()> {
        self.take_back(w);
        let s = real64(self.s);
        let sums = self.sum.chunks_mut(JOB * BLOCK).zip(self.h.chunks_mut(JOB * BLOCK));
        each(team, sums.zip(self.places.chunks(JOB)).collect(), |((sum, h), places)| {
            let blocks = sum.as_chunks_mut::<BLOCK>().0.iter_mut().zip(h.as_chunks_mut::<BLOCK>().0);
            for ((sum, h), place) in blocks.zip(places) {
                let w = &w[*place as usize * BLOCK..];
                for ((sum, w), h) in sum.iter_mut().zip(w).zip(h) {
                    *sum += s * w - *h;
                    *h = 0.0;
                }
            }
        })?;
        self.t += s;
        self.s = 0;
        Ok(())
    }

    /// Makes the mean of `w`, which stays itself before the first batch.
    fn mean(&self, w: &mut [f64]) {
        let s = real64(self.s);
        let total = self.t + s;
        if total == 0.0 {
            return;
        }
        for (place, w) in w.chunks_mut(BLOCK).enumerate() {
            let number = self.numbers.get(place).map_or(0, |number| *number as usize);
            let (mut sum, mut h) = ([0.0; BLOCK], [0.0; BLOCK]);
            if let Some(block) = number.checked_sub(1) {
                sum.copy_from_slice(&self.sum[block * BLOCK..][..BLOCK]);
                h.copy_from_slice(&self.h[block * BLOCK..][..BLOCK]);
            }
            if self.lent {
                let others = self.plane.iter().skip(place * BLOCK).chain(std::iter::repeat(&0.0));
                sum.iter_mut().zip(others).for_each(|(sum, x)| *sum = *x);
            }
            for ((w, sum), h) in w.iter_mut().zip(sum).zip(h) {
                *w = (sum + s * *w - h) / total;
            }
        }
    }

    /// What is left of it at rest.
    fn state(&mut self, weights: usize) -> [Slot<'_>; 2] {
        if !self.lent {
            self.lent = true;
            self.plane = vec![0.0; weights];
            for (place, sum) in self.places.iter().zip(self.sum.as_chunks::<BLOCK>().0) {
                let to = self.plane[*place as usize * BLOCK..].iter_mut();
                to.zip(sum).for_each(|(to, sum)| *to = *sum);
            }
        }
        [
            Slot { name: "sum", mix: Mix::Mean, data: Data::F64(&mut self.plane) },
            Slot { name: "batches", mix: Mix::Mean, data: Data::Real(&mut self.t) },
        ]
    }

    /// Takes in the sum as others left it, and blocks whose weights came from elsewhere.
    fn take_back(&mut self, w: &[f64]) {
        if !self.lent {
            return;
        }
        self.lent = false;
        // As much as there may be, so that it need not be moved: memory that is not written to is not taken.
        self.h.reserve_exact(w.len().next_multiple_of(BLOCK).saturating_sub(self.h.len()));
        self.sum.reserve_exact(w.len().next_multiple_of(BLOCK).saturating_sub(self.sum.len()));
        self.places.reserve_exact(w.len().div_ceil(BLOCK).saturating_sub(self.places.len()));
        self.sum.fill(0.0);
        let plane = std::mem::take(&mut self.plane);
        for place in 0..w.len().div_ceil(BLOCK) {
            let of = |all: &[f64]| all.iter().skip(place * BLOCK).take(BLOCK).any(|x| *x != 0.0);
            if of(w) || of(&plane) {
                let block = self.block(place);
                let sums = self.sum[block * BLOCK..][..BLOCK].iter_mut();
                sums.zip(plane.iter().skip(place * BLOCK)).for_each(|(sum, x)| *sum = *x);
            }
        }
    }

    #[inline]
    fn h_of(&mut self, at: usize) -> &mut f64 {
        let block = self.block(at / BLOCK);
        &mut self.h[block * BLOCK + at % BLOCK]
    }

    /// The number of a block from 0, which is new if it was never updated.
    #[inline]
    fn block(&mut self, place: usize) -> usize {
        match self.numbers.get(place) {
            Some(&number) if number > 0 => number as usize - 1,
            _ => self.new_block(place),
        }
    }

    #[cold]
    fn new_block(&mut self, place: usize) -> usize {
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, 0);
        }
        let block = self.places.len();
        self.places.push(narrow(place));
        self.numbers[place] = narrow(block + 1);
        self.h.resize((block + 1) * BLOCK, 0.0);
        self.sum.resize((block + 1) * BLOCK, 0.0);
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alone::Alone;
    use seqoia_core::{Random, Row};

    /// The same with a number per weight for everything.
    #[derive(Default)]
    struct Dense {
        h: Vec<f64>,
        sum: Vec<f64>,
        s: f64,
        t: f64,
    }

    impl Dense {
        fn add(&mut self, delta: &Delta, step: f64) {
            if self.s > 0.0 {
                delta.add_to(self.s * step, &mut self.h);
            }
        }

        fn rest(&mut self, w: &[f64]) {
            self.h.resize(w.len(), 0.0);
            self.sum.resize(w.len(), 0.0);
            for ((sum, w), h) in self.sum.iter_mut().zip(w).zip(&self.h) {
                *sum += self.s * w - h;
            }
            self.h.fill(0.0);
            self.t += self.s;
            self.s = 0.0;
        }

        fn mean(&self, w: &[f64]) -> Vec<f64> {
            let total = self.t + self.s;
            let at = |plane: &[f64], j: usize| plane.get(j).copied().unwrap_or(0.0);
            let mean = |j: usize| (at(&self.sum, j) + self.s * w[j] - at(&self.h, j)) / total;
            if total == 0.0 { w.to_vec() } else { (0..w.len()).map(mean).collect() }
        }
    }

    fn bits(all: &[f64]) -> Vec<u64> {
        all.iter().map(|x| x.to_bits()).collect()
    }

    /// Single weights and a row with a hole, in a space of `n` weights.
    fn delta(random: &mut Random, n: usize) -> Delta {
        let mut delta = Delta::default();
        for _ in 0..random.below(4) {
            let from = delta.share(&[random.unit() - 0.5]);
            delta.rows.push(Row { at: narrow(random.below(n)), from, len: 1, holes: 0 });
        }
        let from = delta.share(&[random.unit(), 1.0, -1.0]);
        delta.rows.push(Row { at: narrow(random.below(n - 3)), from, len: 3, holes: 0b010 });
        delta
    }

    /// Sums by block equal sums of all weights to the bit, whoever looks at them between passes, from a warm start
    /// too, and where the space grows.
    #[test]
    fn blocks_equal_planes() {
        for seed in 0..40 {
            let mut random = Random::new(seed, 0, 0, "averaging");
            let mut n = 20 + random.below(200);
            let mut w: Vec<f64> = vec![0.0; n];
            if seed % 3 == 0 {
                (0..5).for_each(|_| w[random.below(n)] = random.unit());
            }
            let (mut blocks, mut dense) = (Average::default(), Dense::default());
            if seed % 2 == 0 {
                blocks.begin(&w);
            } else {
                // Without blocks from the start.
                blocks.lent = true;
                blocks.take_back(&w);
            }
            for pass in 0..4 {
                for _ in 0..random.below(6) {
                    if seed % 4 == 0 {
                        n += random.below(5);
                    }
                    let (delta, step) = (delta(&mut random, n), 1.0 / 3.0);
                    delta.add_to(step, &mut w);
                    blocks.add(&delta, step);
                    dense.add(&delta, step);
                    blocks.s += 1;
                    dense.s += 1.0;
                    let mut mean = w.clone();
                    blocks.mean(&mut mean);
                    assert_eq!(bits(&mean), bits(&dense.mean(&w)), "seed {seed}, within pass {pass}");
                }
                blocks.rest(&w, &mut Alone::new()).unwrap();
                dense.rest(&w);
                let mut mean = w.clone();
                blocks.mean(&mut mean);
                assert_eq!(bits(&mean), bits(&dense.mean(&w)), "seed {seed}, after pass {pass}");
                if random.below(2) == 0 {
                    let [sum, _] = blocks.state(w.len());
                    let Data::F64(sum) = sum.data else { panic!("the sum is not a plane") };
                    assert_eq!(bits(sum), bits(&dense.sum));
                    if random.below(2) == 0 {
                        // Others changed it, as mixing does; the weights as well.
                        (sum[n / 2], dense.sum[n / 2], w[n / 3]) = (0.25, 0.25, 7.0);
                    }
                }
            }
        }
    }

    /// What is never updated takes no memory.
    #[test]
    fn only_blocks_near_an_update_are_kept() {
        let mut average = Average::default();
        average.begin(&vec![0.0; SMALL + 1]);
        let mut delta = Delta::default();
        let from = delta.share(&[1.0]);
        delta.rows.push(Row { at: 5_000, from, len: 1, holes: 0 });
        average.add(&delta, 1.0);
        assert_eq!((average.h.len(), average.sum.len()), (BLOCK, BLOCK));
    }
}
