//! Runs programs and says what they took: CPU time (user and system) and peak resident memory, as
//! the system accounts for them (`wait4`), and the time by the clock.
//!
//! Linux hands the peak of the process that starts a program on to the program it starts. So this
//! program must stay small itself: whatever needs memory runs in a child (see `data::prepare`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use crate::screen;

/// Seconds that a run must take for a line of progress.
const WORTH_A_LINE: f64 = 0.1;

/// A command line that can be run again and again.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    program: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    output: Option<PathBuf>,
    first: Option<Box<Call>>,
}

/// What one run took.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// User and system time, in seconds.
    pub(crate) cpu: f64,
    /// Time by the clock, in seconds.
    pub(crate) wall: f64,
    /// Peak resident memory, in bytes.
    pub(crate) peak: u64,
    /// Standard output; empty if it went to a file.
    pub(crate) output: String,
}

impl Call {
    /// A program that is started in `folder`.
    pub(crate) fn new(program: &Path, folder: &Path, args: &[&str]) -> Self {
        Call {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            folder: folder.to_owned(),
            output: None,
            first: None,
        }
    }

    /// The same with further arguments.
    pub(crate) fn with(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// The same, with standard output to this file of the folder.
    pub(crate) fn into_file(mut self, name: &str) -> Self {
        self.output = Some(self.folder.join(name));
        self
    }

    /// The same behind another call; what they take is added up.
    pub(crate) fn after(mut self, first: Call) -> Self {
        self.first = Some(Box::new(first));
        self
    }

    /// The command line as a person would type it in the folder.
    pub(crate) fn line(&self) -> String {
        let mut line = self.first.as_ref().map_or(String::new(), |first| format!("{} && ", first.line()));
        line.push_str(&self.program.file_name().unwrap_or_default().to_string_lossy());
        for arg in &self.args {
            let quote = if arg.is_empty() || arg.contains([' ', ';']) { "'" } else { "" };
            line.push_str(&format!(" {quote}{arg}{quote}"));
        }
        if let Some(output) = &self.output {
            line.push_str(&format!(" > {}", output.file_name().unwrap_or_default().to_string_lossy()));
        }
        line
    }

    /// Runs it once.
    ///
    /// # Errors
    /// It cannot be started, or it fails; then with the end of what it said.
    pub(crate) fn run(&self) -> Result<Usage> {
        let before = self.first.as_ref().map(|first| first.run()).transpose()?;
        // Files, not pipes: nobody has to read while the child runs.
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        let errors = scratch.path().join("errors");
        let output = self.output.clone().unwrap_or_else(|| scratch.path().join("output"));
        let create = |path: &Path| {
            File::create(path).with_context(|| format!("{}: cannot be written", path.display()))
        };
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(create(&output)?)
            .stderr(create(&errors)?)
            .spawn()
            .with_context(|| format!("{}: cannot be started", self.program.display()))?;
        let ended = child.wait4().with_context(|| format!("lost track of: {}", self.line()))?;
        let wall = started.elapsed().as_secs_f64();
        if !ended.status.success() {
            let said = fs::read(&errors).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let lines: Vec<&str> = said.lines().collect();
            bail!(
                "{}: {}\n  in {}\n{}",
                self.line(),
                ended.status,
                self.folder.display(),
                lines[lines.len().saturating_sub(12)..].join("\n")
            );
        }
        let output = match self.output {
            Some(_) => String::new(),
            None => String::from_utf8_lossy(&fs::read(&output)?).into_owned(),
        };
        let cpu = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
        let peak = ended.rusage.maxrss;
        Ok(match before {
            None => Usage { cpu, wall, peak, output },
            Some(b) => Usage { cpu: b.cpu + cpu, wall: b.wall + wall, peak: b.peak.max(peak), output },
        })
    }
}

/// Runs the calls in turns, so that a slow stretch of the machine hits all of them: `[calls][repeat]`.
///
/// # Errors
/// The first call that fails.
pub(crate) fn interleaved(repeat: usize, calls: &[Call]) -> Result<Vec<Vec<Usage>>> {
    let mut all = vec![vec![]; calls.len()];
    for round in 1..=repeat {
        for (call, runs) in calls.iter().zip(&mut all) {
            let usage = call.run()?;
            if usage.wall > WORTH_A_LINE {
                screen::note(&format!("  {round}/{repeat}  {:8.2} CPU s  {}", usage.cpu, call.line()));
            }
            runs.push(usage);
        }
    }
    Ok(all)
}

/// The middle one; the mean of the two in the middle if their number is even.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match (values.len(), values.len() / 2) {
        (0, _) => f64::NAN,
        (n, half) if n % 2 == 1 => values[half],
        (_, half) => f64::midpoint(values[half - 1], values[half]),
    }
}

/// Median CPU time.
pub(crate) fn cpu(runs: &[Usage]) -> f64 {
    median(runs.iter().map(|usage| usage.cpu))
}

/// Median time by the clock.
pub(crate) fn wall(runs: &[Usage]) -> f64 {
    median(runs.iter().map(|usage| usage.wall))
}

/// The highest peak.
pub(crate) fn peak(runs: &[Usage]) -> u64 {
    runs.iter().map(|usage| usage.peak).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_call_shows_what_a_person_would_type() {
        let call = Call::new(Path::new("/x/vw"), Path::new("/tmp"), &["-l", "a b"]);
        assert_eq!(call.with(&["-t"]).into_file("out").line(), "vw -l 'a b' -t > out");
    }

    #[test]
    fn failures_say_what_the_program_said() {
        let call = Call::new(Path::new("/bin/sh"), Path::new("/"), &["-c", "echo no good >&2; exit 3"]);
        assert!(call.run().unwrap_err().to_string().contains("no good"));
        let call = Call::new(Path::new("/bin/sh"), Path::new("/"), &["-c", "echo fine"]);
        assert_eq!(call.run().unwrap().output, "fine\n");
        assert_eq!(call.clone().after(call).line(), "sh -c 'echo fine' && sh -c 'echo fine'");
    }
}
