//! What learners that look at costs or search have in common: the parameter that says how much a wrong
//! label costs, and the one that says which prefixes are compared when the search is inexact. A learner
//! that declares the second can be given a beam.

use seqoia_core::param::{Kind, Param, Settings, Value};
use seqoia_core::{Case, Note, Profile, Question, Result, Search, Update, Weights};

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
    Profile::online(name, needs, per_weight)
}

/// As set; exact search does not look at it.
pub(crate) fn update(settings: &Settings) -> Update {
    let given = settings.word(UPDATE.name);
    ALL.into_iter().find(|u| Some(u.name()) == given).unwrap_or(Update::MaxViolation)
}

/// Squares of differences below this make no step: other labels with the same features.
const NOTHING: f64 = 1e-9;

/// Searches for the output that is violated most and puts `min(c longest, loss / |v|^2)` in `note.own[0]`, for its merged
/// difference v; 0 if gold wins by enough. The note's loss is the hinge.
pub(crate) fn pa_step(
    case: &mut Case<'_>,
    w: Weights<'_>,
    search: &Search,
    longest: f64,
    note: &mut Note,
) -> Result<()> {
    case.violations(w, search, note)?;
    let weight = note.weight;
    let Some(found) = note.found_mut().first_mut() else { return Ok(()) };
    let loss = found.cost * search.cost - found.margin;
    let square = case.merge(&mut found.delta);
    let step = if loss > 0.0 && square >= NOTHING { (weight * longest).min(loss / square) } else { 0.0 };
    (note.own[0], note.loss) = (step, weight * loss.max(0.0));
    Ok(())
}
