//! What training runs tell about themselves: objectives and evaluations, pass by pass.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::data::Task;

/// The log of a run of ours (`--log`).
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
    /// Reads a log of the task.
    ///
    /// # Errors
    /// There is none, or it is not as expected.
    pub(crate) fn read(task: &Task, name: &str) -> Result<Log> {
        let path = task.folder.join(name);
        let text =
            fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        Log::parse(&text).with_context(|| format!("{}: not as expected", path.display()))
    }

    fn parse(text: &str) -> Result<Log> {
        let mut log = Log::default();
        let mut sequences = 1.0;
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)?;
            match record["event"].as_str() {
                Some("start") => {
                    sequences = record["sequences"].as_f64().context("no `sequences`")?;
                    log.estimate = record["memory"].as_u64().context("no `memory`")?;
                    log.weights = record["weights"].as_u64().context("no `weights`")?;
                }
                Some("pass") => {
                    log.objectives.extend(record["objective"].as_f64().map(|f| f * sequences));
                    log.evaluations +=
                        record["effective_passes"].as_f64().context("no `effective_passes`")?;
                }
                _ => (),
            }
        }
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
}

impl Fit {
    /// From the script's output.
    ///
    /// # Errors
    /// It is not as expected.
    pub(crate) fn parse(output: &str) -> Result<Fit> {
        serde_json::from_str(output).context("the script did not tell how training went")
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

/// Evaluations that a run of CRFsuite's command line tells about.
pub(crate) fn trials(output: &str) -> f64 {
    let trials = output.lines().filter_map(|line| line.strip_prefix("Line search trials: "));
    trials.filter_map(|n| n.trim().parse::<f64>().ok()).sum()
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
    }

    #[test]
    fn a_run_of_crfsuite() {
        let fit = r#"{"append":1,"train":10,"features":3,"losses":[5,4],"seconds":[3,4],"trials":[1,2]}"#;
        let fit = Fit::parse(fit).unwrap();
        assert_eq!((fit.cpu(), fit.cpu_until(1), fit.cpu_until(2)), (11.0, 7.0, 11.0));
        assert_eq!(trials("Loss: 1\nLine search trials: 2\n\nLine search trials: 1\n"), 3.0);
    }
}
