//! Writes sentences that come from another format.
//!
//! On the way a token is what all formats have in common: a few fields, a label, and attributes if the
//! source has them or templates made some. A format that cannot hold a sentence so that it would be
//! read as the same again refuses it, with what and why.

use super::{
    Columns, Conllu, Crfsuite, Field, Format, Kind, LARGEST, Ocr, Tagged, Words, columns, conllu, crfsuite,
    jsonl, tagged, words,
};
use crate::error::{Error, Result};
use crate::scheme::Scheme;

/// A token on its way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outgo<'a> {
    /// Fields but for the label; the first is the word.
    pub fields: Vec<&'a str>,
    /// The label, if there is one.
    pub label: Option<&'a str>,
    /// Attributes with their values.
    pub attributes: Vec<(&'a str, f32)>,
}

/// A sentence on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing<'a> {
    /// Its tokens.
    pub rows: Vec<Outgo<'a>>,
    /// Its weight.
    pub weight: f64,
    /// Tokens have attributes; otherwise they have fields.
    pub ready: bool,
    /// The number of its document, if the file it comes from has documents.
    pub document: Option<u64>,
}

/// Why a sentence cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

pub(super) fn refuse<T>(what: impl Into<String>) -> std::result::Result<T, Refusal> {
    Err(Refusal(what.into()))
}

/// What is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The format.
    pub kind: Kind,
    /// CoNLL: the column of the label.
    pub label: Field,
    /// Segmented text: labels say in this scheme which characters make a word; if none, every token is
    /// a word.
    pub scheme: Option<Scheme>,
}

impl Target {
    /// Whether it is written from attributes, not from fields.
    #[must_use]
    pub fn wants_attributes(self) -> bool {
        self.kind == Kind::Crfsuite
    }

    /// What the file will be.
    fn format(self) -> &'static dyn Format {
        match self.kind {
            Kind::Columns => &Columns::TABS,
            Kind::Conllu => &Conllu { x: false },
            Kind::Conllx => &Conllu { x: true },
            Kind::Crfsuite => &Crfsuite { labelled: true },
            Kind::Words => &Words,
            Kind::Tagged => &Tagged { labelled: true },
            Kind::Jsonl => &jsonl::WRITTEN,
            Kind::Ocr => &Ocr,
        }
    }

    /// The first label that the format refuses, and why. Segmented text has no labels: it is what they say.
    fn refused_label<'a>(self, sentence: &Outgoing<'a>) -> Option<(&'a str, &'static str)> {
        let labels = sentence.rows.iter().filter_map(|row| row.label).filter(|_| self.kind != Kind::Words);
        labels.into_iter().find_map(|label| Some((label, self.format().refuses_label(label)?)))
    }

    /// Appends a sentence; `file` and `line` are where it is from.
    ///
    /// # Errors
    /// What of it the format cannot hold.
    pub fn write(self, sentence: &Outgoing<'_>, file: &str, line: u64, out: &mut Vec<u8>) -> Result<()> {
        self.write_or_refuse(sentence, out).map_err(|Refusal(what)| {
            let help = "jsonl holds every sentence, crfsuite every one with attributes";
            Error::at(file, line, format!("{} cannot hold it: {what}", self.kind.name())).help(help)
        })
    }

    fn write_or_refuse(self, sentence: &Outgoing<'_>, out: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
        let holds_attributes = matches!(self.kind, Kind::Crfsuite | Kind::Jsonl);
        if sentence.weight != 1.0 && !holds_attributes {
            return refuse("this sentence has a weight");
        }
        if sentence.ready && !holds_attributes {
            return refuse("the tokens of this sentence are attributes, not words");
        }
        if let Some((label, why)) = self.refused_label(sentence) {
            return refuse(format!("the label {label:?} {why}"));
        }
        let attributes = || sentence.rows.iter().flat_map(|row| &row.attributes);
        if let Some((name, value)) = attributes().find(|(_, value)| value.is_nan() || value.abs() > LARGEST) {
            return refuse(format!("the value {value} of {name:?} is no number up to {LARGEST:e}"));
        }
        let start = out.len();
        self.write_sentence(sentence, out)?;
        let written = out.get(start..).unwrap_or_default();
        if written.contains(&0) {
            return refuse("it holds a zero byte, which no text has");
        }
        if written.starts_with("\u{feff}".as_bytes()) {
            return refuse("it starts with a byte-order mark, which no one would see");
        }
        Ok(())
    }

    fn write_sentence(self, sentence: &Outgoing<'_>, out: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
        match self.kind {
            Kind::Columns => columns::write(sentence, out),
            Kind::Conllu | Kind::Conllx => conllu::write(sentence, self.label, out),
            Kind::Crfsuite => crfsuite::write(sentence, out),
            Kind::Words => words::write(sentence, self.scheme, out),
            Kind::Tagged => tagged::write(sentence, out),
            Kind::Jsonl => jsonl::write(sentence, out),
            Kind::Ocr => refuse("images of letters are read, not written"),
        }
    }
}
