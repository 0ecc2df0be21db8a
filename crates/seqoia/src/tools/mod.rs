//! Data without a model: looked at, rewritten, its features printed.

mod check;
mod convert;
mod dump;
mod expand;

pub use check::{CheckOptions, Checked, Figures, Finding, Level, check};
pub use convert::{ConvertOptions, Converted, convert};
pub use dump::dump_features;
