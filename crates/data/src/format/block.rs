//! The unit of reading: a stretch of whole sentences, as text and as positions in it.
//!
//! A reader that hands out sentences one by one either allocates per token or ties everyone to one
//! thread. Here a [`Blocks`] only reads text and cuts it where a sentence ends; a [`Format`] finds
//! the tokens in it, which is pure and so can be done by any worker; whoever writes copies the text
//! verbatim around the labels it puts in. Buffers are lent by the caller and used again, and no
//! token is ever a string of its own: it is a [`Span`] of the block's text.
//!
//! A block ends after an empty line (blanks and a CR do not count) or with the file. It is about as
//! large as asked for, larger if one sentence is.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use seqoia_core::cast::narrow;

use crate::error::{Error, Result};
use crate::open::Input;

/// Bytes of a block unless told otherwise: fits the second-level cache, and a block of it keeps a
/// worker busy for long enough that handing it over costs nothing.
pub const BLOCK: usize = 256 << 10;

/// The most text one block can hold, since spans count in 32 bits.
const LIMIT: usize = u32::MAX as usize;

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
    /// blanks: a column is added by writing the separator and a value at `span.end`.
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
}

impl Rows {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.sentences.clear();
        self.tokens.clear();
        self.fields.clear();
        self.marks.clear();
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
    text: String,
    first_line: u64,
    rows: Rows,
}

impl Default for Block {
    fn default() -> Self {
        Self { text: String::new(), first_line: 1, rows: Rows::default() }
    }
}

impl Block {
    /// The text, verbatim but for a byte-order mark at the start of the file.
    #[inline]
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line of the file, from 1, on which the text starts.
    #[inline]
    #[must_use]
    pub const fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Text and rows apart, for a [`Format`] to fill the rows while it reads the text.
    pub fn parts(&mut self) -> (&str, &mut Rows) {
        (&self.text, &mut self.rows)
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

    /// Puts the text of the block that follows this one in the file behind this one's.
    pub(super) fn append(&mut self, next: &Self, file: &str) -> Result<()> {
        if self.text.len().saturating_add(next.text.len()) > LIMIT {
            return Err(too_long(file, self.first_line));
        }
        self.rows.clear();
        self.text.push_str(&next.text);
        Ok(())
    }
}

/// Finds the tokens of a text. Pure: any number of threads may use one format at once.
pub trait Format: Send + Sync + std::fmt::Debug {
    /// Which format it is.
    fn kind(&self) -> super::Kind;

    /// Number of fields of every token.
    fn columns(&self) -> usize;

    /// What to write between a row and a column added to it.
    fn separator(&self) -> char;

    /// Fills the rows of `block` from its text; `file` is the name for errors. After an error the
    /// block has no rows.
    ///
    /// # Errors
    ///
    /// The first row that is not as the format wants it.
    fn parse(&self, file: &str, block: &mut Block) -> Result<()>;
}

/// Reads an [`Input`] block by block.
///
/// ```
/// use seqoia_data::format::{self, Block, Blocks};
/// use seqoia_data::open::Input;
///
/// let input = Input::from_bytes("a.txt", "The DT\ncat NN\n\nSleep VB\n")?;
/// let (mut blocks, mut block) = (Blocks::new(input), Block::default());
/// let format = format::first(&mut blocks, &mut block, None)?;
/// loop {
///     format.parse(blocks.name(), &mut block)?;
///     for sentence in block.sentences() {
///         let tags: Vec<&str> = sentence.tokens.map(|i| block.field(i, 1)).collect();
///         assert!(tags == ["DT", "NN"] || tags == ["VB"]);
///     }
///     if !blocks.fill(&mut block)? {
///         break;
///     }
/// }
/// # Ok::<(), seqoia_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Blocks {
    input: Input,
    size: usize,
    limit: usize,
    eager: bool,
    /// What was read beyond the last cut; it starts a line.
    rest: Vec<u8>,
    /// The line with which `rest` starts.
    line: u64,
    /// Nothing was given out yet.
    fresh: bool,
    ended: bool,
}

impl Blocks {
    /// Blocks of [`BLOCK`] bytes.
    #[must_use]
    pub fn new(input: Input) -> Self {
        Self::with_size(input, BLOCK)
    }

    /// Blocks of about `size` bytes.
    #[must_use]
    pub fn with_size(input: Input, size: usize) -> Self {
        Self {
            input,
            size: size.clamp(1, LIMIT),
            limit: LIMIT,
            eager: false,
            rest: Vec::new(),
            line: 1,
            fresh: true,
            ended: false,
        }
    }

    /// With `true` a block is given out as soon as it holds a whole sentence, instead of waiting
    /// until it is full: for a program at the other end of a pipe that wants an answer to each
    /// sentence before it writes the next.
    #[must_use]
    pub const fn eager(mut self, eager: bool) -> Self {
        self.eager = eager;
        self
    }

    /// The input's name for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.input.name
    }

    /// Reads the next block's text; `false` at the end of the file. The block has no rows yet: let a
    /// [`Format`] find them. After an error the file counts as ended.
    ///
    /// # Errors
    ///
    /// The input cannot be read or unpacked, is binary, is not UTF-8, or has a sentence of more than
    /// 4 GiB.
    pub fn fill(&mut self, block: &mut Block) -> Result<bool> {
        let filled = self.next(block);
        if filled.is_err() {
            self.ended = true;
            self.rest.clear();
        }
        filled
    }

    fn next(&mut self, block: &mut Block) -> Result<bool> {
        block.rows.clear();
        block.first_line = self.line;
        let mut bytes = std::mem::take(&mut block.text).into_bytes();
        bytes.clear();
        bytes.append(&mut self.rest);
        let cut = self.read_block(&mut bytes)?;
        self.rest.extend_from_slice(&bytes[cut..]);
        bytes.truncate(cut);
        let some = cut > 0;
        if some && self.fresh {
            self.fresh = false;
            if bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
        }
        self.line += newlines(&bytes);
        block.text = checked(&self.input.name, block.first_line, bytes)?;
        Ok(some)
    }

    /// Reads until `bytes` holds a block, and says where the block ends.
    fn read_block(&mut self, bytes: &mut Vec<u8>) -> Result<usize> {
        // The lines before this byte are known to hold no end of a sentence.
        let mut searched = 0;
        loop {
            let more = if bytes.len() < self.size { self.size } else { bytes.len().saturating_mul(2) };
            self.read_up_to(bytes, more.min(self.limit.saturating_add(1)))?;
            if self.ended && bytes.len() <= self.limit {
                return Ok(bytes.len());
            }
            if let Some(cut) = last_end(&bytes[searched..]) {
                return Ok(searched + cut);
            }
            if bytes.len() > self.limit {
                return Err(too_long(&self.input.name, self.line));
            }
            searched += memrchr(b'\n', &bytes[searched..]).map_or(0, |n| n + 1);
        }
    }

    /// Reads until there are `length` bytes or the file ends; an eager reader reads once.
    fn read_up_to(&mut self, bytes: &mut Vec<u8>, length: usize) -> Result<()> {
        let mut filled = bytes.len();
        if self.ended || filled >= length {
            return Ok(());
        }
        bytes.resize(length, 0);
        while filled < length {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(n) => {
                    filled = (filled + n).min(length);
                    if self.eager {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from_io(&self.input.name, &error)),
            }
        }
        bytes.truncate(filled);
        Ok(())
    }
}

/// Whether a line is empty for our purposes.
#[inline]
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Byte behind the last empty line that is complete. `bytes` starts with the start of a line.
fn last_end(bytes: &[u8]) -> Option<usize> {
    let mut end = memrchr(b'\n', bytes)?;
    loop {
        let start = memrchr(b'\n', &bytes[..end]).map_or(0, |n| n + 1);
        if is_blank(&bytes[start..end]) {
            return Some(end + 1);
        }
        end = start.checked_sub(1)?;
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// The bytes as text, if they are text.
fn checked(file: &str, first_line: u64, bytes: Vec<u8>) -> Result<String> {
    let line_of = |bytes: &[u8], at: usize| first_line + newlines(&bytes[..at]);
    if first_line == 1 && (bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")) {
        return Err(Error::at(file, 1, "the text is UTF-16, UTF-8 is wanted")
            .help("convert it: iconv -f UTF-16 -t UTF-8"));
    }
    if let Some(at) = memchr(0, &bytes) {
        return Err(Error::at(file, line_of(&bytes, at), "a byte 0x00: the file is binary, not text").help(
            "text in UTF-8 is wanted, plain or packed with gzip, xz or zstd; convert UTF-16 with iconv",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let place = at - memrchr(b'\n', &bytes[..at]).map_or(0, |n| n + 1) + 1;
        let byte = bytes.get(at).copied().unwrap_or_default();
        Error::at(file, line_of(bytes, at), format!("byte {place} of the line, 0x{byte:02X}, is not UTF-8"))
            .help("convert the file; if it is Latin-1: iconv -f ISO-8859-1 -t UTF-8")
    })
}

fn too_long(file: &str, line: u64) -> Error {
    Error::at(file, line, "a sentence of more than 4 GiB starts here")
        .help("an empty line must stand after each sentence")
}
