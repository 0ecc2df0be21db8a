//! A run that was stopped and resumed ends with the bytes of a run that was not, for every learner; and a
//! checkpoint that does not fit, or is broken, is an error that says why.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia::data::generate;
use seqoia::learners::LEARNERS;
use seqoia::run::Start;
use seqoia::{
    ChainOptions, Checkpoint, DevSet, Ended, LabelTask, Labeller, LearnOptions, Passes, Run, Trained,
    TrainingSet,
};
use seqoia_testkit::files::{Kept, resuming, seal};
use seqoia_testkit::labelling::{Fitted, in_batches, learner, read, templates, try_fit};

const TEMPLATES: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[0,1]\nU3:%x[-1,1]/%x[0,1]\nB\n";

fn set(seed: u64, lines: &str) -> TrainingSet {
    read(&generate::columns(seed, 80), &templates(lines))
}

fn dev(set: &TrainingSet, seed: u64) -> DevSet {
    seqoia_testkit::labelling::dev(&generate::columns(seed, 40), set)
}

fn options(name: &str, passes: Passes) -> LearnOptions {
    LearnOptions { threads: 2, passes: Some(passes), checkpoint_every: Some(1), ..learner(name, &[]) }
}

fn train(set: &TrainingSet, options: &LearnOptions, dev: Option<&DevSet>) -> (Trained, Vec<u8>, Kept) {
    let mut kept = Kept::default();
    let fitted = try_fit(set, dev, options, ChainOptions::default(), &mut kept).unwrap();
    let Fitted { trained, bytes } = fitted;
    (trained, bytes, kept)
}

#[test]
fn every_learner_goes_on_as_if_it_had_not_stopped() {
    let set = set(1, TEMPLATES);
    for entry in LEARNERS {
        for batch_size in if entry.profile(&entry.defaults()).takes_batches() { vec![1, 7] } else { vec![1] }
        {
            let mut o = options(entry.name, Passes::Exactly(5));
            o = if batch_size > 1 { in_batches(o, batch_size) } else { o };
            let (_, straight, _) = train(&set, &o, None);
            o.passes = Some(Passes::Exactly(2));
            let (_, _, kept) = train(&set, &o, None);
            o.passes = Some(Passes::Exactly(5));
            o.threads = 3;
            let (_, resumed, later) = train(&set, &resuming(&o, &kept.files[&2]), None);
            assert!(resumed == straight, "{} in batches of {batch_size}", entry.name);
            assert_eq!(later.files.keys().copied().collect::<Vec<_>>(), [3, 4, 5]);
        }
    }
}

#[test]
fn dev_scores_patience_and_convergence_go_on_too() {
    let set = set(1, TEMPLATES);
    let dev = dev(&set, 2);
    for entry in LEARNERS {
        let mut o = options(entry.name, Passes::AtMost(12));
        o.patience = Some(2);
        let (trained, straight, kept) = train(&set, &o, Some(&dev));
        // From every pass, the last one included: nothing is left to do there.
        for (pass, file) in &kept.files {
            let (again, resumed, _) = train(&set, &resuming(&o, file), Some(&dev));
            assert!(resumed == straight, "{} from pass {pass}", entry.name);
            assert_eq!((again.best_pass, &again.ended), (trained.best_pass, &trained.ended));
        }
    }
    let mut o = options("lbfgs", Passes::AtMost(500));
    o.checkpoint_every = Some(7);
    let (trained, straight, kept) = train(&set, &o, None);
    assert!(matches!(trained.ended, Ended::Converged(_)));
    let passes: Vec<u64> = kept.files.keys().copied().collect();
    assert_eq!(passes[..2], [7, 14]);
    assert_eq!(passes.last(), Some(&trained.passes));
    for pass in [7, trained.passes] {
        assert!(train(&set, &resuming(&o, &kept.files[&pass]), None).1 == straight);
    }
}

#[test]
fn a_run_stopped_by_hand_leaves_a_checkpoint_of_a_whole_pass() {
    let set = set(1, TEMPLATES);
    let task = LabelTask::new(&set, None);
    for entry in LEARNERS {
        let mut o = options(entry.name, Passes::Exactly(4));
        o.checkpoint_every = Some(1000);
        let (_, straight, _) = train(&set, &o, None);
        // Raised after pass 2, and before the first.
        for (when, passes) in [(2, 2), (0, 1)] {
            let stop = Arc::new(AtomicBool::new(when == 0));
            let mut kept = Kept { stop: Some((when, Arc::clone(&stop))), ..Kept::default() };
            let trained = Run::new(&task, &o).unwrap().run(&mut kept, &stop).unwrap();
            assert_eq!((trained.ended, trained.passes), (Ended::Interrupted, passes));
            let (_, resumed, _) = train(&set, &resuming(&o, &kept.files[&passes]), None);
            assert!(resumed == straight, "{}", entry.name);
        }
    }
}

#[test]
fn a_warm_start_goes_on_too() {
    let set = set(1, TEMPLATES);
    let mut o = options("averaged-perceptron", Passes::Exactly(3));
    let (first, _, _) = train(&set, &o, None);
    o.start = Some(Start { weights: first.weights, memo: None });
    let (_, straight, kept) = train(&set, &o, None);
    assert!(train(&set, &resuming(&o, &kept.files[&1]), None).1 == straight);
    o.start = None;
    assert!(refusal(&set, &resuming(&o, &kept.files[&1]), None).contains("another `warm-start`"));
}

fn refusal(set: &TrainingSet, options: &LearnOptions, dev: Option<&DevSet>) -> String {
    let task = LabelTask::new(set, dev);
    let run = Run::new(&task, options).unwrap();
    let error = run.run(&mut (), &Arc::default()).unwrap_err();
    assert_eq!(run.resumed().unwrap_err(), error);
    error.to_string()
}

#[test]
fn what_differs_is_said() {
    let one = set(1, TEMPLATES);
    let o = options("averaged-perceptron", Passes::Exactly(2));
    let file = &train(&one, &o, None).2.files[&2];
    let o = resuming(&o, file);
    let says = |options: &LearnOptions, what: &str| {
        let error = refusal(&one, options, None);
        assert!(error.contains(what) && error.starts_with("ck"), "{error}");
    };
    says(&LearnOptions { seed: 7, ..o.clone() }, "had seed 1, not 7\n");
    says(&LearnOptions { keep_last: true, ..o.clone() }, "had keep best, not last\n");
    says(&in_batches(o.clone(), 4), "had batch-size none, not 4; strategy serial, not minibatch");
    says(&resuming(&options("perceptron", Passes::Exactly(2)), file), "had learner averaged-perceptron, not");
    says(&LearnOptions { passes: Some(Passes::Exactly(1)), ..o.clone() }, "is of pass 2, and 1 are wanted");
    assert!(refusal(&set(3, TEMPLATES), &o, None).contains("had other training data\n"));
    assert!(refusal(&set(1, "U0:%x[0,0]\n"), &o, None).contains("had other templates\n"));
    assert!(refusal(&one, &o, Some(&dev(&one, 2))).contains("had other dev data\n"));
}

#[test]
fn broken_checkpoints_give_errors() {
    let set = set(1, "U0:%x[0,1]\nB\n");
    let task = LabelTask::new(&set, None);
    for entry in LEARNERS {
        let o = options(entry.name, Passes::Exactly(2));
        let (_, model, kept) = train(&set, &o, None);
        let file = &kept.files[&1];
        let what =
            |bytes: &[u8]| Checkpoint::from_bytes("ck", bytes).err().map_or(String::new(), |e| e.to_string());
        assert!(what(&model).contains("this is a model, not a checkpoint"));
        assert!(Labeller::from_bytes("ck", file).err().unwrap().to_string().contains("is a checkpoint, not"));
        assert!(what(b"hello").contains("this is not a Seqoia checkpoint\n  help: checkpoints are made by"));
        for length in (0..file.len()).step_by(file.len() / 100) {
            assert!(!what(&file[..length]).is_empty());
        }
        for at in (0..file.len()).step_by(file.len() / 100) {
            let mut flipped = file.clone();
            flipped[at] ^= 4;
            assert!(!what(&flipped).is_empty(), "flipped at {at}");
        }
        // With a right checksum anything may be in there; a run ends or fails, and does not panic.
        let mut random = seqoia::core::Random::new(1, 0, 0, "hostile");
        for _ in 0..40 {
            let mut hostile = file.clone();
            for _ in 0..1 + random.below(4) {
                let at = 16 + random.below(hostile.len() - 16);
                hostile[at] = u8::try_from(random.below(256)).unwrap();
            }
            seal(&mut hostile);
            if let Ok(checkpoint) = Checkpoint::from_bytes("ck", &hostile) {
                let o = LearnOptions { resume: Some(Arc::new(checkpoint)), ..o.clone() };
                let _ = Run::new(&task, &o).unwrap().run(&mut (), &Arc::default());
            }
        }
    }
}
