//! Writes sentences that come from another format.
//!
//! On the way a token is what all formats have in common: a few fields, a label, and attributes if the
//! source has them or templates made some. A format that cannot hold a sentence so that it would be
//! read as the same again refuses it, with what and why.

use super::{Field, Kind, columns, conllu, crfsuite, jsonl, tagged, words};
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

    /// Appends a sentence; `file` and `line` are where it is from.
    ///
    /// # Errors
    /// What of it the format cannot hold.
    pub fn write(self, sentence: &Outgoing<'_>, file: &str, line: u64, out: &mut Vec<u8>) -> Result<()> {
        let weighted = sentence.weight != 1.0 && !matches!(self.kind, Kind::Crfsuite | Kind::Jsonl);
        let written = match self.kind {
            _ if weighted => refuse("this sentence has a weight"),
            Kind::Columns | Kind::Conllu | Kind::Conllx | Kind::Words | Kind::Tagged if sentence.ready => {
                refuse("the tokens of this sentence are attributes, not words")
            }
            Kind::Columns => columns::write(sentence, out),
            Kind::Conllu | Kind::Conllx => conllu::write(sentence, self.label, out),
            Kind::Crfsuite => crfsuite::write(sentence, out),
            Kind::Words => words::write(sentence, self.scheme, out),
            Kind::Tagged => tagged::write(sentence, out),
            Kind::Jsonl => jsonl::write(sentence, out),
            Kind::Ocr => refuse("images of letters are read, not written"),
        };
        written.map_err(|Refusal(what)| {
            let help = "jsonl holds every sentence, crfsuite every one with attributes";
            Error::at(file, line, format!("{} cannot hold it: {what}", self.kind.name())).help(help)
        })
    }
}
