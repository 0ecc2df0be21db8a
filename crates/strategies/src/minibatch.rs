//! The examples of a batch are looked at in parallel, all under the same weights; then the learner
//! learns from them in order (Zhao & Huang 2013, algorithm 5). A batch of one is `serial`.

use crate::one_team::OneTeam;
use crate::registry::{Entry, Takes};
use seqoia_core::param::{Kind, Param, Settings, Value};

/// Batches of `batch-size` examples.
pub(crate) const ENTRY: Entry = Entry {
    name: "minibatch",
    summary: "several examples in parallel, then one step",
    takes: Takes::Batches,
    params: &[SIZE],
    make: |structure, setup, settings| Ok(Box::new(OneTeam::new(&ENTRY, structure, setup, size(settings))?)),
};

const SIZE: Param = Param {
    name: "batch-size",
    kind: Kind::Count { least: 1, most: u32::MAX as u64 },
    default: Value::Count(1),
    help: "examples per update",
};

/// The batch size among the parameters of a strategy; 1 where it has none.
pub(crate) fn size(settings: &Settings) -> usize {
    settings.count(SIZE.name).map_or(1, |n| usize::try_from(n).unwrap_or(usize::MAX))
}
