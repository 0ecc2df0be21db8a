//! `seqoia inspect`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use seqoia::label::{
    Contribution, Inspector, ModelSummary, Strongest, Transition, Why, model_to_text, why_input, why_line,
    why_text,
};
use seqoia::{Labeller, Model};
use seqoia_report::{Table, bytes, counted, grouped, wrapped};
use serde_json::json;

use crate::flags::{InspectArgs, open, refused};
use crate::predict::warn_of_probabilities;
use crate::{rerank, screen};

/// Label pairs are shown as a matrix up to so many labels.
const MATRIX: usize = 8;

/// What contributes to a difference is shown up to here; the rest is summed up.
const STRONGEST: usize = 6;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let model = args.model.as_ref().or(args.named.as_ref()).map_or(Path::new(""), PathBuf::as_path);
    match Model::open(model)? {
        Model::Labeller(labeller) => labels(args, model, &labeller),
        Model::Reranker(reranker) => rerank::inspect(args, model, &reranker),
    }
}

fn labels(args: &InspectArgs, model: &Path, labeller: &Labeller) -> anyhow::Result<ExitCode> {
    if args.text {
        let mut out = BufWriter::with_capacity(1 << 16, screen::output()?);
        model_to_text(labeller, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let inside = Inspector::new(labeller)?;
    let only = args.label.as_deref().map(|name| inside.label(name)).transpose()?;
    if let Some(sentence) = &args.why {
        warn_of_probabilities(labeller.head(), model);
        let found = match sentence.as_str() {
            "-" => why_input(labeller, open(Some(Path::new("-")))?, only)?,
            text => match line_of_file(text) {
                Some((file, line)) => vec![why_line(labeller, open(Some(file))?, line, only)?],
                None => {
                    if labeller.reads_documents() {
                        screen::warning(
                            "the model also looks at the document, which a sentence alone does not have: predict \
                             may label it otherwise; --why FILE:LINE takes the sentence from its file",
                        );
                    }
                    vec![why_text(labeller, text, only)?]
                }
            },
        };
        match args.json {
            true => {
                let lines = found.iter().map(|f| Ok(serde_json::to_string(f)? + "\n"));
                screen::result(&lines.collect::<anyhow::Result<String>>()?)?;
            }
            false => screen::shown(&found.iter().map(why).collect::<Vec<_>>().join("\n"))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let weights = args.weights.map(|n| inside.strongest(n, only));
    let transitions = args.transitions.map(|_| inside.transitions(only));
    let whole = weights.is_none() && transitions.is_none();
    if whole && only.is_some() {
        let why = "it goes with --weights, --transitions or --why";
        return Err(refused(format!("--label: {why}")));
    }
    if args.json {
        let mut record = if whole { serde_json::to_value(inside.summary())? } else { json!({}) };
        if let Some(weights) = &weights {
            record["weights"] = serde_json::to_value(weights)?;
        }
        if let Some(transitions) = &transitions {
            record["transitions"] = serde_json::to_value(transitions)?;
        }
        screen::result(&format!("{record}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut parts = vec![];
    if whole {
        parts.push(summary(&model.display().to_string(), &inside.summary()));
    }
    parts.extend(weights.iter().flatten().map(strongest));
    if let Some(found) = &transitions {
        let labels = &labeller.meta().labels;
        let few = labels.len() <= MATRIX && only.is_none();
        parts.push(if few { matrix(labels, found) } else { pairs(found, args.transitions.unwrap_or(0)) });
    }
    screen::shown(&parts.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A file that is there, and the number of a line in it: `test.txt:17`.
fn line_of_file(text: &str) -> Option<(&Path, u64)> {
    let (file, line) = text.rsplit_once(':')?;
    let file = Path::new(file);
    Some((file, line.parse().ok()?)).filter(|(file, _)| file.is_file())
}

fn summary(file: &str, model: &ModelSummary) -> String {
    let (head, meta) = (&model.head, &model.meta);
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        out.push_str(&wrapped(&format!(" {name:<11} {text}"), 13));
        out.push('\n');
    };
    line("model", format!("{file}, {}, digest {}", bytes(model.bytes), model.digest));
    let learner = head.training.get("learner").map_or("?", String::as_str);
    line("made by", format!("{}: {}, learner {learner}", head.made_by, head.kind));
    line("labels", format!("{}: {}", grouped(meta.labels.len() as u64), meta.labels.join(" ")));
    line(
        "scheme",
        match (&meta.file_scheme, &meta.model_scheme) {
            (Some(file), Some(model)) if file != model => format!("{model}, in the training data {file}"),
            (Some(scheme), _) => scheme.clone(),
            _ => "none: labels are no chunks".to_owned(),
        },
    );
    let edges = match model.edge_attributes {
        0 => String::new(),
        n => format!(" of tokens, {} of label pairs", grouped(n)),
    };
    line("attributes", format!("{}{edges}", grouped(model.attributes)));
    let all = grouped(model.nonzero);
    line(
        "weights",
        format!("{all} that are not zero, {}; {} places", model.precision, grouped(model.places)),
    );
    let columns = counted(meta.columns as u64, "column");
    line("data", format!("{}, {columns}, the label in column {}", meta.format, meta.label_column));
    let (sentences, tokens) =
        (counted(head.examples as u64, "sentence"), counted(meta.tokens as u64, "token"));
    line("trained on", format!("{sentences}, {tokens}, digest {}", head.data_digest));
    line("passes", format!("{}, the weights are from pass {}: {}", head.passes, head.best_pass, head.ended));
    if !head.scores.is_empty() {
        let scores: Vec<String> = head.scores.iter().map(|(name, x)| format!("{name} {x:.2}")).collect();
        line("dev scores", scores.join(", "));
    }
    let training = head.training.iter().filter(|(name, _)| *name != "learner");
    let training: Vec<String> = training.map(|(name, value)| format!("{name} {value}")).collect();
    line("options", training.join(", "));
    let pairs = if meta.transitions { " and label pairs" } else { "" };
    let count = counted(model.features.len() as u64, "template");
    line("features", format!("{count}{pairs}: {}", model.features.join(" ")));
    let mut table = Table::new().names("section", 15).numbers("bytes", 12);
    for section in &model.sections {
        table.row([section.name.clone(), grouped(section.bytes)]);
    }
    format!("{out}\n{}", table.text())
}

/// What speaks for a label, then what speaks against it.
fn strongest(found: &Strongest) -> String {
    let mut table = Table::new().numbers(&found.label, 10).names("attribute", 0);
    for weight in found.positive.iter().chain(&found.negative) {
        let after = weight.before.as_ref().map_or(String::new(), |label| format!("  after {label}"));
        table.row([format!("{:+.4}", weight.weight), format!("{}{after}", weight.attribute)]);
    }
    table.text()
}

fn pairs(found: &[Transition], most: usize) -> String {
    let mut table = Table::new().numbers("weight", 10).names("label", 10).names("after it", 0);
    for Transition { from, to, weight } in found.iter().take(most) {
        table.row([format!("{weight:+.4}"), from.clone(), to.clone()]);
    }
    let more = found.len().saturating_sub(most);
    let more = if more > 0 { format!("\n {} more\n", grouped(more as u64)) } else { String::new() };
    format!("{}{more}", table.text())
}

/// Rows are labels, columns the labels behind them.
fn matrix(labels: &[String], found: &[Transition]) -> String {
    let mut table = Table::new().names("", 0);
    for label in labels {
        table = table.numbers(&format!(" {label}"), 9);
    }
    for from in labels {
        let weight = |to: &String| found.iter().find(|t| t.from == *from && t.to == *to).map(|t| t.weight);
        let cells = labels.iter().map(|to| weight(to).map_or("-".to_owned(), |w| format!("{w:+.4}")));
        table.row(std::iter::once(from.clone()).chain(cells));
    }
    table.text()
}

/// What speaks for each label, and the second best labelling.
fn why(found: &Why) -> String {
    let mut out = String::new();
    let words: Vec<&str> = found.tokens.iter().map(|t| t.word.as_str()).collect();
    let widest = words.iter().map(|w| w.chars().count()).max().unwrap_or(0).min(24);
    for token in &found.tokens {
        let (word, label, p) = (&token.word, &token.label, token.probability);
        out.push_str(&format!(" {word:<widest$}  {label} {p:.4}"));
        if let Some(rival) = &token.rival {
            out.push_str(&format!(", not {} {:.4}: ", rival.label, rival.probability));
            let rules = if rival.forbidden { ", and the rules forbid it beside these labels" } else { "" };
            out.push_str(&format!("{:+.4}{rules}\n", rival.difference));
            contributions(&rival.contributions, None, &mut out);
        } else {
            out.push('\n');
        }
    }
    out.push_str(&format!("\n All labels together have probability {:.4}.\n", found.probability));
    if let Some(second) = &found.second {
        let changes: Vec<String> = second
            .differs
            .iter()
            .map(|&t| format!("{} {}, not {}", words[t], second.labels[t], found.tokens[t].label))
            .collect();
        let text = format!(" The second best has {:.4}: {}.", second.probability, changes.join("; "));
        out.push_str(&format!("{}\n", wrapped(&text, 1)));
        out.push_str(&format!(" The best is ahead by {:+.4}:\n", second.difference));
        contributions(&second.contributions, Some(&words), &mut out);
    }
    out
}

/// Lines of a sum; with `words`, the token of each is named.
fn contributions(all: &[Contribution], words: Option<&[&str]>, out: &mut String) {
    let (shown, rest) = all.split_at(all.len().min(STRONGEST));
    for Contribution { token, attribute, pairs, adds } in shown {
        let pairs = pairs.as_ref().map(|[[a, b], [c, d]]| format!("{a} {b}, not {c} {d}"));
        let what: Vec<String> = attribute.iter().cloned().chain(pairs).collect();
        let at = words.map_or(String::new(), |words| format!("   at {}", words[*token]));
        out.push_str(&format!("   {adds:>+9.4}  {}{at}\n", what.join("  ")));
    }
    if !rest.is_empty() {
        let sum: f64 = rest.iter().map(|c| c.adds).sum();
        out.push_str(&format!("   {sum:>+9.4}  {} more\n", grouped(rest.len() as u64)));
    }
}
