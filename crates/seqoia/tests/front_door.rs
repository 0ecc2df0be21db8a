//! The library as programs use it: examples run, and the short way gives the models of the long one.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia::data::generate;
use seqoia::label::recipes::{DEFAULT_LEARNER, RECIPES};
use seqoia::{
    DataOptions, LabelTask, Labeller, LearnOptions, PairChoice, Passes, Recipe, Run, Scheme, Sentences,
    Strength, TrainingSet, Wish, input_from_text,
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
    let wanted =
        [vec![], predictor.label(&first).unwrap(), vec![], predictor.label(&last).unwrap(), vec![]];
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

#[test]
fn every_recipe_trains_on_the_data_of_its_set() {
    for recipe in RECIPES {
        let options = Wish::default().options(Some(&recipe.learn), DEFAULT_LEARNER).unwrap();
        let mut data = DataOptions { recipe: Some(recipe), ..DataOptions::default() };
        data.features.sets.push(recipe.set.to_owned());
        assert_eq!(Recipe::of(&data.features), Some(recipe));
        by_hand(&generate::columns(1, 10), &data, &options);
    }
}
