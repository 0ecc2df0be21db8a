//! Whole training, as a user does it: ours with nothing said but what is read (the recipe of a feature set, else the
//! default learner), python-crfsuite's L-BFGS with c2 = 1 until it stops; and how good both models are on the test data.
//!
//! Once: these are the longest runs of the grid, and no differences. Ours reads raw files and counts all that the
//! process takes, python-crfsuite's is the time inside the library.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::columns::Figure;
use super::row::{READY, Row, create, lines};
use crate::data::Task;
use crate::measure::{Call, Usage};
use crate::runs::Fit;
use crate::score;
use crate::table::Cell;
use crate::tools::Tools;

const OURS: &str = "whole.seqoia";
const THEIRS: &str = "whole.crfsuite-model";

/// A sentence of `predict --json`.
#[derive(Deserialize)]
struct Sentence {
    labels: Vec<String>,
}

/// What is run: ours, theirs; none where a row has no whole training of its own.
pub(super) fn calls(tools: &Tools, row: &Row) -> Option<[Call; 2]> {
    let task = Task { flags: row.whole?.to_vec(), ..row.task.clone() };
    let theirs = tools.crfsuite(&row.task, &["train", row.theirs[0], THEIRS, "lbfgs", "c2=1"]);
    Some([tools.train(&task, &["--json"], OURS), theirs])
}

/// Time and quality of both, after their calls.
///
/// # Errors
/// Output that is not as expected, a call that fails.
pub(super) fn figures(tools: &Tools, row: &Row, runs: [&Usage; 2]) -> Result<Vec<Figure>> {
    let [ours, theirs] = runs;
    let seconds = [ours.cpu, Fit::parse(&theirs.output)?.cpu()];
    gold(&row.task)?;
    let scores = [our_score(tools, row)?, their_score(tools, row)?];
    // Of errors, so that more is better here, too.
    let ratio = (100.0 - scores[1]) / (100.0 - scores[0]);
    let rival = "python-crfsuite";
    let [ours, theirs] = scores.map(Cell::Percent);
    Ok(vec![
        Figure::seconds("whole", rival, seconds[0], seconds[1]),
        Figure { column: "whole, errors", rival, ours, theirs, ratio },
    ])
}

/// Labels of the test data, one per line, where scores look for them. Line by line, as all that this process reads: its
/// size counts for the tools that are started later.
fn gold(task: &Task) -> Result<()> {
    let path = task.folder.join(READY[1]);
    let mut out = create(&path.with_extension("gold"))?;
    for line in lines(&path)? {
        writeln!(out, "{}", line?.split('\t').next().unwrap_or_default())?;
    }
    Ok(out.flush()?)
}

fn their_score(tools: &Tools, row: &Row) -> Result<f64> {
    tools.crfsuite(&row.task, &["tag", row.theirs[1], THEIRS]).into_file("predicted").run()?;
    score::predicted(tools, &row.task, row.task.test)
}

fn our_score(tools: &Tools, row: &Row) -> Result<f64> {
    let task = &row.task;
    if task.test.ends_with(".txt") || task.replaced.is_some() {
        return score::ours(tools, task, OURS, task.test);
    }
    // Where no file holds gold and predicted labels side by side.
    let records = tools.seqoia(task, &["predict", "--quiet", "--json", "-m", OURS, task.test]).run()?.output;
    fs::write(task.folder.join("predicted"), labels(&records)?).context("cannot write labels to score")?;
    score::predicted(tools, task, task.test)
}

/// One label per line.
fn labels(records: &str) -> Result<String> {
    let mut text = String::new();
    for line in records.lines() {
        let sentence: Sentence = serde_json::from_str(line).context("a sentence of `predict --json`")?;
        for label in sentence.labels {
            writeln!(text, "{label}")?;
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_records() {
        let records = "{\"labels\":[\"A\",\"B\"]}\n{\"tokens\":[\"x\"],\"labels\":[\"A\"]}\n";
        assert_eq!(labels(records).unwrap(), "A\nB\n\nA\n\n");
        assert!(labels("A\n").is_err());
    }
}
