//! A file from its first block to its last, whoever reads it: format, tokens, digest, memory.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::{Block, Blocks, Format, Kind, first};
use crate::error::{Error, Result};
use crate::format::Sentences;

/// Gives the tokens of a text block by block.
///
/// ```
/// use seqoia_data::format::{Blocks, Reader};
/// use seqoia_data::open::Input;
///
/// let input = Input::from_bytes("a.txt", "The DT\ncat NN\n\nSleep VB\n")?;
/// let mut reader = Reader::new(Blocks::new(input), None)?;
/// assert_eq!(reader.format().columns(), 2);
/// while let Some(block) = reader.next()? {
///     for sentence in block.sentences() {
///         let tags: Vec<&str> = sentence.tokens.map(|i| block.field(i, 1)).collect();
///         assert!(tags == ["DT", "NN"] || tags == ["VB"]);
///     }
/// }
/// # Ok::<(), seqoia_data::Error>(())
/// ```
pub struct Reader {
    name: String,
    format: Arc<dyn Format>,
    origin: Origin,
    block: Block,
    /// The block was read and not given out: without tokens, or with them.
    waiting: Option<Waiting>,
    digest: Xxh3,
    largest: usize,
}

/// Where blocks come from.
enum Origin {
    Text(Box<Blocks>),
    /// Those of a program, which are parsed already.
    Program(std::vec::IntoIter<Block>),
}

/// What [`Reader::take`] gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The file is at its end.
    Nothing,
    /// A block whose tokens are to be found.
    Text,
    /// A block with its tokens.
    Parsed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Raw,
    Parsed,
}

impl Reader {
    /// Reads the start of a text and decides in which format to read it: `kind`, or what it looks like.
    ///
    /// # Errors
    /// What [`first`] says.
    pub fn new(mut blocks: Blocks, kind: Option<Kind>) -> Result<Self> {
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, kind)?.into();
        let name = blocks.name().to_owned();
        let (mut digest, waiting) = (Xxh3::new(), Some(Waiting::Raw));
        digest.update(block.text().as_bytes());
        let origin = Origin::Text(Box::new(blocks));
        Ok(Reader { name, format, origin, block, waiting, digest, largest: 0 })
    }

    /// The same for sentences that are in memory.
    ///
    /// # Errors
    /// None of them has a token.
    pub fn of_sentences(sentences: Sentences) -> Result<Self> {
        let name = sentences.name().to_owned();
        let (format, digest, blocks) = sentences.into_blocks()?;
        let origin = Origin::Program(blocks.into_iter());
        Ok(Reader { name, format, origin, block: Block::default(), waiting: None, digest, largest: 0 })
    }

    /// The file's name for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is read.
    #[must_use]
    pub fn format(&self) -> Arc<dyn Format> {
        Arc::clone(&self.format)
    }

    /// XXH3 of the text that was read so far; of sentences in memory, of all of them.
    #[must_use]
    pub fn digest(&self) -> String {
        format!("{:032x}", self.digest.digest128())
    }

    /// Bytes of the largest stretch of text that was in memory, with what was found in it here: what workers find in
    /// the blocks of [`fill`](Self::fill) is theirs.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// The next block with its tokens; none at the end.
    ///
    /// # Errors
    /// A text that cannot be read, or a row that is not as the format wants it.
    #[allow(clippy::should_implement_trait)] // a block is lent, and its memory used again
    pub fn next(&mut self) -> Result<Option<&Block>> {
        let there = self.advance()?;
        self.waiting = None;
        Ok(there.then_some(&self.block))
    }

    /// The same block that [`next`](Self::next) will give.
    ///
    /// # Errors
    /// As there.
    pub fn peek(&mut self) -> Result<Option<&Block>> {
        let there = self.advance()?;
        self.waiting = there.then_some(Waiting::Parsed);
        Ok(there.then_some(&self.block))
    }

    fn advance(&mut self) -> Result<bool> {
        if self.waiting.is_none() {
            match &mut self.origin {
                Origin::Text(blocks) => match blocks.fill(&mut self.block)? {
                    true => {
                        self.digest.update(self.block.text().as_bytes());
                        self.waiting = Some(Waiting::Raw);
                    }
                    false => return Ok(false),
                },
                Origin::Program(blocks) => match blocks.next() {
                    Some(block) => {
                        self.largest = self.largest.max(block.bytes(self.format.kind()));
                        (self.block, self.waiting) = (block, Some(Waiting::Parsed));
                    }
                    None => return Ok(false),
                },
            }
        }
        if let (Some(Waiting::Raw), Origin::Text(blocks)) = (self.waiting, &self.origin) {
            // A block that is broken stays, so that it is told whenever it is asked for.
            self.format.parse(&self.name, &mut self.block)?;
            self.largest = self.largest.max(self.block.bytes(self.format.kind()) + blocks.bytes());
        }
        Ok(true)
    }

    /// The next block as it was read, for a worker that finds its tokens; `false` at the end.
    ///
    /// # Errors
    /// A text that cannot be read; sentences in memory, which have no text.
    pub fn fill(&mut self, block: &mut Block) -> Result<bool> {
        let Origin::Text(blocks) = &mut self.origin else {
            return Err(Error::new(&self.name, "sentences in memory have no text to find tokens in"));
        };
        if self.waiting.take().is_some() {
            std::mem::swap(block, &mut self.block);
        } else if blocks.fill(block)? {
            self.digest.update(block.text().as_bytes());
        } else {
            return Ok(false);
        }
        self.largest = self.largest.max(block.bytes(self.format.kind()) + blocks.bytes());
        Ok(true)
    }

    /// The next block, as it was read or with its tokens.
    ///
    /// # Errors
    /// A text that cannot be read.
    pub(crate) fn take(&mut self, block: &mut Block) -> Result<Taken> {
        match (&mut self.origin, self.waiting.take()) {
            (_, Some(Waiting::Parsed)) => {
                std::mem::swap(block, &mut self.block);
                Ok(Taken::Parsed)
            }
            (Origin::Program(blocks), _) => match blocks.next() {
                Some(next) => {
                    *block = next;
                    Ok(Taken::Parsed)
                }
                None => Ok(Taken::Nothing),
            },
            (Origin::Text(_), waiting) => {
                self.waiting = waiting;
                Ok(if self.fill(block)? { Taken::Text } else { Taken::Nothing })
            }
        }
    }

    /// The text of the first block, before its tokens are looked for.
    #[must_use]
    pub fn start(&self) -> &str {
        self.block.text()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use crate::open::Input;

    fn reader(text: &str, size: usize) -> Reader {
        Reader::new(Blocks::with_size(Input::from_bytes("a.txt", text).unwrap(), size), None).unwrap()
    }

    #[test]
    fn every_block_comes_once_however_it_is_asked_for() {
        let text = "a X\n\nb X\nc Y\n\nd Y\n";
        for size in [1, 5, 100] {
            let mut words = vec![];
            let mut reader = reader(text, size);
            assert!(text.starts_with(reader.start()) && !reader.start().is_empty());
            assert_eq!(reader.peek().unwrap().unwrap().field(0, 0), "a");
            while let Some(block) = reader.next().unwrap() {
                words.extend((0..block.tokens().len()).map(|i| block.field(i, 0).to_owned()));
            }
            assert_eq!(words, ["a", "b", "c", "d"], "{size}");
            assert!(reader.next().unwrap().is_none() && reader.largest() > 0);
            assert_eq!(reader.digest(), format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes())));
        }
    }

    #[test]
    fn workers_get_the_text_of_every_block() {
        let text = "a X\n\nb X\n\nc Y\n";
        for (size, peek) in [(1, false), (5, false), (100, false), (1, true), (5, true), (100, true)] {
            let (mut reader, mut block, mut all) = (reader(text, size), Block::default(), String::new());
            if peek {
                assert!(reader.peek().unwrap().is_some());
            }
            while reader.fill(&mut block).unwrap() {
                all.push_str(block.text());
            }
            assert_eq!(all, text);
            assert_eq!(reader.digest(), format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes())));
            assert!(reader.largest() >= size.min(text.len()));
        }
        let mut sentences = Sentences::new("mine");
        sentences.add(&["a"], &["X"]).unwrap();
        assert!(Reader::of_sentences(sentences).unwrap().fill(&mut Block::default()).is_err());
    }

    #[test]
    fn errors_have_their_line_however_often_they_are_asked_for() {
        let text = "a X\n\nb X\n\nc\n\nd X\n";
        for size in [1, 5, 100] {
            let mut reader = reader(text, size);
            let error = loop {
                match reader.next() {
                    Ok(block) => assert!(block.is_some(), "an error is no end"),
                    Err(error) => break error,
                }
            };
            let digest = reader.digest();
            assert_eq!((error.line, reader.next().unwrap_err().line), (5, 5), "{size}");
            assert_eq!((reader.peek().unwrap_err().line, reader.digest()), (5, digest), "{size}");
        }
    }
}
