//! Who works on what, when: one file a strategy. Threads live here and nowhere below.
//!
//! [`serial`], [`minibatch`] and [`batch`] run one [`Workers`] team over all examples and differ in
//! the batch size, in who joins and in which learners they accept. [`crew`] holds the threads and
//! the only `unsafe` of this crate.

pub mod batch;
pub mod crew;
pub mod minibatch;
mod one_team;
pub mod serial;
mod team;

pub use crew::{Crew, lock};
pub use one_team::OneTeam;
pub use team::{Setup, Workers};
