//! Cases that run in this program: the loops where training spends its time, on data that is made before
//! counting starts.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context, Result};
use seqoia_core::vecmath::{adaptive_decay, adaptive_step};
use seqoia_core::{Delta, Lane, Note, Search, Structure, Update, Weights};
use seqoia_data::features::{Indexer, Lexica, Program, sets};
use seqoia_data::format::{Blocks, Reader};
use seqoia_data::generate;
use seqoia_data::open::Input;
use seqoia_learners::registry::{LEARNERS, Objective};
use seqoia_strategies::registry::Chosen;
use seqoia_strategies::{Crew, Setup};
use seqoia_structures::chain::{Chain, Precision, Rules, Sets};

use crate::toy::{self, Shape};

/// What is counted, with its data ready.
type Work = Box<dyn FnMut() -> Result<f64>>;

/// A name, and how its work is made.
type Kernel = (&'static str, fn() -> Result<Work>);

/// All of them. The number in a name is the number of labels.
pub(crate) const KERNELS: &[Kernel] = &[
    ("sum-2", || sum(toy::chain(&Shape { labels: 2, ..SHAPE })?)),
    ("sum-9", || sum(toy::chain(&Shape { labels: 9, ..SHAPE })?)),
    ("sum-22", || sum(toy::chain(&SHAPE)?)),
    ("sum-22-f32", || {
        let (chain, w) = toy::chain(&SHAPE)?;
        sum((chain.with_precision(Precision::F32), w))
    }),
    ("sum-22-rules", || {
        let (chain, w) = toy::chain(&SHAPE)?;
        let rules =
            Rules::new(22, |from, to| from.zip(to).is_none_or(|(from, to)| (to + 22 - from) % 22 <= 8));
        sum((chain.with_limits(Some(Arc::new(rules)), Sets::new(22))?, w))
    }),
    ("sum-22-values", || sum(toy::chain(&Shape { values: true, ..SHAPE })?)),
    ("sum-22-partial", || sum(toy::chain(&Shape { partial: true, ..SHAPE })?)),
    ("sum-70", || {
        let (chain, w) = toy::chain(&Shape { labels: 70, ..SHAPE })?;
        sum((chain.with_sums_by_pairs(false), w))
    }),
    ("sum-70-pairs", || {
        let (chain, w) = toy::chain(&Shape { labels: 70, ..SHAPE })?;
        sum((chain.with_sums_by_pairs(true), w))
    }),
    ("search-22", || search(toy::chain(&SHAPE)?, Update::Full)),
    ("search-70", || search(toy::chain(&Shape { labels: 70, ..SHAPE })?, Update::Full)),
    ("beam-22", || {
        let (chain, w) = toy::chain(&SHAPE)?;
        search((chain.with_beam(4), w), Update::MaxViolation)
    }),
    ("gradient-22", || gradient(&SHAPE)),
    ("gradient-70", || gradient(&Shape { labels: 70, ..SHAPE })),
    ("spread-22", || spread(&SHAPE)),
    ("spread-40", || spread(&Shape { labels: 40, ..SHAPE })),
    ("adagrad-step-9", || adagrad_step(&Shape { labels: 9, ..SHAPE })),
    ("adagrad-step-22", || adagrad_step(&SHAPE)),
    ("adagrad-decay", adagrad_decay),
    ("lbfgs-planes", lbfgs),
    ("read-chunking", || read("chunking")),
    ("read-ner", || read("ner")),
];

const SHAPE: Shape =
    Shape { labels: 22, tokens: 6_000, words: 2_200, all: false, values: false, partial: false };

/// Runs the kernel of this name.
///
/// # Errors
/// There is none, or it fails.
pub(crate) fn run(name: &str) -> Result<()> {
    let (_, make) = KERNELS.iter().find(|(own, _)| *own == name).context("no such kernel")?;
    let mut work = make()?;
    black_box(guard_counts_this(&mut *work)?);
    Ok(())
}

/// The name of the function below, by which callgrind finds it.
pub(crate) const COUNTED: &str = "guard_counts_this";

/// Instructions are counted from the call of this function to its return.
#[inline(never)]
fn guard_counts_this(work: &mut dyn FnMut() -> Result<f64>) -> Result<f64> {
    black_box(work())
}

/// A lane of a chain, and how many examples it has.
fn lane(chain: Chain) -> Result<(Box<dyn Lane>, usize)> {
    let (n, chain) = (chain.examples(), Arc::new(chain));
    Ok((chain.lane(0)?, n))
}

/// Loss and gradient of all sequences, as a pass of L-BFGS asks for them.
fn sum((chain, w): (Chain, Vec<f64>)) -> Result<Work> {
    let (mut lane, n) = lane(chain)?;
    let (ids, mut g, mut total) = ((0..n).collect::<Vec<_>>(), vec![], vec![0.0; w.len()]);
    Ok(Box::new(move || {
        let w = Weights::plain(&w);
        lane.prepare(w);
        let loss = lane.sum(&ids, w, Some(&mut g))?;
        lane.collect(&mut g, &mut total);
        Ok(loss)
    }))
}

/// The best labellings, as the perceptron asks for them.
fn search((chain, w): (Chain, Vec<f64>), update: Update) -> Result<Work> {
    let (mut lane, n) = lane(chain)?;
    let (search, mut note) = (Search { k: 1, cost: 0.0, update }, Note::default());
    Ok(Box::new(move || {
        let mut wrong = 0.0;
        for id in 0..n {
            note.clear(id, lane.open(id)?);
            lane.violations(Weights::plain(&w), &search, &mut note)?;
            wrong += f64::from(note.wrong);
        }
        Ok(wrong)
    }))
}

/// The gradient of the open example, in parts.
fn parts(lane: &mut dyn Lane, w: &[f64], scores: &mut Vec<f64>, parts: &mut Vec<f64>) -> f64 {
    scores.resize(lane.parts(), 0.0);
    parts.resize(lane.parts(), 0.0);
    lane.scores(Weights::plain(w), scores);
    let log_z = lane.infer(scores, Some(parts));
    let loss = log_z - lane.gold_score(scores);
    lane.gold(-1.0, parts);
    loss
}

/// Gradients of single examples as rows, as online learners ask for them.
fn gradient(shape: &Shape) -> Result<Work> {
    let (chain, w) = toy::chain(shape)?;
    let (mut lane, n) = lane(chain)?;
    let (mut scores, mut found, mut delta) = (vec![], vec![], Delta::default());
    Ok(Box::new(move || {
        let mut loss = 0.0;
        for id in 0..n {
            lane.open(id)?;
            loss += parts(&mut *lane, &w, &mut scores, &mut found);
            delta.clear();
            lane.scatter(&found, 0.0, &mut delta);
        }
        Ok(loss)
    }))
}

/// Adds a gradient to the weights for each example, as SGD does; all sequences have the same number of parts.
fn spread(shape: &Shape) -> Result<Work> {
    let (chain, mut w) = toy::chain(shape)?;
    let (mut lane, n) = lane(chain)?;
    let (mut scores, mut found) = (vec![], vec![]);
    lane.open(0)?;
    parts(&mut *lane, &w, &mut scores, &mut found);
    Ok(Box::new(move || {
        for id in 0..n {
            lane.open(id)?;
            lane.spread(&found, -0.01, 0, &mut w);
        }
        Ok(w[0])
    }))
}

/// The rows of all gradients, as AdaGrad adds them.
fn adagrad_step(shape: &Shape) -> Result<Work> {
    let (chain, mut w) = toy::chain(shape)?;
    let (mut lane, n) = lane(chain)?;
    let (mut scores, mut found, mut delta) = (vec![], vec![], Delta::default());
    for id in 0..n {
        lane.open(id)?;
        parts(&mut *lane, &w, &mut scores, &mut found);
        lane.scatter(&found, 0.0, &mut delta);
    }
    let mut squares = vec![0.0; w.len()];
    Ok(Box::new(move || {
        adaptive_step(&delta, 1.0, 0.2, 0.1, &mut w, &mut squares);
        Ok(w[0])
    }))
}

/// The decay of many steps, as AdaGrad makes it several times per pass.
fn adagrad_decay() -> Result<Work> {
    let (_, mut w) = toy::chain(&SHAPE)?;
    let squares = vec![0.5; w.len()];
    Ok(Box::new(move || {
        adaptive_decay(500, 1e-5, 0.1, &squares, &mut w);
        Ok(w[0])
    }))
}

/// Passes of L-BFGS over so few sequences, with so many weights, that its work on whole planes counts.
fn lbfgs() -> Result<Work> {
    let (chain, _) = toy::chain(&Shape { tokens: 400, all: true, ..SHAPE })?;
    let setup = Setup { crew: Arc::new(Crew::new(1)), seed: 1, chunks: 1, stop: Arc::default(), cut: None };
    let entry = LEARNERS.iter().find(|entry| entry.name == "lbfgs").context("no lbfgs")?;
    let mut learner = entry.build(&entry.defaults(), Objective { l1: 0.0, l2: 0.01 });
    let chosen = Chosen::new(None, &[], &learner.profile()).map_err(anyhow::Error::msg)?;
    let mut strategy = chosen.build(Arc::new(chain), setup)?;
    strategy.begin(&mut *learner, false)?;
    Ok(Box::new(move || {
        let mut loss = 0.0;
        for pass in 1..=4 {
            loss = strategy.pass(pass, &mut *learner)?.loss;
        }
        Ok(loss)
    }))
}

/// Reads a column file and numbers the attributes that a feature set gives.
fn read(set: &str) -> Result<Work> {
    let templates = sets::find(set, sets::Roles { word: 0, pos: 1 }).context("no such feature set")?;
    let program = Arc::new(Program::new(templates));
    let text = generate::columns(1, 500);
    Ok(Box::new(move || {
        let file = "generated";
        let input = Input::from_bytes(file, text.as_str())?;
        let blocks = Blocks::new(input).whole_documents(program.reads_mentions());
        let mut reader = Reader::new(blocks, None)?;
        let mut indexer = Indexer::new(Arc::clone(&program), Arc::new(Lexica::default()));
        while let Some(block) = reader.next()? {
            for sentence in block.sentences() {
                let gold = sentence.tokens.clone().map(|i| block.field(i, 3));
                indexer.push(file, block, sentence.tokens.clone(), gold)?;
            }
        }
        Ok(f64::from(*indexer.finish(1, 1).transitions.last().unwrap_or(&0)))
    }))
}
