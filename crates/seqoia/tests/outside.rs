//! Examples on disk give the model that examples in memory give, bit for bit; and what goes wrong with them is told.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::cell::Cell;
use std::path::Path;

use seqoia::data::disk::Scratch;
use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::data::open::Input;
use seqoia::label::{Again, Limit, read_within};
use seqoia::learners::LEARNERS;
use seqoia::{
    ChainOptions, DataOptions, DevSet, LearnOptions, PairChoice, Passes, RuleChoice, Scheme, TrainingSet,
};
use seqoia_testkit::files::{Kept, resuming};
use seqoia_testkit::labelling::{fit, in_batches, learner, passes, read, templates, try_fit};

const TEMPLATES: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[0,1]\nU3:%x[-1,1]/%x[0,1]\nU4:%x[0,0]/%x[1,0]\nB\n";

fn limit(folder: &Path) -> Limit {
    Limit { bytes: 100 << 20, scratch: Scratch::new(folder), always: true }
}

fn again(text: &str) -> Again {
    let text = text.to_owned();
    Again::new("test", move || Ok(Input::from_bytes("test", text.clone())?))
}

/// A set whose examples lie on disk, with its dev data.
fn outside(
    folder: &Path,
    text: &str,
    dev: Option<&str>,
    data: &DataOptions,
    learn: &LearnOptions,
) -> (TrainingSet, Option<DevSet>) {
    let dev = dev.map(again);
    let mut learn = learn.clone();
    let chain = ChainOptions::default();
    read_within(&again(text), dev.as_ref(), data, chain, &mut learn, &limit(folder)).unwrap()
}

/// Whatever is read, and on however many threads.
#[test]
fn all_data_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let columns = generate::columns(1, 300);
    let numbers: String = columns
        .lines()
        .map(|line| match line.rsplit_once(' ') {
            Some((rest, label)) => format!("{rest} {} {label}\n", line.len()),
            None => "\n".to_owned(),
        })
        .collect();
    let (mut given, mut weighted, mut json, mut words) =
        (String::new(), String::new(), String::new(), String::new());
    for (i, sentence) in columns.split("\n\n").filter(|s| !s.trim().is_empty()).enumerate() {
        let rows: Vec<Vec<&str>> = sentence.lines().map(|row| row.split(' ').collect()).collect();
        weighted += &format!("@weight\t{}\n", 1 + i % 3);
        for (t, row) in rows.iter().enumerate() {
            let (word, label) = (row[0].replace([':', '\\'], "_"), row[row.len() - 1]);
            let value = if i > 200 && t == 1 { ":0.5" } else { "" };
            given += &format!("{label}\tw={word}{value}\tn={}\n", word.len());
            weighted += &format!("{label}\tw={word}\n");
            words += if t == 0 { "" } else { " " };
            words += &word;
        }
        given.push('\n');
        weighted.push('\n');
        words.push('\n');
        let list =
            |field: &dyn Fn(&Vec<&str>) -> String| rows.iter().map(field).collect::<Vec<_>>().join(",");
        let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '\\'], "_"));
        json += &format!(
            "{{\"tokens\":[{}],\"labels\":[{}]}}\n",
            list(&|row| quoted(row[0])),
            list(&|row| quoted(row[row.len() - 1]))
        );
    }
    let plain = || templates(TEMPLATES);
    let with = |change: &dyn Fn(&mut DataOptions)| {
        let mut options = plain();
        change(&mut options);
        options
    };
    let crfsuite = || DataOptions { format: Some(Kind::Crfsuite), ..DataOptions::default() };
    let set = |name: &str| {
        let mut options = DataOptions::default();
        options.features.sets.push(name.to_owned());
        options
    };
    let value_templates = templates("U0:%x[0,0]\nU1:%x[-1,0]=%v[-1,2]\nU2:%x[0,1]=%v[0,2]\nB\nB1:%x[0,1]\n");
    let unknown: String = columns
        .lines()
        .enumerate()
        .map(|(i, line)| match line.rsplit_once(' ') {
            Some((rest, _)) if i % 11 == 0 => format!("{rest} _\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let segmentation = {
        let mut options = set("segmentation");
        options.features.own_words = true;
        options
    };
    let three_columns: String = numbers
        .lines()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [word, pos, .., number, label] => format!("{word} {pos} {number} {label}\n"),
            _ => "\n".to_owned(),
        })
        .collect();
    for (name, text, data) in [
        ("columns", &columns, plain()),
        ("another scheme", &columns, with(&|o| o.scheme = Some(Scheme::Iobes))),
        ("rules", &columns, with(&|o| o.rules = Some(RuleChoice::Scheme(Scheme::Iob2)))),
        ("all pairs", &columns, with(&|o| o.pairs = Some(PairChoice::All))),
        ("a set", &columns, set("chunking")),
        ("documents", &columns, set("ner")),
        ("known in part", &unknown, with(&|o| o.partial = Some("_".to_owned()))),
        ("weights of labels", &columns, with(&|o| o.label_weights = vec![("O".to_owned(), 0.5)])),
        ("values and edges", &three_columns, value_templates),
        ("ready attributes", &given, crfsuite()),
        ("weights", &weighted, crfsuite()),
        ("lines of JSON", &json, templates("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n")),
        ("words", &words, segmentation),
    ] {
        for cutoff in [1, 2, 5] {
            let data = DataOptions { cutoff, ..data.clone() };
            let learn = passes("averaged-perceptron", 2);
            let expected = fit(&read(text, &data), None, &learn).bytes;
            for threads in [1, 2, 3, 8] {
                let data = DataOptions { threads: Some(threads), ..data.clone() };
                let (set, _) = outside(folder.path(), text, None, &data, &learn);
                assert!(set.within.as_ref().unwrap().is_on_disk());
                let found = fit(&set, None, &LearnOptions { threads, ..learn.clone() }).bytes;
                assert!(found == expected, "{name}, cut-off {cutoff}, {threads} threads");
            }
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// With dev data, in batches, and with what learners remember of each example on disk.
#[test]
fn every_learner_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let (text, dev) = (generate::columns(1, 120), generate::columns(2, 40));
    let data = DataOptions { cutoff: 2, ..templates(TEMPLATES) };
    for entry in LEARNERS {
        let sizes = if entry.profile(&entry.defaults()).takes_batches() { vec![1, 7] } else { vec![1] };
        for size in sizes {
            let mut learn = LearnOptions { threads: 2, ..passes(entry.name, 3) };
            if size > 1 {
                learn = in_batches(learn, size);
            }
            let set = read(&text, &data);
            let held_out = seqoia_testkit::labelling::dev(&dev, &set);
            let expected = fit(&set, Some(&held_out), &learn).bytes;
            let (set, held_out) = outside(folder.path(), &text, Some(&dev), &data, &learn);
            for shelves in [false, true] {
                let found = fit(&set, held_out.as_ref(), &LearnOptions { shelves, ..learn.clone() }).bytes;
                assert!(found == expected, "{} in batches of {size}, shelves {shelves}", entry.name);
            }
        }
    }
}

#[test]
fn a_run_goes_on_wherever_its_examples_lie() {
    let folder = tempfile::tempdir().unwrap();
    let (text, data) = (generate::columns(1, 120), templates(TEMPLATES));
    for name in ["averaged-perceptron", "adagrad", "saga", "lbfgs"] {
        let learn = |n| LearnOptions {
            passes: Some(Passes::Exactly(n)),
            checkpoint_every: Some(1),
            ..learner(name, &[])
        };
        let memory = read(&text, &data);
        let (disk, _) = outside(folder.path(), &text, None, &data, &learn(4));
        let straight = fit(&memory, None, &learn(4)).bytes;
        for (first, second) in [(&memory, &disk), (&disk, &memory), (&disk, &disk)] {
            let mut kept = Kept::default();
            try_fit(first, None, &learn(2), ChainOptions::default(), &mut kept).unwrap();
            let resumed = fit(second, None, &resuming(&learn(4), &kept.files[&2])).bytes;
            assert!(resumed == straight, "{name}");
        }
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = generate::columns(1, 50);
    let one_word = text.replacen("the ", "teh ", 1);
    assert_ne!(one_word, text);
    let others = [
        generate::columns(1, 51),
        one_word,
        format!("{text}\n{}\n", text.lines().next().unwrap()),
        text.replace(' ', "\t"),
        text.replace(' ', " x "),
        text[..text.len() / 2].to_owned(),
        String::new(),
    ];
    for cutoff in [1, 2] {
        for other in &others {
            let (texts, opened) = ([text.clone(), other.clone()], Cell::new(0));
            let changing = Again::new("test", move || {
                opened.set(opened.get() + 1);
                Ok(Input::from_bytes("test", texts[(opened.get() - 1).min(1)].clone())?)
            });
            let data = DataOptions { cutoff, ..templates(TEMPLATES) };
            let mut learn = passes("perceptron", 1);
            let read = read_within(
                &changing,
                None,
                &data,
                ChainOptions::default(),
                &mut learn,
                &limit(folder.path()),
            );
            let error = read.err().unwrap().to_string();
            assert!(error.contains("has changed"), "cut-off {cutoff}: {error}");
        }
    }
}

#[test]
fn a_limit_that_is_too_small_says_what_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let (text, data) = (generate::columns(1, 300), templates(TEMPLATES));
    for name in ["averaged-perceptron", "saga", "lbfgs"] {
        let read = |bytes: usize| {
            let limit = Limit { bytes, ..limit(folder.path()) };
            let mut learn = passes(name, 1);
            read_within(&again(&text), None, &data, ChainOptions::default(), &mut learn, &limit)
        };
        let mut error = read(1_000_000).err().unwrap().to_string();
        let mut steps = 0;
        let enough = loop {
            let (_, least) = error.split_once("`memory-limit ").unwrap();
            let least: usize = least.split_once('M').unwrap().0.parse().unwrap();
            match read(least * 1_000_000) {
                Ok(_) => break least,
                Err(e) => error = e.to_string(),
            }
            steps += 1;
            assert!(steps < 3, "{error}");
        };
        assert!(read((enough - 1) * 1_000_000).is_err(), "{name}: {enough}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let limit = limit(&folder.path().join("none"));
    let mut learn = passes("perceptron", 1);
    let text = again(&generate::columns(1, 20));
    let read = read_within(&text, None, &templates(TEMPLATES), ChainOptions::default(), &mut learn, &limit);
    assert!(read.err().unwrap().to_string().contains("no temporary file can be made here"));
}
