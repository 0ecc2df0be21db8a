//! Programs that tests start.

use std::process::{Command, Stdio};

/// A program with no signal ignored, where `env` can do that: tests that run in the background of a shell, or under
/// `nohup`, ignore some, and what they start would do so too.
#[must_use]
pub fn heeding(program: &str) -> Command {
    let reset = "--default-signal";
    let mut trial = Command::new("env");
    if trial.args([reset, "true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        let mut command = Command::new("env");
        command.args([reset, program]);
        return command;
    }
    Command::new(program)
}
