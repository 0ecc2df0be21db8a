//! The list of learners: name, parameters, what they minimise and how they are made.

pub use crate::objective::Objective;

use crate::sag::{Sag, Uniform};
use crate::sag_nus::Nus;
use crate::sag_nus_star::NusStar;
use crate::{
    AdaGrad, Adf, Asg, Asgd, AveragedPerceptron, Dca, Hybrid, Lbfgs, Madf, Oeg, OwlQn, Pa, Pegasos,
    Perceptron, Saga, Sdca, Sg, Sgd, Smd, Svrg, adagrad, adf, asg, asgd, dca, hybrid, lbfgs, madf, oeg, pa,
    pegasos, sag, saga, sdca, search, sg, sgd, smd, svrg,
};
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
        name: "hybrid",
        summary: "L-BFGS on a growing sample; ahead of it in the first passes",
        reference: "Friedlander & Schmidt 2012",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 1000,
        params: hybrid::PARAMS,
        make: |settings, objective| Box::new(Hybrid::new(settings, objective.l2)),
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
        name: "asgd",
        summary: "as sgd, with a mean of all weights from the second pass on",
        reference: "Xu 2010",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 10,
        params: asgd::PARAMS,
        make: |settings, objective| Box::new(Asgd::new(settings, objective.l2)),
    },
    Entry {
        name: "adf",
        summary: "rates that fall with the use of a feature; good after a few passes",
        reference: "Sun, Wang & Li 2012",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 10,
        params: adf::PARAMS,
        make: |settings, objective| Box::new(Adf::new(settings, objective.l2)),
    },
    Entry {
        name: "madf",
        summary: "fixed rates by the frequency of a feature",
        reference: "He & Wang 2012",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 10,
        params: madf::PARAMS,
        make: |settings, objective| Box::new(Madf::new(settings, objective.l2)),
    },
    Entry {
        name: "adagrad",
        summary: "a learning rate for each weight; often the best for names",
        reference: "Duchi, Hazan & Singer 2011",
        penalty: Penalty::L1L2,
        l2: 0.0,
        passes: 5,
        params: adagrad::PARAMS,
        make: |settings, objective| Box::new(AdaGrad::new(settings, objective)),
    },
    Entry {
        name: "adagrad-exact",
        summary: "adagrad with exact l2 at every step; for comparison",
        reference: "Schmidt et al. 2015",
        penalty: Penalty::L1L2,
        l2: 1.0,
        passes: 20,
        params: adagrad::EXACT,
        make: |settings, objective| Box::new(AdaGrad::exact(settings, objective)),
    },
    Entry {
        name: "sag-nus-star",
        summary: "the exact optimum, each example's gradient remembered; no rate to choose",
        reference: "Schmidt et al. 2015",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 100,
        params: sag::PARAMS,
        make: |settings, objective| {
            Box::new(Sag::with("sag-nus-star", settings, objective.l2, NusStar::new(settings)))
        },
    },
    Entry {
        name: "sag-nus",
        summary: "the same with the sampling of 2013; for comparison",
        reference: "Schmidt, Le Roux & Bach 2013",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 100,
        params: sag::PARAMS,
        make: |settings, objective| {
            Box::new(Sag::with("sag-nus", settings, objective.l2, Nus::new(settings, objective.l2)))
        },
    },
    Entry {
        name: "sag",
        summary: "the same with uniform sampling; for comparison",
        reference: "Le Roux, Schmidt & Bach 2012",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 100,
        params: sag::PARAMS,
        make: |settings, objective| {
            Box::new(Sag::with("sag", settings, objective.l2, Uniform::new(settings)))
        },
    },
    Entry {
        name: "saga",
        summary: "as sag-nus-star, unbiased; with |w|_1 too: sparse models",
        reference: "Defazio, Bach & Lacoste-Julien 2014",
        penalty: Penalty::L1L2,
        l2: 1.0,
        passes: 100,
        params: saga::PARAMS,
        make: |settings, objective| Box::new(Saga::new(settings, objective)),
    },
    Entry {
        name: "sdca",
        summary: "the exact optimum by its dual; stops by the duality gap",
        reference: "Le Priol, Piché & Lacoste-Julien 2018",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 100,
        params: sdca::PARAMS,
        make: |settings, objective| Box::new(Sdca::new(settings, objective.l2)),
    },
    Entry {
        name: "svrg",
        summary: "the exact optimum without a table; two evaluations per step",
        reference: "Johnson & Zhang 2013",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 50,
        params: svrg::PARAMS,
        make: |settings, objective| Box::new(Svrg::new(settings, objective.l2)),
    },
    Entry {
        name: "oeg",
        summary: "the dual by exponentiated gradient; for comparison",
        reference: "Collins et al. 2008",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 50,
        params: oeg::PARAMS,
        make: |settings, objective| Box::new(Oeg::new(settings, objective.l2)),
    },
    Entry {
        name: "sg",
        summary: "constant rate, last weights; for comparison",
        reference: "Schmidt et al. 2015",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 20,
        params: sg::PARAMS,
        make: |settings, objective| Box::new(Sg::new(settings, objective.l2)),
    },
    Entry {
        name: "asg",
        summary: "constant rate, mean of all weights; for comparison",
        reference: "Polyak & Juditsky 1992",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 20,
        params: asg::PARAMS,
        make: |settings, objective| Box::new(Asg::new(settings, objective.l2)),
    },
    Entry {
        name: "pegasos",
        summary: "rate 1/(l2 t); for comparison",
        reference: "Shalev-Shwartz et al. 2011",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 20,
        params: pegasos::PARAMS,
        make: |settings, objective| Box::new(Pegasos::new(settings, objective.l2)),
    },
    Entry {
        name: "smd",
        summary: "gains learned along with weights; slow, for comparison",
        reference: "Vishwanathan et al. 2006",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 10,
        params: smd::PARAMS,
        make: |settings, objective| Box::new(Smd::new(settings, objective.l2)),
    },
    Entry {
        name: "dca",
        summary: "steps as long as a loss pays for; no rate to choose",
        reference: "Martins et al. 2010",
        penalty: Penalty::L2,
        l2: 1.0,
        passes: 10,
        params: dca::PARAMS,
        make: |settings, objective| Box::new(Dca::new(settings, objective.l2)),
    },
    Entry {
        name: "pa",
        summary: "the smallest step that makes gold win by its cost, at most C",
        reference: "Crammer et al. 2006",
        penalty: Penalty::None,
        l2: 0.0,
        passes: 10,
        params: pa::PARAMS,
        make: |settings, _| Box::new(Pa::new(settings)),
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
            "MIRA" | "mira" | "arow" => Some("pa"),
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
