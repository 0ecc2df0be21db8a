//! What goes to the terminal: results to standard output, all else to standard error; colours only
//! where a person sees them.

use std::io::{IsTerminal, StdoutLock, Write};

use seqoia_report::visible;

/// An error: bold red on a terminal.
pub(crate) fn error(text: &str) {
    let word = if colours() { "\x1b[1;31merror\x1b[0m" } else { "error" };
    line(&format!("{word}: {}", visible(text)));
}

/// A warning.
pub(crate) fn warning(text: &str) {
    let word = if colours() { "\x1b[1;33mwarning\x1b[0m" } else { "warning" };
    line(&format!("{word}: {}", visible(text)));
}

/// A line beside the results.
pub(crate) fn note(text: &str) {
    line(&visible(text));
}

/// A closed or full standard error ends nothing: there is nobody to tell.
fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A result for people.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn shown(text: &str) -> seqoia::Result<()> {
    result(&visible(text))
}

/// A result for programs, as it is.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn result(text: &str) -> seqoia::Result<()> {
    let mut out = output()?;
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Standard output.
///
/// # Errors
/// When it was closed before the program started: what is written would be lost without a word.
pub(crate) fn output() -> seqoia::Result<StdoutLock<'static>> {
    #[cfg(target_os = "linux")]
    if crate::closed::output() {
        return Err(seqoia::Error::Output("standard output is closed".to_owned()));
    }
    Ok(std::io::stdout().lock())
}

/// Standard error is a terminal that wants colours.
pub(crate) fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
