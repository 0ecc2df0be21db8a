//! What the seams promise, on small random chains: the same bits for any number of threads, a run that
//! was stopped and resumed equals one that was not, and room for what the learners do not use: a
//! joint update over the k best labellings of a whole batch, inexact search, a structure that only
//! searches.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqoia_core::cast::{label, narrow, real};
use seqoia_core::{
    Asked, Bench, Case, Data, Delta, Error, Lane, Learner, Mix, Note, Profile, Question, Ragged, Random,
    Result, Search, Sequence, Slot, State, Structure, Team, Update, Weights, each,
};
use seqoia_learners::AveragedPerceptron;
use seqoia_learners::registry::{LEARNERS, Objective};
use seqoia_strategies::Setup;
use seqoia_strategies::registry::{Chosen, STRATEGIES, find};
use seqoia_structures::chain::{Chain, Space};
use seqoia_testkit::bits;
use seqoia_testkit::chains::{ATTRIBUTES, LABELS, learnable as chain};
use seqoia_testkit::guess::{Guess, by_feature};
use seqoia_testkit::teams::{
    Stopping, batches as batches_of_pass, combinations, run, setup, strategy, usual as make,
};

#[test]
fn one_two_three_and_eight_threads_give_the_same_bits() {
    for (entry, penalty, name, size) in combinations() {
        let weights = |threads| {
            let mut strategy = strategy(name, Arc::new(chain(60, 1)), setup(threads), size);
            let mut learner = entry.build(&entry.defaults(), penalty);
            strategy.accepts(&*learner).unwrap();
            strategy.begin(&mut *learner, false).unwrap();
            run(&mut *strategy, &mut *learner, 1..=4);
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
    for ((entry, penalty, name, size), l2) in combinations().flat_map(|c| [(c, 0.02), (c, 0.0)]) {
        let learner = || entry.build(&entry.defaults(), Objective { l2, ..penalty });
        let fresh = || (strategy(name, Arc::new(chain(50, 2)), setup(2), size), learner());
        let (mut whole, mut learner) = fresh();
        if whole.begin(&mut *learner, false).is_err() {
            assert!(l2 == 0.0, "{}", entry.name); // some divide by it
            continue;
        }
        run(&mut *whole, &mut *learner, 1..=5);

        let (mut first, mut half) = fresh();
        first.begin(&mut *half, false).unwrap();
        run(&mut *first, &mut *half, 1..=2);
        let state = State::save(&mut *half);
        let (mut second, mut other) = fresh();
        state.load(&mut *other).unwrap();
        second.begin(&mut *other, true).unwrap();
        run(&mut *second, &mut *other, 3..=5);
        assert!(bits(&learner.weights()) == bits(&other.weights()), "{} with {name} {size}", entry.name);
    }
}

#[test]
fn a_stop_before_the_first_batch_leaves_a_valid_state() {
    for (entry, penalty, name, size) in combinations() {
        let setup = setup(2);
        setup.stop.store(true, Ordering::Relaxed);
        let mut strategy = strategy(name, Arc::new(chain(20, 3)), setup, size);
        let mut learner = entry.build(&entry.defaults(), penalty);
        strategy.begin(&mut *learner, false).unwrap();
        strategy.pass(1, &mut *learner).unwrap();
        assert!(learner.weights().iter().all(|w| w.is_finite()));
    }
}

#[test]
fn a_stop_inside_a_pass_keeps_what_was_learned_before_it() {
    for (entry, penalty, name, size) in combinations().filter(|(entry, ..)| !make(entry).profile().whole) {
        let setup = setup(1);
        let stop = Arc::clone(&setup.stop);
        let mut strategy = strategy(name, Arc::new(chain(60, 3)), setup, size);
        let mut learner = Stopping::new(entry.build(&entry.defaults(), penalty), stop);
        strategy.begin(&mut learner, false).unwrap();
        learner.stop_at(20);
        let report = strategy.pass(1, &mut learner).unwrap();
        // The batch at hand is learned from, no other one is begun.
        let seen = 20_usize.div_ceil(size) * size;
        assert_eq!(report.examples, seen as u64, "{} with {name} {size}", entry.name);
        let weights = learner.weights();
        assert!(weights.iter().all(|w| w.is_finite()) && weights.iter().any(|w| *w != 0.0), "{}", entry.name);
        // It can go on from there.
        learner.go_on();
        assert_eq!(strategy.pass(2, &mut learner).unwrap().examples, 60);
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
        let setup = Setup { chunks, ..setup(threads) };
        let mut strategy = strategy("batch", Arc::new(chain(70, 4)), setup, 1);
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
    fn profile(&self) -> Profile {
        self.0.profile()
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
    fn name(&self) -> &'static str {
        "fragile chain"
    }
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
        let mut strategy = strategy("batch", Arc::new(fragile), setup(2), 1);
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
    let mut strategy = strategy("minibatch", Arc::new(chain(30, 5)), setup(3), 8);
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
fn strategies_and_learners_share_no_names_of_parameters() {
    for strategy in STRATEGIES {
        for param in strategy.params {
            let users = LEARNERS.iter().filter(|l| l.params.iter().any(|p| p.name == param.name));
            assert_eq!(users.count(), 0, "{} of {}", param.name, strategy.name);
        }
    }
}

#[test]
fn a_strategy_is_found_by_name_or_by_learner_and_checks_its_parameters() {
    let profile = |name: &str| make(LEARNERS.iter().find(|l| l.name == name).unwrap()).profile();
    let (lbfgs, sgd) = (profile("lbfgs"), profile("sgd"));
    let size = |n: &str| vec![("batch-size".to_owned(), n.to_owned())];
    let name = |name: Option<&str>, given: &[(String, String)], learner: &Profile| {
        Chosen::new(name, given, learner).map(|c| (c.entry.name, c.batch()))
    };
    assert_eq!(name(None, &[], &lbfgs).unwrap(), ("batch", 1));
    assert_eq!(name(None, &[], &sgd).unwrap(), ("serial", 1));
    assert_eq!(name(None, &size("24"), &sgd).unwrap(), ("minibatch", 24));
    assert_eq!(name(Some("minibatch"), &size("3"), &sgd).unwrap(), ("minibatch", 3));
    assert!(name(Some("minibach"), &[], &sgd).unwrap_err().what.contains("did you mean minibatch?"));
    assert_eq!(
        name(Some("serial"), &size("3"), &sgd).unwrap_err().to_string(),
        "`batch-size` 3: strategy serial does not use this option; these do: minibatch"
    );
    assert!(name(None, &size("0"), &sgd).unwrap_err().what.contains("from 1"));
    let refused = find("minibatch").unwrap().accepts(&lbfgs).unwrap_err().to_string();
    assert_eq!(
        refused,
        "lbfgs works on whole passes, which strategy minibatch does not: use serial or batch"
    );
    let refused = find("minibatch").unwrap().accepts(&profile("oeg")).unwrap_err().to_string();
    assert_eq!(refused, "oeg works on one example at a time, which strategy minibatch does not: use serial");
}

/// Asks for something that a structure may not offer.
struct Asking(Question);

impl Learner for Asking {
    fn profile(&self) -> Profile {
        Profile::online("asking", vec![self.0], 0)
    }
    fn begin(&mut self, _: &mut dyn Team) -> Result<()> {
        Ok(())
    }
    fn pick(&mut self, steps: usize, ids: &mut Vec<usize>, team: &mut dyn Team) -> Result<()> {
        team.next(steps, ids);
        match self.0 {
            Question::Rows => team.rows(ids, &mut vec![]),
            _ => Ok(()),
        }
    }
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let w = vec![0.0; 1000];
        match self.0 {
            Question::Costs => case.add_costs(0.5),
            Question::Tangent => case.product(Weights::plain(&w), &mut vec![]),
            Question::Violations => {
                let search = Search { k: 1, cost: 1.0, update: Update::Full };
                case.violations(Weights::plain(&w), &search, note)
            }
            Question::Pieces => case.infer_pieces(&[], 0.0, &mut vec![]).map(|_| ()),
            Question::Rows | Question::Expectations | Question::Stretches => Ok(()),
        }
    }
    fn weights(&self) -> Vec<f64> {
        vec![]
    }
    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![]
    }
}

#[test]
fn what_a_structure_does_not_offer_is_refused_before_and_while_learning() {
    let guess = || Arc::new(Guess::new(12));
    for question in [Question::Rows, Question::Costs, Question::Tangent, Question::Pieces] {
        let mut learner = Asking(question);
        let mut strategy = strategy("serial", guess(), setup(1), 1);
        let told = strategy.accepts(&learner).unwrap_err().to_string();
        assert_eq!(told, format!("asking needs {}, which a guess does not offer", question.name()));
        // Nor does an answer that is not there pass for one, if nobody asked before.
        let told = strategy.pass(1, &mut learner).unwrap_err().to_string();
        assert!(told.contains(question.name()) && told.contains("not offer"), "{told}");
    }
    // Search it has, costs in the search it has not.
    let mut strategy = strategy("serial", guess(), setup(1), 1);
    assert!(strategy.pass(1, &mut Asking(Question::Violations)).unwrap_err().to_string().contains("costs"));
}

/// Asks inference itself, with scores of its own.
struct Inferring;

impl Learner for Inferring {
    fn profile(&self) -> Profile {
        Profile { needs: vec![Question::Expectations], ..Asking(Question::Rows).profile() }
    }
    fn begin(&mut self, _: &mut dyn Team) -> Result<()> {
        Ok(())
    }
    fn look(&self, case: &mut Case<'_>, note: &mut Note) -> Result<()> {
        let (scores, mut marginals) = (vec![0.0; case.parts()], vec![0.0; case.parts()]);
        let log_z = case.infer(&scores, None);
        assert_eq!(log_z, case.infer(&scores, Some(&mut marginals)));
        note.loss = log_z - case.gold_score(&scores);
        Ok(())
    }
    fn weights(&self) -> Vec<f64> {
        vec![]
    }
    fn state(&mut self) -> Vec<Slot<'_>> {
        vec![]
    }
}

#[test]
fn inference_that_a_learner_calls_itself_is_counted() {
    let structure = Arc::new(chain(30, 5));
    let tokens: usize = (0..30).map(|id| structure.size(id)).sum();
    let report = strategy("serial", structure, setup(1), 1).pass(1, &mut Inferring).unwrap();
    assert_eq!(report.asked, Asked { gradients: 30, losses: 30, ..Asked::default() });
    // All labellings are equally likely.
    assert!((report.loss - real(tokens) * real(LABELS).ln()).abs() < 1e-9);
}

#[test]
fn inexact_search_learns_with_prefixes() {
    for update in [Update::Early, Update::Latest, Update::MaxViolation] {
        let weights = |threads| {
            let structure = Arc::new(chain(150, 6).with_beam(2));
            let mut strategy = strategy("minibatch", structure, setup(threads), 8);
            let mut learner = AveragedPerceptron::new(update);
            strategy.begin(&mut learner, false).unwrap();
            let wrong = run(&mut *strategy, &mut learner, 1..=8);
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
    fn profile(&self) -> Profile {
        Profile { needs: vec![Question::Violations, Question::Costs], ..Asking(Question::Costs).profile() }
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
            let mut strategy = strategy("minibatch", Arc::new(chain(120, 7)), setup(threads), size);
            let mut learner = JointMira { k, w: vec![] };
            strategy.begin(&mut learner, false).unwrap();
            // Without weights every sentence is wrong.
            let wrong = run(&mut *strategy, &mut learner, 1..=6)[5];
            assert!(wrong * 2 < 120, "k {k}, batch {size}: {wrong} of 120 are wrong");
            bits(&learner.weights())
        };
        let one = weights(1);
        for threads in [2, 3, 8] {
            assert!(weights(threads) == one, "k {k}, batch {size}, {threads} threads");
        }
    }
}

#[test]
fn an_open_space_that_only_searches() {
    let trained = |threads| {
        let structure = Arc::new(Guess::new(40));
        let mut strategy = strategy("minibatch", structure.clone(), setup(threads), 4);
        let mut learner = AveragedPerceptron::new(Update::Full);
        strategy.begin(&mut learner, false).unwrap();
        assert_eq!(run(&mut *strategy, &mut learner, 1..=10)[9], 0);
        assert!(structure.settled());
        // Workers number features as they meet them, so weights are compared by feature.
        let (weights, numbers) = (learner.weights(), structure.memo().unwrap());
        assert!(weights.len() <= structure.weights());
        by_feature(&weights, &numbers)
    };
    assert!(trained(1) == trained(3));
    // Marginals are not to be had here, and that is said before anything runs.
    let strategy = strategy("serial", Arc::new(Guess::new(40)), setup(1), 1);
    let error = strategy.accepts(&*make(&LEARNERS[0])).unwrap_err().to_string();
    assert_eq!(error, "lbfgs needs marginals, which a guess does not offer");
}

#[test]
fn an_open_space_goes_on_from_its_memo() {
    let fresh = || {
        let structure = Arc::new(Guess::new(40));
        (structure.clone(), strategy("serial", structure, setup(1), 1), AveragedPerceptron::new(Update::Full))
    };
    let (_, mut whole, mut learner) = fresh();
    whole.begin(&mut learner, false).unwrap();
    run(&mut *whole, &mut learner, 1..=3);
    let (structure, mut first, mut half) = fresh();
    first.begin(&mut half, false).unwrap();
    run(&mut *first, &mut half, 1..=1);
    let (state, memo) = (State::save(&mut half), structure.memo().unwrap());
    let (structure, mut second, mut other) = fresh();
    structure.recall(&memo).unwrap();
    state.load(&mut other).unwrap();
    second.begin(&mut other, true).unwrap();
    run(&mut *second, &mut other, 2..=3);
    assert!(bits(&learner.weights()) == bits(&other.weights()));
    // A closed space has nothing to recall.
    assert!(chain(3, 1).memo().is_none() && chain(3, 1).recall(&memo).is_err());
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
        let mut strategy = strategy("batch", Arc::new(chain), setup(2), 1);
        let mut g = vec![0.0; w.len()];
        (strategy.total(Weights::plain(&w), Some(&mut g)).unwrap(), g)
    };
    let (a, b) = (total(doubled), total(weighted));
    assert!((a.0 - b.0).abs() < 1e-10 * a.0);
    assert!(a.1.iter().zip(&b.1).all(|(x, y)| (x - y).abs() < 1e-10));
}

/// The batches of two passes.
fn batches(examples: usize, size: usize) -> Vec<Vec<usize>> {
    (1..=2).flat_map(|pass| batches_of_pass(examples, size, pass)).collect()
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
    // One token has no pairs of labels.
    let pairs = if lane.parts() > width { LABELS * width } else { 0 };
    let (nodes, _) = parts.split_at_mut(lane.parts() - pairs);
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
    let mut strategy = strategy("minibatch", Arc::clone(structure), setup(2), size);
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut *strategy, &mut *learner, 1..=2);
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
        // Steps are computed in single precision; small ones wait until decay is worth a sweep.
        let near = if size == 1 { 5e-3 } else { 1e-5 };
        lazy.iter().zip(&w).for_each(|(a, b)| assert!((a - b).abs() < near, "batches of {size}: {a} {b}"));
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
        let mut case = Case::new(id, weight, structure.offers(), &mut *lane, &mut bench);
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
