//! `seqoia convert`.

use std::io::BufWriter;
use std::process::ExitCode;

use seqoia::{ConvertOptions, Error, LabelColumn, convert};

use crate::flags::{ConvertArgs, open};
use crate::screen;
use crate::train::{scheme, templates};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    let mut options = ConvertOptions { from: args.from, to: args.to, ..ConvertOptions::default() };
    options.scheme = args.scheme.as_deref().map(|name| scheme("--scheme", name)).transpose()?;
    options.scheme_from =
        args.scheme_from.as_deref().map(|name| scheme("--scheme-from", name)).transpose()?;
    if let Some(label) = &args.label {
        options.label = LabelColumn::parse(label).map_err(|e| Error::Option(format!("--label: {e}")))?;
    }
    options.features.templates = templates(&args.template)?;
    options.features.sets.clone_from(&args.features);
    let input = open(args.data.as_deref())?;
    let name = input.name.clone();
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let done = convert(input, &options, &mut out)?;
    drop(out);
    if !args.quiet && !done.left_out.is_empty() {
        let columns: Vec<String> = done.left_out.iter().map(usize::to_string).collect();
        let s = if columns.len() == 1 { "" } else { "s" };
        screen::warning(&format!(
            "{name}: column{s} {} left out, since the format has no place for more than the word and its label",
            columns.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}
