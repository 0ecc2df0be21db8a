//! A training set that was read into files: what [`Indexed`](super::Indexed) is in memory.
//!
//! The files are gone through three times: for labels alone, for the pairs that occur, and to write each example as
//! learners read it. What is held of them is a stretch of some thousand tokens.

use super::index::{Apart, take_apart};
use super::outside::{Away, Convert, Gold, Items};
use super::pairs::frequent;
use super::rough::Rough;
use super::stretches::Stretches;
use super::{Growing, Indexer, Keys, Labels, Memory, NONE, Program, Renumbered};
use crate::disk::{Cached, Log, Record, Recorder, Scratch, Tape};
use crate::error::Result;
use seqoia_core::cast::{label, narrow};
use seqoia_core::{Corpus, Pairs, Sequence};

impl Indexer {
    /// What is read from now on is counted only: attributes, roughly, in so many bytes.
    #[must_use]
    pub fn counting(self, cutoff: u32, bytes: usize) -> Self {
        Indexer { away: Some((Away::Counting(Rough::new(bytes, cutoff)), Gold::new(None, None))), ..self }
    }

    /// What is read from now on goes into files: the same text that was counted, if it was. `convert` writes its
    /// labels in another way.
    ///
    /// # Errors
    /// When no file can be made.
    pub fn writing(&mut self, scratch: &Scratch, convert: Option<Convert>) -> Result<()> {
        let frequent = match self.away.take() {
            Some((Away::Counting(rough), _)) => Some(rough.finish()),
            _ => None,
        };
        let edges = self.extractor.program.has_edges();
        let items = Items::new(Log::new(scratch)?, edges);
        self.away = Some((Away::Writing(frequent, items), Gold::new(Some(Log::new(scratch)?), convert)));
        (self.labels, self.corpus) = (Labels::default(), Memory::default());
        self.extractor.views.again();
        Ok(())
    }

    /// Drops attributes that occur fewer than `cutoff` times and finds the pairs that occur, in at most so many bytes
    /// at a time. To be called when all was read after [`writing`](Self::writing).
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn finish_outside(mut self, cutoff: u32, bytes: usize) -> Result<Option<Spilled>> {
        let Some((Away::Writing(_, items), gold)) = self.away.take() else { return Ok(None) };
        let Some(log) = gold.log else { return Ok(None) };
        let Items { log: lists, counts: [node_counts, edge_counts], valued, total, edges: has_edges } = items;
        let (gold, lists) = (log.finish()?, lists.finish()?);
        let Indexer { dictionary, extractor, labels, corpus, .. } = self;
        let program = std::sync::Arc::clone(&extractor.program);
        drop(extractor);
        let Apart { labels, sets, any, numbers: label_numbers } = take_apart(labels);
        let kept_nodes = frequent(&node_counts, cutoff);
        let kept_edges = frequent(&edge_counts, cutoff);
        let places = |kept: &[u32], all: usize| {
            let mut places = vec![NONE; all];
            kept.iter().zip(0..).for_each(|(&old, new)| places[old as usize] = new);
            places
        };
        let node_places = places(&kept_nodes, node_counts.len());
        let edge_places = places(&kept_edges, edge_counts.len());
        let of = |kept: &[u32], counts: &[u32]| kept.iter().map(|&a| counts[a as usize]).collect();
        let (node_counts, edge_counts) = (of(&kept_nodes, &node_counts), of(&kept_edges, &edge_counts));
        let (dictionary, kept) = compact(dictionary, &program, kept_nodes, kept_edges);
        let mut spilled = Spilled {
            dictionary,
            labels,
            sets,
            kept_nodes: kept.0,
            kept_edges: kept.1,
            nodes: Pairs::default(),
            edges: Pairs::default(),
            transitions: vec![],
            weights: corpus.weights,
            total,
            ends: corpus.ends,
            gold,
            lists,
            label_numbers,
            valued,
            has_edges,
            node_places,
            edge_places,
        };
        spilled.find_pairs(any, node_counts, edge_counts, bytes)?;
        Ok(Some(spilled))
    }
}

/// The tables without what was dropped, and the numbers of what is left in them. Where all attributes are the file's own
/// each has the number of its name, and tables stay.
fn compact(
    from: Growing,
    program: &Program,
    nodes: Vec<u32>,
    edges: Vec<u32>,
) -> (Growing, (Vec<u32>, Vec<u32>)) {
    if from.plain.is_some() {
        return (from, (nodes, edges));
    }
    let Growing { strings: old, nodes: old_nodes, edges: old_edges, lexica, plain, .. } = from;
    let mut strings = Renumbered::new(old.view());
    let stride = program.stride();
    let mut table = |kept: &[u32], from: Keys| {
        let mut keys = Vec::with_capacity(kept.len() * stride);
        for &id in kept {
            let start = keys.len();
            keys.extend_from_slice(from.view().get(id).unwrap_or_default());
            let pieces = program.arity(keys[start]);
            keys[start + 1..=start + pieces].iter_mut().for_each(|value| *value = strings.number(*value));
        }
        drop(from);
        Keys::of_distinct(stride, keys)
    };
    let (new_nodes, new_edges) = (table(&nodes, old_nodes), table(&edges, old_edges));
    let strings = strings.finish();
    drop(old);
    let mut growing = Growing::new(program, lexica);
    (growing.strings, growing.nodes, growing.edges, growing.plain) = (strings, new_nodes, new_edges, plain);
    (growing, ((0..narrow(nodes.len())).collect(), (0..narrow(edges.len())).collect()))
}

/// A training set in files. Attributes have the places in which they are kept.
pub struct Spilled {
    /// The tables of values and attributes.
    pub dictionary: Growing,
    /// The labels.
    pub labels: Labels,
    /// Sets of labels: a gold label from the number of labels on is one of them, in this order.
    pub sets: Vec<Vec<u16>>,
    /// The attributes that are frequent enough, in order of arrival: their numbers in the table.
    pub kept_nodes: Vec<u32>,
    /// The same for edges.
    pub kept_edges: Vec<u32>,
    /// Which labels go with which attributes of tokens.
    pub nodes: Pairs,
    /// Which label pairs `y' * K + y` go with which attributes of edges.
    pub edges: Pairs,
    /// Label pairs that occur, ascending.
    pub transitions: Vec<u32>,
    /// Instance weights; empty if all are 1.
    pub weights: Vec<f64>,
    /// Occurrences of attributes of tokens and of edges, before any was dropped.
    pub total: [usize; 2],
    pub(super) ends: Vec<u32>,
    pub(super) gold: Tape,
    pub(super) lists: Tape,
    pub(super) label_numbers: Vec<u16>,
    pub(super) valued: [bool; 2],
    pub(super) has_edges: bool,
    pub(super) node_places: Vec<u32>, // of each number that was given: its place among those kept, or NONE
    pub(super) edge_places: Vec<u32>,
}

impl Spilled {
    /// Number of sequences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// None of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Bytes of the files.
    #[must_use]
    pub fn disk(&self) -> u64 {
        self.gold.bytes() + self.lists.bytes()
    }

    /// Bytes of what is in memory only until the examples are written.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let pairs = |p: &Pairs| 4 * (p.starts.capacity() + p.labels.capacity() + p.counts.capacity());
        let places = self.node_places.capacity() + self.edge_places.capacity();
        let kept = self.kept_nodes.capacity() + self.kept_edges.capacity();
        4 * (places + kept) + pairs(&self.nodes) + pairs(&self.edges)
    }

    /// Calls `see` with some sequences after another: their gold labels and weights, and the line of each token. Lists
    /// of attributes are empty.
    ///
    /// # Errors
    /// What `see` says; a file that cannot be read.
    pub fn each_gold<E: From<crate::Error>>(
        &self,
        mut see: impl FnMut(usize, &mut Memory, &[u32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut reader = Stretches::new(self, false);
        while reader.next(self)? {
            see(reader.first, &mut reader.memory, &reader.lines)?;
        }
        Ok(())
    }

    /// Writes all sequences with last numbers of attributes: of each of a place, or `NONE`. Tells how many attributes
    /// of tokens and of edges are left.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn write(
        self,
        scratch: &Scratch,
        nodes: &[u32],
        edges: &[u32],
        weights: Vec<f64>,
        threads: usize,
    ) -> Result<(Cached, [usize; 2])> {
        let record =
            Record { node_values: self.valued[0], edges: self.has_edges, edge_values: self.valued[1] };
        let mut recorder = Recorder::new(scratch, record, self.len())?;
        let last = |places: &[u32], numbers: &[u32]| -> Vec<u32> {
            let of = |place: &u32| if *place == NONE { NONE } else { numbers[*place as usize] };
            places.iter().map(of).collect()
        };
        let (nodes, edges) = (last(&self.node_places, nodes), last(&self.edge_places, edges));
        let (mut reader, mut sequence, mut left) = (Stretches::new(&self, true), Sequence::default(), [0; 2]);
        while reader.next(&self)? {
            let memory = &mut reader.memory;
            memory.renumber(&nodes, &edges, threads);
            left = [left[0] + memory.nodes.items.len(), left[1] + memory.edges.items.len()];
            for id in 0..memory.ends.len() {
                // In memory, so it can be read.
                let _ = memory.read(id, &mut sequence);
                recorder.push(&sequence)?;
            }
        }
        Ok((recorder.finish(weights)?, left))
    }

    /// Goes through the files for pairs, as often as their bits take more than so many bytes.
    fn find_pairs(
        &mut self,
        any: Option<u16>,
        node_counts: Vec<u32>,
        edge_counts: Vec<u32>,
        bytes: usize,
    ) -> Result<()> {
        let k = self.labels.len();
        let singles: Vec<u16> = (0..k).map(label).collect();
        let known = |y: u16| match y {
            y if usize::from(y) < k => &singles[usize::from(y)..][..1],
            y if Some(y) == any => &[],
            y => &self.sets[usize::from(y) - k][..],
        };
        let (mut nodes, mut edges) = (Found::new(node_counts, k), Found::new(edge_counts, k * k));
        let mut seen = vec![false; k * k];
        let mut is_first = true;
        while is_first || !nodes.is_done() || !edges.is_done() {
            nodes.open(bytes / 2);
            edges.open(bytes / 2);
            // Labels alone tell which label pairs occur.
            let with_lists = nodes.is_open() || edges.is_open();
            let mut reader = Stretches::new(self, with_lists);
            while reader.next(self)? {
                let Memory { nodes: node_lists, edges: edge_lists, labels, ends, .. } = &reader.memory;
                let mut from = 0;
                for &end in ends {
                    let mut before: &[u16] = &[];
                    for (t, &y) in (from..).zip(&labels[from..end as usize]) {
                        let now = known(y);
                        let pairs = || {
                            before
                                .iter()
                                .flat_map(|x| now.iter().map(|y| usize::from(*x) * k + usize::from(*y)))
                        };
                        if with_lists {
                            for &a in node_lists.view().at(t) {
                                nodes.add(self.node_places[a as usize], now.iter().map(|y| usize::from(*y)));
                            }
                            if self.has_edges {
                                for &a in edge_lists.view().at(t) {
                                    edges.add(self.edge_places[a as usize], pairs());
                                }
                            }
                        }
                        if is_first {
                            pairs().for_each(|pair| seen[pair] = true);
                        }
                        before = now;
                    }
                    from = end as usize;
                }
            }
            nodes.close();
            edges.close();
            is_first = false;
        }
        self.transitions = (0..narrow(k * k)).filter(|&pair| seen[pair as usize]).collect();
        (self.nodes, self.edges) = (nodes.pairs, edges.pairs);
        Ok(())
    }
}

/// Pairs of attributes and labels, found for a range of attributes at a time: a bit for each pair.
struct Found {
    pairs: Pairs,
    words: usize, // for an attribute
    from: usize,  // the first attribute of the range
    bits: Vec<u64>,
}

impl Found {
    fn new(counts: Vec<u32>, labels: usize) -> Self {
        let pairs = Pairs { starts: vec![0], labels: vec![], counts };
        Found { pairs, words: labels.div_ceil(64).max(1), from: 0, bits: vec![] }
    }

    fn is_done(&self) -> bool {
        self.from == self.pairs.counts.len()
    }

    fn is_open(&self) -> bool {
        !self.bits.is_empty()
    }

    /// A sweep over so many attributes as there is room for begins.
    fn open(&mut self, bytes: usize) {
        let most = (bytes / (8 * self.words)).max(1);
        let attributes = most.min(self.pairs.counts.len() - self.from);
        self.bits.clear();
        self.bits.resize(attributes * self.words, 0);
    }

    #[inline]
    fn add(&mut self, attribute: u32, labels: impl Iterator<Item = usize>) {
        let Some(at) = (attribute as usize).checked_sub(self.from).filter(|_| attribute != NONE) else {
            return;
        };
        if let Some(bits) = self.bits.get_mut(at * self.words..(at + 1) * self.words) {
            labels.for_each(|y| bits[y / 64] |= 1 << (y % 64));
        }
    }

    /// A sweep has ended.
    fn close(&mut self) {
        for bits in self.bits.chunks_exact(self.words) {
            for (word, &mask) in bits.iter().enumerate() {
                let mut mask = mask;
                while mask != 0 {
                    self.pairs.labels.push(narrow(64 * word) + mask.trailing_zeros());
                    mask &= mask - 1;
                }
            }
            self.pairs.starts.push(narrow(self.pairs.labels.len()));
            self.from += 1;
        }
        self.bits = vec![];
    }
}
