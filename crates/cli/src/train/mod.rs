//! `seqoia train`: chooses the task and runs it.

mod folds;
mod label;
mod learn;
mod rerank;
mod tries;

use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use seqoia::data::features::sets::SETS;
use seqoia::learners::LEARNERS;
use seqoia::strategies::STRATEGIES;
use seqoia::{Ended, LearnOptions, Run, Task};

use crate::flags::{RunArgs, TaskName, TrainArgs, refused};
use crate::reporter::Reporter;
use crate::{screen, signals};

pub(crate) use learn::with_declared_flags;
pub(crate) use tries::ready as checked;

pub(crate) fn run(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<ExitCode> {
    if args.learn.learner.as_deref() == Some("list") || args.learn.strategy.as_deref() == Some("list") {
        screen::result(&list())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.label.templates.features == ["list"] {
        let sets: String = SETS.iter().map(|(name, about)| format!("  {name:<14} {about}\n")).collect();
        screen::result(&format!("Feature sets (--features NAME):\n\n{sets}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.learn.tries.is_empty() {
        return tries::run(args);
    }
    match args.task {
        TaskName::Label => label::run(args, matches),
        TaskName::Rerank => rerank::run(args, matches),
    }
}

/// Trains any task and writes its model. `said` adds to what is shown before the first pass.
fn train(
    task: &dyn Task,
    learn: &LearnOptions,
    args: &RunArgs,
    mut reporter: Reporter,
    said: impl FnOnce(&Reporter),
) -> anyhow::Result<ExitCode> {
    let model = model_file(args)?;
    let run = Run::new(task, learn)?;
    run.resumed()?;
    reporter.opening(args, &task.describe(learn), &run, learn)?;
    said(&reporter);
    let wish = signals::stop_on_ctrl_c(args)?;
    let trained = run.run(&mut reporter, &wish.stop)?;
    wish.trained(model);
    let size = run.save(&trained, model)?;
    reporter.closing(model, size, &trained)?;
    Ok(match trained.ended {
        Ended::Interrupted => ExitCode::from(130),
        _ => ExitCode::SUCCESS,
    })
}

/// Where the model goes.
fn model_file(args: &RunArgs) -> anyhow::Result<&Path> {
    let missing = || refused("no model file given: add -m MODEL.seqoia");
    args.model.as_deref().ok_or_else(missing)
}

fn list() -> String {
    let mut out = String::from("Learners (--learner NAME):\n\n");
    for l in LEARNERS {
        let stops = l.profile(&l.defaults()).stops;
        let passes =
            if stops { "until it stops by itself".to_owned() } else { format!("{} passes", l.passes) };
        out.push_str(&format!("  {:<20} {}\n  {:<20} {}; {passes}\n", l.name, l.summary, "", l.reference));
        for p in l.params {
            out.push_str(&format!("      --{:<10} {} [{}]\n", p.name, p.help, p.default));
        }
    }
    out.push_str("\nStrategies (--strategy NAME):\n\n");
    for s in STRATEGIES {
        out.push_str(&format!("  {:<20} {}\n", s.name, s.summary));
        for p in s.params {
            out.push_str(&format!("      --{:<10} {} [{}]\n", p.name, p.help, p.default));
        }
    }
    out
}
