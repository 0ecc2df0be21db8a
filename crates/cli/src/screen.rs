//! What goes to the terminal: results to standard output, all else to standard error; colours only
//! where a person sees them.

#![allow(clippy::print_stderr, clippy::print_stdout)] // the one place that prints

use std::io::{IsTerminal, Write};

/// An error: bold red on a terminal.
pub(crate) fn error(text: &str) {
    let word = if colours() { "\x1b[1;31merror\x1b[0m" } else { "error" };
    eprintln!("{word}: {text}");
}

/// A warning.
pub(crate) fn warning(text: &str) {
    let word = if colours() { "\x1b[1;33mwarning\x1b[0m" } else { "warning" };
    eprintln!("{word}: {text}");
}

/// A line beside the results.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// A result.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn result(text: &str) -> seqoia::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Standard error is a terminal that wants colours.
pub(crate) fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
