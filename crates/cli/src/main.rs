//! `seqoia`: one file per command. Only here are a terminal, signals and the environment touched.

mod check;
mod clock;
mod closed;
mod compare;
mod convert;
mod demo;
mod eval;
mod flagged;
mod flags;
mod habits;
mod heap;
mod inputs;
mod inspect;
mod predict;
mod reporter;
mod rerank;
mod screen;
mod shell;
mod signals;
mod targets;
mod train;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    let matches = whole().try_get_matches().unwrap_or_else(|error| habits::exit(&error));
    let cli = match flags::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let result = match &cli.command {
        flags::Command::Train(args) => train::run(args, matches.subcommand_matches("train")),
        flags::Command::Predict(args) => predict::run(args),
        flags::Command::Eval(args) => eval::run(args),
        flags::Command::Check(args) => check::run(args),
        flags::Command::Inspect(args) => inspect::run(args),
        flags::Command::Convert(args) => convert::run(args),
        flags::Command::Compare(args) => compare::run(args),
        flags::Command::Demo(args) => demo::run(args),
        flags::Command::Completions(args) => shell::completions(whole(), args),
        flags::Command::Man(args) => shell::man(whole(), args),
    };
    match result {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// The command line with the flags that learners and strategies declare.
fn whole() -> clap::Command {
    train::with_declared_flags(flags::Cli::command())
}

/// Tells an error and picks the exit code: 2 for options that do not go together, 1 for all else. A
/// reader that closed the pipe (`| head`) is not an error.
fn fail(error: &anyhow::Error) -> ExitCode {
    let ours = error.downcast_ref::<seqoia::Error>();
    if matches!(ours, Some(seqoia::Error::Closed)) {
        return ExitCode::SUCCESS;
    }
    screen::error(&flagged::told(error));
    let option = matches!(ours, Some(seqoia::Error::Option(_))) || error.is::<seqoia::BadOption>();
    match option || error.is::<flags::Refused>() {
        true => ExitCode::from(2),
        false => ExitCode::FAILURE,
    }
}
