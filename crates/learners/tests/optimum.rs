//! The laws of learners that minimise F: the exact ones fall at every pass and meet at one optimum, stochastic
//! ones come near it, a run that starts there stays there, and OWL-QN ends where its optimality conditions hold.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::real;
use seqoia_core::{Done, Strategy, Weights};
use seqoia_learners::registry::Objective;
use seqoia_testkit::chains::learnable;
use seqoia_testkit::close;
use seqoia_testkit::teams::{learner, run, setup, strategy, warm};

const EXAMPLES: usize = 12;

fn toy(name: &str, size: usize) -> Box<dyn Strategy> {
    strategy(name, Arc::new(learnable(EXAMPLES, 21)), setup(1), size)
}

/// (1/n) sum c loss and its gradient, without penalties.
fn mean_loss(w: &[f64]) -> (f64, Vec<f64>) {
    let (n, mut g) = (real(EXAMPLES), vec![0.0; w.len()]);
    let loss = toy("batch", 1).total(Weights::plain(w), Some(&mut g)).unwrap();
    g.iter_mut().for_each(|g| *g /= n);
    (loss / n, g)
}

/// F by its formula.
fn value(w: &[f64], penalty: Objective) -> f64 {
    let squares: f64 = w.iter().map(|w| w * w).sum();
    let sizes: f64 = w.iter().map(|w| w.abs()).sum();
    mean_loss(w).0 + 0.5 * penalty.l2 * squares + penalty.l1 * sizes
}

struct Fit {
    w: Vec<f64>,
    values: Vec<f64>, // F at the start and after each pass
    done: Done,
}

/// A quasi-Newton method run to its end.
fn fit(name: &str, penalty: Objective, start: &[f64]) -> Fit {
    let mut learner = learner(name, &[("tolerance", "1e-15"), ("gradient", "1e-9")], penalty);
    warm(&mut *learner, start);
    let mut strategy = toy("batch", 1);
    strategy.begin(&mut *learner, false).unwrap();
    let mut values = vec![learner.objective().unwrap()];
    let mut done = Done::Pass;
    while done == Done::Pass && values.len() < 3000 {
        done = strategy.pass(values.len() as u64, &mut *learner).unwrap().done;
        values.push(learner.objective().unwrap());
    }
    Fit { w: learner.weights(), values, done }
}

const RIDGE: Objective = Objective { l1: 0.0, l2: 0.1 };
const LASSO: Objective = Objective { l1: 0.02, l2: 0.0 };
const ELASTIC_NET: Objective = Objective { l1: 0.02, l2: 0.05 };
const EXACT: [(&str, Objective); 4] =
    [("lbfgs", RIDGE), ("owl-qn", RIDGE), ("owl-qn", LASSO), ("owl-qn", ELASTIC_NET)];

#[test]
fn exact_learners_never_rise_and_know_where_they_are() {
    for (name, penalty) in EXACT {
        let fit = fit(name, penalty, &[]);
        assert!(matches!(fit.done, Done::Converged(_)), "{name}: {:?}", fit.done);
        // Beside the last bits, in which slopes decide.
        assert!(fit.values.windows(2).all(|f| f[1] <= f[0] * (1.0 + 1e-12)), "{name}: {:?}", fit.values);
        let [first, last] = [fit.values[0], fit.values[fit.values.len() - 1]];
        assert!(last < 0.7 * first && close(last, value(&fit.w, penalty), 1e-12), "{name}: {first} {last}");
    }
}

#[test]
fn exact_learners_meet_at_one_optimum() {
    let (lbfgs, owl_qn) = (fit("lbfgs", RIDGE, &[]).w, fit("owl-qn", RIDGE, &[]).w);
    assert!(distance(&lbfgs, &owl_qn) < 1e-7, "{}", distance(&lbfgs, &owl_qn));
    let (_, g) = mean_loss(&lbfgs);
    assert!(g.iter().zip(&lbfgs).all(|(g, w)| (g + RIDGE.l2 * w).abs() < 1e-8));
}

/// The largest difference.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_run_that_starts_at_the_optimum_stays_there() {
    for (name, penalty) in EXACT {
        let there = fit(name, penalty, &[]);
        let again = fit(name, penalty, &there.w);
        let f = there.values[there.values.len() - 1];
        assert!(again.values.iter().all(|other| (other - f).abs() < 1e-12 * f), "{name}: {:?}", again.values);
        assert!(distance(&there.w, &again.w) < 1e-6, "{name}: {}", distance(&there.w, &again.w));
    }
}

/// The weights after at most so many passes, or where the learner stops.
fn exact(name: &str, given: &[(&str, &str)], penalty: Objective, passes: u64, size: usize) -> Vec<f64> {
    let mut learner = learner(name, given, penalty);
    let mut strategy = toy(if size > 1 { "minibatch" } else { "serial" }, size);
    strategy.begin(&mut *learner, false).unwrap();
    for pass in 1..=passes {
        if strategy.pass(pass, &mut *learner).unwrap().done != Done::Pass {
            break;
        }
    }
    learner.weights()
}

#[test]
fn incremental_and_dual_learners_meet_the_others() {
    let best = value(&fit("lbfgs", RIDGE, &[]).w, RIDGE);
    let pair: &[_] = &[("sampling", "lipschitz-pair")];
    for (name, given, size, near) in [
        ("hybrid", [("gradient", "1e-9"), ("tolerance", "1e-15")].as_slice(), 1, 1e-12),
        ("sag", &[("stop", "1e-9")], 1, 1e-9),
        ("sag-nus", &[("stop", "1e-9")], 1, 1e-9),
        ("sag-nus-star", &[("stop", "1e-9")], 1, 1e-9),
        ("sag-nus-star", &[("stop", "1e-9")], 4, 1e-9),
        ("sag-nus", &[("stop", "1e-9")], 5, 1e-9),
        ("sag", &[("stop", "1e-9")], 8, 1e-9),
        ("sag-nus-star", &[("stop", "1e-9"), ("lipschitz", "1e-6")], 1, 1e-9),
        ("saga", &[("stop", "1e-9")], 1, 1e-9),
        ("saga", &[("stop", "1e-9")], 7, 1e-9),
        ("saga", &[("sampling", "uniform")], 1, 1e-8),
        ("saga", &[("sampling", "lipschitz")], 1, 1e-6),
        ("saga", pair, 1, 1e-8),
        ("svrg", &[], 1, 1e-9),
        ("sdca", &[("gap", "1e-7")], 1, 1e-7),
        ("sdca", &[("gap", "1e-7")], 3, 1e-7),
        ("oeg", &[], 1, 1e-9),
        ("oeg", &[("start", "10")], 1, 1e-9),
    ] {
        let gap = value(&exact(name, given, RIDGE, 1000, size), RIDGE) / best - 1.0;
        assert!((-1e-12..near).contains(&gap), "{name} {given:?} in batches of {size}: {gap:e}");
    }
}

#[test]
fn proximal_saga_meets_owl_qn() {
    for penalty in [LASSO, ELASTIC_NET] {
        let best = fit("owl-qn", penalty, &[]).w;
        let saga = exact("saga", &[("stop", "1e-9")], penalty, 2000, 1);
        let gap = value(&saga, penalty) / value(&best, penalty) - 1.0;
        assert!((-1e-9..1e-8).contains(&gap), "{gap:e}");
        let support = |w: &[f64]| w.iter().map(|w| *w != 0.0).collect::<Vec<_>>();
        let other = support(&saga).iter().zip(support(&best)).filter(|(a, b)| **a != *b).count();
        assert!(other <= 2, "{other} weights are 0 in one of them only");
    }
}

/// A thousand passes in batches of this size.
fn fit_stochastic(name: &str, given: &[(&str, &str)], size: usize) -> Vec<f64> {
    let (mut learner, mut strategy) = (learner(name, given, RIDGE), toy("minibatch", size));
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut *strategy, &mut *learner, 1..=1000);
    learner.weights()
}

#[test]
fn stochastic_learners_come_near_the_optimum() {
    let best = value(&fit("lbfgs", RIDGE, &[]).w, RIDGE);
    let adagrad: &[_] = &[("rate", "0.2"), ("least", "0")];
    // AdaGrad's rates fall with the root of the steps, so single examples go on disturbing it for long.
    for (name, given, size, near) in [
        ("sgd", [("rate", "0.3")].as_slice(), 1, 1e-6),
        ("sgd", &[], 1, 1e-6),
        ("sgd", &[("rate", "1")], EXAMPLES, 1e-6),
        ("asgd", &[("rate", "0.3")], 1, 1e-4),
        ("asg", &[("rate", "0.05"), ("start", "100")], 1, 1e-3),
        ("sg", &[("rate", "0.01")], 1, 1e-2),
        ("pegasos", &[], 1, 1e-3),
        ("madf", &[("rate", "1"), ("smallest", "0.3")], 1, 1e-3),
        ("smd", &[("rate", "0.05"), ("meta", "0.01")], 1, 3e-2),
        ("adagrad", adagrad, 1, 1e-5),
        ("adagrad", adagrad, EXAMPLES, 1e-6),
    ] {
        let gap = value(&fit_stochastic(name, given, size), RIDGE) / best - 1.0;
        assert!((-1e-12..near).contains(&gap), "{name} {given:?} in batches of {size}: {gap:e}");
    }
}

#[test]
fn owl_qn_ends_where_its_optimality_conditions_hold() {
    for penalty in [LASSO, ELASTIC_NET] {
        let w = fit("owl-qn", penalty, &[]).w;
        let (_, g) = mean_loss(&w);
        for (w, g) in w.iter().zip(&g) {
            match *w {
                0.0 => assert!(g.abs() <= penalty.l1 + 1e-8, "{g}"),
                w => assert!((g + penalty.l2 * w + penalty.l1 * w.signum()).abs() < 1e-8, "{w} {g}"),
            }
        }
        // A gradient of 0 is that of a place in the plane that is no weight.
        let zeros = w.iter().zip(&g).filter(|(w, g)| **w == 0.0 && **g != 0.0).count();
        let others = w.iter().filter(|w| **w != 0.0).count();
        assert!(zeros > 50 && others > 50, "{zeros} {others}");
    }
}
