//! Scores of predictions, all by `seqoia eval`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::data::Task;
use crate::tools::Tools;

/// Labels `file` with a model of ours and scores it: F1 of chunks, else accuracy.
///
/// # Errors
/// A call that fails.
pub(crate) fn ours(tools: &Tools, task: &Task, model: &str, file: &str) -> Result<f64> {
    tools.seqoia(task, &["predict", "--quiet", "-m", model, file]).into_file("predicted").run()?;
    let eval = tools.seqoia(task, &["eval", "--json"]);
    let eval = match task.replaced {
        Some(label) => eval.with(&["--gold", file, "--label", label]),
        // Where the label is not the last column, it does not stand beside the prediction.
        None if task.flags.contains(&"--label") => return columns(tools, task, file),
        None => eval,
    };
    figure(&eval.with(&["predicted"]).run()?.output)
}

/// Scores the last column of `predicted` against the gold labels that go with `file`.
fn columns(tools: &Tools, task: &Task, file: &str) -> Result<f64> {
    let text = read(task)?;
    let labels: Vec<&str> = text.lines().filter_map(|row| row.split_whitespace().last()).collect();
    theirs(tools, task, file, &labels)
}

/// Scores a rival's `predicted`, a label a line, against the gold labels that go with `file`.
///
/// # Errors
/// As [`theirs`].
pub(crate) fn predicted(tools: &Tools, task: &Task, file: &str) -> Result<f64> {
    theirs(tools, task, file, &read(task)?.split_whitespace().collect::<Vec<_>>())
}

/// Labels `file` with a model of Vowpal Wabbit and scores it.
///
/// # Errors
/// A call that fails, a prediction that is no label.
pub(crate) fn vowpal(tools: &Tools, task: &Task, model: &str, file: &str) -> Result<f64> {
    let data = Path::new(file).with_extension("vw");
    let args = ["-t", "-i", model, "-d", &data.to_string_lossy(), "-p", "predicted", "--quiet"];
    tools.vowpal(task, &args).run()?;
    let text = read(task)?;
    let labels: Vec<&str> = text.split_whitespace().map(|n| named(task, n)).collect::<Result<_>>()?;
    theirs(tools, task, file, &labels)
}

/// The label that Vowpal Wabbit knows by a number.
fn named<'a>(task: &'a Task, number: &str) -> Result<&'a str> {
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let label = index.and_then(|i| task.counts.labels.get(i)).map(String::as_str);
    label.with_context(|| format!("Vowpal Wabbit predicted '{number}', which is no label"))
}

/// What is in `predicted`.
fn read(task: &Task) -> Result<String> {
    let path = task.folder.join("predicted");
    fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))
}

/// Scores labels of all tokens of `file`, in order.
///
/// # Errors
/// More or fewer labels than tokens, a call that fails.
fn theirs(tools: &Tools, task: &Task, file: &str, labels: &[&str]) -> Result<f64> {
    let gold = task.folder.join(Path::new(file).with_extension("gold"));
    let gold = fs::read_to_string(&gold).with_context(|| format!("{}: cannot be read", gold.display()))?;
    let text = beside(&gold, labels).with_context(|| format!("labels of {file}"))?;
    fs::write(task.folder.join("scored"), text).context("cannot write a file to score")?;
    figure(&tools.seqoia(task, &["eval", "--json", "scored"]).run()?.output)
}

/// Gold and found labels side by side; an empty line of `gold` ends a sentence.
fn beside(gold: &str, labels: &[&str]) -> Result<String> {
    let mut text = String::new();
    let mut next = labels.iter();
    for line in gold.lines() {
        if line.is_empty() {
            text.push('\n');
            continue;
        }
        let Some(label) = next.next() else { bail!("fewer labels than tokens: {}", labels.len()) };
        writeln!(text, "{line} {label}")?;
    }
    ensure!(next.next().is_none(), "more labels than tokens: {}", labels.len());
    Ok(text)
}

fn figure(json: &str) -> Result<f64> {
    let scores: Value = serde_json::from_str(json).context("seqoia eval --json gave no JSON")?;
    let score = scores.get("f1").or_else(|| scores.get("token_accuracy")).and_then(Value::as_f64);
    score.context("seqoia eval --json has neither f1 nor token_accuracy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_beside_gold_or_do_not_fit() {
        assert_eq!(beside("A\nB\n\nC\n\n", &["x", "y", "z"]).unwrap(), "A x\nB y\n\nC z\n\n");
        assert!(beside("A\n\n", &["x", "y"]).is_err());
        assert!(beside("A\nB\n\n", &["x"]).is_err());
    }

    #[test]
    fn chunks_count_if_there_are_any() {
        assert_eq!(figure(r#"{"f1": 93.5, "token_accuracy": 95.0}"#).unwrap(), 93.5);
        assert_eq!(figure(r#"{"token_accuracy": 95.0}"#).unwrap(), 95.0);
        assert!(figure("{}").is_err());
    }
}
