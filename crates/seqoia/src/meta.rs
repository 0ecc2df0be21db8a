//! What a model says about itself. Nothing here names a time, a place, a machine or a number of
//! threads: equal training gives equal files.

use seqoia_data::features::Template;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The description that stands in every model file, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// The program and its version.
    pub made_by: String,
    /// The structure: `chain`.
    pub structure: String,
    /// The labels, in order.
    pub labels: Vec<String>,
    /// The scheme of the training file, if its labels are chunks.
    pub file_scheme: Option<String>,
    /// The scheme of `labels`.
    pub model_scheme: Option<String>,
    /// Format of the training file.
    pub format: String,
    /// Its columns.
    pub columns: usize,
    /// Which of them is the label.
    pub label_column: usize,
    /// How attributes are made.
    pub templates: Vec<Template>,
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// Attributes with dense rows.
    pub dense: usize,
    /// Weights that are not zero.
    pub weights: usize,
    /// How it was trained: learner, parameters, penalties, strategy, seed.
    pub training: BTreeMap<String, String>,
    /// XXH3 of the training text.
    pub data_digest: String,
    /// Training sequences.
    pub sequences: usize,
    /// Training tokens.
    pub tokens: usize,
    /// Scores on dev data.
    pub scores: BTreeMap<String, f64>,
    /// Passes made.
    pub passes: u64,
    /// The pass that the weights are from.
    pub best_pass: u64,
    /// Why training ended.
    pub ended: String,
}
