//! The seams of Seqoia: what a structure, a learner and a strategy know of each other.
//!
//! A [`Structure`] owns the examples and one flat vector space of weights; each of its [`Lane`]s
//! answers questions about one example. A [`Learner`] has two halves: `look` asks about an example
//! (on any worker, pure) and leaves a [`Note`]; `learn` takes the notes of a batch, in order, and
//! changes the weights. A [`Strategy`] lends the learner a [`Team`]: workers, an order of examples,
//! a batch size and a sum over all examples. Calls between them are virtual and happen once per
//! example; everything inside an example is a plain loop in a structure.
//!
//! This crate has no I/O, no threads and no clock. What must be the same on every machine and for
//! every number of threads starts here: the order of a pass ([`Order`]), the random streams
//! ([`Random`]) and the order of every sum.
//!
//! ```
//! use seqoia_core::{Order, Random};
//!
//! // Pass 3 of a run with seed 1: a permutation, the same for any batch size.
//! let mut order = Order::new(10, Random::new(1, 3, 0, "order"));
//! let mut ids = Vec::new();
//! order.next(10, &mut ids);
//! ids.sort_unstable();
//! assert_eq!(ids, (0..10).collect::<Vec<_>>());
//! ```

mod bad_option;
mod case;
pub mod cast;
mod corpus;
mod delta;
mod error;
mod isa;
mod learner;
mod note;
mod order;
pub mod param;
mod random;
mod shelf;
mod state;
pub mod steps;
mod strategy;
mod structure;
pub mod vecmath;

pub use bad_option::BadOption;
pub use case::{Bench, Case};
pub use corpus::{Corpus, Example, Items, List, ListView, Pairs, Ragged, Sequence, SequenceView};
pub use delta::{Delta, Row, Weights};
pub use error::{Error, Result};
pub use isa::{Isa, prefetch};
pub use learner::{Data, Done, Learner, Mix, Profile, Slot, online};
pub use note::{Asked, Note, Violation};
pub use order::Order;
pub use random::Random;
pub use shelf::Shelf;
pub use state::{Plane, State};
pub use strategy::{Judge, Look, Report, Score, Strategy, Team, each};
pub use structure::{Lane, Question, Search, Structure, Update, sum_by_parts, sum_opened};
