//! What the seams promise, on small random chains: the same bits for any number of threads, a run that
//! was stopped and resumed equals one that was not, and room for what the learners do not use: a
//! joint update over the k best labellings of a whole batch, inexact search, a structure that only
//! searches.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqoia_core::cast::{label, narrow, real};
use seqoia_core::{
    Bench, Case, Data, Delta, Error, Lane, Learner, Mix, Note, Order, Pairs, Question, Ragged, Random,
    Result, Row, Search, Sequence, Slot, State, Strategy, Structure, Team, Update, Weights, each,
};
use seqoia_learners::AveragedPerceptron;
use seqoia_learners::registry::{LEARNERS, Objective, Penalty};
use seqoia_strategies::{Crew, OneTeam, Setup, batch, minibatch, serial};
use seqoia_structures::chain::{Chain, Space};

const LABELS: usize = 5;
const ATTRIBUTES: usize = 40;

/// Random sequences whose labels depend on their attributes and on the label before.
fn chain(sequences: usize, seed: u64) -> Chain {
    let mut random = Random::new(seed, 0, 0, "toy");
    let all: Vec<Sequence> = (0..sequences)
        .map(|_| {
            let length = 1 + random.below(12);
            let mut nodes = Ragged { starts: vec![0], ..Ragged::default() };
            let mut labels: Vec<u16> = vec![];
            for _ in 0..length {
                let word = random.below(ATTRIBUTES - 8);
                let context = ATTRIBUTES - 8 + random.below(8);
                let before = labels.last().map_or(0, |&y| usize::from(y));
                // Every sixth word has no label of its own and takes the one before.
                let own = if word % 6 < LABELS { word % 6 } else { before };
                labels.push(label(if random.unit() < 0.03 { random.below(LABELS) } else { own }));
                nodes.items.extend([narrow(word), narrow(context)]);
                nodes.starts.push(narrow(nodes.items.len()));
            }
            Sequence { nodes, labels, weight: 0.5 + random.unit(), ..Sequence::default() }
        })
        .collect();
    let every = |n: usize| Pairs {
        starts: (0..=n).map(|i| narrow(i * LABELS)).collect(),
        labels: (0..n).flat_map(|_| 0..narrow(LABELS)).collect(),
        counts: vec![1; n],
    };
    let transitions: Vec<u32> = (0..narrow(LABELS * LABELS)).collect();
    let (space, _) = Space::new(LABELS, &every(ATTRIBUTES), &Pairs::default(), Some(&transitions), true);
    Chain::new(Arc::new(space), Arc::new(all))
}

fn setup(threads: usize, batch: usize) -> Setup {
    Setup { crew: Arc::new(Crew::new(threads)), seed: 3, batch, chunks: 8, stop: Arc::default() }
}

fn run(strategy: &mut OneTeam, learner: &mut dyn Learner, passes: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    passes.map(|p| strategy.pass(p, learner).unwrap().wrong).collect()
}

fn bits(w: &[f64]) -> Vec<u64> {
    w.iter().map(|x| x.to_bits()).collect()
}

/// Every learner with every strategy that takes it.
fn combinations() -> impl Iterator<Item = (&'static seqoia_learners::registry::Entry, &'static str, usize)> {
    LEARNERS.iter().flat_map(|e| match e.whole {
        true => vec![(e, "serial", 1), (e, "batch", 1)],
        false => vec![(e, "serial", 1), (e, "minibatch", 1), (e, "minibatch", 7)],
    })
}

fn strategy(name: &str, structure: Arc<dyn Structure>, threads: usize, size: usize) -> OneTeam {
    match name {
        "serial" => serial::serial(structure, setup(threads, size)),
        "minibatch" => minibatch::minibatch(structure, setup(threads, size)),
        _ => batch::batch(structure, setup(threads, size)),
    }
    .unwrap()
}

fn make(entry: &seqoia_learners::registry::Entry) -> Box<dyn Learner> {
    let l1 = if entry.penalty == Penalty::L1L2 { 0.01 } else { 0.0 };
    entry.build(&entry.check(&[]).unwrap(), Objective { l1, l2: 0.02 })
}

#[test]
fn one_two_three_and_eight_threads_give_the_same_bits() {
    for (entry, name, size) in combinations() {
        let weights = |threads| {
            let mut strategy = strategy(name, Arc::new(chain(60, 1)), threads, size);
            let mut learner = make(entry);
            strategy.accepts(&mut *learner).unwrap();
            strategy.begin(&mut *learner, false).unwrap();
            run(&mut strategy, &mut *learner, 1..=4);
            bits(&learner.weights())
        };
        let one = weights(1);
        assert!(one.iter().any(|x| *x != 0));
        for threads in [2, 3, 8] {
            assert!(weights(threads) == one, "{} with {name} {size} on {threads} threads", entry.name);
        }
    }
}

#[test]
fn stopped_and_resumed_is_not_stopped() {
    // The schedules of learners differ without a penalty.
    for ((entry, name, size), l2) in combinations().flat_map(|c| [(c, 0.02), (c, 0.0)]) {
        let learner = || entry.build(&entry.check(&[]).unwrap(), Objective { l1: 0.01, l2 });
        let fresh = || (strategy(name, Arc::new(chain(50, 2)), 2, size), learner());
        let (mut whole, mut learner) = fresh();
        whole.begin(&mut *learner, false).unwrap();
        run(&mut whole, &mut *learner, 1..=5);

        let (mut first, mut half) = fresh();
        first.begin(&mut *half, false).unwrap();
        run(&mut first, &mut *half, 1..=2);
        let state = State::save(&mut *half);
        let (mut second, mut other) = fresh();
        state.load(&mut *other).unwrap();
        second.begin(&mut *other, true).unwrap();
        run(&mut second, &mut *other, 3..=5);
        assert!(bits(&learner.weights()) == bits(&other.weights()), "{} with {name} {size}", entry.name);
    }
}

#[test]
fn a_stop_before_the_first_batch_leaves_finite_weights() {
    for (entry, name, size) in combinations() {
        let setup = setup(2, size);
        setup.stop.store(true, Ordering::Relaxed);
        let structure: Arc<dyn Structure> = Arc::new(chain(20, 3));
        let mut strategy = match name {
            "serial" => serial::serial(structure, setup),
            "minibatch" => minibatch::minibatch(structure, setup),
            _ => batch::batch(structure, setup),
        }
        .unwrap();
        let mut learner = make(entry);
        strategy.begin(&mut *learner, false).unwrap();
        strategy.pass(1, &mut *learner).unwrap();
        assert!(learner.weights().iter().all(|w| w.is_finite()));
    }
}

#[test]
fn a_state_of_another_learner_is_refused() {
    let (mut a, mut b) = (make(&LEARNERS[0]), AveragedPerceptron::new(Update::Full));
    let state = State::save(&mut *a);
    assert!(matches!(state.load(&mut b), Err(Error::Mismatch(_))));
}

#[test]
fn a_total_is_the_same_for_any_threads_and_close_for_any_cut() {
    let total = |threads, chunks| {
        let setup = Setup { chunks, ..setup(threads, 1) };
        let mut strategy = batch::batch(Arc::new(chain(70, 4)), setup).unwrap();
        let w: Vec<f64> = (0..chain(1, 4).weights()).map(|i| (real(i) * 0.7).sin()).collect();
        let mut g = vec![0.0; w.len()];
        let loss = strategy.total(Weights::plain(&w), Some(&mut g)).unwrap();
        (loss, g)
    };
    let (loss, g) = total(1, 8);
    for threads in [2, 3, 8] {
        let (other, h) = total(threads, 8);
        assert!(loss.to_bits() == other.to_bits() && bits(&g) == bits(&h));
    }
    for chunks in [1, 3, 50, 200] {
        let (other, h) = total(2, chunks);
        assert!((loss - other).abs() < 1e-9 * loss);
        assert!(g.iter().zip(&h).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

/// Passes a learner's calls on, and fails at one example.
struct Failing(AveragedPerceptron, bool);

impl Learner for Failing {
    fn needs(&self) -> &'static [Question] {
        self.0.needs()
    }
    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.0.begin(team)
    }
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        match (case.id, self.1) {
            (13, true) => panic!("a bug"),
            (13, false) => Err(Error::Example { id: 13, what: "broken".to_owned() }),
            _ => self.0.look(case, note),
        }
    }
    fn weights(&self) -> Vec<f64> {
        self.0.weights()
    }
    fn state(&mut self) -> Vec<Slot<'_>> {
        self.0.state()
    }
}

/// A chain whose lanes panic once, at the end of a sum.
struct Fragile(Arc<Chain>, AtomicBool);

impl Structure for Fragile {
    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn weights(&self) -> usize {
        self.0.weights()
    }
    fn offers(&self) -> &'static [Question] {
        self.0.offers()
    }
    fn lane(self: Arc<Self>, number: usize) -> Result<Box<dyn Lane>> {
        let lane = Arc::clone(&self.0).lane(number)?;
        Ok(Box::new(FragileLane { lane, of: self }))
    }
}

struct FragileLane {
    lane: Box<dyn Lane>,
    of: Arc<Fragile>,
}

impl Lane for FragileLane {
    fn open(&mut self, id: usize) -> Result<f64> {
        // The last of the last chunk: gradients of others are there, and no later chunk takes them along.
        let last = id + 1 == self.of.examples();
        assert!(!(last && self.of.1.swap(false, Ordering::Relaxed)), "a bug");
        self.lane.open(id)
    }
    fn parts(&self) -> usize {
        self.lane.parts()
    }
    fn scores(&mut self, w: Weights<'_>, scores: &mut [f64]) {
        self.lane.scores(w, scores);
    }
    fn infer(&mut self, scores: &[f64], marginals: Option<&mut [f64]>) -> f64 {
        self.lane.infer(scores, marginals)
    }
    fn gold_score(&mut self, scores: &[f64]) -> f64 {
        self.lane.gold_score(scores)
    }
    fn gold(&mut self, c: f64, parts: &mut [f64]) {
        self.lane.gold(c, parts);
    }
    fn scatter(&self, parts: &[f64], least: f64, out: &mut Delta) {
        self.lane.scatter(parts, least, out);
    }
}

#[test]
fn a_sum_after_a_panic_is_that_of_a_fresh_team() {
    let total = |panics| {
        let fragile = Fragile(Arc::new(chain(30, 5)), AtomicBool::new(panics));
        let w = vec![0.1; fragile.weights()];
        let mut strategy = batch::batch(Arc::new(fragile), setup(2, 1)).unwrap();
        let mut g = vec![0.0; w.len()];
        if panics {
            assert!(matches!(strategy.total(Weights::plain(&w), Some(&mut g)), Err(Error::Worker(_))));
        }
        (strategy.total(Weights::plain(&w), Some(&mut g)).unwrap().to_bits(), bits(&g))
    };
    assert_eq!(total(true), total(false));
}

#[test]
fn errors_and_panics_of_workers_come_back_and_the_team_lives_on() {
    let mut strategy = minibatch::minibatch(Arc::new(chain(30, 5)), setup(3, 8)).unwrap();
    let mut learner = Failing(AveragedPerceptron::new(Update::Full), false);
    strategy.begin(&mut learner, false).unwrap();
    assert!(matches!(strategy.pass(1, &mut learner), Err(Error::Example { id: 13, .. })));
    learner.1 = true;
    assert!(matches!(strategy.pass(1, &mut learner), Err(Error::Worker(_))));
    let mut sound = AveragedPerceptron::new(Update::Full);
    strategy.begin(&mut sound, false).unwrap();
    assert!(strategy.pass(1, &mut sound).is_ok());
}

#[test]
fn learners_that_search_say_so() {
    for entry in LEARNERS {
        assert_eq!(entry.searches(), make(entry).needs().contains(&Question::Violations), "{}", entry.name);
    }
}

#[test]
fn inexact_search_learns_with_prefixes() {
    for update in [Update::Early, Update::Latest, Update::MaxViolation] {
        let weights = |threads| {
            let structure = Arc::new(chain(150, 6).with_beam(2));
            let mut strategy = minibatch::minibatch(structure, setup(threads, 8)).unwrap();
            let mut learner = AveragedPerceptron::new(update);
            strategy.begin(&mut learner, false).unwrap();
            let wrong = run(&mut strategy, &mut learner, 1..=8);
            assert!(wrong[7] * 3 < wrong[0] * 2, "{update:?}: {wrong:?}");
            bits(&learner.weights())
        };
        let one = weights(1);
        assert!(weights(2) == one && weights(3) == one);
    }
}

/// MIRA with one quadratic program over the k best labellings of all examples of a batch (McDonald et
/// al. 2005; Zhao & Huang 2013): what needs `learn` to see the whole batch and to have the workers.
struct JointMira {
    k: usize,
    w: Vec<f64>,
}

impl Learner for JointMira {
    fn needs(&self) -> &'static [Question] {
        &[Question::Violations]
    }

    fn begin(&mut self, team: &mut dyn Team) -> Result<()> {
        self.w.resize(team.weights(), 0.0);
        Ok(())
    }

    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let search = Search { k: self.k, cost: 1.0, update: Update::Full };
        case.violations(Weights::plain(&self.w), &search, note)?;
        for v in note.found_mut() {
            case.merge(&mut v.delta);
        }
        Ok(())
    }

    fn learn(&mut self, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        let all: Vec<_> = batch.iter().flat_map(Note::found).collect();
        let n = all.len();
        let mut gram = vec![0.0; n * n];
        let (vectors, w) = (&all, self.w.len());
        each(team, gram.chunks_mut(n.max(1)).enumerate().collect(), |(i, row): (usize, &mut [f64])| {
            let mut dense = vec![0.0; w];
            vectors[i].delta.add_to(1.0, &mut dense);
            row.iter_mut().zip(vectors).for_each(|(x, v)| *x = v.delta.dot(Weights::plain(&dense)));
        })?;
        let mut residual: Vec<f64> = all.iter().map(|v| v.cost - v.margin).collect();
        let mut alpha = vec![0.0; n];
        for step in 0..50 * n {
            let j = step % n;
            let moved = (alpha[j] + residual[j] / gram[j * n + j]).clamp(0.0, 0.1);
            let change = moved - alpha[j];
            alpha[j] = moved;
            (0..n).for_each(|k| residual[k] -= change * gram[j * n + k]);
        }
        for (v, a) in all.iter().zip(alpha) {
            v.delta.add_to(a, &mut self.w);
        }
        Ok(())
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![Slot { name: "w", mix: Mix::Mean, data: Data::F64(&mut self.w) }]
    }
}

#[test]
fn a_joint_update_over_the_k_best_of_a_batch() {
    for (k, size) in [(1, 1), (5, 1), (5, 16)] {
        let weights = |threads| {
            let mut strategy = minibatch::minibatch(Arc::new(chain(120, 7)), setup(threads, size)).unwrap();
            let mut learner = JointMira { k, w: vec![] };
            strategy.begin(&mut learner, false).unwrap();
            // Without weights every sentence is wrong.
            let wrong = run(&mut strategy, &mut learner, 1..=6)[5];
            assert!(wrong * 2 < 120, "k {k}, batch {size}: {wrong} of 120 are wrong");
            bits(&learner.weights())
        };
        let one = weights(1);
        for threads in [2, 3, 8] {
            assert!(weights(threads) == one, "k {k}, batch {size}, {threads} threads");
        }
    }
}

/// A structure that only searches, in an open space of weights: the answer to "which of three words",
/// each word a feature that gets its number when it is first met.
struct Guess {
    answers: Vec<usize>,
    seen: AtomicBool,
}

struct GuessLane(Arc<Guess>, usize);

impl Structure for Guess {
    fn examples(&self) -> usize {
        self.answers.len()
    }
    fn weights(&self) -> usize {
        0 // nothing is known before learning
    }
    fn offers(&self) -> &'static [Question] {
        &[Question::Violations]
    }
    fn lane(self: Arc<Self>, _: usize) -> Result<Box<dyn Lane>> {
        Ok(Box::new(GuessLane(self, 0)))
    }
    fn sticky(&self) -> bool {
        true
    }
    fn settle(&self, _: &[Note]) {
        self.seen.store(true, Ordering::Relaxed);
    }
}

impl Lane for GuessLane {
    fn open(&mut self, id: usize) -> Result<f64> {
        self.1 = id;
        Ok(1.0)
    }
    fn violations(&mut self, w: Weights<'_>, _: &Search, note: &mut Note) -> Result<()> {
        let score = |y: usize| w.values.get(3 * (self.1 % 4) + y).copied().unwrap_or(0.0);
        let (gold, mut best) = (self.0.answers[self.1], 0);
        for y in 1..3 {
            best = if score(y) > score(best) { y } else { best };
        }
        if best != gold {
            note.wrong = true;
            let v = note.violation();
            (v.cost, v.margin) = (1.0, score(gold) - score(best));
            let from = v.delta.share(&[1.0, -1.0]);
            for (y, from) in [(gold, from), (best, from + 1)] {
                v.delta.rows.push(Row { at: narrow(3 * (self.1 % 4) + y), from, len: 1, holes: 0 });
            }
        }
        Ok(())
    }
}

#[test]
fn an_open_space_that_only_searches() {
    let structure =
        Arc::new(Guess { answers: (0..40).map(|i| i % 4 % 3).collect(), seen: AtomicBool::new(false) });
    let weights = |threads| {
        let mut strategy = minibatch::minibatch(structure.clone(), setup(threads, 4)).unwrap();
        let mut learner = AveragedPerceptron::new(Update::Full);
        strategy.begin(&mut learner, false).unwrap();
        assert_eq!(run(&mut strategy, &mut learner, 1..=10)[9], 0);
        bits(&learner.weights())
    };
    assert!(weights(1) == weights(3));
    assert!(structure.seen.load(Ordering::Relaxed));
    // Marginals are not to be had here, and that is said before anything runs.
    let strategy = serial::serial(structure.clone(), setup(1, 1)).unwrap();
    let error = strategy.accepts(&mut *make(&LEARNERS[0])).unwrap_err().to_string();
    assert!(error.contains("needs marginals"), "{error}");
    let minibatch = minibatch::minibatch(Arc::new(chain(5, 1)), setup(1, 4)).unwrap();
    assert!(minibatch.accepts(&mut *make(&LEARNERS[0])).unwrap_err().to_string().contains("whole passes"));
}

#[test]
fn instance_weights_count_like_copies() {
    let base = chain(30, 8);
    let space = Arc::clone(base.space());
    let mut random = Random::new(1, 0, 0, "copies");
    let plain: Vec<Sequence> = (0..30)
        .map(|_| {
            let length = 1 + random.below(5);
            let items: Vec<u32> = (0..length).map(|_| narrow(random.below(ATTRIBUTES))).collect();
            let starts = (0..=narrow(length)).collect();
            let labels = (0..length).map(|_| label(random.below(LABELS))).collect();
            Sequence { nodes: Ragged { starts, items, values: vec![] }, labels, ..Sequence::default() }
        })
        .collect();
    let doubled: Vec<Sequence> = plain.iter().chain(&plain[..10]).cloned().collect();
    let mut weighted = plain;
    weighted[..10].iter_mut().for_each(|s| s.weight = 2.0);
    let w: Vec<f64> = (0..base.weights()).map(|i| (real(i) * 0.3).cos()).collect();
    let total = |sequences: Vec<Sequence>| {
        let chain = Chain::new(Arc::clone(&space), Arc::new(sequences));
        let mut strategy = batch::batch(Arc::new(chain), setup(2, 1)).unwrap();
        let mut g = vec![0.0; w.len()];
        (strategy.total(Weights::plain(&w), Some(&mut g)).unwrap(), g)
    };
    let (a, b) = (total(doubled), total(weighted));
    assert!((a.0 - b.0).abs() < 1e-10 * a.0);
    assert!(a.1.iter().zip(&b.1).all(|(x, y)| (x - y).abs() < 1e-10));
}

/// The batches of two passes, as the strategies draw them.
fn batches(examples: usize, size: usize) -> Vec<Vec<usize>> {
    let of_pass = |pass| {
        let (mut order, mut ids) = (Order::new(examples, Random::new(3, pass, 0, "order")), vec![]);
        order.next(examples, &mut ids);
        ids.chunks(size).map(<[usize]>::to_vec).collect::<Vec<_>>()
    };
    (1..=2).flat_map(of_pass).collect()
}

/// The gradient of an example, times its weight, by its parts.
fn gradient(lane: &mut dyn Lane, id: usize, w: &[f64], least: f64) -> Delta {
    let c = lane.open(id).unwrap();
    let (mut parts, mut delta) = (vec![0.0; lane.parts()], Delta::default());
    let mut scores = parts.clone();
    lane.scores(Weights::plain(w), &mut scores);
    lane.infer(&scores, Some(&mut parts));
    lane.gold(-1.0, &mut parts);
    parts.iter_mut().for_each(|p| *p *= c);
    let width = Space::padded(LABELS);
    let (nodes, _) = parts.split_at_mut(lane.parts() - LABELS * width);
    for position in nodes.chunks_mut(width).filter(|p| p.iter().all(|x| x.abs() <= least * c)) {
        position.fill(0.0);
    }
    lane.scatter(&parts, 0.0, &mut delta);
    delta
}

/// The weights of a learner after two passes in batches.
fn learned(
    name: &str,
    flags: &[(&str, &str)],
    l2: f64,
    structure: &Arc<dyn Structure>,
    size: usize,
) -> Vec<f64> {
    let entry = LEARNERS.iter().find(|e| e.name == name).unwrap();
    let flags: Vec<_> = flags.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let mut learner = entry.build(&entry.check(&flags).unwrap(), Objective { l1: 0.0, l2 });
    let mut strategy = strategy("minibatch", Arc::clone(structure), 2, size);
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut strategy, &mut *learner, 1..=2);
    learner.weights()
}

/// AdaGrad as its formula stands: every weight decays at every step.
#[test]
fn adagrad_puts_its_decay_off_and_loses_nothing() {
    const L2: f64 = 0.05;
    let structure: Arc<dyn Structure> = Arc::new(chain(30, 5));
    for (size, least) in [(1, "0"), (1, "0.1"), (7, "0")] {
        let mut lane = Arc::clone(&structure).lane(0).unwrap();
        let (mut w, mut squares) = (vec![0.0; structure.weights()], vec![0.0; structure.weights()]);
        for ids in batches(30, size) {
            let deltas: Vec<Delta> =
                ids.iter().map(|&id| gradient(&mut *lane, id, &w, least.parse().unwrap())).collect();
            for (j, g) in deltas.iter().flat_map(Delta::entries) {
                let g = g / real(ids.len());
                squares[j] += g * g;
                w[j] -= 0.2 * g / (0.1 + f64::sqrt(squares[j]));
            }
            w.iter_mut().zip(&squares).for_each(|(w, g)| *w /= 1.0 + L2 * 0.2 / (0.1 + g.sqrt()));
        }
        let lazy = learned("adagrad", &[("least", least)], L2, &structure, size);
        // Steps are computed in single precision.
        lazy.iter().zip(&w).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "batches of {size}: {a} {b}"));
    }
}

/// Stochastic gradient descent as its formula stands: the mean gradient of a batch, a plain vector.
#[test]
fn sgd_scales_instead_of_decaying_and_loses_nothing() {
    let structure: Arc<dyn Structure> = Arc::new(chain(30, 5));
    for (size, l2) in [(1, 0.05), (7, 0.05), (1, 0.0), (7, 0.0)] {
        let mut lane = Arc::clone(&structure).lane(0).unwrap();
        let mut w = vec![0.0; structure.weights()];
        let mut seen = 0;
        for (t, ids) in batches(30, size).iter().enumerate() {
            let shrink = if l2 > 0.0 { 0.3 * l2 * real(t) } else { real(seen) / 30.0 };
            let eta = 0.3 / (1.0 + shrink);
            let deltas: Vec<Delta> = ids.iter().map(|&id| gradient(&mut *lane, id, &w, 0.0)).collect();
            w.iter_mut().for_each(|w| *w *= 1.0 - eta * l2);
            for (j, g) in deltas.iter().flat_map(Delta::entries) {
                w[j] -= eta * g / real(ids.len());
            }
            seen += ids.len();
        }
        assert_eq!(seen, 60);
        let scaled = learned("sgd", &[("rate", "0.3")], l2, &structure, size);
        scaled.iter().zip(&w).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "batches of {size}: {a} {b}"));
    }
}

#[test]
fn the_loss_along_a_direction_is_the_loss_there() {
    let structure: Arc<dyn Structure> = Arc::new(chain(10, 6));
    let (mut lane, mut bench) = (Arc::clone(&structure).lane(0).unwrap(), Bench::default());
    let w: Vec<f64> = (0..structure.weights()).map(|i| (real(i) * 0.7).sin()).collect();
    for id in 0..10 {
        let delta = gradient(&mut *lane, id, &w, 0.0);
        let weight = lane.open(id).unwrap();
        let asked = seqoia_core::Asked::default();
        let mut case = Case { id, weight, lane: &mut *lane, bench: &mut bench, cost: 0.0, asked };
        case.loss(Weights::plain(&w));
        case.aim(Weights::plain(&w), &delta);
        let along: Vec<f64> = [0.0, -0.3, 1.5].map(|step| case.loss_along(step)).to_vec();
        for (step, along) in [0.0, -0.3, 1.5].into_iter().zip(along) {
            let mut there = w.clone();
            delta.entries().for_each(|(j, x)| there[j] += step * x);
            let loss = case.loss(Weights::plain(&there));
            assert!((loss - along).abs() < 1e-9 * loss.abs().max(1.0), "{step}: {along} {loss}");
        }
    }
}
