//! Reads a training set whose examples, and rare attributes, do not fit into memory: in two passes over the text.
//!
//! ```text
//! first:   hashes of attributes are counted roughly, if rare ones are dropped ([`Rough`])
//! second:  those that may be frequent get numbers as they come and are counted; examples go to two files,
//!          one of labels and lines, one of attributes
//! then:    rare ones are dropped, exactly; the files are gone through for pairs of attributes and labels,
//!          and once more to write each example as learners read it ([`Cached`])
//! ```
//!
//! Attributes are met in the order in which they are met in memory, so those that are kept follow each other as there, and
//! the numbers that they get in the end are the same. Values keep theirs from the first pass to the second, so hashes of
//! tuples agree.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::dictionary::{NewAttributes, UNSET};
use super::rough::{Frequent, Rough};
use super::table::hash;
use super::{Attributes, Growing, KeysView, LexicaView, StringsView, UNKNOWN, Values};
use crate::disk::{Log, code};
use crate::error::{Error, Result};
use seqoia_core::Ragged;

/// Writes labels in another way: names of a sentence, and where those go that are trained on.
pub type Convert = Box<dyn FnMut(&[&str], &mut Vec<String>) + Send>;

/// How much memory tables may take while they grow, on two threads.
#[derive(Debug)]
pub struct Room {
    most: usize,
    first: AtomicUsize, // bytes of what the first half of reading keeps
    over: AtomicBool,
}

impl Room {
    /// So many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Room { most, first: AtomicUsize::new(0), over: AtomicBool::new(false) }
    }

    /// Whether that was not enough.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn tell_first(&self, bytes: usize) {
        self.first.store(bytes, Ordering::Relaxed);
    }

    /// Refuses what takes more, together with what the first half keeps.
    pub(super) fn check(&self, second: usize, file: &str, line: u64) -> Result<()> {
        if second + self.first.load(Ordering::Relaxed) <= self.most {
            return Ok(());
        }
        self.over.store(true, Ordering::Relaxed);
        Err(Error::at(file, line, "here the data takes more memory than it may"))
    }
}

/// What becomes of what is read, if it does not stay in memory.
#[derive(Debug)]
pub(super) enum Away {
    /// Attributes are counted.
    Counting(Rough),
    /// Those that may be frequent are written.
    Writing(Option<Frequent>, Items),
}

/// The bits of an attribute of edges are others than those of one of tokens.
#[inline]
fn salted(edge: bool, code: u64) -> u64 {
    if edge { code.rotate_left(23) ^ 0x5851_f42d_4c95_7f2d } else { code }
}

/// Counts attributes, and gives no numbers.
pub(super) struct Counting<'a>(pub(super) &'a mut Rough);

impl Attributes for Counting<'_> {
    fn dense(&self) -> u32 {
        0
    }

    fn given(&mut self, key: &[u32]) -> u32 {
        self.attribute(false, key, hash(key));
        UNKNOWN
    }

    #[inline]
    fn attribute(&mut self, edge: bool, _: &[u32], code: u64) -> u32 {
        self.0.add(salted(edge, code));
        UNSET // so that it is asked for again
    }

    fn keys(&self, _: bool) -> KeysView<'_> {
        KeysView::default()
    }

    #[inline]
    fn fetch(&self, edge: bool, code: u64) -> u64 {
        self.0.fetch(salted(edge, code));
        code
    }
}

/// The same where all attributes are the file's own: names are counted, and are not kept.
impl Values for Counting<'_> {
    #[inline]
    fn value_hashed(&mut self, _: &[u8], code: u64) -> u32 {
        self.0.add(code);
        UNKNOWN
    }

    fn strings(&self) -> StringsView<'_> {
        StringsView::default()
    }

    fn lexica(&self) -> LexicaView<'_> {
        LexicaView::default()
    }
}

/// Takes in attributes that may be frequent.
pub(super) struct Admitting<'a> {
    pub(super) new: NewAttributes<'a>,
    pub(super) frequent: &'a Frequent,
}

impl Attributes for Admitting<'_> {
    fn dense(&self) -> u32 {
        0
    }

    fn given(&mut self, key: &[u32]) -> u32 {
        self.attribute(false, key, hash(key))
    }

    #[inline]
    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        // Most occurrences are of attributes that are there.
        match self.keys(edge).find_hashed(key, code) {
            UNKNOWN if self.frequent.may_have(salted(edge, code)) => self.new.attribute(edge, key, code),
            number => number,
        }
    }

    #[inline]
    fn keys(&self, edge: bool) -> KeysView<'_> {
        self.new.keys(edge)
    }

    #[inline]
    fn fetch(&self, edge: bool, code: u64) -> u64 {
        if self.keys(edge).fetch_key(code).is_none() {
            self.frequent.fetch(salted(edge, code));
        }
        code
    }
}

/// Takes in names that may be frequent, where all attributes are the file's own.
pub(super) struct AdmittingNames<'a> {
    pub(super) growing: &'a mut Growing,
    pub(super) frequent: &'a Frequent,
}

impl Values for AdmittingNames<'_> {
    #[inline]
    fn value_hashed(&mut self, string: &[u8], code: u64) -> u32 {
        match self.growing.strings.view().find_hashed(string, code) {
            UNKNOWN if self.frequent.may_have(code) => self.growing.value_hashed(string, code),
            number => number,
        }
    }

    fn strings(&self) -> StringsView<'_> {
        self.growing.strings.view()
    }

    fn lexica(&self) -> LexicaView<'_> {
        LexicaView::default()
    }
}

impl Attributes for AdmittingNames<'_> {
    fn dense(&self) -> u32 {
        0
    }

    fn given(&mut self, key: &[u32]) -> u32 {
        self.growing.given(key)
    }

    fn attribute(&mut self, edge: bool, key: &[u32], code: u64) -> u32 {
        self.growing.attribute(edge, key, code)
    }

    fn keys(&self, edge: bool) -> KeysView<'_> {
        self.growing.keys(edge)
    }
}

/// The file of attributes: for each token its list, then that of its edge if there are any. A list is its length, twice,
/// plus 1 if values follow; the numbers; the values.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) log: Log,
    pub(super) counts: [Vec<u32>; 2], // of each attribute, of tokens and of edges
    pub(super) valued: [bool; 2],
    pub(super) total: [usize; 2],
    pub(super) edges: bool, // there are lists of edges
}

impl Items {
    pub(super) fn new(log: Log, edges: bool) -> Self {
        Items { log, counts: [vec![], vec![]], valued: [false; 2], total: [0; 2], edges }
    }

    /// Bytes of the counts.
    pub(super) fn bytes(&self) -> usize {
        self.counts.iter().map(|counts| 4 * counts.capacity()).sum()
    }

    /// Takes lists away, as many of tokens as of edges, if there are any of those.
    pub(super) fn take(&mut self, nodes: &mut Ragged, edges: &mut Ragged) -> Result<()> {
        for t in 0..nodes.starts.len().saturating_sub(1) {
            self.list(0, nodes, t);
            if self.edges {
                self.list(1, edges, t);
            }
            self.log.settle()?;
        }
        for lists in [nodes, edges] {
            lists.starts.truncate(1);
            lists.items.clear();
            lists.values.clear();
        }
        Ok(())
    }

    fn list(&mut self, kind: usize, lists: &Ragged, t: usize) {
        let range = lists.starts[t] as usize..lists.starts[t + 1] as usize;
        let (items, counts) = (&lists.items[range.clone()], &mut self.counts[kind]);
        // Values that come before the first that is not 1 are not there.
        let valued = lists.values.len() >= range.end && !items.is_empty();
        self.valued[kind] |= valued;
        self.total[kind] += items.len();
        let length = seqoia_core::cast::narrow(items.len());
        code::put(length << 1 | u32::from(valued), &mut self.log.bytes);
        for &item in items {
            if counts.len() <= item as usize {
                counts.resize(item as usize + 1, 0);
            }
            counts[item as usize] = counts[item as usize].saturating_add(1);
            code::put(item, &mut self.log.bytes);
        }
        if valued {
            lists.values[range].iter().for_each(|&x| code::put_single(x, &mut self.log.bytes));
        }
    }
}

/// The file of labels: for each token its label and how many lines it is behind the token before.
pub(super) struct Gold {
    pub(super) log: Option<Log>, // none: they are only looked at
    pub(super) convert: Option<Convert>,
    pub(super) tokens: usize, // that were taken away
    line: u32,
}

impl Gold {
    pub(super) fn new(log: Option<Log>, convert: Option<Convert>) -> Self {
        Gold { log, convert, tokens: 0, line: 0 }
    }

    /// Takes labels and lines away.
    pub(super) fn take(&mut self, gold: &mut Vec<u16>, lines: Option<&mut Vec<u32>>) -> Result<()> {
        self.tokens += gold.len();
        if let Some(log) = &mut self.log {
            for (t, &y) in gold.iter().enumerate() {
                let line = lines.as_ref().and_then(|lines| lines.get(t)).copied().unwrap_or(0);
                code::put(y.into(), &mut log.bytes);
                code::put(line.saturating_sub(self.line), &mut log.bytes);
                self.line = self.line.max(line);
                log.settle()?;
            }
        }
        gold.clear();
        lines.into_iter().for_each(Vec::clear);
        Ok(())
    }
}
