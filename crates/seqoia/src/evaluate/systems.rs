//! Compares two systems that labelled the same data: scores, difference, and whether it is chance.

use seqoia_data::open::Input;
use seqoia_eval::{Interval, Sentence, Significance, Tally};
use seqoia_eval::{interval_of_difference, randomisation, tallies};

use super::Evaluated;
use crate::error::{Error, Result};

/// How often chance is asked.
#[derive(Debug, Clone, Copy)]
pub struct Trials {
    /// Draws of sentences, for the interval.
    pub resamples: usize,
    /// Swaps of sentences, for the test.
    pub shuffles: usize,
    /// What fixes both.
    pub seed: u64,
}

/// Two systems, the second measured against the first.
pub struct Comparison {
    /// The files.
    pub names: [String; 2],
    /// Their scores and sentences.
    pub systems: [Evaluated; 2],
    /// F1 of the second less that of the first; accuracy where labels are no chunks.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Whether it is chance.
    pub significance: Significance,
}

/// Compares two files whose last two columns are gold and prediction, of the same data.
///
/// # Errors
/// Files that cannot be scored, or have other gold labels.
pub fn systems(first: Input, second: Input, raw: bool, trials: Trials) -> Result<Comparison> {
    let (first, second) = (super::text(first)?, super::text(second)?);
    let names = [first.0, second.0];
    let a = super::last_two(&names[0], &first.1, raw)?;
    let b = super::last_two(&names[1], &second.1, raw)?;
    super::same_tokens([&names[0], &names[1]], &a.sentences, &b.sentences)?;
    let tokens = |sentences| <[Sentence]>::iter(sentences).flat_map(|s| &s.tokens);
    let mut pairs = tokens(&a.sentences).zip(tokens(&b.sentences));
    if let Some((x, y)) = pairs.find(|(x, y)| x.gold != y.gold) {
        let [first, second] = &names;
        return Err(Error::Mismatch(format!(
            "{second}:{}: the gold label is {}, but {} in {first}:{}\n  help: both files must hold the same \
             test data, labelled by two systems",
            y.line, y.gold, x.gold, x.line
        )));
    }
    let (x, y) = (tallies(&a.sentences, a.unit), tallies(&b.sentences, b.unit));
    let score = |tallies: &[Tally]| tallies.iter().sum::<Tally>().f1();
    Ok(Comparison {
        difference: score(&y) - score(&x),
        interval: interval_of_difference(&x, &y, trials.resamples, trials.seed),
        significance: randomisation(&x, &y, trials.shuffles, trials.seed),
        systems: [a, b],
        names,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn compared(first: &str, second: &str) -> Result<Comparison> {
        let input = |name: &str, text: &str| Input::from_bytes(name, text).unwrap();
        let trials = Trials { resamples: 100, shuffles: 199, seed: 1 };
        systems(input("one", first), input("two", second), false, trials)
    }

    #[test]
    fn the_second_against_the_first() {
        let (right, wrong) = ("a B-X B-X\nb O O\n\n".repeat(30), "a B-X O\nb O O\n\n".repeat(30));
        let found = compared(&wrong, &right).unwrap();
        assert_eq!((found.systems[0].sentences.len(), found.difference), (30, 100.0));
        assert_eq!((found.interval.low, found.interval.high), (100.0, 100.0));
        assert_eq!(found.significance.p, 1.0 / 200.0);
        let same = compared(&right, &right).unwrap();
        assert_eq!((same.difference, same.significance.p), (0.0, 1.0));
    }

    #[test]
    fn schemes_are_converted_for_both() {
        let found = compared("a B-X B-X\nb E-X E-X\nc S-X S-X\n", "a B-X S-X\nb E-X O\nc S-X S-X\n").unwrap();
        assert_eq!(found.systems[0].unit, seqoia_eval::Unit::Chunks);
        assert_eq!(found.systems.map(|system| system.scored.spans.correct), [2, 1]);
    }

    #[test]
    fn other_words_are_no_comparison() {
        let error = |first: &str, second: &str| compared(first, second).err().unwrap().to_string();
        assert!(
            error("a X X\n\nb X X\n", "a X X\n\nc X X\n").starts_with("two:3: the word is c, but b in one:3")
        );
        assert!(compared("X X\n", "Y X X\n").is_ok(), "a file without words has no other words");
    }

    #[test]
    fn other_gold_labels_are_no_comparison() {
        let error = |first: &str, second: &str| compared(first, second).err().unwrap().to_string();
        assert!(error("a X X\n\nb X X\n", "\na X X\n\nb Y X\n").starts_with(
            "two:4: the gold label is Y, but X in one:3\n  help: both files must hold the same test data"
        ));
        assert_eq!(
            error("a X X\nb X X\n", "a X X\n"),
            "two:1: this sentence has 1 token, that of one:1 has 2"
        );
        assert_eq!(error("a X X\n\nb X X\n", "a X X\n"), "two has 1 sentence, one has 2");
    }
}
