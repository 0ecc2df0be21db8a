//! Readers and label schemes: from files to tokens, fields and chunks.

pub mod candidates;
pub mod disk;
pub mod error;
pub mod features;
pub mod format;
pub mod generate;
pub mod open;
pub mod part;
pub mod rules;
pub mod scheme;
pub mod text;
mod threads;

pub use error::{Error, Result};
