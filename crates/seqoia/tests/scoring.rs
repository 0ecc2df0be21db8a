//! One scorer: the score of the pass that was kept, of a trial of the model, and of what `predict` writes with
//! it are the same number, in every scheme and format.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia::core::{Judge, Score};
use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::data::open::Input;
use seqoia::data::scheme::{self, Scheme};
use seqoia::eval::Unit;
use seqoia::label::{DevJudge, try_out};
use seqoia::score::{self, Evaluated};
use seqoia::{DataOptions, LabelColumn};
use seqoia_strategies::Crew;
use seqoia_testkit::labelling::{corpus, dev as held_out, fit, label, passes, read, templates};

fn input(name: &str, text: &str) -> Input {
    seqoia::input_from_text(name, text).unwrap()
}

/// The corpus with another column as the label, which is no chunk label.
fn tags(seed: u64, sentences: usize) -> String {
    let row = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ") + "\n";
    generate::columns(seed, sentences).lines().map(row).collect()
}

/// The words of the corpus written with blanks between them, and no others: text to be cut into words.
fn words(seed: u64, sentences: usize) -> String {
    let text = generate::columns(seed, sentences);
    let line = |s: &str| s.lines().map(|row| row.split(' ').next().unwrap()).collect::<Vec<_>>().join(" ");
    text.split_terminator("\n\n").map(|sentence| line(sentence) + "\n").collect()
}

fn scores(evaluated: &Evaluated) -> Vec<Score> {
    let accuracy = Score::gain("accuracy", evaluated.scored.accuracy.tokens());
    match evaluated.unit {
        Unit::Tokens => vec![accuracy],
        _ => vec![Score::gain("f1", evaluated.scored.spans.f1()), accuracy],
    }
}

/// Chunks of the gold, those found and those of both, collected and compared.
fn counted(evaluated: &Evaluated) -> (u64, u64, u64) {
    let labels: Vec<&str> =
        evaluated.sentences.iter().flat_map(|s| &s.tokens).map(|t| t.gold.as_str()).collect();
    let has = |letter: &str| labels.iter().any(|label| label.starts_with(letter));
    // All that counts for reading is which letters there are.
    let scheme = if has("M-") {
        Scheme::Bmes
    } else if has("S-") {
        Scheme::Iobes
    } else {
        Scheme::Bie
    };
    let mut counts = (0, 0, 0);
    for sentence in &evaluated.sentences {
        let (gold, found): (Vec<&str>, Vec<&str>) =
            sentence.tokens.iter().map(|token| (token.gold.as_str(), token.found.as_str())).unzip();
        let (gold, found) = (scheme::spans(scheme, &gold), scheme::spans(scheme, &found));
        let both = gold.iter().filter(|chunk| found.contains(chunk)).count();
        counts = (counts.0 + gold.len() as u64, counts.1 + found.len() as u64, counts.2 + both as u64);
    }
    counts
}

/// Trains, and asks for the scores in every way there is.
fn agree(train: &str, dev: &str, data: &DataOptions, what: &str) -> Vec<Score> {
    let set = read(train, data);
    let fitted = fit(&set, Some(&held_out(dev, &set)), &passes("perceptron", 2));
    let (model, trained) = (fitted.labeller(), fitted.trained);
    assert_eq!(try_out(&model, input("dev", dev)).unwrap().scores[0], trained.scores[0], "{what}");
    let out = label(&model, dev, 1);
    let against = score::compare(input("dev", dev), input("out", &out), data.format, &LabelColumn::Last);
    assert_eq!(scores(&against.unwrap()), trained.scores, "{what}");
    if data.format != Some(Kind::Words) {
        let beside = score::last_two("out", out.as_bytes(), false).unwrap();
        assert_eq!(scores(&beside), trained.scores, "{what}");
        if beside.unit == Unit::Chunks {
            let (gold, found, both) = counted(&beside);
            let spans = &beside.scored.spans;
            assert_eq!((spans.gold, spans.found, spans.correct), (gold, found, both), "{what}");
        }
    }
    trained.scores
}

fn columns() -> DataOptions {
    templates("U0:%x[0,0]\nU1:%x[-1,0]\nB\n")
}

#[test]
fn all_ask_one_scorer() {
    for file in Scheme::ALL {
        let (train, dev) = (corpus(1, 150, file), corpus(2, 80, file));
        for model in [None].into_iter().chain(Scheme::ALL.map(Some)) {
            let data = DataOptions { scheme: model, ..columns() };
            let found = agree(&train, &dev, &data, &format!("{} in {model:?}", file.name()));
            assert!(found[0].name == "f1" && (20.0..100.0).contains(&found[0].value), "{found:?}");
        }
    }
    let found = agree(&tags(1, 150), &tags(2, 80), &columns(), "tags");
    assert_eq!(found.iter().map(|score| score.name).collect::<Vec<_>>(), ["accuracy"]);
    let mut data = DataOptions { format: Some(Kind::Words), ..DataOptions::default() };
    data.features.sets.push("segmentation".to_owned());
    for model in [None, Some(Scheme::Iob2)] {
        data.scheme = model;
        let found = agree(&words(1, 150), &words(2, 80), &data, "words");
        assert!(found[0].name == "f1" && (20.0..100.0).contains(&found[0].value), "{found:?}");
    }
}

#[test]
fn weights_that_are_saved_as_the_same_score_the_same() {
    let (train, dev) = (corpus(1, 60, Scheme::Iob2), corpus(2, 60, Scheme::Iob2));
    let set = read(&train, &columns());
    let held_out = held_out(&dev, &set);
    let mut judge = DevJudge::new(&held_out, &set, Arc::new(Crew::new(2)));
    let weights = set.space.view().weights();
    let nearly: Vec<f64> = (0..weights).map(|i| 1.0 + 1e-12 * f64::from(u8::from(i % 3 == 0))).collect();
    assert_eq!(judge.scores(&nearly).unwrap(), judge.scores(&vec![1.0; weights]).unwrap());
}

#[test]
fn a_labelling_without_chunks_has_no_recall() {
    let compared = |gold: &str, found: &str| {
        score::compare(input("gold", gold), input("found", found), None, &LabelColumn::Last).unwrap()
    };
    let nothing = compared("a S-X\nb O\n", "a O\nb O\n");
    assert_eq!((nothing.unit, nothing.scored.spans.gold, nothing.scored.spans.found), (Unit::Chunks, 1, 0));
    // Labels are read in their own scheme where that of the gold has not their letters.
    let other = compared("a B-X\nb I-X\nc B-X\n", "a B-X\nb E-X\nc S-X\n");
    assert_eq!((other.scored.spans.correct, other.scored.spans.found), (2, 2));
    // Segmented text is in its scheme, though every word be a letter.
    let letters =
        score::compare(input("g", "a b\n"), input("f", "a b\n"), Some(Kind::Words), &LabelColumn::Last);
    assert_eq!(letters.unwrap().scored.spans.correct, 2);
    // Labels without prefixes are those of the file.
    let raw = compared("a S-X\nb O\n", "a B-X\nb O\n").raw();
    assert_eq!((raw.scored.spans.types.len(), raw.scored.spans.correct), (2, 0));
}

#[test]
fn columns_are_read_as_training_reads_them() {
    let score = |text: &str| score::last_two("out", text.as_bytes(), false).map(|e| e.scored);
    let plain = score("In IN O O\nRome NNP B-X B-X\n\nThe DT O B-X\n").unwrap();
    for other in [
        "In    IN  O   O\nRome  NNP B-X B-X\n\nThe DT O   B-X\n",
        "-DOCSTART- -X- O O\n\nIn IN O O\nRome NNP B-X B-X\n-DOCSTART- -X- O O\nThe DT O B-X\n",
        "-DOCSTART-\n\nIn IN O O\nRome NNP B-X B-X\n\nThe DT O B-X",
    ] {
        assert_eq!(score(other).unwrap(), plain, "{other:?}");
    }
    let gold = |text: &str| {
        let row = |line: &str| line.rsplit_once(' ').map_or("", |row| row.0.trim_end()).to_owned() + "\n";
        text.lines().map(row).collect::<String>()
    };
    let text = "-DOCSTART- -X- O O\n\nIn IN O O\nRome NNP B-X O\n";
    let against =
        score::compare(input("g", &gold(text)), input("f", text), None, &LabelColumn::Last).unwrap();
    assert_eq!(against.scored, score(text).unwrap());
    let error = |text: &str| score(text).unwrap_err().to_string();
    assert!(error("a\nb\n").starts_with("out: found 1 column; the last two are the gold label"));
    let conllu = "1\tThe\tthe\tDET\tDT\t_\t0\troot\t_\t_\n";
    assert_eq!(
        error(conllu),
        "out: conllu holds one labelling only, and two are compared\n  \
         help: give the file with the right labels: `gold FILE` `label COLUMN`"
    );
    let as_columns = score::last_two_of(input("out", conllu), Some(Kind::Columns), false).unwrap();
    assert_eq!(as_columns.scored.accuracy.tokens(), 100.0);
}

#[test]
fn words_are_found_in_every_format() {
    let words = |gold: &str, kind, label: &LabelColumn| {
        let found = score::compare(input("g", gold), input("f", gold), kind, label).unwrap();
        let words = found.sentences.iter().flat_map(|s| &s.tokens).map(|token| token.word.clone());
        words.collect::<Vec<_>>()
    };
    let row = "1\tThe\t_\tDT\tDT\t_\t0\tx\t_\t_\n";
    for kind in [Kind::Conllu, Kind::Conllx] {
        assert_eq!(words(row, Some(kind), &LabelColumn::Number(4)), ["The"]);
    }
    assert_eq!(words("X a\nY b\n", None, &LabelColumn::Number(0)), ["a", "b"]);
    assert_eq!(words("X\ta\n", Some(Kind::Crfsuite), &LabelColumn::Last), [""]);
    // Beside predictions that were added behind the word.
    let (gold, found) = (input("g", "X a\nY b\n"), input("f", "X a X\nY b X\n"));
    let found = score::compare(gold, found, None, &LabelColumn::Number(0)).unwrap();
    assert_eq!((found.sentences[0].tokens[1].word.as_str(), found.scored.accuracy.tokens()), ("b", 50.0));
}

#[test]
fn what_is_no_labelling_of_these_sentences_is_refused() {
    let error = |gold: &str, found: &str, label: &LabelColumn| {
        let found = score::compare(input("g", gold), input("f", found), None, label);
        found.err().unwrap().to_string()
    };
    let marginals = "\na N O O 0.9\nb V B-X O 0.75\n";
    assert_eq!(
        error("a N O\nb V B-X\n", marginals, &LabelColumn::Last),
        "f:2: the last column holds numbers, not labels\n  \
         help: label without `marginals`: the last column must be the predicted label"
    );
    assert!(
        error("a N O\nb V B-X\n", marginals, &LabelColumn::Number(2))
            .starts_with("f: 5 columns, where g has 3; one more is wanted")
    );
    assert_eq!(
        error("a N O\n\nb V O\n", "a N O\n\nc V O\n", &LabelColumn::Last),
        "f:3: the word is c, but b in g:3\n  help: both files must hold the same sentences, in the same order"
    );
    // Numbers may be labels.
    let numbers = score::compare(input("g", "a 1\n"), input("f", "a 1 2\n"), None, &LabelColumn::Last);
    assert_eq!(numbers.unwrap().scored.accuracy.tokens(), 0.0);
}
