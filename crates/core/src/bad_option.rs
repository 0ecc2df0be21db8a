//! The error of every option: which one it is, what was given, what is wrong with it, what to do about it.
//!
//! A program gets it too, and has no flags. So an option is a plain name, in a sentence in backquotes: `` `beam` ``, with
//! a value `` `beam 4` ``. Whoever has flags writes them instead.

use std::fmt;

/// An option that cannot be used as it was given.
///
/// ```
/// use seqoia_core::BadOption;
///
/// let error = BadOption::of("label", 7, "train.txt has columns 0 to 3").help("columns count from 0");
/// assert_eq!(error.to_string(), "`label` 7: train.txt has columns 0 to 3\n  help: columns count from 0");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadOption {
    /// Its name, such as `label`; empty if no single option is meant.
    pub option: String,
    /// What was given; empty if that says nothing.
    pub value: String,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// What may cure it; empty if there is nothing to say.
    pub help: String,
}

impl BadOption {
    /// No single option is to blame.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// An option with the value that was given; `""` if there is none to be told.
    #[must_use]
    pub fn of(option: &str, value: impl fmt::Display, what: impl Into<String>) -> Self {
        Self { option: option.to_owned(), value: value.to_string(), ..Self::new(what) }
    }

    /// The same error with a word of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.option.as_str(), self.value.as_str()) {
            ("", _) => {}
            (option, "") => write!(f, "`{option}`: ")?,
            (option, value) => write!(f, "`{option}` {value}: ")?,
        }
        f.write_str(&self.what)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for BadOption {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_value_what_help() {
        assert_eq!(BadOption::new("no features").to_string(), "no features");
        assert_eq!(BadOption::of("width", "", "not read").to_string(), "`width`: not read");
        assert_eq!(BadOption::of("beam", 0, "too few").to_string(), "`beam` 0: too few");
        assert_eq!(BadOption::new("no").help("do").to_string(), "no\n  help: do");
    }
}
