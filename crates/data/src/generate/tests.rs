//! What the generated corpus promises.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::compile::{Act, Body, Language, Step};
use super::draft::LENGTHS;
use super::grammar::RULES;
use super::morphology::{Kind, takes_an};
use super::*;

fn corpus(seed: u64, sentences: usize) -> Vec<Vec<Token>> {
    let mut generator = Generator::new(seed);
    let next = |_| {
        let mut sentence = vec![];
        generator.sentence(&mut sentence);
        sentence
    };
    (0..sentences).map(next).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    seqoia_core::cast::real(part) / seqoia_core::cast::real(whole)
}

/// Fowler, Noll and Vo's hash, version 1a.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The corpus is quoted in documentation and golden runs: who changes it changes this number too.
#[test]
fn the_corpus_of_a_seed_never_changes() {
    let text = columns(1, 1000);
    assert_eq!(text, columns(1, 1000));
    assert_eq!(fnv(&text), 11_122_857_388_260_720_963, "the first sentence is now:\n{}", columns(1, 1));
    assert_ne!(fnv(&columns(2, 1000)), fnv(&text));
}

#[test]
fn a_short_corpus_is_the_beginning_of_a_long_one() {
    let long = columns(7, 300);
    assert!(long.starts_with(&columns(7, 100)));
    assert!(columns(7, 0).is_empty());
    let sentences = corpus(7, 300);
    let lines = sentences.iter().map(|s| s.len() + 1).sum::<usize>();
    assert_eq!(long.lines().count(), lines);
    let distinct: HashSet<String> = sentences.iter().map(|s| format!("{s:?}")).collect();
    assert!(distinct.len() > 290);
}

#[test]
fn lines_have_four_columns_with_the_chunk_last() {
    let first = &corpus(3, 1)[0][0];
    let text = columns(3, 200);
    assert_eq!(
        text.lines().next(),
        Some(format!("{} {} {} {}", first.word, first.pos, first.entity, first.chunk).as_str())
    );
    assert!(
        text.lines().all(|line| line.is_empty() || line.split(' ').filter(|f| !f.is_empty()).count() == 4)
    );
}

#[test]
fn labels_are_valid_iob2_and_the_tag_sets_are_those_documented() {
    let mut tags: [BTreeSet<&str>; 3] = Default::default();
    for sentence in corpus(4, 20_000) {
        let mut before = ["O"; 2];
        for token in &sentence {
            for (before, label) in before.iter_mut().zip([token.chunk, token.entity]) {
                if let Some(kind) = label.strip_prefix("I-") {
                    assert!(*before != "O" && before[2..] == *kind, "{before} {label} in {sentence:?}");
                }
                *before = label;
            }
            tags[0].insert(token.pos);
            tags[1].insert(token.chunk);
            tags[2].insert(token.entity);
        }
        assert!(LENGTHS.contains(&sentence.len()), "{sentence:?}");
    }
    assert_eq!(tags[0], POS_TAGS.into_iter().collect());
    // A particle has one word.
    let chunks = "B-ADJP B-ADVP B-NP B-PP B-PRT B-SBAR B-VP I-ADJP I-ADVP I-NP I-PP I-SBAR I-VP O";
    assert_eq!(tags[1], chunks.split(' ').collect());
    let entities = "B-LOC B-MISC B-ORG B-PER I-LOC I-MISC I-ORG I-PER O";
    assert_eq!(tags[2], entities.split(' ').collect());
}

#[test]
fn lengths_frequencies_and_vocabulary_are_those_of_a_newspaper() {
    let train = corpus(1, 6000);
    let words = |sentences: &[Vec<Token>]| -> Vec<String> {
        sentences.iter().flatten().map(|token| token.word.clone()).collect()
    };
    let (small, large, test) = (words(&train[..1500]), words(&train), words(&corpus(2, 500)));
    let mean = share(large.len(), train.len());
    assert!((18.0..22.0).contains(&mean), "mean length {mean}");

    let known: HashSet<&String> = small.iter().collect();
    let unknown = share(test.iter().filter(|word| !known.contains(word)).count(), test.len());
    assert!((0.03..0.08).contains(&unknown), "unknown words {unknown}");

    let mut counts: HashMap<&String, usize> = HashMap::new();
    small.iter().for_each(|word| *counts.entry(word).or_default() += 1);
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let top = share(counts[..10].iter().sum(), small.len());
    assert!((0.2..0.4).contains(&top), "the ten most frequent words make up {top}");

    // Heaps: four times the text has 4^b times the words, b near 1/2.
    let growth = share(large.iter().collect::<HashSet<_>>().len(), known.len());
    assert!((1.7..2.6).contains(&growth), "the vocabulary grew by {growth}");
}

#[test]
fn words_and_names_are_ambiguous() {
    let sentences = corpus(1, 1500);
    let mut tags: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    let mut types: HashMap<&str, HashSet<&str>> = HashMap::new();
    for token in sentences.iter().flatten() {
        *tags.entry(&token.word).or_default().entry(token.pos).or_default() += 1;
        types.entry(&token.word).or_default().insert(token.entity);
    }
    let several = share(tags.values().filter(|tags| tags.len() > 1).count(), tags.len());
    assert!((0.12..0.4).contains(&several), "{several} of the words have several tags");
    let tokens = sentences.iter().map(Vec::len).sum();
    let best = share(tags.values().filter_map(|tags| tags.values().max()).sum(), tokens);
    assert!(best < 0.96, "each word's own best tag is right in {best}");
    for (word, expected) in [("that", "IN WDT DT"), ("to", "TO IN"), ("up", "RP IN RB"), ("plans", "NNS VBZ")]
    {
        // More often than by mistake.
        assert!(
            expected.split(' ').all(|tag| tags[word].get(tag).is_some_and(|&n| n > 1)),
            "{word} {:?}",
            tags[word]
        );
    }
    for (word, expected) in [("Washington", "B-LOC B-ORG I-PER"), ("Ford", "B-ORG B-PER I-PER")] {
        assert!(expected.split(' ').all(|label| types[word].contains(label)), "{word} {:?}", types[word]);
    }
}

/// Otherwise a labeller would only have to learn a table.
#[test]
fn chunks_are_no_function_of_tags() {
    let mut seen: HashMap<[&str; 3], HashMap<&str, usize>> = HashMap::new();
    let mut tokens = 0;
    for sentence in corpus(5, 2000) {
        for at in sentence.windows(3) {
            *seen.entry([at[0].pos, at[1].pos, at[2].pos]).or_default().entry(at[1].chunk).or_default() += 1;
            tokens += 1;
        }
    }
    let best = share(seen.values().filter_map(|chunks| chunks.values().max()).sum(), tokens);
    assert!((0.85..0.97).contains(&best), "three tags tell the chunk in {best}");
}

/// Everything in the table is understood, chunks and entities begin and end in turn, and what is left
/// of the grammar when a sentence is long enough has for each number an alternative of each rule, and
/// no cycle.
#[test]
fn the_grammar_is_sound() {
    let (language, complaints) = Language::compile(RULES);
    assert!(complaints.is_empty(), "{complaints:?}");
    let rules = &language.rules;
    let called = |step: &Step| if let Act::Rule(rule) = step.act { Some(rule) } else { None };
    let (mut settled, mut bracketed) = (vec![false; rules.len()], vec![false; rules.len()]);
    for _ in 0..rules.len() {
        for (rule, bodies) in rules.iter().enumerate() {
            let brief = bodies.iter().filter(|body| !body.long).flat_map(|body| &body.steps);
            let mut needed = brief.filter(|step| step.percent == 100).filter_map(called);
            settled[rule] = needed.all(|needed| settled[needed]);
            let mut steps = bodies.iter().flat_map(|body| &body.steps);
            bracketed[rule] = steps.any(|step| {
                matches!(step.act, Act::Chunk(_)) || called(step).is_some_and(|called| bracketed[called])
            });
        }
    }
    for (rule, (name, alternatives)) in RULES.iter().enumerate() {
        assert!(settled[rule], "{name} comes back to itself");
        for plural in [false, true] {
            let fits = |body: &Body| !body.long && body.only.is_none_or(|only| only == plural);
            assert!(rules[rule].iter().any(fits), "{name} for plural = {plural}");
        }
        for (body, (weight, text)) in rules[rule].iter().zip(*alternatives) {
            let (mut chunk, mut entity) = (false, false);
            for step in &body.steps {
                match step.act {
                    Act::Chunk(kind) => {
                        assert!(std::mem::replace(&mut chunk, kind.is_some()) != chunk, "{text}")
                    }
                    Act::Entity(kind) => {
                        assert!(std::mem::replace(&mut entity, kind.is_some()) != entity, "{text}")
                    }
                    Act::Rule(rule) => assert!(!(chunk && bracketed[rule]), "a chunk in a chunk: {text}"),
                    _ => {}
                }
            }
            assert!(!chunk && !entity && *weight > 0, "{text}");
        }
    }
}

#[test]
fn words_are_inflected_as_in_school() {
    let forms = |kind: Kind, stem: &str| -> String {
        (0..kind.tags().len()).map(|form| kind.inflect(stem, form)).collect::<Vec<_>>().join(" ")
    };
    for (kind, expected) in [
        (Kind::Noun, "city cities|match matches|day days|child children|potato potatoes|piano pianos"),
        (Kind::Verb, "plan plans plan planned planned planning planned|be is are was been being were"),
        (Kind::Verb, "study studies study studied studied studying studied|go goes go went gone going went"),
        (
            Kind::Verb,
            "agree agrees agree agreed agreed agreeing agreed|visit visits visit visited visited visiting visited",
        ),
        (Kind::Verb, "raise raises raise raised raised raising raised|have has have had had having had"),
        (Kind::Grade, "big bigger biggest|happy happier happiest|large larger largest|new newer newest"),
    ] {
        for expected in expected.split('|') {
            assert_eq!(forms(kind, expected.split(' ').next().unwrap()), expected);
        }
    }
    assert_eq!(
        ["apple", "hour", "Oslo", "8-ton", "unit", "house", "Zürich"].map(takes_an),
        [true, true, true, true, false, false, false]
    );
}
