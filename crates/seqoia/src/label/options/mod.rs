//! What a user can choose about the data of a labeller.

mod column;
mod data;
mod features;
pub mod recipes;

pub use column::LabelColumn;
pub use data::{DataOptions, PairChoice, RuleChoice, Schemes};
pub use features::{FeatureChoice, Features};
pub use recipes::Recipe;
