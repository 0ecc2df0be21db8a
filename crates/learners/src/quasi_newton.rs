//! The curvature memory of L-BFGS (Nocedal 1980), shared by `lbfgs` and `owl-qn`.
//!
//! The last m steps s = w' - w and gradient changes y = g' - g stand for the inverse Hessian H. The
//! direction -H g is a linear combination of s_1..s_m, y_1..y_m and g, and its coefficients follow
//! from inner products alone (Chen et al. 2014). So each iteration reads the memory twice, once for
//! the products with g and once for the combination, where the two-loop recursion would read
//! and write the direction 2m times; and blocks stay in cache.
//!
//! Of the products among pairs the recursion asks for y.y' and for s.y' with y' of the same pair or a newer one. Where
//! directions are asked for at the gradients that pairs are made of, those of the newest y follow from products that
//! are known: `y.x = g'.x - g.x` (L-BFGS). OWL-QN asks at other gradients and has them computed.
//!
//! Pairs are kept in single precision: half the memory and traffic, and an approximation of H does not
//! need more digits. Products and sums are in double precision.

use crate::planes::{BLOCK, sum_blocks, sum_items};
use seqoia_core::vecmath::{add_four_scaled, add_scaled, dot, four_dots, pair};
use seqoia_core::{Data, Mix, Result, Slot, Team};

/// The last pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pairs: Vec<f32>,    // [2m][weights]: s of slot i, then y of slot i
    products: Vec<f64>, // [2m][2m] inner products of the rows of `pairs`, those that are asked for
    along: Vec<f64>,    // [2m] products of the rows with the gradient of the last direction
    weights: usize,
    limit: usize,
    derives: bool, // a pair begins at the gradient of the last direction
    used: u64,     // pairs in memory
    next: u64,     // slot of the next pair
    owed: u64,     // 1: the products of the newest y with the other pairs are not known yet
}

impl Memory {
    /// Of so many pairs. `derives`: each pair that will be pushed begins where the last direction was asked for.
    pub(crate) fn new(limit: usize, derives: bool) -> Self {
        Memory { limit, derives, ..Memory::default() }
    }

    /// How many pairs it remembers at most.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn begin(&mut self, weights: usize) {
        self.weights = weights;
        self.pairs.resize(2 * self.limit * weights, 0.0);
        self.along.resize(2 * self.limit, 0.0);
        self.products.resize(4 * self.limit * self.limit, 0.0);
    }

    /// Whether what was loaded is a memory of this size.
    pub(crate) fn is_sound(&self, weights: usize) -> bool {
        let limit = self.limit as u64;
        let sizes = (self.pairs.len(), self.products.len(), self.along.len());
        // Slots are filled in order: the next one is behind the last until all are.
        (self.used == limit || self.next == self.used)
            && self.used <= limit
            && self.next < limit
            && self.owed <= self.used.min(1)
            && sizes == (2 * self.limit * weights, 4 * self.limit * self.limit, 2 * self.limit)
    }

    pub(crate) fn forget(&mut self) {
        (self.used, self.next, self.owed) = (0, 0, 0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.pairs[row * self.weights..][..self.weights]
    }

    /// Rows in use, s and y of each slot.
    fn rows(&self) -> Vec<usize> {
        let used = usize::try_from(self.used).unwrap_or(0);
        (0..2 * used).collect()
    }

    /// Takes in the step s = `step` * `d` and y = `g` - `before`. Skips a pair without curvature.
    pub(crate) fn push(
        &mut self,
        team: &mut dyn Team,
        step: f64,
        d: &[f64],
        g: &[f64],
        before: &[f64],
    ) -> Result<()> {
        if self.owed == 1 {
            self.settle(team, None)?; // nobody asked for a direction since the last pair
        }
        let (n, slot) = (self.weights, usize::try_from(self.next).unwrap_or(0));
        let (_, rest) = self.pairs.split_at_mut(2 * slot * n);
        let (s, rest) = rest.split_at_mut(n);
        let y = &mut rest[..n];
        let items: Vec<_> = s.chunks_mut(BLOCK).zip(y.chunks_mut(BLOCK)).enumerate().collect();
        let job = |(block, (s, y)): (usize, (&mut [f32], &mut [f32])), out: &mut [f64]| {
            let range = block * BLOCK..block * BLOCK + s.len();
            out.copy_from_slice(&pair(step, &d[range.clone()], &g[range.clone()], &before[range], s, y));
        };
        let sums = sum_items(team, items, 3, job)?;
        let (sy, ss, yy) = (sums[0], sums[1], sums[2]);
        if sy <= 1e-10 * (ss * yy).sqrt() {
            if self.used == self.limit as u64 {
                self.forget(); // the slot held an older pair
            }
            return Ok(());
        }
        let wide = 2 * self.limit;
        self.products[2 * slot * wide + 2 * slot + 1] = sy;
        self.products[(2 * slot + 1) * wide + 2 * slot] = sy;
        self.products[(2 * slot + 1) * wide + 2 * slot + 1] = yy;
        self.used = (self.used + 1).min(self.limit as u64);
        self.next = (self.next + 1) % self.limit as u64;
        self.owed = 1;
        Ok(())
    }

    /// Finds the products of the newest y with the other pairs: with `along`, the products of all rows with the
    /// gradient where the pair ends, as differences.
    fn settle(&mut self, team: &mut dyn Team, along: Option<&[f64]>) -> Result<()> {
        self.owed = 0;
        let (rows, wide) = (self.rows(), 2 * self.limit);
        let Some(&(s, y)) = self.order().first() else { return Ok(()) };
        let found = match along {
            Some(along) => along.iter().zip(&self.along).map(|(now, before)| now - before).collect(),
            None => sum_blocks(team, self.weights, rows.len(), |range, out| {
                let y = &self.row(y)[range.clone()];
                out.iter_mut()
                    .zip(&rows)
                    .for_each(|(out, &row)| *out = dot(y, &self.row(row)[range.clone()]));
            })?,
        };
        for (&row, product) in rows.iter().zip(found).filter(|(row, _)| ![s, y].contains(row)) {
            self.products[y * wide + row] = product;
            self.products[row * wide + y] = product;
        }
        Ok(())
    }

    /// `g . row` for each row in use.
    fn products_with(&self, team: &mut dyn Team, g: &[f64]) -> Result<Vec<f64>> {
        let rows = self.rows();
        sum_blocks(team, self.weights, rows.len(), |range, out| {
            let (g, row) = (&g[range.clone()], |row: usize| &self.row(row)[range.clone()]);
            let (fours, rest) = rows.as_chunks::<4>();
            let (out, last) = out.split_at_mut(4 * fours.len());
            for (out, four) in out.chunks_exact_mut(4).zip(fours) {
                out.copy_from_slice(&four_dots(four.map(row), g));
            }
            last.iter_mut().zip(rest).for_each(|(out, &k)| *out = dot(row(k), g));
        })
    }

    /// Rows of s and y of each pair, the newest first.
    fn order(&self) -> Vec<(usize, usize)> {
        let [used, next] = [self.used, self.next].map(|n| usize::try_from(n).unwrap_or(0));
        let slots = (1..=used).map(|back| (next + self.limit - back) % self.limit);
        slots.map(|slot| (2 * slot, 2 * slot + 1)).collect()
    }

    /// `d = -H g`; `g . d`.
    pub(crate) fn direction(&mut self, team: &mut dyn Team, g: &[f64], d: &mut Vec<f64>) -> Result<f64> {
        let with_g = self.products_with(team, g)?;
        if self.owed == 1 {
            let derived = if self.derives { Some(with_g.as_slice()) } else { None };
            self.settle(team, derived)?;
        }
        self.along[..with_g.len()].copy_from_slice(&with_g);
        let (rows, wide) = (self.rows(), 2 * self.limit);
        // The two-loop recursion on coefficients: q = sum_k c_k row_k + c_g g.
        let product = |a: usize, b: usize| self.products[a * wide + b];
        let (mut c, mut c_g) = (vec![0.0; rows.len()], -1.0);
        let q_times = |c: &[f64], c_g: f64, row: usize| {
            c_g * with_g[row] + rows.iter().map(|&k| c[k] * product(k, row)).sum::<f64>()
        };
        let order = self.order();
        let mut alphas = vec![];
        for &(s, y) in &order {
            let alpha = q_times(&c, c_g, s) / product(s, y);
            c[y] -= alpha;
            alphas.push(alpha);
        }
        if let Some(&(s, y)) = order.first() {
            let scale = product(s, y) / product(y, y);
            c.iter_mut().for_each(|c| *c *= scale);
            c_g *= scale;
        }
        for (&(s, y), alpha) in order.iter().zip(&alphas).rev() {
            let beta = q_times(&c, c_g, y) / product(s, y);
            c[s] += alpha - beta;
        }
        d.resize(self.weights, 0.0);
        let (fours, rest) = rows.as_chunks::<4>();
        let job = |(block, d): (usize, &mut [f64]), slope: &mut [f64]| {
            let range = block * BLOCK..block * BLOCK + d.len();
            let (g, row) = (&g[range.clone()], |row: usize| &self.row(row)[range.clone()]);
            d.iter_mut().zip(g).for_each(|(d, g)| *d = c_g * g);
            fours.iter().for_each(|four| add_four_scaled(four.map(|k| c[k]), four.map(row), d));
            rest.iter().for_each(|&k| add_scaled(c[k], row(k), d));
            slope[0] = dot(g, d);
        };
        Ok(sum_items(team, d.chunks_mut(BLOCK).enumerate().collect(), 1, job)?[0])
    }

    pub(crate) fn state(&mut self) -> Vec<Slot<'_>> {
        const WHY: &str = "curvature pairs of different shards do not go together";
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        vec![
            slot("pairs", Data::F32(&mut self.pairs)),
            slot("products", Data::F64(&mut self.products)),
            slot("used", Data::Count(&mut self.used)),
            slot("next", Data::Count(&mut self.next)),
            slot("owed", Data::Count(&mut self.owed)),
            slot("along", Data::F64(&mut self.along)),
        ]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use crate::alone::Alone;
    use seqoia_core::Random;

    type Pair = (Vec<f64>, Vec<f64>);

    fn product(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// Nocedal's two loops, pairs from the oldest to the newest.
    fn two_loops(pairs: &[Pair], g: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = g.iter().map(|g| -g).collect();
        let mut alphas = vec![];
        for (s, y) in pairs.iter().rev() {
            let alpha = product(s, &q) / product(s, y);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
            alphas.push(alpha);
        }
        if let Some((s, y)) = pairs.last() {
            let scale = product(s, y) / product(y, y);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((s, y), alpha) in pairs.iter().zip(alphas.iter().rev()) {
            let beta = product(y, &q) / product(s, y);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += (alpha - beta) * s);
        }
        q
    }

    /// A random step, and the change of gradient of a convex function along it.
    fn pair(random: &mut Random, n: usize) -> Pair {
        let s: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
        let y = s.iter().enumerate().map(|(i, s)| s * (1.0 + seqoia_core::cast::real(i % 7))).collect();
        (s, y)
    }

    fn assert_direction(memory: &mut Memory, pairs: &[Pair], g: &[f64]) {
        let mut d = vec![];
        let slope = memory.direction(&mut Alone::new(), g, &mut d).unwrap();
        assert!((slope - product(g, &d)).abs() <= 1e-12 * (product(g, g) * product(&d, &d)).sqrt());
        let expected = two_loops(pairs, g);
        let size = product(&expected, &expected).sqrt();
        d.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-5 * size, "{a} {b}"));
    }

    #[test]
    fn coefficients_give_the_direction_of_the_two_loops() {
        let (n, mut random) = (BLOCK + 100, Random::new(1, 0, 0, "pairs"));
        let (mut memory, mut pairs) = (Memory::new(3, false), vec![]);
        memory.begin(n);
        let g: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
        for _ in 0..5 {
            let (s, y) = pair(&mut random, n);
            memory.push(&mut Alone::new(), 1.0, &s, &y, &vec![0.0; n]).unwrap();
            pairs.push((s, y));
            let kept = pairs.len().saturating_sub(3);
            assert_direction(&mut memory, &pairs[kept..], &g);
        }
    }

    /// As L-BFGS walks: each pair begins at the gradient of the last direction. Now and then one is refused.
    #[test]
    fn products_that_are_derived_are_those_that_are_computed() {
        let (n, mut random) = (BLOCK + 100, Random::new(3, 0, 0, "pairs"));
        let mut walks = [true, false].map(|derives| Memory::new(3, derives));
        walks.iter_mut().for_each(|memory| memory.begin(n));
        let mut g: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
        for step in 0..12 {
            let (mut a, mut b) = (vec![], vec![]);
            let [derived, computed] = &mut walks;
            derived.direction(&mut Alone::new(), &g, &mut a).unwrap();
            computed.direction(&mut Alone::new(), &g, &mut b).unwrap();
            let size = product(&b, &b).sqrt();
            a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-6 * size, "{step}: {a} {b}"));
            let (s, y) = pair(&mut random, n);
            let next: Vec<f64> = g.iter().zip(&y).map(|(g, y)| g + y).collect();
            let sign = if step % 5 == 3 { -1.0 } else { 1.0 };
            for memory in &mut walks {
                memory.push(&mut Alone::new(), sign, &s, &next, &g).unwrap();
            }
            g = next;
        }
    }

    #[test]
    fn a_pair_without_curvature_is_not_taken_in() {
        let (n, mut random) = (50, Random::new(2, 0, 0, "pairs"));
        let g: Vec<f64> = (0..n).map(|_| random.unit() - 0.5).collect();
        let zeros = vec![0.0; n];
        for limit in [2, 3] {
            let mut memory = Memory::new(limit, false);
            memory.begin(n);
            let pairs = [pair(&mut random, n), pair(&mut random, n)];
            for (s, y) in &pairs {
                memory.push(&mut Alone::new(), 1.0, s, y, &zeros).unwrap();
            }
            let (s, y) = pair(&mut random, n);
            memory.push(&mut Alone::new(), -1.0, &s, &y, &zeros).unwrap();
            // A full memory has lost its oldest pair to the refused one: it starts anew.
            assert_eq!(memory.is_empty(), limit == 2);
            let mut kept = if limit == 2 { vec![] } else { pairs.to_vec() };
            assert_direction(&mut memory, &kept, &g);
            memory.push(&mut Alone::new(), 1.0, &s, &y, &zeros).unwrap();
            kept.push((s, y));
            assert_direction(&mut memory, &kept, &g);
        }
    }

    #[test]
    fn counts_that_no_run_leaves_are_seen() {
        let mut memory = Memory::new(4, false);
        memory.begin(3);
        for (used, next, sound) in [
            (0, 0, true),
            (3, 3, true),
            (4, 0, true),
            (4, 2, true),
            (3, 1, false),
            (0, 2, false),
            (5, 1, false),
            (4, 4, false),
        ] {
            (memory.used, memory.next) = (used, next);
            assert_eq!(memory.is_sound(3), sound, "{used} {next}");
        }
        assert!(!Memory::new(4, false).is_sound(3));
    }
}
