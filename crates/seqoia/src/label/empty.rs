//! Sentences without a token, in formats in which each line is a sentence. They have no labels, and an answer all the
//! same: whoever pairs answers with questions counts lines.

use seqoia_data::format::{Block, Copy, Format, Kind, Span};

use super::options::Output;
use super::{Labeller, records};
use crate::error::Result;

/// Goes through the lines of a block.
pub(super) struct Lines {
    /// The first byte that was not looked at, and the line of the file that it starts.
    at: usize,
    line: u64,
}

impl Lines {
    /// Of a block whose lines are sentences; none for others.
    pub(super) fn of(kind: Kind, block: &Block) -> Option<Lines> {
        kind.by_line().then(|| Lines { at: 0, line: block.first_line() })
    }

    /// Answers the lines without a token that stand before a line of the file, and goes behind that one.
    pub(super) fn before(
        &mut self,
        line: u64,
        labeller: &Labeller,
        format: &dyn Format,
        copy: &mut Copy<'_>,
        output: Output,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let text = copy.block.text();
        while self.at < text.len() && self.line <= line {
            let end = text[self.at..].find('\n').map_or(text.len(), |n| self.at + n);
            if self.line < line {
                let trimmed = text[self.at..end].trim_end_matches([' ', '\t', '\r']);
                let span = Span::new(self.at, self.at + trimmed.len());
                answer(labeller, format, copy, span, output, out)?;
            }
            (self.at, self.line) = (end + 1, self.line + 1);
        }
        Ok(())
    }
}

fn answer(
    labeller: &Labeller,
    format: &dyn Format,
    copy: &mut Copy<'_>,
    line: Span,
    output: Output,
    out: &mut Vec<u8>,
) -> Result<()> {
    match output {
        Output::Text | Output::Marginals => format.put_empty(copy, line, output == Output::Marginals, out),
        // The one labelling that there is.
        Output::NBest(_) => out.extend_from_slice(b"# 0 1.000000\n\n"),
        Output::Json { marginals, nbest } => {
            let line = copy.block.slice(line);
            records::empty(labeller, format.kind(), line, marginals, nbest, out)?;
        }
    }
    Ok(())
}
