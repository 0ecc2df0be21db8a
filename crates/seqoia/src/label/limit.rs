//! How much memory training may take, and where the examples lie because of it.

use std::sync::Arc;

use seqoia_data::disk::{Numbers, Scratch};
use seqoia_report::bytes;
use seqoia_structures::chain::Shelves;

use crate::error::{BadOption, Result};

/// How much memory training may take.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: usize,
    /// Where temporary files go.
    pub scratch: Scratch,
    /// Examples lie on disk even if they fit into memory.
    pub always: bool,
}

/// What the program takes while it reads, beside tables: itself, blocks of text and what was found in them.
pub(super) const READER: usize = 27_900_000;

impl Limit {
    /// Bytes that tables may take while data is read, beside lists from outside.
    pub(super) fn for_tables(&self, lists: usize) -> Result<usize> {
        let room = self.bytes.saturating_sub(READER + lists);
        match room >= LEAST {
            true => Ok(room),
            false => {
                let least = size(READER + lists + LEAST);
                Err(self.refused(format!("reading alone takes {least}")).help(help(least)).into())
            }
        }
    }

    /// An error about it.
    pub(super) fn refused(&self, what: String) -> BadOption {
        BadOption::of("memory-limit", size(self.bytes), what)
    }
}

/// Less for tables is no use.
const LEAST: usize = 5_000_000;

/// A number of bytes as the option is written, rounded up.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000_000 => format!("{}K", bytes.div_ceil(1000)),
        _ => format!("{}M", bytes.div_ceil(1_000_000)),
    }
}

pub(super) fn help(least: impl std::fmt::Display) -> String {
    format!(
        "`memory-limit {least}` is enough; a higher `cutoff`, fewer `threads` and a learner that keeps less take less"
    )
}

/// Where the examples of a training set lie.
#[derive(Clone, Debug)]
pub struct Within {
    pub(super) limit: Limit,
    pub(super) disk: Option<Disk>,
}

/// Examples that lie on disk.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    /// Bytes of their file.
    pub(super) bytes: u64,
    /// Why they lie there.
    pub(super) why: String,
}

impl Within {
    /// Whether examples lie on disk.
    #[must_use]
    pub fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// For the person who waits.
    pub(super) fn told(&self, shelves: bool) -> Vec<String> {
        let limit = bytes(self.limit.bytes as u64);
        let mut told = vec![match &self.disk {
            None => format!("{limit}: the examples stay in memory"),
            Some(disk) => format!("{limit}: {}", disk.why),
        }];
        told.extend(self.disk.as_ref().map(|disk| format!("so they lie on disk ({})", bytes(disk.bytes))));
        if shelves {
            told.push("what the learner remembers of each lies on disk".to_owned());
        }
        told
    }

    /// Places for numbers on disk.
    pub(super) fn shelves(&self) -> Shelves {
        let scratch = self.limit.scratch.clone();
        Arc::new(move |length| match Numbers::new(&scratch, length) {
            Ok(numbers) => Ok(Arc::new(numbers)),
            Err(error) => Err(seqoia_core::Error::Learner(error.to_string())),
        })
    }
}
