//! Why a model cannot be read or written: file, what, and what to do.

/// The result of reading or writing a model.
pub type Result<T> = std::result::Result<T, Error>;

/// A model that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}\n  help: {help}")]
pub struct Error {
    /// The file, as the user named it.
    pub file: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl Error {
    /// With all its parts.
    pub fn new(file: &str, what: impl Into<String>, help: impl Into<String>) -> Self {
        Error { file: file.to_owned(), what: what.into(), help: help.into() }
    }

    /// A file that cannot have been written like this.
    pub fn damaged(file: &str, what: impl Into<String>) -> Self {
        Error::new(file, what, "the file is damaged: copy it again, or train the model anew")
    }

    pub(crate) fn io(file: &str, doing: &str, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let help = match error.kind() {
            ErrorKind::NotFound => "is the name right, and does the folder exist?",
            ErrorKind::InvalidFilename => "choose a shorter name",
            ErrorKind::PermissionDenied => "is this folder yours to write, this file yours to read?",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "make room on the disk; this file was not changed"
            }
            _ => "this file was not changed",
        };
        // The temporary name means nothing to the user.
        let cause = error.to_string();
        let cause = cause.split(" at path ").next().unwrap_or_default();
        Error::new(file, format!("cannot {doing}: {cause}"), help)
    }
}
