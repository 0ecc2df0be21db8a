//! What the labels of a training file are taken for: their scheme, the rules they keep to, what those that
//! are known in part may be, how much each counts and what it costs to miss it.

use std::collections::HashMap;

use seqoia_data::features::{Indexer, Labels, Memory, OR};
use seqoia_data::format::{self, Kind};
use seqoia_data::scheme::{self, Recogniser, Scheme};
use seqoia_structures::chain::{Known, Limits, Rules, Sets};

use crate::error::{Error, Result};
use crate::options::{DataOptions, RuleChoice};

/// How labels of the file and labels of the model go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schemes {
    /// The file's; none if its labels are no chunks.
    pub file: Option<Scheme>,
    /// The one trained in.
    pub model: Option<Scheme>,
}

impl Schemes {
    /// The scheme of the model and that of the file, if they differ.
    pub(crate) fn change(self) -> Option<(Scheme, Scheme)> {
        self.model.zip(self.file).filter(|(model, file)| model != file)
    }
}

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

/// Recognises the scheme of the labels, and writes them in the one to train in.
pub(crate) fn schemes(
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
            return Err(Error::Mismatch(format!("{file} has no label that is known: nothing to learn from")));
        }
        schemes.file = recogniser.finish();
    }
    schemes.model = options.scheme.or(schemes.file);
    let change = match (schemes.file, schemes.model) {
        (Some(from), Some(to)) if options.partial.is_some() && !scheme::is_local(from, to) => {
            return Err(Error::Option(format!(
                "--partial with --scheme {}: what a label of {} becomes there depends on labels beside it, which \
                 may not be known; train in {}, or convert the file before labels are taken out",
                to.name(),
                from.name(),
                from.name()
            )));
        }
        (Some(from), Some(to)) => Some((from, to)).filter(|(from, to)| from != to),
        (None, Some(wanted)) => {
            let whole =
                if options.partial.is_some() { " of sentences that are labelled in full" } else { "" };
            return Err(Error::Option(format!(
                "--scheme {}: the labels of {file}{whole} are no chunk labels (B-X, I-X, O and the like)",
                wanted.name()
            )));
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
                let are = other.map_or("no chunk labels".to_owned(), |other| other.name().to_owned());
                return Err(Error::Option(format!(
                    "--rules {0}: the labels of {file} are {are}; train in {0} with --scheme {0}, or give their \
                     own rules",
                    wanted.name()
                )));
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
        let limits = Limits { rules: Some(rules), known, steps: None };
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
            let what = format!("--rules allow no labelling of this sentence of {length} tokens");
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

/// A number for each label, 1 if none is given; empty if nothing is. A name is a label or a chunk type.
pub(crate) fn per_label(
    given: &[(String, f64)],
    labels: &Labels,
    flag: &str,
    file: &str,
    absent: bool,
) -> Result<Vec<f64>> {
    if given.is_empty() {
        return Ok(vec![]);
    }
    let mut table = vec![1.0; labels.len()];
    for (name, number) in given {
        let is = |label: &str| label == name || label.split_once('-').is_some_and(|(_, kind)| kind == name);
        let mut found = false;
        for (label, place) in labels.iter().zip(&mut table).filter(|(label, _)| is(label)) {
            // A label by its own name comes before its type.
            if label == name || !given.iter().any(|(other, _)| other == label) {
                *place = *number;
            }
            found = true;
        }
        if !found && !absent {
            let near = seqoia_core::param::nearest(name, labels.iter());
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(Error::Option(format!(
                "{flag} {name}: {file} has no such label or chunk type{near}"
            )));
        }
    }
    Ok(table)
}

/// Multiplies the weight of each sentence with the mean of its labels'; what is known in part counts 1.
pub(crate) fn weigh(corpus: &mut Memory, weights: &[f64]) {
    if weights.is_empty() {
        return;
    }
    corpus.weights.resize(corpus.ends.len(), 1.0);
    let mut from = 0;
    for (weight, &end) in corpus.weights.iter_mut().zip(&corpus.ends) {
        let gold = &corpus.labels[from..end as usize];
        let of = |y: &u16| weights.get(usize::from(*y)).copied().unwrap_or(1.0);
        *weight *= gold.iter().map(of).sum::<f64>() / seqoia_core::cast::real(gold.len().max(1));
        from = end as usize;
    }
}

/// What the user asked for about labels, as text.
pub(crate) fn terms(options: &DataOptions, rules: Option<&Rules>) -> Vec<(&'static str, String)> {
    let mut terms = vec![];
    if let Some(rules) = rules {
        let bytes: Vec<u8> = rules.bits().iter().flat_map(|bits| bits.to_le_bytes()).collect();
        terms.push((
            "rules",
            match options.rules {
                Some(RuleChoice::Scheme(scheme)) => scheme.name().to_owned(),
                _ => format!("table {:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)),
            },
        ));
    }
    terms.extend(options.partial.clone().map(|mark| ("partial", mark)));
    for (name, given) in [("label-weights", &options.label_weights), ("label-costs", &options.label_costs)] {
        if !given.is_empty() {
            let all: Vec<String> = given.iter().map(|(label, x)| format!("{label}={x}")).collect();
            terms.push((name, all.join(" ")));
        }
    }
    terms
}
