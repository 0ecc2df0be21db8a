//! The laws of what log-linear learners follow: log loss and softmax-margin equal enumeration, their gradients
//! equal differences, and a step with costs goes along the gradient with costs.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::{label, real};
use seqoia_core::{Bench, Case, Learner, Note, Sequence, Structure, Weights};
use seqoia_learners::registry::Objective;
use seqoia_structures::brute;
use seqoia_structures::chain::{Chain, Sets};
use seqoia_testkit::chains::{PLAIN, Toy, make, view, written};
use seqoia_testkit::close;
use seqoia_testkit::teams::{learner, run, setup, strategy, warm};

/// What it costs to miss each label.
const COSTS: [f64; 3] = [0.5, 2.0, 1.0];

/// Toys of three labels with and without attributes of edges and values.
fn toys() -> impl Iterator<Item = (u64, Toy)> {
    [(false, false), (true, false), (false, true), (true, true)]
        .into_iter()
        .zip(0..)
        .map(|((edges, values), seed)| (seed, Toy { edges, values, ..PLAIN }))
}

/// Toys with and without costs, with all labels known and with some.
fn cases() -> impl Iterator<Item = ((u64, Toy), f64, bool)> {
    toys().flat_map(|toy| {
        [(0.0, false), (0.0, true), (0.7, false), (0.7, true)].map(|(cost, partial)| (toy, cost, partial))
    })
}

/// The chain of a toy with costs, its sequences and weights. If `partial`, the second label of each sequence is
/// only known not to be 0, and the third not at all.
fn costly(toy: Toy, seed: u64, partial: bool) -> (Arc<Chain>, Vec<Sequence>, Sets, Vec<f64>) {
    let (chain, mut sequences, w) = make(toy, seed);
    let mut sets = Sets::new(toy.labels);
    if partial {
        let (some, all) = (label(sets.add([1, 2])), label(sets.add([0, 1, 2])));
        sequences.iter_mut().for_each(|x| (x.labels[1], x.labels[2]) = (some, all));
    }
    let chain = Chain::new(Arc::clone(chain.space()), Arc::new(sequences.clone()));
    let chain = chain.with_limits(None, sets.clone()).unwrap().with_costs(COSTS.to_vec());
    (Arc::new(chain), sequences, sets, w)
}

/// Answers of an example whose wrong labels have `cost` times their cost.
fn ask<T>(chain: &Arc<Chain>, id: usize, cost: f64, question: impl FnOnce(&mut Case<'_>) -> T) -> T {
    let (mut lane, mut bench) = (Arc::clone(chain).lane(0).unwrap(), Bench::default());
    let weight = lane.open(id).unwrap();
    let mut case = Case::new(id, weight, chain.offers(), &mut *lane, &mut bench);
    case.add_costs(cost).unwrap();
    question(&mut case)
}

/// The gradient of an example as a plane.
fn gradient(chain: &Arc<Chain>, id: usize, cost: f64, w: &[f64]) -> Vec<f64> {
    let (mut note, mut g) = (Note::default(), vec![0.0; w.len()]);
    ask(chain, id, cost, |case| {
        case.gradient(Weights::plain(w), &mut note);
        case.expand(0.0, &mut note);
    });
    note.delta.add_to(1.0, &mut g);
    g
}

fn log_sum(scores: impl Iterator<Item = f64>) -> f64 {
    scores.map(f64::exp).sum::<f64>().ln()
}

#[test]
fn losses_equal_enumeration() {
    for ((seed, toy), cost, partial) in cases() {
        let (chain, sequences, sets, w) = costly(toy, seed, partial);
        for (id, x) in sequences.iter().enumerate() {
            let missed = |y: &[u16]| {
                let wrong = x.labels.iter().zip(y).filter(|(gold, y)| !sets.holds(**gold, **y));
                wrong.map(|(gold, _)| COSTS.get(usize::from(*gold)).copied().unwrap_or(1.0)).sum::<f64>()
            };
            let score = |y: &Vec<u16>| brute::score(chain.space().view(), &w, view(x), y) + cost * missed(y);
            let all = brute::labellings(toy.labels, toy.length);
            let right = all.iter().filter(|y| missed(y) == 0.0);
            let expected = x.weight * (log_sum(all.iter().map(score)) - log_sum(right.map(score)));
            let loss = ask(&chain, id, cost, |case| case.loss(Weights::plain(&w)));
            assert!(close(loss, expected, 1e-10), "{toy:?}, cost {cost}: {loss} {expected}");
        }
    }
}

#[test]
fn gradients_equal_differences() {
    const H: f64 = 1e-5;
    for ((seed, toy), cost, partial) in cases() {
        let (chain, sequences, _, w) = costly(toy, seed, partial);
        for (id, x) in sequences.iter().enumerate() {
            let g = gradient(&chain, id, cost, &w);
            let mut largest = 0.0_f64;
            for j in 0..w.len() {
                let [up, down] = [H, -H].map(|h| {
                    let mut moved = w.clone();
                    moved[j] += h;
                    chain.space().clear_holes(&mut moved);
                    ask(&chain, id, cost, |case| case.loss(Weights::plain(&moved)))
                });
                let slope = (up - down) / (2.0 * H);
                assert!((g[j] - slope).abs() < 1e-8, "{toy:?}, cost {cost}, weight {j}: {} {slope}", g[j]);
                largest = largest.max(g[j].abs());
            }
            assert!(largest > 0.01 || x.nodes.items.is_empty());
        }
    }
}

#[test]
fn a_step_with_costs_goes_along_the_gradient_with_costs() {
    // No attribute occurs twice, so AdaGrad makes one step with each weight.
    let chain = written(3, 4, &[(&[2, 0, 3], &[0, 1, 1], 1.5)]).with_costs(COSTS.to_vec());
    let (chain, none) = (Arc::new(chain), Objective::default());
    let mut w: Vec<f64> = (0..chain.weights()).map(|i| (real(i) * 0.7).sin()).collect();
    chain.space().clear_holes(&mut w);
    let stepped = |mut learner: Box<dyn Learner>| {
        warm(&mut *learner, &w);
        let mut strategy = strategy("serial", chain.clone(), setup(1), 1);
        strategy.begin(&mut *learner, false).unwrap();
        run(&mut *strategy, &mut *learner, 1..=1);
        learner.weights()
    };
    for (cost, text) in [(0.0, "0"), (0.7, "0.7")] {
        let g = gradient(&chain, 0, cost, &w);
        let sgd = stepped(learner("sgd", &[("rate", "0.3"), ("cost", text)], none));
        let adagrad = stepped(learner("adagrad", &[("rate", "0.3"), ("least", "0"), ("cost", text)], none));
        for (j, g) in g.into_iter().enumerate() {
            assert!(close(sgd[j], w[j] - 0.3 * g, 1e-12));
            // In single precision.
            assert!(close(adagrad[j], w[j] - 0.3 * g / (0.1 + g.abs()), 1e-6));
        }
    }
}

#[test]
fn hessian_products_equal_differences_of_gradients() {
    const H: f64 = 1e-5;
    for ((seed, toy), _, partial) in cases() {
        let (chain, sequences, _, w) = costly(toy, seed, partial);
        let mut v: Vec<f64> = (0..w.len()).map(|j| (real(j) * 0.7).sin()).collect();
        chain.space().clear_holes(&mut v);
        for id in 0..sequences.len() {
            let [up, down] = [H, -H].map(|h| {
                let moved: Vec<f64> = w.iter().zip(&v).map(|(w, v)| w + h * v).collect();
                gradient(&chain, id, 0.0, &moved)
            });
            let mut product = vec![0.0; w.len()];
            ask(&chain, id, 0.0, |case| {
                let mut note = Note::default();
                case.gradient(Weights::plain(&w), &mut note); // the product is that at the weights of the last question
                case.product(Weights::plain(&v), &mut note.parts).unwrap();
                case.expand(0.0, &mut note);
                note.delta.add_to(1.0, &mut product);
            });
            for j in 0..w.len() {
                let expected = (up[j] - down[j]) / (2.0 * H);
                assert!(
                    (product[j] - expected).abs() < 1e-8,
                    "{toy:?}, {partial}: {} {expected}",
                    product[j]
                );
            }
        }
    }
}
