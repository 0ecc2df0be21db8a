//! The examples of a batch are looked at in parallel, all under the same weights; then the learner
//! learns from them in order (Zhao & Huang 2013, algorithm 5). A batch of one is `serial`.

use std::sync::Arc;

use crate::one_team::{OneTeam, Takes};
use crate::team::Setup;
use seqoia_core::{Result, Structure};

/// Batches of `setup.batch` examples.
///
/// # Errors
/// When a lane cannot be opened.
pub fn minibatch(structure: Arc<dyn Structure>, setup: Setup) -> Result<OneTeam> {
    OneTeam::new("minibatch", Takes::Online, structure, setup)
}
