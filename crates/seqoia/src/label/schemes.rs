//! The scheme of the labels of a training file, the one to train in, and the names that labels may have.

use std::collections::HashMap;

use seqoia_data::features::{Indexer, Labels, Memory, OR};
use seqoia_data::format::{self, Kind};
use seqoia_data::scheme::{self, Recogniser};

use super::options::{DataOptions, Schemes};
use crate::error::{BadOption, Result};

/// Recognises the scheme of the labels, and writes them in the one to train in.
pub(crate) fn recognise(
    indexer: &mut Indexer,
    kind: Kind,
    file: &str,
    options: &DataOptions,
) -> Result<Schemes> {
    let unknown = |label: &&str| options.partial.as_deref() == Some(*label);
    let mut schemes = Schemes { file: Some(format::WORDS_SCHEME), model: None };
    if let Some(whole) = options.part_of {
        schemes.file = whole.file;
    } else if kind != Kind::Words {
        let (mut recogniser, mut none_known) = (Recogniser::default(), true);
        indexer.for_each_gold(|labels| {
            none_known &= labels.iter().all(unknown);
            if !labels.iter().any(unknown) {
                recogniser.sentence(labels);
            }
        });
        if none_known {
            let what = "no label is known: there is nothing to learn from";
            return Err(seqoia_data::Error::new(file, what).into());
        }
        schemes.file = recogniser.finish();
    }
    schemes.model = options.scheme_for(schemes.file);
    let change = match (schemes.file, schemes.model) {
        (Some(from), Some(to)) if options.partial.is_some() && !scheme::is_local(from, to) => {
            let what = format!(
                "what a label of {0} becomes there depends on labels beside it, which with `partial` may not be \
                 known; train in {0}, or convert the file before labels are taken out",
                from.name()
            );
            return Err(BadOption::of("scheme", to.name(), what).into());
        }
        (Some(from), Some(to)) => Some((from, to)).filter(|(from, to)| from != to),
        (None, Some(wanted)) => {
            let whole =
                if options.partial.is_some() { " of sentences that are labelled in full" } else { "" };
            let what = format!("the labels of {file}{whole} are not chunk labels (B-X, I-X, O and the like)");
            return Err(BadOption::of("scheme", wanted.name(), what).into());
        }
        _ => None,
    };
    if change.is_none() && options.partial.is_none() {
        return Ok(schemes);
    }
    let mut met: HashMap<String, String> = HashMap::new(); // what labels of sentences known in part may be
    indexer.relabel(|labels, out| {
        let whole = !labels.iter().any(unknown);
        match change {
            Some((from, to)) if whole => return scheme::convert(from, to, labels, out),
            _ => out.clear(),
        }
        out.extend(labels.iter().map(|label| match change {
            _ if unknown(label) => OR.to_owned(),
            Some((from, to)) => match met.get(*label) {
                Some(may_be) => may_be.clone(),
                None => {
                    let may_be = scheme::possible(from, to, label).join(OR);
                    met.entry((*label).to_owned()).or_insert(may_be).clone()
                }
            },
            None => (*label).to_owned(),
        }));
    });
    Ok(schemes)
}

/// Whether files and messages can hold a label.
pub(crate) fn can_be_label(label: &str) -> bool {
    !label.is_empty() && !label.contains(['\n', '\r'])
}

/// No label is one that no model may have.
///
/// # Errors
/// The first token with such a label.
pub(crate) fn check_names(labels: &Labels, corpus: &Memory, lines: &[u32], file: &str) -> Result<()> {
    let Some((y, name)) = labels.iter().enumerate().find(|(_, name)| !can_be_label(name)) else {
        return Ok(());
    };
    let token = corpus.labels.iter().position(|label| usize::from(*label) == y);
    let line = token.and_then(|token| lines.get(token)).copied().map_or(0, u64::from);
    let what = format!("the label {name:?} is empty or holds a line end");
    Err(seqoia_data::Error::at(file, line, what).help("a label is a text within a line").into())
}
