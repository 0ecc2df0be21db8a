//! The laws of learners on the dual: the dual value never falls, weights are those of the distributions that are kept, and
//! the gap to the primal value is never negative and closes.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::real;
use seqoia_core::{Data, Lane, Learner, Structure, Weights};
use seqoia_learners::registry::Objective;
use seqoia_structures::chain::Chain;
use seqoia_testkit::chains::learnable;
use seqoia_testkit::teams::{learner, setup, strategy};

const N: usize = 20;
const L2: f64 = 0.1;

fn chain() -> Arc<Chain> {
    Arc::new(learnable(N, 5))
}

/// A slot of a learner's state.
fn slot(learner: &mut dyn Learner, name: &str) -> Vec<f64> {
    let slots = learner.state();
    let slot = slots.into_iter().find(|slot| slot.name == name).unwrap();
    match slot.data {
        Data::F64(x) => x.clone(),
        Data::F32(x) => x.iter().map(|x| f64::from(*x)).collect(),
        _ => vec![],
    }
}

/// Lists of numbers, one per example, and its weight.
fn each(
    numbers: &[f64],
    length: impl Fn(&dyn Lane) -> usize,
    mut see: impl FnMut(&mut dyn Lane, f64, &[f64]),
) {
    let (mut lane, mut at) = (chain().lane(0).unwrap(), 0);
    for id in 0..N {
        let weight = lane.open(id).unwrap();
        let length = length(&*lane);
        see(&mut *lane, weight, &numbers[at..at + length]);
        at += length;
    }
    assert_eq!(at, numbers.len());
}

/// `(1/(l2 n)) sum c (phi(gold) - E phi)` for marginals of parts.
fn weights_of(parts: &[f64]) -> Vec<f64> {
    let mut w = vec![0.0; chain().weights()];
    each(
        parts,
        |lane| lane.parts(),
        |lane, weight, parts| {
            let mut parts = parts.to_vec();
            lane.gold(-1.0, &mut parts);
            lane.spread(&parts, -weight / (L2 * real(N)), 0, &mut w);
        },
    );
    w
}

fn square(w: &[f64]) -> f64 {
    w.iter().map(|w| w * w).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn exponentiated_gradient() {
    let mut oeg = learner("oeg", &[], Objective { l1: 0.0, l2: L2 });
    let mut strategy = strategy("serial", chain(), setup(1), 1);
    strategy.begin(&mut *oeg, false).unwrap();
    let (mut duals, mut gaps) = (vec![], vec![]);
    for pass in 0..60 {
        if pass > 0 {
            strategy.pass(pass, &mut *oeg).unwrap();
        }
        let (w, mut entropy) = (oeg.weights(), 0.0);
        assert!(distance(&w, &weights_of(&slot(&mut *oeg, "means"))) < 1e-12);
        let entropies = slot(&mut *oeg, "entropies");
        each(&entropies, |_| 1, |_, weight, h| entropy += weight * h[0]);
        duals.push(entropy / real(N) - 0.5 * L2 * square(&w));
        let primal = strategy.total(Weights::plain(&w), None).unwrap() / real(N) + 0.5 * L2 * square(&w);
        gaps.push(primal - duals[duals.len() - 1]);
    }
    assert!(duals.windows(2).all(|d| d[1] >= d[0] - 1e-13), "{duals:?}");
    assert!(gaps.iter().all(|gap| *gap >= -1e-12), "{gaps:?}");
    assert!(gaps[0] > 0.1 && gaps[59] < 1e-6, "{gaps:?}");
}

#[test]
fn coordinate_ascent() {
    for batch in [1, 5] {
        let name = if batch > 1 { "minibatch" } else { "serial" };
        let mut sdca = learner("sdca", &[("gap", "1e-30")], Objective { l1: 0.0, l2: L2 });
        let mut strategy = strategy(name, chain(), setup(1), batch);
        strategy.begin(&mut *sdca, false).unwrap();
        let (mut duals, mut gaps) = (vec![], vec![]);
        for pass in 0..100 {
            if pass > 0 {
                strategy.pass(pass, &mut *sdca).unwrap();
            }
            let (w, mut entropy, mut parts) = (sdca.weights(), 0.0, vec![]);
            each(
                &slot(&mut *sdca, "table"),
                |lane| lane.pieces(),
                |lane, weight, alpha| {
                    let (mut counts, mut joined) = (vec![0.0; alpha.len()], vec![0.0; lane.parts()]);
                    lane.counting(&mut counts);
                    let terms = alpha.iter().zip(counts).filter(|(p, _)| **p > 0.0);
                    entropy -= weight * terms.map(|(p, count)| count * p * p.ln()).sum::<f64>();
                    lane.join(alpha, &mut joined);
                    parts.extend(joined);
                },
            );
            assert!(distance(&w, &weights_of(&parts)) < 1e-11);
            duals.push(entropy / real(N) - 0.5 * L2 * square(&w));
            let primal = strategy.total(Weights::plain(&w), None).unwrap() / real(N) + 0.5 * L2 * square(&w);
            gaps.push(primal - duals[duals.len() - 1]);
        }
        // The table is in single precision.
        assert!(duals.windows(2).all(|d| d[1] >= d[0] - 1e-7), "{duals:?}");
        assert!(gaps.iter().all(|gap| *gap >= -1e-6), "{gaps:?}");
        assert!(gaps[0] > 0.1 && gaps[99] < 1e-6, "{batch}: {gaps:?}");
    }
}

#[test]
fn what_duals_cannot_begin_with() {
    for name in ["sdca", "oeg"] {
        let told = |l2: f64, warm: bool| {
            let mut learner = learner(name, &[], Objective { l1: 0.0, l2 });
            if warm {
                seqoia_testkit::teams::warm(&mut *learner, &vec![0.1; chain().weights()]);
            }
            let begun = strategy("serial", chain(), setup(1), 1).begin(&mut *learner, false);
            begun.err().map(|e| e.to_string())
        };
        assert_eq!(told(0.1, false), None);
        assert!(told(0.0, false).unwrap().contains("divides by l2"));
        assert!(told(0.1, true).unwrap().contains("not at given weights"));
    }
}
