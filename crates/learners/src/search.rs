//! What learners that look at costs or search have in common: the parameter that says how much a wrong
//! label costs, and the one that says which prefixes are compared when the search is inexact. A learner
//! that declares the second can be given a beam.

use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Profile, Question, Search, Update};

const ALL: [Update; 4] = [Update::Full, Update::Early, Update::Latest, Update::MaxViolation];
const NAMES: [&str; 4] = [ALL[0].name(), ALL[1].name(), ALL[2].name(), ALL[3].name()];

/// Which prefixes are compared.
pub(crate) const UPDATE: Param = Param {
    name: "update",
    kind: Kind::Word(&NAMES),
    default: Value::Auto("max-violation"),
    help: "which prefixes an inexact search compares",
};

/// What a wrong label costs.
pub(crate) const COST: Param = Param {
    name: "cost",
    kind: Kind::FromZero,
    default: Value::Real(0.0),
    help: "added to the score of each wrong label while training: gold must win by as much",
};

/// The parameters of a learner that has no others.
pub(crate) const PARAMS: &[Param] = &[UPDATE, COST];

/// Of a learner that learns from what it finds, example by example.
pub(crate) fn profile(name: &'static str, search: &Search, per_weight: usize) -> Profile {
    let mut needs = vec![Question::Violations];
    needs.extend((search.cost > 0.0).then_some(Question::Costs));
    Profile { name, needs, whole: false, stops: false, calibrated: false, per_weight, per_example: 0 }
}

/// As set; exact search does not look at it.
pub(crate) fn update(settings: &Settings) -> Update {
    let given = settings.word(UPDATE.name);
    ALL.into_iter().find(|u| Some(u.name()) == given).unwrap_or(Update::MaxViolation)
}
