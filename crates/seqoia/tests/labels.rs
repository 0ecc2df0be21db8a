//! Laws of what labels may be: rules hold in every output, given labels stand in it, labels known in
//! part train, and weights and costs of labels move what is found.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::fmt::Write;
use std::sync::Arc;

use seqoia::data::generate;
use seqoia::data::rules::RuleTable;
use seqoia::data::scheme::Scheme;
use seqoia::label::{Output, PredictOptions};
use seqoia::learners::LEARNERS;
use seqoia::structures::chain::Precision;
use seqoia::{
    ChainOptions, DataOptions, Error, Labeller, LearnOptions, Predictor, RuleChoice, TrainingSet, score,
};
use seqoia_testkit::labelling::{
    Fitted, corpus, in_batches, label, learner, passes, templates, try_fit, try_label, try_read,
};

const TEMPLATES: &str = "U0:%x[0,0]\nU3:%x[0,1]\nU4:%x[-1,1]/%x[0,1]\nB\n";

fn read(text: &str, change: impl FnOnce(&mut DataOptions)) -> Result<TrainingSet, Error> {
    let mut options = templates(TEMPLATES);
    change(&mut options);
    try_read(text, &options)
}

fn train_with(set: &TrainingSet, name: &str, given: &[(&str, &str)]) -> Result<Fitted, Error> {
    let options = learner(name, given);
    let count = if options.profile().whole { 15 } else { 2 };
    let options = LearnOptions { passes: passes(name, count).passes, ..options };
    try_fit(set, None, &options, ChainOptions::default(), &mut ())
}

fn train(set: &TrainingSet, learner: &str) -> Labeller {
    train_with(set, learner, &[]).unwrap().labeller()
}

fn run(model: &Labeller, text: &str, output: Output, given: Option<&str>) -> Result<String, Error> {
    let given = given.map(str::to_owned);
    try_label(model, text, &PredictOptions { given, ..PredictOptions::new(output, 1) })
}

/// Last fields, sentence by sentence.
fn last_fields(text: &str) -> Vec<Vec<&str>> {
    let sentences = text.split("\n\n").filter(|s| !s.trim().is_empty());
    sentences
        .map(|s| {
            s.lines().filter(|l| !l.starts_with('#')).map(|l| l.rsplit([' ', '\t']).next().unwrap()).collect()
        })
        .collect()
}

fn legal(scheme: Scheme, labels: &[&str]) -> bool {
    let ends = std::iter::once(None).chain(labels.iter().copied().map(Some));
    let next = labels.iter().copied().map(Some).chain(std::iter::once(None));
    ends.zip(next).all(|(before, after)| scheme.permits(before, after))
}

#[test]
fn no_illegal_transition_is_ever_printed() {
    for scheme in [Scheme::Iob2, Scheme::Iobes] {
        let (train_text, test_text) = (corpus(1, 60, scheme), corpus(2, 60, scheme));
        let mut without = 0;
        for entry in LEARNERS {
            let set = |rules: bool| {
                read(&train_text, |o| o.rules = rules.then_some(RuleChoice::Scheme(scheme))).unwrap()
            };
            let ruled = train(&set(true), entry.name);
            let free = train(&set(false), entry.name);
            let labels = |model: &Labeller, output| run(model, &test_text, output, None).unwrap();
            for output in [Output::Text, Output::NBest(5)] {
                let text = labels(&ruled, output);
                assert!(last_fields(&text).iter().all(|l| legal(scheme, l)), "{}", entry.name);
            }
            let free = labels(&free, Output::NBest(5));
            without += last_fields(&free).iter().filter(|l| !legal(scheme, l)).count();
        }
        assert!(without > 0); // the rules are what does it
    }
}

/// Limits, costs, beams and single precision give the same bytes on any number of threads.
#[test]
fn threads_change_nothing_whatever_labels_are_held_to() {
    let text = hidden(&generate::columns(1, 120), 4);
    for entry in LEARNERS.iter().filter(|entry| !DUAL.contains(&entry.name)) {
        let has = |name: &str| entry.params.iter().any(|p| p.name == name);
        let set = read(&text, |o| {
            o.partial = Some("_".to_owned());
            o.rules = Some(RuleChoice::Scheme(Scheme::Iob2));
            o.label_weights = vec![("NP".to_owned(), 2.0)];
            o.label_costs.extend(has("cost").then(|| ("VP".to_owned(), 3.0)));
        })
        .unwrap();
        let profile = entry.profile(&entry.defaults());
        let settings = learner(entry.name, if has("cost") { &[("cost", "1")] } else { &[] }).settings;
        let model = |threads: usize| {
            let options = LearnOptions { threads, settings: settings.clone(), ..passes(entry.name, 3) };
            let options = if profile.takes_batches() { in_batches(options, 8) } else { options };
            let chain = ChainOptions {
                beam: has("update").then_some(3),
                precision: if profile.whole { Precision::F32 } else { Precision::F64 },
            };
            try_fit(&set, None, &options, chain, &mut ()).unwrap().bytes
        };
        let one = model(1);
        assert!([2, 3, 8].into_iter().all(|threads| model(threads) == one), "{}", entry.name);
    }
}

/// A model that was trained without rules keeps to those that it is given afterwards.
#[test]
fn rules_may_come_with_prediction() {
    let (train_text, test_text) = (generate::columns(1, 60), generate::columns(2, 60));
    let fitted = train_with(&read(&train_text, |_| ()).unwrap(), "perceptron", &[]).unwrap();
    let free = run(&fitted.labeller(), &test_text, Output::NBest(5), None).unwrap();
    assert!(!last_fields(&free).iter().all(|l| legal(Scheme::Iob2, l)));
    let bytes = &fitted.bytes;
    let again = || Labeller::from_bytes("m", bytes).unwrap();
    let ruled = Arc::new(again().with_rules(&RuleChoice::Scheme(Scheme::Iob2), "m").unwrap());
    let out = run(&ruled, &test_text, Output::NBest(5), None).unwrap();
    assert!(last_fields(&out).iter().all(|l| legal(Scheme::Iob2, l)));
    let error = again().with_rules(&RuleChoice::Scheme(Scheme::Iobes), "m").err().unwrap().to_string();
    assert!(error.contains("the labels of m are iob2"), "{error}");
}

#[test]
fn gold_that_breaks_the_rules_is_reported_and_allowed() {
    let text =
        "a N B-X\nb N I-X\n\nc N O\nd N I-X\n\ne N I-X\n\na N B-X\nb N O\n\na N B-X\nb N O\n\na N B-X\n";
    let text = text.to_owned() + &"\na N B-X\nb N I-X\nc N O\n".repeat(20);
    let rules = |o: &mut DataOptions| o.rules = Some(RuleChoice::Scheme(Scheme::Iob2));
    let set = read(&text, rules).unwrap();
    let broken = set.broken.clone().unwrap();
    assert_eq!((broken.sentences, broken.line, broken.what.as_str()), (2, 5, "I-X follows O"));
    for entry in LEARNERS {
        let model = train(&set, entry.name);
        let text = run(&model, &text, Output::Text, None).unwrap();
        assert!(last_fields(&text).iter().all(|l| legal(Scheme::Iob2, l)));
    }
    assert_eq!(read(&generate::columns(1, 30), rules).unwrap().broken, None);
}

#[test]
fn tables_of_rules_are_held() {
    let (train_text, test_text) = (generate::columns(1, 60), generate::columns(2, 30));
    let table = |text: &str| Some(RuleChoice::Table(RuleTable::parse("r", text).unwrap()));
    let set =
        read(&train_text, |o| o.rules = table("forbid * B-NP\nallow O B-NP\nforbid * </s>\nallow O </s>"));
    let model = train(&set.unwrap(), "adagrad");
    for labels in last_fields(&run(&model, &test_text, Output::Text, None).unwrap()) {
        assert_eq!(labels.last(), Some(&"O"));
        assert!(labels.iter().zip(labels.iter().skip(1)).all(|(a, b)| *b != "B-NP" || *a == "O"));
        assert_ne!(labels[0], "B-NP");
    }
    let error = read(&train_text, |o| o.rules = table("forbid O B-NPP")).err().unwrap().to_string();
    assert!(error.starts_with("r:1: there is no label 'B-NPP'") && error.contains("B-NP"), "{error}");
    // Rules that leave nothing are an error, not a label.
    let error = read(&train_text, |o| o.rules = table("forbid * </s>")).err().unwrap().to_string();
    assert!(error.starts_with("train:1: the rules allow no labelling of this sentence"), "{error}");
    // Here every sentence of the training data has one, but none of a single token has.
    let long = "a N x B-X\nb N x I-X\n\n".repeat(10);
    let set = read(&long, |o| o.rules = table("forbid <s> I-X\nforbid B-X </s>")).unwrap();
    let error = run(&train(&set, "adagrad"), "a N x B-X\n", Output::Text, None).unwrap_err().to_string();
    assert!(error.starts_with("test:1: the sentence has no labelling that the rules"), "{error}");
    let other = read(&train_text, |o| o.rules = Some(RuleChoice::Scheme(Scheme::Iobes))).err().unwrap();
    assert!(other.to_string().contains("are iob2"), "{other}");
}

#[test]
fn given_labels_are_kept_and_the_others_are_found() {
    let (train_text, test_text) = (generate::columns(1, 80), generate::columns(2, 40));
    for scheme in [None, Some(Scheme::Iobes)] {
        let set = read(&train_text, |o| o.scheme = scheme).unwrap();
        let model = train(&set, "adagrad");
        let partial: Vec<String> = test_text
            .lines()
            .enumerate()
            .map(|(i, line)| match line.rsplit_once([' ', '\t']) {
                Some((rest, _)) if i % 3 != 0 => format!("{rest} _"),
                _ => line.to_owned(),
            })
            .collect();
        let text = partial.join("\n") + "\n";
        let out = run(&model, &text, Output::Text, Some("_")).unwrap();
        let (mut kept, mut others) = (0, 0);
        for (given, line) in text.lines().zip(out.lines()).filter(|(given, _)| !given.is_empty()) {
            let given = given.rsplit([' ', '\t']).next().unwrap();
            let found = line.rsplit([' ', '\t']).next().unwrap();
            if given == "_" {
                others += 1;
                assert_ne!(found, "_");
            } else {
                kept += 1;
                assert_eq!(found, given);
            }
        }
        assert!(kept > 50 && others > 100);
        // Nothing given is plain prediction.
        let blank: String = text
            .lines()
            .map(|l| l.rsplit_once([' ', '\t']).map_or(String::from("\n"), |l| l.0.to_owned() + " _\n"))
            .collect();
        let plain = run(&model, &blank, Output::Marginals, None).unwrap();
        assert_eq!(run(&model, &blank, Output::Marginals, Some("_")).unwrap(), plain);
    }
    let set = read(&train_text, |_| ()).unwrap();
    let model = train(&set, "adagrad");
    // Rows of fields have no labels, whatever words look like.
    let rows: &[&[&str]] = &[&["O", "NN", "O"], &["_", "NN", "O"], &["B-NEW", "NN", "O"]];
    let plain = Predictor::new(&model).label(rows).unwrap();
    assert_eq!(Predictor::new(&model).with_known("_").label(rows).unwrap(), plain);
    let error = run(&model, "a NN x O\nb NN x B-NEW\n", Output::Text, Some("_")).unwrap_err().to_string();
    assert!(error.starts_with("test:2: the label 'B-NEW' is given"), "{error}");
    let error = run(&model, "a NN x\nb NN x\n", Output::Text, Some("_")).unwrap_err().to_string();
    assert!(error.starts_with("test: there is no column 3"), "{error}");
}

/// The model's scheme is not the file's: what is printed is in the file's, keeps to it and to given labels, and
/// no labelling is listed twice.
#[test]
fn labels_of_another_scheme_come_back_as_labels_of_the_file() {
    let schemes = || Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::Bie);
    for (own, scheme) in schemes().flat_map(|own| schemes().map(move |scheme| (own, scheme))) {
        if own == scheme {
            continue;
        }
        let train_text = corpus(1, 200, own);
        let test_text = corpus(2, 40, own);
        let model = train(&read(&train_text, |o| o.scheme = Some(scheme)).unwrap(), "adagrad");
        for given in [None, Some("_")] {
            let text = hidden(&hidden(&test_text, 2), 3);
            let out = run(&model, &text, Output::NBest(6), given).unwrap();
            let lists: Vec<Vec<Vec<&str>>> =
                out.split("# 0 ").skip(1).map(|list| last_fields(list.split_once('\n').unwrap().1)).collect();
            assert_eq!(lists.len(), 40);
            let (sentences, mut listed) = (text.split("\n\n").filter(|s| !s.trim().is_empty()), 0);
            for (list, sentence) in lists.iter().zip(sentences) {
                let known: Vec<&str> =
                    sentence.lines().map(|l| l.rsplit([' ', '\t']).next().unwrap()).collect();
                let different: std::collections::HashSet<_> = list.iter().collect();
                assert_eq!(different.len(), list.len());
                listed += list.len();
                for labels in list {
                    assert!(legal(own, labels), "{known:?} {labels:?}");
                    let kept = |(known, y): (&&str, &&str)| given.is_none() || *known == "_" || known == y;
                    assert!(known.iter().zip(labels).all(kept), "{known:?} {labels:?}");
                }
            }
            assert!(listed > 200, "{listed}"); // short sentences with known labels have fewer than six
            // The best alone is the first of many.
            let best = run(&model, &text, Output::Text, given).unwrap();
            assert!(last_fields(&best).iter().zip(&lists).all(|(best, list)| *best == list[0]));
        }
    }
}

/// Words of segmented text are labels of BMES, which a model of columns may not have.
#[test]
fn words_are_given_to_models_of_words_only() {
    let text = "a B\nb I\n\na B\n\na B\nb I\nb I\n\n".repeat(9);
    let model = train(&try_read(&text, &templates("U0:%x[0,0]\nB\n")).unwrap(), "adagrad");
    let options = PredictOptions {
        given: Some("_".to_owned()),
        format: Some(seqoia::data::format::Kind::Words),
        ..PredictOptions::new(Output::Text, 1)
    };
    let error = try_label(&model, "ab a\n", &options).unwrap_err().to_string();
    assert!(error.starts_with("test: words are not labels"), "{error}");
}

/// Learners that move marginals from the gold labelling, of which there must be one.
const DUAL: [&str; 2] = ["sdca", "oeg"];

/// Every n-th label is not known.
fn hidden(text: &str, n: usize) -> String {
    let hide = |(i, line): (usize, &str)| match line.rsplit_once([' ', '\t']) {
        Some((rest, _)) if i % n == 0 => format!("{rest} _\n"),
        _ => format!("{line}\n"),
    };
    text.lines().enumerate().map(hide).collect()
}

#[test]
fn labels_that_are_known_in_part_train() {
    let (train_text, test_text) = (generate::columns(1, 300), generate::columns(2, 60));
    let right = |model: &Labeller| {
        let out = label(model, &test_text, 1);
        score::last_two("out", out.as_bytes(), false).unwrap().scored.accuracy.tokens()
    };
    let all = [
        ("lbfgs", 93.2),
        ("owl-qn", 93.2),
        ("sgd", 91.5),
        ("adagrad", 92.2),
        ("averaged-perceptron", 92.5),
        ("perceptron", 91.1),
        ("hybrid", 89.6),
        ("asgd", 92.8),
        ("adf", 92.9),
        ("madf", 92.8),
        ("adagrad-exact", 90.1),
        ("sag-nus-star", 92.6),
        ("sag-nus", 91.0),
        ("sag", 92.5),
        ("saga", 92.9),
        ("svrg", 90.7),
        ("sg", 92.3),
        ("asg", 91.7),
        ("pegasos", 92.8),
        ("smd", 91.9),
        ("dca", 93.5),
        ("pa", 86.8),
    ];
    let set = read(&hidden(&train_text, 4), |o| o.partial = Some("_".to_owned())).unwrap();
    for entry in LEARNERS.iter().filter(|entry| all.iter().all(|(name, _)| *name != entry.name)) {
        let error = train_with(&set, entry.name, &[]).err().unwrap().to_string();
        assert!(DUAL.contains(&entry.name) && error.contains("one known label at every position"), "{error}");
    }
    let mut worse = String::new();
    for (learner, reached) in all {
        assert!(set.labels.iter().all(|l| l != "_"));
        let score = right(&train(&set, learner));
        if score <= reached - 0.3 {
            writeln!(worse, "{learner} {score:.1}").unwrap();
        }
    }
    assert!(worse.is_empty(), "{worse}");
    // A mark that nothing has changes nothing: the same weights.
    let plain = read(&train_text, |_| ()).unwrap();
    let marked = read(&train_text, |o| o.partial = Some("_".to_owned())).unwrap();
    for entry in LEARNERS {
        let weights = |set| train_with(set, entry.name, &[]).unwrap().trained.weights;
        assert!(weights(&plain) == weights(&marked), "{}", entry.name);
    }
    let nothing = read("a N _\nb N _\n", |o| o.partial = Some("_".to_owned())).err().unwrap();
    assert!(nothing.to_string().contains("no label is known"), "{nothing}");
}

#[test]
fn partial_labels_can_change_their_scheme() {
    let whole = generate::columns(1, 200);
    let text = whole.clone() + &hidden(&generate::columns(3, 100), 5);
    let set = read(&text, |o| {
        o.partial = Some("_".to_owned());
        o.scheme = Some(Scheme::Iobes);
        o.rules = Some(RuleChoice::Scheme(Scheme::Iobes));
    });
    let set = set.unwrap();
    assert_eq!(set.broken, None);
    assert!(set.labels.iter().any(|l| l.starts_with("E-")));
    let out = run(&train(&set, "lbfgs"), &whole, Output::Text, None).unwrap();
    assert!(last_fields(&out).iter().all(|l| legal(Scheme::Iob2, l)));
}

#[test]
fn weights_and_costs_of_labels_count() {
    let (train_text, test_text) = (generate::columns(1, 200), generate::columns(2, 100));
    let found = |model: &Labeller| {
        let out = run(model, &test_text, Output::Text, None).unwrap();
        last_fields(&out).iter().flatten().filter(|l| l.ends_with("-NP")).count()
    };
    // To miss noun phrases is what counts, or to find them where there are none.
    let with = |costs: &[(&str, f64)]| {
        let costs = costs.iter().map(|(label, cost)| ((*label).to_owned(), *cost)).collect();
        read(&train_text, |o| o.label_costs = costs).unwrap()
    };
    let (set, plain) = (with(&[("NP", 8.0), ("O", 0.0)]), with(&[]));
    let contrary = with(&[("NP", 0.0), ("VP", 8.0), ("PP", 8.0), ("O", 8.0)]);
    let costly: Vec<&str> =
        LEARNERS.iter().filter(|e| e.params.iter().any(|p| p.name == "cost")).map(|e| e.name).collect();
    assert_eq!(costly, ["sgd", "adagrad", "adagrad-exact", "dca", "pa", "averaged-perceptron", "perceptron"]);
    for learner in costly {
        let [more, even, fewer] =
            [&set, &plain, &contrary].map(|set| train_with(set, learner, &[("cost", "1")]).unwrap());
        assert!(more.trained.weights != even.trained.weights, "{learner}");
        assert!(fewer.trained.weights != even.trained.weights, "{learner}");
        let [more, even, fewer] = [more, even, fewer].map(|fitted| found(&fitted.labeller()));
        assert!(more > even + 10 && even > fewer + 10, "{learner}: {more}, {even} and {fewer} found");
    }
    let error = train_with(&set, "lbfgs", &[]).unwrap_err().to_string();
    assert!(error.contains("adagrad"), "{error}");
    let error = train_with(&set, "adagrad", &[]).unwrap_err().to_string();
    assert!(error.contains("`cost X`"), "{error}");
    // A weight of 0 for all labels of a sentence leaves it out.
    let weighted =
        read("a N X\nb N X\n\nc N Y\n", |o| o.label_weights = vec![("X".to_owned(), 0.0)]).unwrap();
    let weights: Vec<f64> = (0..2).map(|id| weighted.corpus.view(id).unwrap().weight).collect();
    assert_eq!((weighted.weight, weights), (1.0, vec![0.0, 2.0]));
    let error = read(&train_text, |o| o.label_weights = vec![("NPP".to_owned(), 1.0)]).err().unwrap();
    assert!(error.to_string().contains("no such label"), "{error}");
}
