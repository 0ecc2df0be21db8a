//! The command line: one declaration for parser, help, completions and man pages. One file per command, and one per
//! group of options that commands share. Parameters of single learners and strategies come from their own
//! declarations, see `train::with_declared_flags`.

mod check;
mod compare;
mod convert;
mod demo;
mod eval;
mod inspect;
mod label;
mod learn;
mod predict;
mod run;
mod shell;
mod templates;
mod train;

pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use convert::{BitsName, ConvertArgs};
pub(crate) use demo::DemoArgs;
pub(crate) use eval::{CountOrFile, EvalArgs, MetricName};
pub(crate) use inspect::InspectArgs;
pub(crate) use label::{LabelArgs, PairsName, PrecisionName, WidthName};
pub(crate) use learn::{KeepName, LearnArgs};
pub(crate) use predict::PredictArgs;
pub(crate) use run::RunArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use templates::TemplateArgs;
pub(crate) use train::{TaskName, TrainArgs};

use std::io::IsTerminal;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use seqoia::data::format::Kind;

#[derive(Parser)]
#[command(
    name = "seqoia",
    version,
    about = "Structured linear models: small, exact, reproducible, trained in seconds",
    after_help = "Try it:  seqoia demo",
    arg_required_else_help = true,
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a model from labelled data
    Train(Box<TrainArgs>),
    /// Label data with a model
    Predict(PredictArgs),
    /// Score labelled data
    Eval(EvalArgs),
    /// Look at data before training
    Check(CheckArgs),
    /// Look into a model: its weights, and why it gives a label
    Inspect(InspectArgs),
    /// Rewrite data in another format or scheme; make a model smaller
    Convert(ConvertArgs),
    /// Run a recipe of learners and data sets, and draw how they compare
    Compare(CompareArgs),
    /// Train and try a model on generated data
    Demo(DemoArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
}

/// Formats by their names.
pub(crate) fn formats() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name))
        .map(|name| Kind::parse(&name).unwrap_or(Kind::Columns))
}

/// Options that cannot be used as they were given, in the words of this program: flags stand in it as they are typed,
/// and so does what the user gave.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// See [`Refused`].
pub(crate) fn refused(what: impl Into<String>) -> anyhow::Error {
    Refused(what.into()).into()
}

/// Opens the data: the file or a part of it, or standard input unless a person sits there.
///
/// # Errors
/// A file that cannot be opened; no file and a terminal.
pub(crate) fn open(data: Option<&Path>) -> anyhow::Result<seqoia::data::open::Input> {
    open_as(data, None)
}

/// The same for a file whose format may have been named.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_as(data: Option<&Path>, kind: Option<Kind>) -> anyhow::Result<seqoia::data::open::Input> {
    match data {
        Some(path) => Ok(seqoia::data::part::open_part(path, kind, limit()?)?),
        None if std::io::stdin().is_terminal() => {
            Err(refused("no data: name a file, or - to type it in here"))
        }
        None => Ok(seqoia::data::open::open(Path::new("-"))?.with_limit(limit()?)),
    }
}

/// Most bytes that a single thing in a file may take: the variable `SEQOIA_LIMIT`, such as 4G or 500M.
///
/// # Errors
/// A value that is none.
pub(crate) fn limit() -> anyhow::Result<usize> {
    let Some(given) = std::env::var_os("SEQOIA_LIMIT") else { return Ok(seqoia::data::open::LIMIT) };
    let text = given.to_string_lossy();
    let bytes = size(&text, 1 << 10);
    bytes.ok_or_else(|| {
        refused(format!("SEQOIA_LIMIT={text}: expected a number of bytes, such as 500M or 4G"))
    })
}

/// A number of bytes above 0 with a unit, K, M or G, each `step` times the one before; none if it is not one.
pub(crate) fn size(text: &str, step: usize) -> Option<usize> {
    let unit = match text.bytes().last() {
        Some(b'K' | b'k') => step,
        Some(b'M' | b'm') => step * step,
        Some(b'G' | b'g') => step * step * step,
        _ => 1,
    };
    let number = if unit > 1 { &text[..text.len() - 1] } else { text };
    number.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0)
}

/// More than this many threads would cost more than they can gain on any machine there is.
const MOST_THREADS: usize = 1024;

/// The number of threads: at most as given, or one for each core.
///
/// # Errors
/// `--threads 0`.
pub(crate) fn threads(given: Option<usize>) -> anyhow::Result<usize> {
    match given {
        Some(0) => Err(refused("--threads 0: at least one thread is needed")),
        Some(n) => Ok(n.min(MOST_THREADS)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, step, bytes) in [("200M", 1000, 200_000_000), ("7", 1000, 7), ("2k", 1 << 10, 2048)] {
            assert_eq!(size(text, step), Some(bytes));
        }
        for text in ["", "M", "0", "0G", "-1K", "1.5G", "3T", "99999999999999G"] {
            assert_eq!(size(text, 1000), None, "{text}");
        }
    }

    #[test]
    fn threads_have_two_ends() {
        assert!(threads(Some(0)).unwrap_err().to_string().contains("at least one"));
        assert_eq!(threads(Some(3)).unwrap(), 3);
        assert_eq!(threads(Some(usize::MAX)).unwrap(), MOST_THREADS);
        assert!(threads(None).unwrap() >= 1);
    }
}
