//! `seqoia train --folds`: a line per fold on standard error, the table or the records on standard output.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use seqoia::label::folds::{Fold, cross_validate, mean_and_deviation};
use seqoia::{ChainOptions, DataOptions, LearnOptions};
use seqoia_report::{Table, grouped};
use serde_json::json;

use crate::flags::{TrainArgs, open_as};
use crate::screen;
use crate::signals::stop_on_ctrl_c;

/// A score's name, its mean and its deviation.
type Summary = (&'static str, f64, f64);

pub(crate) fn run(
    args: &TrainArgs,
    data: &DataOptions,
    options: &LearnOptions,
    chain: ChainOptions,
    folds: usize,
) -> anyhow::Result<ExitCode> {
    options.check()?;
    chain.check(options)?;
    let (stop, mut started) = (stop_on_ctrl_c(&args.run)?.stop, Instant::now());
    let mut each = |fold: &Fold| {
        if !args.run.quiet {
            let scores = fold.scores.iter().map(|s| format!("{} {:.2}", s.name, s.value));
            let (scores, seconds) = (scores.collect::<Vec<_>>().join("   "), started.elapsed().as_secs_f64());
            screen::note(&format!("fold {} of {folds}   {scores}   {seconds:.1} s", fold.number));
        }
        started = Instant::now();
    };
    let done = match cross_validate(
        open_as(args.data.as_deref(), args.label.format)?,
        data,
        options,
        chain,
        folds,
        &stop,
        &mut each,
    ) {
        Err(_) if stop.load(Ordering::Relaxed) => return Ok(ExitCode::from(130)),
        done => done?,
    };
    let summary = mean_and_deviation(&done);
    match args.run.json {
        true => screen::result(&records(&done, &summary))?,
        false => screen::shown(&table(&done, &summary))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn table(done: &[Fold], summary: &[Summary]) -> String {
    let mut table = Table::new().names("fold", 10).numbers("sentences", 10).numbers("tokens", 10);
    for (name, ..) in summary {
        table = table.numbers(name, 10);
    }
    for fold in done {
        let counts = [fold.sentences, fold.tokens].map(|n| grouped(n as u64));
        let scores = fold.scores.iter().map(|s| format!("{:.2}", s.value));
        table.row([fold.number.to_string()].into_iter().chain(counts).chain(scores));
    }
    for (name, pick) in [("mean", (|s| s.1) as fn(&Summary) -> f64), ("deviation", |s| s.2)] {
        let blank = [name.to_owned(), String::new(), String::new()];
        table.row(blank.into_iter().chain(summary.iter().map(|s| format!("{:.2}", pick(s)))));
    }
    table.text()
}

fn records(done: &[Fold], summary: &[Summary]) -> String {
    let fold = |fold: &Fold| {
        let scores: serde_json::Map<_, _> =
            fold.scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        json!({
            "event": "fold",
            "fold": fold.number,
            "sentences": fold.sentences,
            "tokens": fold.tokens,
            "passes": fold.passes,
            "scores": scores,
        })
    };
    let of = |pick: fn(&Summary) -> f64| -> serde_json::Map<_, _> {
        summary.iter().map(|s| (s.0.to_owned(), pick(s).into())).collect()
    };
    let end = json!({ "event": "end", "mean": of(|s| s.1), "deviation": of(|s| s.2) });
    done.iter().map(fold).chain([end]).map(|record| format!("{record}\n")).collect()
}
