//! Whether the difference of two systems is chance: approximate randomisation over sentences.
//!
//! If the systems were equally good, it would not matter whose labelling of a sentence is whose. So each sentence
//! is swapped or not, by a coin, and both sides are scored; R times. With b the number of times that the
//! difference is at least as large as the one measured, in size and whatever its sign,
//!
//! ```text
//! p = (b + 1) / (R + 1)
//! ```
//!
//! is the probability of so large a difference by chance, never 0: the measured labelling is one of those that
//! chance can make.
//!
//! Reference: Noreen, *Computer-Intensive Methods for Testing Hypotheses*, 1989, section 2.3; Yeh, *More Accurate
//! Tests for the Statistical Significance of Result Differences*, COLING 2000, who shows that tests that take
//! precision and recall for independent call too few differences significant.
//!
//! Shuffle r has a random stream of its own, fixed by seed and r. Sentences with equal counts need no coin.

use seqoia_core::Random;
use serde::Serialize;

use crate::Tally;

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Significance {
    /// The probability of a difference as large as the measured one, if there were none.
    pub p: f64,
    /// How many shuffles gave such a difference.
    pub as_large: u64,
    /// How many shuffles were made.
    pub shuffles: usize,
    /// What fixed them.
    pub seed: u64,
}

/// Differences of scores in per cent that are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// Tests the difference between the scores of `a` and `b`, given by sentence.
///
/// ```
/// use seqoia_eval::{Tally, randomisation};
///
/// let right = Tally { gold: 1, found: 1, correct: 1 };
/// let wrong = Tally { correct: 0, ..right };
/// assert!(randomisation(&[right; 20], &[wrong; 20], 1000, 1).p < 0.01);
/// assert_eq!(randomisation(&[right; 20], &[right; 20], 1000, 1).p, 1.0);
/// ```
pub fn randomisation(a: &[Tally], b: &[Tally], shuffles: usize, seed: u64) -> Significance {
    let (mut equal, mut differing) = (Tally::default(), vec![]);
    for (&x, &y) in a.iter().zip(b) {
        if x == y { equal.add(x) } else { differing.push((x, y)) }
    }
    let difference = |swap: &mut dyn FnMut() -> bool| {
        let (mut left, mut right) = (equal, equal);
        for &(x, y) in &differing {
            let (x, y) = if swap() { (y, x) } else { (x, y) };
            left.add(x);
            right.add(y);
        }
        (left.f1() - right.f1()).abs()
    };
    let measured = difference(&mut || false);
    let as_large = (0..shuffles as u64)
        .filter(|&r| {
            let mut coins = Coins { random: Random::new(seed, r, 0, "shuffle"), bits: 0, left: 0 };
            difference(&mut || coins.next()) >= measured - ROUNDING
        })
        .count();
    let p = seqoia_core::cast::real(as_large + 1) / seqoia_core::cast::real(shuffles + 1);
    Significance { p, as_large: as_large as u64, shuffles, seed }
}

/// Random bits, one by one.
struct Coins {
    random: Random,
    bits: u64,
    left: u32,
}

impl Coins {
    fn next(&mut self) -> bool {
        if self.left == 0 {
            (self.bits, self.left) = (self.random.bits(), u64::BITS);
        }
        self.left -= 1;
        let bit = self.bits & 1 == 1;
        self.bits >>= 1;
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally((gold, found, correct): (u64, u64, u64)) -> Tally {
        Tally { gold, found, correct }
    }

    /// Two systems over seven sentences.
    fn systems() -> (Vec<Tally>, Vec<Tally>) {
        let a = [(3, 3, 3), (2, 3, 1), (4, 4, 2), (1, 1, 1), (5, 4, 4), (2, 2, 0), (3, 2, 2)];
        let b = [(3, 3, 2), (2, 2, 1), (4, 5, 1), (1, 1, 1), (5, 5, 3), (2, 2, 1), (3, 3, 1)];
        (a.map(tally).to_vec(), b.map(tally).to_vec())
    }

    /// The share of all 2^n swaps whose difference is as large as the measured one.
    fn exact(a: &[Tally], b: &[Tally]) -> f64 {
        let size = |mask: u32| {
            let side = |other: bool| -> Tally {
                let pick = |i: usize| if (mask >> i & 1 == 1) != other { b[i] } else { a[i] };
                (0..a.len()).map(pick).sum()
            };
            (side(false).f1() - side(true).f1()).abs()
        };
        let all = 1_u32 << a.len();
        let as_large = (0..all).filter(|&mask| size(mask) >= size(0) - ROUNDING).count();
        seqoia_core::cast::real(as_large) / f64::from(all)
    }

    #[test]
    fn close_to_all_swaps() {
        let (a, b) = systems();
        let (found, exact) = (randomisation(&a, &b, 20_000, 1).p, exact(&a, &b));
        assert!((0.02..0.98).contains(&exact), "a case that says nothing: {exact}");
        // Five standard deviations of a share of 20,000.
        assert!((found - exact).abs() < 5.0 * 0.5 / 141.0, "{found}, exactly {exact}");
    }

    #[test]
    fn the_order_of_the_systems_does_not_matter() {
        let (a, b) = systems();
        assert_eq!(randomisation(&a, &b, 500, 4), randomisation(&b, &a, 500, 4));
    }

    #[test]
    fn p_is_by_the_formula_and_never_nought() {
        let (a, b) = (vec![tally((1, 1, 1)); 100], vec![tally((1, 1, 0)); 100]);
        let found = randomisation(&a, &b, 99, 1);
        assert_eq!((found.as_large, found.p), (0, 0.01));
        let same = randomisation(&a, &a, 99, 1);
        assert_eq!((same.as_large, same.p), (99, 1.0));
        assert_eq!(randomisation(&a, &b, 0, 1).p, 1.0);
        assert_eq!(randomisation(&[], &[], 10, 1).p, 1.0);
    }

    #[test]
    fn sentences_without_a_difference_change_nothing_but_the_score() {
        // For accuracy, tokens that both have right shift both scores alike.
        let (mut a, mut b) = (vec![tally((1, 1, 1)); 9], vec![tally((1, 1, 0)); 9]);
        b[0] = tally((1, 1, 1));
        a[0] = tally((1, 1, 0));
        let before = randomisation(&a, &b, 1000, 1);
        a.extend([tally((1, 1, 1)); 30]);
        b.extend([tally((1, 1, 1)); 30]);
        assert_eq!(randomisation(&a, &b, 1000, 1), before);
    }
}
