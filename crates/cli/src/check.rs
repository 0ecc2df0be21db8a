//! `seqoia check`.

use std::path::Path;
use std::process::ExitCode;

use seqoia::LabelColumn;
use seqoia::tools::{CheckOptions, Checked, Finding, Level, check};
use seqoia_report::{Table, counted, grouped, wrapped};
use serde_json::json;

use crate::flagged::flagged;
use crate::flags::{CheckArgs, open_as};
use crate::inputs::scheme;
use crate::{screen, targets};

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut options = CheckOptions { format: args.format, ..CheckOptions::default() };
    options.scheme = args.scheme.as_deref().map(|name| scheme("--scheme", name)).transpose()?;
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label)?;
    }
    let data = args.data.as_deref().unwrap_or(Path::new("-"));
    let dev = args.dev.iter().map(|file| ("--dev", file.as_path()));
    targets::one_reader(&dev.chain([("the data", data)]).collect::<Vec<_>>())?;
    let train = open_as(args.data.as_deref(), args.format)?;
    let dev = args.dev.as_deref().map(|file| open_as(Some(file), args.format)).transpose()?;
    let mut checked = check(train, dev, &options)?;
    for Finding { what, help, .. } in &mut checked.findings {
        (*what, *help) = (flagged(what), flagged(help));
    }
    let (errors, warnings) = (checked.count(Level::Error), checked.count(Level::Warning));
    if args.json {
        let mut record = serde_json::to_value(&checked)?;
        record["errors"] = json!(errors);
        record["warnings"] = json!(warnings);
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::shown(&text(&checked, errors, warnings))?;
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
