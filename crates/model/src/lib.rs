//! Seqoia's model file: named arrays of numbers in one checked, mapped file.
//!
//! ```text
//! 0   magic  "SEQOIA\r\n"      8 bytes; a transfer in text mode breaks it visibly
//! 8   XXH3 of bytes 16..end    u64
//! 16  version of the format    u32
//! 20  number of sections       u32
//! 24  length of the file       u64
//! 32  section table            40 bytes each: name (16, padded with zeros), kind u32, 0 u32,
//!                              offset u64, length in bytes u64
//! ..  sections                 each at a multiple of 64 bytes, zeros between
//! ```
//!
//! All numbers are little endian. Equal contents give equal bytes: nothing about time, place or
//! machine is written. What the sections mean is the business of whoever writes them.
//!
//! ```
//! use seqoia_model::{Container, Writer};
//!
//! let mut writer = Writer::default();
//! writer.add("weights", &[0.5f32, -1.0]);
//! let model = Container::from_bytes("example", &writer.to_bytes())?;
//! assert_eq!(model.get::<f32>("weights")?, [0.5, -1.0]);
//! # Ok::<(), seqoia_model::Error>(())
//! ```

pub mod codes;
mod container;
mod error;
mod leftovers;
mod map;
mod write;

pub use container::{Container, Number};
pub use error::{Error, Result};
pub use write::{Writer, check_target, write_atomically};

const MAGIC: [u8; 8] = *b"SEQOIA\r\n";
/// The version of the format.
pub const VERSION: u32 = 3;
/// What the checksum covers starts here.
const CHECKED: usize = 16;
const HEADER: usize = 32;
const ENTRY: usize = 40;
const ALIGN: usize = 64;
