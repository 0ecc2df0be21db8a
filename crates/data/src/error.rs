//! The error of every reader: where it is, what is wrong, what to do about it.
//!
//! Readers meet files that people wrote, so an error is a text for people with a place in a file,
//! not a code. It is plain data (no source inside) and can be cloned, compared and sent about.

use std::fmt;
use std::io;

/// The result of every fallible call in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a file, and where.
///
/// ```
/// use seqoia_data::Error;
///
/// let error = Error::at("train.txt", 12, "column 2 is empty").help("write _ for no value");
/// assert_eq!(error.to_string(), "train.txt:12: column 2 is empty\n  help: write _ for no value");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The file as the user named it, or `standard input`.
    pub file: String,
    /// The line, from 1; 0 if the error has no line.
    pub line: u64,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// What may cure it; empty if there is nothing to say.
    pub help: String,
}

impl Error {
    /// An error about a file as a whole.
    #[must_use]
    pub fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::at(file, 0, what)
    }

    /// An error on a line, counted from 1.
    #[must_use]
    pub fn at(file: impl Into<String>, line: u64, what: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into(), help: String::new() }
    }

    /// The same error with a word of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// What went wrong while reading `file`. An error of ours that travelled inside an
    /// [`io::Error`], as those of [`Input`](crate::open::Input) do, comes out as it went in.
    #[must_use]
    pub fn from_io(file: &str, error: &io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(ours) => ours.clone(),
            None => Self::new(file, format!("cannot be read: {error}")),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.what)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_what_help() {
        assert_eq!(Error::new("a.txt", "the file is empty").to_string(), "a.txt: the file is empty");
        assert_eq!(Error::at("a.txt", 3, "no").to_string(), "a.txt:3: no");
        assert_eq!(Error::at("a.txt", 3, "no").help("do").to_string(), "a.txt:3: no\n  help: do");
    }

    #[test]
    fn ours_survives_io() {
        let ours = Error::new("a.gz", "damaged").help("again");
        let io = io::Error::new(io::ErrorKind::InvalidData, ours.clone());
        assert_eq!(Error::from_io("other", &io), ours);
        let plain = io::Error::other("disk on fire");
        assert_eq!(Error::from_io("a.txt", &plain).to_string(), "a.txt: cannot be read: disk on fire");
    }
}
