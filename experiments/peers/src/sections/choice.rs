//! Which learner, with how many passes, is the fastest that is good enough: chosen on the end of the
//! training data, so that the test data is seen once.
//!
//! Good enough is a mean F1, over seeds, not below that of the averaged perceptron of
//! `crfsuite-compliant-rs` with 10 epochs, learned from and scored on the same sentences.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::fastest::mean;
use super::times;
use crate::bench::Bench;
use crate::data::Task;
use crate::measure::cpu;
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};

/// Sentences that are held out: at most this many, and at most a fifth.
const HELD: usize = 1000;
const SEEDS: [&str; 3] = ["1", "2", "3"];
const MODEL: &str = "choice.seqoia";

/// What may be chosen. The first is also the run of one pass.
pub(crate) const CANDIDATES: [&[&str]; 7] = [
    &["--learner", "adagrad", "--pairs", "all", "--cutoff", "2", "--passes", "1"],
    &["--learner", "adagrad", "--pairs", "all", "--cutoff", "2", "--passes", "2"],
    &["--learner", "adagrad", "--pairs", "all", "--cutoff", "2", "--passes", "3"],
    &["--learner", "averaged-perceptron", "--passes", "4"],
    &["--learner", "averaged-perceptron", "--passes", "6"],
    &["--learner", "averaged-perceptron", "--passes", "8"],
    &["--learner", "averaged-perceptron", "--passes", "10"],
];

/// As a row is called: learner and passes.
pub(crate) fn name(candidate: &[&str]) -> String {
    format!("seqoia {}, passes {}", candidate[1], candidate[candidate.len() - 1])
}

/// The cheapest candidate that is good enough; the best one if none is.
///
/// # Errors
/// A call that fails.
pub(crate) fn choose(bench: &mut Bench, task: &Task) -> Result<&'static [&'static str]> {
    let (held_out, sentences) = split(task)?;
    let tools = &bench.tools;
    let learn = tools.compliant(task, &["learn", "-a", "ap", "-p", "max_iterations=10"]);
    let theirs = learn.with(&["-m", "choice.theirs", "fit.crfsuite"]).run()?;
    tools.compliant(task, &["tag", "-m", "choice.theirs", "held.crfsuite"]).into_file("predicted").run()?;
    let enough = score::predicted(tools, task, held_out.test)?;

    let title = format!("{}, the last {sentences} training sentences held out", task.title);
    let mut table = Table::new("fastest", title, &["CPU s", "ratio", "F1"]);
    let mut found = vec![];
    for candidate in CANDIDATES {
        let (mut runs, mut scores) = (vec![], vec![]);
        for seed in SEEDS {
            let flags = [candidate, &["--seed", seed]].concat();
            runs.push(tools.train(&held_out, &flags, MODEL).run()?);
            scores.push(score::ours(tools, &held_out, MODEL, held_out.test)?);
        }
        let score = mean(&scores);
        screen::note(&format!("  {score:.2}  {}", name(candidate)));
        table.row(
            name(candidate),
            [Cell::Seconds(cpu(&runs)), times(theirs.cpu, cpu(&runs)), Cell::Percent(score)],
        );
        found.push((candidate, cpu(&runs), score));
    }
    table.row(
        "crfsuite-compliant-rs ap, 10 epochs",
        [Cell::Seconds(theirs.cpu), Cell::Times(1.0), Cell::Percent(enough)],
    );
    let cheapest = found.iter().filter(|f| f.2 >= enough).min_by(|a, b| a.1.total_cmp(&b.1));
    let best = found.iter().max_by(|a, b| a.2.total_cmp(&b.2));
    let why =
        if cheapest.is_some() { "the cheapest that is not below" } else { "the best, as all are below" };
    let chosen = cheapest.or(best).map_or(CANDIDATES[0], |f| f.0);
    table.note(format!("chosen: {}, {why} the rival", name(chosen)));
    table.note(format!("ours: means over seeds 1 to {}", SEEDS.len()));
    bench.show(&table)?;
    Ok(chosen)
}

/// Cuts the training data: `fit.*` to learn from and `held.*` to score on. Line by line, because the
/// peak memory of a child begins with that of its parent.
fn split(task: &Task) -> Result<(Task, usize)> {
    cut(&task.folder, "train.crfsuite", "crfsuite")?;
    let held = cut(&task.folder, task.train, "txt")?;
    let mut gold = writer(&task.folder.join("held.gold"))?;
    for line in lines(&task.folder.join("held.txt"))? {
        writeln!(gold, "{}", line?.split_whitespace().last().unwrap_or_default())?;
    }
    gold.flush()?;
    Ok((Task { train: "fit.txt", dev: "held.txt", test: "held.txt", ..task.clone() }, held))
}

/// The number of sentences that are held out of `file`.
fn cut(folder: &Path, file: &str, extension: &str) -> Result<usize> {
    let ends = |line: &std::io::Result<String>| line.as_ref().is_ok_and(|l| l.trim().is_empty());
    let sentences = lines(&folder.join(file))?.filter(ends).count();
    let held = HELD.min(sentences / 5);
    let part = |name: &str| writer(&folder.join(format!("{name}.{extension}")));
    let (mut parts, mut done) = ([part("fit")?, part("held")?], 0);
    for line in lines(&folder.join(file))? {
        let (line, part) = (line?, usize::from(done >= sentences - held));
        done += usize::from(line.trim().is_empty());
        writeln!(parts[part], "{line}")?;
    }
    parts.iter_mut().try_for_each(|part| part.flush())?;
    Ok(held)
}

fn lines(path: &Path) -> Result<std::io::Lines<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(BufReader::new(file).lines())
}

fn writer(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok(BufWriter::new(file))
}
