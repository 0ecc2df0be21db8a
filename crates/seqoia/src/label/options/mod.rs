//! What a user can choose about the data of a labeller.

mod column;
mod data;
mod features;

pub use column::LabelColumn;
pub use data::{DataOptions, PairChoice, RuleChoice};
pub use features::{FeatureChoice, Features};
