//! Scores predictions: a column file whose last two columns are gold and prediction, or one file
//! against another, token by token, for formats whose predictions replace a column.

use seqoia_data::format::{self, Block, Blocks};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Recogniser, Scheme};
use seqoia_eval::{Accuracy, Scored, Spans};

use crate::error::{Error, Result, counted};
use crate::options::LabelColumn;

/// What was scored, and whether its labels are chunks.
pub struct Evaluated {
    /// Counts and figures.
    pub scored: Scored,
    /// The labels are chunk labels; else accuracy is what counts.
    pub chunks: bool,
}

/// Scores the last two columns of a text, as conlleval reads it. Chunk labels of schemes that
/// conlleval does not know (IOBES, BMES, BIE) are converted first, unless `raw`.
///
/// # Errors
/// A text that has no such columns.
pub fn last_two(name: &str, text: &[u8], raw: bool) -> Result<Evaluated> {
    let options = seqoia_eval::Options { raw, ..seqoia_eval::Options::default() };
    let scored = seqoia_eval::score(text, name, &options)?;
    if raw {
        return Ok(Evaluated { scored, chunks: true });
    }
    let (mut blocks, mut block) = (Blocks::new(Input::from_bytes(name, text)?), Block::default());
    let format = format::first(&mut blocks, &mut block, Some(format::Kind::Columns))?;
    let (mut gold, mut found) = (vec![], vec![]);
    loop {
        format.parse(name, &mut block)?;
        for s in block.sentences() {
            let column = |back: usize| {
                let field = |i| block.field(i, format.columns().saturating_sub(back)).to_owned();
                s.tokens.clone().map(field).collect::<Vec<String>>()
            };
            gold.push(column(2));
            found.push(column(1));
        }
        if !blocks.fill(&mut block)? {
            break;
        }
    }
    let numbers = |column: &[Vec<String>]| column.iter().flatten().all(|label| label.parse::<f64>().is_ok());
    if !found.iter().all(Vec::is_empty) && numbers(&found) && !numbers(&gold) {
        let error = seqoia_data::Error::at(name, 1, "the last column holds numbers, not labels");
        return Err(error
            .help("label without --marginals: the last two columns are gold and prediction")
            .into());
    }
    let scheme = recognise(&gold);
    if !matches!(scheme, Some(Scheme::Iobes | Scheme::Bmes | Scheme::Bie)) {
        return Ok(Evaluated { scored, chunks: scheme.is_some() });
    }
    Ok(Evaluated { scored: score(&gold, &found, (scheme, scheme)), chunks: true })
}

/// The labels of a file, sentence by sentence, and the lines they start on.
struct Labelled {
    labels: Vec<Vec<String>>,
    lines: Vec<u64>,
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
    let added = format.kind() == format::Kind::Columns && gold.is_some_and(|gold| gold + 1 == columns);
    let label = if added { &LabelColumn::Last } else { label };
    let column = label.resolve(&file, &*format)?;
    let mut out = Labelled { labels: vec![], lines: vec![], columns };
    loop {
        format.parse(&file, &mut block)?;
        for s in block.sentences() {
            out.lines.push(s.line);
            out.labels.push(s.tokens.map(|i| block.field(i, column).to_owned()).collect());
        }
        if !blocks.fill(&mut block)? {
            return Ok(out);
        }
    }
}

/// Scores `found` against `gold`, both in the format `kind` if it is not to be recognised: accuracy, and
/// chunks if the labels are chunk labels.
///
/// # Errors
/// Files that cannot be read or do not have the same sentences.
pub fn compare(
    gold: Input,
    found: Input,
    kind: Option<format::Kind>,
    label: &LabelColumn,
) -> Result<Evaluated> {
    let (gold_name, found_name) = (gold.name.clone(), found.name.clone());
    let gold = labels(gold, kind, label, None)?;
    let found = labels(found, kind, label, Some(gold.columns))?;
    if gold.labels.len() != found.labels.len() {
        return Err(Error::Mismatch(format!(
            "{found_name} has {}, {gold_name} has {}",
            counted(found.labels.len(), "sentence"),
            gold.labels.len()
        )));
    }
    for (i, (g, f)) in gold.labels.iter().zip(&found.labels).enumerate() {
        if g.len() != f.len() {
            return Err(Error::Mismatch(format!(
                "{found_name}:{}: this sentence has {}, that of {gold_name}:{} has {}",
                found.lines[i],
                counted(f.len(), "token"),
                gold.lines[i],
                g.len()
            )));
        }
    }
    let schemes = (recognise(&gold.labels), recognise(&found.labels));
    let chunks = matches!(schemes, (Some(_), Some(_)));
    Ok(Evaluated { scored: score(&gold.labels, &found.labels, schemes), chunks })
}

fn recognise(labels: &[Vec<String>]) -> Option<Scheme> {
    let mut recogniser = Recogniser::default();
    labels.iter().for_each(|sentence| recogniser.sentence(sentence));
    recogniser.finish()
}

fn score(gold: &[Vec<String>], found: &[Vec<String>], schemes: (Option<Scheme>, Option<Scheme>)) -> Scored {
    let (mut spans, mut accuracy) = (Spans::new(false), Accuracy::default());
    let (mut a, mut b) = (vec![], vec![]);
    for (g, f) in gold.iter().zip(found) {
        g.iter().zip(f).for_each(|(g, f)| accuracy.token(g == f));
        if let (Some(from), Some(to)) = schemes {
            scheme::convert(from, Scheme::Iob2, &slices(g), &mut a);
            scheme::convert(to, Scheme::Iob2, &slices(f), &mut b);
            a.iter().zip(&b).for_each(|(g, f)| spans.token(g, f));
        }
        spans.end_sentence();
        accuracy.end_sentence();
    }
    Scored { spans: spans.finish(), accuracy }
}

fn slices(labels: &[String]) -> Vec<&str> {
    labels.iter().map(String::as_str).collect()
}
