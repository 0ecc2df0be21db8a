//! Scores predictions: a column file whose last two columns are gold and prediction, or one file
//! against another, token by token, for formats whose predictions replace a column. `systems`
//! compares two such files, `segmented` scores texts that are cut into words, `words` reads which
//! words training has seen.

mod segmented;
mod systems;
mod words;

pub use segmented::segmentation;
pub use systems::{Comparison, Trials, systems};
pub use words::{words_of_data, words_of_text};

use std::io::Read;

use seqoia_data::format::{self, Block, Blocks, Kind};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Recogniser, Scheme};
use seqoia_eval::{Scored, Sentence, Token, Unit};

use crate::error::{Error, Result, counted};
use crate::options::LabelColumn;

/// The column of the word in CoNLL-U.
const FORM: usize = 1;

/// What was scored.
pub struct Evaluated {
    /// Counts and figures.
    pub scored: Scored,
    /// Whether its labels are chunks; else accuracy is what counts.
    pub unit: Unit,
    /// All tokens with both labels.
    pub sentences: Vec<Sentence>,
}

impl Evaluated {
    fn new(sentences: Vec<Sentence>, unit: Unit) -> Self {
        Evaluated { scored: Scored::of(&sentences, unit), unit, sentences }
    }
}

/// All of an input, unpacked, and its name.
///
/// # Errors
/// An input that cannot be read to its end.
pub fn text(mut input: Input) -> Result<(String, Vec<u8>)> {
    let mut text = vec![];
    input.read_to_end(&mut text).map_err(|e| seqoia_data::Error::from_io(&input.name, &e))?;
    Ok((input.name, text))
}

/// Scores the last two columns of a text, as conlleval reads it. Chunk labels of schemes that
/// conlleval does not know (IOBES, BMES, BIE) are converted first, unless `raw`.
///
/// # Errors
/// A text that has no such columns.
pub fn last_two(name: &str, text: &[u8], raw: bool) -> Result<Evaluated> {
    let options = seqoia_eval::Options { raw, ..seqoia_eval::Options::default() };
    let mut sentences = seqoia_eval::read(text, name, &options)?;
    if raw {
        return Ok(Evaluated::new(sentences, Unit::Raw));
    }
    let numbers = |label: fn(&Token) -> &str| {
        sentences.iter().flat_map(|s| &s.tokens).all(|token| label(token).parse::<f64>().is_ok())
    };
    if numbers(|token| &token.found) && !numbers(|token| &token.gold) {
        let error = seqoia_data::Error::at(name, 1, "the last column holds numbers, not labels");
        return Err(error
            .help("label without --marginals: the last two columns are gold and prediction")
            .into());
    }
    let scheme = recognise(&sentences, |token| &token.gold);
    if let Some(scheme @ (Scheme::Iobes | Scheme::Bmes | Scheme::Bie)) = scheme {
        convert(&mut sentences, scheme, scheme);
    }
    Ok(Evaluated::new(sentences, if scheme.is_some() { Unit::Chunks } else { Unit::Tokens }))
}

/// The tokens of a file with its labels as the gold ones.
struct Labelled {
    sentences: Vec<Sentence>,
    columns: usize,
}

/// Reads the labels of a file. If `gold` has one column fewer, this is a column file to which
/// predictions were added: they are the last column, wherever the gold label is.
fn labels(
    input: Input,
    kind: Option<format::Kind>,
    label: &LabelColumn,
    gold: Option<usize>,
) -> Result<Labelled> {
    let file = input.name.clone();
    let (mut blocks, mut block) = (Blocks::new(input), Block::default());
    let format = format::first(&mut blocks, &mut block, kind)?;
    let columns = format.columns();
    let added = format.kind() == Kind::Columns && gold.is_some_and(|gold| gold + 1 == columns);
    let label = if added { &LabelColumn::Last } else { label };
    let column = label.resolve(&file, &*format)?;
    let word = word_column(format.kind());
    let mut sentences = vec![];
    loop {
        format.parse(&file, &mut block)?;
        for s in block.sentences() {
            let token = |i| Token {
                line: block.line(i),
                word: block.field(i, word).to_owned(),
                gold: block.field(i, column).to_owned(),
                found: String::new(),
            };
            sentences.push(Sentence { tokens: s.tokens.map(token).collect(), converted: vec![] });
        }
        if !blocks.fill(&mut block)? {
            return Ok(Labelled { sentences, columns });
        }
    }
}

/// Where the words of a file are.
fn word_column(kind: Kind) -> usize {
    if kind == Kind::Conllu { FORM } else { 0 }
}

/// Scores `found` against `gold`, both in the format `kind` if it is not to be recognised: accuracy, and
/// chunks if the labels are chunk labels. Lines are those of `found`.
///
/// # Errors
/// Files that cannot be read or do not have the same sentences.
pub fn compare(gold: Input, found: Input, kind: Option<Kind>, label: &LabelColumn) -> Result<Evaluated> {
    let names = [gold.name.clone(), found.name.clone()];
    let gold = labels(gold, kind, label, None)?;
    let mut found = labels(found, kind, label, Some(gold.columns))?;
    same_tokens([&names[0], &names[1]], &gold.sentences, &found.sentences)?;
    let schemes = [&gold, &found].map(|side| recognise(&side.sentences, |token| &token.gold));
    let golds = gold.sentences.into_iter().flat_map(|s| s.tokens);
    for (token, gold) in found.sentences.iter_mut().flat_map(|s| &mut s.tokens).zip(golds) {
        token.found = std::mem::replace(&mut token.gold, gold.gold);
        token.word = gold.word;
    }
    let mut sentences = found.sentences;
    let [Some(from), Some(to)] = schemes else { return Ok(Evaluated::new(sentences, Unit::Tokens)) };
    convert(&mut sentences, from, to);
    Ok(Evaluated::new(sentences, Unit::Chunks))
}

/// Refuses files that do not have as many sentences and tokens; names and sentences of both.
fn same_tokens(names: [&str; 2], first: &[Sentence], second: &[Sentence]) -> Result<()> {
    let [first_name, second_name] = names;
    if first.len() != second.len() {
        return Err(Error::Mismatch(format!(
            "{second_name} has {}, {first_name} has {}",
            counted(second.len(), "sentence"),
            first.len()
        )));
    }
    let line = |sentence: &Sentence| sentence.tokens.first().map_or(1, |token| token.line);
    match first.iter().zip(second).find(|(a, b)| a.tokens.len() != b.tokens.len()) {
        None => Ok(()),
        Some((a, b)) => Err(Error::Mismatch(format!(
            "{second_name}:{}: this sentence has {}, that of {first_name}:{} has {}",
            line(b),
            counted(b.tokens.len(), "token"),
            line(a),
            a.tokens.len()
        ))),
    }
}

fn recognise(sentences: &[Sentence], label: impl Fn(&Token) -> &str) -> Option<Scheme> {
    let mut recogniser = Recogniser::default();
    for sentence in sentences {
        let labels: Vec<&str> = sentence.tokens.iter().map(&label).collect();
        recogniser.sentence(&labels);
    }
    recogniser.finish()
}

/// Notes the labels in IOB2, which the scorer knows in full.
fn convert(sentences: &mut [Sentence], gold: Scheme, found: Scheme) {
    let (mut a, mut b) = (vec![], vec![]);
    for sentence in sentences {
        let golds: Vec<&str> = sentence.tokens.iter().map(|token| token.gold.as_str()).collect();
        let founds: Vec<&str> = sentence.tokens.iter().map(|token| token.found.as_str()).collect();
        scheme::convert(gold, Scheme::Iob2, &golds, &mut a);
        scheme::convert(found, Scheme::Iob2, &founds, &mut b);
        sentence.converted = a.drain(..).zip(b.drain(..)).map(<[String; 2]>::from).collect();
    }
}
