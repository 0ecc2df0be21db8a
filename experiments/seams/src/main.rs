//! What the seams cost: passes through structure, learner and strategy, timed beside loops that are
//! fused by hand and do the same (`fused.rs`), on one thread.
//!
//! Both sides take turns and CPU time is counted, so that a slow stretch of the machine hits both;
//! the ratio is the median of the ratios of the rounds. A round of the online learner is a pass: both
//! sides go on from where they are and must have the same weights, bit for bit, after each.

mod data;
mod fused;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use cpu_time::ThreadTime;
use seqoia::TrainingSet;
use seqoia_core::cast::real;
use seqoia_core::{Learner, Strategy, Update, Weights};
use seqoia_learners::AveragedPerceptron;
use seqoia_strategies::registry::find;
use seqoia_strategies::{Crew, Setup};
use seqoia_structures::chain::Chain;

/// Times passes through the seams beside hand-fused loops
#[derive(Parser)]
#[command(
    name = "seams",
    version,
    max_term_width = 80,
    after_help = "\
Example:
  SEQOIA_DATA=corpora cargo run --release -p seqoia-seams

The variable SEQOIA_DATA names a folder with the corpus conll2000; without it
a generated corpus is used."
)]
struct Args {
    /// Time everything N times and take medians
    #[arg(long, value_name = "N", default_value = "7", value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
}

/// Fixes the order of the examples.
const SEED: u64 = 1;
/// How far losses may be apart, relative to them: chunks add up in another order than one sweep.
const LOSSES: f64 = 1e-10;
/// How far gradients may be apart, relative to the number of tokens: a derivative is an expected count
/// minus an observed one, and rounds as they do however small it is.
const GRADIENTS: f64 = 1e-12;

/// CPU seconds of one kind of pass: through the seams, and fused by hand.
#[derive(Default)]
struct Rounds {
    seams: Vec<f64>,
    fused: Vec<f64>,
}

/// What is measured, and what is asked of it.
struct Row {
    name: &'static str,
    asked: f64,
    rounds: Rounds,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stderr)] // what goes beside the results
fn note(text: &str) {
    eprintln!("{text}");
}

fn run(args: &Args) -> Result<()> {
    if data::corpora().is_none() {
        note(&format!(
            "{} is not set: a generated corpus is used, whose figures are not those of real text",
            data::VARIABLE
        ));
    }
    let (title, set) = data::read()?;
    let (online, weights) = online(&set, args.repeat)?;
    let gradient = gradient(&set, &weights, args.repeat)?;
    let rows = [
        Row { name: "averaged perceptron, a pass", asked: 1.05, rounds: online },
        Row { name: "loss and gradient, a pass", asked: 1.10, rounds: gradient },
    ];
    std::io::stdout().write_all(table(&title, args.repeat, &rows)?.as_bytes())?;
    Ok(())
}

/// CPU seconds of this thread.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let out = work();
    (start.elapsed().as_secs_f64(), out)
}

/// A strategy on one thread, as training has it.
fn strategy(name: &str, set: &TrainingSet) -> Result<Box<dyn Strategy>> {
    let entry = find(name).map_err(anyhow::Error::msg)?;
    let setup = Setup {
        crew: Arc::new(Crew::new(1)),
        seed: SEED,
        chunks: Setup::chunks(set.counts.tokens),
        stop: Arc::default(),
        cut: None,
    };
    let chain = Chain::new(Arc::clone(&set.space), Arc::clone(&set.corpus));
    let settings = entry.check(&[]).map_err(anyhow::Error::msg)?;
    Ok((entry.make)(Arc::new(chain), setup, &settings)?)
}

/// Passes of the averaged perceptron; also the weights after the first.
fn online(set: &TrainingSet, repeat: u64) -> Result<(Rounds, Vec<f64>)> {
    let mut strategy = strategy("serial", set)?;
    let mut learner = AveragedPerceptron::new(Update::Full);
    strategy.accepts(&learner)?;
    strategy.begin(&mut learner, false)?;
    let mut fused = fused::Perceptron::new(&set.space, &*set.corpus, SEED);
    let (mut rounds, mut first) = (Rounds::default(), vec![]);
    for pass in 1..=repeat {
        let mut seams = || timed(|| strategy.pass(pass, &mut learner));
        let mut by_hand = || timed(|| fused.pass(pass)).0;
        // Who goes first finds other things in the caches, so they change places.
        let ((time, report), hand) = if pass % 2 == 0 {
            (seams(), by_hand())
        } else {
            let hand = by_hand();
            (seams(), hand)
        };
        report?;
        rounds.seams.push(time);
        rounds.fused.push(hand);
        let (ours, theirs) = (learner.weights(), fused.weights());
        let same = ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits());
        ensure!(same && ours.len() == theirs.len(), "after pass {pass} the weights differ: a bug");
        if pass == 1 {
            first = ours;
        }
    }
    Ok((rounds, first))
}

/// Loss and gradient at `w`. Not at the end of all passes: there few sentences are left to learn.
fn gradient(set: &TrainingSet, w: &[f64], repeat: u64) -> Result<Rounds> {
    let mut strategy = strategy("batch", set)?;
    let mut fused = fused::Gradient::new(&set.space, &*set.corpus);
    let (mut g, mut h) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    let mut rounds = Rounds::default();
    // The first round fills buffers and is not counted.
    for round in 0..=repeat {
        let mut seams = || timed(|| strategy.total(Weights::plain(w), Some(&mut g)));
        let mut by_hand = || timed(|| fused.total(w, &mut h));
        let ((time, ours), (hand, theirs)) = if round % 2 == 0 {
            (seams(), by_hand())
        } else {
            let hand = by_hand();
            (seams(), hand)
        };
        let (ours, theirs) = (ours?, theirs.context("the kernel left sequences to the general path")?);
        let same = (ours - theirs).abs() <= LOSSES * ours.abs();
        ensure!(same, "the losses differ, {ours} and {theirs}: a bug");
        let most = GRADIENTS * real(set.counts.tokens);
        let same = g.iter().zip(&h).all(|(a, b)| (a - b).abs() <= most);
        ensure!(same, "the gradients differ: a bug");
        if round > 0 {
            rounds.seams.push(time);
            rounds.fused.push(hand);
        }
    }
    Ok(rounds)
}

/// The middle one; the mean of the two in the middle if their number is even.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

fn table(title: &str, repeat: u64, rows: &[Row]) -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut out = format!("\nseams: {title}\n");
    writeln!(out, "  processor  {}, {cores} cores", processor())?;
    writeln!(out, "  command    cargo run --release -p seqoia-seams -- --repeat {repeat}\n")?;
    let head = ["seams s", "fused s", "ratio", "from", "to", "asked"];
    let line = |name: &str, cells: [String; 6]| {
        let mut line = format!("  {name:<27}");
        cells.iter().zip(head).for_each(|(cell, head)| {
            let width = head.len().max(5);
            line.push_str(&format!("  {cell:>width$}"));
        });
        line + "\n"
    };
    out.push_str(&line("", head.map(str::to_owned)));
    for Row { name, asked, rounds: Rounds { seams, fused } } in rows {
        let ratios: Vec<f64> = seams.iter().zip(fused).map(|(a, b)| a / b).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let seconds = |times: &[f64]| format!("{:.4}", median(times.iter().copied()));
        let times = |x: f64| format!("{x:.2}x");
        let ratio = format!("{:.3}", median(ratios.iter().copied()));
        out.push_str(&line(
            name,
            [seconds(seams), seconds(fused), ratio, times(least), times(most), times(*asked)],
        ));
    }
    writeln!(out, "  CPU seconds, medians of {repeat} rounds in turns; same weights, same loss")?;
    Ok(out)
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown processor".to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_sides_do_the_same() {
        let set = data::generated(300).unwrap();
        let (rounds, weights) = online(&set, 3).unwrap();
        assert_eq!((rounds.seams.len(), rounds.fused.len()), (3, 3));
        assert!(weights.iter().any(|w| *w != 0.0));
        assert_eq!(gradient(&set, &weights, 2).unwrap().seams.len(), 2);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_table_names_processor_and_command() {
        let rounds = Rounds { seams: vec![1.0, 2.0, 3.0], fused: vec![1.0, 1.0, 2.0] };
        let text = table("a file", 3, &[Row { name: "a pass", asked: 1.05, rounds }]).unwrap();
        assert!(text.contains("2.0000   1.0000  1.500  1.00x  2.00x  1.05x"));
        assert!(text.contains("--repeat 3") && text.contains("processor"));
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }
}
