//! For learners that think in whole passes: the sum over all examples is cut into chunks that are
//! summed in parallel and added in order.

use std::sync::Arc;

use crate::one_team::{OneTeam, Takes};
use crate::team::Setup;
use seqoia_core::{Result, Structure};

/// Whole passes over `setup.chunks` chunks.
///
/// # Errors
/// When a lane cannot be opened.
pub fn batch(structure: Arc<dyn Structure>, setup: Setup) -> Result<OneTeam> {
    OneTeam::new("batch", Takes::Whole, structure, setup)
}
