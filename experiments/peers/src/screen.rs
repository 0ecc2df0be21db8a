//! What goes to the terminal: tables to standard output, progress to standard error.

#![allow(clippy::print_stderr)] // the one place that prints

use std::io::Write;

/// A line beside the results.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// A result.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn result(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
