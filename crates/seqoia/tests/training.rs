//! Laws of training, on the generated corpus: the same bytes for any number of threads, batches of
//! one equal single examples, what is saved predicts what was trained.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::sync::Arc;

use seqoia::data::generate;
use seqoia::learners::LEARNERS;
use seqoia::{
    DataOptions, DevSet, Ended, Labeller, Output, Passes, PredictOptions, Predictor, StrategyChoice,
    TrainOptions, Trained, Trainer, TrainingSet, evaluate, predict,
};

const TEMPLATES: &str =
    "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[0,1]\nU4:%x[-1,1]/%x[0,1]\nU5:%x[0,1]/%x[1,1]\nB\n";

fn set(text: &str, change: impl FnOnce(&mut DataOptions)) -> TrainingSet {
    let mut options = DataOptions::default();
    options.features.templates.push(("t".to_owned(), TEMPLATES.to_owned()));
    change(&mut options);
    TrainingSet::read(seqoia::input_from_text("train", text).unwrap(), &options).unwrap()
}

fn options(learner: &str, threads: usize) -> TrainOptions {
    let entry = seqoia::learners::find(learner).unwrap();
    let mut options = TrainOptions::new(entry, entry.check(&[]).unwrap());
    options.threads = threads;
    options.passes = Some(Passes::Exactly(3));
    options
}

fn train(set: &TrainingSet, options: &TrainOptions, dev: Option<&DevSet>) -> (Trained, Vec<u8>) {
    let trained = Trainer::new(set, options).unwrap().run(dev, &mut (), &Arc::default()).unwrap();
    let bytes = seqoia::model_bytes(set, options, &trained).unwrap();
    (trained, bytes)
}

fn label(model: &[u8], text: &str, threads: usize) -> Vec<u8> {
    let labeller = Arc::new(Labeller::from_bytes("m", model).unwrap());
    let options = PredictOptions::new(Output::Text, threads);
    let mut out = vec![];
    predict(&labeller, seqoia::input_from_text("test", text).unwrap(), &options, &mut out).unwrap();
    out
}

fn f1(model: &[u8], text: &str) -> f64 {
    evaluate::last_two("out", &label(model, text, 2), false).unwrap().scored.spans.f1()
}

#[test]
fn threads_never_change_a_model() {
    let (train_text, dev_text) = (generate::columns(1, 120), generate::columns(2, 40));
    let set = set(&train_text, |_| ());
    let dev = DevSet::read(seqoia::input_from_text("dev", &dev_text).unwrap(), &set).unwrap();
    for entry in LEARNERS {
        for strategy in StrategyChoice::ALL.map(|s| s.0) {
            let run = |threads| {
                let mut o = options(entry.name, threads);
                o.strategy = Some(strategy);
                o.batch_size = if strategy == StrategyChoice::Minibatch { 7 } else { 1 };
                let trainer = Trainer::new(&set, &o).ok()?;
                let trained = trainer.run(Some(&dev), &mut (), &Arc::default()).unwrap();
                Some((seqoia::model_bytes(&set, &o, &trained).unwrap(), trained.scores))
            };
            let one = run(1);
            let fits =
                strategy == StrategyChoice::Serial || entry.whole == (strategy == StrategyChoice::Batch);
            assert_eq!(one.is_some(), fits, "{} with {}", entry.name, strategy.name());
            for threads in [2, 3, 8] {
                assert!(run(threads) == one, "{} with {} on {threads} threads", entry.name, strategy.name());
            }
        }
    }
}

#[test]
fn a_minibatch_of_one_is_serial() {
    let text = generate::columns(3, 100);
    let set = set(&text, |_| ());
    for entry in LEARNERS.iter().filter(|e| !e.whole) {
        let run = |strategy| {
            let mut o = options(entry.name, 2);
            o.strategy = Some(strategy);
            Trainer::new(&set, &o).unwrap().run(None, &mut (), &Arc::default()).unwrap().weights
        };
        assert!(run(StrategyChoice::Serial) == run(StrategyChoice::Minibatch), "{}", entry.name);
    }
}

#[test]
fn the_seed_and_nothing_else_is_random() {
    let text = generate::columns(3, 100);
    let set = set(&text, |_| ());
    let run = |seed| {
        let mut o = options("averaged-perceptron", 2);
        o.seed = seed;
        train(&set, &o, None).1
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}

#[test]
fn a_beam_of_every_label_is_exact_and_a_narrow_one_learns() {
    let (train_text, test_text) = (generate::columns(1, 300), generate::columns(2, 100));
    let set = set(&train_text, |_| ());
    for entry in LEARNERS.iter().filter(|e| e.searches()) {
        let run = |beam: Option<usize>, update: Option<&str>| {
            let mut o = options(entry.name, 2);
            let given: Vec<_> = update.map(|u| ("update".to_owned(), u.to_owned())).into_iter().collect();
            (o.beam, o.settings) = (beam, entry.check(&given).unwrap());
            train(&set, &o, None)
        };
        let (exact, bytes) = run(None, None);
        assert!(run(Some(set.labels.len()), None).1 == bytes, "{}", entry.name);
        assert!(run(Some(1000), None).1 == bytes);
        for update in ["full", "early"] {
            // Through the beam's own code: nothing is pruned, so gold stays in it.
            assert!(run(Some(1000), Some(update)).0.weights == exact.weights, "{} {update}", entry.name);
        }
        for update in ["early", "latest", "max-violation"] {
            for beam in [1, 3] {
                let (trained, bytes) = run(Some(beam), Some(update));
                assert!(trained.weights != exact.weights);
                let meta = Labeller::from_bytes("m", &bytes).unwrap().meta().clone();
                assert_eq!(
                    (&meta.training["beam"][..], &meta.training["update"][..]),
                    (&*beam.to_string(), update)
                );
                let f1 = f1(&bytes, &test_text);
                assert!(f1 > 75.0, "{} with {update} in a beam of {beam}: {f1}", entry.name);
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
            Err(what) => return what,
        };
        let mut o = TrainOptions::new(entry, settings);
        o.beam = beam;
        o.check().err().map_or(String::new(), |e| e.to_string())
    };
    assert!(
        wrong("lbfgs", Some(4), None).starts_with("lbfgs does not search, so it does not use --beam; these")
    );
    assert!(wrong("sgd", None, Some("full")).contains("does not use --update"));
    assert!(wrong("perceptron", None, Some("early")).contains("goes with --beam"));
    assert!(wrong("perceptron", None, Some("soon")).contains("one of full, early, latest, max-violation"));
    assert_eq!(wrong("perceptron", None, Some("full")) + &wrong("perceptron", Some(4), Some("latest")), "");
}

#[test]
fn every_learner_learns() {
    let (train_text, test_text) = (generate::columns(1, 600), generate::columns(2, 200));
    let set = set(&train_text, |_| ());
    for entry in LEARNERS {
        let mut o = options(entry.name, 2);
        o.passes = entry.whole.then_some(Passes::AtMost(60)).or(o.passes);
        let f1 = f1(&train(&set, &o, None).1, &test_text);
        assert!(f1 > if entry.name == "perceptron" { 85.0 } else { 90.0 }, "{}: F1 {f1}", entry.name);
    }
}

#[test]
fn dev_scores_are_those_of_the_model_that_is_kept() {
    let (train_text, dev_text) = (generate::columns(1, 200), generate::columns(2, 100));
    let set = set(&train_text, |_| ());
    let dev = DevSet::read(seqoia::input_from_text("dev", &dev_text).unwrap(), &set).unwrap();
    let mut o = options("perceptron", 1);
    o.passes = Some(Passes::Exactly(8));
    let (trained, bytes) = train(&set, &o, Some(&dev));
    assert_eq!(trained.scores[0].value, f1(&bytes, &dev_text));
    assert_eq!(trained.passes, 8);
    o.keep_last = true;
    let (last, _) = train(&set, &o, Some(&dev));
    assert_eq!(last.best_pass, 8);
    assert!(last.scores[0].value <= trained.scores[0].value);
    o.keep_last = false;
    o.patience = Some(1);
    let (short, _) = train(&set, &o, Some(&dev));
    // The first pass without a gain ends it.
    assert_eq!(short.ended, Ended::Patience(1));
    assert_eq!(short.passes, short.best_pass + 1);
    assert!(short.passes < 8);
    o.keep_last = true;
    assert!(o.check().unwrap_err().to_string().contains("--keep best"));
    (o.keep_last, o.patience) = (false, Some(0));
    assert!(o.check().is_err());
}

#[test]
fn other_schemes_come_back_as_the_file_has_them() {
    use seqoia::data::scheme::Scheme;
    let (train_text, test_text) = (generate::columns(1, 300), generate::columns(2, 100));
    for scheme in [Scheme::Iob1, Scheme::Iobes, Scheme::Bmes] {
        let set = set(&train_text, |o| o.scheme = Some(scheme));
        let (_, bytes) = train(&set, &options("averaged-perceptron", 1), None);
        let out = label(&bytes, &test_text, 1);
        let text = String::from_utf8(out).unwrap();
        let allowed = |l: &str| l == "O" || l.starts_with("B-") || l.starts_with("I-");
        assert!(text.lines().filter(|l| !l.is_empty()).all(|l| allowed(l.rsplit(' ').next().unwrap())));
        assert!(f1(&bytes, &test_text) > 88.0);
    }
}

#[test]
fn json_says_in_which_scheme_marginals_are() {
    use seqoia::data::scheme::{self, Scheme};
    let iob2 = generate::columns(1, 100);
    let bmes: String = iob2
        .split("\n\n")
        .map(|sentence| {
            let rows: Vec<_> = sentence.lines().filter_map(|l| l.rsplit_once(' ')).collect();
            let mut labels = vec![];
            scheme::convert(
                Scheme::Iob2,
                Scheme::Bmes,
                &rows.iter().map(|r| r.1).collect::<Vec<_>>(),
                &mut labels,
            );
            rows.iter().zip(&labels).map(|(r, l)| format!("{} {l}\n", r.0)).collect::<String>() + "\n"
        })
        .collect();
    let json = |text: &str, scheme: Option<Scheme>| {
        let (_, bytes) = train(&set(text, |o| o.scheme = scheme), &options("averaged-perceptron", 1), None);
        let labeller = Arc::new(Labeller::from_bytes("m", &bytes).unwrap());
        let options = PredictOptions::new(Output::Json { marginals: true, nbest: 1 }, 1);
        let mut out = vec![];
        predict(&labeller, seqoia::input_from_text("test", text).unwrap(), &options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
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
    use seqoia::structures::chain::Precision;
    let text =
        |labels: usize| (0..3 * labels).map(|i| format!("w{i} p L{}\n\n", i % labels)).collect::<String>();
    for (labels, precision) in [(60, Precision::F32), (70, Precision::F64)] {
        let set = set(&text(labels), |_| ());
        let mut o = options("lbfgs", 1);
        o.precision = Precision::F32;
        assert_eq!(Trainer::new(&set, &o).unwrap().precision(), precision);
        let single = train(&set, &o, None).1;
        o.precision = Precision::F64;
        assert_eq!(single == train(&set, &o, None).1, precision == Precision::F64);
    }
}

#[test]
fn prediction_does_not_depend_on_threads_and_keeps_the_text() {
    let (train_text, test_text) = (generate::columns(1, 100), generate::columns(2, 3000));
    let set = set(&train_text, |_| ());
    let (_, bytes) = train(&set, &options("averaged-perceptron", 1), None);
    let one = label(&bytes, &test_text, 1);
    for threads in [2, 3, 8] {
        assert!(label(&bytes, &test_text, threads) == one);
    }
    let text = String::from_utf8(one).unwrap();
    let without: String =
        text.lines().map(|l| l.rsplit_once(' ').map_or(l, |(rest, _)| rest).to_owned() + "\n").collect();
    assert!(without == test_text);
    let unlabelled: String =
        test_text.lines().map(|l| l.rsplit_once(' ').map_or(l, |(rest, _)| rest).to_owned() + "\n").collect();
    let last =
        |s: &str| s.lines().filter_map(|l| l.rsplit(' ').next().map(str::to_owned)).collect::<Vec<_>>();
    let from_unlabelled = String::from_utf8(label(&bytes, &unlabelled, 2)).unwrap();
    assert!(last(&from_unlabelled) == last(&text));
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
    let score = |templates: &str| {
        let mut o = DataOptions::default();
        o.features.templates.push(("t".to_owned(), templates.to_owned()));
        let set = TrainingSet::read(seqoia::input_from_text("train", &text).unwrap(), &o).unwrap();
        let (_, bytes) = train(&set, &options("averaged-perceptron", 2), None);
        evaluate::last_two("out", &label(&bytes, &text, 2), false).unwrap().scored.accuracy.tokens()
    };
    assert!(score("U0:%x[0,0]\nB\n") < 80.0);
    assert_eq!(score("U0:%x[0,0]\nB1:%x[0,1]\n"), 100.0);

    let numbers: String = (0..100)
        .map(|i| format!("w {} {}\n\n", f64::from(i) - 49.5, if i < 50 { "low" } else { "high" }))
        .collect();
    let mut o = DataOptions::default();
    o.features.templates.push(("t".to_owned(), "U0:%v[0,1]\n".to_owned()));
    let set = TrainingSet::read(seqoia::input_from_text("train", &numbers).unwrap(), &o).unwrap();
    let (_, bytes) = train(&set, &options("averaged-perceptron", 1), None);
    let accuracy =
        evaluate::last_two("o", &label(&bytes, &numbers, 1), false).unwrap().scored.accuracy.tokens();
    assert!(accuracy >= 98.0, "{accuracy}");
}

#[test]
fn damaged_models_give_errors_and_hostile_ones_no_panic() {
    let set = set(&generate::columns(1, 20), |_| ());
    let (_, bytes) = train(&set, &options("averaged-perceptron", 1), None);
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
        // The checksum is made right, so that what lies behind it is reached.
        let checksum = xxhash_rust::xxh3::xxh3_64(&hostile[16..]);
        hostile[8..16].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(labeller) = Labeller::from_bytes("m", &hostile) {
            let _ = Predictor::new(Arc::new(labeller)).label(&[&["The", "DT", "O"], &["trade", "NN", "O"]]);
        }
    }
}

#[test]
fn a_warm_start_begins_where_the_model_ends() {
    let text = generate::columns(1, 150);
    let first = set(&text, |d| d.features.templates[0].1.push_str("B1:%x[0,1]\n"));
    assert!(first.space.view().edge_attributes() > 10);
    let mut o = options("lbfgs", 2);
    o.passes = Some(Passes::AtMost(200));
    let (trained, bytes) = train(&first, &o, None);
    let model = Labeller::from_bytes("m", &bytes).unwrap();
    // The same data: the same weights, but for rounding to single precision.
    let start = seqoia::warm::weights(&model, &first).unwrap().weights;
    assert!(start.iter().zip(&trained.weights).all(|(a, b)| (a - b).abs() <= 1e-7 * b.abs().max(1.0)));
    // Other data, other templates: what both know comes over, and learning goes on from there.
    let other = set(&generate::columns(5, 150), |d| {
        d.features.templates[0].1 = format!("U9:%x[0,0]/%x[0,1]\n{TEMPLATES}");
    });
    let start = seqoia::warm::weights(&model, &other).unwrap().weights;
    let known = start.iter().filter(|w| **w != 0.0).count();
    assert!(known > 500, "{known}");
    let first_objective = |start: Option<Vec<f64>>| {
        struct First(Option<f64>);
        impl seqoia::Watch for First {
            fn pass(&mut self, row: &seqoia::PassRow) {
                self.0 = self.0.or(row.objective);
            }
        }
        let mut o = options("lbfgs", 1);
        (o.passes, o.start) = (Some(Passes::Exactly(1)), start);
        let mut watch = First(None);
        Trainer::new(&other, &o).unwrap().run(None, &mut watch, &Arc::default()).unwrap();
        watch.0.unwrap()
    };
    assert!(first_objective(Some(start)) < 0.5 * first_objective(None));
}
