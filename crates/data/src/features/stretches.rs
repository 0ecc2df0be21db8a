//! Goes through the files of a training set that was read into them: some thousand tokens at a time.

use super::{Memory, Spilled};
use crate::disk::{Tape, code};
use crate::error::Result;
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// Tokens of a stretch, about.
const TOKENS: usize = 1 << 14;

/// Reads a tape from its start to its end.
#[derive(Default)]
struct Stream {
    at: u64,
    bytes: Vec<u8>,
    from: usize, // what was taken of them
}

impl Stream {
    /// Takes a token; `None` of `take` is damage.
    #[inline]
    fn take<T>(&mut self, tape: &Tape, take: impl FnOnce(&mut &[u8]) -> Option<T>) -> Result<T> {
        if self.from == self.bytes.len() {
            self.at = tape.record(self.at, &mut self.bytes)?;
            self.from = 0;
        }
        let mut rest = &self.bytes[self.from..];
        let taken = take(&mut rest).ok_or_else(|| tape.damaged())?;
        self.from = self.bytes.len() - rest.len();
        Ok(taken)
    }
}

/// Some sequences after another.
pub(super) struct Stretches {
    gold: Stream,
    lists: Option<Stream>,
    pub(super) memory: Memory,
    pub(super) lines: Vec<u32>,
    line: u32,
    pub(super) first: usize, // the number of its first sequence
    next: usize,             // that of the one behind it
}

impl Stretches {
    pub(super) fn new(spilled: &Spilled, with_lists: bool) -> Self {
        let lists = with_lists.then(Stream::default);
        let mut memory = Memory::default();
        memory.nodes.starts.push(0);
        if spilled.has_edges {
            memory.edges.starts.push(0);
        }
        Stretches { gold: Stream::default(), lists, memory, lines: vec![], line: 0, first: 0, next: 0 }
    }

    /// Reads the next sequences; false if there are none.
    pub(super) fn next(&mut self, from: &Spilled) -> Result<bool> {
        let Stretches { gold, lists, memory, lines, line, .. } = self;
        for lists in [&mut memory.nodes, &mut memory.edges] {
            lists.starts.truncate(1);
            lists.items.clear();
            lists.values.clear();
        }
        memory.labels.clear();
        memory.ends.clear();
        memory.weights.clear();
        lines.clear();
        let mut done = self.next.checked_sub(1).map_or(0, |last| from.ends[last]);
        self.first = self.next;
        while self.next < from.ends.len() && memory.labels.len() < TOKENS {
            for _ in done..from.ends[self.next] {
                let (y, step) = gold.take(&from.gold, |bytes| {
                    let y = *from.label_numbers.get(code::take(bytes)? as usize)?;
                    Some((y, code::take(bytes)?))
                })?;
                *line += step;
                memory.labels.push(y);
                lines.push(*line);
                if let Some(lists) = lists {
                    lists.take(&from.lists, |bytes| {
                        list(bytes, from.valued[0], from.node_places.len(), &mut memory.nodes)?;
                        if from.has_edges {
                            list(bytes, from.valued[1], from.edge_places.len(), &mut memory.edges)?;
                        }
                        Some(())
                    })?;
                }
            }
            done = from.ends[self.next];
            memory.ends.push(narrow(memory.labels.len()));
            memory.weights.extend(from.weights.get(self.next));
            self.next += 1;
        }
        Ok(self.first < self.next)
    }
}

/// Takes a list of attributes whose numbers are below `most`.
#[inline]
fn list(bytes: &mut &[u8], valued: bool, most: usize, to: &mut Ragged) -> Option<()> {
    let head = code::take(bytes)?;
    let length = head >> 1;
    for _ in 0..length {
        let item = code::take(bytes)?;
        if item as usize >= most {
            return None;
        }
        to.items.push(item);
    }
    if valued {
        for _ in 0..length {
            to.values.push(if head & 1 == 1 { code::take_single(bytes)? } else { 1.0 });
        }
    }
    to.starts.push(narrow(to.items.len()));
    Some(())
}
