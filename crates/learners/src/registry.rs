//! The list of learners: name, parameters, what they minimise and how they are made.

pub use crate::objective::Objective;

use crate::{AdaGrad, AveragedPerceptron, Lbfgs, OwlQn, Perceptron, Sgd, adagrad, lbfgs, search, sgd};
use seqoia_core::param::{Param, Settings, nearest};
use seqoia_core::{BadOption, Learner, Profile};

/// Which penalties a learner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// It minimises no regularised objective.
    None,
    /// l2 only.
    L2,
    /// l1 and l2.
    L1L2,
}

/// One learner.
#[derive(Debug)]
pub struct Entry {
    /// As on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Which penalties it knows.
    pub penalty: Penalty,
    /// n times the l2 that it has if the user names no penalty.
    pub l2: f64,
    /// Passes, if the user does not say.
    pub passes: u64,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes it.
    pub make: fn(&Settings, Objective) -> Box<dyn Learner>,
}

impl Entry {
    /// Checks parameters given as text.
    ///
    /// # Errors
    /// A parameter that it does not have or a value outside its range.
    pub fn check(&self, given: &[(String, String)]) -> Result<Settings, BadOption> {
        Settings::check(self.name, self.params, given)
    }

    /// Its parameters as they are unless given.
    #[must_use]
    pub fn defaults(&self) -> Settings {
        Settings::defaults(self.params)
    }

    /// What others must know about it with these settings, which come from [`Entry::check`]; no penalty.
    #[must_use]
    pub fn profile(&self, settings: &Settings) -> Profile {
        self.build(settings, Objective::default()).profile()
    }

    /// Makes the learner. The settings come from [`Entry::check`].
    #[must_use]
    pub fn build(&self, settings: &Settings, objective: Objective) -> Box<dyn Learner> {
        (self.make)(settings, objective)
    }
}

/// Every learner there is, in the order in which `--learner list` shows them.
pub const LEARNERS: &[Entry] = &[
    Entry {
        name: "lbfgs",
        summary: "quasi-Newton: the exact optimum of a CRF; slow",
        reference: "Liu & Nocedal 1989",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 1000,
        params: lbfgs::PARAMS,
        make: |settings, objective| Box::new(Lbfgs::new(settings, objective.l2)),
    },
    Entry {
        name: "owl-qn",
        summary: "quasi-Newton with |w|_1: sparse models, elastic net",
        reference: "Andrew & Gao 2007",
        penalty: Penalty::L1L2,
        l2: 1.0,
        passes: 1000,
        params: lbfgs::PARAMS,
        make: |settings, objective| Box::new(OwlQn::new(settings, objective)),
    },
    Entry {
        name: "sgd",
        summary: "one example at a time, calibrated rate that falls as 1/t",
        reference: "Bottou, crfsgd",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 20,
        params: sgd::PARAMS,
        make: |settings, objective| Box::new(Sgd::new(settings, objective.l2)),
    },
    Entry {
        name: "adagrad",
        summary: "a learning rate for each weight; often the best for names",
        reference: "Duchi, Hazan & Singer 2011",
        penalty: Penalty::L2,
        l2: 0.0,
        passes: 5,
        params: adagrad::PARAMS,
        make: |settings, objective| Box::new(AdaGrad::new(settings, objective.l2)),
    },
    Entry {
        name: "averaged-perceptron",
        summary: "mistake-driven updates, mean of all weights; fastest, the default",
        reference: "Collins 2002",
        penalty: Penalty::None,
        l2: 0.0,
        passes: 10,
        params: search::PARAMS,
        make: |settings, _| {
            let cost = settings.number(search::COST.name);
            Box::new(AveragedPerceptron::new(search::update(settings)).with_cost(cost))
        },
    },
    Entry {
        name: "perceptron",
        summary: "mistake-driven updates, last weights; for comparison",
        reference: "Collins 2002",
        penalty: Penalty::None,
        l2: 0.0,
        passes: 10,
        params: search::PARAMS,
        make: |settings, _| {
            let cost = settings.number(search::COST.name);
            Box::new(Perceptron::new(search::update(settings)).with_cost(cost))
        },
    },
];

/// Looks a learner up by name.
///
/// # Errors
/// An unknown name, with the nearest one.
pub fn find(name: &str) -> Result<&'static Entry, BadOption> {
    LEARNERS.iter().find(|e| e.name == name).ok_or_else(|| {
        // What CRFsuite, CRF++ and Wapiti call them.
        let elsewhere = match name {
            "ap" => Some("averaged-perceptron"),
            "l2sgd" => Some("sgd"),
            "CRF" | "CRF-L2" | "l-bfgs" | "rprop" | "rprop+" | "rprop-" => Some("lbfgs"),
            "CRF-L1" | "sgd-l1" | "bcd" => Some("owl-qn"),
            "MIRA" | "mira" | "pa" | "arow" => Some("averaged-perceptron"),
            _ => None,
        };
        let names = || LEARNERS.iter().map(|e| e.name);
        let other = match elsewhere.or_else(|| nearest(&name.to_lowercase(), names())) {
            Some(other) => format!("did you mean {other}?"),
            None => format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
        };
        BadOption::of("learner", name, format!("there is no such learner; {other}"))
    })
}
