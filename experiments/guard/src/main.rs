//! A guard against slowdowns that no clock disturbs: instructions of kernels and of whole commands, counted by
//! valgrind's callgrind, beside counts that are kept in `counts.txt`.
//!
//! Counts of the same program differ by less than a hundredth of a per cent between two runs, so a change of
//! a few per cent is seen on any machine, however busy. What they do not show is memory: a program that misses
//! the cache more often takes longer by the same count. `experiments/peers` and `experiments/seams` have times.
//!
//! Kernels run in this program (`guard case NAME`, called under callgrind), commands are those of `seqoia`
//! beside it. Counts depend on the compiler and on vector instructions: where these are others than those of
//! the kept counts, nothing is compared, and that is said.

mod callgrind;
mod kept;
mod kernels;
mod programs;
mod toy;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, Subcommand};
use kept::Kept;
use seqoia_core::Isa;
use seqoia_core::cast::real64;
use seqoia_report::grouped;

/// Count instructions and compare them with the kept counts
#[derive(Parser)]
#[command(
    name = "guard",
    version,
    max_term_width = 80,
    after_help = "\
Example:
  make guard

The exit code is 1 if a count is more than 3 % above the kept one."
)]
struct Args {
    /// Keep the counts of this run, to compare later ones with
    #[arg(long)]
    keep: bool,
    /// Only these cases
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    #[command(subcommand)]
    inner: Option<Inner>,
}

#[derive(Subcommand)]
enum Inner {
    /// Run a kernel, without counting
    #[command(hide = true)]
    Case {
        /// Its name
        name: String,
    },
}

/// Where the kept counts are.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");
/// What built this program.
const COMPILER: &str = env!("COMPILER");
/// Changes of more than this, in per cent, are told.
const MOST: f64 = 3.0;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.inner {
        Some(Inner::Case { name }) => kernels::run(name).map(|()| ExitCode::SUCCESS),
        None => run(&args),
    };
    done.unwrap_or_else(|error| {
        note(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[allow(clippy::print_stderr)] // what goes beside the results
fn note(text: &str) {
    eprintln!("{text}");
}

fn run(args: &Args) -> Result<ExitCode> {
    ensure!(!cfg!(debug_assertions), "counts are those of a release build: run `make guard`");
    let kept = match std::fs::read_to_string(FILE) {
        Ok(text) => Kept::parse(&text).context(FILE)?,
        Err(_) if args.keep => Kept::default(),
        Err(error) => return Err(error).context(FILE),
    };
    let same = kept.compiler == COMPILER;
    let Some(valgrind) = callgrind::version() else { return skip("valgrind is not installed") };
    if Isa::detect() == Isa::Portable {
        return skip("this processor has no AVX2");
    }
    if !same && !args.keep {
        return skip(&format!("built by {COMPILER}, but counts were kept with {}", kept.compiler));
    }
    ensure!(same || args.only.is_empty(), "no counts of {COMPILER} are kept: keep all, without --only");
    if !args.keep && kept.valgrind != valgrind {
        note(&format!("counts were kept with {}, this is {valgrind}", kept.valgrind));
    }
    let counts = counts(&args.only, &kept.counts)?;
    if args.keep {
        let mut all = if args.only.is_empty() { BTreeMap::new() } else { kept.counts };
        all.extend(counts);
        let kept = Kept { compiler: COMPILER.to_owned(), valgrind, counts: all };
        std::fs::write(FILE, kept.text()).context(FILE)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(judge(&counts, &kept.counts))
}

/// Says why nothing is compared, which is no failure.
fn skip(why: &str) -> Result<ExitCode> {
    writeln!(std::io::stdout(), "skipped: instruction counts, since {why}")?;
    Ok(ExitCode::SUCCESS)
}

/// Counts the cases of these names, or all, and prints a line for each.
fn counts(only: &[String], kept: &BTreeMap<String, u64>) -> Result<Vec<(String, u64)>> {
    let all = || kernels::KERNELS.iter().map(|k| k.0).chain(programs::PROGRAMS.iter().map(|p| p.0));
    if let Some(name) = only.iter().find(|name| !all().any(|own| own == *name)) {
        bail!("there is no case {name}; there are {}", all().collect::<Vec<_>>().join(", "));
    }
    let own = std::env::current_exe().context("where this program is")?;
    let programs = programs::Programs::new(&own)?;
    let mut out = std::io::stdout();
    writeln!(out, "{:<18} {:>14} {:>14} {:>9}", "instructions", "now", "kept", "change")?;
    let mut counts = vec![];
    for name in all().filter(|name| only.is_empty() || only.iter().any(|own| own == name)) {
        let count = match programs::PROGRAMS.iter().find(|p| p.0 == name) {
            Some((_, line)) => callgrind::count(&programs.command(line), None)?,
            None => callgrind::count(Command::new(&own).args(["case", name]), Some(kernels::COUNTED))?,
        };
        let before = kept.get(name).copied();
        let (text, change) = match before {
            Some(before) => (grouped(before), format!("{:+.2} %", change(count, before))),
            None => ("-".to_owned(), "new".to_owned()),
        };
        writeln!(out, "{name:<18} {:>14} {text:>14} {change:>9}", grouped(count))?;
        counts.push((name.to_owned(), count));
    }
    Ok(counts)
}

/// How much more it is than before, in per cent.
fn change(now: u64, before: u64) -> f64 {
    100.0 * (real64(now) / real64(before.max(1)) - 1.0)
}

/// Whether all is well, and what to do if not.
fn judge(counts: &[(String, u64)], kept: &BTreeMap<String, u64>) -> ExitCode {
    let those = |told: &dyn Fn(u64, Option<u64>) -> bool| {
        let names = counts.iter().filter(|(name, now)| told(*now, kept.get(name).copied()));
        names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let slower = those(&|now, kept| kept.is_some_and(|kept| change(now, kept) > MOST));
    let better = those(&|now, kept| kept.is_none_or(|kept| change(now, kept) < -MOST));
    if !better.is_empty() {
        note(&format!(
            "fewer instructions, or new: keep them with `make guard ARGS='--keep --only {better}'`"
        ));
    }
    if slower.is_empty() {
        return ExitCode::SUCCESS;
    }
    note(&format!("more than {MOST} % more instructions: {slower}"));
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_fails() {
        let kept = [("a".to_owned(), 1000)].into();
        let judged = |name: &str, now| judge(&[(name.to_owned(), now)], &kept) == ExitCode::SUCCESS;
        assert!(judged("a", 1029) && !judged("a", 1031));
        assert!(judged("a", 10) && judged("new", 10));
    }

    #[test]
    fn every_kernel_runs() {
        kernels::KERNELS.iter().for_each(|(name, _)| kernels::run(name).unwrap());
        assert!(kernels::run("nothing").is_err());
    }
}
