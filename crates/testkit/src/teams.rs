//! Learners and strategies put together by name, without a run around them.

use std::sync::Arc;

use seqoia_core::{Learner, Strategy, Structure};
use seqoia_learners::registry::{Entry, LEARNERS, Objective, Penalty};
use seqoia_strategies::registry::{STRATEGIES, find};
use seqoia_strategies::{Crew, Setup};

/// Threads, a seed and eight chunks.
#[must_use]
pub fn setup(threads: usize) -> Setup {
    Setup { crew: Arc::new(Crew::new(threads)), seed: 3, chunks: 8, stop: Arc::default() }
}

/// A strategy by name; `size` is the batch size of those that have one.
#[must_use]
pub fn strategy(name: &str, structure: Arc<dyn Structure>, setup: Setup, size: usize) -> Box<dyn Strategy> {
    let entry = find(name).unwrap();
    let given: Vec<_> = match entry.params.iter().any(|p| p.name == "batch-size") {
        true => vec![("batch-size".to_owned(), size.to_string())],
        false => vec![],
    };
    (entry.make)(structure, setup, &entry.check(&given).unwrap()).unwrap()
}

/// A learner with its defaults and some of each penalty that it knows.
#[must_use]
pub fn usual(entry: &Entry) -> Box<dyn Learner> {
    let l1 = if entry.penalty == Penalty::L1L2 { 0.01 } else { 0.0 };
    entry.build(&entry.defaults(), Objective { l1, l2: 0.02 })
}

/// A learner with parameters as text.
#[must_use]
pub fn learner(name: &str, given: &[(&str, &str)], objective: Objective) -> Box<dyn Learner> {
    let entry = LEARNERS.iter().find(|e| e.name == name).unwrap();
    let given: Vec<_> = given.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    entry.build(&entry.check(&given).unwrap(), objective)
}

/// Every learner with every strategy that takes it, and a batch size.
pub fn combinations() -> impl Iterator<Item = (&'static Entry, &'static str, usize)> {
    LEARNERS.iter().flat_map(|learner| {
        let profile = usual(learner).profile();
        let taking = STRATEGIES.iter().filter(move |s| s.accepts(&profile).is_ok());
        taking.flat_map(move |s| {
            let sizes: &[usize] = if s.params.is_empty() { &[1] } else { &[1, 7] };
            sizes.iter().map(move |size| (learner, s.name, *size))
        })
    })
}

/// Runs passes; how many examples were wrong in each.
pub fn run(
    strategy: &mut dyn Strategy,
    learner: &mut dyn Learner,
    passes: std::ops::RangeInclusive<u64>,
) -> Vec<u64> {
    passes.map(|p| strategy.pass(p, learner).unwrap().wrong).collect()
}
