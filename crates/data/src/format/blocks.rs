//! Reads a text block by block.
//!
//! Only bytes are looked at here: empty lines are searched from the end of what was read, UTF-8 is
//! checked once for the block, lines are counted. All of it runs at the speed of memory, so that one
//! thread can read for many that parse and label.
//!
//! A block ends with a line that ends a sentence, or with the file. That is an empty line (blanks and a
//! CR do not count) unless the format has other ends ([`Blocks::cut_at`]). It is about as large as
//! asked for, larger if one sentence is. Where documents are wanted whole ([`Blocks::whole_documents`]), it ends
//! before a row that starts one.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::block::{Block, LIMIT, is_blank, too_long};
use super::columns::is_docstart;
use crate::error::{Error, Result};
use crate::open::Input;
use crate::text::size;

/// Bytes of a block unless told otherwise: fits the second-level cache, and keeps a worker busy for
/// long enough that handing it over costs nothing.
pub const BLOCK: usize = 256 << 10;

/// Bytes of the longest document that is kept whole: in columns some 300,000 tokens.
pub const DOCUMENT: usize = 4 << 20;

/// What starts a document, and one byte, which tells whether the word ends there.
const MARK: &[u8] = b"\n-DOCSTART-";

/// Reads an [`Input`] block by block. [`Reader`](super::Reader) is made of it and finds the tokens, too.
///
/// ```
/// use seqoia_data::format::{Block, Blocks};
/// use seqoia_data::open::Input;
///
/// let input = Input::from_bytes("a.txt", "The DT\ncat NN\n\nSleep VB\n")?;
/// let (mut blocks, mut block) = (Blocks::with_size(input, 8), Block::default());
/// assert!(blocks.fill(&mut block)? && block.text() == "The DT\ncat NN\n\n");
/// assert!(blocks.fill(&mut block)? && block.text() == "Sleep VB\n");
/// assert!(!blocks.fill(&mut block)?);
/// # Ok::<(), seqoia_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Blocks {
    input: Input,
    size: usize,
    limit: usize,
    eager: bool,
    /// The longest document that is kept whole, if documents are.
    document: Option<usize>,
    /// Whether a sentence ends with this line.
    ends: fn(&[u8]) -> bool,
    /// Where the last document starts, if it is not the first.
    last_document: fn(&[u8]) -> Option<usize>,
    /// What was read beyond the last cut; it starts a line.
    rest: Vec<u8>,
    /// The line with which `rest` starts.
    line: u64,
    /// Nothing was given out yet.
    fresh: bool,
    ended: bool,
    /// Found behind what was given out.
    broken: Option<Error>,
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
        let limit = input.limit().clamp(1, LIMIT);
        Self {
            input,
            size: size.clamp(1, limit),
            limit,
            eager: false,
            document: None,
            ends: is_blank,
            last_document,
            rest: Vec::new(),
            line: 1,
            fresh: true,
            ended: false,
            broken: None,
        }
    }

    /// With `true` a block is given out as soon as it holds a whole sentence, instead of waiting
    /// until it is full: for a program at the other end of a pipe that wants an answer to each
    /// sentence before it writes the next. How much is read at once is then chance, so each sentence counts as a
    /// document of its own.
    #[must_use]
    pub const fn eager(mut self, eager: bool) -> Self {
        self.eager = eager;
        self
    }

    /// With `true` a block holds whole documents, each up to [`DOCUMENT`] bytes, so that what is looked up in a
    /// document does not depend on what stands before it in the file. A longer one is cut behind the last
    /// sentence that fits. An eager reader does not wait for the end of a document; to it each sentence is one.
    #[must_use]
    pub fn whole_documents(mut self, whole: bool) -> Self {
        self.document = whole.then_some(DOCUMENT);
        self
    }

    /// Says after which lines a block may end: those with which a sentence does.
    pub fn cut_at(&mut self, ends: fn(&[u8]) -> bool) {
        self.ends = ends;
    }

    /// Says where documents start: at the byte of the last one in a stretch of whole lines, but for the first line.
    pub(super) fn documents_at(&mut self, last: fn(&[u8]) -> Option<usize>) {
        self.last_document = last;
    }

    /// The first line that is not blank, as far as it was read; empty if there is none. Nothing is
    /// taken from what [`fill`](Self::fill) will give.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn peek(&mut self) -> Result<&[u8]> {
        let mut rest = std::mem::take(&mut self.rest);
        let mut read = Ok(());
        while read.is_ok() && !self.ended && !has_line(&rest) && rest.len() < self.limit {
            let more = rest.len().saturating_mul(2).max(self.size);
            read = self.read_up_to(&mut rest, more.min(self.limit));
        }
        self.rest = rest;
        read?;
        let lines =
            self.rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.rest).split(|&byte| byte == b'\n');
        Ok(lines.into_iter().find(|line| !is_blank(line)).unwrap_or_default())
    }

    /// Bytes that were read ahead, as far as there is memory for them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rest.capacity()
    }

    /// The input's name for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.input.name
    }

    /// Reads the next block's text; `false` at the end of the file. The block has no rows yet: let a
    /// [`Format`](super::Format) find them. After an error the file counts as ended.
    ///
    /// # Errors
    ///
    /// The input cannot be read or unpacked, is binary, is not UTF-8, or has a sentence beyond its
    /// [limit](Input::limit).
    pub fn fill(&mut self, block: &mut Block) -> Result<bool> {
        let filled = self.next(block);
        if filled.is_err() {
            self.ended = true;
            self.rest.clear();
        }
        filled
    }

    /// Takes the last block back, to be given again.
    pub(super) fn give_back(&mut self, block: &Block) {
        self.rest.splice(0..0, block.text().bytes());
        self.line = block.first_line;
    }

    fn next(&mut self, block: &mut Block) -> Result<bool> {
        block.rows.clear();
        block.first_line = self.line;
        block.apart = self.eager;
        let mut bytes = block.take_text();
        bytes.clear();
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        if self.rest.len() > self.size {
            std::mem::swap(&mut bytes, &mut self.rest); // as large as they may be, they are not copied
        } else {
            bytes.append(&mut self.rest);
        }
        let cut = match self.document.filter(|_| !self.eager) {
            Some(longest) => self.read_documents(&mut bytes, longest)?,
            None => self.read_block(&mut bytes)?,
        };
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
        match checked(&self.input.name, block.first_line, bytes) {
            Ok(text) => block.set_text(text),
            Err((error, bytes)) => block.set_text(self.sound(bytes, error, block.first_line)?),
        }
        Ok(some)
    }

    /// The sentences before the one with the line that is not text; that is told when they were given out.
    fn sound(&mut self, mut bytes: Vec<u8>, error: Error, first_line: u64) -> Result<String> {
        let lines = usize::try_from(error.line.saturating_sub(first_line)).unwrap_or(0);
        let start = lines.checked_sub(1).and_then(|before| memchr_iter(b'\n', &bytes).nth(before));
        let Some(cut) = start.and_then(|start| last_end(&bytes[..=start], self.ends)) else {
            return Err(error);
        };
        bytes.truncate(cut);
        self.broken = Some(error);
        checked(&self.input.name, first_line, bytes).map_err(|(error, _)| error)
    }

    /// Reads until `bytes` holds whole documents, and says where they end.
    fn read_documents(&mut self, bytes: &mut Vec<u8>, longest: usize) -> Result<usize> {
        // What starts at the end of the longest document must be seen to start one.
        let most = longest + MARK.len();
        let mut more = bytes.len().max(self.size);
        loop {
            self.read_up_to(bytes, more.min(most))?;
            if let Some(cut) = (self.last_document)(&bytes[..bytes.len().min(most)]) {
                return Ok(cut);
            }
            if self.ended && bytes.len() <= longest {
                return Ok(bytes.len());
            }
            if bytes.len() >= most || self.ended {
                break;
            }
            more = bytes.len().saturating_mul(2);
        }
        match last_end(&bytes[..longest], self.ends) {
            Some(cut) => Ok(cut),
            None => self.read_block(bytes),
        }
    }

    /// Reads until `bytes` holds a block, and says where the block ends.
    fn read_block(&mut self, bytes: &mut Vec<u8>) -> Result<usize> {
        // The lines before this byte are known to hold no end of a sentence.
        let mut searched = 0;
        // What a look ahead has read may be a block already; an eager reader must not wait for more.
        let mut more = if self.eager { bytes.len() } else { bytes.len().max(self.size) };
        loop {
            self.read_up_to(bytes, more.min(self.limit.saturating_add(1)))?;
            if self.ended && bytes.len() <= self.limit {
                return Ok(bytes.len());
            }
            if let Some(cut) = last_end(&bytes[searched..], self.ends) {
                return Ok(searched + cut);
            }
            if bytes.len() > self.limit {
                return Err(too_long(&self.input.name, self.line, self.limit));
            }
            searched += memrchr(b'\n', &bytes[searched..]).map_or(0, |n| n + 1);
            more = if bytes.len() < self.size { self.size } else { bytes.len().saturating_mul(2) };
        }
    }

    /// Reads until there are `length` bytes or the file ends; an eager reader reads once.
    fn read_up_to(&mut self, bytes: &mut Vec<u8>, length: usize) -> Result<()> {
        let mut filled = bytes.len();
        if self.ended || filled >= length {
            return Ok(());
        }
        if bytes.try_reserve_exact(length - filled).is_err() {
            let what = format!("there is no memory for a sentence of {}", size(length));
            return Err(Error::at(&self.input.name, self.line, what)
                .help("is the end of a sentence missing, mostly an empty line?"));
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

/// Whether there is a whole line that is not blank.
fn has_line(bytes: &[u8]) -> bool {
    let whole = memrchr(b'\n', bytes).unwrap_or(0);
    bytes[..whole].iter().any(|byte| !byte.is_ascii_whitespace())
}

/// Byte behind the last line that is complete and ends a sentence. `bytes` starts with the start of a
/// line.
pub(super) fn last_end(bytes: &[u8], ends: fn(&[u8]) -> bool) -> Option<usize> {
    let mut end = memrchr(b'\n', bytes)?;
    loop {
        let start = memrchr(b'\n', &bytes[..end]).map_or(0, |n| n + 1);
        if ends(&bytes[start..end]) {
            return Some(end + 1);
        }
        end = start.checked_sub(1)?;
    }
}

/// Byte of the last line, but for the first, that starts a document.
fn last_document(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(before) = memmem::rfind(&bytes[..end], MARK) {
        let start = before + 1;
        let row = &bytes[start..];
        let row = &row[..row.len().min(MARK.len())];
        if row.len() == MARK.len() && is_docstart(row.strip_suffix(b"\n").unwrap_or(row)) {
            return Some(start);
        }
        end = start;
    }
    None
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// The bytes as text, if they are text; else what is wrong, and the bytes.
pub(crate) fn checked(
    file: &str,
    first_line: u64,
    bytes: Vec<u8>,
) -> std::result::Result<String, (Error, Vec<u8>)> {
    let line_of = |bytes: &[u8], at: usize| first_line + newlines(&bytes[..at]);
    if first_line == 1 && (bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")) {
        let error = Error::at(file, 1, "the text is UTF-16, UTF-8 is wanted")
            .help("convert it: iconv -f UTF-16 -t UTF-8");
        return Err((error, bytes));
    }
    if let Some(at) = memchr(0, &bytes) {
        let error = Error::at(file, line_of(&bytes, at), "a byte 0x00: the file is binary, not text").help(
            "text in UTF-8 is wanted, plain or packed with gzip, xz or zstd; convert UTF-16 with iconv",
        );
        return Err((error, bytes));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let place = at - memrchr(b'\n', &bytes[..at]).map_or(0, |n| n + 1) + 1;
        let byte = bytes.get(at).copied().unwrap_or_default();
        let what = format!("byte {place} of the line, 0x{byte:02X}, is not UTF-8");
        let help = "convert the file; if it is Latin-1: iconv -f ISO-8859-1 -t UTF-8";
        (Error::at(file, line_of(&bytes, at), what).help(help), bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(bytes: &[u8], size: usize) -> Blocks {
        Blocks::with_size(Input::from_bytes("a.txt", bytes).unwrap(), size)
    }

    /// The texts of all blocks with their first lines.
    fn texts(mut blocks: Blocks) -> Result<Vec<(u64, String)>> {
        let mut block = Block::default();
        let mut texts = Vec::new();
        while blocks.fill(&mut block)? {
            texts.push((block.first_line(), block.text().to_owned()));
        }
        assert!(!blocks.fill(&mut block).unwrap(), "the end is the end");
        assert!(block.text().is_empty());
        Ok(texts)
    }

    fn error(bytes: &[u8], size: usize) -> String {
        texts(blocks(bytes, size)).unwrap_err().to_string()
    }

    #[test]
    fn cuts_behind_empty_lines() {
        let text = b"a\nb\n\nc\n \t\r\nd\n\n\n\ne";
        let all = |size| texts(blocks(text, size)).unwrap();
        let expected = |parts: &[(u64, &str)]| -> Vec<(u64, String)> {
            parts.iter().map(|&(line, text)| (line, text.to_owned())).collect()
        };
        assert_eq!(all(100), expected(&[(1, "a\nb\n\nc\n \t\r\nd\n\n\n\ne")]));
        assert_eq!(all(7), expected(&[(1, "a\nb\n\n"), (4, "c\n \t\r\n"), (6, "d\n\n\n\ne")]));
        assert_eq!(all(6)[2..], expected(&[(6, "d\n\n\n\n"), (10, "e")]));
        // As small as can be: the length doubles until an empty line is in it.
        assert_eq!(joined(&all(1)).as_bytes(), text);
    }

    #[test]
    fn long_lines_and_long_sentences() {
        let word = "x".repeat(10 << 20);
        let text = format!("{word} NN\n\nshort NN\n");
        assert_eq!(joined(&texts(blocks(text.as_bytes(), 1000)).unwrap()), text);
        let text = "word NN\n".repeat(1 << 18);
        assert_eq!(texts(blocks(text.as_bytes(), 1000)).unwrap(), [(1, text)]);
    }

    fn joined(texts: &[(u64, String)]) -> String {
        texts.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn a_sentence_beyond_the_limit() {
        let limited = |text: &str, size| {
            texts(Blocks::with_size(Input::from_bytes("a.txt", text).unwrap().with_limit(20), size))
        };
        let long = "a\n\nlong 1\nlong 2\nlong 3\n\nb\n";
        for size in 1..=20 {
            assert_eq!(
                limited(long, size).unwrap_err().to_string(),
                "a.txt:3: a sentence of more than 20 bytes starts here\n  help: is the end of a sentence missing, \
                 mostly an empty line? `limit` raises this bound, such as `limit 4G`",
                "{size}"
            );
            let short = "a\n\nlong 1\nlong 2\nlon\n\nb\nc\n\nabcdefghijabcdefghij";
            assert_eq!(joined(&limited(short, size).unwrap()), short, "{size}");
        }
    }

    #[test]
    fn documents_stay_whole_as_far_as_they_go() {
        let documents = [
            "a\n\nb\n\n",
            "-DOCSTART-\n\nc\n\nd\ne\n", // no empty line before the next
            "-DOCSTART- O\n\n",
            "-DOCSTART-\r\n\r\n-DOCSTART-s\n\nf\n\n",
            "-DOCSTART-\tO\n\nlong 1\n\nlong 2\n\nlong 3\n\nlong 4\n\nlong 5\n\n",
            "-DOCSTART-\n\ng",
        ];
        let cut = |text: &str, size| {
            let mut blocks = blocks(text.as_bytes(), size);
            blocks.document = Some(36);
            texts(blocks).unwrap()
        };
        let whole = documents.concat();
        for size in 1..=whole.len() + 1 {
            let found = cut(&whole, size);
            assert_eq!(joined(&found), whole);
            // Wherever blocks are cut, the parts of each document are those that it has alone.
            let mut places: Vec<usize> = vec![];
            found.iter().for_each(|(_, text)| places.push(places.last().unwrap_or(&0) + text.len()));
            let mut from = 0;
            for document in documents {
                let inner = places.iter().filter(|p| (from + 1..from + document.len()).contains(*p));
                let own: Vec<usize> = inner.map(|p| p - from).collect();
                let alone = cut(document, size);
                let mut at = 0;
                let ends = alone.iter().map(|(_, text)| {
                    at += text.len();
                    at
                });
                let alone: Vec<usize> = ends.filter(|end| *end < document.len()).collect();
                assert_eq!(own, alone, "{document:?} {size}");
                assert_eq!(own.is_empty(), document.len() <= 36, "{document:?} {size}");
                from += document.len();
            }
        }
        // Up to the longest one, to the byte.
        for extra in 0..=12 {
            let first = format!("a {}\n\nb\n\n", "x".repeat(20 + extra));
            let found = cut(&format!("{first}-DOCSTART-\n\nb\n"), 1);
            assert_eq!(found[0].1 == first, first.len() <= 36, "{}", first.len());
            assert_eq!(cut(&first, 1).len() == 1, first.len() <= 36, "{}", first.len());
        }
    }

    #[test]
    fn byte_order_marks() {
        assert_eq!(
            texts(blocks(b"\xef\xbb\xbfa\n\nb\n", 1)).unwrap(),
            [(1, "a\n\n".into()), (3, "b\n".into())]
        );
        assert_eq!(texts(blocks(b"\xef\xbb\xbf", 9)).unwrap(), [(1, String::new())]);
        // Only at the start of the file.
        assert_eq!(texts(blocks("a\n\n\u{feff}b".as_bytes(), 1)).unwrap()[1], (3, "\u{feff}b".into()));
        for mark in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a"] {
            assert_eq!(
                error(mark, 9),
                "a.txt:1: the text is UTF-16, UTF-8 is wanted\n  help: convert it: iconv -f UTF-16 -t UTF-8"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text() {
        let help = "help: convert the file; if it is Latin-1: iconv -f ISO-8859-1 -t UTF-8";
        for size in [1, 3, 100] {
            assert_eq!(
                error(b"the DT\n\ncaf\xe9 NN\n\n", size),
                format!("a.txt:3: byte 4 of the line, 0xE9, is not UTF-8\n  {help}")
            );
            // Cut inside a character.
            assert_eq!(
                error(b"a\n\nb \xe4\xb8", size),
                format!("a.txt:3: byte 3 of the line, 0xE4, is not UTF-8\n  {help}")
            );
            assert_eq!(
                error(b"a\n\nb\n\0\xff", size),
                "a.txt:4: a byte 0x00: the file is binary, not text\n  help: text in UTF-8 is wanted, \
                 plain or packed with gzip, xz or zstd; convert UTF-16 with iconv"
            );
        }
    }

    #[test]
    fn what_stands_before_an_error_is_given_out() {
        for size in [1, 100] {
            let (mut blocks, mut block) = (blocks(b"a\n\nb\n\nc\n\xff\n\nd\n\n", size), Block::default());
            let mut given = String::new();
            let error = loop {
                match blocks.fill(&mut block) {
                    Ok(true) => given.push_str(block.text()),
                    Ok(false) => panic!("the error is lost"),
                    Err(error) => break error,
                }
            };
            assert_eq!((given.as_str(), error.line), ("a\n\nb\n\n", 6));
            assert!(!blocks.fill(&mut block).unwrap());
        }
    }

    #[test]
    fn the_file_ends_at_an_error() {
        let mut blocks = blocks(b"a\n\n\xff\n\nb\n\n", 1);
        let mut block = Block::default();
        assert!(blocks.fill(&mut block).unwrap());
        assert!(blocks.fill(&mut block).is_err());
        assert!(!blocks.fill(&mut block).unwrap());
    }

    #[test]
    fn a_read_that_fails() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("on fire"))
            }
        }
        let input =
            Input::from_reader("a.txt", (&b"some text, more than ten bytes"[..]).chain(Broken)).unwrap();
        let error = Blocks::new(input).fill(&mut Block::default()).unwrap_err();
        assert_eq!(error.to_string(), "a.txt: cannot be read: on fire");
    }

    #[test]
    fn an_eager_reader_does_not_wait() {
        /// Each write of the other side is one read, and the last one says how far we may ask.
        struct Talk(std::vec::IntoIter<&'static [u8]>);
        impl Read for Talk {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let Some(words) = self.0.next() else { return Ok(0) };
                assert_ne!(words, b"STOP", "asked for more before the answer");
                buffer[..words.len()].copy_from_slice(words);
                Ok(words.len())
            }
        }
        let talk = vec![&b"a"[..], b"\n", b"b\n", b"\n", b"STOP"].into_iter();
        let input = Input::from_reader("talk", Talk(talk)).unwrap();
        let mut blocks = Blocks::new(input).eager(true);
        let mut block = Block::default();
        assert!(blocks.fill(&mut block).unwrap());
        assert_eq!(block.text(), "a\nb\n\n");
    }
}
