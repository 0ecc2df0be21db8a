//! Figures on real data, found through SEQOIA_DATA; without it these tests say that they skip.
//! Reference: python-crfsuite 0.9.12 on CoNLL-2000, c2 = 1: 338,551 attributes, 456,468 features, 161
//! iterations, objective 12,887.223, F1 93.56.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::path::PathBuf;

use seqoia::data::open;
use seqoia::label::{Output, PredictOptions, model_from_text, model_to_text, predict, why_text};
use seqoia::tools::{CheckOptions, check};
use seqoia::{
    ChainOptions, DataOptions, DevSet, LabelColumn, Labeller, LearnOptions, PairChoice, PassRow, Passes,
    Scheme, Strength, TrainingSet, Watch, score,
};
use seqoia_testkit::labelling::{fit, learner, templates, try_fit};
use seqoia_testkit::outside;

fn data(path: &str) -> Option<PathBuf> {
    Some(outside::folder()?.join(path))
}

fn chunking(change: impl FnOnce(&mut DataOptions)) -> Option<TrainingSet> {
    let mut options = templates(&std::fs::read_to_string(data("conll2000/template.crfpp")?).unwrap());
    change(&mut options);
    Some(TrainingSet::read(open::open(&data("conll2000/train.txt.gz")?).unwrap(), &options).unwrap())
}

fn options(name: &str) -> LearnOptions {
    LearnOptions { threads: 2, ..learner(name, &[]) }
}

fn f1(labeller: &Labeller) -> f64 {
    let input = open::open(&data("conll2000/test.txt.gz").unwrap()).unwrap();
    let mut out = vec![];
    predict(labeller, input, &PredictOptions::new(Output::Text, 2), &mut out).unwrap();
    score::last_two("out", &out, false).unwrap().scored.spans.f1()
}

/// Keeps the objective of the last pass.
#[derive(Default)]
struct Last(f64);

impl Watch for Last {
    fn pass(&mut self, row: &PassRow) {
        self.0 = row.objective.unwrap_or(f64::NAN);
    }
}

#[test]
fn chunking_has_the_features_of_the_reference_and_is_learned_in_five_passes() {
    let Some(set) = chunking(|_| ()) else { return };
    assert_eq!((set.space.attributes(), set.space.existing()), (338_551, 456_468));
    assert_eq!((set.corpus.len(), set.counts.tokens, set.labels.len()), (8_936, 211_727, 22));
    let named = {
        // As in the file, not as the recipe has it.
        let (pairs, scheme) = (Some(PairChoice::Observed), Some(Scheme::Iob2));
        let mut options = DataOptions { pairs, scheme, ..DataOptions::default() };
        options.features.sets.push("chunking".to_owned());
        let input = open::open(&data("conll2000/train.txt.gz").unwrap()).unwrap();
        TrainingSet::read(input, &options).unwrap()
    };
    assert_eq!((named.space.attributes(), named.space.existing()), (338_551, 456_468));
    let mut o = options("averaged-perceptron");
    o.passes = Some(Passes::Exactly(5));
    let f1 = f1(&fit(&set, None, &o).labeller());
    assert!(f1 > 93.2, "F1 {f1}");
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn lbfgs_ends_where_crfsuite_ends() {
    let Some(set) = chunking(|_| ()) else { return };
    let mut o = options("lbfgs");
    o.l2 = Some(Strength::OverN(2.0));
    let mut last = Last::default();
    let fitted = try_fit(&set, None, &o, ChainOptions::default(), &mut last).unwrap();
    let objective = last.0 * 8936.0;
    assert!(objective < 12_887.223 * 1.0001, "{objective}");
    let f1 = f1(&fitted.labeller());
    assert!(f1 >= 93.5, "F1 {f1}");
}

/// The anchor printed in the crfsgd documentation: CRF++ stops at F = 1.01187 on these features.
#[test]
#[ignore = "takes minutes: make test-long"]
fn all_pairs_reach_the_objective_that_crfpp_reaches() {
    let Some(set) = chunking(|o| (o.cutoff, o.pairs) = (3, Some(PairChoice::All))) else { return };
    // 76,328 attributes with 22 labels, and 22 times 22 label pairs.
    let mut o = options("lbfgs");
    o.l2 = Some(Strength::OverN(1.0));
    let mut last = Last::default();
    try_fit(&set, None, &o, ChainOptions::default(), &mut last).unwrap();
    assert!(last.0 < 1.0119 && last.0 > 1.0, "F = {}", last.0);
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn parts_of_speech_are_tagged_about_as_well_as_by_the_reference() {
    let Some(train) = data("ud-english-ewt/en_ewt-ud-train.conllu.gz") else { return };
    let mut d = DataOptions::default();
    d.features.sets.push("pos".to_owned());
    d.label = LabelColumn::parse("xpos").unwrap();
    // The reference has 94.29 and 94.46; ours, over five seeds, 94.24 to 94.41 and 94.32 to 94.46, and more
    // with all pairs.
    for (pairs, least) in [(PairChoice::Observed, [94.2, 94.3]), (PairChoice::All, [94.3, 94.5])] {
        d.pairs = Some(pairs);
        let set = TrainingSet::read(open::open(&train).unwrap(), &d).unwrap();
        for (file, least) in ["dev", "test"].into_iter().zip(least) {
            let path = data(&format!("ud-english-ewt/en_ewt-ud-{file}.conllu.gz")).unwrap();
            let dev = DevSet::read(open::open(&path).unwrap(), &set).unwrap();
            let mut o = options("averaged-perceptron");
            (o.passes, o.keep_last) = (Some(Passes::Exactly(10)), true);
            let trained = fit(&set, Some(&dev), &o).trained;
            assert!(trained.scores[0].value >= least, "{file}: {}", trained.scores[0].value);
        }
    }
}

/// A model of real data is text and back, and tells why; the counts of `check` are those that `sort` and
/// `uniq` give for the same files.
#[test]
fn a_tagger_comes_back_from_its_text_and_says_why() {
    let Some(train) = data("ud-english-ewt/en_ewt-ud-train.conllu.gz") else { return };
    let dev = data("ud-english-ewt/en_ewt-ud-dev.conllu.gz").unwrap();
    let label = LabelColumn::parse("xpos").unwrap();
    let how = CheckOptions { label: label.clone(), ..CheckOptions::default() };
    let checked = check(open::open(&train).unwrap(), Some(open::open(&dev).unwrap()), &how).unwrap();
    let [train_figures, dev_figures] = checked.files.as_slice() else { panic!("two files") };
    assert_eq!(
        (train_figures.sentences, train_figures.tokens, train_figures.words),
        (12_544, 204_577, Some(19_674))
    );
    assert_eq!((dev_figures.sentences, dev_figures.tokens, dev_figures.labels), (2_001, 25_147, 49));
    let mut d = DataOptions { label, ..DataOptions::default() };
    d.features.sets.push("pos".to_owned());
    let set = TrainingSet::read(open::open(&train).unwrap(), &d).unwrap();
    let mut o = options("averaged-perceptron");
    o.passes = Some(Passes::Exactly(2));
    let fitted = fit(&set, None, &o);
    let labeller = fitted.labeller();
    let mut text = vec![];
    model_to_text(&labeller, &mut text).unwrap();
    let made = model_from_text(open::Input::from_bytes("text", text).unwrap()).unwrap();
    assert!(made.unchanged && made.bytes == fitted.bytes);
    let why = why_text(&labeller, "The quick brown fox jumps over the lazy dog", None).unwrap();
    let labels: Vec<&str> = why.tokens.iter().map(|t| t.label.as_str()).collect();
    assert_eq!((labels[0], labels[5], labels[6], labels[8]), ("DT", "IN", "DT", "NN"));
    for rival in why.tokens.iter().filter_map(|t| t.rival.as_ref()) {
        let sum: f64 = rival.contributions.iter().map(|c| c.adds).sum();
        assert!((sum - rival.difference).abs() < 1e-9);
    }
}
