//! Why a sentence is labelled as it is: what speaks for its labels and against others.
//!
//! Scores of labellings are sums, so the difference of two labellings y and r of one sentence is a sum of what
//! each attribute and each label pair contributes:
//!
//! ```text
//! score(y) - score(r) = sum_t sum_a value (w[a, y_t] - w[a, r_t])
//!                     + sum_t w[y_t-1, y_t] - w[r_t-1, r_t]  and the same for attributes of label pairs
//! ```
//!
//! For a token, y is the best labelling and r the same with the token's rival in place of its label: the
//! most probable other one, or one that was asked for. For the sentence, r is the second best labelling.

use seqoia_core::cast::label as label_number;
use seqoia_core::{Items, SequenceView};
use seqoia_data::format::Kind;
use seqoia_data::open::Input;
use serde::Serialize;

use super::columns::{column_name, program_for, read_columns, word_column};
use super::inspect::Inspector;
use super::{Labeller, Predictor, Source};
use crate::error::{BadOption, Error, Result};

/// What an attribute or a label pair adds to the difference of two scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// The token, from 0; of a pair the second.
    pub token: usize,
    /// The attribute; none if it is the label pair itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The labels of the pair: of the one labelling, then of the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<[[String; 2]; 2]>,
    /// How much it adds.
    pub adds: f64,
}

/// Another label that a token could have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// The label.
    pub label: String,
    /// Its probability.
    pub probability: f64,
    /// By how much the score is higher with the token's own label.
    pub difference: f64,
    /// The rules forbid it beside the labels of the neighbours, whatever the scores are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forbidden: bool,
    /// What adds up to the difference, the strongest first.
    pub contributions: Vec<Contribution>,
}

/// A token with its label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyToken {
    /// The word; empty where tokens are attributes.
    pub word: String,
    /// Its label.
    pub label: String,
    /// The probability of the label.
    pub probability: f64,
    /// What it is held against; none if there is one label only.
    pub rival: Option<Rival>,
}

/// The labelling that is nearly as good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecondBest {
    /// Its labels.
    pub labels: Vec<String>,
    /// Its probability.
    pub probability: f64,
    /// Tokens whose labels differ from the best.
    pub differs: Vec<usize>,
    /// By how much the score of the best is higher.
    pub difference: f64,
    /// What adds up to that, the strongest first.
    pub contributions: Vec<Contribution>,
}

/// A sentence with all that speaks for its labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// Its tokens.
    pub tokens: Vec<WhyToken>,
    /// The probability of all labels together.
    pub probability: f64,
    /// The second best labelling; none if there is one only.
    pub second: Option<SecondBest>,
}

/// Why a sentence of words between blanks is labelled as it is. If the model reads more than the word, the
/// columns that it reads stand in one piece with `/` between. Tokens are held against `rival` where they
/// have another label.
///
/// # Errors
/// Words that lack columns; a model that was trained on attributes.
pub fn why_text(labeller: &Labeller, text: &str, rival: Option<u16>) -> Result<Why> {
    let mut predictor = Predictor::new(labeller);
    if labeller.kind() == Kind::Words {
        let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = why_input(labeller, Input::from_bytes("sentence", line + "\n")?, rival)?;
        return found.into_iter().next().ok_or_else(no_words);
    }
    let rows = rows(labeller, text)?;
    let tokens: Vec<&[String]> = rows.iter().map(|row| row.fields.as_slice()).collect();
    predictor.read_tokens(&tokens)?;
    explain(&mut predictor, rows.into_iter().map(|row| row.word).collect(), rival)
}

/// The same for the sentence of an input that has this line, with the document around it.
///
/// # Errors
/// Data that cannot be read or does not fit the model; a line without a token.
pub fn why_line(labeller: &Labeller, input: Input, line: u64, rival: Option<u16>) -> Result<Why> {
    let file = input.name.clone();
    let found = why_sentences(labeller, input, rival, Some(line))?;
    found.into_iter().next().ok_or_else(|| {
        let help = "name the line of a token; lines are counted from 1";
        seqoia_data::Error::at(&file, line, "this line has no token").help(help).into()
    })
}

/// The same for all sentences of an input that is like the training data.
///
/// # Errors
/// Data that cannot be read or does not fit the model.
pub fn why_input(labeller: &Labeller, input: Input, rival: Option<u16>) -> Result<Vec<Why>> {
    why_sentences(labeller, input, rival, None)
}

/// All sentences, or the one with a line.
fn why_sentences(
    labeller: &Labeller,
    input: Input,
    rival: Option<u16>,
    line: Option<u64>,
) -> Result<Vec<Why>> {
    let mut reader = Source::Input(input).reader(Some(labeller.kind()), labeller.reads_documents())?;
    let (file, format) = (reader.name().to_owned(), reader.format());
    let program = program_for(labeller, &file, &*format)?;
    let word = word_column(labeller, &*format);
    let mut predictor = Predictor::new(labeller).with_program(program);
    let mut found = vec![];
    while let Some(block) = reader.next()? {
        for sentence in block.sentences() {
            if line.is_some_and(|line| !sentence.tokens.clone().any(|i| block.line(i) == line)) {
                continue;
            }
            let text = |i| word.map_or_else(String::new, |word| block.field(i, word).to_owned());
            let words = sentence.tokens.clone().map(text).collect();
            predictor.read(&file, block, sentence.tokens, 0)?;
            found.push(explain(&mut predictor, words, rival)?);
        }
    }
    Ok(found)
}

fn bad(what: impl Into<String>) -> Error {
    BadOption::of("why", "", what).into()
}

fn no_words() -> Error {
    bad("the sentence has no words")
}

/// A token of a sentence that was typed.
struct Row {
    word: String,
    /// The columns that the model reads.
    fields: Vec<String>,
}

/// Words, with further columns behind slashes, as the columns that the model reads.
fn rows(labeller: &Labeller, text: &str) -> Result<Vec<Row>> {
    if labeller.program().given().is_some() {
        return Err(bad(format!(
            "the model was trained on attributes, not on words: give sentences as {} on standard input, with `why -`",
            labeller.kind().name()
        )));
    }
    let mut columns = read_columns(labeller);
    if columns.is_empty() {
        columns.push(0);
    }
    let mut rows = vec![];
    for piece in text.split_whitespace() {
        // A word may have slashes itself.
        let mut fields: Vec<&str> = piece.rsplitn(columns.len(), '/').collect();
        fields.reverse();
        if fields.len() < columns.len() || fields.iter().any(|f| f.is_empty()) {
            return Err(missing(labeller, piece, &columns));
        }
        let fields: Vec<String> = fields.into_iter().map(str::to_owned).collect();
        rows.push(Row { word: fields.first().cloned().unwrap_or_default(), fields });
    }
    if rows.len() > 1 && rows.iter().all(|row| row.word.contains('/')) {
        let read = columns.iter().map(|c| column_name(labeller.kind(), *c)).collect::<Vec<_>>().join(" and ");
        return Err(bad(format!("every word has more columns than the model reads, {read}")));
    }
    if rows.is_empty() { Err(no_words()) } else { Ok(rows) }
}

/// Says which columns a word lacks, with an example.
fn missing(labeller: &Labeller, piece: &str, columns: &[usize]) -> Error {
    let names: Vec<String> = columns.iter().map(|c| column_name(labeller.kind(), *c)).collect();
    let example = |start: [&'static str; 3]| {
        let fields = start.into_iter().chain(std::iter::repeat("x"));
        fields.take(columns.len()).collect::<Vec<_>>().join("/")
    };
    bad(format!(
        "'{piece}' is not all that the model reads of a token, {}: write words as in {} {}, or give \
         sentences like the training data on standard input, with `why -`",
        names.join(" and "),
        example(["The", "DT", "B-NP"]),
        example(["dog", "NN", "I-NP"])
    ))
}

/// Looks at the sentence that was read.
fn explain(predictor: &mut Predictor, words: Vec<String>, rival: Option<u16>) -> Result<Why> {
    let (found, log_z) = predictor.raw_nbest(2)?;
    let mut found = found.into_iter().map(|l| l.labels);
    let best = found.next().unwrap_or_default();
    let probabilities = predictor.probabilities(&best)?;
    let second = found.next().map(|labels| Ok::<_, Error>((predictor.probability(&labels, log_z)?, labels)));
    let second = second.transpose()?;
    let labeller = predictor.labeller();
    let inside = Inspector::new(labeller)?;
    let x = predictor.sequence();
    let name = |y: u16| inside.label_name(y).to_owned();
    let (mut tokens, mut other) = (vec![], best.clone());
    for (t, word) in words.into_iter().enumerate() {
        let (own, row) = (best[t], &probabilities.marginals[t]);
        let p = |y: u16| row.get(usize::from(y)).copied().unwrap_or(0.0);
        let others = (0..label_number(row.len())).filter(|y| *y != own);
        // The first of equals.
        let likeliest = others.rev().max_by(|a, b| p(*a).total_cmp(&p(*b)));
        let rival = rival.filter(|y| *y != own).or(likeliest).map(|y| {
            let before = std::mem::replace(&mut other[t], y);
            let (difference, contributions) =
                differences(&inside, x, &best, &other, t..(t + 2).min(best.len()));
            let at = |t: Option<usize>| t.and_then(|t| other.get(t).copied());
            let [last, next] = [at(t.checked_sub(1)), at(t.checked_add(1))];
            let rules = labeller.well_formed().or(labeller.rules());
            let forbidden =
                rules.is_some_and(|rules| !rules.allows(last, Some(y)) || !rules.allows(Some(y), next));
            other[t] = before;
            Rival { label: name(y), probability: p(y), difference, forbidden, contributions }
        });
        tokens.push(WhyToken { word, label: name(own), probability: p(own), rival });
    }
    let second = second.map(|(probability, other)| {
        let (difference, contributions) = differences(&inside, x, &best, &other, 0..best.len());
        let differs = (0..best.len()).filter(|&t| best[t] != other[t]).collect();
        let labels = other.into_iter().map(name).collect();
        SecondBest { labels, probability, differs, difference, contributions }
    });
    Ok(Why { tokens, probability: probabilities.sequence, second })
}

/// All that makes the score of `y` differ from that of `r`, the strongest first, and its sum. They differ at
/// these positions only, and in what follows the last label that differs.
fn differences(
    inside: &Inspector<'_>,
    x: SequenceView<'_>,
    y: &[u16],
    r: &[u16],
    positions: std::ops::Range<usize>,
) -> (f64, Vec<Contribution>) {
    let mut found = vec![];
    for t in positions {
        if y[t] != r[t] {
            for (attribute, value) in items(x.nodes, t) {
                let mut adds = 0.0;
                for (label, weight) in inside.node(attribute) {
                    let side = f64::from(i8::from(label == y[t]) - i8::from(label == r[t]));
                    adds += side * f64::from(weight) * value;
                }
                let attribute = inside.key_of(attribute).map(|key| inside.node_name(key));
                found.push(Contribution { token: t, attribute, pairs: None, adds });
            }
        }
        let pairs = match t {
            0 => continue,
            _ => [[y[t - 1], y[t]], [r[t - 1], r[t]]],
        };
        let [own, other] = pairs;
        if own == other {
            continue;
        }
        let names = || Some(pairs.map(|pair| pair.map(|y| inside.label_name(y).to_owned())));
        let adds =
            f64::from(inside.transition(own[0], own[1])) - f64::from(inside.transition(other[0], other[1]));
        found.push(Contribution { token: t, attribute: None, pairs: names(), adds });
        for (attribute, value) in items(x.edges, t) {
            let mut adds = 0.0;
            for (before, label, weight) in inside.edge(attribute) {
                let side = f64::from(i8::from([before, label] == own) - i8::from([before, label] == other));
                adds += side * f64::from(weight) * value;
            }
            let attribute = Some(inside.edge_name(attribute));
            found.push(Contribution { token: t, attribute, pairs: names(), adds });
        }
    }
    found.retain(|c| c.adds != 0.0);
    found.sort_by(|a, b| b.adds.abs().total_cmp(&a.adds.abs())); // equal ones stay in order
    (found.iter().map(|c| c.adds).sum(), found)
}

/// The attributes at a position with their values; none if there are no such lists.
fn items(lists: Items<'_>, t: usize) -> impl Iterator<Item = (u32, f64)> {
    let here = if lists.is_empty() { &[] } else { lists.at(t) };
    let values = if lists.is_empty() { None } else { lists.values_at(t) };
    here.iter().enumerate().map(move |(i, &item)| (item, values.map_or(1.0, |v| f64::from(v[i]))))
}
