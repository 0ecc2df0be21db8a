//! One example at a time: the learner learns from each before the next is looked at. Learners that work on whole
//! passes join as they do in `batch`.

use crate::one_team::OneTeam;
use crate::registry::{Entry, Takes};

/// Batches of one example.
pub(crate) const ENTRY: Entry = Entry {
    name: "serial",
    summary: "one example at a time",
    takes: Takes::Every,
    params: &[],
    make: |structure, setup, _| Ok(Box::new(OneTeam::new(&ENTRY, structure, setup, 1)?)),
};
