//! Who works on what, when: one file per strategy. Threads live here and nowhere below.
//!
//! [`registry::STRATEGIES`] is the one list. `serial`, `minibatch` and `batch` run one [`Workers`] team over all
//! examples and differ in the batch size and in which learners they take. [`crew`] holds the threads and
//! the only `unsafe` of this crate.

mod batch;
pub mod crew;
mod cuts;
mod minibatch;
mod one_team;
pub mod registry;
mod serial;
mod team;
mod worker;

pub use crew::{Crew, lock};
pub use cuts::{Cuts, Piece};
pub use one_team::OneTeam;
pub use team::{Setup, Workers};
