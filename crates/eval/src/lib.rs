//! The metrics of Seqoia: how good a labelling is, measured against the gold.
//!
//! Scores count as a stream, a token at a time, so that a dev set can be scored inside training without being
//! held twice; only a closer look wants whole sentences. Nothing here opens a file, prints or panics; numbers are in per cent.
//!
//! - [`Spans`] counts chunks as `conlleval` does, and [`SpanScores::conlleval`] prints what it prints;
//! - [`Accuracy`] counts tokens and whole sentences, [`labels`] each label;
//! - [`score`] reads a text in columns and gives both; [`read`] keeps its sentences, for a closer look:
//! - [`confusions`] lists which label was taken for which, [`ByKnown`] parts known from unknown words;
//! - [`interval`] says how far a score is chance, [`randomisation`] whether the difference of two is;
//! - [`Segmentation`] scores words cut from a text, as the SIGHAN bakeoffs did.
//!
//! ```
//! use seqoia_eval::{Options, score};
//!
//! let text = "Ada B-PER B-PER\nLovelace I-PER I-PER\nin O O\nLondon B-LOC O\n";
//! let scored = score(text.as_bytes(), "dev.txt", &Options::default())?;
//! assert_eq!(scored.spans.precision(), 100.0);
//! assert_eq!(scored.spans.recall(), 50.0);
//! assert_eq!(scored.accuracy.tokens(), 75.0);
//! assert!(scored.spans.conlleval().starts_with("processed 4 tokens with 2 phrases; found: 1 phrases; correct: 1."));
//! # Ok::<(), seqoia_eval::Error>(())
//! ```

mod accuracy;
mod bootstrap;
mod chunks;
mod columns;
mod confusion;
mod known;
mod labels;
mod randomisation;
mod scores;
mod sentence;
mod sighan;
mod spans;
mod tally;

pub use accuracy::Accuracy;
pub use bootstrap::{FEWEST, Interval, interval, interval_of_difference};
pub use chunks::{Chunk, chunks};
pub use columns::{Error, Options, Scored, read, score};
pub use confusion::{Confusion, confusions};
pub use known::{ByKnown, Part};
pub use labels::labels;
pub use randomisation::{Significance, randomisation};
pub use scores::{SpanScores, TypeScores};
pub use sentence::{Counter, Sentence, Token, Unit};
pub use sighan::{Named, Segmentation, Vocabulary};
pub use spans::Spans;
pub use tally::{Tally, tallies};

/// `part` of `whole` in per cent; 0 when there is no whole, as every scorer of the field has it.
fn percent(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53, where f64 is exact")]
    let (part, whole) = (part as f64, whole as f64);
    // Multiplied first, as conlleval does: the other order may round the printed digits differently.
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}
