//! What `check` says about data: each rule on a file that breaks it, and counts against slow ones.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seqoia::data::format::Kind;
use seqoia::data::scheme::Scheme;
use seqoia::tools::{CheckOptions, Checked, Finding, Level, check};
use seqoia::{LabelColumn, input_from_text};

fn look(train: &str, dev: Option<&str>, options: &CheckOptions) -> Checked {
    let dev = dev.map(|text| input_from_text("dev", text).unwrap());
    check(input_from_text("train", train).unwrap(), dev, options).unwrap()
}

/// Level, file, line and text of the finding whose text has this in it.
fn finding<'a>(checked: &'a Checked, what: &str) -> (Level, &'a str, Option<u64>, &'a str) {
    let found: Vec<&Finding> = checked.findings.iter().filter(|f| f.what.contains(what)).collect();
    let [Finding { level, file, line, what, .. }] = found.as_slice() else {
        panic!("{what}: {} times in {:#?}", found.len(), checked.findings)
    };
    (*level, file, *line, what)
}

fn plain() -> CheckOptions {
    CheckOptions::default()
}

#[test]
fn labels_that_are_one_or_rare_are_told() {
    let checked = look("a X\nb X\n\nc X\n", None, &plain());
    assert_eq!(finding(&checked, "every token").0, Level::Error);
    let checked = look(&format!("{}b R\n", "a X\n".repeat(7)), None, &plain());
    let expected = (Level::Warning, "train", Some(8), "1 label is seen fewer than 5 times: R (1)");
    assert_eq!(finding(&checked, "fewer"), expected);
    let checked = look(&"a X\nb Y\n\n".repeat(5), None, &plain());
    assert_eq!(finding(&checked, "at least 5").0, Level::Ok);
}

#[test]
fn a_scheme_is_recognised_or_given_and_breaks_have_lines() {
    let good = "a B-X\nb I-X\nc O\n\n".repeat(10);
    assert_eq!(finding(&look(&good, None, &plain()), "iob2").0, Level::Ok);
    let broken = format!("{good}a O\nb I-X\nc I-X\n\nd I-Y\n");
    let expected =
        (Level::Warning, "train", Some(42), "2 labels break iob2, the scheme of the labels: lines 42, 45");
    assert_eq!(finding(&look(&broken, None, &plain()), "break"), expected);
    let told = CheckOptions { scheme: Some(Scheme::Iobes), ..plain() };
    assert_eq!(finding(&look(&good, None, &told), "break iobes").2, Some(3));
    assert_eq!(finding(&look("a NN\nb VB\n", None, &plain()), "no chunk labels").0, Level::Ok);
    let neither = "a I-X\nb O\nc E-Y\nd O\ne M-Z\nf O\ng S-X\nh M-X\n\n".repeat(3);
    assert_eq!(finding(&look(&neither, None, &plain()), "break every scheme").0, Level::Warning);
    // The dev file is held against the scheme of the training file.
    let checked = look(&good, Some("a O\nb I-X\n\n"), &plain());
    assert_eq!(checked.findings.iter().filter(|f| f.file == "dev" && f.line == Some(2)).count(), 1);
}

#[test]
fn columns_that_say_nothing_or_everything_are_told() {
    let checked = look("a k N N\nb k V V\nc k O O\nd k O O\n", None, &plain());
    assert_eq!(finding(&checked, "column 1 is k").0, Level::Warning);
    assert_eq!(
        finding(&checked, "column 2 looks like a copy of the label, which is column 3").0,
        Level::Warning
    );
    // What two columns share of the most frequent label is no copy.
    let mostly = format!("{}b P O\nc O N\n", "a O O\n".repeat(1000));
    assert_eq!(finding(&look(&mostly, None, &plain()), "none is a copy").0, Level::Ok);
    let first = CheckOptions { label: LabelColumn::Number(0), ..plain() };
    let checked = look("N a x\nV b x\n", None, &first);
    assert_eq!((checked.files[0].words, finding(&checked, "column 2 is x").0), (Some(2), Level::Warning));
}

#[test]
fn lengths_of_sentences_are_looked_at() {
    let checked = look("a X\n\nb Y\n\n", None, &plain());
    assert_eq!(finding(&checked, "one token").0, Level::Warning);
    let long = format!("a X\nb Y\n\n{}", "a X\nb Y\n".repeat(501));
    assert_eq!(finding(&look(&long, None, &plain()), "more than 1000 tokens").2, Some(4));
    let exactly = "a X\nb Y\n".repeat(500);
    assert!(look(&exactly, None, &plain()).findings.iter().all(|f| !f.what.contains("more than 1000")));
}

#[test]
fn copies_are_counted_but_for_short_ones() {
    let long = |words: &str| words.chars().map(|c| format!("{c} X\n")).collect::<String>() + "\n";
    let train = [long("abc"), long("ab"), long("abc"), long("ab"), long("bcd")].concat();
    let dev = [long("zzz"), long("bcd"), long("ab")].concat();
    let checked = look(&train, Some(&dev), &plain());
    let expected = (
        Level::Warning,
        "train",
        Some(8),
        "1 of 5 sentences (20.0 %) occurs before; the first is line 1 again",
    );
    assert_eq!(finding(&checked, "occurs before"), expected);
    let what =
        "1 of 3 sentences (33.3 %) is in train too, and 1 of at most 2 tokens; the first is line 15 there";
    assert_eq!(finding(&checked, "in train too"), (Level::Warning, "dev", Some(5), what));
    let same = look(&train, Some(&train), &plain());
    assert_eq!(finding(&same, "in train too").0, Level::Error);
    let expected = "no sentence of more than 2 tokens is in train";
    assert_eq!(finding(&look(&train, Some(&long("xyz")), &plain()), expected).0, Level::Ok);
}

#[test]
fn a_dev_file_has_the_labels_and_columns_of_the_training_file() {
    let train = "a X\nb Y\nc Z\n\n";
    let checked = look(train, Some("a X\nb Q\nc R\n"), &plain());
    let expected = (Level::Warning, "dev", Some(2), "2 labels that train never has: Q, R");
    assert_eq!(finding(&checked, "train never"), expected);
    let expected = (Level::Warning, "train", Some(2), "2 labels that dev never has: Y, Z");
    assert_eq!(finding(&checked, "dev never"), expected);
    let checked = look(train, Some("a k X\nb l Y\nc m Z\n"), &plain());
    assert_eq!(finding(&checked, "3 columns, where train has 2").0, Level::Error);
}

#[test]
fn names_of_files_stay_as_they_are() {
    let input = |name: &str, text: &str| input_from_text(name, text).unwrap();
    let (train, dev) = (input("cats, and dogs", "a X\nb Y\n\nc X\n\n"), input("dev", "a X\n\nc X\n"));
    let checked = check(train, Some(dev), &plain()).unwrap();
    let expected = "no sentence of more than 2 tokens is in cats, and dogs; 1 of at most 2 tokens";
    assert_eq!(finding(&checked, "no sentence of more than 2 tokens is in").3, expected);
}

#[test]
fn a_line_is_named_once() {
    let options = CheckOptions { format: Some(Kind::Tagged), ..plain() };
    let good = "a/B-X b/I-X c/O\n".repeat(20);
    let broken = |text: &str| {
        let checked = look(&format!("{good}{text}"), None, &options);
        finding(&checked, "break").3.to_owned()
    };
    assert_eq!(broken("a/I-X b/O c/I-X\n"), "2 labels break iob2, the scheme of the labels: line 21");
    let many = "a/I-X b/O c/I-X\n".repeat(4) + &good;
    assert_eq!(broken(&many), "8 labels break iob2, the scheme of the labels: lines 21, 22, 23, ...");
}

#[test]
fn a_dev_file_in_another_scheme_is_told() {
    let iob2 = "a B-X\nb I-X\nc O\nd B-Y\n\n".repeat(9);
    for (other, name) in
        [(iob2.replace("B-", "I-"), "iob1"), (iob2.replace("B-Y", "S-Y").replace("I-X", "E-X"), "iobes")]
    {
        let checked = look(&iob2, Some(&other), &plain());
        let what = format!("labels are chunks in {name}, but those of train are in iob2");
        let (level, file, line, _) = finding(&checked, &what);
        assert_eq!((level, file, line.is_some()), (Level::Warning, "dev", true));
        let told = CheckOptions { scheme: Some(Scheme::Iob2), ..plain() };
        assert!(finding(&look(&iob2, Some(&other), &told), "break iob2").0 == Level::Warning);
    }
    // Other columns have other labels, of which nothing is said.
    let checked = look(&iob2, Some("a B-X k\nb O l\n"), &plain());
    assert!(
        checked
            .findings
            .iter()
            .all(|f| !f.what.contains("never has") && !f.what.contains("chunks in iob2, but"))
    );
}

#[test]
fn labels_are_counted_up_to_what_can_be_learned() {
    let text = |labels: usize| (0..labels).map(|i| format!("a{i} L{i}\nb{i} L{i}\n\n")).collect::<String>();
    let checked = look(&text(8_001), None, &plain());
    let expected = (Level::Error, "train", Some(24_001), "more than 8000 different labels");
    assert_eq!(finding(&checked, "different labels"), expected);
    assert_eq!((checked.files[0].labels, checked.files[0].tokens), (8_000, 16_002));
    assert_eq!(look(&text(8_000), None, &plain()).count(Level::Error), 0);
}

#[test]
fn attributes_without_words_and_made_labels_are_no_trouble() {
    let options = CheckOptions { format: Some(Kind::Crfsuite), ..plain() };
    let checked = look("X\ta\tb\nY\tc\nX\td\n\nX\ta\tb\nY\tc\nX\td\n\n", None, &options);
    assert_eq!((checked.files[0].words, finding(&checked, "before").2), (None, Some(5)));
    let options = CheckOptions { format: Some(Kind::Words), ..plain() };
    let checked = look("ab c\nd efg\n", None, &options);
    assert!(checked.findings.iter().all(|f| !f.what.contains("scheme")));
}

#[test]
fn what_cannot_be_read_is_the_readers_error() {
    let empty = check(input_from_text("train", "").unwrap(), None, &plain()).unwrap_err();
    assert!(empty.to_string().starts_with("train: the file is empty"), "{empty}");
    let short = check(input_from_text("train", "a X\nb\n").unwrap(), None, &plain()).unwrap_err();
    assert!(short.to_string().starts_with("train:2: "), "{short}");
}

/// Words and labels of sentences.
fn sentences() -> impl Strategy<Value = Vec<Vec<(char, char)>>> {
    let token = (prop::char::range('a', 'c'), prop::char::range('X', 'Z'));
    prop::collection::vec(prop::collection::vec(token, 1..5), 1..20)
}

proptest! {
    #[test]
    fn counts_are_those_of_a_slow_count(train in sentences(), dev in sentences()) {
        let text = |sentences: &[Vec<(char, char)>]| {
            let row = |(word, label): &(char, char)| format!("{word} {label}\n");
            sentences.iter().map(|s| s.iter().map(row).collect::<String>() + "\n").collect::<String>()
        };
        let checked = look(&text(&train), Some(&text(&dev)), &plain());
        let words = |s: &Vec<(char, char)>| s.iter().map(|t| t.0).collect::<String>();
        let known: BTreeSet<String> = train.iter().map(words).filter(|s| s.len() > 2).collect();
        let shared = dev.iter().filter(|s| known.contains(&words(s))).count();
        let repeated = train.iter().filter(|s| s.len() > 2).count() - known.len();
        let told = |what: &str| {
            let f = checked.findings.iter().find(|f| f.what.contains(what));
            f.map_or(0, |f| f.what.split(' ').next().unwrap().parse().unwrap())
        };
        prop_assert_eq!(told("in train too"), shared);
        prop_assert_eq!(told("before; the first is"), repeated);
        let all: BTreeMap<char, usize> = train.iter().flatten().fold(BTreeMap::new(), |mut all, t| {
            *all.entry(t.1).or_default() += 1;
            all
        });
        prop_assert_eq!(checked.files[0].labels, all.len() as u64);
        if all.len() > 1 {
            prop_assert_eq!(told("fewer than 5"), all.values().filter(|n| **n < 5).count());
        }
        let vocabulary: BTreeSet<char> = train.iter().flatten().map(|t| t.0).collect();
        let (mut unknown, mut tokens) = (0.0, 0.0);
        for (word, _) in dev.iter().flatten() {
            tokens += 1.0;
            unknown += f64::from(u8::from(!vocabulary.contains(word)));
        }
        prop_assert!((checked.files[1].unknown.unwrap() - 100.0 * unknown / tokens).abs() < 1e-9);
    }
}
