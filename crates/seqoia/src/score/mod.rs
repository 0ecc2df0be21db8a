//! Scores predictions: a column file whose last two columns are gold and prediction, or one file
//! against another, token by token, for formats whose predictions replace a column. `systems`
//! compares two such files, `segmented` scores texts that are cut into words, `words` reads which
//! words training has seen.

mod segmented;
mod systems;
mod words;

pub use segmented::segmentation;
pub use systems::{Comparison, Trials, systems, systems_against};
pub use words::{words_of_data, words_of_text};

use std::collections::HashSet;
use std::io::Read;

use seqoia_data::format::{self, Blocks, Guess, Kind, Reader};
use seqoia_data::open::Input;
use seqoia_data::scheme::{Recogniser, Scheme};
use seqoia_eval::{Scored, Sentence, Token, Unit};

use crate::error::{Result, counted};
use crate::label::options::LabelColumn;
use crate::label::scorer::Scorer;

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
    fn new(mut sentences: Vec<Sentence>, schemes: Option<[Scheme; 2]>) -> Self {
        let mut scorer = Scorer::new(schemes);
        for sentence in &mut sentences {
            let labels = sentence.tokens.iter().map(|token| (token.gold.as_str(), token.found.as_str()));
            let (gold, found): (Vec<&str>, Vec<&str>) = labels.unzip();
            scorer.sentence(&gold, &found);
            sentence.converted = scorer.converted();
        }
        let unit = if schemes.is_some() { Unit::Chunks } else { Unit::Tokens };
        Evaluated { scored: scorer.finish(), unit, sentences }
    }

    /// The same with labels that have no prefixes: every token not labelled `O` is a chunk.
    #[must_use]
    pub fn raw(self) -> Self {
        Evaluated::raw_of(self.sentences)
    }

    fn raw_of(mut sentences: Vec<Sentence>) -> Self {
        sentences.iter_mut().for_each(|sentence| sentence.converted.clear());
        Evaluated { scored: Scored::of(&sentences, Unit::Raw), unit: Unit::Raw, sentences }
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

/// Scores the last two columns of a column file, the gold label and the one found, as `predict` writes them.
/// The file is read as training and prediction read it.
///
/// # Errors
/// A text that has no such columns.
pub fn last_two(name: &str, text: &[u8], raw: bool) -> Result<Evaluated> {
    last_two_of(Input::from_bytes(name, text)?, None, raw)
}

/// The same for an input that is in the format `kind`, if that is not to be recognised.
///
/// # Errors
/// An input that has no such columns, or is in a format that holds one labelling only.
pub fn last_two_of(input: Input, kind: Option<Kind>, raw: bool) -> Result<Evaluated> {
    let opened = open(input, kind)?;
    let (kind, columns) = (opened.format().kind(), opened.format().columns());
    if kind != Kind::Columns {
        let what = format!("{} holds one labelling only, and two are compared", kind.name());
        return Err(seqoia_data::Error::new(opened.name(), what).help(give_gold(kind)).into());
    }
    let Some(gold) = columns.checked_sub(2) else {
        let what = "found 1 column; the last two are the gold label and the predicted one";
        let help = "predict adds the predicted label to a file that has the gold label as its last column; \
                    or give the file with the right labels: `gold FILE`";
        return Err(seqoia_data::Error::new(opened.name(), what).help(help).into());
    };
    let (file, guess) = (opened.name().to_owned(), opened.format().guess());
    let word = kind.word(columns - 1, Some(gold));
    let sentences = sentences(opened, word, gold, Some(columns - 1))?;
    if let Some(Guess::Like(kind)) = guess
        && sentences.iter().flat_map(|s| &s.tokens).all(|token| token.gold != token.found)
    {
        let what =
            format!("this looks like {}, which holds one labelling only, and two are compared", kind.name());
        return Err(seqoia_data::Error::new(file, what).help(give_gold(kind)).into());
    }
    refuse_probabilities(&file, &sentences)?;
    refuse_other_columns(&file, &sentences, columns)?;
    if raw {
        return Ok(Evaluated::raw_of(sentences));
    }
    let schemes = schemes(&sentences);
    Ok(Evaluated::new(sentences, schemes))
}

/// Two columns of labels have labels in common, or chunk types; words and their tags, or parts of speech and chunks,
/// have hardly any.
///
/// # Errors
/// Columns of which fewer than half of the second one's labels occur in the first.
fn refuse_other_columns(file: &str, sentences: &[Sentence], columns: usize) -> Result<()> {
    fn kind(label: &str) -> Option<&str> {
        label.split_once('-').map(|(_, kind)| kind)
    }
    /// So many tokens tell it.
    const SAMPLE: usize = 2000;
    let tokens = || sentences.iter().flat_map(|s| &s.tokens).take(SAMPLE);
    let labels: HashSet<&str> = tokens().map(|t| t.gold.as_str()).collect();
    let kinds: HashSet<&str> = labels.iter().filter_map(|label| kind(label)).collect();
    let is_known = |label: &str| labels.contains(label) || kind(label).is_some_and(|k| kinds.contains(k));
    let (all, known) = (tokens().count(), tokens().filter(|t| is_known(&t.found)).count());
    if all == 0 || 2 * known >= all {
        return Ok(());
    }
    let Some(strange) = tokens().find(|t| !is_known(&t.found)) else { return Ok(()) };
    let (gold, found) = (columns - 2, columns - 1);
    let what = format!(
        "columns {gold} and {found} are not labels of one kind: column {found} has {} where column {gold} has {}, and \
         {} of the first {all} labels in column {found} do not occur in column {gold}",
        strange.found,
        strange.gold,
        all - known
    );
    let help = "the last two columns must be the right label and the predicted one, as predict writes them; or give \
                the file with the right labels: `gold FILE`";
    Err(seqoia_data::Error::at(file, strange.line, what).help(help).into())
}

/// How to compare files of a format that holds one labelling.
fn give_gold(kind: Kind) -> String {
    let format = match kind {
        Kind::Jsonl | Kind::Conllu => String::new(), // they are recognised
        _ => format!(" `format {}`", kind.name()),
    };
    let label = if matches!(kind, Kind::Conllu | Kind::Conllx) { " `label COLUMN`" } else { "" };
    format!("give the file with the right labels: `gold FILE`{format}{label}")
}

fn open(input: Input, kind: Option<Kind>) -> Result<Reader> {
    let reader = Reader::new(Blocks::new(input), kind)?;
    one_labelling(reader.name(), reader.start().as_bytes())?;
    Ok(reader)
}

/// Refuses a text with several labellings of each sentence, below lines `# RANK PROBABILITY`: they are not one
/// labelling of more sentences.
///
/// # Errors
/// A text that starts like this.
pub fn one_labelling(name: &str, text: &[u8]) -> Result<()> {
    let start = String::from_utf8_lossy(&text[..text.len().min(1 << 12)]);
    let mut lines = (1..).zip(start.lines()).filter(|(_, line)| !line.trim().is_empty());
    let Some((number, line)) = lines.next() else { return Ok(()) };
    let fields: Vec<&str> = line.split_whitespace().collect();
    match fields[..] {
        ["#", "0", share] if share.len() == "0.123456".len() && share.parse::<f64>().is_ok() => {
            let what = format!("'{line}' starts the first of several labellings, and one is scored");
            let help = "label without `nbest`";
            Err(seqoia_data::Error::at(name, number, what).help(help).into())
        }
        _ => Ok(()),
    }
}

/// Reads all sentences; the numbers are those of the columns.
fn sentences(
    mut reader: Reader,
    word: Option<usize>,
    gold: usize,
    found: Option<usize>,
) -> Result<Vec<Sentence>> {
    let mut sentences = vec![];
    while let Some(block) = reader.next()? {
        let field = |i, column: Option<usize>| column.map_or("", |column| block.field(i, column)).to_owned();
        for sentence in block.sentences() {
            let token = |i| Token {
                line: block.line(i),
                word: field(i, word),
                gold: field(i, Some(gold)),
                found: field(i, found),
            };
            sentences.push(Sentence { tokens: sentence.tokens.map(token).collect(), converted: vec![] });
        }
    }
    Ok(sentences)
}

/// Scores `found` against `gold`, both in the format `kind` if it is not to be recognised: accuracy, and
/// chunks if the labels are chunk labels. Lines are those of `found`.
///
/// If `found` is a column file with one column more, its last column is what was found, wherever the gold label
/// is.
///
/// # Errors
/// Files that cannot be read or do not have the same sentences.
pub fn compare(gold: Input, found: Input, kind: Option<Kind>, label: &LabelColumn) -> Result<Evaluated> {
    let (gold, found) = (open(gold, kind)?, open(found, kind)?);
    let names = [gold.name().to_owned(), found.name().to_owned()];
    let (columns, more) = (gold.format().columns(), found.format().columns());
    let kinds = [gold.format().kind(), found.format().kind()];
    let plain = kinds == [Kind::Columns; 2];
    if plain && more > columns + 1 && *label != LabelColumn::Last {
        let have = counted(more, "column");
        let what =
            format!("{have}, where {} has {columns}; one more is wanted, the predicted label", names[0]);
        let help = "label without `marginals`, which adds the probability";
        return Err(seqoia_data::Error::new(&names[1], what).help(help).into());
    }
    let of_gold = label.resolve(gold.name(), &*gold.format())?;
    let added = plain && more == columns + 1;
    let of_found = if added { columns } else { label.resolve(found.name(), &*found.format())? };
    let gold = sentences(gold, kinds[0].word(columns, Some(of_gold)), of_gold, None)?;
    let word = kinds[1].word(more, Some(if added { of_gold } else { of_found }));
    let mut sentences = sentences(found, word, of_found, None)?;
    same_tokens([&names[0], &names[1]], &gold, &sentences)?;
    let golds = gold.into_iter().flat_map(|s| s.tokens);
    for (token, gold) in sentences.iter_mut().flat_map(|s| &mut s.tokens).zip(golds) {
        token.found = std::mem::replace(&mut token.gold, gold.gold);
        token.word = gold.word;
    }
    refuse_probabilities(&names[1], &sentences)?;
    // Segmented text has labels of this scheme, whichever of them occur.
    let words = kinds.contains(&Kind::Words).then_some([format::WORDS_SCHEME; 2]);
    let schemes = words.or_else(|| schemes(&sentences));
    Ok(Evaluated::new(sentences, schemes))
}

/// A column of probabilities is no labelling.
fn refuse_probabilities(file: &str, sentences: &[Sentence]) -> Result<()> {
    let tokens = || sentences.iter().flat_map(|sentence| &sentence.tokens);
    let numbers = |label: fn(&Token) -> &str| tokens().all(|token| label(token).parse::<f64>().is_ok());
    if !numbers(|token| &token.found) || numbers(|token| &token.gold) {
        return Ok(());
    }
    let line = tokens().next().map_or(1, |token| token.line);
    let help = "label without `marginals`: the last column must be the predicted label";
    Err(seqoia_data::Error::at(file, line, "the last column holds numbers, not labels").help(help).into())
}

/// Refuses files that do not have the same sentences, as far as can be seen: as many of them and as many tokens,
/// and the same words where both have words. Names and sentences of both.
fn same_tokens(names: [&str; 2], first: &[Sentence], second: &[Sentence]) -> Result<()> {
    let [first_name, second_name] = names;
    if first.len() != second.len() {
        let have = counted(second.len(), "sentence");
        let what = format!("{have}, where {first_name} has {}", first.len());
        return Err(seqoia_data::Error::new(second_name, what).into());
    }
    let line = |sentence: &Sentence| sentence.tokens.first().map_or(1, |token| token.line);
    for (a, b) in first.iter().zip(second) {
        let other = |(a, b): &(&Token, &Token)| !a.word.is_empty() && !b.word.is_empty() && a.word != b.word;
        if let Some((a, b)) = a.tokens.iter().zip(&b.tokens).find(other) {
            let what = format!("the word is {}, but {} in {first_name}:{}", b.word, a.word, a.line);
            let help = "both files must hold the same sentences, in the same order";
            return Err(seqoia_data::Error::at(second_name, b.line, what).help(help).into());
        }
        if a.tokens.len() != b.tokens.len() {
            let what = format!(
                "this sentence has {}, that of {first_name}:{} has {}",
                counted(b.tokens.len(), "token"),
                line(a),
                a.tokens.len()
            );
            return Err(seqoia_data::Error::at(second_name, line(b), what).into());
        }
    }
    Ok(())
}

/// The schemes of the gold labels and of those found; none if the gold ones are no chunk labels.
///
/// Which chunks labels stand for depends on the letters that a scheme has. So labels found that the scheme of
/// the gold can read are taken to be in it: there may be too few of them to tell a scheme.
fn schemes(sentences: &[Sentence]) -> Option<[Scheme; 2]> {
    let gold = recognise(sentences, |token| &token.gold)?;
    let reads = |token: &Token| token.found == "O" || gold.reads(&token.found);
    let found = match sentences.iter().flat_map(|s| &s.tokens).all(reads) {
        true => gold,
        false => recognise(sentences, |token| &token.found).unwrap_or(gold),
    };
    Some([gold, found])
}

fn recognise(sentences: &[Sentence], label: impl Fn(&Token) -> &str) -> Option<Scheme> {
    let mut recogniser = Recogniser::default();
    for sentence in sentences {
        let labels: Vec<&str> = sentence.tokens.iter().map(&label).collect();
        recogniser.sentence(&labels);
    }
    recogniser.finish()
}
