//! What a file to be labelled has and its model has never seen: no word of it, no label in the column of labels.
//! A row is labelled all the same, and mostly wrong, so it is said what was found where. Only the first tokens are
//! looked at, and they only until enough of them are known.

use std::collections::HashSet;

use seqoia_data::features::{Function, Source, UNKNOWN};
use seqoia_data::format::{Block, Format, Kind, Place};
use seqoia_data::scheme;

use super::Labeller;
use super::columns::{column_name, label_column, place};
use super::suspects::{NO_HEADER, is_header};
use crate::error::{Result, counted};

/// Tokens that are looked at.
const SAMPLE: usize = 2000;
/// So many words of which none is known are no chance.
const FEW: usize = 5;
/// One word in so many is known by chance.
const CHANCE: usize = 50;
/// Values that a warning names.
const NAMED: usize = 3;

/// All labels that a file may have if its labels are those of a model.
fn labels(labeller: &Labeller) -> HashSet<String> {
    let names = labeller.meta().labels.iter();
    match labeller.schemes().change() {
        Some((model, file)) => names.flat_map(|label| scheme::possible(model, file, label)).collect(),
        None => names.cloned().collect(),
    }
}

/// The first block of a file: what is doubtful about it.
///
/// # Errors
/// A column file that starts with a row of names.
pub(super) fn check(
    labeller: &Labeller,
    file: &str,
    format: &dyn Format,
    block: &Block,
) -> Result<Vec<String>> {
    let label = label_column(labeller, format);
    let has_labels = format.label() != Place::Missing && label < format.columns();
    let own = matches!(format.kind(), Kind::Words | Kind::Tagged); // what a label is, says the format
    let mut doubts = vec![];
    if has_labels && !own {
        let labels = labels(labeller);
        let first = block.field(0, label);
        if format.kind() == Kind::Columns && is_header(first) && !labels.contains(first) {
            let what =
                format!("column {label} of the first row has '{first}' for a label: is this a header?");
            return Err(seqoia_data::Error::at(file, block.line(0), what).help(NO_HEADER).into());
        }
        doubts.extend(strange_labels(&labels, &column_name(format.kind(), label), block, label));
    }
    doubts.extend(strange_words(labeller, format, block)?);
    Ok(doubts.into_iter().map(|doubt| format!("{file}: {doubt}")).collect())
}

/// None of the labels that the file has is one of the model. A mark that stands for any label is no doubt.
fn strange_labels(labels: &HashSet<String>, column: &str, block: &Block, label: usize) -> Option<String> {
    let tokens = block.tokens().len().min(SAMPLE);
    let mut strange: Vec<&str> = vec![];
    for i in 0..tokens {
        match block.field(i, label) {
            known if labels.contains(known) => return None,
            other if strange.len() < NAMED && !strange.contains(&other) => strange.push(other),
            _ => (),
        }
    }
    let mark = strange.len() < 2 && (tokens > 1 || !strange.iter().any(|s| s.contains(char::is_alphabetic)));
    (!mark).then(|| {
        format!(
            "{column} has {}, and no label of the model, whose labels stand there in the training data; are columns \
             swapped, or is a word taken for a label?",
            strange.join(" ")
        )
    })
}

/// None of the words is known, though the model reads them as they are.
fn strange_words(labeller: &Labeller, format: &dyn Format, block: &Block) -> Result<Option<String>> {
    let meta = labeller.meta();
    let Some(word) = labeller.kind().word(meta.columns, Some(meta.label_column)) else { return Ok(None) };
    let mut pieces = meta.templates.iter().flat_map(|template| &template.pieces);
    let same =
        |source: &Source| matches!(source, Source::Column(c, Function::Same) if usize::from(*c) == word);
    let reads = pieces.any(|piece| same(&piece.source) && !piece.wide);
    let Some(column) = place(labeller, format, word).filter(|_| reads) else { return Ok(None) };
    let (strings, tokens) = (labeller.frozen()?.strings, block.tokens().len().min(SAMPLE));
    let (mut known, mut strange) = (0, vec![]);
    for i in 0..tokens {
        let word = block.field(i, column);
        if strings.find(word.as_bytes()) != UNKNOWN {
            known += 1;
            if known > tokens / CHANCE {
                return Ok(None);
            }
        } else if strange.len() < NAMED && !strange.contains(&word) {
            strange.push(word);
        }
    }
    if tokens < FEW {
        return Ok(None);
    }
    let place = match format.kind() {
        Kind::Columns | Kind::Conllu | Kind::Conllx => format!(" in {}", column_name(format.kind(), column)),
        _ => String::new(),
    };
    let how_many = if known == 0 { "none" } else { "hardly any" };
    Ok(Some(format!(
        "{how_many} of the first {} is known to the model{place}, such as {}; are words in another column, in quotes or cut otherwise \
         than in the training data?",
        counted(tokens, "word"),
        strange.join(" ")
    )))
}

/// Whether words of tagged text have labels is told by the first line, as far as it can be: `and/or` looks like a
/// word with a label, too. Labels are those of the model, or others that come again and again. The first block is
/// looked at, or its first line if it is not waited for more.
///
/// # Errors
/// Words with a slash that may be either.
pub(super) fn check_slashes(
    labeller: &Labeller,
    file: &str,
    format: &dyn Format,
    start: &str,
    eager: bool,
) -> Result<Option<String>> {
    if format.kind() != Kind::Tagged {
        return Ok(None);
    }
    let labelled = format.label() != Place::Missing;
    let lines = (1..).zip(start.lines()).filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(u64, &str)> = lines.take(if eager || !labelled { 1 } else { usize::MAX }).collect();
    let words: Vec<&str> = lines.iter().flat_map(|(_, line)| line.split_whitespace()).collect();
    let tails: Vec<&str> = words.iter().filter_map(|word| tail(word)).collect();
    if !labelled {
        let bare = words.iter().find(|word| tail(word).is_none());
        let slashed = words.iter().find(|word| tail(word).is_some());
        let most = bare.zip(slashed).filter(|_| 2 * tails.len() >= words.len());
        return Ok(most.map(|(bare, word)| {
            format!("{file}: '{bare}' in the first line has no label, so no word has one: {word} is a word")
        }));
    }
    let (labels, different) = (labels(labeller), tails.iter().collect::<HashSet<_>>().len());
    if tails.iter().any(|tail| labels.contains(*tail)) || words.len() >= 4 && 2 * different <= words.len() {
        return Ok(None);
    }
    let (line, word) = (lines.first().map_or(1, |first| first.0), words.first().copied().unwrap_or_default());
    let what = format!(
        "'{word}' may be a word, or a word with a label: nothing that stands behind a slash is a label of the model"
    );
    let help = "words have no labels if one in the first line has no slash; or give the text as columns, one word per \
                line";
    Err(seqoia_data::Error::at(file, line, what).help(help).into())
}

/// What stands behind the last slash of a word.
fn tail(word: &str) -> Option<&str> {
    word.rsplit_once('/').filter(|(word, tail)| !word.is_empty() && !tail.is_empty()).map(|(_, tail)| tail)
}

/// Words of tagged text that are not like the first ones. All of them are counted: with labels, what stands behind
/// a slash is replaced.
pub(super) struct Slashes {
    labels: HashSet<String>,
    labelled: bool,
}

/// Such words.
#[derive(Default)]
pub(super) struct Odd {
    count: u64,
    word: String,
}

impl Slashes {
    /// For a file of tagged text; none for others.
    pub(super) fn of(labeller: &Labeller, format: &dyn Format) -> Option<Slashes> {
        let labelled = format.label() != Place::Missing;
        (format.kind() == Kind::Tagged).then(|| Slashes { labels: labels(labeller), labelled })
    }

    /// Those of a block.
    pub(super) fn count(&self, block: &Block) -> Odd {
        let mut odd = Odd::default();
        for (i, token) in block.tokens().iter().enumerate() {
            let is_odd = match self.labelled {
                true => !self.labels.contains(block.field(i, 1)),
                false => tail(block.field(i, 0)).is_some_and(|tail| self.labels.contains(tail)),
            };
            if is_odd {
                odd.count += 1;
                if odd.count == 1 {
                    block.slice(token.span).clone_into(&mut odd.word);
                }
            }
        }
        odd
    }

    /// What to say about them.
    pub(super) fn doubt(&self, file: &str, odd: &Odd) -> Option<String> {
        let Odd { count, word } = odd;
        let (words, has) = if *count == 1 { ("word", "has") } else { ("words", "have") };
        (*count > 0).then(|| match self.labelled {
            true => format!(
                "{file}: {count} {words} {has} no label of the model behind the slash, such as {word}: it was taken for \
                 the label and replaced"
            ),
            false => format!(
                "{file}: {count} {words} {has} a label of the model behind a slash, such as {word}, which was taken as a \
                 word, since the first line has no labels"
            ),
        })
    }
}

impl Odd {
    /// All of both.
    pub(super) fn join(&mut self, other: Odd) {
        if self.count == 0 {
            self.word = other.word;
        }
        self.count += other.count;
    }
}
