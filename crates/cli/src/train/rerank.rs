//! Training a re-ranker, from the command line.

use std::process::ExitCode;

use clap::ArgMatches;
use clap::parser::ValueSource;
use seqoia::rerank::DEFAULT_LEARNER;
use seqoia::run::Start;
use seqoia::{CandidateSet, RerankTask, Reranker};

use super::{learn, model_file, train};
use crate::flags::{LabelArgs, TrainArgs, open, refused};
use crate::reporter::Reporter;
use crate::targets;

pub(super) fn run(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<ExitCode> {
    refuse_label_flags(matches)?;
    let mut learn = learn::options(args, matches, None, DEFAULT_LEARNER)?;
    model_file(&args.run)?;
    targets::check(args)?;
    learn.check()?;
    let reporter = Reporter::new(&args.run)?;
    let set = CandidateSet::read(open(args.data.as_deref())?)?;
    let dev = match &args.run.dev {
        Some(path) => Some(set.read_dev(open(Some(path))?)?),
        None => None,
    };
    let mut known = None;
    if let Some(path) = &args.run.warm_start {
        let (weights, found) = Reranker::open(path)?.weights_for(&set)?;
        known = Some((path.as_path(), found));
        learn.start = Some(Start { weights, memo: None });
    }
    train(&RerankTask::new(&set, dev.as_ref()), &learn, &args.run, reporter, |reporter| {
        if let Some((path, known)) = known {
            reporter.started(path, known, set.features().len());
        }
    })
}

/// Options of labelling mean nothing here.
fn refuse_label_flags(matches: Option<&ArgMatches>) -> anyhow::Result<()> {
    let labelling = <LabelArgs as clap::Args>::augment_args(clap::Command::new("label"));
    let given = |id: &str| matches.and_then(|m| m.value_source(id)) == Some(ValueSource::CommandLine);
    match labelling.get_arguments().find(|arg| given(arg.get_id().as_str())) {
        None => Ok(()),
        Some(arg) => {
            let flag = arg.get_long().unwrap_or(arg.get_id().as_str());
            Err(refused(format!("--{flag} is for labelling; it means nothing with --task rerank")))
        }
    }
}
