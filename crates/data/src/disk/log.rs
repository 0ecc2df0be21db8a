//! A file that is written from its start to its end, and then read in the same way as often as wanted.
//!
//! It is made of records, each with its length and a checksum in front: `length u32 | checksum u32 | bytes`.

use xxhash_rust::xxh3::xxh3_64;

use super::{Place, Scratch};
use crate::error::Result;
use seqoia_core::cast::narrow;

/// Bytes of length and checksum.
const HEAD: usize = 8;
/// A record ends when it has so many bytes.
const FULL: usize = 1 << 16;

/// Checks what was read.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    #[allow(clippy::cast_possible_truncation)] // as many bits as there is room for
    let low = xxh3_64(bytes) as u32;
    low
}

/// A file of records that is being written.
#[derive(Debug)]
pub struct Log {
    place: Place,
    /// What the next record will hold: callers append to it.
    pub(crate) bytes: Vec<u8>,
    end: u64,
}

impl Log {
    /// An empty one.
    ///
    /// # Errors
    /// When no file can be made.
    pub fn new(scratch: &Scratch) -> Result<Log> {
        Ok(Log { place: scratch.place()?, bytes: vec![], end: 0 })
    }

    /// To be called where a record may end.
    ///
    /// # Errors
    /// When the disk is full.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if self.bytes.len() >= FULL { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&narrow(self.bytes.len()).to_le_bytes());
        head[4..].copy_from_slice(&checksum(&self.bytes).to_le_bytes());
        self.place.write(self.end, &head)?;
        self.place.write(self.end + HEAD as u64, &self.bytes)?;
        self.end += (HEAD + self.bytes.len()) as u64;
        self.bytes.clear();
        Ok(())
    }

    /// All is written.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn finish(mut self) -> Result<Tape> {
        if !self.bytes.is_empty() {
            self.write()?;
        }
        Ok(Tape { place: self.place, end: self.end })
    }
}

/// A file of records that was written.
#[derive(Debug)]
pub struct Tape {
    place: Place,
    end: u64,
}

impl Tape {
    /// Reads the record at a place; where the next one begins.
    pub(crate) fn record(&self, at: u64, bytes: &mut Vec<u8>) -> Result<u64> {
        let mut head = [0; HEAD];
        self.place.read(at, &mut head)?;
        let [length, sum] =
            [0, 4].map(|i| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]));
        let next = at + HEAD as u64 + u64::from(length);
        if next > self.end {
            return Err(self.place.damaged());
        }
        bytes.resize(length as usize, 0);
        self.place.read(at + HEAD as u64, bytes)?;
        if checksum(bytes) != sum {
            return Err(self.place.damaged());
        }
        Ok(next)
    }

    /// What is wrong if a record does not hold what it should.
    pub(crate) fn damaged(&self) -> crate::error::Error {
        self.place.damaged()
    }

    /// Bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.end
    }

    #[cfg(test)]
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn read(tape: &Tape) -> Result<Vec<u8>> {
        let (mut at, mut record, mut all) = (0, vec![], vec![]);
        while at < tape.bytes() {
            at = tape.record(at, &mut record)?;
            all.extend_from_slice(&record);
        }
        Ok(all)
    }

    #[test]
    fn records_come_back_in_order_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::new(&Scratch::new(folder.path())).unwrap();
        let all: Vec<u8> = (0..300_000_u32).map(|i| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
        for piece in all.chunks(1000) {
            log.bytes.extend_from_slice(piece);
            log.settle().unwrap();
        }
        let tape = log.finish().unwrap();
        for _ in 0..2 {
            assert!(read(&tape).unwrap() == all);
        }
        let mut byte = [0];
        tape.place().read(100_000, &mut byte).unwrap();
        tape.place().write(100_000, &[byte[0] ^ 1]).unwrap();
        assert!(read(&tape).unwrap_err().to_string().contains("does not hold"));
        tape.place().write(100_000, &byte).unwrap();
        assert!(read(&tape).is_ok());
        tape.place().resize(tape.bytes() - 1).unwrap();
        assert!(read(&tape).unwrap_err().to_string().contains("does not hold"));
    }
}
