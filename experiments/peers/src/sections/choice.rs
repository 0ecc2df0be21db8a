//! Which learner, with how many passes, is the fastest that is good enough: chosen on the end of the
//! training data, so that the test data is seen once.
//!
//! Good enough is a mean F1, over seeds, not below that of the averaged perceptron of
//! `crfsuite-compliant-rs` with 10 epochs, learned from and scored on the same sentences.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

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
pub(crate) const CANDIDATES: [&[&str]; 6] = [
    &["--learner", "adagrad", "--pairs", "all", "--cutoff", "2", "--l2", "0", "--passes", "1"],
    &["--learner", "adagrad", "--pairs", "all", "--cutoff", "2", "--l2", "0", "--passes", "2"],
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
        let (mut runs, mut scores) = (vec![], 0.0);
        for seed in SEEDS {
            let flags = [candidate, &["--seed", seed]].concat();
            runs.push(tools.train(&held_out, &flags, MODEL).run()?);
            scores += score::ours(tools, &held_out, MODEL, held_out.test)? / 3.0;
        }
        screen::note(&format!("  {scores:.2}  {}", name(candidate)));
        table.row(
            name(candidate),
            [Cell::Seconds(cpu(&runs)), times(theirs.cpu, cpu(&runs)), Cell::Percent(scores)],
        );
        found.push((candidate, cpu(&runs), scores));
    }
    table.row(
        "crfsuite-compliant-rs ap, 10 epochs",
        [Cell::Seconds(theirs.cpu), Cell::Times(1.0), Cell::Percent(enough)],
    );
    let cheapest = found.iter().filter(|f| f.2 >= enough).min_by(|a, b| a.1.total_cmp(&b.1));
    let best = found.iter().max_by(|a, b| a.2.total_cmp(&b.2));
    let chosen = cheapest.or(best).map_or(CANDIDATES[0], |f| f.0);
    table.note(format!("chosen: {}, the cheapest that is not below the rival", name(chosen)));
    table.note(format!("ours: means over seeds 1 to {}", SEEDS.len()));
    bench.show(&table)?;
    Ok(chosen)
}

/// Cuts the training data: `fit.*` to learn from and `held.*` to score on.
fn split(task: &Task) -> Result<(Task, usize)> {
    let cut = |file: &str, extension: &str| -> Result<(usize, String)> {
        let text = read(&task.folder.join(file))?;
        let sentences: Vec<&str> = text.split("\n\n").filter(|s| !s.trim().is_empty()).collect();
        let held = HELD.min(sentences.len() / 5);
        let (fit, rest) = sentences.split_at(sentences.len() - held);
        for (name, part) in [("fit", fit), ("held", rest)] {
            let path = task.folder.join(format!("{name}.{extension}"));
            fs::write(&path, part.join("\n\n") + "\n\n")
                .with_context(|| format!("{}: cannot be written", path.display()))?;
        }
        Ok((held, rest.join("\n\n")))
    };
    cut("train.crfsuite", "crfsuite")?;
    let (held, text) = cut(task.train, "txt")?;
    let last = |line: &str| line.split_whitespace().last().unwrap_or_default().to_owned() + "\n";
    fs::write(task.folder.join("held.gold"), text.lines().map(last).collect::<String>() + "\n")?;
    Ok((Task { train: "fit.txt", dev: "held.txt", test: "held.txt", ..task.clone() }, held))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))
}
