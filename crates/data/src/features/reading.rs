//! Reads a training file on up to three threads, to the same numbers as on one.
//!
//! Numbers of values and attributes follow the order in which the file has them, so each table has one thread that
//! fills it, sentence after sentence. But there are two tables, and a tuple can be put together without the table that
//! it will be looked up in:
//!
//! ```text
//! [Reader: tokens] -- blocks --> [First: values, views] -- stretches of tuples --> [Second: attributes]
//! ```
//!
//! Each half takes about the same time. Where all attributes are the file's own there are no tuples: the first half
//! finds tokens, labels and names, the second looks names up. With two threads, the first half reads the blocks, too.
//!
//! Tried before: blocks in parallel, each with tables of its own for what is new, which then got its last numbers in
//! the order of the file; a third more work, and no faster on two threads. More threads were not measured.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use super::dictionary::NewValues;
use super::extract::begin;
use super::given::Given;
use super::index::{Parts, Rest, check_room};
use super::numbers::Numbers;
use super::outside::{Admitting, AdmittingNames, Away, Counting, Items, Room};
use super::stretch::{Stretch, windows};
use super::views::Views;
use super::{Extractor, Growing, Indexer, Program};
use crate::error::{Error, Result};
use crate::format::{Block, Kind, Reader, Taken};
use crate::threads::{Giver, Taker, conveyor, joined, spawn};
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// Look-ups that are handed over at once: enough that waking a thread costs little, few enough to stay in a cache.
const LOOKUPS: usize = 1 << 14;
/// Batches, or blocks, that one thread may be ahead of the next.
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
    room: Option<&'a Room>,
    kind: Kind,
    hands: Hands,
}

/// The batch that is being filled.
#[derive(Default)]
struct Hands {
    batch: Batch,
    most: usize, // bytes that one took
}

/// Gives attributes their numbers.
struct Second<'a> {
    file: &'a str,
    program: Arc<Program>,
    numbers: &'a mut Numbers,
    nodes: &'a mut Ragged,
    edges: &'a mut Ragged,
    attributes: Attributes<'a>,
    items: Option<&'a mut Items>, // where lists go, if they do not stay
    room: Option<&'a Room>,
}

/// What a second half looks into.
enum Attributes<'a> {
    Tuples(super::dictionary::NewAttributes<'a>),
    /// The file's own, which are values.
    Given(&'a mut Growing, &'a mut Given, u32),
    /// None: they are counted.
    Counted(Counting<'a>),
    /// The same for the file's own.
    CountedNames(Counting<'a>, &'a mut Given),
    /// Tuples that may be frequent.
    Admitted(Admitting<'a>),
    /// The file's own that may be frequent.
    AdmittedNames(AdmittingNames<'a>, &'a mut Given, u32),
}

impl Indexer {
    /// Takes in all that is left of a file, on at most so many threads, to the same numbers with any number of them.
    /// `label` is the column of the gold labels; `see` is shown every block, in order. Tells how many bytes blocks and
    /// what was found in them took at most.
    ///
    /// # Errors
    /// The first line that is broken; of two in one block, a row that cannot be read comes before a value that is not
    /// a number.
    pub fn read(
        &mut self,
        reader: &mut Reader,
        label: usize,
        threads: usize,
        mut see: impl FnMut(&Block),
    ) -> Result<usize> {
        if (threads > 1 || self.away.is_some() || self.room.is_some())
            && let Some(taken) = self.read_in_stages(reader, label, threads, &mut see)
        {
            return taken;
        }
        let file = reader.name().to_owned();
        if self.away.is_some() || self.room.is_some() {
            let what = "no thread can be started, and reading within a memory limit takes two";
            return Err(Error::new(file, what));
        }
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
        let (mut first, second) = self.halves(&file, reader.format().kind(), label);
        thread::scope(|scope| {
            let (give, take) = conveyor(AHEAD);
            let second = spawn(scope, move || second.run(&take))?;
            let (read, batches) = if threads < 3 {
                let read = each_block(reader, see, |block| first.block(block, &give));
                let batches = first.end(&give);
                drop(give); // the second half ends when nobody can give any more
                (read, Ok(batches))
            } else {
                let (give_block, take_block) = conveyor(AHEAD);
                let first = spawn(scope, move || first.run(&take_block, &give))?;
                let read = each_block(reader, see, |block| Ok(give_block.give(block)));
                let read = read.map(|most| most * give_block.made());
                drop(give_block);
                (read, joined(first))
            };
            // In the order in which one thread would have met them.
            Some(joined(second).and(batches).and_then(|batches| Ok(read? + batches)))
        })
    }

    fn halves<'a>(&'a mut self, file: &'a str, kind: Kind, label: usize) -> (First<'a>, Second<'a>) {
        let Parts { dictionary, extractor, nodes, edges, rest, away, room } = self.split();
        begin(nodes, edges);
        let Extractor { program, views, numbers, given, .. } = extractor;
        let mut items = None;
        let (values, attributes) = match program.given().filter(|_| program.is_given_alone()) {
            Some(group) => {
                let attributes = match away {
                    None => Attributes::Given(dictionary, given, group),
                    Some(Away::Counting(rough)) => Attributes::CountedNames(Counting(rough), given),
                    Some(Away::Writing(frequent, to)) => {
                        items = Some(to);
                        match frequent {
                            None => Attributes::Given(dictionary, given, group),
                            Some(frequent) => {
                                let names = AdmittingNames { growing: dictionary, frequent };
                                Attributes::AdmittedNames(names, given, group)
                            }
                        }
                    }
                };
                (None, attributes)
            }
            None => {
                let (values, new) = dictionary.split();
                let attributes = match away {
                    None => Attributes::Tuples(new),
                    Some(Away::Counting(rough)) => Attributes::Counted(Counting(rough)),
                    Some(Away::Writing(frequent, to)) => {
                        items = Some(to);
                        match frequent {
                            None => Attributes::Tuples(new),
                            Some(frequent) => Attributes::Admitted(Admitting { new, frequent }),
                        }
                    }
                };
                (Some((values, views)), attributes)
            }
        };
        let hands = Hands::default();
        let first = First { file, label, program: Arc::clone(program), values, rest, room, kind, hands };
        let program = Arc::clone(program);
        (first, Second { file, program, numbers, nodes, edges, attributes, items, room })
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
    /// Reads blocks as they come. Tells how many bytes batches took at most.
    fn run(mut self, blocks: &Taker<Block>, give: &Giver<Batch>) -> Result<usize> {
        let mut done = Ok(true);
        while let Some(mut block) = blocks.take() {
            done = self.block(&mut block, give);
            if !matches!(done, Ok(true)) {
                break;
            }
            blocks.give_back(block);
        }
        let bytes = self.end(give);
        done.map(|_| bytes)
    }

    /// Hands over what is left. Tells how many bytes batches took at most.
    fn end(mut self, give: &Giver<Batch>) -> usize {
        if self.hands.batch.used > 0 {
            self.hands.give(give, self.kind);
        }
        self.hands.most * give.made()
    }

    /// Reads a block; false if nobody wants more.
    fn block(&mut self, block: &mut Block, give: &Giver<Batch>) -> Result<bool> {
        for sentence in block.sentences() {
            let tokens = sentence.tokens;
            self.hands.batch.line = block.line(tokens.start);
            if !self.sentence(block, tokens.clone(), give)? {
                return Ok(false);
            }
            let gold = tokens.clone().map(|i| block.field(i, self.label));
            self.rest.push(self.file, block, tokens, gold)?;
        }
        self.rest.settle()?;
        if let Some(room) = self.room {
            let values = self.values.as_ref().map_or(0, |(values, views)| values.bytes() + views.bytes());
            room.tell_first(values + self.rest.bytes());
        }
        if self.values.is_none() {
            std::mem::swap(&mut self.hands.batch.block, block);
            return Ok(self.hands.give(give, self.kind));
        }
        Ok(true)
    }

    /// Puts the tuples of a sentence together, if it has any.
    fn sentence(&mut self, block: &Block, tokens: Range<usize>, give: &Giver<Batch>) -> Result<bool> {
        let First { file, program, values, rest, kind, hands, .. } = self;
        let Some((values, views)) = values else { return Ok(true) };
        values.sentence = narrow(rest.len() + 1);
        views.fill(values, block, tokens.clone());
        check_room(*values.full, 0, file, hands.batch.line)?;
        for window in windows(&tokens) {
            let stretch = hands.batch.next();
            stretch.fill(program, views, values, file, block, &tokens, window)?;
            let lookups = stretch.lookups();
            hands.batch.lookups += lookups;
            hands.batch.used += 1; // not before it is whole
            if hands.batch.lookups >= LOOKUPS && !hands.give(give, *kind) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Hands {
    /// Hands over what is there; false if nobody wants it.
    fn give(&mut self, give: &Giver<Batch>, kind: Kind) -> bool {
        self.most = self.most.max(self.batch.bytes(kind));
        let line = self.batch.line;
        let taken = give.give(&mut self.batch);
        self.batch.line = line;
        taken
    }
}

impl Batch {
    /// The next stretch that may be filled.
    fn next(&mut self) -> &mut Stretch {
        if self.used == self.stretches.len() {
            self.stretches.push(Stretch::default());
        }
        &mut self.stretches[self.used]
    }

    fn bytes(&self, kind: Kind) -> usize {
        self.stretches.iter().map(Stretch::bytes).sum::<usize>() + self.block.bytes(kind)
    }
}

impl Second<'_> {
    /// Takes in batches as they come.
    fn run(mut self, batches: &Taker<Batch>) -> Result<()> {
        while let Some(mut batch) = batches.take() {
            let full = self.number(&mut batch);
            let items = self.nodes.items.len().max(self.edges.items.len());
            check_room(full, items, self.file, batch.line)?;
            if let Some(room) = self.room {
                room.check(self.bytes(), self.file, batch.line)?;
            }
            match (&mut self.items, &self.attributes) {
                (Some(items), _) => items.take(self.nodes, self.edges)?,
                (None, Attributes::Counted(_) | Attributes::CountedNames(..)) => {
                    self.nodes.starts.truncate(1);
                    self.edges.starts.truncate(1);
                }
                _ => (),
            }
            (batch.used, batch.lookups) = (0, 0);
            batches.give_back(batch);
        }
        Ok(())
    }

    /// Gives the attributes of a batch their numbers; true if there are more than can be counted.
    fn number(&mut self, batch: &mut Batch) -> bool {
        let Second { program, numbers, nodes, edges, attributes, .. } = self;
        let (stride, tokens) = (narrow(program.stride), 0..batch.block.tokens().len());
        let stretches = &mut batch.stretches[..batch.used];
        match attributes {
            Attributes::Tuples(new) => {
                stretches.iter_mut().for_each(|s| numbers.append(program, new, s, nodes, edges));
                *new.full
            }
            Attributes::Given(dictionary, given, group) => {
                given.extract(*dictionary, [*group, stride], &batch.block, tokens, nodes);
                dictionary.is_full()
            }
            Attributes::Counted(counting) => {
                stretches.iter_mut().for_each(|s| numbers.append(program, counting, s, nodes, edges));
                false
            }
            Attributes::CountedNames(counting, given) => {
                given.extract(counting, [0, stride], &batch.block, tokens, nodes);
                false
            }
            Attributes::Admitted(admitting) => {
                stretches.iter_mut().for_each(|s| numbers.append(program, admitting, s, nodes, edges));
                *admitting.new.full
            }
            Attributes::AdmittedNames(names, given, group) => {
                given.extract(names, [*group, stride], &batch.block, tokens, nodes);
                names.growing.is_full()
            }
        }
    }

    /// Bytes of tables and of what stays in memory.
    fn bytes(&self) -> usize {
        // What indexing needs for an attribute, in memory and of files.
        let attribute = if self.items.is_some() { 16 } else { 40 };
        let of = |new: &super::dictionary::NewAttributes<'_>| new.bytes() + attribute * new.len();
        let names = |growing: &Growing| {
            growing.strings.used() + growing.nodes.used() + attribute * growing.nodes.view().len()
        };
        let tables = match &self.attributes {
            Attributes::Tuples(new) => of(new),
            Attributes::Admitted(admitting) => of(&admitting.new) + admitting.frequent.bytes(),
            Attributes::Given(growing, ..) => names(growing),
            Attributes::AdmittedNames(admitting, ..) => names(admitting.growing) + admitting.frequent.bytes(),
            Attributes::Counted(counting) | Attributes::CountedNames(counting, _) => counting.0.bytes(),
        };
        let lists = |lists: &Ragged| 4 * (lists.starts.len() + lists.items.len() + lists.values.len());
        let counts = self.items.as_ref().map_or(0, |items| items.bytes());
        tables + counts + self.numbers.bytes() + lists(self.nodes) + lists(self.edges)
    }
}
