//! The calls of a row, made in turns. Columns share calls; each is made once per round, and a short one three times,
//! since differences of short runs are noisy. One that fails is told, is not made again, and takes only its own columns
//! along: a long run must not end for it.

use crate::measure::{Call, Usage};
use crate::screen;

/// CPU seconds below which a run is short.
const SHORT: f64 = 1.0;
/// How often a short call is made in a round.
pub(super) const TIMES: usize = 3;

/// Calls without repetition.
#[derive(Default)]
pub(super) struct Turns {
    calls: Vec<Call>,
}

impl Turns {
    /// Adds a call unless it is there; its number.
    pub(super) fn add(&mut self, call: Call) -> usize {
        let line = call.line();
        self.position(&line).unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        })
    }

    /// The number of the call with this command line.
    pub(super) fn position(&self, line: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.line() == line)
    }

    /// The command line of a call.
    pub(super) fn line(&self, number: usize) -> String {
        self.calls[number].line()
    }

    /// Makes all calls so many times, round by round: `[calls][at least repeat]`, none for those that failed.
    pub(super) fn run(&self, repeat: usize) -> Vec<Option<Vec<Usage>>> {
        let mut all = vec![Some(vec![]); self.calls.len()];
        for turn in 0..repeat * TIMES {
            let again = turn % TIMES > 0;
            for (call, runs) in self.calls.iter().zip(&mut all) {
                let Some(known) = runs else { continue };
                if again && known.last().is_some_and(|last: &Usage| last.cpu >= SHORT) {
                    continue;
                }
                match call.run() {
                    Ok(usage) => known.push(usage),
                    Err(error) => {
                        screen::note(&format!("  failed: {error:#}"));
                        *runs = None;
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn calls_are_shared_and_may_fail_alone() {
        let shell = |text| Call::new(Path::new("/bin/sh"), Path::new("/"), &["-c", text]);
        let mut turns = Turns::default();
        let numbers = ["echo a", "exit 3", "echo a", "echo b"].map(|text| turns.add(shell(text)));
        assert_eq!(numbers, [0, 1, 0, 2]);
        let runs = turns.run(2);
        let said: Vec<Option<Vec<String>>> =
            runs.into_iter().map(|runs| Some(runs?.into_iter().map(|run| run.output).collect())).collect();
        let all = |text: &str| Some(vec![text.to_owned(); 2 * TIMES]);
        assert_eq!(said, [all("a\n"), None, all("b\n")]);
    }
}
