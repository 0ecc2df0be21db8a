//! Small files and names that options stand for: templates, patterns, lists, rules, schemes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqoia::data::features::{Clusters, Lexica, Names, RawText, Thesaurus, sets};
use seqoia::data::rules::RuleTable;
use seqoia::data::scheme::Scheme;
use seqoia::{Error, FeatureChoice, RuleChoice};

use crate::flags::{LabelArgs, TemplateArgs, open, refused};
use crate::habits;

/// A small text file, whole, plain or compressed.
fn read_text(path: &Path) -> anyhow::Result<String> {
    Ok(seqoia::data::text::read(open(Some(path))?)?)
}

/// Templates, patterns and sets.
pub(crate) fn features(args: &TemplateArgs) -> anyhow::Result<FeatureChoice> {
    Ok(FeatureChoice {
        templates: texts(&args.template, "-t")?,
        patterns: texts(&args.patterns, "-p")?,
        sets: args.features.clone(),
        ..FeatureChoice::default()
    })
}

fn texts(paths: &[PathBuf], flag: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut texts = vec![];
    for path in paths {
        habits::check_file(flag, path)?;
        texts.push((path.display().to_string(), read_text(path)?));
    }
    Ok(texts)
}

/// Clusters, lists of names, the dictionary, the lexicon and raw text.
pub(crate) fn lexica(args: &LabelArgs) -> anyhow::Result<Arc<Lexica>> {
    let mut lexica = Lexica::default();
    if let Some(path) = &args.clusters {
        let text = read_text(path)?;
        lexica.clusters = Clusters::read(&path.display().to_string(), &text).map_err(Error::from)?;
    }
    if args.templates.features.iter().any(|set| sets::reads_characters(set)) {
        lexica.names = Names::of_characters();
    }
    for path in &args.gazetteer {
        let text = read_text(path)?;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let endings = [".gz", ".xz", ".zst", ".txt"];
        let list = endings.iter().fold(&*file, |name, end| name.strip_suffix(end).unwrap_or(name));
        lexica.names.read(list, &path.display().to_string(), &text).map_err(Error::from)?;
    }
    if let Some(path) = &args.dictionary {
        let text = read_text(path)?;
        lexica.words.read(&path.display().to_string(), &text).map_err(Error::from)?;
    }
    if let Some(path) = &args.lexicon {
        let text = read_text(path)?;
        lexica.thesaurus = Thesaurus::read(&path.display().to_string(), &text).map_err(Error::from)?;
    }
    if !args.raw_text.is_empty() {
        let mut raw = RawText::default();
        for path in &args.raw_text {
            raw.read(&path.display().to_string(), &read_text(path)?).map_err(Error::from)?;
        }
        lexica.varieties = raw.count().map_err(Error::from)?;
    }
    Ok(Arc::new(lexica))
}

/// A label scheme by name.
pub(crate) fn scheme(flag: &str, name: &str) -> anyhow::Result<Scheme> {
    let names = Scheme::ALL.map(Scheme::name).join(", ");
    Scheme::parse(name).ok_or_else(|| refused(format!("{flag} {name}: there are {names}")))
}

/// Rules by the name of a scheme, or a file of them.
pub(crate) fn rules(name: &str) -> anyhow::Result<RuleChoice> {
    if let Some(scheme) = Scheme::parse(name) {
        return Ok(RuleChoice::Scheme(scheme));
    }
    let path = Path::new(name);
    if !path.exists() {
        let names = Scheme::ALL.map(Scheme::name).join(", ");
        let what = format!("--rules {name}: there is no such file; schemes are bio, {names}");
        return Err(refused(what));
    }
    Ok(RuleChoice::Table(RuleTable::parse(name, &read_text(path)?).map_err(Error::from)?))
}

/// Labels with numbers: `LABEL=X`.
pub(crate) fn numbers_of(flag: &str, given: &[String]) -> anyhow::Result<Vec<(String, f64)>> {
    let read = |text: &String| {
        let expected = || refused(format!("{flag} {text}: expected LABEL=X, such as B-PER=2"));
        let (label, x) = text.rsplit_once('=').ok_or_else(expected)?;
        Ok((label.to_owned(), number(flag, x)?))
    };
    given.iter().map(read).collect()
}

/// A number from 0.
pub(crate) fn number(flag: &str, text: &str) -> anyhow::Result<f64> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err(refused(format!("{flag} {text}: expected a number from 0"))),
    }
}
