//! Re-ranking through the same run as labelling: learned, stopped, resumed, saved, opened, chosen with.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use seqoia::core::Random;
use seqoia::data::open::Input;
use seqoia::learners::{Entry, LEARNERS};
use seqoia::rerank::{Choices, Costs, choose, chosen_costs};
use seqoia::{CandidateSet, LearnOptions, Model, RerankTask, Reranker, Run};
use seqoia_model::Container;
use seqoia_testkit::files::{Kept, resuming, with_part};
use seqoia_testkit::labelling::{in_batches, passes};

/// Lists in which what a candidate costs can be told from its features, but for some noise.
fn lists(seed: u64, n: usize) -> String {
    let (mut text, mut random) = (String::new(), Random::new(seed, 0, 0, "lists"));
    let mut unit = move || f64::from(u32::try_from(random.below(1 << 20)).unwrap()) / f64::from(1 << 20);
    for id in 0..n {
        let mut candidates = vec![];
        for j in 0..2 + id % 7 {
            let (a, b, c) = (unit(), unit(), unit() < 0.5);
            let cost = (2.0 - a - 0.5 * b + if c { 0.75 } else { 0.0 } + 0.2 * unit()).max(0.0);
            candidates.push(format!(
                r#"{{"text": "{id}.{j}", "features": {{"a": {a:.3}, "b": {b:.3}, "c": {c}, "w{j}": 1}}, "cost": {cost:.2}}}"#
            ));
        }
        writeln!(text, r#"{{"id": {id}, "candidates": [{}]}}"#, candidates.join(", ")).unwrap();
    }
    text
}

fn input(text: &str) -> Input {
    Input::from_bytes("lists.jsonl", text.as_bytes()).unwrap()
}

fn trained(train: &str, dev: Option<&str>, options: &LearnOptions) -> (Vec<u8>, Option<f64>) {
    let set = CandidateSet::read(input(train)).unwrap();
    let dev = dev.map(|dev| set.read_dev(input(dev)).unwrap());
    let task = RerankTask::new(&set, dev.as_ref());
    let run = Run::new(&task, options).unwrap();
    let trained = run.run(&mut (), &Arc::default()).unwrap();
    (run.model(&trained).unwrap(), trained.scores.first().map(|score| score.value))
}

fn open(bytes: &[u8]) -> Arc<Reranker> {
    match Model::from_bytes("model", bytes).unwrap() {
        Model::Reranker(model) => model,
        Model::Labeller(_) => panic!("not a re-ranker"),
    }
}

/// What a model of one feature chooses, as text and as JSON, costs the same, even of texts that look like JSON.
#[test]
fn equal_scores_and_texts_like_json_are_read_as_they_were_meant() {
    let list = |a: &str, b: &str| {
        format!(
            r#"{{"candidates": [{{"text": "{a}", "features": {{}}, "cost": 0}}, {{"text": "{b}", "features": {{"new": 1}}, "cost": 1}}]}}"#
        )
    };
    let options = passes("perceptron", 2);
    let model = open(&trained(&lists(3, 20), None, &options).0);
    for (a, b) in [("first", "second"), (r#"{\"candidate\":1}"#, "b"), ("{x}", "{y}"), ("", "b")] {
        let text = list(a, b) + "\n" + &list("b", "a");
        for json in [false, true] {
            let choices = chosen(&model, &text, Choices { json, ..Choices::default() });
            let costs = chosen_costs(input(&text), Input::from_bytes("chosen", choices).unwrap()).unwrap();
            assert_eq!(costs.chosen, 0.0, "{a} {json}");
        }
    }
}

fn chosen(model: &Reranker, text: &str, how: Choices) -> String {
    let mut out = vec![];
    choose(model, input(text), how, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn costs(model: &Reranker, text: &str, how: Choices) -> Costs {
    chosen_costs(input(text), Input::from_bytes("chosen", chosen(model, text, how)).unwrap()).unwrap()
}

/// Those that ask a list nothing that it cannot answer.
fn choosers() -> impl Iterator<Item = &'static Entry> {
    LEARNERS.iter().filter(|entry| !["smd", "sdca", "oeg"].contains(&entry.name))
}

#[test]
fn learners_that_ask_for_more_than_a_list_are_told_so() {
    let set = CandidateSet::read(input(&lists(1, 5))).unwrap();
    let task = RerankTask::new(&set, None);
    for entry in LEARNERS {
        let ran = Run::new(&task, &passes(entry.name, 1)).and_then(|run| run.run(&mut (), &Arc::default()));
        assert_eq!(ran.is_ok(), choosers().any(|other| other.name == entry.name), "{}", entry.name);
        assert!(ran.err().is_none_or(|e| e.to_string().contains("does not offer")));
    }
}

#[test]
fn every_learner_learns_to_choose() {
    let (train, dev) = (lists(1, 200), lists(2, 100));
    for entry in choosers() {
        let (model, score) = trained(&train, Some(&dev), &passes(entry.name, 8));
        let model = open(&model);
        let found = costs(&model, &dev, Choices::default());
        // What was said while training is what a user gets, in both forms of output.
        assert!((found.chosen - score.unwrap()).abs() < 1e-12, "{}", entry.name);
        assert_eq!(found, costs(&model, &dev, Choices { json: true, ..Choices::default() }));
        let gap = (found.chosen - found.best) / (found.first - found.best);
        assert!(gap < 0.3, "{}: {found:?}", entry.name);
        assert!(found.best < found.chosen && found.first < found.worst, "{found:?}");
    }
}

#[test]
fn threads_never_change_a_model() {
    let (train, dev) = (lists(1, 100), lists(2, 20));
    for entry in choosers() {
        let mut options = passes(entry.name, 3);
        if options.profile().takes_batches() {
            options = in_batches(options, 7);
        }
        let run = |threads| trained(&train, Some(&dev), &LearnOptions { threads, ..options.clone() });
        let one = run(1);
        assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one), "{}", entry.name);
    }
}

#[test]
fn a_stopped_run_goes_on_as_if_nothing_had_happened() {
    let (train, dev) = (lists(1, 60), lists(2, 20));
    let set = CandidateSet::read(input(&train)).unwrap();
    let dev_set = set.read_dev(input(&dev)).unwrap();
    let task = RerankTask::new(&set, Some(&dev_set));
    for entry in choosers() {
        let short = LearnOptions { checkpoint_every: Some(1), ..passes(entry.name, 2) };
        let mut kept = Kept::default();
        Run::new(&task, &short).unwrap().run(&mut kept, &Arc::default()).unwrap();
        let long = passes(entry.name, 5);
        let resumed = resuming(&long, &kept.files[&2]);
        assert_eq!(
            trained(&train, Some(&dev), &resumed),
            trained(&train, Some(&dev), &long),
            "{}",
            entry.name
        );
        // Not with other data.
        let other = RerankTask::new(&set, None);
        assert!(Run::new(&other, &resumed).unwrap().resumed().is_err());
    }
}

#[test]
fn what_was_never_seen_counts_nothing() {
    let (model, _) = trained(&lists(1, 50), None, &passes("sgd", 3));
    let model = open(&model);
    let list = |first: &str, second: &str| {
        format!(
            r#"{{"candidates": [{{"text": "x", "features": {{{first}}}}}, {{"text": "y", "features": {{{second}}}}}]}}"#
        )
    };
    for (first, second, best) in [
        (r#""a": 0.2"#, r#""a": 0.4"#, "y\n"),
        (r#""a": 0.2, "new": 900"#, r#""a": 0.4, "new": -900"#, "y\n"),
        (r#""new": 1"#, "", "x\n"), // equal scores: the first
        ("", r#""a": 0.01"#, "y\n"),
    ] {
        assert_eq!(chosen(&model, &list(first, second), Choices::default()), best, "{first} | {second}");
    }
    let how = Choices { json: true, marginals: true, ..Choices::default() };
    let record: serde_json::Value =
        serde_json::from_str(&chosen(&model, &list("", r#""new": 3"#), how)).unwrap();
    assert_eq!(record["marginals"], serde_json::json!([0.5, 0.5]));
}

#[test]
fn weights_of_a_model_are_a_start() {
    let train = lists(1, 50);
    let set = CandidateSet::read(input(&train)).unwrap();
    let (model, _) = trained(&train, None, &passes("lbfgs", 20));
    let (weights, known) = open(&model).weights_for(&set).unwrap();
    assert_eq!((known, weights.len()), (set.features().len(), set.features().len()));
    // The same numbers as the model's, feature by feature.
    let names = set.features();
    let name = |id| String::from_utf8_lossy(names.get(id).unwrap()).into_owned();
    let started: BTreeMap<String, f64> = (0..).zip(&weights).map(|(id, w)| (name(id), *w)).collect();
    let strongest = open(&model).strongest().unwrap();
    assert_eq!(
        strongest.into_iter().map(|s| (s.feature, f64::from(s.weight))).collect::<BTreeMap<_, _>>(),
        started
    );
    // And of data that has other features in another order.
    let other = CandidateSet::read(input(
        r#"{"candidates": [{"text": "x", "features": {"new": 1, "c": 1, "a": 1}, "cost": 1}]}"#,
    ))
    .unwrap();
    let (weights, known) = open(&model).weights_for(&other).unwrap();
    assert_eq!((weights, known), (vec![0.0, started["c"], started["a"]], 2));
}

#[test]
fn other_keys_of_a_line_come_back() {
    let (model, _) = trained(&lists(1, 20), None, &passes("sgd", 2));
    let line = r#"{"source": {"a": [1, 2.50]}, "text": "mine", "candidates": [{"text": "x", "features": {}}], "nbest": 3, "id": "7"}"#;
    let json = |how| chosen(&open(&model), line, Choices { json: true, ..how });
    assert_eq!(
        json(Choices::default()),
        "{\"source\":{\"a\": [1, 2.50]},\"nbest\":3,\"id\":\"7\",\"candidate\":0,\"text\":\"x\",\"score\":0.0}\n"
    );
    let best = json(Choices { nbest: Some(1), ..Choices::default() });
    assert!(
        best.starts_with("{\"source\":{\"a\": [1, 2.50]},\"id\":\"7\",\"candidate\":0,")
            && best.contains("\"nbest\":[")
    );
}

#[test]
fn choices_that_do_not_belong_to_the_lists() {
    let gold = lists(1, 3);
    for (choices, what) in [
        ("0.0\n1.0\n", "fewer lines"),
        ("0.0\n1.0\n2.0\n2.0\n", "more lines"),
        ("0.0\n1.0\nno\n", "no candidate has the text 'no'"),
        ("{\"candidate\": 0}\n{\"candidate\": 0}\n{\"candidate\": 9}\n", "candidate 9"),
        ("{\"candidate\": 0, \"id\": 1}\n", "from list 1, and this is list 0"),
        ("{\"candidate\": true}\n", "not a choice"),
    ] {
        let error = chosen_costs(input(&gold), Input::from_bytes("chosen", choices).unwrap()).unwrap_err();
        assert!(error.to_string().contains(what), "{choices}: {error}");
    }
    let twice = r#"{"candidates": [{"text": "a", "features": {}, "cost": 1}, {"text": "a", "features": {}, "cost": 2}]}"#;
    let error = chosen_costs(input(twice), Input::from_bytes("chosen", "a\n").unwrap()).unwrap_err();
    assert!(error.to_string().contains("different costs"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_changed_model_chooses_or_is_refused(
        part in any::<Index>(), changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6), cut in 0usize..9,
    ) {
        let text = lists(1, 12);
        let (model, _) = trained(&text, None, &passes("perceptron", 2));
        let container = Container::from_bytes("m", &model).unwrap();
        let (name, _, bytes) = container.sections().nth(part.index(container.sections().count())).unwrap();
        let mut bytes = bytes.to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        let changed = with_part(&container, name, &bytes);
        if let Ok(Model::Reranker(model)) = Model::from_bytes("m", &changed) {
            prop_assert_eq!(chosen(&model, &text, Choices::default()).lines().count(), 12);
            model.strongest().unwrap();
        }
    }
}
