//! Weights and sparse vectors, as they pass between structures and learners.
//!
//! A sparse vector is a list of *rows*: stretches of neighbouring weights whose values lie in a pool
//! that rows share. All attributes of a token point at the same pool values, so nineteen attributes
//! cost nineteen rows of sixteen bytes and one copy of the values.

use crate::cast::narrow;

/// Weights as a structure reads them: `scale * values[j]`. One flat vector; what an index means is
/// the structure's affair. Closed spaces may rely on the length, open ones read 0 past it.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// One number per weight, unscaled.
    pub values: &'a [f64],
    /// What every value is multiplied with.
    pub scale: f64,
}

impl<'a> Weights<'a> {
    /// Weights without a scale.
    #[must_use]
    pub fn plain(values: &'a [f64]) -> Self {
        Weights { values, scale: 1.0 }
    }
}

/// `len` neighbouring weights from index `at`; their values are `pool[from..from + len]`.
///
/// Bit j of `holes`: weight `at + j` does not exist (an unobserved pair, padding); then `len` is at
/// most 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Index of the first weight.
    pub at: u32,
    /// Where its value lies in the pool.
    pub from: u32,
    /// How many weights.
    pub len: u32,
    /// Which of them do not exist.
    pub holes: u32,
}

impl Row {
    /// The positions in the row that exist.
    #[inline]
    pub fn present(self) -> impl Iterator<Item = usize> {
        (0..self.len as usize).filter(move |&j| j > 31 || self.holes >> j & 1 == 0)
    }

    fn range(self) -> std::ops::Range<usize> {
        self.at as usize..self.at as usize + self.len as usize
    }
}

/// A sparse vector. Rows may share pool values and may repeat an index, which then counts twice;
/// [`Delta::merge`] gives the form in which each occurs once. The order of rows is the structure's, and
/// the same in every run on the same data, because sums follow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// Stretches of weights.
    pub rows: Vec<Row>,
    /// The values that rows point at.
    pub pool: Vec<f64>,
}

impl Delta {
    /// Empties it and keeps its buffers.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.pool.clear();
    }

    /// Puts values in the pool for rows to share; returns their `from`.
    pub fn share(&mut self, values: &[f64]) -> u32 {
        self.pool.extend_from_slice(values);
        narrow(self.pool.len() - values.len())
    }

    /// Index and value, in row order, without holes.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows
            .iter()
            .flat_map(move |&r| r.present().map(move |j| (r.at as usize + j, self.pool[r.from as usize + j])))
    }

    /// `to += step * self`; `to` grows if the feature space did.
    pub fn add_to(&self, step: f64, to: &mut Vec<f64>) {
        let end = self.rows.iter().map(|r| r.at as usize + r.len as usize).max().unwrap_or(0);
        if end > to.len() {
            to.resize(end, 0.0);
        }
        for r in &self.rows {
            let from = r.from as usize;
            if r.len == 1 {
                to[r.at as usize] += step * self.pool[from]; // single weights are the common case
            } else {
                r.present().for_each(|j| to[r.at as usize + j] += step * self.pool[from + j]);
            }
        }
    }

    /// `w . self`.
    #[must_use]
    pub fn dot(&self, w: Weights<'_>) -> f64 {
        let sum: f64 = self.entries().map(|(at, x)| w.values.get(at).copied().unwrap_or(0.0) * x).sum();
        w.scale * sum
    }

    /// |self|^2 with repeated indices added first; `out` gets that form, in order of first
    /// occurrence. `zeros` is a dense vector of zeros and is left so: no sorting, no hashing.
    pub fn merge(&self, zeros: &mut Vec<f64>, out: Option<&mut Delta>) -> f64 {
        self.add_to(1.0, zeros);
        self.take_back(zeros, out)
    }

    /// As [`Delta::merge`], but rows whose values add up to zero stay, so the rows of `out` follow from those of `self` and
    /// not from their values. Rows that begin at the same weight must be alike.
    pub fn unite(&self, zeros: &mut Vec<f64>, out: &mut Delta) {
        self.add_to(1.0, zeros);
        out.clear();
        for r in &self.rows {
            let first = r.at as usize;
            if zeros[first].is_nan() {
                continue; // taken already
            }
            let from = out.share(&zeros[r.range()]);
            out.rows.push(Row { from, ..*r });
            zeros[first] = f64::NAN;
        }
        self.rows.iter().for_each(|r| zeros[r.range()].fill(0.0));
    }

    /// Undoes `add_to(1.0, dense)` on a vector that was zero before, and returns |self|^2.
    pub(crate) fn take_back(&self, dense: &mut [f64], mut out: Option<&mut Delta>) -> f64 {
        let mut norm = 0.0;
        out.iter_mut().for_each(|o| o.clear());
        for r in &self.rows {
            let row = &mut dense[r.range()];
            // Taken already, or all zero; squares may underflow, so the values are looked at.
            if row.iter().all(|&x| x == 0.0) {
                continue;
            }
            norm += row.iter().map(|x| x * x).sum::<f64>();
            if let Some(out) = &mut out {
                let from = out.share(row);
                out.rows.push(Row { from, ..*r });
            }
            row.fill(0.0);
        }
        norm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows that share values, one of them with a hole, and a single weight met twice.
    fn sample() -> Delta {
        let mut d = Delta::default();
        let from = d.share(&[1.0, 2.0, 3.0]);
        d.rows.push(Row { at: 2, from, len: 3, holes: 0b010 });
        d.rows.push(Row { at: 7, from, len: 3, holes: 0 });
        let one = d.share(&[5.0]);
        d.rows.push(Row { at: 0, from: one, len: 1, holes: 0 });
        d.rows.push(Row { at: 0, from: one, len: 1, holes: 0 });
        d
    }

    #[test]
    fn holes_are_left_out_and_repeats_count_twice() {
        let mut w = vec![];
        sample().add_to(2.0, &mut w);
        assert_eq!(w, [20.0, 0.0, 2.0, 0.0, 6.0, 0.0, 0.0, 2.0, 4.0, 6.0]);
        assert_eq!(sample().entries().count(), 7);
        assert_eq!(
            sample().dot(Weights { values: &w, scale: 0.5 }),
            0.5 * (2.0 + 18.0 + 2.0 + 8.0 + 18.0 + 200.0)
        );
    }

    #[test]
    fn merging_counts_each_index_once_and_leaves_zeros() {
        let (mut zeros, mut merged) = (vec![0.0; 10], Delta::default());
        let norm = sample().merge(&mut zeros, Some(&mut merged));
        assert_eq!(norm, 1.0 + 9.0 + 1.0 + 4.0 + 9.0 + 100.0);
        assert!(zeros.iter().all(|&z| z == 0.0));
        let (mut a, mut b) = (vec![], vec![]);
        sample().add_to(1.0, &mut a);
        merged.add_to(1.0, &mut b);
        assert_eq!(a, b);
        assert_eq!(merged.rows.len(), 3);
    }

    #[test]
    fn uniting_keeps_rows_of_zeros() {
        let (mut zeros, mut d, mut merged, mut united) =
            (vec![0.0; 10], sample(), Delta::default(), Delta::default());
        d.merge(&mut zeros, Some(&mut merged));
        d.unite(&mut zeros, &mut united);
        assert_eq!(united, merged);
        d.pool.fill(0.0);
        d.unite(&mut zeros, &mut merged);
        assert_eq!(merged.rows, united.rows);
        assert!(merged.pool.iter().chain(&zeros).all(|x| *x == 0.0));
    }

    #[test]
    fn a_row_past_the_end_lets_the_vector_grow() {
        let mut w = vec![1.0];
        sample().add_to(1.0, &mut w);
        assert_eq!(w.len(), 10);
        assert_eq!(w[0], 11.0);
    }
}
