//! Scores a text that is cut into words, see [`Segmentation`].

use seqoia_data::open::Input;
use seqoia_eval::Segmentation;

use crate::error::Result;

/// Scores the words of `found` against those of `gold`, both of them lines of words between blanks;
/// `training` has the words that training has seen.
///
/// # Errors
/// Files that cannot be read or are not the same text.
pub fn segmentation(gold: Input, found: Input, training: Option<Input>) -> Result<Segmentation> {
    let (gold, found) = (super::text(gold)?, super::text(found)?);
    let training = training.map(super::words_of_text).transpose()?;
    Ok(Segmentation::score((&gold.0, &gold.1), (&found.0, &found.1), training.as_ref())?)
}
