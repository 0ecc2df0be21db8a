//! What stands before the first token of a stream, whose sentences are answered one by one.
//!
//! The first token says more about the format (how many columns there are, what stands between them), and may be
//! a long time coming. Sentences without a token and rows that start a document have an answer without it.

use std::io::Write;
use std::sync::Arc;

use seqoia_data::format::{self, Block, Blocks, Format, Kind, Lead, Reader};
use seqoia_data::open::Input;

use super::answers::label_block;
use super::options::Output;
use super::{Labeller, Predictor};
use crate::error::Result;

/// Opens a file and, if each sentence is to be answered at once, answers what stands before the first token. None if
/// that is all there is.
pub(super) fn open(
    labeller: &Labeller,
    input: Input,
    kind: Kind,
    eager: bool,
    output: Output,
    out: &mut dyn Write,
) -> Result<Option<Blocks>> {
    let file = input.name.clone();
    let mut blocks = Blocks::new(input).eager(eager).whole_documents(labeller.reads_documents());
    if !eager || kind != Kind::Columns && kind.of_lines().is_none() {
        return Ok(Some(blocks));
    }
    let (mut block, mut answers, mut predictor) = (Block::default(), vec![], Predictor::new(labeller));
    let mut any = false;
    loop {
        match format::lead(&mut blocks, &mut block, kind)? {
            Lead::Empty => (),
            Lead::End if any => return Ok(None),
            _ => return Ok(Some(blocks)),
        }
        let format = match kind.of_lines() {
            Some(format) => format.into(),
            None => columns(labeller, block.text())?,
        };
        format.parse(&file, &mut block)?;
        answers.clear();
        label_block(&mut predictor, &file, &*format, &block, output, &mut answers)?;
        out.write_all(&answers)?;
        out.flush()?;
        // Empty lines alone are not an input, but in formats in which each is a sentence.
        any |= kind != Kind::Columns || !block.marks().is_empty();
    }
}

/// The columns of a file that starts with these rows, which start documents: as many as the longest of them has,
/// and as the model reads.
fn columns(labeller: &Labeller, text: &str) -> Result<Arc<dyn Format>> {
    let (separator, least) = if text.contains('\t') { ('\t', 2) } else { (' ', 1) };
    let fields = |row: &str| row.trim_end().split(separator).filter(|field| !field.is_empty()).count();
    let longest = text.lines().map(fields).max().unwrap_or(0);
    let row = vec!["x"; longest.max(labeller.columns_read()).max(least)].join(&separator.to_string());
    Ok(Reader::new(Blocks::new(Input::from_bytes("columns", row)?), Some(Kind::Columns))?.format())
}
