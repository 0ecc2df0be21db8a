//! What the tests of several crates share. Nothing here is shipped.
//!
//! - [`chains`]: random chains, small enough to enumerate or large enough to learn from;
//! - [`guess`]: a structure that only searches, in an open space of weights;
//! - [`teams`]: learners and strategies put together by name;
//! - [`labelling`]: a labeller from a text in a line;
//! - [`files`]: checkpoints of a run, files made right after a change;
//! - [`outside`]: data that is not part of the project;
//! - [`processes`]: programs that tests start;
//! - [`sources`]: the source texts of the library.

// A test fails by panicking, and says when it skips.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::missing_panics_doc)]

pub mod chains;
pub mod files;
pub mod guess;
pub mod labelling;
pub mod outside;
pub mod processes;
pub mod sources;
pub mod teams;

/// Whether two numbers agree, relative to the larger one or to 1.
#[must_use]
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Bits of numbers, to compare exactly.
#[must_use]
pub fn bits(w: &[f64]) -> Vec<u64> {
    w.iter().map(|x| x.to_bits()).collect()
}
