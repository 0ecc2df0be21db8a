//! What a saboteur would do: weights beyond any file, hostile tables, doubled labels. Nothing good is lost, and a
//! model that is accepted is as fast as one that was written here.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::sync::Arc;

use seqoia::data::format::Kind;
use seqoia::label::{ShrinkOptions, shrink};
use seqoia::{
    ChainOptions, Checkpoint, DataOptions, Labeller, LearnOptions, PassRow, Passes, Result, Strength,
    TrainingSet, Watch,
};
use seqoia_model::{Container, Writer};
use seqoia_testkit::labelling;

const TEXT: &str = "a X\nb Y\nc X\n\nb X\na Y\n\n";
const TEMPLATES: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nB\n";

fn set() -> TrainingSet {
    labelling::read(TEXT, &labelling::templates(TEMPLATES))
}

/// Steps as long as a pass makes weights that double precision holds and single precision does not.
fn wild(passes: u64) -> LearnOptions {
    let options = labelling::learner("sgd", &[("rate", "1e39")]);
    LearnOptions { passes: Some(Passes::Exactly(passes)), l2: Some(Strength::Plain(0.0)), ..options }
}

#[derive(Default)]
struct Last(Vec<u8>);

impl Watch for Last {
    fn pass(&mut self, _: &PassRow) {}

    fn checkpoint(&mut self, _: u64, bytes: &[u8]) {
        self.0 = bytes.to_vec();
    }
}

fn fit(options: &LearnOptions, watch: &mut dyn Watch) -> Result<Vec<u8>> {
    let fitted = labelling::try_fit(&set(), None, options, ChainOptions::default(), watch)?;
    Ok(fitted.bytes)
}

#[test]
fn weights_beyond_single_precision_make_no_model() {
    let error = fit(&wild(1), &mut ()).unwrap_err().to_string();
    assert!(error.starts_with("after pass 1 some weights are too large for a model"), "{error}");
    assert!(error.contains("lower rate"), "{error}");
}

/// A file with one section changed, its checksum put right.
fn changed<T: seqoia_model::Number>(bytes: &[u8], section: &str, change: impl Fn(&mut Vec<T>)) -> Vec<u8> {
    let container = Container::from_bytes("m", bytes).unwrap();
    let mut numbers = container.get::<T>(section).unwrap().to_vec();
    change(&mut numbers);
    let mut writer = Writer::default();
    for (name, kind, bytes) in container.sections() {
        match name == section {
            true => writer.add(name, &numbers),
            false => writer.add_bytes(name, kind, bytes),
        }
    }
    writer.to_bytes()
}

#[test]
fn a_checkpoint_with_such_weights_is_refused() {
    let mut last = Last::default();
    let options = LearnOptions { checkpoint_every: Some(1), ..labelling::passes("averaged-perceptron", 2) };
    fit(&options, &mut last).unwrap();
    let resume = |bytes: &[u8]| {
        let checkpoint = Checkpoint::from_bytes("ck", bytes)?;
        fit(&LearnOptions { resume: Some(Arc::new(checkpoint)), ..options.clone() }, &mut ())
    };
    resume(&last.0).unwrap();
    let broken = changed(&last.0, "best", |best: &mut Vec<f64>| best[0] = 1e39);
    let error = resume(&broken).unwrap_err().to_string();
    assert!(error.contains("its best weights do not fit"), "{error}");
}

fn good() -> Vec<u8> {
    fit(&labelling::passes("averaged-perceptron", 2), &mut ()).unwrap()
}

#[test]
fn no_writer_makes_a_file_that_nothing_opens() {
    for bits in seqoia_model::codes::Bits::ALL {
        for w in [f32::INFINITY, f32::NAN] {
            assert!(seqoia_model::codes::Coded::new(vec![0.0, w], bits).is_err(), "{bits:?}");
        }
    }
    let model = Labeller::from_bytes("m", &good()).unwrap();
    let largest = changed(&good(), "weights", |w: &mut Vec<f32>| w[0] = f32::MAX);
    shrink(&model, ShrinkOptions::default()).unwrap();
    for bits in seqoia_model::codes::Bits::ALL {
        let model = Labeller::from_bytes("m", &largest).unwrap();
        if let Ok(bytes) = shrink(&model, ShrinkOptions { prune: 0.0, bits: Some(bits) }) {
            Labeller::from_bytes("m", &bytes).unwrap();
        }
    }
}

fn refused(bytes: &[u8], why: &str) {
    let error = Labeller::from_bytes("m", bytes).err().unwrap_or_else(|| panic!("accepted: {why}"));
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn a_table_that_is_fuller_than_any_that_is_written_is_refused() {
    let good = good();
    Labeller::from_bytes("m", &good).unwrap();
    for table in ["strings.slots", "nodes.slots"] {
        let filled = |slots: &mut Vec<u32>| slots.iter_mut().for_each(|slot| *slot = (*slot).max(1));
        refused(&changed(&good, table, filled), "table");
        let one_more = |slots: &mut Vec<u32>| *slots.iter_mut().find(|slot| **slot == 0).unwrap() = 1;
        refused(&changed(&good, table, one_more), "table");
        refused(&changed(&good, table, |slots: &mut Vec<u32>| slots.truncate(48)), "table");
        refused(&changed(&good, table, Vec::<u32>::clear), "table");
    }
}

#[test]
fn two_labels_of_one_name_are_refused() {
    let twice = changed(&good(), "meta", |meta: &mut Vec<u8>| {
        *meta = String::from_utf8_lossy(meta).replace(r#"["X","Y"]"#, r#"["X","X"]"#).into_bytes();
    });
    refused(&twice, "two labels are called 'X'");
}

#[test]
fn data_that_nothing_can_be_learned_from_is_refused() {
    let options = |format| DataOptions { format: Some(format), ..DataOptions::default() };
    let error = |text: &str, options: &DataOptions| {
        let input = seqoia::input_from_text("x", text).unwrap();
        TrainingSet::read(input, options).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let ready = options(Kind::Crfsuite);
    for weight in ["1e308", "5e-324"] {
        let text = format!("@weight:{weight}\nX\ta\n\n").repeat(2);
        assert!(error(&text, &ready).contains("too large or too small to be added up"), "{weight}");
    }
    assert!(error("X a b\nY c d\n", &ready).contains("no token has a feature"));
    // The values of an object without their names.
    let text = "{\"features\":[[\"a\"]],\"labels\":[\"X\"]}\n[null,[[\"b\"]],[\"Y\"],null,null]\n";
    let found = error(text, &options(Kind::Jsonl));
    assert!(found.starts_with("x:2: a list, where an object is expected"), "{found}");
}
