//! Examples, and what learners remember of them, outside memory.
//!
//! All files here are temporary and have no name: the system takes them back when the program ends, however it ends,
//! and nobody else can open or change them. They are read by position into buffers of a bounded size, never mapped: a
//! mapped page counts as memory of the program.
//!
//! [`Scratch`] makes the files, [`Log`] is one that is written from its start to its end and then read, `code` has
//! the form of numbers in it, [`Cached`] is a corpus, [`Numbers`] a long list of single numbers.

mod cached;
pub(crate) mod code;
mod log;
mod numbers;
mod scratch;

pub use cached::{Cached, Record, Recorder};
pub use log::{Log, Tape};
pub use numbers::Numbers;
pub use scratch::{Place, Scratch};
