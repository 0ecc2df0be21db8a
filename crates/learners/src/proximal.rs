//! Weights that all move at every step along a direction of their own, decay together and are pulled to 0 by an l1
//! penalty, but are brought up to date only when somebody looks.
//!
//! ```text
//! step s:  w_j <- soft((1 - a_s l2) w_j - a_s d_j, a_s l1),   soft(x, t) = sign(x) max(0, |x| - t)
//! ```
//!
//! As long as w_j keeps its sign this is the linear recursion of [`Lazy`](crate::lazy::Lazy) with d_j + l1 sign(w_j) for
//! d_j, so many steps are one. w_j then heads for a fixed point; if that lies beyond 0, the step that crosses is found by
//! bisection and made by itself. From there on w_j stays 0 if |d_j| <= l1, or goes on along the other sign and
//! never crosses again. So any number of steps costs at most one search, and equals the loop to the last digits.

use crate::planes::BLOCK;
use seqoia_core::cast::narrow;
use seqoia_core::{Result, Row, Team, Weights, each};

/// Below this all weights are brought up to date.
const FOLD: f64 = 1e-6;

/// What a step did to all weights.
#[derive(Clone, Copy, Debug)]
struct Step {
    length: f64, // a
    factor: f64, // 1 - a l2
    beta: f64,   // product of the factors so far
    moved: f64,  // sum of a / beta so far
}

/// Steps since all weights were up to date.
#[derive(Clone, Debug)]
struct History {
    l1: f64,
    steps: Vec<Step>, // the first stands for no step
}

impl History {
    /// `w` after the steps behind number `from` up to `to`, with direction d.
    fn advance(&self, mut w: f64, d: f64, mut from: usize, to: usize) -> f64 {
        // At most: to the crossing, the crossing, 0 or the other side.
        while from < to {
            let sign = match w {
                0.0 if d.abs() <= self.l1 => return 0.0,
                0.0 => -d.signum(),
                w => w.signum(),
            };
            let drift = d + self.l1 * sign;
            let start = self.steps[from];
            // Size in units of beta; it crosses as soon as the drift has eaten it.
            let size = w.abs() / start.beta;
            let lasts = |step: &Step| size - (step.moved - start.moved) * drift * sign > 0.0;
            let crossing = match drift * sign > 0.0 {
                true => from + 1 + self.steps[from + 1..=to].partition_point(lasts),
                false => to + 1,
            };
            let along = (crossing - 1).min(to);
            let end = self.steps[along];
            w = end.beta * (w / start.beta - (end.moved - start.moved) * drift);
            from = along;
            if crossing <= to {
                w = soft(
                    self.steps[crossing].factor * w - self.steps[crossing].length * d,
                    self.steps[crossing].length * self.l1,
                );
                from = crossing;
            }
        }
        w
    }
}

/// `x`, nearer to 0 by t.
pub(crate) fn soft(x: f64, t: f64) -> f64 {
    if x > t {
        x - t
    } else if x < -t {
        x + t
    } else {
        0.0
    }
}

/// Weights and the directions in which they move.
#[derive(Clone, Debug)]
pub(crate) struct Proximal {
    /// `[weights]` w as of step `last`.
    pub(crate) w: Vec<f64>,
    /// `[weights]` The direction.
    pub(crate) d: Vec<f64>,
    last: Vec<u32>, // [weights]
    history: History,
    rows: Vec<Row>,
}

impl Proximal {
    pub(crate) fn new(l1: f64) -> Self {
        let none = Step { length: 0.0, factor: 1.0, beta: 1.0, moved: 0.0 };
        let history = History { l1, steps: vec![none] };
        Proximal { w: vec![], d: vec![], last: vec![], history, rows: vec![] }
    }

    pub(crate) fn begin(&mut self, weights: usize) {
        self.w.resize(weights, 0.0); // not empty after a warm start
        self.d.resize(weights, 0.0);
    }

    /// Those that were woken are up to date.
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights::plain(&self.w)
    }

    /// The weights, all of them; `scale` is what d is to be multiplied with.
    pub(crate) fn plain(&self, scale: f64) -> Vec<f64> {
        let to = self.history.steps.len() - 1;
        let all = self.w.iter().zip(&self.d).zip(&self.last);
        all.map(|((w, d), last)| self.history.advance(*w, scale * d, *last as usize, to)).collect()
    }

    /// Brings the weights of these examples up to date.
    pub(crate) fn wake(&mut self, ids: &[usize], scale: f64, team: &mut dyn Team) -> Result<()> {
        self.rows.clear();
        team.rows(ids, &mut self.rows)?;
        let now = self.history.steps.len() - 1;
        for row in &self.rows {
            for j in row.at as usize..(row.at + row.len) as usize {
                let from = std::mem::replace(&mut self.last[j], narrow(now)) as usize;
                if from < now {
                    self.w[j] = self.history.advance(self.w[j], scale * self.d[j], from, now);
                }
            }
        }
        Ok(())
    }

    /// A step of this length: of these weights, each of which is named once and up to date, by d and what is added to
    /// it, of all others by d alone.
    pub(crate) fn step(
        &mut self,
        length: f64,
        l2: f64,
        scale: f64,
        more: impl Iterator<Item = (usize, f64)>,
    ) {
        let before = self.history.steps[self.history.steps.len() - 1];
        let factor = 1.0 - length * l2;
        let beta = before.beta * factor;
        self.history.steps.push(Step { length, factor, beta, moved: before.moved + length / beta });
        let now = narrow(self.history.steps.len() - 1);
        for (j, x) in more {
            self.w[j] = soft(factor * self.w[j] - length * (scale * self.d[j] + x), length * self.history.l1);
            self.last[j] = now;
        }
    }

    /// Whether numbers have become so small that all weights should be brought up to date.
    pub(crate) fn is_long(&self) -> bool {
        self.history.steps[self.history.steps.len() - 1].beta < FOLD
    }

    /// Brings all weights up to date.
    pub(crate) fn flush(&mut self, scale: f64, team: &mut dyn Team) -> Result<()> {
        self.last.resize(self.w.len(), 0); // after a load there were none
        let (history, to) = (&self.history, self.history.steps.len() - 1);
        let blocks = self.w.chunks_mut(BLOCK).zip(self.d.chunks(BLOCK)).zip(self.last.chunks_mut(BLOCK));
        each(team, blocks.collect(), |((w, d), last)| {
            for ((w, d), last) in w.iter_mut().zip(d).zip(last) {
                *w = history.advance(*w, scale * d, *last as usize, to);
                *last = 0;
            }
        })?;
        self.history.steps.truncate(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Random;

    #[test]
    fn many_steps_at_once_are_the_steps_one_by_one() {
        let mut random = Random::new(4, 0, 0, "soft");
        for round in 0..2000 {
            let (l1, l2) = (random.unit() * 0.3, if round % 3 == 0 { 0.0 } else { random.unit() * 0.2 });
            let mut all = Proximal::new(l1);
            let steps = 1 + random.below(40);
            (0..steps).for_each(|_| all.step(0.01 + random.unit() * 0.4, l2, 1.0, std::iter::empty()));
            let d = random.unit() - 0.5;
            let start = if round % 5 == 0 { 0.0 } else { random.unit() * 2.0 - 1.0 };
            let (from, to) = (random.below(steps), steps);
            let mut w: f64 = start;
            for step in &all.history.steps[from + 1..=to] {
                w = soft(step.factor * w - step.length * d, step.length * l1);
            }
            let at_once = all.history.advance(start, d, from, to);
            assert!((at_once - w).abs() < 1e-12, "{round}: {start} {d} {l1} {l2}: {at_once} {w}");
        }
    }
}
