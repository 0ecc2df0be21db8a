//! Laws of training, on the generated corpus: the same bytes for any number of threads, batches of
//! one equal single examples, what is saved predicts what was trained.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::fmt::Write;
use std::sync::Arc;

use seqoia::data::generate;
use seqoia::data::scheme::Scheme;
use seqoia::label::{Output, PredictOptions, warm};
use seqoia::learners::LEARNERS;
use seqoia::run::Start;
use seqoia::strategies::{Chosen, STRATEGIES};
use seqoia::structures::chain::Precision;
use seqoia::{
    ChainOptions, DataOptions, Ended, LabelTask, Labeller, LearnOptions, Passes, Predictor, Run, Strength,
    TrainingSet, score,
};
use seqoia_testkit::files::seal;
use seqoia_testkit::labelling::{
    Fitted, TEMPLATES, corpus, dev, f1, fit, in_batches, label, learner, passes, read, templates, try_fit,
    try_label,
};

fn set(text: &str) -> TrainingSet {
    read(text, &templates(TEMPLATES))
}

fn options(learner: &str, threads: usize) -> LearnOptions {
    LearnOptions { threads, ..passes(learner, 3) }
}

#[test]
fn threads_never_change_a_model() {
    let set = set(&generate::columns(1, 120));
    let dev = dev(&generate::columns(2, 40), &set);
    for entry in LEARNERS {
        for strategy in STRATEGIES {
            let given: &[_] = if strategy.params.is_empty() { &[] } else { &[("batch-size", "7")] };
            let given: Vec<_> = given.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            let run = |threads| {
                let mut o = options(entry.name, threads);
                o.strategy = Some(Chosen::new(Some(strategy.name), &given, &o.profile()).unwrap());
                o.check().ok()?;
                let fitted = fit(&set, Some(&dev), &o);
                Some((fitted.bytes, fitted.trained.scores))
            };
            let one = run(1);
            let profile = entry.profile(&entry.defaults());
            let fits = match strategy.name {
                "serial" => true,
                "batch" => profile.whole,
                _ => profile.takes_batches(),
            };
            assert_eq!(one.is_some(), fits, "{} with {}", entry.name, strategy.name);
            for threads in [2, 3, 8] {
                assert!(run(threads) == one, "{} with {} on {threads} threads", entry.name, strategy.name);
            }
        }
    }
}

#[test]
fn a_minibatch_of_one_is_serial() {
    let set = set(&generate::columns(3, 100));
    for entry in LEARNERS.iter().filter(|e| e.profile(&e.defaults()).takes_batches()) {
        let weights = |options: &LearnOptions| {
            (options.check().unwrap().entry.name, fit(&set, None, options).trained.weights)
        };
        let serial = weights(&options(entry.name, 2));
        let batches = |size| weights(&in_batches(options(entry.name, 2), size));
        assert_eq!((serial.0, batches(1).0), ("serial", "minibatch"));
        assert!(serial.1 == batches(1).1, "{}", entry.name);
        assert!(serial.1 != batches(2).1, "{}", entry.name);
    }
}

#[test]
fn the_seed_and_nothing_else_is_random() {
    let set = set(&generate::columns(3, 100));
    for entry in LEARNERS {
        let run = |seed| fit(&set, None, &LearnOptions { seed, ..options(entry.name, 2) }).trained.weights;
        assert!(run(1) == run(1), "{}", entry.name);
        // Sums over whole passes have no order to draw; `hybrid` draws its sample.
        let drawn = !entry.profile(&entry.defaults()).whole || entry.name == "hybrid";
        assert_eq!(run(1) != run(2), drawn, "{}", entry.name);
    }
}

#[test]
fn a_beam_of_every_label_is_exact_and_a_narrow_one_learns() {
    let (train_text, test_text) = (generate::columns(1, 300), generate::columns(2, 100));
    let set = set(&train_text);
    for entry in LEARNERS.iter().filter(|e| e.profile(&e.defaults()).searches()) {
        let run = |beam: Option<usize>, update: Option<&str>| {
            let mut given: Vec<_> = update.map(|u| ("update", u)).into_iter().collect();
            // The steps that `pa` is used to are too short for two passes over prefixes.
            given.extend((entry.name == "pa").then_some(("step", "1")));
            let o = LearnOptions { settings: learner(entry.name, &given).settings, ..options(entry.name, 2) };
            let chain = ChainOptions { beam, ..ChainOptions::default() };
            try_fit(&set, None, &o, chain, &mut ()).unwrap()
        };
        let Fitted { trained: exact, bytes } = run(None, None);
        assert!(run(Some(set.labels.len()), None).bytes == bytes, "{}", entry.name);
        assert!(run(Some(1000), None).bytes == bytes);
        for update in ["full", "early"] {
            // Through the beam's own code: nothing is pruned, so gold stays in it.
            let weights = run(Some(1000), Some(update)).trained.weights;
            assert!(weights == exact.weights, "{} {update}", entry.name);
        }
        for update in ["early", "latest", "max-violation"] {
            for beam in [1, 3] {
                let fitted = run(Some(beam), Some(update));
                assert!(fitted.trained.weights != exact.weights);
                let (model, beam) = (fitted.labeller(), beam.to_string());
                let training = &model.head().training;
                assert_eq!([&training["beam"], &training["update"]], [&beam, update]);
                let f1 = f1(&model, &test_text);
                let wanted = if entry.name == "pa" { 66.0 } else { 75.0 };
                assert!(f1 > wanted, "{} with {update} in a beam of {beam}: {f1}", entry.name);
            }
        }
    }
}

#[test]
fn flags_of_search_go_with_search() {
    let wrong = |learner: &str, beam: Option<usize>, update: Option<&str>| {
        let entry = seqoia::learners::find(learner).unwrap();
        let given: Vec<_> = update.map(|u| ("update".to_owned(), u.to_owned())).into_iter().collect();
        let settings = match entry.check(&given) {
            Ok(settings) => settings,
            Err(error) => return error.to_string(),
        };
        let chain = ChainOptions { beam, ..ChainOptions::default() };
        let wrong = chain.check(&LearnOptions::new(entry, settings)).err();
        wrong.map_or(String::new(), |e| e.to_string())
    };
    let told = wrong("lbfgs", Some(4), None);
    assert!(
        told.starts_with("`beam` 4: lbfgs does not search, so it does not use this option; these"),
        "{told}"
    );
    assert!(wrong("sgd", None, Some("full")).starts_with("`update` full: sgd does not use this option"));
    assert!(wrong("perceptron", None, Some("early")).starts_with("`update` early: it goes with `beam N`"));
    assert!(wrong("perceptron", None, Some("soon")).contains("one of full, early, latest, max-violation"));
    assert_eq!(wrong("perceptron", None, Some("full")) + &wrong("perceptron", Some(4), Some("latest")), "");
}

/// What each learner reaches after how many passes: F1 on other sentences, which tells whether it learns, and the
/// length of its weights, which tells whether penalty, rate and mean are right. A change of either is a change
/// of every model: look why, then write the new figures down.
const REACHED: &[(&str, Option<f64>, u64, f64, f64)] = &[
    ("lbfgs", None, 60, 93.0, 38.16),
    ("lbfgs", Some(10.0), 60, 88.7, 19.96),
    ("owl-qn", None, 60, 93.0, 38.14),
    ("hybrid", None, 60, 93.1, 38.17),
    ("sgd", None, 3, 91.7, 35.22),
    ("sgd", Some(0.0), 3, 92.8, 44.93),
    ("adagrad", None, 3, 92.0, 41.17),
    ("adagrad", Some(1.0), 3, 91.5, 33.03),
    ("adagrad-exact", None, 3, 90.9, 28.59),
    ("asgd", None, 3, 91.8, 33.37),
    ("adf", None, 3, 91.9, 32.66),
    ("madf", None, 3, 91.7, 38.16),
    ("sag-nus-star", None, 20, 93.0, 38.14),
    ("sag-nus", None, 20, 92.9, 38.14),
    ("sag", None, 20, 93.0, 38.11),
    ("saga", None, 20, 93.0, 38.04),
    ("sdca", None, 20, 92.9, 38.14),
    ("svrg", None, 20, 92.9, 37.41),
    ("oeg", None, 20, 92.9, 38.14),
    ("sg", None, 3, 92.2, 36.69),
    ("asg", None, 3, 90.9, 30.60),
    ("pegasos", None, 3, 92.2, 44.36),
    ("smd", None, 3, 91.6, 33.01),
    ("dca", None, 3, 92.2, 42.49),
    ("pa", None, 3, 88.1, 7.08),
    ("averaged-perceptron", None, 3, 92.3, 89.83),
    ("perceptron", None, 3, 91.6, 121.02),
];

#[test]
fn every_learner_learns() {
    let (train_text, test_text) = (generate::columns(1, 600), generate::columns(2, 200));
    let set = set(&train_text);
    assert!(LEARNERS.iter().all(|entry| REACHED.iter().any(|row| row.0 == entry.name)));
    let mut differ = String::new();
    for &(name, l2, count, wanted, length) in REACHED {
        let l2 = l2.map(Strength::OverN);
        let fitted = fit(&set, None, &LearnOptions { l2, threads: 2, ..passes(name, count) });
        let norm = fitted.trained.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let f1 = f1(&fitted.labeller(), &test_text);
        if f1 <= wanted - 0.2 || (norm / length - 1.0).abs() >= 0.002 {
            writeln!(differ, "{name} with {l2:?}: F1 {f1:.2}, length of the weights {norm:.2}").unwrap();
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

/// Clocks that time learning stop before the objective and dev scores are computed.
#[test]
fn a_watch_hears_of_learning_first_and_of_the_pass_when_it_has_been_looked_at() {
    struct Heard(Vec<Option<bool>>);
    impl seqoia::Watch for Heard {
        fn learned(&mut self) {
            self.0.push(None);
        }
        fn pass(&mut self, row: &seqoia::PassRow) {
            self.0.push(Some(row.objective.is_some() && !row.scores.is_empty()));
        }
    }
    let set = set(&generate::columns(1, 30));
    let dev = dev(&generate::columns(2, 10), &set);
    let o = LearnOptions { objective_every: Some(1), ..options("sgd", 1) };
    let (task, mut heard) = (LabelTask::new(&set, Some(&dev)), Heard(vec![]));
    Run::new(&task, &o).unwrap().run(&mut heard, &Arc::default()).unwrap();
    assert_eq!(heard.0, [None, Some(true)].repeat(3));
}

#[test]
fn dev_scores_are_those_of_the_model_that_is_kept() {
    let (train_text, dev_text) = (generate::columns(1, 200), generate::columns(2, 100));
    let set = set(&train_text);
    let dev = dev(&dev_text, &set);
    let mut o = passes("perceptron", 8);
    let best = fit(&set, Some(&dev), &o);
    assert_eq!(best.trained.scores[0].value, f1(&best.labeller(), &dev_text));
    assert_eq!(best.trained.passes, 8);
    o.keep_last = true;
    let last = fit(&set, Some(&dev), &o).trained;
    assert_eq!(last.best_pass, 8);
    assert!(last.scores[0].value <= best.trained.scores[0].value);
    o.keep_last = false;
    o.patience = Some(1);
    let short = fit(&set, Some(&dev), &o).trained;
    // The first pass without a gain ends it.
    assert_eq!(short.ended, Ended::Patience(1));
    assert_eq!(short.passes, short.best_pass + 1);
    assert!(short.passes < 8);
    o.keep_last = true;
    assert!(o.check().unwrap_err().to_string().contains("`keep best`"));
    (o.keep_last, o.patience) = (false, Some(0));
    assert!(o.check().is_err());
}

#[test]
fn other_schemes_come_back_as_the_file_has_them() {
    let (train_text, test_text) = (generate::columns(1, 300), generate::columns(2, 100));
    for scheme in [Scheme::Iob1, Scheme::Iobes, Scheme::Bmes] {
        let set = read(&train_text, &DataOptions { scheme: Some(scheme), ..templates(TEMPLATES) });
        let model = fit(&set, None, &options("averaged-perceptron", 1)).labeller();
        let text = label(&model, &test_text, 1);
        let allowed = |l: &str| l == "O" || l.starts_with("B-") || l.starts_with("I-");
        assert!(text.lines().filter(|l| !l.is_empty()).all(|l| allowed(l.rsplit(' ').next().unwrap())));
        assert!(f1(&model, &test_text) > 88.0);
    }
}

#[test]
fn json_says_in_which_scheme_marginals_are() {
    let (iob2, bmes) = (corpus(1, 100, Scheme::Iob2), corpus(1, 100, Scheme::Bmes));
    let json = |text: &str, scheme: Option<Scheme>| {
        let set = read(text, &DataOptions { scheme, ..templates(TEMPLATES) });
        let model = fit(&set, None, &options("averaged-perceptron", 1)).labeller();
        let output = Output::Json { marginals: true, nbest: 1 };
        try_label(&model, text, &PredictOptions::new(output, 1)).unwrap()
    };
    for (text, scheme, key, inside) in [
        (&iob2, None, None, "I-NP"),
        (&iob2, Some(Scheme::Iobes), Some("iobes"), "E-NP"),
        (&bmes, Some(Scheme::Iobes), None, "M-NP"), // I and M are the same thing
        (&bmes, None, None, "M-NP"),
    ] {
        let line = json(text, scheme).lines().next().unwrap().to_owned();
        let named = key.map(|key| format!("\"scheme\":\"{key}\""));
        assert!(named.map_or(!line.contains("\"scheme\""), |named| line.contains(&named)), "{line}");
        assert!(line.contains(&format!("\"{inside}\":")), "{line}");
    }
}

#[test]
fn many_labels_are_summed_in_double_precision_and_it_is_said() {
    let text =
        |labels: usize| (0..3 * labels).map(|i| format!("w{i} p L{}\n\n", i % labels)).collect::<String>();
    for (labels, precision) in [(60, Precision::F32), (70, Precision::F64)] {
        let set = set(&text(labels));
        let run = |precision| {
            let chain = ChainOptions { precision, ..ChainOptions::default() };
            try_fit(&set, None, &options("lbfgs", 1), chain, &mut ()).unwrap()
        };
        let (single, double) = (run(Precision::F32), run(Precision::F64));
        assert_eq!(single.trained.weights == double.trained.weights, precision == Precision::F64);
        assert_eq!(single.labeller().head().training["precision"], precision.name());
        // Single precision rounds, and no more.
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
        assert!(single.trained.weights.iter().zip(&double.trained.weights).all(near));
        let task = LabelTask::new(&set, None)
            .with_chain(ChainOptions { precision: Precision::F32, ..ChainOptions::default() });
        let remarks = seqoia::Task::describe(&task, &options("lbfgs", 1)).remarks;
        assert_eq!(remarks.is_empty(), precision == Precision::F32, "{remarks:?}");
    }
}

#[test]
fn prediction_does_not_depend_on_threads_and_keeps_the_text() {
    let (train_text, test_text) = (generate::columns(1, 100), generate::columns(2, 3000));
    let model = fit(&set(&train_text), None, &options("averaged-perceptron", 1)).labeller();
    let text = label(&model, &test_text, 1);
    for threads in [2, 3, 8] {
        assert!(label(&model, &test_text, threads) == text);
    }
    let without: String =
        text.lines().map(|l| l.rsplit_once(' ').map_or(l, |(rest, _)| rest).to_owned() + "\n").collect();
    assert!(without == test_text);
    let unlabelled: String =
        test_text.lines().map(|l| l.rsplit_once(' ').map_or(l, |(rest, _)| rest).to_owned() + "\n").collect();
    let last =
        |s: &str| s.lines().filter_map(|l| l.rsplit(' ').next().map(str::to_owned)).collect::<Vec<_>>();
    assert!(last(&label(&model, &unlabelled, 2)) == last(&text));
}

#[test]
fn edges_that_see_the_input_and_values_are_learned() {
    // The label repeats after `s` and changes after `d`; only an edge can know.
    let mut text = String::new();
    let mut random = seqoia::core::Random::new(5, 0, 0, "edges");
    for _ in 0..200 {
        let mut y = random.below(2);
        for t in 0..6 {
            let same = random.below(2) == 0;
            y = if t == 0 || same { y } else { 1 - y };
            let first = if t == 0 { ["a", "b"][y] } else { "x" };
            text.push_str(&format!("{first} {} {}\n", if same { "s" } else { "d" }, ["A", "B"][y]));
        }
        text.push('\n');
    }
    let score = |text: &str, lines: &str| {
        let model = fit(&read(text, &templates(lines)), None, &options("averaged-perceptron", 2)).labeller();
        let labelled = label(&model, text, 2);
        score::last_two("out", labelled.as_bytes(), false).unwrap().scored.accuracy.tokens()
    };
    assert!(score(&text, "U0:%x[0,0]\nB\n") < 80.0);
    assert_eq!(score(&text, "U0:%x[0,0]\nB1:%x[0,1]\n"), 100.0);

    let numbers: String = (0..100)
        .map(|i| format!("w {} {}\n\n", f64::from(i) - 49.5, if i < 50 { "low" } else { "high" }))
        .collect();
    let accuracy = score(&numbers, "U0:%v[0,1]\n");
    assert!(accuracy >= 98.0, "{accuracy}");
}

#[test]
fn damaged_models_give_errors_and_hostile_ones_no_panic() {
    let bytes = fit(&set(&generate::columns(1, 20)), None, &options("averaged-perceptron", 1)).bytes;
    for length in (0..bytes.len()).step_by(97) {
        assert!(Labeller::from_bytes("m", &bytes[..length]).is_err());
    }
    let mut random = seqoia::core::Random::new(1, 0, 0, "hostile");
    for _ in 0..300 {
        let mut hostile = bytes.clone();
        for _ in 0..1 + random.below(4) {
            let at = 16 + random.below(hostile.len() - 16);
            hostile[at] = u8::try_from(random.below(256)).unwrap();
        }
        seal(&mut hostile);
        if let Ok(labeller) = Labeller::from_bytes("m", &hostile) {
            let _ = Predictor::new(&labeller).label(&[&["The", "DT", "O"], &["trade", "NN", "O"]]);
        }
    }
}

#[test]
fn a_warm_start_begins_where_the_model_ends() {
    let first = read(&generate::columns(1, 150), &templates(&format!("{TEMPLATES}B1:%x[0,1]\n")));
    assert!(first.space.view().edge_attributes() > 10);
    let o = LearnOptions { passes: Some(Passes::AtMost(200)), ..options("lbfgs", 2) };
    let fitted = fit(&first, None, &o);
    let model = fitted.labeller();
    // The same data: the same weights, but for rounding to single precision.
    let start = warm::weights(&model, &first).unwrap().weights;
    let pairs = start.iter().zip(&fitted.trained.weights);
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-7 * b.abs().max(1.0)));
    // Other data, other templates: what both know comes over, and learning goes on from there.
    let other = read(&generate::columns(5, 150), &templates(&format!("U9:%x[0,0]/%x[0,1]\n{TEMPLATES}")));
    let start = warm::weights(&model, &other).unwrap().weights;
    let known = start.iter().filter(|w| **w != 0.0).count();
    assert!(known > 500, "{known}");
    let first_objective = |start: Option<Vec<f64>>| {
        struct First(Option<f64>);
        impl seqoia::Watch for First {
            fn pass(&mut self, row: &seqoia::PassRow) {
                self.0 = self.0.or(row.objective);
            }
        }
        let start = start.map(|weights| Start { weights, memo: None });
        let o = LearnOptions { start, ..passes("lbfgs", 1) };
        let (task, mut watch) = (LabelTask::new(&other, None), First(None));
        Run::new(&task, &o).unwrap().run(&mut watch, &Arc::default()).unwrap();
        watch.0.unwrap()
    };
    assert!(first_objective(Some(start)) < 0.5 * first_objective(None));
}
