//! What Seqoia shows a person: numbers with units and aligned tables, as text. Nothing here prints.

mod number;
mod scores;

pub use number::{bytes, counted, grouped};
pub use scores::score_table;
