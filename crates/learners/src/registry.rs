//! The list of learners: name, parameters, what they minimise and how they are made.

use crate::descent::history;
use crate::{AdaGrad, AveragedPerceptron, Lbfgs, OwlQn, Perceptron, Sgd, adagrad, lbfgs, search, sgd};
use seqoia_core::Learner;
use seqoia_core::param::{Param, Settings, nearest};

/// The penalties of F(w) = (1/n) sum loss_i(w) + (l2/2) |w|^2 + l1 |w|_1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Objective {
    /// Weight of |w|_1.
    pub l1: f64,
    /// Twice the weight of |w|^2.
    pub l2: f64,
}

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
    /// Thinks in whole passes: strategy `batch` by default.
    pub whole: bool,
    /// Passes, if the user does not say.
    pub passes: u64,
    planes: fn(&Settings) -> usize,
    /// Its parameters.
    pub params: &'static [Param],
    make: fn(&Settings, Objective) -> Box<dyn Learner>,
}

impl Entry {
    /// It searches, so the search may be given a beam.
    #[must_use]
    pub fn searches(&self) -> bool {
        self.params.iter().any(|p| p.name == search::UPDATE.name)
    }

    /// It looks at what wrong labels cost.
    #[must_use]
    pub fn counts_costs(&self) -> bool {
        self.params.iter().any(|p| p.name == search::COST.name)
    }

    /// Checks parameters given as text.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn check(&self, given: &[(String, String)]) -> Result<Settings, String> {
        Settings::check(self.name, self.params, given)
    }

    /// Numbers it keeps for each weight: what its state takes in memory.
    #[must_use]
    pub fn planes(&self, settings: &Settings) -> usize {
        (self.planes)(settings)
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
        summary: "quasi-Newton on the exact objective; the default",
        reference: "Liu & Nocedal 1989",
        penalty: Penalty::L2,
        l2: 1.0,
        whole: true,
        passes: 1000,
        planes: |settings| 6 + history(settings),
        params: lbfgs::PARAMS,
        make: |settings, objective| Box::new(Lbfgs::new(settings, objective.l2)),
    },
    Entry {
        name: "owl-qn",
        summary: "quasi-Newton with |w|_1: sparse models, elastic net",
        reference: "Andrew & Gao 2007",
        penalty: Penalty::L1L2,
        l2: 1.0,
        whole: true,
        passes: 1000,
        planes: |settings| 7 + history(settings),
        params: lbfgs::PARAMS,
        make: |settings, objective| Box::new(OwlQn::new(settings, objective)),
    },
    Entry {
        name: "sgd",
        summary: "one example at a time, calibrated rate that falls as 1/t",
        reference: "Bottou, crfsgd",
        penalty: Penalty::L2,
        l2: 1.0,
        whole: false,
        passes: 20,
        planes: |_| 2,
        params: sgd::PARAMS,
        make: |settings, objective| Box::new(Sgd::new(settings, objective.l2)),
    },
    Entry {
        name: "adagrad",
        summary: "a rate for each weight; the best after one pass",
        reference: "Duchi, Hazan & Singer 2011",
        penalty: Penalty::L2,
        l2: 0.0,
        whole: false,
        passes: 5,
        planes: |_| 2,
        params: adagrad::PARAMS,
        make: |settings, objective| Box::new(AdaGrad::new(settings, objective.l2)),
    },
    Entry {
        name: "averaged-perceptron",
        summary: "mistake-driven updates, mean of all weights; fastest",
        reference: "Collins 2002",
        penalty: Penalty::None,
        l2: 0.0,
        whole: false,
        passes: 10,
        planes: |_| 3,
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
        whole: false,
        passes: 10,
        planes: |_| 1,
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
/// A sentence with the nearest name.
pub fn find(name: &str) -> Result<&'static Entry, String> {
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
        match elsewhere.or_else(|| nearest(name, LEARNERS.iter().map(|e| e.name))) {
            Some(other) => format!("there is no learner '{name}'; did you mean {other}?"),
            None => format!("there is no learner '{name}'; --learner list shows all"),
        }
    })
}
