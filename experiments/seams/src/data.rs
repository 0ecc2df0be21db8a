//! The data: CoNLL-2000 with its template from the folder that the variable `SEQOIA_DATA` names, or
//! a generated corpus (figures then say little about real text).

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use seqoia::data::{generate, open};
use seqoia::{DataOptions, PairChoice, Scheme, TrainingSet};
use seqoia_report::grouped;

/// The variable that names the folder of corpora.
pub(crate) const VARIABLE: &str = "SEQOIA_DATA";
/// Sentences where no corpus is at hand.
const GENERATED: usize = 8000;

/// The folder of corpora, if there is one.
pub(crate) fn corpora() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// What is learned from, and its title.
///
/// # Errors
/// Data that cannot be read.
pub(crate) fn read() -> Result<(String, TrainingSet)> {
    let (name, set) = match corpora() {
        Some(folder) => ("CoNLL-2000", conll2000(&folder.join("conll2000"))?),
        None => ("generated corpus", generated(GENERATED)?),
    };
    let title = format!(
        "{name} ({} tokens, {} labels, {} weights)",
        grouped(set.counts.tokens as u64),
        set.space.labels(),
        grouped(set.space.existing() as u64)
    );
    Ok((title, set))
}

fn conll2000(folder: &Path) -> Result<TrainingSet> {
    let place = |name: &str| {
        let path = folder.join(name);
        let help = format!("{}: cannot be read; {VARIABLE} must name the folder above", path.display());
        (path, help)
    };
    let (path, help) = place("template.crfpp");
    let mut template = String::new();
    open::open(&path).with_context(|| help.clone())?.read_to_string(&mut template).context(help)?;
    let mut options = DataOptions::default();
    options.features.templates.push(("template.crfpp".to_owned(), template));
    let (path, help) = place("train.txt.gz");
    Ok(TrainingSet::read(open::open(&path).context(help)?, &options)?)
}

/// A corpus that Seqoia makes, of so many sentences.
///
/// # Errors
/// None.
pub(crate) fn generated(sentences: usize) -> Result<TrainingSet> {
    // As other tools lay out weights, not as the recipe does.
    let (pairs, scheme) = (Some(PairChoice::Observed), Some(Scheme::Iob2));
    let mut options = DataOptions { pairs, scheme, ..DataOptions::default() };
    options.features.sets.push("chunking".to_owned());
    let text = generate::columns(1, sentences);
    Ok(TrainingSet::read(seqoia::input_from_text("generated", &text)?, &options)?)
}
