//! `seqoia train`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use clap::ArgMatches;
use indicatif::ProgressBar;
use seqoia::data::format::Kind;
use seqoia::data::scheme::Scheme;
use seqoia::learners::{self, LEARNERS, Penalty};
use seqoia::structures::chain::Precision;
use seqoia::{
    DataOptions, DevSet, Ended, Error, LabelColumn, PairChoice, PassRow, Passes, StrategyChoice, Strength,
    TrainOptions, Trained, Trainer, TrainingSet, Watch,
};
use seqoia_report::{bytes, grouped};
use serde_json::json;

use crate::flags::{FormatName, KeepName, PairsName, PrecisionName, TrainArgs, open, threads};
use crate::screen;

/// Adds a flag for every parameter that any learner declares.
pub(crate) fn with_learner_flags(command: clap::Command) -> clap::Command {
    command.mut_subcommand("train", |mut train| {
        for param in LEARNERS.iter().flat_map(|l| l.params) {
            if train.get_arguments().any(|a| a.get_id() == param.name) {
                continue;
            }
            // Learners with the same default share a pair of brackets.
            let mut users: Vec<(String, String)> = vec![];
            for l in LEARNERS {
                let Some(p) = l.params.iter().find(|p| p.name == param.name) else { continue };
                let default = p.default.to_string();
                match users.iter_mut().find(|(_, d)| *d == default) {
                    Some((names, _)) => names.push_str(&format!(", {}", l.name)),
                    None => users.push((l.name.to_owned(), default)),
                }
            }
            let users: Vec<_> = users.iter().map(|(names, d)| format!("({names}) [default: {d}]")).collect();
            let help = format!("{} {}", param.help, users.join(", "));
            let arg = clap::Arg::new(param.name).long(param.name).value_name("X").help(help);
            train = train.arg(arg.help_heading("Parameters of single learners"));
        }
        train
    })
}

pub(crate) fn run(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<ExitCode> {
    if args.learner == "list" {
        screen::result(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (data_options, mut options) = (data_options(args)?, train_options(args, matches)?);
    let model = args
        .model
        .as_deref()
        .ok_or_else(|| Error::Option("where shall the model go? give -m MODEL.seqoia".to_owned()))?;
    check_target(model)?;
    options.check()?;

    let mut reporter = Reporter::new(args)?;
    let set = TrainingSet::read(open(args.data.as_deref())?, &data_options)?;
    let dev = match &args.dev {
        Some(path) => Some(DevSet::read(seqoia::data::open::open(path).map_err(Error::from)?, &set)?),
        None => None,
    };
    if let Some(path) = &args.warm_start {
        options.start = Some(seqoia::warm::weights(&seqoia::Labeller::open(path)?, &set)?);
    }
    let trainer = Trainer::new(&set, &options)?;
    reporter.opening(args, &set, dev.as_ref(), &trainer, &options)?;

    let stop = stop_on_ctrl_c()?;
    let trained = trainer.run(dev.as_ref(), &mut reporter, &stop)?;
    let file = seqoia::model_bytes(&set, &options, &trained)?;
    seqoia::write_atomically(model, &file).map_err(Error::from)?;
    reporter.closing(model, file.len(), &trained)?;
    Ok(match trained.ended {
        Ended::Interrupted => ExitCode::from(130),
        _ => ExitCode::SUCCESS,
    })
}

fn list() -> String {
    let mut out = String::from("Learners (--learner NAME):\n\n");
    for l in LEARNERS {
        out.push_str(&format!("  {:<20} {}\n  {:<20} {}\n", l.name, l.summary, "", l.reference));
        for p in l.params {
            out.push_str(&format!("      --{:<10} {} [{}]\n", p.name, p.help, p.default));
        }
    }
    out.push_str("\nStrategies (--strategy NAME):\n\n");
    for (_, name, about) in StrategyChoice::ALL {
        out.push_str(&format!("  {name:<20} {about}\n"));
    }
    out
}

/// A model that cannot be written should be told before training, not after.
fn check_target(model: &Path) -> seqoia::Result<()> {
    let folder = model.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if model.as_os_str() == "-" {
        return Err(Error::Option("-m -: a model cannot go to standard output; name a file".to_owned()));
    }
    if model.is_dir() {
        return Err(Error::Option(format!("-m {}: this is a folder; name the file", model.display())));
    }
    if !folder.is_dir() {
        return Err(Error::Option(format!(
            "-m {}: there is no folder {}",
            model.display(),
            folder.display()
        )));
    }
    Ok(())
}

fn data_options(args: &TrainArgs) -> anyhow::Result<DataOptions> {
    let mut options = DataOptions { cutoff: args.cutoff, ..DataOptions::default() };
    for path in &args.template {
        let name = path.display().to_string();
        let mut input = seqoia::data::open::open(path).map_err(Error::from)?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut input, &mut text)
            .with_context(|| format!("{name}: cannot read the template file"))?;
        options.features.templates.push((name, text));
    }
    options.features.sets.clone_from(&args.features);
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label).map_err(|e| Error::Option(format!("--label: {e}")))?;
    }
    if let Some(name) = &args.scheme {
        let names = Scheme::ALL.map(Scheme::name).join(", ");
        let unknown = || Error::Option(format!("--scheme {name}: there are {names}"));
        options.scheme = Some(Scheme::parse(name).ok_or_else(unknown)?);
    }
    options.pairs = match args.pairs {
        PairsName::Observed => PairChoice::Observed,
        PairsName::All => PairChoice::All,
    };
    options.format = args.format.map(|f| match f {
        FormatName::Columns => Kind::Columns,
        FormatName::Conllu => Kind::Conllu,
    });
    Ok(options)
}

fn train_options(args: &TrainArgs, matches: Option<&ArgMatches>) -> seqoia::Result<TrainOptions> {
    let learner = learners::find(&args.learner).map_err(Error::Option)?;
    let mut given = vec![];
    for param in LEARNERS.iter().flat_map(|l| l.params) {
        let value = matches.and_then(|m| m.get_one::<String>(param.name));
        let pair = value.map(|v| (param.name.to_owned(), v.clone()));
        given.extend(pair.filter(|p| !given.contains(p)));
    }
    let mut options = TrainOptions::new(learner, learner.check(&given).map_err(Error::Option)?);
    options.l1 = match (&args.l1, &args.c1, &args.rho1) {
        (Some(x), _, _) => Some(strength("--l1", x)?),
        (_, Some(x), _) => Some(Strength::OverN(number("--c1", x)?)),
        (_, _, Some(x)) => Some(Strength::OverN(number("--rho1", x)?)),
        _ => None,
    };
    options.l2 = match (&args.l2, &args.c2, &args.rho2, &args.c) {
        (Some(x), _, _, _) => Some(strength("--l2", x)?),
        (_, Some(x), _, _) => Some(Strength::OverN(2.0 * number("--c2", x)?)),
        (_, _, Some(x), _) => Some(Strength::OverN(number("--rho2", x)?)),
        (_, _, _, Some(x)) if learner.penalty != Penalty::None => match number("-C", x)? {
            c if c > 0.0 => Some(Strength::OverN(1.0 / c)),
            _ => return Err(Error::Option(format!("-C {x}: expected a number above 0"))),
        },
        (_, _, _, Some(_)) => return Err(Error::Option(format!("{} does not use -C", learner.name))),
        _ => None,
    };
    options.strategy =
        args.strategy.as_deref().map(StrategyChoice::parse).transpose().map_err(Error::Option)?;
    if args.batch_size == 0 {
        return Err(Error::Option("--batch-size 0: at least one example is needed".to_owned()));
    }
    options.batch_size = args.batch_size;
    options.threads = threads(args.threads)?;
    options.passes = args.passes.map(Passes::Exactly).or(args.max_passes.map(Passes::AtMost));
    if matches!(options.passes, Some(Passes::Exactly(0) | Passes::AtMost(0))) {
        return Err(Error::Option("at least one pass is needed".to_owned()));
    }
    options.keep_last = args.keep == KeepName::Last;
    options.patience = args.patience;
    options.seed = args.seed;
    options.precision = match args.precision {
        PrecisionName::F64 => Precision::F64,
        PrecisionName::F32 => Precision::F32,
    };
    Ok(options)
}

fn number(flag: &str, text: &str) -> seqoia::Result<f64> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err(Error::Option(format!("{flag} {text}: expected a number from 0"))),
    }
}

/// A number, or a number over n.
fn strength(flag: &str, text: &str) -> seqoia::Result<Strength> {
    match text.strip_suffix("/n") {
        Some(over) => number(flag, over).map(Strength::OverN),
        None => number(flag, text).map(Strength::Plain),
    }
}

/// The first Ctrl-C asks for an end, the second does not ask.
fn stop_on_ctrl_c() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        screen::note("\nstopping soon and keeping the best model; press again to quit without one");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// Prints the training table and writes the records.
struct Reporter {
    quiet: bool,
    json: bool,
    log: Option<(PathBuf, std::fs::File)>,
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
    fn new(args: &TrainArgs) -> anyhow::Result<Self> {
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

    fn opening(
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
            "memory": memory,
        }))?;
        self.pass_started = Instant::now();
        Ok(())
    }

    fn closing(&mut self, model: &Path, size: usize, trained: &Trained) -> seqoia::Result<()> {
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
