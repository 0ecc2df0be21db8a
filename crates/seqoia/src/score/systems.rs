//! Compares two systems that labelled the same data: scores, difference, and whether it is chance.

use seqoia_data::format::Kind;
use seqoia_data::open::Input;
use seqoia_eval::{Interval, Sentence, Significance, Tally};
use seqoia_eval::{interval_of_difference, randomisation, tallies};

use super::Evaluated;
use crate::error::{Error, Result};
use crate::label::options::LabelColumn;

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

/// Compares two files whose last two columns are gold and prediction, of the same data, in the format `kind` if it is
/// not to be recognised.
///
/// # Errors
/// Files that cannot be scored, or have other gold labels.
pub fn systems(files: [Input; 2], kind: Option<Kind>, raw: bool, trials: Trials) -> Result<Comparison> {
    let names = [files[0].name.clone(), files[1].name.clone()];
    let [first, second] = files;
    let systems = [super::last_two_of(first, kind, raw)?, super::last_two_of(second, kind, raw)?];
    compared(names, systems, trials)
}

/// Compares two files with the labels that two systems found, for data whose right labels are in `gold`; see
/// [`compare`](super::compare) for what they may be.
///
/// # Errors
/// Files that cannot be read or do not have the same sentences.
pub fn systems_against(
    gold: Input,
    files: [Input; 2],
    (kind, label): (Option<Kind>, &LabelColumn),
    raw: bool,
    trials: Trials,
) -> Result<Comparison> {
    let names = [files[0].name.clone(), files[1].name.clone()];
    let (name, text) = super::text(gold)?;
    let scored = |found| {
        let gold = Input::from_bytes(&name, text.clone())?;
        let evaluated = super::compare(gold, found, kind, label)?;
        Ok::<_, Error>(if raw { evaluated.raw() } else { evaluated })
    };
    let [first, second] = files;
    compared(names, [scored(first)?, scored(second)?], trials)
}

fn compared(names: [String; 2], systems: [Evaluated; 2], trials: Trials) -> Result<Comparison> {
    let [a, b] = systems;
    super::same_tokens([&names[0], &names[1]], &a.sentences, &b.sentences)?;
    let tokens = |sentences| <[Sentence]>::iter(sentences).flat_map(|s| &s.tokens);
    let mut pairs = tokens(&a.sentences).zip(tokens(&b.sentences));
    if let Some((x, y)) = pairs.find(|(x, y)| x.gold != y.gold) {
        let [first, second] = &names;
        let what = format!("the gold label is {}, but {} in {first}:{}", y.gold, x.gold, x.line);
        let help = "both files must hold the same test data, labelled by two systems";
        return Err(seqoia_data::Error::at(second, y.line, what).help(help).into());
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
        systems([input("one", first), input("two", second)], None, false, trials)
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
    fn formats_of_one_labelling_have_their_gold_beside() {
        let trials = Trials { resamples: 100, shuffles: 199, seed: 1 };
        let against = |kind, gold: &str, first: &str, second: &str| {
            let input = |name: &str, text: &str| Input::from_bytes(name, text.repeat(30)).unwrap();
            let files = [input("one", first), input("two", second)];
            systems_against(input("gold", gold), files, (kind, &LabelColumn::Last), false, trials)
        };
        let json = |labels: &str| format!("{{\"tokens\":[\"a\",\"b\"],\"labels\":[{labels}]}}\n");
        let (right, wrong) = (json("\"X\",\"Y\""), json("\"X\",\"X\""));
        for (kind, gold, wrong) in [
            (Some(Kind::Tagged), "a/X b/Y\n", "a/X b/X\n"),
            (None, &right, &wrong),
            (Some(Kind::Columns), "a X\nb Y\n\n", "a X X\nb Y X\n\n"),
        ] {
            let found = against(kind, gold, wrong, gold).unwrap();
            assert_eq!(found.difference, 50.0, "{kind:?}");
            assert_eq!(found.names, ["one", "two"]);
        }
        let words = against(Some(Kind::Words), "我 爱\n", "我爱\n", "我 爱\n").unwrap();
        assert_eq!((words.systems[0].unit, words.difference), (seqoia_eval::Unit::Chunks, 100.0));
        let error = against(Some(Kind::Tagged), "a/X\n", "a/X\n", "b/X\n").err().unwrap().to_string();
        assert!(error.starts_with("two:1: the word is b, but a in gold:1"), "{error}");
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
        assert_eq!(error("a X X\n\nb X X\n", "a X X\n"), "two: 1 sentence, where one has 2");
    }
}
