//! A corpus in a file, and where each of its sequences lies.
//!
//! ```text
//! sequence:  checksum u32 | labels | nodes | edges, if there are any
//! lists:     for each position the number of attributes and the first of them, then how far each is behind the one
//!            before; then the values, if there are any, as single numbers
//! ```
//!
//! Attributes of a list ascend, so most take one or two bytes. In memory are, for each sequence, where it begins and ends
//! and, if not all are 1, its weight.

use std::cell::RefCell;

use super::code::{put, put_single, take, take_single};
use super::log::checksum;
use super::numbers::told;
use super::{Place, Scratch};
use crate::error::Result;
use seqoia_core::cast::narrow;
use seqoia_core::{Corpus, Ragged, Sequence, SequenceView};

/// Bytes that are written at once.
const FULL: usize = 1 << 18;

/// What sequences have beside labels and lists of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Attributes of positions have values.
    pub node_values: bool,
    /// There are attributes of edges.
    pub edges: bool,
    /// They have values.
    pub edge_values: bool,
}

/// Writes the sequences of a corpus, one after another.
#[derive(Debug)]
pub struct Recorder {
    place: Place,
    record: Record,
    starts: Vec<u64>, // [n + 1] in the file
    ends: Vec<u32>,   // [n] in tokens
    bytes: Vec<u8>,   // that are still to be written
    written: u64,
}

impl Recorder {
    /// Of so many sequences, for which there is room from the start.
    ///
    /// # Errors
    /// When no file can be made.
    pub fn new(scratch: &Scratch, record: Record, sequences: usize) -> Result<Recorder> {
        let mut starts = Vec::with_capacity(sequences + 1);
        starts.push(0);
        let ends = Vec::with_capacity(sequences);
        Ok(Recorder { place: scratch.place()?, record, starts, ends, bytes: vec![], written: 0 })
    }

    /// Appends a sequence. Lists must ascend.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn push(&mut self, sequence: &Sequence) -> Result<()> {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        sequence.labels.iter().for_each(|&y| put(y.into(), &mut self.bytes));
        put_lists(&sequence.nodes, sequence.labels.len(), self.record.node_values, &mut self.bytes);
        if self.record.edges {
            put_lists(&sequence.edges, sequence.labels.len(), self.record.edge_values, &mut self.bytes);
        }
        let sum = checksum(&self.bytes[from + 4..]);
        self.bytes[from..from + 4].copy_from_slice(&sum.to_le_bytes());
        self.starts.push(self.written + self.bytes.len() as u64);
        let before = self.ends.last().copied().unwrap_or(0);
        self.ends.push(before + narrow(sequence.labels.len()));
        if self.bytes.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.place.write(self.written, &self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// All are written; `weights` are those of the sequences, or none if all are 1.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn finish(mut self, weights: Vec<f64>) -> Result<Cached> {
        self.flush()?;
        let Recorder { place, record, starts, ends, .. } = self;
        Ok(Cached { place, record, starts, ends, weights })
    }
}

fn put_lists(lists: &Ragged, positions: usize, valued: bool, bytes: &mut Vec<u8>) {
    let view = lists.view();
    for t in 0..positions {
        let items = view.at(t);
        put(narrow(items.len()), bytes);
        let mut before = 0;
        for &item in items {
            put(item - before, bytes);
            before = item;
        }
    }
    if valued {
        // Those that come before the first that is not 1 may have been left out.
        (0..lists.items.len()).for_each(|i| put_single(lists.values.get(i).copied().unwrap_or(1.0), bytes));
    }
}

fn take_lists(bytes: &mut &[u8], positions: usize, valued: bool, lists: &mut Ragged) -> Option<()> {
    lists.starts.clear();
    lists.items.clear();
    lists.values.clear();
    lists.starts.push(0);
    for _ in 0..positions {
        let mut item = 0_u32;
        for _ in 0..take(bytes)? {
            item = item.checked_add(take(bytes)?)?;
            lists.items.push(item);
        }
        lists.starts.push(narrow(lists.items.len()));
    }
    if valued {
        for _ in 0..lists.items.len() {
            lists.values.push(take_single(bytes)?);
        }
    }
    Some(())
}

/// A corpus in a file.
#[derive(Debug)]
pub struct Cached {
    place: Place,
    record: Record,
    starts: Vec<u64>,  // [n + 1]
    ends: Vec<u32>,    // [n]
    weights: Vec<f64>, // [n], or none if all are 1
}

thread_local! {
    /// The bytes of the sequence that a worker reads.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(vec![]) };
}

impl Cached {
    /// Bytes of the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn take(&self, id: usize, bytes: &[u8], into: &mut Sequence) -> Option<()> {
        let (sum, mut rest) = bytes.split_first_chunk::<4>()?;
        if checksum(rest) != u32::from_le_bytes(*sum) {
            return None;
        }
        let positions = self.size(id);
        into.labels.clear();
        for _ in 0..positions {
            into.labels.push(u16::try_from(take(&mut rest)?).ok()?);
        }
        take_lists(&mut rest, positions, self.record.node_values, &mut into.nodes)?;
        if self.record.edges {
            take_lists(&mut rest, positions, self.record.edge_values, &mut into.edges)?;
        }
        into.weight = self.weights.get(id).copied().unwrap_or(1.0);
        rest.is_empty().then_some(())
    }

    #[cfg(test)]
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

impl Corpus<Sequence> for Cached {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn size(&self, id: usize) -> usize {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        (self.ends[id] - start) as usize
    }

    fn bytes(&self) -> usize {
        8 * (self.starts.capacity() + self.weights.capacity()) + 4 * self.ends.capacity()
    }

    fn view(&self, _: usize) -> Option<SequenceView<'_>> {
        None
    }

    fn read(&self, id: usize, into: &mut Sequence) -> seqoia_core::Result<()> {
        BYTES.with_borrow_mut(|bytes| {
            let length = usize::try_from(self.starts[id + 1] - self.starts[id]).unwrap_or(0);
            bytes.resize(length, 0);
            self.place.read(self.starts[id], bytes).map_err(told)?;
            self.take(id, bytes, into).ok_or_else(|| told(self.place.damaged()))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use seqoia_core::Random;

    fn lists(random: &mut Random, positions: usize, valued: bool) -> Ragged {
        let mut lists = Ragged { starts: vec![0], ..Ragged::default() };
        for _ in 0..positions {
            let mut items: Vec<u32> = (0..random.below(5)).map(|_| narrow(random.below(1 << 30))).collect();
            items.sort_unstable();
            lists.values.extend(items.iter().filter(|_| valued).map(|_| 0.25));
            lists.items.extend(items);
            lists.starts.push(narrow(lists.items.len()));
        }
        lists
    }

    /// Every sequence comes back, in any order; a byte that changed is seen, a file that was cut, too.
    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random::new(1, 0, 0, "cached");
        for (node_values, edges, edge_values) in
            [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
        {
            let record = Record { node_values, edges, edge_values };
            let sequences: Vec<Sequence> = (0..500)
                .map(|i| {
                    let positions = 1 + random.below(30);
                    let labels = (0..positions).map(|_| seqoia_core::cast::label(random.below(70))).collect();
                    let nodes = lists(&mut random, positions, node_values);
                    let edges =
                        if edges { lists(&mut random, positions, edge_values) } else { Ragged::default() };
                    Sequence { nodes, edges, labels, weight: f64::from(i) }
                })
                .collect();
            let mut recorder = Recorder::new(&Scratch::new(folder.path()), record, 500).unwrap();
            sequences.iter().for_each(|s| recorder.push(s).unwrap());
            let cached = recorder.finish(sequences.iter().map(|s| s.weight).collect()).unwrap();
            let mut copy = Sequence::default();
            for id in (0..500).rev() {
                cached.read(id, &mut copy).unwrap();
                assert_eq!(copy, sequences[id]);
                assert_eq!(cached.size(id), copy.labels.len());
            }
            let last = cached.length() - 1;
            let mut byte = [0];
            cached.place().read(last, &mut byte).unwrap();
            cached.place().write(last, &[byte[0] ^ 4]).unwrap();
            assert!(cached.read(499, &mut copy).unwrap_err().to_string().contains("does not hold"));
            cached.place().resize(last).unwrap();
            assert!(cached.read(499, &mut copy).unwrap_err().to_string().contains("does not hold"));
            assert!(cached.read(498, &mut copy).is_ok());
        }
    }
}
