//! `seqoia train`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::ArgMatches;
use seqoia::core::param::Kind as ParamKind;
use seqoia::data::features::sets::SETS;
use seqoia::data::features::{Clusters, Lexica};
use seqoia::data::format::Kind;
use seqoia::data::rules::RuleTable;
use seqoia::data::scheme::Scheme;
use seqoia::learners::{self, LEARNERS, Penalty};
use seqoia::structures::chain::Precision;
use seqoia::{
    Checkpoint, DataOptions, DevSet, Ended, Error, LabelColumn, PairChoice, Passes, RuleChoice,
    StrategyChoice, Strength, TrainOptions, Trainer, TrainingSet,
};

use crate::flags::{KeepName, PairsName, PrecisionName, TrainArgs, WidthName, open, threads};
use crate::reporter::Reporter;
use crate::{folds, habits, screen, targets};

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
            let words = match param.kind {
                ParamKind::Word(words) => format!(": {}", words.join(", ")),
                _ => String::new(),
            };
            let help = format!("{}{words} {}", param.help, users.join(", "));
            let arg = clap::Arg::new(param.name).long(param.name).value_name("X").help(help);
            train = train.arg(arg.help_heading("Parameters of single learners"));
        }
        // A negative number is a wrong value, not an unknown flag.
        train.mut_args(|arg| match arg.get_action() {
            clap::ArgAction::Set => arg.allow_negative_numbers(true),
            _ => arg,
        })
    })
}

pub(crate) fn run(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<ExitCode> {
    if args.learner == "list" || args.strategy.as_deref() == Some("list") {
        screen::result(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.features == ["list"] {
        let sets: String = SETS.iter().map(|(name, about)| format!("  {name:<14} {about}\n")).collect();
        screen::result(&format!("Feature sets (--features NAME):\n\n{sets}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (data_options, mut options) = (data_options(args)?, train_options(args, matches)?);
    if let Some(folds) = args.folds {
        return folds::run(args, &data_options, &options, folds);
    }
    if args.dump_features {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        seqoia::dump_features(open(args.data.as_deref())?, &data_options, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let model = args
        .model
        .as_deref()
        .ok_or_else(|| Error::Option("where shall the model go? give -m MODEL.seqoia".to_owned()))?;
    targets::check(args)?;
    options.check()?;

    let mut reporter = Reporter::new(args)?;
    let set = TrainingSet::read(open(args.data.as_deref())?, &data_options)?;
    let dev = match &args.dev {
        Some(path) => Some(DevSet::read(seqoia::data::open::open(path).map_err(Error::from)?, &set)?),
        None => None,
    };
    let mut known = 0;
    if let Some(path) = &args.warm_start {
        let start = seqoia::warm::weights(&seqoia::Labeller::open(path)?, &set)?;
        known = start.known;
        options.start = Some(start.weights);
    }
    let trainer = Trainer::new(&set, &options)?;
    trainer.resumed(dev.as_ref())?;
    reporter.opening(args, &set, dev.as_ref(), &trainer, &options)?;
    if let Some(path) = &args.warm_start {
        reporter.started(path, known, set.space.attributes() + set.space.view().edge_attributes());
    }

    let stop = stop_on_ctrl_c(args)?;
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
        let passes =
            if l.whole { "until it stops by itself".to_owned() } else { format!("{} passes", l.passes) };
        out.push_str(&format!("  {:<20} {}\n  {:<20} {}; {passes}\n", l.name, l.summary, "", l.reference));
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

/// A small text file, whole, plain or compressed.
fn read_text(path: &std::path::Path) -> seqoia::Result<String> {
    Ok(seqoia::data::text::read(seqoia::data::open::open(path)?)?)
}

/// Names and texts of template files, given by `-t`.
pub(crate) fn templates(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, String)>> {
    texts(paths, "-t")
}

/// Names and texts of pattern files, given by `-p`.
pub(crate) fn patterns(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, String)>> {
    texts(paths, "-p")
}

fn texts(paths: &[PathBuf], flag: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut texts = vec![];
    for path in paths {
        habits::check_file(flag, path)?;
        texts.push((path.display().to_string(), read_text(path)?));
    }
    Ok(texts)
}

/// A label scheme by name.
pub(crate) fn scheme(flag: &str, name: &str) -> seqoia::Result<Scheme> {
    let names = Scheme::ALL.map(Scheme::name).join(", ");
    Scheme::parse(name).ok_or_else(|| Error::Option(format!("{flag} {name}: there are {names}")))
}

fn data_options(args: &TrainArgs) -> anyhow::Result<DataOptions> {
    if args.data.is_none() && !args.gazetteer.is_empty() {
        let what = "no data: --gazetteer takes all files behind it; name the data before it";
        return Err(Error::Option(what.to_owned()).into());
    }
    let mut options = DataOptions { cutoff: args.cutoff, ..DataOptions::default() };
    options.features.templates = templates(&args.template)?;
    options.features.patterns = patterns(&args.patterns)?;
    options.features.full_width = args.width.map(|width| width == WidthName::Full);
    options.features.false_features = args.false_features;
    let mut lexica = Lexica::default();
    if let Some(path) = &args.clusters {
        let text = read_text(path)?;
        lexica.clusters = Clusters::read(&path.display().to_string(), &text).map_err(Error::from)?;
    }
    for path in &args.gazetteer {
        let text = read_text(path)?;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let endings = [".gz", ".xz", ".zst", ".txt"];
        let list = endings.iter().fold(&*file, |name, end| name.strip_suffix(end).unwrap_or(name));
        lexica.names.read(list, &path.display().to_string(), &text).map_err(Error::from)?;
    }
    if let Some(path) = &args.dictionary {
        let text = read_text(path)?;
        lexica.words.read(&path.display().to_string(), &text).map_err(Error::from)?;
    }
    options.features.lexica = Arc::new(lexica);
    options.features.own_words = args.own_dictionary;
    options.features.sets.clone_from(&args.features);
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label).map_err(|e| Error::Option(format!("--label: {e}")))?;
    }
    options.scheme = args.scheme.as_deref().map(|name| scheme("--scheme", name)).transpose()?;
    options.pairs = match args.pairs {
        PairsName::Observed => PairChoice::Observed,
        PairsName::All => PairChoice::All,
    };
    options.rules = args.rules.as_deref().map(rules).transpose()?;
    options.partial.clone_from(&args.partial);
    options.label_weights = numbers_of("--label-weight", &args.label_weight)?;
    options.label_costs = numbers_of("--label-cost", &args.label_cost)?;
    // Segmented text looks like columns; who asks for the features of characters has words.
    let characters = args.features == ["segmentation"];
    options.format = args.format.or(characters.then_some(Kind::Words));
    Ok(options)
}

/// Rules by the name of a scheme, or a file of them.
pub(crate) fn rules(name: &str) -> anyhow::Result<RuleChoice> {
    if let Some(scheme) = Scheme::parse(name) {
        return Ok(RuleChoice::Scheme(scheme));
    }
    let path = std::path::Path::new(name);
    if !path.exists() {
        let names = Scheme::ALL.map(Scheme::name).join(", ");
        let what = format!("--rules {name}: there is no such file; schemes are bio, {names}");
        return Err(Error::Option(what).into());
    }
    Ok(RuleChoice::Table(RuleTable::parse(name, &read_text(path)?).map_err(Error::from)?))
}

/// Labels with numbers: `LABEL=X`.
fn numbers_of(flag: &str, given: &[String]) -> seqoia::Result<Vec<(String, f64)>> {
    let read = |text: &String| {
        let expected = || Error::Option(format!("{flag} {text}: expected LABEL=X, such as B-PER=2"));
        let (label, x) = text.rsplit_once('=').ok_or_else(expected)?;
        Ok((label.to_owned(), number(flag, x)?))
    };
    given.iter().map(read).collect()
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
        (_, Some(x), _, _) => Some(Strength::OverN(finite("--c2", x, 2.0 * number("--c2", x)?)?)),
        (_, _, Some(x), _) => Some(Strength::OverN(number("--rho2", x)?)),
        (_, _, _, Some(x)) if learner.penalty != Penalty::None => match number("-C", x)? {
            c if c > 0.0 => Some(Strength::OverN(finite("-C", x, 1.0 / c)?)),
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
        return Err(Error::Option("--passes, --max-passes: at least one pass is needed".to_owned()));
    }
    if args.checkpoint_every == 0 {
        return Err(Error::Option("--checkpoint-every 0: at least every pass".to_owned()));
    }
    options.checkpoint_every = args.checkpoint.as_ref().map(|_| args.checkpoint_every);
    options.resume = args.resume.as_deref().map(Checkpoint::open).transpose()?.map(Arc::new);
    options.keep_last = args.keep == KeepName::Last;
    options.patience = args.patience;
    if args.beam == Some(0) {
        return Err(Error::Option("--beam 0: at least one label is needed".to_owned()));
    }
    options.beam = args.beam;
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

/// What became of a number, if it did not grow beyond all bounds.
fn finite(flag: &str, text: &str, x: f64) -> seqoia::Result<f64> {
    match x.is_finite() {
        true => Ok(x),
        false => {
            Err(Error::Option(format!("{flag} {text}: the penalty that this stands for is no finite number")))
        }
    }
}

/// A number, or a number over n.
fn strength(flag: &str, text: &str) -> seqoia::Result<Strength> {
    match text.strip_suffix("/n") {
        Some(over) => number(flag, over).map(Strength::OverN),
        None => number(flag, text).map(Strength::Plain),
    }
}

/// The first Ctrl-C, or SIGTERM, asks for an end, the second does not ask.
pub(crate) fn stop_on_ctrl_c(args: &TrainArgs) -> anyhow::Result<Arc<AtomicBool>> {
    let (stop, checkpoints, quiet) =
        (Arc::new(AtomicBool::new(false)), args.checkpoint.is_some(), args.quiet);
    let (raised, first) = (Arc::clone(&stop), OnceLock::new());
    ctrlc::set_handler(move || {
        let since = first.get_or_init(Instant::now).elapsed();
        if raised.swap(true, Ordering::Relaxed) {
            // Some programs send a signal to a process and to its group, which is one wish.
            if since > Duration::from_millis(500) {
                std::process::exit(1);
            }
            return;
        }
        if !quiet {
            let when = if checkpoints { "after this pass" } else { "soon" };
            screen::note(&format!(
                "\nstopping {when} and keeping the model; press again to quit without one"
            ));
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
