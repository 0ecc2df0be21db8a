//! Text formats: one file a format, all of them over the same [`Block`]s.
//!
//! [`first`] reads the start of a file, decides what it is and gives the [`Format`] that finds the
//! tokens; [`Blocks::fill`] then reads on. A format is decided once per file, from its first row
//! that is a token, and every later row must be like it.

mod block;
mod columns;
mod conllu;

pub use block::{BLOCK, Block, Blocks, Format, Mark, Rows, Sentence, Span, Token};
pub use columns::{Columns, Separator};
pub use conllu::{Conllu, Field};

use crate::error::{Error, Result};

/// The formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One token a row, columns separated by blanks or tabs: CoNLL-2000 to 2003, CRF++.
    Columns,
    /// Ten columns of Universal Dependencies; CoNLL-X has the same.
    Conllu,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Columns, Self::Conllu];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Conllu => "conllu",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Reads the first block and says in which format to read the file: `kind`, or what the text looks
/// like.
///
/// CoNLL-U is a row of ten fields between tabs, the first of them an id with which a sentence can
/// start (`1`, `1-2`, `0.1`), behind any number of comments. All else is columns.
///
/// The block is longer than the others if the file starts with a long stretch without a token. It
/// has no rows yet: parse it like the others.
///
/// # Errors
///
/// What [`Blocks::fill`] says; the file is empty, has no token, or its lines end in CR alone.
pub fn first(blocks: &mut Blocks, block: &mut Block, kind: Option<Kind>) -> Result<Box<dyn Format>> {
    if !blocks.fill(block)? {
        return Err(empty(blocks.name(), "the file is empty"));
    }
    let text = block.text();
    if !text.contains('\n') && text.trim_end_matches('\r').contains('\r') {
        return Err(Error::at(blocks.name(), 1, "lines end in CR alone, not in LF or CRLF")
            .help("convert the file: tr '\\r' '\\n'"));
    }
    let mut columns = Columns::detect(block);
    let mut looks = look(block);
    let mut next = Block::default();
    loop {
        match (looks.map(|looks| kind.unwrap_or(looks)), columns) {
            (Some(Kind::Conllu), _) => return Ok(Box::new(Conllu)),
            (Some(Kind::Columns), Some(columns)) => return Ok(Box::new(columns)),
            _ => {}
        }
        // Only comments or marks so far: each further stretch is looked at once.
        if !blocks.fill(&mut next)? {
            break;
        }
        columns = columns.or_else(|| Columns::detect(&next));
        looks = looks.or_else(|| look(&next));
        block.append(&next, blocks.name())?;
    }
    match columns {
        // Nothing but rows that start with `#`, which are words unless the file is CoNLL-U.
        Some(columns) if kind != Some(Kind::Conllu) => Ok(Box::new(columns)),
        _ => Err(empty(blocks.name(), "the file has no token")),
    }
}

/// What the first row that is no comment looks like; none if there is no such row.
fn look(block: &Block) -> Option<Kind> {
    let mut rows = block.text().lines().filter(|line| !block::is_blank(line.as_bytes()));
    let row = rows.find(|row| !row.starts_with('#'))?;
    Some(if conllu::can_start(row) { Kind::Conllu } else { Kind::Columns })
}

fn empty(file: &str, what: &str) -> Error {
    Error::new(file, what).help(
        "one token a line is wanted, its columns separated by blanks or tabs, and an empty line after \
         each sentence; or CoNLL-U",
    )
}
