//! Training a labeller, from the command line: data, features, the options of the chain.

use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use seqoia::data::disk::Scratch;
use seqoia::data::format::Kind;
use seqoia::data::part::{Part, open_part};
use seqoia::label::recipes::DEFAULT_LEARNER;
use seqoia::label::{Again, Limit, read_within, warm};
use seqoia::run::Start;
use seqoia::structures::chain::Precision;
use seqoia::{
    ChainOptions, DataOptions, DevSet, LabelColumn, LabelTask, Labeller, LearnOptions, PairChoice,
    TrainingSet, tools,
};

use super::{folds, learn, model_file, train};
use crate::flags::{self, PairsName, PrecisionName, TrainArgs, WidthName, open_as, refused, size, threads};
use crate::reporter::Reporter;
use crate::{heap, inputs, screen, targets};

pub(super) fn run(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<ExitCode> {
    let (data, chain) = (data_options(args)?, chain_options(args)?);
    let recipe = data.recipe().map(|recipe| &recipe.learn);
    let learn = learn::options(args, matches, recipe, DEFAULT_LEARNER)?;
    if let Some(folds) = args.label.folds {
        if args.run.model.is_some() {
            let what = "-m cannot be used with --folds, which trains a model per fold and keeps none";
            return Err(refused(what));
        }
        return folds::run(args, &data, &learn, chain, folds);
    }
    if args.label.dump_features {
        let mut out = std::io::BufWriter::new(screen::output()?);
        tools::dump_features(open_as(args.data.as_deref(), args.label.format)?, &data, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    run_one(args, &data, learn, chain)
}

/// Trains and writes one model.
pub(super) fn run_one(
    args: &TrainArgs,
    data: &DataOptions,
    mut learn: LearnOptions,
    chain: ChainOptions,
) -> anyhow::Result<ExitCode> {
    model_file(&args.run)?;
    targets::check(args)?;
    learn.check()?;
    chain.check(&learn)?;

    let mut reporter = Reporter::new(&args.run)?;
    if args.learn.learner.is_none() && learn.l1.is_none() && learn.l2.is_none() && learn.l2_path.is_empty() {
        let other = "`learner adagrad` `pairs all` too: no learner is best on all data";
        if let Some(what) = data.recipe().map_or(Some(other), |recipe| recipe.beyond) {
            reporter.suggest(what);
        }
    }
    let (set, dev) = match limit(args)? {
        None => {
            let set = TrainingSet::read(open_as(args.data.as_deref(), args.label.format)?, data)?;
            let dev = args.run.dev.as_deref().map(|path| open_as(Some(path), args.label.format));
            let dev = dev.transpose()?.map(|dev| DevSet::read(dev, &set)).transpose()?;
            (set, dev)
        }
        Some(limit) => {
            heap::give_back();
            let Some(path) = args.data.as_deref() else {
                let what = "--memory-limit: data may be read twice, and standard input cannot; name a file";
                return Err(refused(what));
            };
            let kind = args.label.format;
            let dev = args.run.dev.as_deref().map(|path| again(path, kind)).transpose()?;
            let data_file = again(path, kind)?;
            read_within(&data_file, dev.as_ref(), data, chain, &mut learn, &limit)?
        }
    };
    let mut known = None;
    if let Some(path) = &args.run.warm_start {
        let start = warm::weights(&Labeller::open(path)?, &set)?;
        known = Some((path.as_path(), start.known));
        learn.start = Some(Start { weights: start.weights, memo: None });
    }
    let task = LabelTask::new(&set, dev.as_ref()).with_chain(chain);
    train(&task, &learn, &args.run, reporter, |reporter| {
        if let Some((path, known)) = known {
            reporter.started(path, known, set.space.attributes() + set.space.view().edge_attributes());
        }
    })
}

/// How much memory training may take, if it was said, and where temporary files go.
fn limit(args: &TrainArgs) -> anyhow::Result<Option<Limit>> {
    let Some(given) = &args.label.memory_limit else { return Ok(None) };
    let Some(bytes) = size(given, 1000) else {
        let what = format!("--memory-limit {given}: expected a size, such as 200M or 4G");
        return Err(refused(what));
    };
    let folder = match std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.into(),
        None => targets::folder(model_file(&args.run)?).to_owned(),
    };
    Ok(Some(Limit { bytes, scratch: Scratch::new(folder), always: false }))
}

/// A file that may be read twice.
fn again(path: &Path, kind: Option<Kind>) -> anyhow::Result<Again> {
    let (limit, own) = (flags::limit()?, path.to_owned());
    let whole = Part::split(path)?.map_or_else(|| path.to_owned(), |(whole, _)| whole);
    Ok(Again::file(&whole)?.opened_by(move || Ok(open_part(&own, kind, limit)?)))
}

pub(super) fn data_options(args: &TrainArgs) -> anyhow::Result<DataOptions> {
    let label = &args.label;
    if args.data.is_none() && !label.gazetteer.is_empty() {
        let what = "no data: --gazetteer takes all files behind it; name the data before it";
        return Err(refused(what));
    }
    let mut options = DataOptions { cutoff: label.cutoff, ..DataOptions::default() };
    options.features = inputs::features(&label.templates)?;
    options.features.full_width = label.width.map(|width| width == WidthName::Full);
    options.features.false_features = label.false_features;
    options.features.lexica = inputs::lexica(label)?;
    options.features.own_words = label.own_dictionary;
    if let Some(column) = &label.label {
        options.label = LabelColumn::parse(column)?;
    }
    options.scheme = label.scheme.as_deref().map(|name| inputs::scheme("--scheme", name)).transpose()?;
    options.pairs = label.pairs.map(|pairs| match pairs {
        PairsName::Observed => PairChoice::Observed,
        PairsName::All => PairChoice::All,
    });
    options.rules = label.rules.as_deref().map(inputs::rules).transpose()?;
    options.partial.clone_from(&label.partial);
    options.label_weights = inputs::numbers_of("--label-weight", &label.label_weight)?;
    options.label_costs = inputs::numbers_of("--label-cost", &label.label_cost)?;
    options.format = label.format;
    options.threads = Some(threads(args.learn.threads)?);
    Ok(options)
}

pub(super) fn chain_options(args: &TrainArgs) -> anyhow::Result<ChainOptions> {
    if args.label.beam == Some(0) {
        return Err(refused("--beam 0: at least one label is needed"));
    }
    let precision = match args.label.precision {
        PrecisionName::F64 => Precision::F64,
        PrecisionName::F32 => Precision::F32,
    };
    Ok(ChainOptions { beam: args.label.beam, precision })
}
