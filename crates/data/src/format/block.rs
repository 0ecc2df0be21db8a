//! The unit of reading: a stretch of whole sentences, as text and as positions in it.
//!
//! A reader that hands out sentences one by one either allocates per token or ties everyone to one
//! thread. Here [`Blocks`](super::Blocks) only reads text and cuts it where a sentence ends; a
//! [`Format`] finds the tokens in it, which is pure and so can be done by any worker; whoever writes
//! copies the text verbatim around the labels it puts in. Buffers are lent by the caller and used
//! again, and no token is ever a string of its own: it is a [`Span`] of the block's text.
//!
//! A field need not stand in the file as it is meant: `a\\:b` means `a:b`, and the label of a
//! character is nowhere to be read. A format puts such strings behind the text ([`Rows::own`]), where
//! spans reach them like all others; [`Block::text`] is what the file has. A token may have ready
//! attributes besides its fields, spans with a value ([`Block::attributes`]), and a sentence may have
//! a weight. Formats without them have no work with them.

use std::ops::Range;

use seqoia_core::cast::narrow;

use super::copy::{Copy, Labelled};
use super::guess::Guess;
use crate::error::{Error, Result};
use crate::open::RAISE_LIMIT;
use crate::text::size;

/// The most text one block can hold, since spans count in 32 bits.
pub(super) const LIMIT: usize = u32::MAX as usize;

/// The largest value of an attribute: its square, times all features and passes that there may be, is still far
/// from infinity in single precision.
pub(crate) const LARGEST: f32 = 1e12;

/// A stretch of a block's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From byte `start` up to byte `end` of a block's text.
    #[inline]
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start: narrow(start), end: narrow(end) }
    }

    /// As a range to index with.
    #[inline]
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A row of a block that is a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The row in the text, without its line end and, where blanks separate, without trailing
    /// blanks: a column is added by writing the separator and a value at `span.end`. Where a line
    /// holds a sentence: what belongs to the token, or the whole line.
    pub span: Span,
    /// Line within the block, from 0.
    line: u32,
    /// Its first field among the block's fields.
    first: u32,
    /// Number of its fields.
    fields: u32,
}

impl Token {
    /// Number of fields.
    #[inline]
    #[must_use]
    pub const fn columns(self) -> usize {
        self.fields as usize
    }
}

/// A row that is no token but gets a column like one: `-DOCSTART-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The row in the text, as in [`Token::span`].
    pub span: Span,
    /// The first token behind it.
    pub before: u32,
}

/// What a [`Format`] finds in a text: fields, which make up tokens, which make up sentences.
///
/// They are pushed from left to right: the fields of a row, then the row, then the end of its
/// sentence.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// One past the last token of each sentence.
    sentences: Vec<u32>,
    tokens: Vec<Token>,
    fields: Vec<Span>,
    marks: Vec<Mark>,
    /// Ready attributes of all tokens.
    attributes: Vec<(Span, f32)>,
    /// One past the last attribute of each token; empty if the format has none.
    attribute_ends: Vec<u32>,
    /// First tokens of sentences with a weight, and the weight.
    weights: Vec<(u32, f64)>,
    /// First tokens of sentences whose format knows where their labels go, and where that is.
    answers: Vec<(u32, Span)>,
    /// What stands in the file in other words; will stand at `base`, behind the text.
    side: String,
    base: usize,
    full: bool,
}

/// How far [`Rows`] have come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    sentences: usize,
    tokens: usize,
    fields: usize,
    marks: usize,
    attributes: usize,
    attribute_ends: usize,
    weights: usize,
    answers: usize,
    side: usize,
    full: bool,
}

impl Rows {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.sentences.clear();
        self.tokens.clear();
        self.fields.clear();
        self.marks.clear();
        self.attributes.clear();
        self.attribute_ends.clear();
        self.weights.clear();
        self.answers.clear();
        self.side.clear();
        self.full = false;
    }

    /// The next field of the row that [`token`](Self::token) will close.
    #[inline]
    pub fn field(&mut self, start: usize, end: usize) {
        self.fields.push(Span::new(start, end));
    }

    /// Number of fields that no token has taken yet.
    #[inline]
    #[must_use]
    pub fn open_fields(&self) -> usize {
        self.fields.len() - self.taken()
    }

    /// Drops the fields that no token has taken: the row is none.
    #[inline]
    pub fn drop_fields(&mut self) {
        self.fields.truncate(self.taken());
    }

    /// Closes a row: the fields pushed since the last one are its fields. `line` counts from 0 at
    /// the start of the block.
    #[inline]
    pub fn token(&mut self, span: Span, line: u32) {
        let first = self.taken();
        let fields = narrow(self.fields.len() - first);
        self.tokens.push(Token { span, line, first: narrow(first), fields });
    }

    /// Ends the sentence, if a token was pushed since the last end.
    #[inline]
    pub fn end_sentence(&mut self) {
        let end = narrow(self.tokens.len());
        if end > self.sentences.last().copied().unwrap_or(0) {
            self.sentences.push(end);
        }
    }

    /// Notes a row such as `-DOCSTART-`.
    pub fn mark(&mut self, span: Span) {
        self.marks.push(Mark { span, before: narrow(self.tokens.len()) });
    }

    /// Takes the last mark back.
    pub(super) fn unmark(&mut self) {
        self.marks.pop();
    }

    /// A string that does not stand in the text so, and where it will be found.
    #[inline]
    pub fn own(&mut self, string: &str) -> Span {
        self.own_parts([string])
    }

    /// The same for a string in parts, none of which is long.
    #[inline]
    pub(super) fn own_parts<const N: usize>(&mut self, parts: [&str; N]) -> Span {
        let start = self.base.saturating_add(self.side.len());
        let end = parts.iter().fold(start, |end, part| end.saturating_add(part.len()));
        self.full |= end > LIMIT;
        if self.full {
            return Span::default();
        }
        self.side.reserve(end - start);
        parts.iter().for_each(|part| self.side.push_str(part));
        Span::new(start, end)
    }

    /// The next field, wherever it stands.
    #[inline]
    pub fn field_at(&mut self, span: Span) {
        self.fields.push(span);
    }

    /// The next ready attribute of the token that [`token_with_attributes`](Self::token_with_attributes)
    /// will close.
    #[inline]
    pub fn attribute(&mut self, name: Span, value: f32) {
        self.attributes.push((name, value));
    }

    /// Closes a token of a format in which tokens have ready attributes.
    #[inline]
    pub fn token_with_attributes(&mut self, span: Span, line: u32) {
        self.token(span, line);
        self.end_attributes();
    }

    /// Ends the attributes of a token that [`token`](Self::token) closes later.
    #[inline]
    pub(super) fn end_attributes(&mut self) {
        self.full |= self.attributes.len() > LIMIT;
        self.attribute_ends.push(narrow(self.attributes.len().min(LIMIT)));
    }

    /// Where the labels of the sentence that starts with the next token go.
    pub(super) fn answer_at(&mut self, span: Span) {
        self.answers.push((narrow(self.tokens.len()), span));
    }

    /// The weight of the sentence that starts with the next token.
    pub fn weight(&mut self, weight: f64) {
        self.weights.push((narrow(self.tokens.len()), weight));
    }

    /// Bytes of strings that do not stand in the text.
    pub(super) fn own_bytes(&self) -> usize {
        self.side.len()
    }

    #[cfg(test)]
    pub(super) fn own_capacity(&self) -> usize {
        self.side.capacity()
    }

    /// Whether strings were left out, since spans do not reach so far.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// How far they have come.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths {
            sentences: self.sentences.len(),
            tokens: self.tokens.len(),
            fields: self.fields.len(),
            marks: self.marks.len(),
            attributes: self.attributes.len(),
            attribute_ends: self.attribute_ends.len(),
            weights: self.weights.len(),
            answers: self.answers.len(),
            side: self.side.len(),
            full: self.full,
        }
    }

    /// Takes back what was pushed since.
    pub(super) fn cut(&mut self, to: Lengths) {
        self.sentences.truncate(to.sentences);
        self.tokens.truncate(to.tokens);
        self.fields.truncate(to.fields);
        self.marks.truncate(to.marks);
        self.attributes.truncate(to.attributes);
        self.attribute_ends.truncate(to.attribute_ends);
        self.weights.truncate(to.weights);
        self.answers.truncate(to.answers);
        self.side.truncate(to.side);
        self.full = to.full;
    }

    #[inline]
    fn taken(&self) -> usize {
        self.tokens.last().map_or(0, |token| token.first as usize + token.fields as usize)
    }
}

/// A sentence of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its tokens, as numbers within the block.
    pub tokens: Range<usize>,
    /// The line of its first token in the file, from 1.
    pub line: u64,
}

/// A stretch of whole sentences. Make one with [`Block::default`] and use it again and again.
#[derive(Debug, Clone)]
pub struct Block {
    /// The file's text, then what formats put behind it.
    text: String,
    /// Length of the former.
    length: usize,
    pub(super) first_line: u64,
    /// Each sentence is a document, whatever marks there are.
    pub(super) apart: bool,
    pub(super) rows: Rows,
}

impl Default for Block {
    fn default() -> Self {
        Self { text: String::new(), length: 0, first_line: 1, apart: false, rows: Rows::default() }
    }
}

impl Block {
    /// The text, verbatim but for a byte-order mark at the start of the file.
    #[inline]
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text[..self.length]
    }

    /// Gives up the text, for its memory.
    pub(super) fn take_text(&mut self) -> Vec<u8> {
        self.length = 0;
        std::mem::take(&mut self.text).into_bytes()
    }

    /// Sets the text.
    pub(super) fn set_text(&mut self, text: String) {
        self.length = text.len();
        self.text = text;
    }

    /// Bytes that it takes once it is parsed, with those that parsing took: JSON becomes strings first, a list of
    /// fields for each token.
    #[must_use]
    pub fn bytes(&self, kind: super::Kind) -> usize {
        const LIST: usize = 160;
        const STRING: usize = 64;
        let strings = match kind {
            super::Kind::Jsonl => {
                LIST * self.rows.tokens.len() + STRING * (self.rows.fields.len() + self.rows.attributes.len())
            }
            _ => 0,
        };
        let Rows {
            sentences, tokens, fields, marks, attributes, attribute_ends, weights, answers, side, ..
        } = &self.rows;
        let spans = size_of::<Token>() * tokens.capacity()
            + size_of::<Span>() * fields.capacity()
            + size_of::<Mark>() * marks.capacity()
            + size_of::<(Span, f32)>() * attributes.capacity();
        let ends = 4 * (sentences.capacity() + attribute_ends.capacity())
            + 16 * weights.capacity()
            + 12 * answers.capacity();
        self.text.capacity() + side.capacity() + spans + ends + strings
    }

    /// Drops the sentence that has this line of the file and all that follows it, so that the others of a block with
    /// a broken line are not lost. There are no rows then: parse what is left.
    pub fn cut_before(&mut self, line: u64, kind: super::Kind) {
        let lines = usize::try_from(line.saturating_sub(self.first_line)).unwrap_or(usize::MAX);
        let text = self.text().as_bytes();
        let start = match lines.checked_sub(1) {
            None => 0,
            Some(before) => memchr::memchr_iter(b'\n', text).nth(before).map_or(text.len(), |at| at + 1),
        };
        let cut = super::blocks::last_end(&text[..start], kind.ends()).unwrap_or(0);
        self.rows.clear();
        self.text.truncate(cut);
        self.length = cut;
    }

    /// The line of the file, from 1, on which the text starts.
    #[inline]
    #[must_use]
    pub const fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Text and rows apart, for a [`Format`] to fill the rows while it reads the text.
    pub fn parts(&mut self) -> (&str, &mut Rows) {
        self.text.truncate(self.length);
        self.rows.base = self.length;
        (&self.text, &mut self.rows)
    }

    /// Clears the rows and lets `find` fill them; after an error there are none. What it put into
    /// [`Rows::own`] is then behind the text.
    pub(super) fn find(
        &mut self,
        file: &str,
        find: impl FnOnce(&str, &mut Rows) -> std::result::Result<(), Problem>,
    ) -> Result<()> {
        let first_line = self.first_line;
        let (text, rows) = self.parts();
        rows.clear();
        if let Err((line, what, help)) = find(text, rows) {
            rows.clear();
            return Err(Error::at(file, first_line + u64::from(line), what).help(help));
        }
        if rows.full {
            rows.clear();
            return Err(too_long(file, first_line, LIMIT));
        }
        self.text.push_str(&self.rows.side);
        Ok(())
    }

    /// Puts what rows have of their own where spans look for it, without any text of a file.
    pub(super) fn settle(&mut self) {
        self.text.push_str(&self.rows.side[self.text.len()..]);
    }

    /// The reverse, for other rows.
    pub(super) fn unsettle(&mut self) {
        self.text.clear();
    }

    /// Number of sentences.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.sentences.len()
    }

    /// Whether there is no sentence, which happens: a stretch of comments or empty lines.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.sentences.is_empty()
    }

    /// The sentences in order.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = Sentence> + '_ {
        (0..self.len()).map(|i| self.sentence(i))
    }

    /// Sentence `i`; empty if there are not so many.
    #[inline]
    #[must_use]
    pub fn sentence(&self, i: usize) -> Sentence {
        let ends = &self.rows.sentences;
        let end = |i: usize| ends.get(i).or(ends.last()).map_or(0, |&end| end as usize);
        let start = if i == 0 { 0 } else { end(i - 1) };
        let tokens = start..end(i);
        Sentence { line: self.line(start), tokens }
    }

    /// All tokens in order.
    #[inline]
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.rows.tokens
    }

    /// The line of token `i` in the file, from 1; the block's first line if there is no such token.
    #[inline]
    #[must_use]
    pub fn line(&self, i: usize) -> u64 {
        self.first_line + self.rows.tokens.get(i).map_or(0, |token| u64::from(token.line))
    }

    /// Where the fields of token `i` are; none if there is no such token.
    #[inline]
    #[must_use]
    pub fn spans(&self, i: usize) -> &[Span] {
        self.rows
            .tokens
            .get(i)
            .and_then(|token| {
                let first = token.first as usize;
                self.rows.fields.get(first..first + token.fields as usize)
            })
            .unwrap_or(&[])
    }

    /// The fields of token `i`.
    pub fn columns(&self, i: usize) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.spans(i).iter().map(|&span| self.slice(span))
    }

    /// Field `column` of token `i`, both from 0; empty if there is none. No format lets an empty
    /// field through, so that is not mistaken for one.
    #[inline]
    #[must_use]
    pub fn field(&self, i: usize, column: usize) -> &str {
        self.spans(i).get(column).map_or("", |&span| self.slice(span))
    }

    /// The ready attributes of token `i` with their values; none if the format has none.
    #[inline]
    pub fn attributes(&self, i: usize) -> impl ExactSizeIterator<Item = (&str, f32)> + '_ {
        let ends = &self.rows.attribute_ends;
        let end = ends.get(i).copied().unwrap_or(0) as usize;
        let start = if i == 0 { 0 } else { ends.get(i - 1).copied().unwrap_or(0) as usize };
        let all = self.rows.attributes.get(start..end).unwrap_or(&[]);
        all.iter().map(|&(span, value)| (self.slice(span), value))
    }

    /// The ready attributes of all tokens.
    #[inline]
    pub(crate) fn given(&self) -> &[(Span, f32)] {
        &self.rows.attributes
    }

    /// Which of them are those of token `i`.
    #[inline]
    pub(crate) fn attribute_range(&self, i: usize) -> Range<usize> {
        let (ends, most) = (&self.rows.attribute_ends, self.rows.attributes.len());
        let end = |i: usize| ends.get(i).map_or(0, |&end| (end as usize).min(most));
        let start = if i == 0 { 0 } else { end(i - 1) };
        start..end(i).max(start)
    }

    /// A stretch of the text as bytes.
    #[inline]
    pub(crate) fn bytes_of(&self, span: Span) -> &[u8] {
        self.text.as_bytes().get(span.range()).unwrap_or_default()
    }

    /// The weight of the sentence that starts with token `i`; 1 if the file has none.
    #[must_use]
    pub fn weight(&self, i: usize) -> f64 {
        let weights = &self.rows.weights;
        let at = weights.partition_point(|&(first, _)| (first as usize) <= i);
        // Of two weights for one sentence the last counts.
        let found = at.checked_sub(1).and_then(|at| weights.get(at));
        found.filter(|&&(first, _)| first as usize == i).map_or(1.0, |&(_, weight)| weight)
    }

    /// Where the labels of the sentence that starts with token `i` go, if the format said so.
    pub(super) fn answer_place(&self, i: usize) -> Option<Span> {
        let answers = &self.rows.answers;
        let at = answers.partition_point(|&(first, _)| (first as usize) < i);
        answers.get(at).filter(|&&(first, _)| first as usize == i).map(|&(_, span)| span)
    }

    /// A stretch of the text; empty if the span is not of this text.
    #[inline]
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Rows that are no tokens but get a column like them.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.rows.marks
    }

    /// Whether each sentence is a document of its own, since whoever reads does not wait for the others.
    #[must_use]
    pub const fn sentences_are_documents(&self) -> bool {
        self.apart
    }

    /// Puts the text of the block that follows this one in the file behind this one's.
    pub(super) fn append(&mut self, next: &Self, file: &str) -> Result<()> {
        if self.length.saturating_add(next.length) > LIMIT {
            return Err(too_long(file, self.first_line, LIMIT));
        }
        self.rows.clear();
        self.text.truncate(self.length);
        self.text.push_str(next.text());
        self.length = self.text.len();
        Ok(())
    }
}

/// An error before it has a file: line within the block, what, help.
pub(super) type Problem = (u32, String, String);

/// Where the label of a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a column that the user chooses, else in the last.
    Last,
    /// In a column that the user has to choose.
    Chosen,
    /// In this column always.
    Fixed(usize),
    /// Nowhere: this file has no labels.
    Missing,
}

/// Finds the tokens of a text, and writes labels into it. Pure: any number of threads may use one format at once.
pub trait Format: Send + Sync + std::fmt::Debug {
    /// Which format it is.
    fn kind(&self) -> super::Kind;

    /// Number of fields of every token.
    fn columns(&self) -> usize;

    /// What to write between a row and a column added to it.
    fn separator(&self) -> char {
        '\t'
    }

    /// Where the label is.
    fn label(&self) -> Place;

    /// Why there are no labels in a file that could have them, as far as there is more to say of it than of any
    /// other; reads on behind "no labels: ...".
    fn why_unlabelled(&self) -> String {
        String::new()
    }

    /// What the file may be instead, as far as its first rows tell.
    fn guess(&self) -> Option<Guess> {
        None
    }

    /// Whether tokens come with their attributes.
    fn ready(&self) -> bool {
        false
    }

    /// Fills the rows of `block` from its text; `file` is the name for errors. After an error the
    /// block has no rows.
    ///
    /// # Errors
    ///
    /// The first row that is not as the format wants it.
    fn parse(&self, file: &str, block: &mut Block) -> Result<()>;

    /// Why a label cannot be written so that it would be read as the same; none if it can. Reads on behind
    /// "the label ...".
    fn refuses_label(&self, label: &str) -> Option<&'static str>;
    /// Whether [`put`](Format::put) writes what stands [beside](super::Beside) labels, into columns of their own.
    fn fills_columns(&self) -> bool {
        false
    }

    /// Writes the text up to the end of a sentence's last token, with labels put in that it does not refuse.
    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>);

    /// The same for a line that is a sentence without tokens. Most formats have nothing to write into it, and the
    /// text is copied later.
    fn put_empty(&self, copy: &mut Copy<'_>, line: Span, probabilities: bool, out: &mut Vec<u8>) {
        let _ = (copy, line, probabilities, out);
    }
}

/// Whether a line is empty for our purposes.
#[inline]
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// A sentence beyond this bound, which can be raised up to [`LIMIT`].
pub(super) fn too_long(file: &str, line: u64, limit: usize) -> Error {
    let ends = "is the end of a sentence missing, mostly an empty line?";
    let help = if limit < LIMIT { format!("{ends} {RAISE_LIMIT}") } else { ends.to_owned() };
    Error::at(file, line, format!("a sentence of more than {} starts here", size(limit))).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_broken_line_is_kept() {
        let cut = |text: &str, line, kind| {
            let mut block = Block { first_line: 10, ..Block::default() };
            block.set_text(text.to_owned());
            block.cut_before(line, kind);
            block.text().to_owned()
        };
        let columns = "a\n\nb\nb b\n\nc\n";
        for (line, left) in
            [(9, ""), (10, ""), (11, ""), (12, "a\n\n"), (13, "a\n\n"), (15, "a\n\nb\nb b\n\n")]
        {
            assert_eq!(cut(columns, line, super::super::Kind::Columns), left, "{line}");
        }
        let lines = "{}\n{}\n{";
        for (line, left) in [(10, ""), (11, "{}\n"), (12, "{}\n{}\n"), (99, "{}\n{}\n")] {
            assert_eq!(cut(lines, line, super::super::Kind::Jsonl), left, "{line}");
        }
    }

    #[test]
    fn what_is_not_there_is_empty() {
        let block = Block::default();
        assert_eq!((block.len(), block.sentences().len(), block.field(3, 4)), (0, 0, ""));
        assert_eq!(block.sentence(7), Sentence { tokens: 0..0, line: 1 });
        assert_eq!((block.line(3), block.columns(1).len(), block.slice(Span::new(2, 1))), (1, 0, ""));
    }
}
