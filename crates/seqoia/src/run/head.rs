//! The part of a model's description that all kinds of models share. It stands in the section `meta` as JSON, with
//! what belongs to one kind beside it, in an object named after the kind:
//!
//! ```text
//! {"made_by": "seqoia 0.1.0", "kind": "labeller", "calibrated": true, ..., "labeller": {"labels": [...], ...}}
//! ```
//!
//! Nothing here names a time, a place, a machine or a number of threads: equal training gives equal files.

use std::collections::BTreeMap;

use seqoia_model::{Container, Error as ModelError};
use serde::{Deserialize, Serialize};

use super::refuse_checkpoint;
use crate::error::Result;

/// What every model says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The program and its version.
    pub made_by: String,
    /// The kind of model: `labeller`.
    pub kind: String,
    /// Whether the exponentials of its scores are proportional to probabilities.
    pub calibrated: bool,
    /// How it was trained: learner, parameters, penalties, strategy, seed.
    pub training: BTreeMap<String, String>,
    /// XXH3 of the training text.
    pub data_digest: String,
    /// Training examples.
    pub examples: usize,
    /// Scores on dev data.
    pub scores: BTreeMap<String, f64>,
    /// Passes made.
    pub passes: u64,
    /// The pass that the weights are from.
    pub best_pass: u64,
    /// Why training ended.
    pub ended: String,
}

impl Head {
    /// Reads the head of a model, whatever its kind.
    ///
    /// # Errors
    /// A checkpoint, or a description that cannot be read.
    pub(crate) fn read(container: &Container) -> Result<Head> {
        refuse_checkpoint(container)?;
        serde_json::from_slice(container.get("meta")?).map_err(|e| {
            let what = format!("its description cannot be read: {e}");
            ModelError::damaged(container.file(), what).into()
        })
    }
}
