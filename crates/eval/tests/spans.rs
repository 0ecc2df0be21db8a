//! The rules of chunk scoring on small examples, and laws on random ones.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use seqoia_eval::{SpanScores, Spans};

/// Scores labels separated by blanks; `|` ends a sentence.
fn score(gold: &str, guess: &str) -> SpanScores {
    let mut spans = Spans::new(false);
    let (gold, guess): (Vec<_>, Vec<_>) = (gold.split(' ').collect(), guess.split(' ').collect());
    assert_eq!(gold.len(), guess.len(), "labels in {gold:?} and {guess:?}");
    for (gold, guess) in gold.into_iter().zip(guess) {
        if gold == "|" {
            assert_eq!(guess, "|");
            spans.end_sentence();
        } else {
            spans.token(gold, guess);
        }
    }
    spans.finish()
}

/// Gold, found and right chunks.
fn counts(gold: &str, guess: &str) -> (u64, u64, u64) {
    let scores = score(gold, guess);
    (scores.gold, scores.found, scores.correct)
}

/// The types of the chunks that one side has, with their number.
fn types(labels: &str) -> Vec<(String, u64)> {
    score(labels, labels).types.into_iter().map(|kind| (kind.name, kind.gold)).collect()
}

#[test]
fn start_end_and_type_must_agree() {
    assert_eq!(counts("B-A I-A O", "B-A I-A O"), (1, 1, 1));
    assert_eq!(counts("B-A I-A O", "B-A O O"), (1, 1, 0), "ends too early");
    assert_eq!(counts("B-A I-A O", "B-A I-A I-A"), (1, 1, 0), "ends too late");
    assert_eq!(counts("O B-A I-A", "B-A I-A I-A"), (1, 1, 0), "starts too early");
    assert_eq!(counts("B-A I-A O", "B-B I-B O"), (1, 1, 0), "other type");
    assert_eq!(counts("B-A I-A O", "B-A I-B O"), (1, 2, 0), "other type inside");
    assert_eq!(counts("B-A I-A B-A", "B-A I-A I-A"), (2, 1, 0), "two chunks taken as one");
    assert_eq!(counts("O O B-A", "O O B-A"), (1, 1, 1), "a chunk at the end of the text");
}

#[test]
fn schemes_may_differ() {
    assert_eq!(counts("I-A I-A O B-B I-B", "B-A I-A O I-B I-B"), (2, 2, 2), "IOB1 and IOB2");
    assert_eq!(counts("I-A E-A O E-B E-B", "B-A I-A O B-B B-B"), (3, 3, 3), "IOE2 and IOB2");
    assert_eq!(score("I-A I-A", "B-A I-A").accuracy(), 50.0, "chunks agree, labels need not");
}

#[test]
fn invalid_transitions_start_chunks() {
    assert_eq!(types("I-A I-A I-B O I-B"), [("A".into(), 1), ("B".into(), 2)]);
    assert_eq!(types("B-A I-B I-A B-A"), [("A".into(), 3), ("B".into(), 1)]);
}

#[test]
fn sentences_end_chunks() {
    assert_eq!(types("I-A I-A"), [("A".into(), 1)]);
    assert_eq!(types("I-A | I-A"), [("A".into(), 2)]);
    assert_eq!(counts("B-A | I-A", "B-A | I-A"), (2, 2, 2));
    assert_eq!(counts("B-A I-A | | O", "B-A I-A | | O"), (1, 1, 1));
}

#[test]
fn tags_of_other_representations() {
    assert_eq!(types("I-A E-A I-A E-A"), [("A".into(), 2)], "E ends a chunk before I");
    assert_eq!(types("E-A E-A O E-A"), [("A".into(), 3)], "E after E or O is a chunk");
    assert_eq!(types("E-A B-A"), [("A".into(), 1)], "but the reference has no rule for B after E");
    assert_eq!(types("[-A ]-A [-A"), [("A".into(), 3)], "brackets are chunks of length one");
    assert_eq!(types("[-A I-A"), [("A".into(), 1)], "what follows is no start by itself");
    assert_eq!(types("O E"), [(String::new(), 1)], "E after O, even without a type");
    assert_eq!(counts("[-A I-A", "[-A O"), (1, 1, 1), "but the bracket's chunk is over");
    assert_eq!(types(".-A .-B . O"), [], "a dot starts nothing");
    assert_eq!(counts("B-A .-A O", "B-A .-A O"), (1, 1, 1), "and does not end a chunk");
    assert_eq!(counts("B-A .-A .-B", "B-A .-A .-A"), (1, 1, 0), "yet the types below it must agree");
    assert_eq!(counts("B-A .-A B-B", "B-A .-A B-B"), (2, 2, 1), "so that this one is lost even if it agrees");
    assert_eq!(
        types("S-A S-A S-B O S-A"),
        [("A".into(), 2), ("B".into(), 1)],
        "unknown: the type alone speaks"
    );
}

#[test]
fn types_are_what_follows_the_first_hyphen() {
    assert_eq!(types("B-A-B I-A-B I-A-C"), [("A-B".into(), 1), ("A-C".into(), 1)]);
    assert_eq!(types("B--A B-- B-"), [(String::new(), 1), ("-".into(), 1), ("-A".into(), 1)]);
    assert_eq!(types("B-b B-B B-é B-a"), ["B", "a", "b", "é"].map(|name| (name.into(), 1)), "in byte order");
    assert_eq!(types("O-A O-B"), [], "O has no chunk, whatever its type");
}

#[test]
fn the_empty_type_is_printed_as_the_reference_does() {
    let scores = score("B I O B-0", "B I B O");
    assert_eq!((scores.types.len(), scores.correct), (1, 1), "0 is the empty type");
    let line = "                 : precision:  50.00%; recall:  50.00%; FB1:  50.00  2\n";
    let head = "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.\n\
                accuracy:  50.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00\n";
    assert_eq!(scores.conlleval(), format!("{head}{line}{line}"), "on both sides: twice");
    let once = "                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n";
    assert!(score("B", "O").conlleval().ends_with(&format!("0.00\n{once}")), "on one side: once");
}

#[test]
fn prints_counts_and_types() {
    let expected = "processed 7 tokens with 3 phrases; found: 3 phrases; correct: 2.\n\
                    accuracy:  57.14%; precision:  66.67%; recall:  66.67%; FB1:  66.67\n\
                    \x20             LOC: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n\
                    \x20             ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n\
                    \x20             PER: precision: 100.00%; recall:  50.00%; FB1:  66.67  1\n";
    let scores = score("B-PER I-PER O B-LOC | B-PER I-PER O", "B-PER I-PER O I-LOC | B-ORG I-ORG O");
    assert_eq!(scores.conlleval(), expected);
}

#[test]
fn raw_labels_are_chunks_of_their_own() {
    let mut spans = Spans::new(true);
    for (gold, guess) in [("NN", "NN"), ("NN", "NN"), ("I-A", "NN"), ("O", "NN"), ("O", "O")] {
        spans.token(gold, guess);
    }
    let scores = spans.finish();
    assert_eq!((scores.tokens, scores.gold, scores.found, scores.correct), (5, 3, 4, 2));
    assert_eq!(scores.types[0].name, "I-A");
}

type Text = Vec<Vec<(String, String)>>;

/// Sentences of gold and guess whose labels are made of `tags` and `types`; `O` has no type.
fn text(tags: &'static [&'static str], types: &'static [&'static str]) -> impl Strategy<Value = Text> {
    let one = (prop::sample::select(tags), prop::sample::select(types)).prop_map(|(tag, kind)| match tag {
        "O" => tag.to_owned(),
        _ => format!("{tag}{kind}"),
    });
    // Half of the guesses are the gold, or chunks would hardly ever agree.
    let token = (one.clone(), one, any::<bool>())
        .prop_map(|(gold, guess, same)| if same { (gold.clone(), gold) } else { (gold, guess) });
    prop::collection::vec(prop::collection::vec(token, 0..12), 0..6)
}

fn run(text: &Text) -> SpanScores {
    let mut spans = Spans::new(false);
    for sentence in text {
        sentence.iter().for_each(|(gold, guess)| spans.token(gold, guess));
        spans.end_sentence();
    }
    spans.finish()
}

fn swapped(text: &Text) -> Text {
    text.iter().map(|sentence| sentence.iter().cloned().map(|(a, b)| (b, a)).collect()).collect()
}

/// Makes IOB2 of any B, I and O: an I that goes on with nothing becomes a B.
fn repair(labels: Vec<String>) -> Vec<String> {
    let mut fixed: Vec<String> = Vec::new();
    for label in labels {
        let goes_on = fixed.last().is_some_and(|last| last != "O" && last[1..] == label[1..]);
        fixed.push(if label.starts_with('I') && !goes_on { format!("B{}", &label[1..]) } else { label });
    }
    fixed
}

/// By the definition: the set of all chunks as sentence, start, end and type.
fn chunks(sentences: &[Vec<String>]) -> BTreeSet<(usize, usize, usize, String)> {
    let mut set = BTreeSet::new();
    for (number, labels) in sentences.iter().enumerate() {
        for start in 0..labels.len() {
            if let Some(kind) = labels[start].strip_prefix("B-") {
                let inside = format!("I-{kind}");
                let length = labels[start + 1..].iter().take_while(|&label| *label == inside).count();
                set.insert((number, start, start + length, kind.to_owned()));
            }
        }
    }
    set
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn valid_iob2_counts_as_sets_of_chunks(text in text(&["B", "I", "I", "O"], &["-A", "-B-C"])) {
        let gold: Vec<_> = text.iter().map(|s| repair(s.iter().map(|t| t.0.clone()).collect())).collect();
        let guess: Vec<_> = text.iter().map(|s| repair(s.iter().map(|t| t.1.clone()).collect())).collect();
        let text: Text =
            gold.iter().zip(&guess).map(|(a, b)| a.iter().cloned().zip(b.iter().cloned()).collect()).collect();
        let mut expected: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        let (gold, guess) = (chunks(&gold), chunks(&guess));
        for chunk in gold.union(&guess) {
            let counts = expected.entry(chunk.3.clone()).or_default();
            counts.0 += u64::from(gold.contains(chunk));
            counts.1 += u64::from(guess.contains(chunk));
            counts.2 += u64::from(gold.contains(chunk) && guess.contains(chunk));
        }
        let scores = run(&text);
        let both = u64::try_from(gold.intersection(&guess).count()).unwrap();
        prop_assert_eq!(scores.gold, u64::try_from(gold.len()).unwrap());
        prop_assert_eq!(scores.found, u64::try_from(guess.len()).unwrap());
        prop_assert_eq!(scores.correct, both);
        let types: BTreeMap<_, _> =
            scores.types.into_iter().map(|kind| (kind.name, (kind.gold, kind.found, kind.correct))).collect();
        prop_assert_eq!(types, expected);
    }

    #[test]
    fn gold_against_itself_is_perfect(text in text(&["B", "I", "E", "O"], &["-A", "-B", ""])) {
        let same: Text = text.iter().map(|s| s.iter().map(|t| (t.0.clone(), t.0.clone())).collect()).collect();
        let scores = run(&same);
        prop_assert_eq!(scores.tokens_correct, scores.tokens);
        prop_assert_eq!((scores.found, scores.correct), (scores.gold, scores.gold));
        if scores.gold > 0 {
            prop_assert_eq!((scores.precision(), scores.recall(), scores.f1()), (100.0, 100.0, 100.0));
        }
        for kind in scores.types {
            prop_assert_eq!(kind.f1(), 100.0);
        }
    }

    #[test]
    fn swapping_sides_swaps_precision_and_recall(
        text in text(&["B", "I", "O", "E", ".", "[", "]", "S", ""], &["-A", "-B", "-", "", "-0"])
    ) {
        let (scores, other) = (run(&text), run(&swapped(&text)));
        prop_assert_eq!((scores.gold, scores.found), (other.found, other.gold));
        prop_assert_eq!(scores.correct, other.correct);
        prop_assert_eq!((scores.precision(), scores.recall()), (other.recall(), other.precision()));
        prop_assert_eq!(scores.accuracy(), other.accuracy());
        prop_assert_eq!(scores.types.len(), other.types.len());
        prop_assert!(scores.correct <= scores.gold && scores.correct <= scores.found);
    }

    #[test]
    fn no_text_panics(bytes in prop::collection::vec(prop::sample::select(b"BI-O. \t\r\nX\xff".as_slice()), 0..60)) {
        match seqoia_eval::score(bytes.as_slice(), "x", &seqoia_eval::Options::default()) {
            Ok(scored) => prop_assert!(scored.spans.conlleval().starts_with("processed ")),
            Err(error) => prop_assert!(error.line >= 1 && !error.help.is_empty()),
        }
    }
}
