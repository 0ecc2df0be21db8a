//! What a user can choose about the data of a labeller.

mod column;
mod data;
mod features;
mod output;
pub mod recipes;

pub use column::LabelColumn;
pub use data::{DataOptions, PairChoice, RuleChoice, Schemes};
pub use features::{FeatureChoice, Features};
pub use output::Output;
pub use recipes::Recipe;
