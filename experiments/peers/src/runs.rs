//! What training runs tell about themselves: objectives and evaluations, pass by pass.

use anyhow::{Context, Result, ensure};
use seqoia::core::cast::real;
use serde::Deserialize;
use serde_json::Value;

use crate::measure::{Usage, median};

/// The records of a run of ours (`--json`).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    /// n F after each pass: comparable to CRFsuite's objective. Empty if the learner has none.
    pub(crate) objectives: Vec<f64>,
    /// Evaluations of objective and gradient, in passes over the data.
    pub(crate) evaluations: f64,
    /// Memory that it expected to take at most.
    pub(crate) estimate: u64,
    /// Weights.
    pub(crate) weights: u64,
}

impl Log {
    /// From the output of `seqoia train --json`.
    ///
    /// # Errors
    /// It is not as expected.
    pub(crate) fn parse(output: &str) -> Result<Log> {
        Log::read(output).context("the records of `seqoia train --json` are not as expected")
    }

    fn read(text: &str) -> Result<Log> {
        let mut log = Log::default();
        let mut sequences = None;
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)?;
            match record["event"].as_str() {
                Some("start") => {
                    sequences = record["sequences"].as_f64();
                    log.estimate = record["memory"].as_u64().context("no `memory`")?;
                    log.weights = record["weights"].as_u64().context("no `weights`")?;
                }
                Some("pass") => {
                    let n = sequences.context("no `sequences`")?;
                    log.objectives.extend(record["objective"].as_f64().map(|f| f * n));
                    log.evaluations +=
                        record["effective_passes"].as_f64().context("no `effective_passes`")?;
                }
                _ => (),
            }
        }
        ensure!(sequences.is_some(), "there is no start");
        Ok(log)
    }
}

/// A run of python-crfsuite, as the script tells it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fit {
    /// CPU seconds for handing over the data.
    pub(crate) append: f64,
    /// CPU seconds for training.
    pub(crate) train: f64,
    /// Weights.
    pub(crate) features: u64,
    /// The objective after each iteration.
    pub(crate) losses: Vec<f64>,
    /// CPU seconds of each iteration.
    pub(crate) seconds: Vec<f64>,
    /// Evaluations of each iteration.
    pub(crate) trials: Vec<f64>,
    /// CPU seconds of training until the end of each iteration or epoch.
    #[serde(default)]
    pub(crate) ends: Vec<f64>,
}

impl Fit {
    /// From the script's output.
    ///
    /// # Errors
    /// It is not as expected.
    pub(crate) fn parse(output: &str) -> Result<Fit> {
        serde_json::from_str(output).context("the script did not tell how training went")
    }

    /// CPU seconds of one iteration behind the first `first` and up to `last`, or up to where it stopped; no finite
    /// number if it stopped before.
    pub(crate) fn iteration(&self, first: usize, last: usize) -> f64 {
        let last = last.min(self.ends.len());
        match (self.ends.get(first - 1), self.ends.get(last.wrapping_sub(1))) {
            (Some(begin), Some(end)) if last > first => (end - begin) / real(last - first),
            _ => f64::NAN,
        }
    }

    /// CPU seconds inside the library.
    pub(crate) fn cpu(&self) -> f64 {
        self.append + self.train
    }

    /// CPU seconds inside the library until the end of iteration `pass` (from 1).
    pub(crate) fn cpu_until(&self, pass: usize) -> f64 {
        self.cpu() - self.seconds.iter().skip(pass).sum::<f64>()
    }
}

/// The first pass (from 1) after which the objective is at most `target`.
pub(crate) fn pass_at(objectives: &[f64], target: f64) -> Option<usize> {
    objectives.iter().position(|&f| f <= target).map(|i| i + 1)
}

/// CPU seconds and evaluations of a run of ours.
///
/// # Errors
/// Its output is not as expected; so below.
pub(crate) fn ours(run: &Usage) -> Result<(f64, f64)> {
    Ok((run.cpu, Log::parse(&run.output)?.evaluations))
}

/// The same of a run of python-crfsuite, inside `train` alone.
pub(crate) fn python(run: &Usage) -> Result<(f64, f64)> {
    let fit = Fit::parse(&run.output)?;
    Ok((fit.train, fit.trials.iter().sum()))
}

/// The same of a run of crfsuite-compliant-rs.
pub(crate) fn compliant(run: &Usage) -> Result<(f64, f64)> {
    Ok((run.cpu, trials(&run.output)))
}

fn trials(output: &str) -> f64 {
    let trials = output.lines().filter_map(|line| line.strip_prefix("Line search trials: "));
    trials.filter_map(|n| n.trim().parse::<f64>().ok()).sum()
}

/// The cost of an evaluation and their number, by the difference of runs of few and of more
/// iterations, which were made in turns.
///
/// # Errors
/// What `cost` says.
pub(crate) fn per_evaluation(
    few: &[Usage],
    more: &[Usage],
    cost: impl Fn(&Usage) -> Result<(f64, f64)>,
) -> Result<(f64, f64)> {
    let (mut seconds, mut counts) = (vec![], vec![]);
    for (few, more) in few.iter().zip(more) {
        let ((few_seconds, few_count), (more_seconds, more_count)) = (cost(few)?, cost(more)?);
        let count = more_count - few_count;
        seconds.push((more_seconds - few_seconds) / count);
        counts.push(count);
    }
    Ok((median(seconds), median(counts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_ours() {
        let text = r#"{"event":"start","sequences":10,"memory":77,"weights":5}
{"event":"pass","pass":1,"objective":1.5,"effective_passes":2.0}
{"event":"pass","pass":2,"objective":1.25,"effective_passes":1.0}
{"event":"end"}"#;
        let log = Log::parse(text).unwrap();
        let expected = Log { objectives: vec![15.0, 12.5], evaluations: 3.0, estimate: 77, weights: 5 };
        assert_eq!(log, expected);
        assert_eq!((pass_at(&log.objectives, 13.0), pass_at(&log.objectives, 12.0)), (Some(2), None));
        let none = text.replace("1.5", "null").replace("1.25", "null");
        assert_eq!(Log::parse(&none).unwrap().objectives, [0.0; 0]);
        assert!(Log::parse("{\"append\": 1}").is_err());
    }

    #[test]
    fn evaluations_by_difference() {
        let run = |cpu, trials| Usage {
            cpu,
            wall: cpu,
            peak: 0,
            output: format!("Line search trials: {trials}\n"),
        };
        let found = per_evaluation(&[run(5.0, 2)], &[run(11.0, 4)], compliant).unwrap();
        assert_eq!(found, (3.0, 2.0));
    }

    #[test]
    fn a_run_of_crfsuite() {
        let fit = r#"{"append":1,"train":10,"features":3,"losses":[5,4],"seconds":[3,4],"trials":[1,2]}"#;
        let fit = Fit::parse(fit).unwrap();
        assert!(!fit.iteration(1, 2).is_finite());
        let fit = Fit { ends: vec![1.0, 3.0, 6.0, 9.0], ..fit };
        assert_eq!((fit.iteration(2, 4), fit.iteration(1, 9)), (3.0, 8.0 / 3.0));
        assert!(!fit.iteration(4, 9).is_finite() && !fit.iteration(5, 9).is_finite());
        assert_eq!((fit.cpu(), fit.cpu_until(1), fit.cpu_until(2)), (11.0, 7.0, 11.0));
        assert_eq!(trials("Loss: 1\nLine search trials: 2\n\nLine search trials: 1\n"), 3.0);
    }
}
