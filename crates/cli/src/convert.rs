//! `seqoia convert`.

use std::io::{BufWriter, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use seqoia::data::format::Kind;
use seqoia::label::{Bits, ShrinkOptions, Trial, model_from_text, shrink, try_out};
use seqoia::tools::{ConvertOptions, convert};
use seqoia::{Error, LabelColumn, Labeller};
use seqoia_report::{Table, bytes, grouped};

use crate::flags::{BitsName, ConvertArgs, open, open_as, refused};
use crate::inputs::{features, scheme};
use crate::{screen, targets};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    if let Some(model) = &args.model {
        return match args.data.as_deref().filter(|data| is_model(data)) {
            Some(data) => smaller(args, data, model),
            None => from_text(args, model),
        };
    }
    let mut options = ConvertOptions { from: args.from, to: args.to, ..ConvertOptions::default() };
    options.scheme = args.scheme.as_deref().map(|name| scheme("--scheme", name)).transpose()?;
    options.scheme_from =
        args.scheme_from.as_deref().map(|name| scheme("--scheme-from", name)).transpose()?;
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label)?;
    }
    options.features = features(&args.templates)?;
    let input = open_as(args.data.as_deref(), args.from)?;
    let name = input.name.clone();
    let mut out = BufWriter::with_capacity(1 << 16, screen::output()?);
    let done = convert(input, &options, &mut out)?;
    drop(out);
    if !args.quiet && !done.left_out.is_empty() {
        let columns: Vec<String> = done.left_out.iter().map(usize::to_string).collect();
        let s = if columns.len() == 1 { "" } else { "s" };
        let place = if args.to == Some(Kind::Words) { "words" } else { "the word and its label" };
        screen::warning(&format!(
            "{name}: column{s} {} left out, since the format has no place for more than {place}",
            columns.join(", ")
        ));
    }
    if !args.quiet && done.apart {
        screen::note(&format!(
            "note: {name} has no -DOCSTART- rows, so it is one document; each line of JSON stands alone, since none has \
             the key document"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file starts as models do.
fn is_model(file: &Path) -> bool {
    let mut start = [0; 6];
    let file = file.metadata().is_ok_and(|m| m.is_file()).then(|| std::fs::File::open(file));
    file.is_some_and(|f| f.is_ok_and(|mut f| f.read_exact(&mut start).is_ok())) && start == *b"SEQOIA"
}

/// A model with fewer weights or fewer bits, and what it lost.
fn smaller(args: &ConvertArgs, from: &Path, to: &Path) -> anyhow::Result<ExitCode> {
    let read: Vec<_> =
        std::iter::once(("the model", from)).chain(args.dev.iter().map(|d| ("--dev", d.as_path()))).collect();
    targets::apart(&[("-m", to)], &read)?;
    let before = Labeller::open(from)?;
    let bits = args.weights.map(|name| match name {
        BitsName::F32 => Bits::F32,
        BitsName::F16 => Bits::F16,
        BitsName::I8 => Bits::I8,
    });
    let bytes = shrink(&before, ShrinkOptions { prune: args.prune.unwrap_or(0.0), bits })?;
    let after = Labeller::from_bytes(&to.display().to_string(), &bytes)?;
    let mut table = Table::new().names("", 8).numbers("size", 10).numbers("stored", 8).numbers("weights", 11);
    let mut trials = vec![];
    if let Some(dev) = &args.dev {
        for model in [&before, &after] {
            let started = Instant::now();
            let trial = try_out(model, open(Some(dev))?)?;
            trials.push((trial, started.elapsed().as_secs_f64()));
        }
        table = table.numbers(trials[0].0.scores[0].name, 10).numbers("tokens/s", 12);
    }
    for (i, (name, model)) in [("before", &before), ("after", &after)].into_iter().enumerate() {
        let size = seqoia_report::bytes(model.bytes() as u64);
        let cells =
            [name.to_owned(), size, model.bits().name().to_owned(), grouped(model.meta().weights as u64)];
        let trial =
            trials.get(i).map(|(t, seconds)| [format!("{:.2}", t.scores[0].value), speed(t, *seconds)]);
        table.row(cells.into_iter().chain(trial.into_iter().flatten()));
    }
    seqoia::write_atomically(to, &bytes).map_err(Error::from)?;
    if !args.quiet {
        screen::shown(&table.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // shown rounded
fn speed(trial: &Trial, seconds: f64) -> String {
    grouped((trial.tokens as f64 / seconds.max(1e-9)) as u64 / 1000 * 1000)
}

/// A model that was written as text.
fn from_text(args: &ConvertArgs, model: &Path) -> anyhow::Result<ExitCode> {
    if args.prune.is_some() || args.weights.is_some() || args.dev.is_some() {
        let what = "--prune, --weights and --dev go with a model, which the data is not";
        return Err(refused(what));
    }
    if let Some(text) = args.data.as_deref().filter(|text| text.as_os_str() != "-") {
        targets::apart(&[("-m", model)], &[("the text", text)])?;
    }
    let made = model_from_text(open(args.data.as_deref())?).map_err(|error| match error {
        Error::Data(error) if error.help.is_empty() => {
            error.help("a model as text is written by: seqoia inspect -m MODEL --text").into()
        }
        other => other,
    })?;
    seqoia::write_atomically(model, &made.bytes).map_err(Error::from)?;
    if !args.quiet {
        let same = if made.unchanged { "the same" } else { "not the same any more" };
        let size = bytes(made.bytes.len() as u64);
        screen::note(&format!("     wrote  {}   {size}, {same} as before it was text", model.display()));
    }
    Ok(ExitCode::SUCCESS)
}
