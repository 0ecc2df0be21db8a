//! The forms in which gradients are remembered: they lead to the same weights, take the room that they say, and keep to the
//! laws of every state.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use seqoia_core::cast::real;
use seqoia_core::{Data, Learner, State, Structure, Team, Weights};
use seqoia_learners::registry::Objective;
use seqoia_structures::chain::Chain;
use seqoia_testkit::bits;
use seqoia_testkit::chains::learnable;
use seqoia_testkit::teams::{learner, run, setup, strategy, team};

const FORMS: [&str; 3] = ["mixed", "marginals", "sparse"];
const RIDGE: Objective = Objective { l1: 0.0, l2: 0.02 };
/// What is stored in single precision differs by 6e-8 of itself; line searches may make more of it.
const SINGLE: f64 = 1e-5;

type Case = (&'static str, &'static [(&'static str, &'static str)], Objective, usize);

/// Learners with parameters, penalties and batch sizes. Estimates that are too small make searches double.
const CASES: [Case; 9] = [
    ("sag", &[("lipschitz", "0.01")], RIDGE, 1),
    ("sag", &[], RIDGE, 40),
    ("sag-nus", &[], RIDGE, 1),
    ("sag-nus-star", &[], RIDGE, 1),
    ("sag-nus-star", &[], RIDGE, 7),
    ("saga", &[], RIDGE, 1),
    ("saga", &[("sampling", "lipschitz-pair")], RIDGE, 1),
    ("saga", &[("sampling", "lipschitz-pair")], RIDGE, 40), // pairs that meet themselves
    ("saga", &[], Objective { l1: 0.01, l2: 0.01 }, 1),
];

fn with(form: &str, (name, given, penalty, _): Case) -> Box<dyn Learner> {
    let mut given = given.to_vec();
    given.push(("table", form));
    learner(name, &given, penalty)
}

fn data() -> Arc<Chain> {
    Arc::new(learnable(30, 7))
}

/// The learner after so many passes, on so many threads.
fn trained(form: &str, case: Case, passes: u64, threads: usize) -> Box<dyn Learner> {
    let mut learner = with(form, case);
    let mut strategy = strategy("minibatch", data(), setup(threads), case.3);
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut *strategy, &mut *learner, 1..=passes);
    learner
}

#[test]
fn all_forms_lead_to_the_same_weights() {
    for case in CASES {
        let mixed = trained("mixed", case, 6, 1).weights();
        let most = mixed.iter().map(|w| w.abs()).fold(0.0, f64::max);
        for form in &FORMS[1..] {
            let other = trained(form, case, 6, 1).weights();
            let apart = mixed.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < SINGLE * most, "{form} of {case:?}: {apart:e} of {most}");
        }
    }
}

#[test]
fn every_form_gives_the_same_bits_on_any_threads_and_after_a_stop() {
    for (case, form) in CASES.into_iter().flat_map(|case| FORMS.map(|form| (case, form))) {
        let one = bits(&trained(form, case, 4, 1).weights());
        for threads in [2, 3, 8] {
            assert!(
                bits(&trained(form, case, 4, threads).weights()) == one,
                "{form} of {case:?} on {threads}"
            );
        }
        let state = State::save(&mut *trained(form, case, 2, 1));
        let mut resumed = with(form, case);
        state.load(&mut *resumed).unwrap();
        let mut strategy = strategy("minibatch", data(), setup(1), case.3);
        strategy.begin(&mut *resumed, true).unwrap();
        run(&mut *strategy, &mut *resumed, 3..=4);
        assert!(bits(&resumed.weights()) == one, "{form} of {case:?} resumed");
    }
}

/// Numbers in the table of this form.
fn length(form: &str) -> usize {
    let mut learner = trained(form, CASES[0], 1, 1);
    let lengths = learner.state().into_iter().filter_map(|slot| match slot.data {
        Data::F32(table) if slot.name == "table" => Some(table.len()),
        _ => None,
    });
    lengths.sum()
}

#[test]
fn tables_are_as_long_as_they_say() {
    let chain = data();
    let view = chain.space().view();
    let (width, matrix) = (view.width, view.labels * view.width);
    let sizes: Vec<usize> = (0..chain.examples()).map(|id| chain.size(id)).collect();
    let nodes = width * sizes.iter().sum::<usize>();
    let pairs = sizes.iter().map(|t| t - 1).sum::<usize>();
    let longer = sizes.iter().filter(|t| **t > 1).count();
    assert_eq!(length("mixed"), nodes + matrix * longer);
    assert_eq!(length("marginals"), nodes + matrix * pairs);
    // Elsewhere than at a special place no weight of a gradient is 0 by chance.
    let w: Vec<f64> = (0..chain.weights()).map(|i| 0.3 * (real(i) * 0.7).sin()).collect();
    let mut team = team(Arc::clone(&chain) as Arc<dyn Structure>, 1, 1);
    let mut entries = 0;
    for id in 0..chain.examples() {
        let mut g = vec![0.0; w.len()];
        team.total(Some(&[id]), Weights::plain(&w), Some(&mut g)).unwrap();
        entries += g.iter().filter(|g| **g != 0.0).count();
    }
    assert_eq!(length("sparse"), entries);
}
