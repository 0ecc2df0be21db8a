//! One example at a time: the definition of every online learner. The crew's other threads help
//! with sums over all examples and with work on whole planes.

use std::sync::Arc;

use crate::one_team::{OneTeam, Takes};
use crate::team::Setup;
use seqoia_core::{Result, Structure};

/// Batches of one, whatever `setup` says.
///
/// # Errors
/// When a lane cannot be opened.
pub fn serial(structure: Arc<dyn Structure>, setup: Setup) -> Result<OneTeam> {
    OneTeam::new("serial", Takes::Every, structure, Setup { batch: 1, ..setup })
}
