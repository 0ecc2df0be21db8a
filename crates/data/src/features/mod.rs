//! From tokens to attributes, without building a string.
//!
//! A [`Template`] combines a few *pieces*: a column, or a function of it (lower case, a suffix, a
//! shape), at an offset from the current token. Every distinct value of a piece gets a number once
//! ([`Strings`]); an attribute is the tuple of its template's group and the numbers of its pieces,
//! looked up in a table of tuples ([`Keys`]). Tuples are compared in full, so two attributes never
//! collide; names are put together only when a person wants to see them.
//!
//! [`crfpp`] reads CRF++'s templates, [`sets`] has the sets that are known by name, [`Extractor`]
//! runs them over sentences, [`Indexer`] collects a training set. [`Lexica`] are lists from outside
//! that some sources look into.

pub mod crfpp;
mod extract;
mod function;
mod index;
mod lexicon;
mod memory;
pub mod sets;
mod table;
mod template;

pub use extract::{Dictionary, Extractor, Frozen, Growing};
pub use function::Function;
pub use index::{Indexed, Indexer, Labels};
pub use lexicon::{Clusters, ClustersView, LISTS, Lexica, LexicaView, Names, NamesView};
pub use memory::Memory;
pub use table::{Keys, KeysView, NONE, Strings, StringsView, UNKNOWN};
pub use template::{Boundary, Part, Piece, Program, Source, Template};
