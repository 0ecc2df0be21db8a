//! What can go wrong between a file and a model, each with a text for the user.

pub use seqoia_core::BadOption;

/// The result of every call of this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Anything that stops a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Data that cannot be read: file, line, what, and what to do.
    #[error(transparent)]
    Data(#[from] seqoia_data::Error),
    /// A model that cannot be read or written.
    #[error(transparent)]
    Model(#[from] seqoia_model::Error),
    /// A file that cannot be scored.
    #[error(transparent)]
    Eval(#[from] seqoia_eval::Error),
    /// Training that cannot go on.
    #[error(transparent)]
    Train(#[from] seqoia_core::Error),
    /// An option that cannot be used as given, or options that do not go together.
    #[error(transparent)]
    Option(#[from] BadOption),
    /// Data that do not go together, or not with the model, where no file is to blame; a sentence.
    #[error("{0}")]
    Mismatch(String),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(String),
    /// Whoever read the output has closed it: no reason to complain.
    #[error("the output was closed")]
    Closed,
}

/// Things, counted, in a sentence: `1 column`, `2 columns`.
pub(crate) fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// The columns that a file has, by number.
pub(crate) fn columns(n: usize) -> String {
    match n {
        0 | 1 => "column 0 only".to_owned(),
        _ => format!("columns 0 to {}", n - 1),
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Error::Closed,
            _ => Error::Output(error.to_string()),
        }
    }
}
