//! Re-rankers from the command line: choosing, looking into a model, scoring choices.

use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;

use seqoia::Reranker;
use seqoia::data::candidates::looks_like_lists;
use seqoia::rerank::{Choices, Costs, choose, chosen_costs};
use seqoia_report::{Table, bytes, counted, grouped, visible};
use serde_json::json;

use crate::flags::{EvalArgs, InspectArgs, PredictArgs, open, refused};
use crate::screen;

pub(crate) fn predict(args: &PredictArgs, model: &Reranker) -> anyhow::Result<ExitCode> {
    refuse(&[
        ("--format", args.format.is_some()),
        ("--given", args.given.is_some()),
        ("--rules", args.rules.is_some()),
        ("--html", args.html.is_some()),
    ])?;
    let PredictArgs { json, nbest, marginals, flush: eager, .. } = *args;
    let mut out = BufWriter::with_capacity(1 << 16, screen::output()?);
    let how = Choices { json, nbest, marginals, eager };
    let chosen = choose(model, open(args.data.as_deref())?, how, &mut out)?;
    drop(out);
    chosen.doubt.iter().filter(|_| !args.quiet).for_each(|doubt| screen::warning(doubt));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn inspect(args: &InspectArgs, file: &Path, model: &Reranker) -> anyhow::Result<ExitCode> {
    refuse(&[
        ("--transitions", args.transitions.is_some()),
        ("--label", args.label.is_some()),
        ("--why", args.why.is_some()),
        ("--text", args.text),
    ])?;
    let strongest = args
        .weights
        .map(|most| {
            model.strongest().map(|mut all| (all.len(), all.drain(..most.min(all.len())).collect::<Vec<_>>()))
        })
        .transpose()?;
    let summary = model.summary()?;
    if args.json {
        let record = match &strongest {
            Some((_, strongest)) => json!({ "weights": strongest }),
            None => serde_json::to_value(&summary)?,
        };
        screen::result(&format!("{record}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((all, strongest)) = strongest {
        let mut table = Table::new().numbers("weight", 12).names("feature", 0);
        for one in &strongest {
            table.row([format!("{:+.5}", one.weight), one.feature.clone()]);
        }
        let shown = format!("\n {} of {}\n", strongest.len(), counted(all as u64, "feature"));
        screen::shown(&format!("{}{shown}", table.text()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = &summary.head;
    let training: Vec<String> = head.training.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut lines = vec![
        (
            "model",
            format!(
                "{}   {}   {}",
                visible(&file.display().to_string()),
                head.kind,
                bytes(summary.bytes as u64)
            ),
        ),
        ("made by", head.made_by.clone()),
        ("features", grouped(summary.features as u64)),
        (
            "data",
            format!(
                "{}   {}",
                counted(head.examples as u64, "list"),
                counted(summary.candidates as u64, "candidate")
            ),
        ),
        ("training", training.join("   ")),
        ("passes", format!("{}, of which {} was kept; {}", head.passes, head.best_pass, head.ended)),
    ];
    lines.extend(head.scores.iter().map(|(name, value)| ("dev", format!("{name} {value:.4}"))));
    let text =
        |(name, text): &(&str, String)| seqoia_report::wrapped(&format!(" {name:<11} {}", visible(text)), 13);
    screen::shown(&lines.iter().map(text).map(|line| line + "\n").collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the gold file has lists of candidates: only a file can be looked at before it is read.
pub(crate) fn is_asked_for(args: &EvalArgs) -> anyhow::Result<bool> {
    match args.gold.as_deref().filter(|gold| args.format.is_none() && gold.is_file()) {
        Some(gold) => Ok(looks_like_lists(open(Some(gold))?)?),
        None => Ok(false),
    }
}

pub(crate) fn eval(args: &EvalArgs, choices: Option<&Path>) -> anyhow::Result<ExitCode> {
    refuse(&[
        ("--label", args.label.is_some()),
        ("--conlleval", args.conlleval),
        ("--raw", args.raw),
        ("--all", args.all),
        ("--errors", args.errors.is_some()),
        ("--train", args.train.is_some()),
        ("--bootstrap", args.bootstrap.is_some()),
        ("--html", args.html.is_some()),
        ("--words", args.words.is_some()),
    ])?;
    let costs = chosen_costs(open(args.gold.as_deref())?, open(choices)?)?;
    if args.json {
        screen::result(&format!("{}\n", serde_json::to_string(&costs)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Costs { lists, chosen, first, best, worst } = costs;
    let mut table = Table::new().names("candidate", 10).numbers("mean cost", 12);
    for (name, value) in [("chosen", chosen), ("first", first), ("best", best), ("worst", worst)] {
        table.row([name.to_owned(), format!("{value:.4}")]);
    }
    screen::shown(&format!(" {}\n{}", counted(lists as u64, "list"), table.text()))?;
    Ok(ExitCode::SUCCESS)
}

/// Options of labelling mean nothing for lists.
fn refuse(flags: &[(&str, bool)]) -> anyhow::Result<()> {
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            Err(refused(format!("{flag} is for labels; it means nothing for lists of candidates")))
        }
    }
}
