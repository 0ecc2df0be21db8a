//! What learners that search have in common: the parameter that says which prefixes are compared when the
//! search is inexact. A learner that declares it can be given a beam.

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

/// The parameters of a learner that has no others.
pub(crate) const PARAMS: &[Param] = &[UPDATE];

/// As set; exact search does not look at it.
pub(crate) fn update(settings: &Settings) -> Update {
    let given = settings.word(UPDATE.name);
    ALL.into_iter().find(|u| Some(u.name()) == given).unwrap_or(Update::MaxViolation)
}
