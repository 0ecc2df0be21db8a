//! Training a labeller, from the command line: data, features, the options of the chain.

use std::process::ExitCode;

use seqoia::data::format::Kind;
use seqoia::label::warm;
use seqoia::run::Start;
use seqoia::structures::chain::Precision;
use seqoia::{
    ChainOptions, DataOptions, DevSet, Error, LabelColumn, LabelTask, Labeller, LearnOptions, PairChoice,
    TrainingSet, tools,
};

use super::{folds, model_file, train};
use crate::flags::{PairsName, PrecisionName, TrainArgs, WidthName, open};
use crate::reporter::Reporter;
use crate::{inputs, screen, targets};

pub(super) fn run(args: &TrainArgs, mut learn: LearnOptions) -> anyhow::Result<ExitCode> {
    let (data, chain) = (data_options(args)?, chain_options(args)?);
    if let Some(folds) = args.label.folds {
        return folds::run(args, &data, &learn, chain, folds);
    }
    if args.label.dump_features {
        let mut out = std::io::BufWriter::new(screen::output()?);
        tools::dump_features(open(args.data.as_deref())?, &data, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    model_file(&args.run)?;
    targets::check(args)?;
    learn.check()?;
    chain.check(&learn)?;

    let reporter = Reporter::new(&args.run)?;
    let set = TrainingSet::read(open(args.data.as_deref())?, &data)?;
    let dev = match &args.run.dev {
        Some(path) => Some(DevSet::read(open(Some(path))?, &set)?),
        None => None,
    };
    let mut known = None;
    if let Some(path) = &args.label.warm_start {
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

fn data_options(args: &TrainArgs) -> anyhow::Result<DataOptions> {
    let label = &args.label;
    if args.data.is_none() && !label.gazetteer.is_empty() {
        let what = "no data: --gazetteer takes all files behind it; name the data before it";
        return Err(Error::Option(what.to_owned()).into());
    }
    let mut options = DataOptions { cutoff: label.cutoff, ..DataOptions::default() };
    options.features = inputs::features(&label.templates)?;
    options.features.full_width = label.width.map(|width| width == WidthName::Full);
    options.features.false_features = label.false_features;
    options.features.lexica = inputs::lexica(label)?;
    options.features.own_words = label.own_dictionary;
    if let Some(column) = &label.label {
        options.label = LabelColumn::parse(column).map_err(|e| Error::Option(format!("--label: {e}")))?;
    }
    options.scheme = label.scheme.as_deref().map(|name| inputs::scheme("--scheme", name)).transpose()?;
    options.pairs = match label.pairs {
        PairsName::Observed => PairChoice::Observed,
        PairsName::All => PairChoice::All,
    };
    options.rules = label.rules.as_deref().map(inputs::rules).transpose()?;
    options.partial.clone_from(&label.partial);
    options.label_weights = inputs::numbers_of("--label-weight", &label.label_weight)?;
    options.label_costs = inputs::numbers_of("--label-cost", &label.label_cost)?;
    // Segmented text looks like columns; features of characters are asked for of words.
    let characters = label.templates.features == ["segmentation"];
    options.format = label.format.or(characters.then_some(Kind::Words));
    Ok(options)
}

fn chain_options(args: &TrainArgs) -> seqoia::Result<ChainOptions> {
    if args.label.beam == Some(0) {
        return Err(Error::Option("--beam 0: at least one label is needed".to_owned()));
    }
    let precision = match args.label.precision {
        PrecisionName::F64 => Precision::F64,
        PrecisionName::F32 => Precision::F32,
    };
    Ok(ChainOptions { beam: args.label.beam, precision })
}
