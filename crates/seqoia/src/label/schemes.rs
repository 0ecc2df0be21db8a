//! The scheme of the labels of a training file, the one to train in, and the names that labels may have.

use std::collections::HashMap;

use seqoia_data::features::{Convert, Indexer, Labels, Memory, OR};
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
    let mut seen = Recognition::new(kind, options);
    indexer.for_each_gold(|labels| seen.sentence(labels));
    let schemes = seen.finish(kind, file, options)?;
    if let Some(mut convert) = converter(schemes, options) {
        indexer.relabel(|labels, out| convert(labels, out));
    }
    Ok(schemes)
}

/// Looks at the labels of sentences, one after another.
pub(crate) struct Recognition {
    mark: Option<String>, // of labels that are not known
    wanted: bool,         // the scheme is not known beforehand
    recogniser: Recogniser,
    none_known: bool,
}

impl Recognition {
    pub(crate) fn new(kind: Kind, options: &DataOptions) -> Self {
        let wanted = options.part_of.is_none() && kind != Kind::Words;
        Recognition {
            mark: options.partial.clone(),
            wanted,
            recogniser: Recogniser::default(),
            none_known: true,
        }
    }

    pub(crate) fn sentence(&mut self, labels: &[&str]) {
        if self.wanted {
            let unknown = |label: &&str| self.mark.as_deref() == Some(*label);
            self.none_known &= labels.iter().all(unknown);
            if !labels.iter().any(unknown) {
                self.recogniser.sentence(labels);
            }
        }
    }

    /// The scheme of the file, and that to train in.
    pub(crate) fn finish(self, kind: Kind, file: &str, options: &DataOptions) -> Result<Schemes> {
        let mut schemes = Schemes { file: Some(format::WORDS_SCHEME), model: None };
        if let Some(whole) = options.part_of {
            schemes.file = whole.file;
        } else if kind != Kind::Words {
            if self.none_known {
                let what = "no label is known: there is nothing to learn from";
                return Err(seqoia_data::Error::new(file, what).into());
            }
            schemes.file = self.recogniser.finish();
        }
        schemes.model = options.scheme_for(schemes.file);
        match (schemes.file, schemes.model) {
            (Some(from), Some(to)) if options.partial.is_some() && !scheme::is_local(from, to) => {
                let what = format!(
                    "what a label of {0} becomes there depends on labels beside it, which with `partial` may not be \
                     known; train in {0}, or convert the file before labels are taken out",
                    from.name()
                );
                Err(BadOption::of("scheme", to.name(), what).into())
            }
            (None, Some(wanted)) => {
                let whole =
                    if options.partial.is_some() { " of sentences that are labelled in full" } else { "" };
                let what =
                    format!("the labels of {file}{whole} are not chunk labels (B-X, I-X, O and the like)");
                Err(BadOption::of("scheme", wanted.name(), what).into())
            }
            _ => Ok(schemes),
        }
    }
}

/// Writes labels of the file as they are learned, if that is another way.
pub(crate) fn converter(schemes: Schemes, options: &DataOptions) -> Option<Convert> {
    let change = schemes.file.zip(schemes.model).filter(|(from, to)| from != to);
    if change.is_none() && options.partial.is_none() {
        return None;
    }
    let mark = options.partial.clone();
    let mut met: HashMap<String, String> = HashMap::new(); // what labels of sentences known in part may be
    Some(Box::new(move |labels, out| {
        let unknown = |label: &&str| mark.as_deref() == Some(*label);
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
    }))
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
