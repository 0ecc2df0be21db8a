//! The library as programs use it: examples run, and the short way gives the models of the long one.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::label::recipes::{DEFAULT_LEARNER, RECIPES};
use seqoia::{
    DataOptions, LabelTask, Labeller, LearnOptions, PairChoice, Passes, Run, Scheme, Sentences, Strength,
    TrainingSet, input_from_text,
};

#[path = "../examples/label_sentences.rs"]
mod label_sentences;
#[path = "../examples/rerank_lists.rs"]
mod rerank_lists;
#[path = "../examples/train_file.rs"]
mod train_file;

const TEMPLATE: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[0,1]\nB\n";

#[test]
fn examples_run() {
    label_sentences::main().unwrap();
    train_file::main().unwrap();
    rerank_lists::main().unwrap();
}

/// The generated corpus as sentences in memory: word and tag, chunks as labels.
fn sentences(text: &str) -> Sentences {
    let mut all = Sentences::new("mine");
    for sentence in text.split_terminator("\n\n") {
        let rows: Vec<Vec<&str>> = sentence.lines().map(|line| line.split([' ', '\t']).collect()).collect();
        let tokens: Vec<&[&str]> = rows.iter().map(|row| &row[..row.len() - 1]).collect();
        let labels: Vec<&str> = rows.iter().map(|row| row[row.len() - 1]).collect();
        all.add(&tokens, &labels).unwrap();
    }
    all
}

/// The model that a user of single parts gets.
fn by_hand(text: &str, data: &DataOptions, options: &LearnOptions) -> Vec<u8> {
    let set = TrainingSet::read(input_from_text("train", text).unwrap(), data).unwrap();
    let task = LabelTask::new(&set, None);
    let run = Run::new(&task, options).unwrap();
    run.model(&run.run(&mut (), &Arc::default()).unwrap()).unwrap()
}

fn file(model: &Labeller) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("m.seqoia")).unwrap();
    std::fs::read(folder.path().join("m.seqoia")).unwrap()
}

#[test]
fn the_short_way_is_the_long_one() {
    let text = generate::columns(1, 60);
    let mut data = DataOptions { cutoff: 2, pairs: Some(PairChoice::All), ..DataOptions::default() };
    data.features.templates.push(("template".to_owned(), TEMPLATE.to_owned()));
    let learner = seqoia::learners::find("adagrad").unwrap();
    let settings = learner.check(&[("rate".to_owned(), "0.3".to_owned())]).unwrap();
    let options =
        LearnOptions { passes: Some(Passes::Exactly(2)), seed: 7, ..LearnOptions::new(learner, settings) };
    let long = by_hand(&text, &data, &options);

    let training = |threads: usize| {
        let input = input_from_text("train", &text).unwrap();
        let training = Labeller::train(input).template(TEMPLATE).cutoff(2).pairs(PairChoice::All);
        training.learner("adagrad").set("rate", 0.3).passes(2).seed(7).threads(threads).fit().unwrap()
    };
    assert!(file(&training(1)) == long);
    assert!(file(&training(3)) == long);
}

#[test]
fn sentences_in_memory_give_the_labels_that_a_file_gives() {
    let (text, test) = (generate::columns(1, 80), generate::columns(2, 30));
    let train = |source: seqoia::Source| {
        Labeller::train(source).template(TEMPLATE).learner("averaged-perceptron").fit().unwrap()
    };
    let of_file = train(input_from_text("train", &text).unwrap().into());
    let of_memory = train(sentences(&text).into());
    let label = |model: &Labeller| model.predictor().label_sentences(sentences(&test)).unwrap();
    assert_eq!(label(&of_file), label(&of_memory));
    let scores = |model: &Labeller| model.score(input_from_text("test", &test).unwrap()).unwrap();
    assert_eq!(scores(&of_file), scores(&of_memory));
    assert_eq!(scores(&of_file)[0].name, "f1");
}

#[test]
fn weights_documents_and_dev_data_count_in_memory_as_in_a_file() {
    let read = |seed: u64, weights: bool, documents: bool| {
        let (mut lines, mut memory) = (String::new(), Sentences::new("mine"));
        for (i, sentence) in (0_u32..).zip(generate::columns(seed, 60).split_terminator("\n\n")) {
            let rows: Vec<Vec<&str>> = sentence.lines().map(|line| line.split(' ').collect()).collect();
            let tokens: Vec<&str> = rows.iter().map(|row| row[0]).collect();
            let labels: Vec<&str> = rows.iter().map(|row| row[row.len() - 1]).collect();
            let weight = if weights { f64::from(i % 3) + 0.5 } else { 1.0 };
            let document = if documents { i / 5 } else { i };
            if documents && i.is_multiple_of(5) {
                memory.document();
            }
            memory.weight(weight).unwrap();
            memory.add(&tokens, &labels).unwrap();
            let line = serde_json::json!({
                "tokens": tokens, "labels": labels, "weight": weight, "document": document,
            });
            lines += &format!("{line}\n");
        }
        (input_from_text("train", &lines).unwrap(), memory)
    };
    let fit = |train: seqoia::Source, dev: seqoia::Source| {
        let model = Labeller::train(train).features("ner").dev(dev).learner("sgd").passes(3).fit().unwrap();
        let best = model.predictor().nbest(&["the", "old", "dog", "sleeps"], 1).unwrap();
        (best[0].score.to_bits(), model.head().scores.clone(), model.head().best_pass)
    };
    let mut found = vec![];
    for (weights, documents) in [(true, true), (false, true), (true, false)] {
        let ((file, memory), (dev_file, dev_memory)) =
            (read(1, weights, documents), read(2, false, documents));
        found.push(fit(file.into(), dev_file.into()));
        assert_eq!(found[found.len() - 1], fit(memory.into(), dev_memory.into()), "{weights} {documents}");
    }
    assert!(found[0] != found[1] && found[0] != found[2], "they mean nothing here");
}

#[test]
fn every_sentence_has_its_answer() {
    let model = Labeller::train(sentences(&generate::columns(1, 40))).template(TEMPLATE).fit().unwrap();
    let mut predictor = model.predictor();
    let (first, last) = ([["the", "DT"], ["dog", "NN"]], [["a", "DT"]]);
    let mut asked = Sentences::new("asked");
    asked.add_unlabelled::<[&str; 2]>(&[]).unwrap();
    asked.add_unlabelled(&first).unwrap();
    asked.add_unlabelled::<[&str; 2]>(&[]).unwrap();
    asked.add_unlabelled(&last).unwrap();
    asked.add_unlabelled::<[&str; 2]>(&[]).unwrap();
    let wanted = [vec![], predictor.label(&first).unwrap(), vec![], predictor.label(&last).unwrap(), vec![]];
    assert_eq!(predictor.label_sentences(asked).unwrap(), wanted);
    assert!(predictor.label_sentences(Sentences::new("none")).unwrap().is_empty());
    let mut empty = Sentences::new("empty");
    empty.add_unlabelled::<&str>(&[]).unwrap();
    assert_eq!(predictor.label_sentences(empty).unwrap(), [Vec::<String>::new()]);
}

#[test]
fn a_set_brings_its_recipe_and_what_is_said_replaces_its_part() {
    let text = generate::columns(1, 40);
    let train = || Labeller::train(input_from_text("train", &text).unwrap());
    let chunking = RECIPES.iter().find(|recipe| recipe.set == "chunking").unwrap();
    let says = |model: &Labeller, name: &str| model.head().training[name].clone();

    let model = train().features("chunking").fit().unwrap();
    assert_eq!(says(&model, "learner"), chunking.learn.learner);
    assert_eq!((model.head().passes, says(&model, "pairs")), (chunking.learn.passes, "all".to_owned()));
    assert_eq!(model.meta().model_scheme.as_deref(), chunking.scheme.map(Scheme::name));

    let model = train().features("chunking").scheme(Scheme::Iob2).passes(1).fit().unwrap();
    assert_eq!((model.meta().model_scheme.as_deref(), model.head().passes), (Some("iob2"), 1));

    let model = train().features("chunking").learner("perceptron").fit().unwrap();
    assert_eq!((says(&model, "learner"), says(&model, "pairs")), ("perceptron".into(), "all".into()));
    assert_eq!(model.meta().model_scheme.as_deref(), chunking.scheme.map(Scheme::name));

    let model = train().features("chunking").l2(Strength::OverN(1.0)).passes(2).fit().unwrap();
    assert_eq!(says(&model, "learner"), "lbfgs");
    let model = train().features("ner-001").passes(1).fit().unwrap();
    assert_eq!((says(&model, "learner"), says(&model, "pairs")), (DEFAULT_LEARNER.into(), "observed".into()));
}

#[test]
fn a_recipe_leaves_labels_alone_that_are_not_chunks_or_are_spoken_of() {
    let text = generate::columns(1, 30);
    let words: String =
        text.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ") + "\n").collect();
    let train = |text: &str| Labeller::train(input_from_text("train", text).unwrap()).features("ner");
    let tagger = train(&words).passes(1).fit().unwrap();
    assert_eq!(tagger.meta().model_scheme, None);
    let weighted =
        train(&text).passes(1).data_options(|data| data.label_weights = vec![("B-NP".into(), 2.0)]);
    assert_eq!(weighted.fit().unwrap().meta().model_scheme.as_deref(), Some("iob2"));
}

#[test]
fn what_is_wrong_is_told_as_data() {
    let train =
        || Labeller::train(input_from_text("train", &generate::columns(1, 5)).unwrap()).template(TEMPLATE);
    let wrong = |training: seqoia::Training| match training.fit().err().unwrap() {
        seqoia::Error::Option(bad) => (bad.option, bad.value),
        other => panic!("{other}"),
    };
    assert_eq!(wrong(train().label("xops")), ("label".to_owned(), "xops".to_owned()));
    assert_eq!(wrong(train().learner("sgd").set("rate", -1)), ("rate".to_owned(), "-1".to_owned()));
    assert_eq!(wrong(train().set("history", 3)).0, "history");
    let missing = Labeller::train("no/such/file.txt").template(TEMPLATE).fit().err().unwrap();
    assert!(matches!(&missing, seqoia::Error::Data(error) if error.file == "no/such/file.txt"), "{missing}");
}

/// A word with its first letter for a tag: templates read the word alone.
#[test]
fn tokens_have_what_the_model_reads_or_all_columns() {
    let rows = [["D", "the", "t"], ["N", "dog", "d"], ["V", "barks", "b"]];
    let text = |order: [usize; 3]| {
        rows.iter().map(|row| order.map(|i| row[i]).join(" ") + "\n").collect::<String>() + "\n"
    };
    let train = |order: [usize; 3], column: &str| {
        let word = order.iter().position(|i| *i == 1).unwrap();
        let input = input_from_text("train", &text(order)).unwrap();
        let training = Labeller::train(input).label(column).template(&format!("U0:%x[0,{word}]\n"));
        training.learner("perceptron").fit().unwrap()
    };
    let first = train([0, 1, 2], "0");
    let mut first = first.predictor();
    assert_eq!(first.label(&["the", "dog", "barks"]).unwrap(), ["D", "N", "V"]);
    assert_eq!(first.label(&[["?", "the", "t"], ["?", "dog", "d"]]).unwrap(), ["D", "N"]);
    // Column 1 is the word, and the field 1 is not.
    let error = first.label(&[["the", "t"], ["dog", "d"]]).unwrap_err().to_string();
    assert!(error.contains("2 fields") && error.contains("column 1, or all 3"), "{error}");
    assert!(first.label(&[["the", "t", "x", "y"]]).is_err());

    let last = train([1, 2, 0], "2");
    let mut last = last.predictor();
    assert_eq!(last.label(&["the", "dog"]).unwrap(), ["D", "N"]);
    assert_eq!(last.label(&[["the", "t"], ["dog", "d"]]).unwrap(), ["D", "N"]);
    assert_eq!(last.label(&[["the", "t", "_"]]).unwrap(), ["D"]);
    assert!(last.label(&[["the", "t", "x", "y"]]).is_err());
}

/// Segmentation is learned from segmented text, or from characters with their labels.
#[test]
fn a_recipe_knows_the_format_of_its_data() {
    let text = "a bc d\nbc a\nd bc a\n".repeat(5);
    let of_text = Labeller::train(input_from_text("train", &text).unwrap());
    let of_text = of_text.features("segmentation").fit().unwrap();
    assert_eq!((of_text.kind(), of_text.meta().columns), (Kind::Words, 2));
    let mut characters = Sentences::new("mine");
    for line in text.lines() {
        let (mut tokens, mut labels) = (vec![], vec![]);
        for word in line.split(' ') {
            tokens.extend(word.chars().map(String::from));
            labels.extend_from_slice(if word.len() == 1 { &["S"][..] } else { &["B", "E"] });
        }
        characters.add(&tokens, &labels).unwrap();
    }
    let of_memory = Labeller::train(characters).features("segmentation").fit().unwrap();
    let label = |model: &Labeller| model.predictor().label(&["a", "b", "c", "d"]).unwrap();
    assert_eq!(label(&of_text), ["S", "B", "E", "S"]);
    assert_eq!(label(&of_text), label(&of_memory));
}
