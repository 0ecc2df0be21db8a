//! From tokens to attributes, without building a string.
//!
//! A [`Template`] combines a few *pieces*: a column, or a function of it (lower case, a suffix, a
//! shape), at an offset from the current token. Every distinct value of a piece gets a number once
//! ([`Strings`]); an attribute is the tuple of its template's group and the numbers of its pieces,
//! looked up in a table of tuples ([`Keys`]). Tuples are compared in full, so two attributes never
//! collide; names are put together only when a person wants to see them.
//!
//! [`crfpp`] reads CRF++'s templates, [`wapiti`] Wapiti's patterns, [`sets`] has the sets that are known by name, [`Extractor`]
//! runs them over sentences, [`Indexer`] collects a training set. [`Lexica`] are lists from outside
//! that some sources look into.

pub mod crfpp;
mod dictionary;
mod extract;
mod function;
mod given;
mod index;
mod lexicon;
mod longest;
mod lookups;
mod memory;
mod mentions;
mod numbers;
mod outside;
mod pairs;
mod pattern;
mod raw_text;
mod reading;
mod rough;
mod seen;
pub mod sets;
mod spilled;
mod stretch;
mod stretches;
mod table;
mod template;
mod thesaurus;
mod view;
mod views;
pub mod wapiti;
mod word_list;

pub use dictionary::{Attributes, Dictionary, Frozen, Growing, Values};
pub use extract::Extractor;
pub use function::Function;
pub use index::{Indexed, Indexer, Labels, MOST_LABELS, OR};
pub use lexicon::{Clusters, ClustersView, LISTS, Lexica, LexicaView, Names, NamesView};
pub use memory::{Memory, normalise};
pub use outside::{Convert, Room};
pub use pattern::Pattern;
pub use raw_text::{LONGEST as LONGEST_COUNTED, RawText, Varieties, VarietiesView};
pub use spilled::Spilled;
pub use table::{Keys, KeysView, NONE, Renumbered, Strings, StringsView, UNKNOWN};
pub use template::{Boundary, Part, Piece, Program, Source, Template};
pub use thesaurus::{Thesaurus, ThesaurusView};
pub use views::Matched;
pub use word_list::{LONGEST, WordList, WordListView};
