//! What `seqoia train` shows and records: the opening block, a line per pass, the end; JSON lines.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use indicatif::ProgressBar;
use seqoia::core::Score;
use seqoia::learners::Penalty;
use seqoia::run::{Description, PathRow};
use seqoia::{Ended, Error, LearnOptions, PassRow, Run, Trained, Watch};
use seqoia_report::{bytes, counted, grouped};
use serde_json::json;

use crate::clock::{Clock, Work, peak_memory};
use crate::flagged::flagged;
use crate::flags::RunArgs;
use crate::screen;

/// Prints the training table and writes the records.
pub(crate) struct Reporter {
    quiet: bool,
    json: bool,
    log: Option<(PathBuf, Option<std::fs::File>)>, // emptied at the first record
    checkpoint: Option<PathBuf>,
    bar: Option<ProgressBar>,
    started: Instant,
    clock: Clock,
    pass: (f64, Option<f64>), // seconds that the last one took, and those of all threads
    score: Option<&'static str>,
    header: bool,
    passes: u64,
    whole: bool,  // the learner works on whole passes
    hinted: bool, // at a faster one
    broken: Option<Error>,
    about: Description,
    suggestion: Option<&'static str>,
}

/// How long a person waits before there is a hint at a faster learner.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

impl Reporter {
    pub(crate) fn new(args: &RunArgs) -> anyhow::Result<Self> {
        if let Some(path) = &args.log {
            // Told before training; what it held is kept until there is something to say.
            let mut open = std::fs::OpenOptions::new();
            open.create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("--log {}: cannot be written", path.display()))?;
        }
        let log = args.log.clone().map(|path| (path, None));
        Ok(Reporter {
            quiet: args.quiet,
            json: args.json,
            log,
            checkpoint: args.checkpoint.clone(),
            bar: None,
            started: Instant::now(),
            clock: Clock::start(Work::Process),
            pass: (0.0, None),
            score: None,
            header: false,
            passes: 0,
            whole: false,
            hinted: false,
            broken: None,
            about: Description::default(),
            suggestion: None,
        })
    }

    /// What to try next, told at the end.
    pub(crate) fn suggest(&mut self, what: &'static str) {
        self.suggestion = Some(what);
    }

    fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| screen::note(text)),
            None => screen::note(text),
        }
    }

    fn warning(&self, text: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| screen::warning(text)),
            None => screen::warning(text),
        }
    }

    /// A line of the opening block: a name and what belongs to it, in at most 80 columns.
    fn block(&self, name: &str, items: &[String]) {
        let mut line = format!("{name:>10}  ");
        for (i, item) in items.iter().enumerate() {
            let (gap, width) = (if i == 0 { "" } else { "   " }, line.chars().count() + item.chars().count());
            if i > 0 && width + gap.len() > 80 {
                self.line(&line);
                line = " ".repeat(12) + item;
            } else {
                line.push_str(gap);
                line.push_str(item);
            }
        }
        self.line(&line);
    }

    /// What a warm start found.
    pub(crate) fn started(&self, model: &std::path::Path, known: usize, features: usize) {
        let share =
            format!("{} of {} known", grouped(known as u64), counted(features as u64, self.about.feature));
        self.block("start", &[model.display().to_string(), share]);
        if known == 0 && features > 0 {
            self.warning(&flagged(self.about.strange_start));
        }
    }

    fn record(&mut self, record: &serde_json::Value) -> seqoia::Result<()> {
        if let Some((path, file)) = &mut self.log {
            let failed = |e: std::io::Error| Error::Output(format!("{}: {e}", path.display()));
            let mut out = match file.take() {
                Some(file) => file,
                None => std::fs::File::create(&*path).map_err(failed)?,
            };
            writeln!(out, "{record}").map_err(failed)?;
            *file = Some(out);
        }
        if self.json {
            match screen::result(&format!("{record}\n")) {
                Err(Error::Closed) => self.json = false, // whoever read them has gone; the model is still wanted
                other => other?,
            }
        }
        Ok(())
    }

    pub(crate) fn opening(
        &mut self,
        args: &RunArgs,
        about: &Description,
        run: &Run<'_>,
        learn: &LearnOptions,
    ) -> seqoia::Result<()> {
        (self.whole, self.passes) = (run.profile().whole, run.passes());
        self.about = about.clone();
        about.blocks.iter().for_each(|(name, items)| self.block(name, items));
        about.warnings.iter().for_each(|text| self.warning(&flagged(text)));
        let (objective, memory, batch) = (run.objective(), run.memory(), run.strategy().batch());
        if learn.learner.penalty != Penalty::None {
            self.block("objective", &["(1/n) sum loss + (l2/2) |w|^2 + l1 |w|_1".to_owned()]);
            let path: Vec<String> = run.l2_path().iter().map(|l2| format!("{l2:.6e}")).collect();
            self.block("", &[format!("l2 {}", path.join(", ")), format!("l1 {:.6e}", objective.l1)]);
        }
        let mut strategy = run.strategy().entry.name.to_owned();
        if batch > 1 {
            strategy.push_str(&format!(" of {batch}"));
        }
        let mut training = vec![learn.learner.name.to_owned(), strategy];
        training.extend(about.training.iter().cloned());
        training.extend(learn.cut.map(|length| format!("cut to {length}")));
        training.extend([counted(learn.threads as u64, "thread"), format!("seed {}", learn.seed)]);
        self.block("training", &training);
        about.remarks.iter().for_each(|(name, items)| self.block(name, items));
        self.block("memory", &[format!("at most {}", bytes(memory as u64))]);
        if let (Some(file), Some(checkpoint)) = (&args.resume, &learn.resume) {
            let after = format!("after pass {}", checkpoint.pass());
            self.block("resumed", &[file.display().to_string(), after]);
        }
        if std::io::stderr().is_terminal() && !args.quiet {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar.set_message(format!("pass 1 of {}", self.passes));
            self.bar = Some(bar);
        }
        let mut record = about.record.clone();
        for (name, value) in [
            ("event", json!("start")),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("learner", json!(learn.learner.name)),
            ("strategy", json!(run.strategy().entry.name)),
            ("batch_size", json!(batch)),
            ("l1", json!(objective.l1)),
            ("l2", json!(objective.l2)),
            ("l2_path", json!(learn.l2_path.first().map(|_| run.l2_path()))),
            ("cut", json!(learn.cut)),
            ("seed", json!(learn.seed)),
            ("resumed", json!(learn.resume.as_ref().map(|c| c.pass()))),
            ("memory", json!(memory)),
        ] {
            record.insert(name.to_owned(), value);
        }
        self.record(&record.into())?;
        self.clock = Clock::start(Work::Process);
        Ok(())
    }

    pub(crate) fn closing(&mut self, model: &Path, size: usize, trained: &Trained) -> seqoia::Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let best = trained.scores.first();
        let best = best
            .map_or(String::new(), |s| format!("   pass {}, {} {}", trained.best_pass, s.name, figure(s)));
        self.line("");
        self.line(&format!(
            "   stopped  {} after {:.1} s",
            trained.ended,
            self.started.elapsed().as_secs_f64()
        ));
        if trained.weights.iter().all(|w| *w == 0.0) {
            let cure = flagged(self.about.nothing_learned);
            self.warning(&format!("all weights are 0, nothing was learned; {cure}"));
        }
        self.line(&format!("     wrote  {}   {}{best}", model.display(), bytes(size as u64)));
        if let (Some(file), Ended::Interrupted) = (&self.checkpoint, &trained.ended) {
            self.line(&format!("     go on  with the same command and --resume {}", file.display()));
        }
        if let Some(what) = self.suggestion {
            self.line(&format!("       try  {}", flagged(what)));
        }
        self.line(&format!("      next  seqoia predict -m {} {}", model.display(), self.about.example_file));
        let scores: serde_json::Map<_, _> =
            trained.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        let recorded = self.record(&json!({
            "event": "end",
            "ended": trained.ended.to_string(),
            "passes": trained.passes,
            "best_pass": trained.best_pass,
            "scores": scores,
            "l2": trained.l2,
            "table_bytes": trained.table.map(|table| table.bytes),
            "dense_table_bytes": trained.table.map(|table| table.dense),
            "model_bytes": size,
            "seconds": self.started.elapsed().as_secs_f64(),
            "peak_memory": peak_memory(),
        }));
        // The model is there, and the lines above have said so; still the run was not what was asked for.
        match self.broken.take() {
            Some(error) => Err(error),
            None => recorded,
        }
    }
}

impl Watch for Reporter {
    fn learned(&mut self) {
        self.pass = self.clock.passed();
    }

    fn pass(&mut self, row: &PassRow) {
        self.clock = Clock::start(Work::Process);
        let (seconds, cpu) = self.pass;
        if !self.header {
            self.header = true;
            self.score = row.scores.first().map(|s| s.name);
            let score = self.score.map_or(String::new(), |s| format!("{:>14}", format!("dev {s}")));
            let what = if row.objective.is_some() { "objective" } else { row.measure().0 };
            self.line(&format!("\n  pass {what:>13}{score}       sec     total"));
        }
        let value = row.objective.map_or_else(|| row.measure().1, |f| format!("{f:.7}"));
        let score = row
            .scores
            .first()
            .map_or(String::new(), |s| format!("{:>13}{}", figure(s), if row.best { "*" } else { " " }));
        self.line(&format!(
            "{:>6} {value:>13}{score}{seconds:>10.2}{:>10.2}",
            row.number,
            self.started.elapsed().as_secs_f64()
        ));
        if let Some(bar) = &self.bar {
            bar.set_message(format!("pass {} of {}", (row.number + 1).min(self.passes), self.passes));
            if self.whole && !self.hinted && self.started.elapsed() > PATIENCE {
                self.hinted = true;
                self.line("      hint  --learner averaged-perceptron takes a small part of the time");
            }
        }
        let scores: serde_json::Map<_, _> =
            row.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        let asked = row.report.asked;
        let mut record = json!({
            "event": "pass",
            "pass": row.number,
            "objective": row.objective,
            "loss": (asked.gradients + asked.losses > 0).then(|| row.report.loss / seen(row)),
            "wrong": (asked.searches > 0).then_some(row.report.wrong),
            "effective_passes": share(row.report.asked.total(), row.examples),
            "scores": scores,
            "best": row.best,
            "seconds": seconds,
            "cpu_seconds": cpu,
        });
        if let Some(l2) = row.l2 {
            record["l2"] = json!(l2);
        }
        if let Err(error) = self.record(&record) {
            self.broken.get_or_insert(error);
        }
    }

    fn path(&mut self, row: &PathRow) {
        let score = row.scores.first().map(|s| format!("   dev {} {}", s.name, figure(s)));
        let value = row.objective.map(|f| format!("   objective {f:.7}"));
        let passes = if row.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", row.passes) };
        let weights = counted(row.nonzero as u64, "weight");
        let more = [value, score].into_iter().flatten().collect::<String>();
        self.line(&format!("        l2  {:.6e}   {passes}{more}   {weights}", row.l2));
        let scores: serde_json::Map<_, _> =
            row.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        let record = json!({
            "event": "l2",
            "l2": row.l2,
            "passes": row.passes,
            "objective": row.objective,
            "nonzero": row.nonzero,
            "scores": scores,
        });
        if let Err(error) = self.record(&record) {
            self.broken.get_or_insert(error);
        }
    }

    /// A checkpoint that cannot be written ends no training: the model may still be wanted. It is told at
    /// once, and again at the end.
    fn checkpoint(&mut self, _: u64, file: &[u8]) {
        let Some(path) = &self.checkpoint else { return };
        if let Err(mut error) = seqoia::write_atomically(path, file) {
            self.warning(&format!("no checkpoint of this pass: {error}"));
            // Told when the model is there.
            "the model was written; only checkpoints are missing".clone_into(&mut error.help);
            self.broken.get_or_insert(error.into());
        }
        self.clock = Clock::start(Work::Process);
    }
}

/// Percentages have two digits, costs four: they may be fractions.
fn figure(score: &Score) -> String {
    format!("{:.*}", if score.lower_is_better { 4 } else { 2 }, score.value)
}

/// What a learner without an objective of its own shows: mistakes, or the loss it saw.
trait Measure {
    fn measure(&self) -> (&'static str, String);
}

impl Measure for PassRow {
    fn measure(&self) -> (&'static str, String) {
        if self.report.asked.searches > 0 {
            #[allow(clippy::cast_precision_loss)] // shown with a few digits
            let wrong = self.report.wrong as f64 / seen(self);
            return ("wrong", format!("{:.2} %", 100.0 * wrong));
        }
        ("loss", format!("{:.5}", self.report.loss / seen(self)))
    }
}

/// Examples that the pass has looked at: fewer than there are if it was stopped.
#[allow(clippy::cast_precision_loss)] // shown with a few digits
fn seen(row: &PassRow) -> f64 {
    row.report.examples.max(1) as f64
}

#[allow(clippy::cast_precision_loss)] // shown with a few digits
fn share(part: u64, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
