//! What `seqoia train` shows and records: the opening block, a line a pass, the end; JSON lines.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use indicatif::ProgressBar;
use seqoia::data::format::Kind;
use seqoia::learners::Penalty;
use seqoia::{DevSet, Error, PassRow, TrainOptions, Trained, Trainer, TrainingSet, Watch};
use seqoia_report::{bytes, grouped};
use serde_json::json;

use crate::flags::TrainArgs;
use crate::screen;

/// Prints the training table and writes the records.
pub(crate) struct Reporter {
    quiet: bool,
    json: bool,
    log: Option<(PathBuf, std::fs::File)>,
    checkpoint: Option<PathBuf>,
    bar: Option<ProgressBar>,
    started: Instant,
    pass_started: Instant,
    score: Option<&'static str>,
    header: bool,
    passes: u64,
    broken: Option<Error>,
    conllu: bool,
}

impl Reporter {
    pub(crate) fn new(args: &TrainArgs) -> anyhow::Result<Self> {
        let log = match &args.log {
            Some(path) => {
                let file = std::fs::File::create(path)
                    .with_context(|| format!("{}: cannot write the log", path.display()))?;
                Some((path.clone(), file))
            }
            None => None,
        };
        Ok(Reporter {
            quiet: args.quiet,
            json: args.json,
            log,
            checkpoint: args.checkpoint.clone(),
            bar: None,
            started: Instant::now(),
            pass_started: Instant::now(),
            score: None,
            header: false,
            passes: 0,
            broken: None,
            conllu: false,
        })
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

    fn record(&mut self, record: &serde_json::Value) -> seqoia::Result<()> {
        if let Some((path, file)) = &mut self.log {
            writeln!(file, "{record}").map_err(|e| Error::Output(format!("{}: {e}", path.display())))?;
        }
        if self.json {
            screen::result(&format!("{record}\n"))?;
        }
        Ok(())
    }

    pub(crate) fn opening(
        &mut self,
        args: &TrainArgs,
        set: &TrainingSet,
        dev: Option<&DevSet>,
        trainer: &Trainer<'_>,
        options: &TrainOptions,
    ) -> seqoia::Result<()> {
        let n = |x: usize| grouped(x as u64);
        let view = set.space.view();
        let weights = set.space.existing();
        let memory = trainer.memory(dev);
        self.line(&format!(
            "      data  {}   {} sequences   {} tokens   {} labels",
            set.file,
            n(set.corpus.ends.len()),
            n(set.corpus.tokens()),
            set.labels.len()
        ));
        if let Some(dev) = dev {
            self.line(&format!(
                "       dev  {}   {} sequences   {} tokens",
                dev.file,
                n(dev.len()),
                n(dev.tokens())
            ));
        }
        let scheme = match (set.schemes.file, set.schemes.model) {
            (Some(file), Some(model)) if file != model => {
                format!("   {} read as {}", file.name(), model.name())
            }
            (Some(file), _) => format!("   {}", file.name()),
            _ => String::new(),
        };
        self.line(&format!(
            "  features  {} templates   {} attributes   {} weights{scheme}",
            set.program.templates().len(),
            n(set.space.attributes() + view.edge_attributes()),
            n(weights)
        ));
        let objective = trainer.objective();
        if options.learner.penalty != Penalty::None {
            self.line(&format!(
                " objective  (1/n) sum loss + (l2/2) |w|^2 + l1 |w|_1   l2 {:.6e}   l1 {:.6e}",
                objective.l2, objective.l1
            ));
        }
        self.line(&format!(
            "  training  {}   {}{}   {} threads   seed {}   at most {} of memory",
            options.learner.name,
            trainer.strategy().name(),
            if options.batch_size > 1 { format!(" of {}", options.batch_size) } else { String::new() },
            options.threads,
            options.seed,
            bytes(memory as u64)
        ));
        if let (Some(file), Some(checkpoint)) = (&args.resume, &options.resume) {
            self.line(&format!("   resumed  {}   after pass {}", file.display(), checkpoint.pass()));
        }
        self.passes = trainer.passes();
        self.conllu = set.kind == Kind::Conllu;
        if std::io::stderr().is_terminal() && !args.quiet {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar.set_message(format!("pass 1 of {}", self.passes));
            self.bar = Some(bar);
        }
        self.record(&json!({
            "event": "start",
            "version": env!("CARGO_PKG_VERSION"),
            "data": set.file,
            "digest": set.digest,
            "sequences": set.corpus.ends.len(),
            "tokens": set.corpus.tokens(),
            "labels": set.labels.len(),
            "attributes": set.space.attributes() + view.edge_attributes(),
            "weights": weights,
            "learner": options.learner.name,
            "strategy": trainer.strategy().name(),
            "batch_size": options.batch_size,
            "l1": objective.l1,
            "l2": objective.l2,
            "seed": options.seed,
            "beam": trainer.beam(),
            "resumed": options.resume.as_ref().map(|c| c.pass()),
            "memory": memory,
        }))?;
        self.pass_started = Instant::now();
        Ok(())
    }

    pub(crate) fn closing(&mut self, model: &Path, size: usize, trained: &Trained) -> seqoia::Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        let best = match (trained.scores.first(), trained.best_pass == trained.passes) {
            (Some(s), _) => format!("   pass {}, {} {:.2}", trained.best_pass, s.name, s.value),
            (None, _) => String::new(),
        };
        self.line("");
        self.line(&format!(
            "   stopped  {} after {:.1} s",
            trained.ended,
            self.started.elapsed().as_secs_f64()
        ));
        self.line(&format!("     wrote  {}   {}{best}", model.display(), bytes(size as u64)));
        let test = if self.conllu { "test.conllu" } else { "test.txt" };
        self.line(&format!("      next  seqoia predict -m {} {test}", model.display()));
        let scores: serde_json::Map<_, _> =
            trained.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        self.record(&json!({
            "event": "end",
            "ended": trained.ended.to_string(),
            "passes": trained.passes,
            "best_pass": trained.best_pass,
            "scores": scores,
            "model_bytes": size,
            "seconds": self.started.elapsed().as_secs_f64(),
        }))
    }
}

impl Watch for Reporter {
    fn pass(&mut self, row: &PassRow) {
        let seconds = self.pass_started.elapsed().as_secs_f64();
        self.pass_started = Instant::now();
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
            .map_or(String::new(), |s| format!("{:>13.2}{}", s.value, if row.best { "*" } else { " " }));
        self.line(&format!(
            "{:>6} {value:>13}{score}{seconds:>10.2}{:>10.2}",
            row.number,
            self.started.elapsed().as_secs_f64()
        ));
        if let Some(bar) = &self.bar {
            bar.set_message(format!("pass {} of {}", (row.number + 1).min(self.passes), self.passes));
        }
        let scores: serde_json::Map<_, _> =
            row.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        let record = json!({
            "event": "pass",
            "pass": row.number,
            "objective": row.objective,
            "loss": row.report.loss,
            "wrong": row.report.wrong,
            "effective_passes": share(row.report.asked.total(), row.examples),
            "scores": scores,
            "best": row.best,
            "seconds": seconds,
        });
        if let Err(error) = self.record(&record) {
            self.broken.get_or_insert(error);
        }
    }

    /// A checkpoint that cannot be written ends no training: the model may still be wanted. It is told at
    /// once, and again at the end.
    fn checkpoint(&mut self, _: u64, file: &[u8]) {
        let Some(path) = &self.checkpoint else { return };
        if let Err(error) = seqoia::write_atomically(path, file) {
            self.line(&format!("warning: no checkpoint of this pass: {error}"));
            self.broken.get_or_insert(error.into());
        }
    }
}

/// What a learner without an objective of its own shows: mistakes, or the loss it saw.
trait Measure {
    fn measure(&self) -> (&'static str, String);
}

impl Measure for PassRow {
    fn measure(&self) -> (&'static str, String) {
        if self.report.asked.searches > 0 {
            return ("wrong", format!("{:.2} %", 100.0 * share(self.report.wrong, self.examples)));
        }
        #[allow(clippy::cast_precision_loss)] // shown with a few digits
        let loss = self.report.loss / self.examples.max(1) as f64;
        ("loss", format!("{loss:.5}"))
    }
}

#[allow(clippy::cast_precision_loss)] // shown with a few digits
fn share(part: u64, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
