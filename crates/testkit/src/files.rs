//! The files that a run leaves, and files that are changed by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqoia::{Checkpoint, LearnOptions, PassRow, Watch};
use seqoia_model::{Container, Writer};

/// Keeps the checkpoints of a run, by pass; raises a flag when a pass has ended.
#[derive(Default)]
pub struct Kept {
    /// The files.
    pub files: BTreeMap<u64, Vec<u8>>,
    /// The pass, and the flag.
    pub stop: Option<(u64, Arc<AtomicBool>)>,
}

impl Watch for Kept {
    fn pass(&mut self, row: &PassRow) {
        if let Some((_, stop)) = self.stop.as_ref().filter(|(pass, _)| *pass == row.number) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn checkpoint(&mut self, pass: u64, file: &[u8]) {
        self.files.insert(pass, file.to_vec());
    }
}

/// The options of a run that goes on from this checkpoint.
#[must_use]
pub fn resuming(options: &LearnOptions, file: &[u8]) -> LearnOptions {
    let resume = Some(Arc::new(Checkpoint::from_bytes("ck", file).unwrap()));
    LearnOptions { resume, ..options.clone() }
}

/// Makes version, length and checksum of a container right, so that what lies behind them is reached.
pub fn seal(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[16..20].copy_from_slice(&seqoia_model::VERSION.to_le_bytes());
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[16..]);
    bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
}

/// A container in which one section has other bytes.
#[must_use]
pub fn with_part(container: &Container, name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    for (part, kind, old) in container.sections() {
        writer.add_bytes(part, kind, if part == name { bytes } else { old });
    }
    writer.to_bytes()
}
