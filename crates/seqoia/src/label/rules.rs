//! Which labels may follow each other: rules of a scheme or of a table, and the training sentences that break them.

use seqoia_data::features::{Labels, Memory};
use seqoia_data::format::Kind;
use seqoia_data::scheme::Scheme;
use seqoia_structures::chain::{Known, Limits, Rules, Sets};

use super::options::{RuleChoice, Schemes};
use crate::error::{BadOption, Result};

/// Sentences whose gold labels break the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// How many there are.
    pub sentences: usize,
    /// Where the first one does.
    pub line: u64,
    /// What it does there.
    pub what: String,
}

/// The rules for these labels; `absent`: they may name others.
pub(crate) fn rules(
    choice: &RuleChoice,
    labels: &Labels,
    scheme: Option<Scheme>,
    file: &str,
    absent: bool,
) -> Result<Rules> {
    let name = |y: Option<u16>| y.map(|y| labels.name(y));
    match choice {
        RuleChoice::Scheme(wanted) => {
            let other = scheme.filter(|scheme| scheme != wanted);
            if other.is_some() || !(absent || labels.iter().any(|label| wanted.reads(label))) {
                let are = other.map_or("not chunk labels".to_owned(), |other| other.name().to_owned());
                let wanted = wanted.name();
                let what = format!(
                    "the labels of {file} are {are}; train in {wanted} with `scheme {wanted}`, or give their own rules"
                );
                return Err(BadOption::of("rules", wanted, what).into());
            }
            Ok(Rules::new(labels.len(), |before, after| wanted.permits(name(before), name(after))))
        }
        RuleChoice::Table(table) => {
            if !absent {
                table.check(labels.iter())?;
            }
            let (allowed, size) = (table.allowed(labels.iter()), labels.len() + 1);
            let number = |y: Option<u16>| y.map_or(labels.len(), usize::from);
            Ok(Rules::new(labels.len(), |before, after| allowed[number(before) * size + number(after)]))
        }
    }
}

/// The sentences whose gold labels break the rules, whatever they stand for.
pub(crate) fn broken(
    rules: &Rules,
    sets: &Sets,
    corpus: &Memory,
    labels: &Labels,
    lines: &[u32],
) -> Option<Broken> {
    let (mut from, mut first, mut sentences) = (0, None, 0);
    for &end in &corpus.ends {
        let gold = &corpus.labels[from..end as usize];
        let known = Some(Known { labels: gold, sets });
        let limits = Limits { rules: Some(rules), known, ..Limits::default() };
        if !limits.can_be_met(gold.len()) {
            sentences += 1;
            first.get_or_insert_with(|| {
                // Where labels are known in part, the sentence as a whole is to blame.
                let at = rules_broken_at(rules, labels, gold).unwrap_or((0, String::new()));
                (from + at.0, at.1)
            });
        }
        from = end as usize;
    }
    let (token, what) = first?;
    let line = lines.get(token).copied().map_or(0, u64::from);
    Some(Broken { sentences, line, what })
}

/// The rules together with those of the model's scheme, if labels are not written as the model has them: in
/// another scheme, or as words. Labellings that keep to them are the ones that a file can say, each in its own
/// way.
pub(crate) fn well_formed<'a>(
    schemes: Schemes,
    kind: Kind,
    rules: Option<&Rules>,
    labels: usize,
    name: impl Fn(u16) -> &'a str,
) -> Option<Rules> {
    let model = schemes.model.filter(|_| kind == Kind::Words || schemes.change().is_some())?;
    let name = |y: Option<u16>| y.map(&name);
    Some(Rules::new(labels, |before, after| {
        rules.is_none_or(|rules| rules.allows(before, after)) && model.permits(name(before), name(after))
    }))
}

/// Every sentence has some labelling that keeps to the rules, whatever its gold labels do.
///
/// # Errors
/// The first that has none.
pub(crate) fn can_be_met(rules: &Rules, corpus: &Memory, lines: &[u32], file: &str) -> Result<()> {
    let (mut from, mut met) = (0, std::collections::HashSet::new());
    for &end in &corpus.ends {
        let length = end as usize - from;
        if met.insert(length) && !Limits::rules(Some(rules)).can_be_met(length) {
            let line = lines.get(from).copied().map_or(0, u64::from);
            let what = format!("the rules allow no labelling of this sentence of {length} tokens");
            let help = "something must begin it, follow each label, and end it";
            return Err(seqoia_data::Error::at(file, line, what).help(help).into());
        }
        from = end as usize;
    }
    Ok(())
}

/// Position and description of the first step that breaks a rule between labels that are known.
fn rules_broken_at(rules: &Rules, labels: &Labels, gold: &[u16]) -> Option<(usize, String)> {
    if gold.iter().any(|y| usize::from(*y) >= labels.len()) {
        return None;
    }
    let t = rules.broken_at(gold)?;
    let name = |t: usize| gold.get(t).map(|y| labels.name(*y));
    let before = t.checked_sub(1).and_then(name);
    Some(match (before, name(t)) {
        (None, after) => (t, format!("a sentence begins with {}", after.unwrap_or_default())),
        (Some(before), Some(after)) => (t, format!("{after} follows {before}")),
        (Some(before), None) => (t - 1, format!("a sentence ends with {before}")),
    })
}
