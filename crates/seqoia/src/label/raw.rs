//! Text without blanks is not segmented text. Its lines must not pass for words: not for training, not for scores,
//! not on pages.

use seqoia_data::format::{Block, Format, Kind, is_cut};

use crate::error::Result;

/// Looks at the blocks of a file whose labels are to be learned from or compared with.
#[derive(Default)]
pub(crate) struct Watch {
    cut: bool,
    words: bool,
}

impl Watch {
    /// A block that was parsed.
    pub(crate) fn look(&mut self, format: &dyn Format, block: &Block) {
        if format.kind() == Kind::Words && !self.cut {
            self.cut = is_cut(block);
            self.words |= block.tokens().len() > block.len();
        }
    }

    /// # Errors
    /// A file in which no line has two words.
    pub(crate) fn check(&self, file: &str) -> Result<()> {
        if self.cut || !self.words {
            return Ok(());
        }
        let what = "it is read as words, but no line has a blank between two words";
        let help = "segmented text has blanks between words; raw text has no labels to learn from or to compare with";
        Err(seqoia_data::Error::new(file, what).help(help).into())
    }
}
