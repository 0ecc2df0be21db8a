//! How far a score is chance: the bootstrap over sentences.
//!
//! Of n sentences n are drawn with replacement and scored, B times. The 95 % interval leaves out the k lowest
//! scores but one and the k highest but one, where k = floor(0.025 (B + 1)): the k-th lowest and the k-th highest
//! are its ends. For the difference of two systems the same sentences are drawn for both.
//!
//! Reference: Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, section 13.3 (percentile interval);
//! Koehn, *Statistical Significance Tests for Machine Translation Evaluation*, EMNLP 2004 (in pairs). Sentences
//! are drawn and not tokens, since the labels of a sentence depend on each other.
//!
//! Draw b has a random stream of its own, fixed by seed and b: the interval is the same everywhere.

use seqoia_core::Random;
use serde::Serialize;

use crate::Tally;

/// The fewest draws that have a 2.5 % at either end: k = 1.
pub const FEWEST: usize = 39;

/// Where a figure lies in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How often sentences were drawn.
    pub resamples: usize,
    /// What fixed the draws.
    pub seed: u64,
}

/// The interval of a score: F1, or accuracy, as the tallies of the sentences have it.
///
/// ```
/// use seqoia_eval::{Tally, interval};
///
/// let right = Tally { gold: 1, found: 1, correct: 1 };
/// let wrong = Tally { correct: 0, ..right };
/// let found = interval(&[right, right, right, wrong], 1000, 1);
/// assert!(found.low < 75.0 && found.high == 100.0);
/// ```
pub fn interval(sentences: &[Tally], resamples: usize, seed: u64) -> Interval {
    draw(sentences.len(), resamples, seed, |picks| picks.iter().map(|&i| sentences[i]).sum::<Tally>().f1())
}

/// The interval of the score of `b` less that of `a`, over the sentences that both have.
pub fn interval_of_difference(a: &[Tally], b: &[Tally], resamples: usize, seed: u64) -> Interval {
    draw(a.len().min(b.len()), resamples, seed, |picks| {
        let f1 = |tallies: &[Tally]| picks.iter().map(|&i| tallies[i]).sum::<Tally>().f1();
        f1(b) - f1(a)
    })
}

fn draw(n: usize, resamples: usize, seed: u64, score: impl Fn(&[usize]) -> f64) -> Interval {
    let mut picks = vec![0; n];
    let mut scores: Vec<f64> = (0..resamples as u64)
        .map(|b| {
            let mut random = Random::new(seed, b, 0, "resample");
            picks.iter_mut().for_each(|pick| *pick = random.below(n));
            score(&picks)
        })
        .collect();
    scores.sort_unstable_by(f64::total_cmp);
    let k = ((resamples + 1) / 40).max(1);
    let end = |i: usize| scores.get(i).copied().unwrap_or_default();
    Interval { low: end(k - 1), high: end(resamples.saturating_sub(k)), resamples, seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(gold: u64, found: u64, correct: u64) -> Tally {
        Tally { gold, found, correct }
    }

    /// Sentences of one token each, `right` of 400 right.
    fn tokens(right: usize) -> Vec<Tally> {
        (0..400).map(|i| tally(1, 1, u64::from(i < right))).collect()
    }

    #[test]
    fn seed_and_draws_fix_it() {
        let all = tokens(300);
        assert_eq!(interval(&all, 200, 1), interval(&all, 200, 1));
        assert_ne!(interval(&all, 200, 1), Interval { seed: 1, ..interval(&all, 200, 2) });
    }

    #[test]
    fn equal_sentences_leave_no_doubt() {
        let all = vec![tally(3, 4, 2); 50];
        let Interval { low, high, .. } = interval(&all, FEWEST, 7);
        assert!((low - all[0].f1()).abs() < 1e-9 && (high - all[0].f1()).abs() < 1e-9);
    }

    #[test]
    fn as_wide_as_the_binomial_says() {
        // Accuracy p over n tokens has the standard deviation sqrt(p (1 - p) / n).
        let Interval { low, high, .. } = interval(&tokens(300), 4000, 3);
        let expected = 100.0 * 2.0 * 1.96 * (0.75_f64 * 0.25 / 400.0).sqrt();
        assert!(low < 75.0 && 75.0 < high);
        assert!(((high - low) / expected - 1.0).abs() < 0.1, "{} for {expected}", high - low);
    }

    #[test]
    fn a_difference_turns_its_sign_with_the_order() {
        let (a, b) = (tokens(300), tokens(320));
        let (ab, ba) = (interval_of_difference(&a, &b, 500, 1), interval_of_difference(&b, &a, 500, 1));
        assert_eq!((ab.low, ab.high), (-ba.high, -ba.low));
        assert!(0.0 < ab.low && ab.low < 5.0 && 5.0 < ab.high);
        let none = interval_of_difference(&a, &a, 500, 1);
        assert_eq!((none.low, none.high), (0.0, 0.0));
    }

    #[test]
    fn the_ends_are_the_book_s() {
        // 79 draws: k = 2, so the second lowest and the second highest.
        let counter = std::cell::Cell::new(0.0);
        let found = draw(1, 79, 1, |_| {
            counter.set(counter.get() + 1.0);
            counter.get()
        });
        assert_eq!((found.low, found.high), (2.0, 78.0));
    }

    #[test]
    fn nothing_to_draw_from() {
        let none = interval(&[], 100, 1);
        assert_eq!((none.low, none.high), (0.0, 0.0));
        let none = interval(&[tally(1, 1, 1)], 0, 1);
        assert_eq!((none.low, none.high), (0.0, 0.0));
    }
}
