//! Learners and strategies put together by name, without a run around them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use seqoia_core::{
    Case, Data, Learner, Note, Order, Profile, Random, Result, Slot, Strategy, Structure, Team,
};
use seqoia_learners::registry::{Entry, LEARNERS, Objective, Penalty};
use seqoia_strategies::registry::{STRATEGIES, find};
use seqoia_strategies::{Crew, Setup, Workers};

/// The seed of [`setup`].
const SEED: u64 = 3;

/// Threads, a seed and eight chunks.
#[must_use]
pub fn setup(threads: usize) -> Setup {
    Setup { crew: Arc::new(Crew::new(threads)), seed: SEED, chunks: 8, stop: Arc::default(), cut: None }
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

/// A team without a strategy, for what a learner does with one; batches of `batch` examples.
#[must_use]
pub fn team(structure: Arc<dyn Structure>, threads: usize, batch: usize) -> Workers {
    Workers::new(structure, setup(threads), batch).unwrap()
}

/// The batches of a pass, as the strategies draw them under [`setup`].
#[must_use]
pub fn batches(examples: usize, size: usize, pass: u64) -> Vec<Vec<usize>> {
    let (mut order, mut ids) = (Order::new(examples, Random::new(SEED, pass, 0, "order")), vec![]);
    order.next(examples, &mut ids);
    ids.chunks(size).map(<[usize]>::to_vec).collect()
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

/// Lets a learner begin from these weights.
pub fn warm(learner: &mut dyn Learner, w: &[f64]) {
    for slot in learner.state() {
        if let ("w", Data::F64(to)) = (slot.name, slot.data) {
            *to = w.to_vec();
        }
    }
}

/// Every learner with and without an l1 penalty if it knows one, with every strategy that takes it, and a batch size.
pub fn combinations() -> impl Iterator<Item = (&'static Entry, Objective, &'static str, usize)> {
    let learners = LEARNERS.iter().flat_map(|learner| {
        let l1: &[f64] = if learner.penalty == Penalty::L1L2 { &[0.0, 0.01] } else { &[0.0] };
        l1.iter().map(move |l1| (learner, Objective { l1: *l1, l2: 0.02 }))
    });
    learners.flat_map(|(learner, penalty)| {
        let profile = learner.build(&learner.defaults(), penalty).profile();
        let taking = STRATEGIES.iter().filter(move |s| s.accepts(&profile).is_ok());
        taking.flat_map(move |s| {
            let sizes: &[usize] = if s.params.is_empty() { &[1] } else { &[1, 7] };
            sizes.iter().map(move |size| (learner, penalty, s.name, *size))
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

/// Raises the stop while it looks at its n-th example.
pub struct Stopping {
    inner: Box<dyn Learner>,
    looks: AtomicUsize,
    at: usize,
    stop: Arc<AtomicBool>,
}

impl Stopping {
    /// Around a learner; `stop` is that of the strategy's [`Setup`].
    #[must_use]
    pub fn new(inner: Box<dyn Learner>, stop: Arc<AtomicBool>) -> Stopping {
        Stopping { inner, looks: AtomicUsize::new(0), at: usize::MAX, stop }
    }

    /// Raises the stop at the n-th look from here on.
    pub fn stop_at(&mut self, n: usize) {
        (self.looks, self.at) = (AtomicUsize::new(0), n);
    }

    /// Takes the stop back.
    pub fn go_on(&mut self) {
        self.at = usize::MAX;
        self.stop.store(false, Ordering::Relaxed);
    }
}

impl Learner for Stopping {
    fn profile(&self) -> Profile {
        self.inner.profile()
    }
    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.inner.begin(team)
    }
    fn open(&mut self, team: &mut dyn Team) -> Result<()> {
        self.inner.open(team)
    }
    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        self.inner.pick(steps, ids, team)
    }
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        if self.looks.fetch_add(1, Ordering::Relaxed) + 1 == self.at {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.inner.look(case, note)
    }
    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        self.inner.learn(batch, team)
    }
    fn rest(&mut self, team: &mut dyn Team) -> Result<()> {
        self.inner.rest(team)
    }
    fn weights(&self) -> Vec<f64> {
        self.inner.weights()
    }
    fn state(&mut self) -> Vec<Slot<'_>> {
        self.inner.state()
    }
}
