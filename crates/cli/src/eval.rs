//! `seqoia eval`.

use std::io::Read;
use std::process::ExitCode;

use anyhow::Context;
use seqoia::evaluate::{self, Evaluated};
use seqoia::{Error, LabelColumn};
use seqoia_report::score_table;

use crate::flags::{EvalArgs, open};
use crate::screen;

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<ExitCode> {
    let evaluated = match &args.gold {
        Some(gold) => {
            let label = args.label.as_deref().map_or(Ok(LabelColumn::Last), LabelColumn::parse);
            let label = label.map_err(|e| Error::Option(format!("--label: {e}")))?;
            evaluate::compare(open(Some(gold))?, open(args.data.as_deref())?, args.format, &label)?
        }
        None => {
            let mut input = open(args.data.as_deref())?;
            let (name, mut text) = (input.name.clone(), vec![]);
            input.read_to_end(&mut text).with_context(|| format!("{name}: cannot be read"))?;
            if args.conlleval {
                let options = seqoia::eval::Options { raw: args.raw, ..seqoia::eval::Options::default() };
                let scored = seqoia::eval::score(text.as_slice(), &name, &options).map_err(Error::from)?;
                Evaluated { scored, chunks: true }
            } else {
                evaluate::last_two(&name, &text, args.raw)?
            }
        }
    };
    let Evaluated { scored, chunks } = evaluated;
    if args.conlleval {
        screen::result(&scored.spans.conlleval())?;
    } else if args.json {
        let spans = if chunks { serde_json::to_value(&scored.spans)? } else { serde_json::json!({}) };
        let mut record = serde_json::to_value(&scored.accuracy)?;
        if let (Some(to), Some(from)) = (record.as_object_mut(), spans.as_object()) {
            to.extend(from.clone());
            to.entry("accuracy").or_insert_with(|| scored.accuracy.tokens().into());
        }
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::result(&score_table(&scored, chunks))?;
    }
    Ok(ExitCode::SUCCESS)
}
