//! Reads a training file on up to three threads, to the same numbers as on one.
//!
//! Numbers of values and attributes follow the order in which the file has them, so each table has one thread that
//! fills it, sentence after sentence. But there are two tables, and a tuple can be put together without the table that
//! it will be looked up in:
//!
//! ```text
//! Reader ---> blocks ---> [First: values, views] ---> stretches of tuples ---> [Second: attributes]
//! ```
//!
//! Each half takes about the same time. Where all attributes are the file's own there are no tuples: the first half
//! finds tokens, labels and names, the second looks names up. A third thread finds the tokens of the next blocks.
//!
//! Tried before: blocks in parallel, each with tables of its own for what is new, which then got its last numbers in
//! the order of the file; a third more work, and no faster on two threads.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use super::dictionary::NewValues;
use super::extract::begin;
use super::given::Given;
use super::index::{Parts, Rest, check_room};
use super::numbers::Numbers;
use super::stretch::{Stretch, WINDOW};
use super::views::Views;
use super::{Extractor, Growing, Indexer, Program};
use crate::error::Result;
use crate::format::{Block, Reader, Taken};
use crate::threads::{Giver, Taker, conveyor, joined, spawn};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// Look-ups that are handed over at once: enough that waking a thread costs little, few enough to stay in a cache.
const LOOKUPS: usize = 1 << 14;
/// What one thread may be ahead of the next.
const AHEAD: usize = 2;

/// What the first half hands over.
#[derive(Default)]
struct Batch {
    stretches: Vec<Stretch>,
    used: usize,    // of them
    lookups: usize, // in them
    block: Block,   // where all attributes are the file's own
    line: u64,      // for errors
}

/// Reads values and puts tuples together.
struct First<'a> {
    file: &'a str,
    label: usize,
    program: Arc<Program>,
    values: Option<(NewValues<'a>, &'a mut Views)>, // none if all attributes are the file's own
    rest: Rest<'a>,
    batch: Batch,
    most: usize,
}

/// Gives attributes their numbers.
struct Second<'a> {
    file: &'a str,
    program: Arc<Program>,
    numbers: &'a mut Numbers,
    nodes: &'a mut Ragged,
    edges: &'a mut Ragged,
    attributes: Attributes<'a>,
}

/// What a second half looks into.
enum Attributes<'a> {
    Tuples(super::dictionary::NewAttributes<'a>),
    /// The file's own, which are values.
    Given(&'a mut Growing, &'a mut Given, u32),
}

impl Indexer {
    /// Takes in all that is left of a file, on at most so many threads, to the same numbers with any number of them.
    /// `label` is the column of the gold labels; `see` is shown every block, in order. Tells how many bytes blocks took
    /// at most.
    ///
    /// # Errors
    /// The first line that is broken, as reading one sentence after another would find it.
    pub fn read(
        &mut self,
        reader: &mut Reader,
        label: usize,
        threads: usize,
        mut see: impl FnMut(&Block),
    ) -> Result<usize> {
        self.threads = threads;
        if threads > 1
            && let Some(taken) = self.read_in_stages(reader, label, threads, &mut see)
        {
            return taken;
        }
        let file = reader.name().to_owned();
        each_block(reader, &mut see, |block| {
            for sentence in block.sentences() {
                let gold = sentence.tokens.clone().map(|i| block.field(i, label));
                self.push(&file, block, sentence.tokens.clone(), gold)?;
            }
            Ok(true)
        })
    }

    /// The same on two or three threads; none if they cannot be started, and then nothing was read.
    fn read_in_stages(
        &mut self,
        reader: &mut Reader,
        label: usize,
        threads: usize,
        see: &mut impl FnMut(&Block),
    ) -> Option<Result<usize>> {
        let file = reader.name().to_owned();
        let (mut first, second) = self.halves(&file, label);
        thread::scope(|scope| {
            let (give, take) = conveyor(AHEAD);
            let second = spawn(scope, move || second.run(&take))?;
            let (read, most) = if threads == 2 {
                let read = each_block(reader, see, |block| first.block(block, &give));
                (read, Ok(first.end(give)))
            } else {
                let (give_block, take_block) = conveyor(AHEAD);
                let first = spawn(scope, move || first.run(&take_block, give))?;
                let read = each_block(reader, see, |block| Ok(give_block.give(block)));
                drop(give_block);
                (read, joined(first))
            };
            // In the order in which one thread would have met them.
            let done = joined(second).and(most).and_then(|batch| {
                let block = read?;
                Ok((AHEAD + 2) * (block + batch))
            });
            Some(done)
        })
    }

    fn halves<'a>(&'a mut self, file: &'a str, label: usize) -> (First<'a>, Second<'a>) {
        let Parts { dictionary, extractor, nodes, edges, rest } = self.split();
        begin(nodes, edges);
        let Extractor { program, views, numbers, given, .. } = extractor;
        let (values, attributes) = match program.given().filter(|_| program.is_given_alone()) {
            Some(group) => (None, Attributes::Given(dictionary, given, group)),
            None => {
                let (values, attributes) = dictionary.split();
                (Some((values, views)), Attributes::Tuples(attributes))
            }
        };
        let (batch, most) = (Batch::default(), 0);
        let first = First { file, label, program: Arc::clone(program), values, rest, batch, most };
        (first, Second { file, program: Arc::clone(program), numbers, nodes, edges, attributes })
    }
}

/// Gives out the blocks of a file with their tokens, until nobody wants more. Tells how many bytes one took at most.
fn each_block(
    reader: &mut Reader,
    see: &mut impl FnMut(&Block),
    mut give: impl FnMut(&mut Block) -> Result<bool>,
) -> Result<usize> {
    let (file, format) = (reader.name().to_owned(), reader.format());
    let (mut block, mut most) = (Block::default(), 0);
    loop {
        match reader.take(&mut block)? {
            Taken::Nothing => return Ok(most),
            Taken::Text => format.parse(&file, &mut block)?,
            Taken::Parsed => (),
        }
        most = most.max(block.bytes(format.kind()));
        see(&block);
        if !give(&mut block)? {
            return Ok(most);
        }
    }
}

impl First<'_> {
    /// Reads blocks as they come. Tells how many bytes a batch took at most.
    fn run(mut self, blocks: &Taker<Block>, give: Giver<Batch>) -> Result<usize> {
        while let Some(mut block) = blocks.take() {
            if !self.block(&mut block, &give)? {
                break;
            }
            blocks.give_back(block);
        }
        Ok(self.end(give))
    }

    /// Hands over what is left. Tells how many bytes a batch took at most.
    fn end(mut self, give: Giver<Batch>) -> usize {
        if self.batch.used > 0 {
            self.hand_over(&give);
        }
        self.most
    }

    /// Reads a block; false if nobody wants more.
    fn block(&mut self, block: &mut Block, give: &Giver<Batch>) -> Result<bool> {
        for sentence in block.sentences() {
            let tokens = sentence.tokens;
            self.batch.line = block.line(tokens.start);
            if !self.sentence(block, tokens.clone(), give)? {
                return Ok(false);
            }
            let gold = tokens.clone().map(|i| block.field(i, self.label));
            self.rest.push(self.file, block, tokens, gold)?;
        }
        if self.values.is_none() {
            std::mem::swap(&mut self.batch.block, block);
            return Ok(self.hand_over(give));
        }
        Ok(true)
    }

    /// Puts the tuples of a sentence together, if it has any.
    fn sentence(&mut self, block: &Block, tokens: Range<usize>, give: &Giver<Batch>) -> Result<bool> {
        let Some((values, views)) = &mut self.values else { return Ok(true) };
        values.sentence = narrow(self.rest.len() + 1);
        views.fill(values, block, tokens.clone());
        check_room(*values.full, 0, self.file, self.batch.line)?;
        for from in tokens.clone().step_by(WINDOW) {
            let Some((values, views)) = &mut self.values else { break };
            let window = from..tokens.end.min(from + WINDOW);
            let stretch = self.batch.next();
            stretch.fill(&self.program, views, values, self.file, block, &tokens, window)?;
            self.batch.lookups += stretch.lookups();
            if self.batch.lookups >= LOOKUPS && !self.hand_over(give) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Hands over what is there; false if nobody wants it.
    fn hand_over(&mut self, give: &Giver<Batch>) -> bool {
        self.most = self.most.max(self.batch.bytes());
        let line = self.batch.line;
        let taken = give.give(&mut self.batch);
        self.batch.line = line;
        taken
    }
}

impl Batch {
    /// One more stretch, to be filled.
    fn next(&mut self) -> &mut Stretch {
        if self.used == self.stretches.len() {
            self.stretches.push(Stretch::default());
        }
        self.used += 1;
        &mut self.stretches[self.used - 1]
    }

    fn bytes(&self) -> usize {
        self.stretches.iter().map(Stretch::bytes).sum::<usize>()
    }
}

impl Second<'_> {
    /// Takes in batches as they come.
    fn run(mut self, batches: &Taker<Batch>) -> Result<()> {
        while let Some(mut batch) = batches.take() {
            let full = match &mut self.attributes {
                Attributes::Tuples(attributes) => {
                    for stretch in &mut batch.stretches[..batch.used] {
                        self.numbers.append(&self.program, attributes, stretch, self.nodes, self.edges);
                    }
                    *attributes.full
                }
                Attributes::Given(dictionary, given, group) => {
                    let (tuple, tokens) =
                        ([*group, narrow(self.program.stride)], 0..batch.block.tokens().len());
                    given.extract(*dictionary, tuple, &batch.block, tokens, self.nodes);
                    dictionary.is_full()
                }
            };
            let items = self.nodes.items.len().max(self.edges.items.len());
            check_room(full, items, self.file, batch.line)?;
            (batch.used, batch.lookups) = (0, 0);
            batches.give_back(batch);
        }
        Ok(())
    }
}
