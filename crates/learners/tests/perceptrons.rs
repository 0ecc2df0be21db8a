//! The laws of the perceptrons: a step is the mean of the violated differences, each times the weight of its
//! example, and what the averaged one ships is the mean of the weights after every batch.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::real;
use seqoia_core::{Bench, Case, Delta, Learner, Note, Search, Structure, Team, Update, Weights};
use seqoia_learners::registry::Objective;
use seqoia_learners::{AveragedPerceptron, Perceptron};
use seqoia_structures::chain::Chain;
use seqoia_testkit::chains::{learnable, written};
use seqoia_testkit::close;
use seqoia_testkit::teams::{Stopping, batches, learner, run, setup, strategy, team, warm};

/// Labels 0 and 1, attributes 0 to 2; three sequences of weight 2, 1/2 and 1.
fn three() -> Chain {
    written(2, 3, &[(&[0], &[1], 2.0), (&[0, 1], &[0, 1], 0.5), (&[2], &[0], 1.0)])
}

/// The six weights of attributes with labels, then the four of label pairs.
type Ten = ([[f64; 2]; 3], [[f64; 2]; 2]);

fn places(chain: &Chain) -> Vec<usize> {
    let nodes = (0..3).flat_map(|a| (0..2).map(move |y| chain.space().node_weight(a, y)));
    let pairs = (0..2).flat_map(|b| (0..2).map(move |y| chain.space().transition_weight(b, y)));
    nodes.chain(pairs).map(Option::unwrap).collect()
}

fn plane(chain: &Chain, (nodes, pairs): Ten) -> Vec<f64> {
    let mut w = vec![0.0; chain.weights()];
    let values = nodes.into_iter().chain(pairs).flatten();
    places(chain).into_iter().zip(values).for_each(|(at, x)| w[at] = x);
    w
}

/// What a learner ships after each of two passes, the three sequences being one batch.
fn two_batches(chain: Chain, learner: &mut dyn Learner, start: Ten) -> [Vec<f64>; 2] {
    warm(learner, &plane(&chain, start));
    let mut strategy = strategy("minibatch", Arc::new(chain), setup(1), 3);
    strategy.begin(learner, false).unwrap();
    [1, 2].map(|pass| {
        strategy.pass(pass, learner).unwrap();
        learner.weights()
    })
}

const NO_PAIRS: [[f64; 2]; 2] = [[0.0; 2]; 2];

#[test]
fn a_step_is_the_mean_of_the_violated_differences() {
    // Label 0 wins everywhere: the first and the second are wrong, with (0) for (1) and (0 0) for (0 1); the
    // third is right. The steps are 2/2 and 0.5/2.
    let start = ([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], NO_PAIRS);
    let first = ([[0.0, 1.0], [0.75, 0.25], [1.0, 0.0]], [[-0.25, 0.25], [0.0, 0.0]]);
    // Then the second alone is wrong: (1 0) has 1.75, gold 0.5. The step is 0.5.
    let second = ([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], [[-0.25, 0.75], [-0.5, 0.0]]);
    let mean = ([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]], [[-0.25, 0.5], [-0.25, 0.0]]);
    let expected = |of: [Ten; 2]| of.map(|ten| plane(&three(), ten));
    let plain = two_batches(three(), &mut Perceptron::new(Update::Full), start);
    assert_eq!(plain, expected([first, second]));
    let averaged = two_batches(three(), &mut AveragedPerceptron::new(Update::Full), start);
    assert_eq!(averaged, expected([first, mean]));
}

#[test]
fn gold_must_win_by_as_much_as_the_wrong_labels_cost() {
    // The first wins by 0.5, the third by 2; the second loses to (1 0), which has 0.5 and two wrong labels.
    let start = ([[0.0, 0.5], [0.0, 0.0], [2.0, 0.0]], NO_PAIRS);
    // A wrong label costs 1: two are violated, and the steps are 2/2 and 0.5/2.
    let ones = ([[-0.75, 1.25], [-0.25, 0.25], [2.0, 0.0]], [[0.0, 0.25], [-0.25, 0.0]]);
    // To miss label 1 costs 0.25 only: the first wins by enough, and the second makes a step of 0.5.
    let cheap = ([[0.5, 0.0], [-0.5, 0.5], [2.0, 0.0]], [[0.0, 0.5], [-0.5, 0.0]]);
    for (costs, expected) in [(vec![], ones), (vec![1.0, 0.25], cheap)] {
        let chain = || three().with_costs(costs.clone());
        let expected = plane(&chain(), expected);
        for name in ["perceptron", "averaged-perceptron"] {
            let mut learner = learner(name, &[("cost", "1")], Objective::default());
            assert_eq!(two_batches(chain(), &mut *learner, start)[0], expected, "{name}");
        }
    }
}

/// The means of the weights after each of these batches and all before it, by the plain algorithm.
fn by_the_book(structure: &Arc<dyn Structure>, batches: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let (mut w, mut sum) = (vec![0.0; structure.weights()], vec![0.0; structure.weights()]);
    let mut means = vec![];
    for (before, ids) in batches.iter().enumerate() {
        let found: Vec<_> = ids.iter().filter_map(|&id| violation(structure, id, &w)).collect();
        for (c, delta) in &found {
            delta.entries().for_each(|(j, x)| w[j] += c * x / real(found.len()));
        }
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        means.push(sum.iter().map(|sum| sum / real(before + 1)).collect());
    }
    means
}

/// The weight of an example and the difference to what beats it, if anything does.
fn violation(structure: &Arc<dyn Structure>, id: usize, w: &[f64]) -> Option<(f64, Delta)> {
    let (mut lane, mut bench) = (Arc::clone(structure).lane(0).unwrap(), Bench::default());
    let (weight, mut note) = (lane.open(id).unwrap(), Note::default());
    let mut case = Case::new(id, weight, structure.offers(), &mut *lane, &mut bench);
    let search = Search { k: 1, cost: 0.0, update: Update::Full };
    case.violations(Weights::plain(w), &search, &mut note).unwrap();
    note.found().first().map(|v| (weight, v.delta.clone()))
}

fn assert_mean(shipped: &[f64], mean: &[f64], what: &str) {
    assert!(mean.iter().any(|x| *x != 0.0));
    assert!(shipped.iter().zip(mean).all(|(a, b)| close(*a, *b, 1e-12)), "{what}");
}

const EXAMPLES: usize = 40;
const PASSES: u64 = 5;

fn all_batches(size: usize) -> Vec<Vec<usize>> {
    (1..=PASSES).flat_map(|pass| batches(EXAMPLES, size, pass)).collect()
}

#[test]
fn the_mean_of_all_weights_is_shipped_after_every_batch() {
    let structure: Arc<dyn Structure> = Arc::new(learnable(EXAMPLES, 11));
    for size in [1, 7] {
        let means = by_the_book(&structure, &all_batches(size));
        let mut means = means.iter();
        let mut team = team(Arc::clone(&structure), 1, size);
        let mut learner = AveragedPerceptron::new(Update::Full);
        learner.begin(&mut team).unwrap();
        for pass in 1..=PASSES {
            team.start(pass);
            for ids in batches(EXAMPLES, size, pass) {
                let mut notes = vec![];
                team.ask(&ids, &|case, note| learner.look(case, note), &mut notes).unwrap();
                learner.learn(&notes, &mut team).unwrap();
                assert_mean(&learner.weights(), means.next().unwrap(), "before the rest");
            }
            let before = learner.weights();
            learner.rest(&mut team).unwrap();
            assert_mean(&learner.weights(), &before, "at rest");
        }
        assert!(means.next().is_none());
    }
}

#[test]
fn a_stop_inside_a_pass_ships_the_mean_so_far_and_goes_on_from_there() {
    const LOOKS: usize = 20;
    let structure: Arc<dyn Structure> = Arc::new(learnable(EXAMPLES, 12));
    for size in [1, 7] {
        // One pass, the batches of the second up to that of the last look, and the third pass.
        let looked = batches(EXAMPLES, size, 2).into_iter().take(LOOKS.div_ceil(size));
        let mut order: Vec<_> = batches(EXAMPLES, size, 1).into_iter().chain(looked).collect();
        let stopped = order.len();
        order.extend(batches(EXAMPLES, size, 3));
        let means = by_the_book(&structure, &order);

        let setup = setup(2);
        let inner = Box::new(AveragedPerceptron::new(Update::Full));
        let mut learner = Stopping::new(inner, Arc::clone(&setup.stop));
        let mut strategy = strategy("minibatch", Arc::clone(&structure), setup, size);
        strategy.begin(&mut learner, false).unwrap();
        run(&mut *strategy, &mut learner, 1..=1);
        learner.stop_at(LOOKS);
        run(&mut *strategy, &mut learner, 2..=2);
        assert_mean(&learner.weights(), &means[stopped - 1], "stopped");
        learner.go_on();
        run(&mut *strategy, &mut learner, 3..=3);
        assert_mean(&learner.weights(), &means[order.len() - 1], "gone on");
    }
}
