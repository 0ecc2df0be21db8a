//! A labeller from a text, and labels from a labeller, in a line each.

use std::sync::Arc;

use seqoia::data::generate;
use seqoia::data::scheme::{self, Scheme};
use seqoia::label::{Output, PredictOptions, predict};
use seqoia::{
    ChainOptions, DataOptions, DevSet, LabelTask, Labeller, LearnOptions, Passes, Result, Run, Trained,
    TrainingSet, Watch, input_from_text, learners, score,
};

/// Templates for the generated corpus: word, part of speech, label pairs.
pub const TEMPLATES: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[0,1]\nU4:%x[-1,1]/%x[0,1]\nB\n";

/// Options with these CRF++ templates.
#[must_use]
pub fn templates(text: &str) -> DataOptions {
    let mut options = DataOptions::default();
    options.features.templates.push(("template".to_owned(), text.to_owned()));
    options
}

/// The generated corpus, which has labels of chunks in IOB2, in another scheme.
#[must_use]
pub fn corpus(seed: u64, sentences: usize, to: Scheme) -> String {
    let (text, mut out, mut labels) = (generate::columns(seed, sentences), String::new(), vec![]);
    for sentence in text.split_terminator("\n\n") {
        let rows: Vec<(&str, &str)> = sentence.lines().map(|l| l.rsplit_once(' ').unwrap()).collect();
        let own: Vec<&str> = rows.iter().map(|row| row.1).collect();
        scheme::convert(Scheme::Iob2, to, &own, &mut labels);
        rows.iter().zip(&labels).for_each(|(row, label)| out.extend([row.0, " ", label, "\n"]));
        out.push('\n');
    }
    out
}

/// A training set.
///
/// # Errors
/// As reading it.
pub fn try_read(text: &str, options: &DataOptions) -> Result<TrainingSet> {
    TrainingSet::read(input_from_text("train", text)?, options)
}

/// The same where it can be read.
#[must_use]
pub fn read(text: &str, options: &DataOptions) -> TrainingSet {
    try_read(text, options).unwrap()
}

/// Dev data for a training set.
#[must_use]
pub fn dev(text: &str, set: &TrainingSet) -> DevSet {
    DevSet::read(input_from_text("dev", text).unwrap(), set).unwrap()
}

/// A learner with parameters as text.
#[must_use]
pub fn learner(name: &str, given: &[(&str, &str)]) -> LearnOptions {
    let entry = learners::find(name).unwrap();
    let given: Vec<_> = given.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    LearnOptions::new(entry, entry.check(&given).unwrap())
}

/// The same for exactly so many passes.
#[must_use]
pub fn passes(name: &str, passes: u64) -> LearnOptions {
    LearnOptions { passes: Some(Passes::Exactly(passes)), ..learner(name, &[]) }
}

/// Uses minibatches of this size.
#[must_use]
pub fn in_batches(options: LearnOptions, size: usize) -> LearnOptions {
    let given = [("batch-size".to_owned(), size.to_string())];
    let chosen = seqoia::strategies::Chosen::new(Some("minibatch"), &given, &options.profile()).unwrap();
    LearnOptions { strategy: Some(chosen), ..options }
}

/// What training gives, and the model file.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// What the run gave.
    pub trained: Trained,
    /// The bytes of the model file.
    pub bytes: Vec<u8>,
}

impl Fitted {
    /// The model.
    #[must_use]
    pub fn labeller(&self) -> Labeller {
        Labeller::from_bytes("model", &self.bytes).unwrap()
    }
}

/// Trains a task of this set.
///
/// # Errors
/// As the run.
pub fn try_fit(
    set: &TrainingSet,
    dev: Option<&DevSet>,
    options: &LearnOptions,
    chain: ChainOptions,
    watch: &mut dyn Watch,
) -> Result<Fitted> {
    let task = LabelTask::new(set, dev).with_chain(chain);
    let run = Run::new(&task, options)?;
    let trained = run.run(watch, &Arc::default())?;
    let bytes = run.model(&trained)?;
    Ok(Fitted { trained, bytes })
}

/// Trains with exact search in double precision.
#[must_use]
pub fn fit(set: &TrainingSet, dev: Option<&DevSet>, options: &LearnOptions) -> Fitted {
    try_fit(set, dev, options, ChainOptions::default(), &mut ()).unwrap()
}

/// The text with the labels that a model finds.
///
/// # Errors
/// As prediction.
pub fn try_label(model: &Labeller, text: &str, options: &PredictOptions) -> Result<String> {
    let mut out = vec![];
    predict(model, input_from_text("test", text)?, options, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// The same as plain text, on so many threads.
#[must_use]
pub fn label(model: &Labeller, text: &str, threads: usize) -> String {
    try_label(model, text, &PredictOptions::new(Output::Text, threads)).unwrap()
}

/// F1 of a model on labelled text.
#[must_use]
pub fn f1(model: &Labeller, text: &str) -> f64 {
    let labelled = label(model, text, 2);
    score::last_two("out", labelled.as_bytes(), false).unwrap().scored.spans.f1()
}
