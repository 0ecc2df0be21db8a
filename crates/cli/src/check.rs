//! `seqoia check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use seqoia::data::format::Kind;
use seqoia::{CheckOptions, Checked, Error, Finding, LabelColumn, Level, check};
use seqoia_report::{Table, counted, grouped, wrapped};
use serde_json::json;

use crate::flags::{formats, open};
use crate::train::scheme;
use crate::{screen, targets};

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia check train.txt.gz --dev dev.txt.gz
  seqoia check --label xpos en-train.conllu --dev en-dev.conllu

The exit code is 1 if there is an error; warnings are for a person to judge.")]
pub(crate) struct CheckArgs {
    /// Training data; - or nothing is standard input
    data: Option<PathBuf>,
    /// Held-out data, to compare with
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Kind>,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Label scheme of the data, if it is not to be recognised: iob1, iob2, iobes, bmes, bie
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<String>,
    /// Figures and findings as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut options = CheckOptions { format: args.format, ..CheckOptions::default() };
    options.scheme = args.scheme.as_deref().map(|name| scheme("--scheme", name)).transpose()?;
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label).map_err(|e| Error::Option(format!("--label: {e}")))?;
    }
    let data = args.data.as_deref().unwrap_or(Path::new("-"));
    let dev = args.dev.iter().map(|file| ("--dev", file.as_path()));
    targets::one_reader(&dev.chain([("the data", data)]).collect::<Vec<_>>())?;
    let train = open(args.data.as_deref())?;
    let dev = args.dev.as_deref().map(|file| open(Some(file))).transpose()?;
    let checked = check(train, dev, &options)?;
    let (errors, warnings) = (checked.count(Level::Error), checked.count(Level::Warning));
    if args.json {
        let mut record = serde_json::to_value(&checked)?;
        record["errors"] = json!(errors);
        record["warnings"] = json!(warnings);
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::result(&text(&checked, errors, warnings))?;
    }
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text(checked: &Checked, errors: u64, warnings: u64) -> String {
    let mut table = Table::new().names("", 0).numbers("sentences", 10).numbers("tokens", 10);
    table = table.numbers("words", 9).numbers("labels", 8).numbers("columns", 8);
    if checked.files.len() > 1 {
        table = table.numbers("unknown words", 15);
    }
    for file in &checked.files {
        let unknown = file.unknown.map_or(String::new(), |share| format!("{share:.1} %"));
        let words = file.words.map_or("-".to_owned(), grouped);
        let [sentences, tokens, labels, columns] =
            [file.sentences, file.tokens, file.labels, file.columns].map(grouped);
        table.row([file.file.clone(), sentences, tokens, words, labels, columns, unknown]);
    }
    let mut out = table.text();
    out.push('\n');
    for Finding { level, file, line, what, help } in &checked.findings {
        let place = line.map_or(String::new(), |line| format!(":{line}"));
        out.push_str(&wrapped(&format!(" {:<8} {file}{place}: {what}", level.name()), 10));
        out.push('\n');
        if !help.is_empty() {
            out.push_str(&wrapped(&format!("          help: {help}"), 10));
            out.push('\n');
        }
    }
    out.push_str(&format!("\n {}, {}\n", counted(errors, "error"), counted(warnings, "warning")));
    out
}
