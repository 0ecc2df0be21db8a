//! The laws of the list of learners: what an entry declares is what its learner is and does, and names that are
//! not there lead to one that is.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::Arc;

use seqoia_core::param::Value;
use seqoia_core::{Data, Learner, Slot};
use seqoia_learners::registry::{Entry, LEARNERS, Objective, Penalty, find};
use seqoia_testkit::bits;
use seqoia_testkit::chains::learnable;
use seqoia_testkit::teams::{run, setup, strategy, usual};

#[test]
fn names_are_unique_and_are_those_of_the_learners() {
    let names: BTreeSet<_> = LEARNERS.iter().map(|e| e.name).collect();
    assert_eq!(names.len(), LEARNERS.len());
    for entry in LEARNERS {
        assert_eq!(entry.profile(&entry.defaults()).name, entry.name);
        assert_eq!(find(entry.name).unwrap().name, entry.name);
        let params: BTreeSet<_> = entry.params.iter().map(|p| p.name).collect();
        assert_eq!(params.len(), entry.params.len(), "{}", entry.name);
    }
}

#[test]
fn defaults_are_within_their_ranges() {
    for entry in LEARNERS {
        assert_eq!(entry.check(&[]).unwrap(), entry.defaults());
        for param in entry.params {
            let text = param.default.to_string();
            match param.default {
                Value::Auto(how) => assert!(!how.is_empty()),
                default => assert_eq!(param.kind.read(&text), Some(default), "--{} {text}", param.name),
            }
        }
    }
}

#[test]
fn a_name_that_is_not_there_leads_to_one_that_is() {
    for (name, offered) in [
        ("perceptrn", "perceptron"),
        ("average-perceptron", "averaged-perceptron"),
        ("LBFGS", "lbfgs"),
        ("lbfg", "lbfgs"),
        ("OWLQN", "owl-qn"),
        ("ap", "averaged-perceptron"),
        ("l2sgd", "sgd"),
        ("CRF-L1", "owl-qn"),
        ("CRF-L2", "lbfgs"),
        ("l-bfgs", "lbfgs"),
        ("rprop-", "lbfgs"),
        ("MIRA", "pa"),
        ("xyzzy", "none"),
    ] {
        let told = find(name).unwrap_err();
        assert_eq!((told.option.as_str(), told.value.as_str()), ("learner", name));
        let told = told.what;
        assert!(told.starts_with("there is no such learner; "), "{told}");
        match offered {
            "none" => assert!(told.contains("there are: lbfgs, owl-qn, "), "{told}"),
            other => {
                assert!(told.ends_with(&format!("did you mean {other}?")), "{told}");
                assert!(find(other).is_ok());
            }
        }
    }
}

/// A learner after three passes over a small chain.
fn trained(mut learner: Box<dyn Learner>) -> Box<dyn Learner> {
    let mut strategy = strategy("serial", Arc::new(learnable(20, 31)), setup(1), 1);
    strategy.begin(&mut *learner, false).unwrap();
    run(&mut *strategy, &mut *learner, 1..=3);
    learner
}

#[test]
fn a_learner_heeds_the_penalties_that_it_declares_and_no_other() {
    let weights = |entry: &Entry, l1, l2| {
        bits(&trained(entry.build(&entry.defaults(), Objective { l1, l2 })).weights())
    };
    for entry in LEARNERS {
        let plain = weights(entry, 0.0, 0.01);
        let heeds = [weights(entry, 0.05, 0.01) != plain, weights(entry, 0.0, 0.1) != plain];
        let declared = match entry.penalty {
            Penalty::None => [false, false],
            Penalty::L2 => [false, true],
            Penalty::L1L2 => [true, true],
        };
        assert_eq!(heeds, declared, "{}", entry.name);
    }
}

#[test]
fn a_profile_tells_at_least_the_memory_of_the_state() {
    for entry in LEARNERS {
        let mut learner = trained(usual(entry));
        let (profile, weights) = (learner.profile(), learner.weights().len());
        let bytes: usize = learner.state().iter().map(|slot| bytes(slot, weights)).sum();
        assert!(bytes > 0 && bytes <= weights * profile.per_weight, "{}: {bytes}", entry.name);
    }
}

/// Of a slot, if it grows with the number of weights.
fn bytes(slot: &Slot<'_>, weights: usize) -> usize {
    let (length, each) = match &slot.data {
        Data::F64(x) => (x.len(), 8),
        Data::F32(x) => (x.len(), 4),
        Data::U32(x) => (x.len(), 4),
        Data::Real(_) | Data::Count(_) => (1, 8),
    };
    if length % weights == 0 { length * each } else { 0 }
}
