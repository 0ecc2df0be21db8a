//! The memory that a run announces is an upper bound of what reading, training and saving take, and not far above.
//! What is taken is counted by the allocator of this test program.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seqoia::data::{generate, open};
use seqoia::{
    CandidateSet, DataOptions, DevSet, LabelTask, LearnOptions, PairChoice, RerankTask, Run, Strength,
    TrainingSet,
};
use seqoia_testkit::labelling::{TEMPLATES, in_batches, passes, templates};

/// Counts the bytes that are held, and the most that were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn took(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(held, Ordering::Relaxed);
}

#[allow(unsafe_code)]
// SAFETY: all is passed on to the system's allocator; the counters do not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        took(size); // old and new may be held together
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a run says that it takes, and what it took.
fn measured(train: &Path, dev: Option<&Path>, data: &DataOptions, options: &LearnOptions) -> (usize, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let set = TrainingSet::read(open::open(train).unwrap(), data).unwrap();
    let dev = dev.map(|path| DevSet::read(open::open(path).unwrap(), &set).unwrap());
    let task = LabelTask::new(&set, dev.as_ref());
    let run = Run::new(&task, options).unwrap();
    let said = run.memory();
    let trained = run.run(&mut (), &Arc::default()).unwrap();
    run.save(&trained, &train.with_extension("model")).unwrap();
    (said, MOST.load(Ordering::Relaxed) - before)
}

/// The same for lists of candidates.
fn measured_lists(train: &Path, options: &LearnOptions) -> (usize, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let set = CandidateSet::read(open::open(train).unwrap()).unwrap();
    let dev = set.read_dev(open::open(train).unwrap()).unwrap();
    let task = RerankTask::new(&set, Some(&dev));
    let run = Run::new(&task, options).unwrap();
    let said = run.memory();
    let trained = run.run(&mut (), &Arc::default()).unwrap();
    run.save(&trained, &train.with_extension("model")).unwrap();
    (said, MOST.load(Ordering::Relaxed) - before)
}

/// Bytes that a run says it takes for the program itself.
const PROGRAM: usize = 16 << 20;
/// Of these, what reading a file takes however small it is: blocks of text, and what unpacks them.
const BLOCKS: usize = 2 << 20;

#[test]
fn a_run_takes_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let small = file("small", &generate::columns(1, 200));
    let medium = file("medium", &generate::columns(1, 1200));
    // Few sentences of thousands of words.
    let long: String = (0..6).map(|i| generate::columns(i, 300).replace("\n\n", "\n") + "\n").collect();
    let long = file("long", &long);
    let number = |line: &str| match line.rsplit_once(' ') {
        Some((_, label)) => {
            format!("{} {} {label}\n", line.split(' ').take(2).collect::<Vec<_>>().join(" "), line.len())
        }
        None => "\n".to_owned(),
    };
    let numbers: String = generate::columns(1, 300).lines().map(number).collect();
    let numbers = file("numbers", &numbers);
    let plain = templates(TEMPLATES);
    let all = DataOptions { pairs: Some(PairChoice::All), ..plain.clone() };
    let edges = templates(&format!("{TEMPLATES}B1:%x[0,1]\nB2:%x[-1,1]/%x[0,1]\n"));
    let values = templates("U0:%x[0,0]=%v[0,2]\nU1:%x[-1,0]=%v[0,2]\nU2:%x[0,1]=%v[0,2]\nB\nB1:%x[0,1]\n");
    let mut chunking = DataOptions::default();
    chunking.features.sets.push("chunking".to_owned());
    let strength = Some(Strength::OverN(1.0));
    let averaged = || passes("averaged-perceptron", 2);
    let learners = [
        ("lbfgs", passes("lbfgs", 3)),
        ("owl-qn with l1", LearnOptions { l1: strength, ..passes("owl-qn", 3) }),
        ("sgd", passes("sgd", 2)),
        ("adagrad", passes("adagrad", 2)),
        ("adagrad with l2", LearnOptions { l2: strength, ..passes("adagrad", 2) }),
        ("perceptron", passes("perceptron", 2)),
        ("averaged perceptron", averaged()),
        ("averaged perceptron in batches of 24", in_batches(averaged(), 24)),
        ("adagrad in batches of 100", in_batches(passes("adagrad", 2), 100)),
    ];
    let mut wrong = vec![];
    let lists: String = (0..300)
        .map(|i| {
            let candidate = |j: usize| {
                let features: Vec<String> =
                    (0..50).map(|k| format!("\"f{}\": {}.5", (i * 7 + j * 13 + k * 31) % 9000, k)).collect();
                format!("{{\"text\": \"{j}\", \"features\": {{{}}}, \"cost\": {j}}}", features.join(", "))
            };
            let candidates: Vec<String> = (0..1 + i % 40).map(candidate).collect();
            format!("{{\"candidates\": [{}]}}\n", candidates.join(", "))
        })
        .collect();
    let lists = file("lists", &lists);
    // Few lines, each of megabytes: long names, some with escapes, and long texts.
    let long_name = |i: usize, j: usize, k: usize| {
        format!("\"{}{}\": 1", if k.is_multiple_of(2) { "n" } else { "\\n" }.repeat(1500), (i + j + k) % 700)
    };
    let long_names: String = (0..3)
        .map(|i| {
            let candidate = |j: usize| {
                let features: Vec<String> = (0..60).map(|k| long_name(i, j, k)).collect();
                format!("{{\"text\": \"t\", \"features\": {{{}}}, \"cost\": {j}}}", features.join(", "))
            };
            let candidates: Vec<String> = (0..40).map(candidate).collect();
            format!("{{\"candidates\": [{}]}}\n", candidates.join(", "))
        })
        .collect();
    let long_names = file("long names", &long_names);
    let long_texts: String = (0..20)
        .map(|i| {
            let text = |j: usize| if (i + j).is_multiple_of(2) { "word " } else { "\\\"w " }.repeat(40_000);
            let candidate = |j: usize| {
                format!("{{\"text\": \"{}\", \"features\": {{\"f{j}\": 1}}, \"cost\": {j}}}", text(j))
            };
            let candidates: Vec<String> = (0..10).map(candidate).collect();
            format!("{{\"candidates\": [{}]}}\n", candidates.join(", "))
        })
        .collect();
    let long_texts = file("long texts", &long_texts);
    for (lists, what) in
        [(&lists, "lists"), (&long_names, "lists with long names"), (&long_texts, "lists with long texts")]
    {
        for (name, options) in &learners {
            for threads in [1, 3] {
                let (said, took) = measured_lists(lists, &LearnOptions { threads, ..options.clone() });
                if took > said - PROGRAM + BLOCKS || said > 4 * took + PROGRAM {
                    wrong.push(format!("{name} on {threads} threads, {what}: took {took}, said {said}"));
                }
            }
        }
    }
    for (text, data, what, times) in [
        (&small, &plain, "a small file", 4),
        (&medium, &plain, "a file", 4),
        (&medium, &all, "all pairs", 4),
        (&medium, &edges, "attributes of label pairs", 4),
        (&medium, &chunking, "a feature set", 4),
        // What search finds is small beside what sums over labellings leave.
        (&numbers, &values, "values", 8),
        // Of several workers one may have all the work.
        (&long, &plain, "long sentences", 6),
    ] {
        for (name, options) in &learners {
            // With checkpoints there is dev data, too.
            for (threads, every) in [(1, None), (1, Some(1)), (3, None)] {
                let dev = every.map(|_| text.as_path());
                let options = LearnOptions { threads, checkpoint_every: every, ..options.clone() };
                let (said, took) = measured(text, dev, data, &options);
                if took > said - PROGRAM + BLOCKS || said > times * took + PROGRAM {
                    wrong.push(format!(
                        "{name} on {threads} threads, {what}, checkpoints {every:?}: took {took}, said {said}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
