//! For learners that work on whole passes: the sum over all examples is cut into chunks that are
//! summed in parallel and added in order.

use crate::one_team::OneTeam;
use crate::registry::{Entry, Takes};

/// Whole passes over `setup.chunks` chunks.
pub(crate) const ENTRY: Entry = Entry {
    name: "batch",
    summary: "whole passes, for learners that work on them",
    takes: Takes::Whole,
    params: &[],
    make: |structure, setup, _| Ok(Box::new(OneTeam::new(&ENTRY, structure, setup, 1)?)),
};
