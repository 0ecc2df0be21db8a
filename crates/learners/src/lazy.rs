//! Weights that all move at every step along a direction of their own, and decay together, but are brought up to date
//! only when somebody looks (Schmidt, Le Roux & Bach 2013, section 4).
//!
//! ```text
//! step s:  w <- f_s w - a_s d                     for all weights
//! w = beta v,   beta_s = f_1 ... f_s,   moved_s = sum_{r <= s} a_r / beta_r
//! v_j <- v_j - (moved_now - moved_{last_j}) d_j,   last_j = now         before w_j is read or d_j changes
//! ```
//!
//! Equal to the dense steps to the last digits. How far each step moved is remembered since the last time that all weights
//! were brought up to date, at the end of a pass at the latest, so a weight remembers a step number of four bytes.

use crate::planes::BLOCK;
use seqoia_core::cast::narrow;
use seqoia_core::steps::catch_up;
use seqoia_core::{Result, Row, Team, Weights, each};

/// Below this all weights are brought up to date.
const FOLD: f64 = 1e-6;

/// Bytes per weight.
pub(crate) const PER_WEIGHT: usize = 2 * size_of::<f64>() + size_of::<u32>();

/// Weights and the directions in which they move.
#[derive(Clone, Debug)]
pub(crate) struct Lazy {
    /// `[weights]` w / beta as of step `last`; at rest w.
    pub(crate) v: Vec<f64>,
    /// `[weights]` The direction.
    pub(crate) d: Vec<f64>,
    last: Vec<u32>,  // [weights]
    moved: Vec<f64>, // [steps since all were up to date, and 0]
    beta: f64,
    rows: Vec<Row>,   // of the examples of a batch
    ends: Vec<usize>, // where those of each end
}

impl Default for Lazy {
    fn default() -> Self {
        Lazy { v: vec![], d: vec![], last: vec![], moved: vec![0.0], beta: 1.0, rows: vec![], ends: vec![] }
    }
}

impl Lazy {
    pub(crate) fn begin(&mut self, weights: usize) {
        self.v.resize(weights, 0.0); // not empty after a warm start
        self.d.resize(weights, 0.0);
    }

    /// The weights, all of them.
    pub(crate) fn plain(&self) -> Vec<f64> {
        let end = self.moved.last().copied().unwrap_or(0.0);
        let behind = |last: &u32| end - self.moved[*last as usize];
        let all = self.v.iter().zip(&self.d).zip(&self.last);
        all.map(|((v, d), last)| self.beta * (v - behind(last) * d)).collect()
    }

    /// Those that were woken are up to date.
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights { values: &self.v, scale: self.beta }
    }

    pub(crate) fn scale(&self) -> f64 {
        self.beta
    }

    fn now(&self) -> u32 {
        narrow(self.moved.len() - 1)
    }

    /// Brings the weights of these examples up to date; the first of them has number 0 in [`Lazy::wake_again`].
    pub(crate) fn wake(&mut self, ids: &[usize], team: &mut dyn Team) -> Result<()> {
        self.rows.clear();
        self.ends.clear();
        for id in ids {
            team.rows(&[*id], &mut self.rows)?;
            self.ends.push(self.rows.len());
        }
        let now = self.now();
        catch_up(&self.rows, &self.moved, now, &mut self.last, &self.d, &mut self.v);
        Ok(())
    }

    /// Brings the weights of one of these examples up to date again, after steps for others.
    pub(crate) fn wake_again(&mut self, number: usize) {
        let now = self.now();
        let from = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let rows = &self.rows[from..self.ends[number]];
        catch_up(rows, &self.moved, now, &mut self.last, &self.d, &mut self.v);
    }

    /// `w <- factor w - length d`.
    pub(crate) fn step(&mut self, factor: f64, length: f64, team: &mut dyn Team) -> Result<()> {
        self.beta *= factor;
        let before = self.moved.last().copied().unwrap_or(0.0);
        self.moved.push(before + length / self.beta);
        if self.beta < FOLD || self.moved.len() > 1 << 24 { self.flush(team) } else { Ok(()) }
    }

    /// Brings all weights up to date: v is w.
    pub(crate) fn flush(&mut self, team: &mut dyn Team) -> Result<()> {
        self.last.resize(self.v.len(), 0); // after a load there were none
        let (moved, beta, now) = (&self.moved, self.beta, self.now());
        let end = moved[now as usize];
        let blocks = self.v.chunks_mut(BLOCK).zip(self.d.chunks(BLOCK)).zip(self.last.chunks_mut(BLOCK));
        each(team, blocks.collect(), |((v, d), last)| {
            for ((v, d), last) in v.iter_mut().zip(d).zip(last) {
                *v = beta * (*v - (end - moved[*last as usize]) * d);
                *last = 0;
            }
        })?;
        self.moved.truncate(1);
        self.beta = 1.0;
        Ok(())
    }
}
