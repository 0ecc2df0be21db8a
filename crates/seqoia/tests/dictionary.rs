//! Dictionary features: they are those of the definition, a training sentence does not look into its own
//! words, and a model has its dictionary with it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use seqoia::core::Random;
use seqoia::data::features::Lexica;
use seqoia::data::format::Kind;
use seqoia::data::scheme::Scheme;
use seqoia::label::{model_from_text, model_to_text};
use seqoia::tools::dump_features;
use seqoia::{DataOptions, LabelColumn, Labeller, input_from_text, score};
use seqoia_testkit::labelling::{dev as held_out, fit, label, passes, read};

fn options() -> DataOptions {
    let mut options = DataOptions { format: Some(Kind::Words), ..DataOptions::default() };
    options.features.sets.push("segmentation".to_owned());
    options
}

/// The words of the training text.
fn own() -> DataOptions {
    let mut options = options();
    options.features.own_words = true;
    options
}

/// Words from a file.
fn listed(words: &str) -> DataOptions {
    let (mut options, mut lexica) = (options(), Lexica::default());
    lexica.words.read("dictionary", words).unwrap();
    options.features.lexica = Arc::new(lexica);
    options
}

/// The attributes of each character of each sentence.
fn attributes(text: &str, options: &DataOptions) -> Vec<Vec<BTreeSet<String>>> {
    let mut out = vec![];
    dump_features(input_from_text("text", text).unwrap(), options, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let token = |line: &str| line.split('\t').skip(1).map(str::to_owned).collect();
    out.split_terminator("\n\n").map(|sentence| sentence.lines().map(token).collect()).collect()
}

fn of_the_dictionary(mut attributes: Vec<BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    for token in &mut attributes {
        token.retain(|name| ["starts", "ends", "longest"].iter().any(|head| name.starts_with(head)));
    }
    attributes
}

fn wide(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii() { char::from_u32(u32::from(c) + 0xFEE0).unwrap() } else { c })
        .collect()
}

/// The definition, letter by letter: j from i-5 up to i-1, k from i+1 up to i+5.
fn by_the_book(sentence: &str, words: &HashSet<String>) -> Vec<BTreeSet<String>> {
    let x: Vec<char> = wide(&sentence.replace(' ', "")).chars().collect();
    let word = |from: i32, to: i32| -> Option<String> {
        let (from, end) = (usize::try_from(from).ok()?, usize::try_from(to).ok()? + 1);
        let text: String = x.get(from..end)?.iter().collect();
        words.contains(&text).then_some(text)
    };
    let both = |a: Option<String>, b: Option<String>| Some(format!("{}|{}", a?, b?));
    // Of words of one character, too.
    let longest = |words: &dyn Fn(i32) -> Option<String>| (1..=6).rev().find(|n| words(*n).is_some());
    let starts = |i: i32| longest(&|n| word(i, i + n - 1)).map(|n| n.to_string());
    let ends = |i: i32| longest(&|n| word(i - n + 1, i)).map(|n| n.to_string());
    let at = |i: i32| {
        let mut found = BTreeSet::new();
        for k in -1..=1 {
            found.extend(starts(i + k).map(|n| format!("longest-start[{k}]={n}")));
            found.extend(ends(i + k).map(|n| format!("longest-end[{k}]={n}")));
        }
        for (end, start) in [(-1, 0), (0, 1), (0, 0)] {
            let name = format!("longest-end[{end}]|longest-start[{start}]");
            found.extend(both(ends(i + end), starts(i + start)).map(|both| format!("{name}={both}")));
        }
        for (j, k) in (i - 5..i).flat_map(|j| (i + 1..=i + 5).map(move |k| (j, k))) {
            found.extend(word(j, i).map(|w| format!("ends[0]={w}")));
            found.extend(word(i, k).map(|w| format!("starts[0]={w}")));
            found.extend(both(word(j, i - 1), word(i, k)).map(|w| format!("ends[-1]|starts[0]={w}")));
            found.extend(both(word(j, i), word(i + 1, k)).map(|w| format!("ends[0]|starts[1]={w}")));
        }
        found
    };
    (0..i32::try_from(x.len()).unwrap()).map(at).collect()
}

/// A text and, for each of its sentences, the words of all others.
fn others(sentences: &[String]) -> Vec<HashSet<String>> {
    let words = |i: usize| {
        let others = sentences.iter().enumerate().filter(move |(other, _)| *other != i);
        others.flat_map(|(_, sentence)| sentence.split(' ').map(wide)).collect()
    };
    (0..sentences.len()).map(words).collect()
}

fn sentences() -> impl Strategy<Value = Vec<String>> {
    let word = prop::collection::vec(select(vec!['a', 'b', '\u{ff41}', '中']), 1..8);
    let word = word.prop_map(|word| word.into_iter().collect::<String>());
    let sentence = prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "));
    prop::collection::vec(sentence, 2..6)
}

proptest! {
    #[test]
    fn a_training_sentence_sees_the_words_of_all_others(sentences in sentences()) {
        let text = sentences.join("\n");
        // Another label scheme is made when all is read, on another way.
        let relabelled = DataOptions { scheme: Some(Scheme::Bie), ..own() };
        for found in [attributes(&text, &own()), attributes(&text, &relabelled)] {
            prop_assert_eq!(found.len(), sentences.len());
            for ((sentence, words), found) in sentences.iter().zip(others(&sentences)).zip(found) {
                prop_assert_eq!(of_the_dictionary(found), by_the_book(sentence, &words));
            }
        }
    }

    #[test]
    fn and_sees_them_as_if_they_were_a_file(sentences in sentences()) {
        let found = attributes(&sentences.join("\n"), &own());
        for ((sentence, words), found) in sentences.iter().zip(others(&sentences)).zip(found) {
            let words: Vec<String> = words.into_iter().collect();
            // A word that no text has, since a dictionary must have one.
            let alone = attributes(sentence, &listed(&format!("{}\nz\n", words.join("\n"))));
            prop_assert_eq!(&alone[0], &found);
        }
    }
}

#[test]
fn sentences_are_told_apart_in_a_text_of_many_blocks() {
    let mut sentences = vec!["ab cd".to_owned()];
    sentences.extend((0..40_000).map(|i| format!("中文 {i:05}")));
    sentences.extend(["cd xyz".to_owned(), "xyzw ab".to_owned()]);
    let found = attributes(&sentences.join("\n"), &own());
    let words = |sentences: &[&str]| sentences.iter().map(|word| wide(word)).collect::<HashSet<_>>();
    for (i, known) in [(0, ["ab", "cd"]), (40_001, ["cd", "xyzw"]), (40_002, ["ab", "xyz"])] {
        assert_eq!(of_the_dictionary(found[i].clone()), by_the_book(&sentences[i], &words(&known)));
    }
}

/// Sentences of words that are hard to tell apart.
fn drawn(seed: u64, count: usize) -> String {
    let mut stream = Random::new(seed, 0, 0, "words");
    let words = ["ab", "abc", "c", "ca", "bca", "bb", "b", "aab", "cc", "acb"];
    let mut sentence = || {
        let length = 3 + stream.below(6);
        let drawn: Vec<&str> = (0..length).map(|_| words[stream.below(words.len())]).collect();
        drawn.join(" ") + "\n"
    };
    (0..count).map(|_| sentence()).collect()
}

#[test]
fn a_model_labels_with_the_dictionary_that_it_holds() {
    let (train, dev) = (drawn(1, 60), drawn(2, 200));
    let set = read(&train, &own());
    let fitted = fit(&set, Some(&held_out(&dev, &set)), &passes("adagrad", 3));
    let f1 = fitted.trained.scores.iter().find(|score| score.name == "f1").unwrap().value;

    let model = fitted.labeller();
    let found = |model: &Labeller| {
        let out = label(model, &dev.replace(' ', ""), 2);
        let [gold, out] = [&dev, &out].map(|t| input_from_text("text", t).unwrap());
        score::compare(gold, out, Some(Kind::Words), &LabelColumn::Last).unwrap().scored.spans.f1()
    };
    assert!((found(&model) - f1).abs() < 1e-9, "{} {f1}", found(&model));

    // The same weights without a word in the dictionary find something else.
    let mut text = vec![];
    model_to_text(&model, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\nword\t1\tａｂｃ\n") && !text.contains("\nword\t2"), "{text}");
    let empty = text.replace("\nword\t1\t", "\nword\t0\t");
    let empty = model_from_text(input_from_text("text", &empty).unwrap()).unwrap();
    let empty = Labeller::from_bytes("empty", &empty.bytes).unwrap();
    assert!(found(&empty) < f1 - 1.0, "{} {f1}", found(&empty));
}
