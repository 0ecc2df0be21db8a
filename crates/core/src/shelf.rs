//! Numbers that are kept outside memory: what a learner remembers of each example may be larger than it.

use crate::Result;

/// A long list of numbers that lies elsewhere, such as in a file; all 0 at first.
pub trait Shelf: std::fmt::Debug + Send + Sync {
    /// Reads the numbers from `at` on.
    ///
    /// # Errors
    /// When they cannot be read.
    fn get(&self, at: usize, to: &mut [f32]) -> Result<()>;
    /// Replaces the numbers from `at` on. Others may be read or replaced at the same time.
    ///
    /// # Errors
    /// When they cannot be written.
    fn put(&self, at: usize, from: &[f32]) -> Result<()>;
}
