//! What learners that look at costs or search have in common: the parameter that says how much a wrong
//! label costs, and the one that says which prefixes are compared when the search is inexact. A learner
//! that declares the second can be given a beam.

use seqoia_core::Update;
use seqoia_core::param::{Kind, Param, Settings, Value};

const ALL: [Update; 4] = [Update::Full, Update::Early, Update::Latest, Update::MaxViolation];
const NAMES: [&str; 4] = [ALL[0].name(), ALL[1].name(), ALL[2].name(), ALL[3].name()];

/// Which prefixes are compared.
pub(crate) const UPDATE: Param = Param {
    name: "update",
    kind: Kind::Word(&NAMES),
    default: Value::Auto("max-violation"),
    help: "which prefixes --beam compares",
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

/// As set; exact search does not look at it.
pub(crate) fn update(settings: &Settings) -> Update {
    let given = settings.word(UPDATE.name);
    ALL.into_iter().find(|u| Some(u.name()) == given).unwrap_or(Update::MaxViolation)
}
