//! What can go wrong between the seams. Errors of files and options live where those are read.

/// The result of every fallible call between the seams.
pub type Result<T> = std::result::Result<T, Error>;

/// Why training cannot go on; each text is a sentence for the user.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A learner, a structure and a strategy that cannot work together.
    #[error("{0}")]
    Mismatch(String),
    /// An example that could not be answered: it cannot be read, a broken decoder.
    #[error("training example {number}: {what}", number = id + 1)]
    Example {
        /// Number of the example, from 0.
        id: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A loss or score that is not finite: weights too large, or a step too long.
    #[error("training example {number}: {what}", number = id + 1)]
    NotFinite {
        /// Number of the example, from 0.
        id: usize,
        /// What is not finite.
        what: String,
    },
    /// The method gave up.
    #[error("{0}")]
    Learner(String),
    /// A worker panicked: a bug of ours, told instead of a hang.
    #[error("a worker stopped: {0}; this is a bug in Seqoia, please report it")]
    Worker(String),
}

impl Error {
    /// A state that was saved does not fit.
    #[must_use]
    pub fn other_state() -> Error {
        Error::Mismatch("the saved state belongs to another learner or data set".to_owned())
    }
}
