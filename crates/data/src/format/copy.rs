//! Copies the text of a block and puts labels in: what a format writes when its own file was labelled.
//!
//! All that is no label stays as it is, to the byte: separators, comments, rows that are no tokens.
//! Each [`Format`](super::Format) says in `put` where its labels go.

use std::ops::Range;

use super::Kind;
use super::block::{Block, Format, Span};
use super::words::copy_line_ends;

/// A sentence with the labels to write.
#[derive(Debug, Clone)]
pub struct Labelled<'a> {
    /// Its tokens, as numbers within the block.
    pub tokens: Range<usize>,
    /// A label for each.
    pub names: &'a [String],
    /// Their probabilities, if they are wanted.
    pub probabilities: Option<&'a [f64]>,
    /// What else goes into columns of the file, in formats that [fill columns](Format::fills_columns): a parser
    /// writes heads and relations.
    pub beside: &'a [Beside<'a>],
}

/// A column beside that of the label.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// Its number.
    pub column: usize,
    /// A text for each token of the sentence.
    pub texts: &'a [String],
}

impl Labelled<'_> {
    /// Number, label and probability of each token.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &str, Option<f64>)> {
        let p = |t: usize| self.probabilities.and_then(|p| p.get(t).copied());
        self.tokens.clone().zip(self.names).enumerate().map(move |(t, (i, name))| (i, name.as_str(), p(t)))
    }
}

/// How far a block has been copied.
#[derive(Debug, Clone)]
pub struct Copy<'a> {
    /// The block.
    pub block: &'a Block,
    /// Column of the label.
    pub label: usize,
    /// So many columns each row gets, where the format has columns for the asking: the label, and then its
    /// probability. If 0, the label takes the place of the one that is there.
    pub added: usize,
    /// The first byte of its text that was not written yet.
    pub at: usize,
    /// The first mark that was not written yet.
    pub mark: usize,
}

impl<'a> Copy<'a> {
    /// From the start of a block.
    #[must_use]
    pub const fn new(block: &'a Block, label: usize, added: usize) -> Self {
        Self { block, label, added, at: 0, mark: 0 }
    }

    /// The text up to this byte.
    pub fn upto(&mut self, end: u32, out: &mut Vec<u8>) {
        let end = end as usize;
        out.extend_from_slice(self.block.text().as_bytes().get(self.at..end).unwrap_or_default());
        self.at = self.at.max(end);
    }

    /// The text up to this stretch, and `text` in its place.
    pub fn replace(&mut self, span: Span, text: &str, out: &mut Vec<u8>) {
        self.upto(span.start, out);
        out.extend_from_slice(text.as_bytes());
        self.at = span.end as usize;
    }

    /// Puts a label into its column, whatever stood there.
    pub(super) fn replace_label(&mut self, token: usize, name: &str, out: &mut Vec<u8>) {
        self.replace_column(token, self.label, name, out);
    }

    fn replace_column(&mut self, token: usize, column: usize, text: &str, out: &mut Vec<u8>) {
        if let Some(&field) = self.block.spans(token).get(column) {
            self.replace(field, text, out);
        }
    }

    /// Puts what stands beside labels into those of its columns that are in `columns`, in the order of the text.
    /// `t` is the token's number in the sentence.
    pub(super) fn replace_beside(
        &mut self,
        token: usize,
        t: usize,
        columns: Range<usize>,
        beside: &[Beside<'_>],
        out: &mut Vec<u8>,
    ) {
        if beside.is_empty() {
            return;
        }
        for column in columns {
            let text = beside.iter().find(|b| b.column == column).and_then(|b| b.texts.get(t));
            if let Some(text) = text {
                self.replace_column(token, column, text, out);
            }
        }
    }

    /// Rows such as `-DOCSTART-` get columns too, and those that they lack, so that all rows have as many.
    pub(super) fn marks_before(&mut self, token: usize, format: &dyn Format, out: &mut Vec<u8>) {
        let separator = format.separator();
        while let Some(mark) = self.block.marks().get(self.mark).filter(|m| m.before as usize <= token) {
            self.mark += 1;
            if self.added == 0 {
                continue;
            }
            self.upto(mark.span.end, out);
            let fields = self.block.slice(mark.span).split(separator);
            let found = fields.filter(|field| separator != ' ' || !field.is_empty()).count();
            for _ in found..format.columns() + 1 {
                out.extend_from_slice(format!("{separator}O").as_bytes());
            }
            if self.added > 1 {
                out.extend_from_slice(format!("{separator}{:.6}", 1.0).as_bytes());
            }
        }
    }

    /// What is left.
    pub fn rest(&mut self, format: &dyn Format, out: &mut Vec<u8>) {
        if format.kind() == Kind::Columns {
            self.marks_before(usize::MAX, format, out);
        }
        let end = self.block.text().len();
        if format.kind() == Kind::Words {
            return copy_line_ends(self, end, out);
        }
        out.extend_from_slice(self.block.text().as_bytes().get(self.at..).unwrap_or_default());
        self.at = end;
    }
}
