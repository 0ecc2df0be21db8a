//! Text formats: one file a format, all of them over the same [`Block`]s.
//!
//! [`first`] reads the start of a file, decides what it is and gives the [`Format`] that finds the
//! tokens; [`Blocks::fill`] then reads on. A format is decided once per file, from its first row
//! that is a token, and every later row must be like it.

mod block;
mod blocks;
mod columns;
mod conllu;
mod copy;
mod crfsuite;
mod guess;
mod jsonl;
mod ocr;
mod pieces;
mod reader;
mod scan;
mod sentences;
mod tagged;
mod words;
mod write;

pub(crate) use block::LARGEST;
pub use block::{Block, Format, Mark, Place, Rows, Sentence, Span, Token};
pub(crate) use blocks::checked;
pub use blocks::{BLOCK, Blocks, DOCUMENT};
pub use columns::{Columns, Separator};
pub use conllu::{Conllu, Field};
pub use copy::{Beside, Copy, Labelled};
pub use crfsuite::{Crfsuite, write_row as write_crfsuite_row};
pub use guess::Guess;
pub use jsonl::{Jsonl, has_key as has_json_key, put_with_other_keys};
pub use ocr::Ocr;
pub use pieces::Pieces;
pub use reader::Reader;
pub(crate) use reader::Taken;
pub use sentences::{AsToken, Parts, Ready, Sentences};
pub use tagged::Tagged;
pub use words::{SCHEME as WORDS_SCHEME, Words, is_cut};
pub use write::{Outgo, Outgoing, Refusal, Target};

use crate::error::{Error, Result};

/// The formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One token a row, columns separated by blanks or tabs: CoNLL-2000 to 2003, CRF++.
    Columns,
    /// Ten columns of Universal Dependencies.
    Conllu,
    /// Ten columns of CoNLL-X.
    Conllx,
    /// A label and attributes a row.
    Crfsuite,
    /// A sentence a line, words between blanks; tokens are characters.
    Words,
    /// A sentence a line, words with a label behind a slash.
    Tagged,
    /// A sentence a line, as a JSON object.
    Jsonl,
    /// Images of letters, a letter a row.
    Ocr,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Columns,
        Self::Conllu,
        Self::Conllx,
        Self::Crfsuite,
        Self::Words,
        Self::Tagged,
        Self::Jsonl,
        Self::Ocr,
    ];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Conllu => "conllu",
            Self::Conllx => "conllx",
            Self::Crfsuite => "crfsuite",
            Self::Words => "words",
            Self::Tagged => "tagged",
            Self::Jsonl => "jsonl",
            Self::Ocr => "ocr",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether each line is a sentence.
    #[must_use]
    pub const fn by_line(self) -> bool {
        matches!(self, Self::Words | Self::Tagged | Self::Jsonl)
    }

    /// Where a file of so many columns has the word of a token, if that column is the label; none if tokens
    /// have attributes alone, of which it cannot be said which is the word.
    ///
    /// ```
    /// use seqoia_data::format::Kind;
    ///
    /// assert_eq!(Kind::Columns.word(3, Some(2)), Some(0));
    /// assert_eq!(Kind::Columns.word(3, Some(0)), Some(1)); // the label may come first
    /// assert_eq!(Kind::Conllx.word(10, Some(3)), Some(1));
    /// assert_eq!(Kind::Crfsuite.word(1, Some(0)), None);
    /// ```
    #[must_use]
    pub fn word(self, columns: usize, label: Option<usize>) -> Option<usize> {
        let word = match self {
            Self::Conllu | Self::Conllx => Field::Form.column(),
            Self::Columns => usize::from(label == Some(0)),
            _ => 0,
        };
        (word < columns && Some(word) != label).then_some(word)
    }

    /// Whether there is a place for the probability of a label.
    #[must_use]
    pub const fn holds_probabilities(self) -> bool {
        matches!(self, Self::Columns | Self::Conllu | Self::Crfsuite | Self::Jsonl)
    }

    /// The format of lines that have no token, which is all the same in files with labels and without; none if a
    /// line is not a sentence.
    #[must_use]
    pub fn of_lines(self) -> Option<Box<dyn Format>> {
        match self {
            Self::Words => Some(Box::new(Words)),
            Self::Tagged => Some(Box::new(Tagged { labelled: false })),
            Self::Jsonl => Some(Box::new(Jsonl::default())),
            _ => None,
        }
    }

    /// Whether a sentence ends with this line.
    fn ends(self) -> fn(&[u8]) -> bool {
        match self {
            Self::Ocr => ocr::ends,
            _ if self.by_line() => |_| true,
            _ => block::is_blank,
        }
    }

    /// The format of a file of this kind that starts with this text; none if it has no token.
    fn detect(self, block: &Block) -> Option<Box<dyn Format>> {
        fn boxed<F: Format + 'static>(format: F) -> Box<dyn Format> {
            Box::new(format)
        }
        match self {
            Self::Columns => Columns::detect(block).map(boxed),
            Self::Conllu => look(block).map(|_| boxed(Conllu { x: false })),
            Self::Conllx => look(block).map(|_| boxed(Conllu { x: true })),
            Self::Crfsuite => Crfsuite::detect(block).map(boxed),
            Self::Words => Words::detect(block).map(boxed),
            Self::Tagged => Tagged::detect(block).map(boxed),
            Self::Jsonl => Jsonl::detect(block).map(boxed),
            Self::Ocr => Ocr::detect(block).map(boxed),
        }
    }
}

/// What was found at the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// A block without a token.
    Empty,
    /// A token: nothing was taken.
    Token,
    /// The end.
    End,
}

/// Takes a block without a token from the start of a file, for a reader that cannot wait until [`first`] has seen
/// the first token.
///
/// # Errors
///
/// What [`Blocks::fill`] says.
pub fn lead(blocks: &mut Blocks, block: &mut Block, kind: Kind) -> Result<Lead> {
    blocks.cut_at(kind.ends());
    if !blocks.fill(block)? {
        return Ok(Lead::End);
    }
    if kind.detect(block).is_none() {
        return Ok(Lead::Empty);
    }
    blocks.give_back(block);
    Ok(Lead::Token)
}

/// Reads the first block and says in which format to read the file: `kind`, or what the text looks
/// like.
///
/// Three formats are known by their first row: JSON lines by the brace that opens an object, images of letters by their 134 columns, CoNLL-U by ten fields between tabs, the first of them an id
/// with which a sentence can start (`1`, `1-2`, `0.1`), behind any number of comments. All else is
/// columns, since the others look like columns, too.
///
/// The block is longer than the others if the file starts with a long stretch without a token. It
/// has no rows yet: parse it like the others.
///
/// # Errors
///
/// What [`Blocks::fill`] says; the file is empty, has no token, or its lines end in CR alone.
pub fn first(blocks: &mut Blocks, block: &mut Block, kind: Option<Kind>) -> Result<Box<dyn Format>> {
    let kind = match kind {
        Some(kind) => Some(kind),
        None => match blocks.peek()? {
            line if jsonl::can_start(line) => Some(Kind::Jsonl),
            line if ocr::can_start(line) => Some(Kind::Ocr),
            _ => None,
        },
    };
    if let Some(kind) = kind {
        blocks.cut_at(kind.ends());
        if kind == Kind::Jsonl {
            blocks.documents_at(jsonl::last_document);
        }
    }
    if !blocks.fill(block)? {
        return Err(empty(blocks.name(), "the file is empty", kind));
    }
    let text = block.text();
    if !text.contains('\n') && text.trim_end_matches('\r').contains('\r') {
        return Err(Error::at(blocks.name(), 1, "lines end in CR alone, not in LF or CRLF")
            .help("convert the file: tr '\\r' '\\n'"));
    }
    let mut columns = Kind::Columns.detect(block);
    let mut looks = kind.or_else(|| look(block));
    let mut found = looks.and_then(|kind| kind.detect(block));
    let mut next = Block::default();
    while found.is_none() {
        // Only comments or marks so far: each further stretch is looked at once.
        if !blocks.fill(&mut next)? {
            break;
        }
        columns = columns.or_else(|| Kind::Columns.detect(&next));
        looks = looks.or_else(|| look(&next));
        found = looks.and_then(|kind| kind.detect(&next));
        block.append(&next, blocks.name())?;
    }
    match (found, columns) {
        // The first row decides, though it starts with `#` as a comment of CoNLL-U does.
        (Some(format), Some(columns)) if format.kind() == Kind::Columns => Ok(columns),
        (Some(format), _) => {
            if format.columns() == 0 && !format.ready() {
                // Its first line may be broken; that comes before all that is concluded from it.
                format.parse(blocks.name(), block)?;
            }
            Ok(format)
        }
        // Nothing but rows that start with `#`, which are words unless the file is CoNLL-U.
        (None, Some(columns)) if kind.is_none() => Ok(columns),
        _ => Err(empty(blocks.name(), "the file has no token", kind)),
    }
}

/// What the first row that is no comment looks like; none if there is no such row.
fn look(block: &Block) -> Option<Kind> {
    let mut rows = block.text().lines().filter(|line| !block::is_blank(line.as_bytes()));
    let row = rows.find(|row| !row.starts_with('#'))?;
    Some(if conllu::can_start(row) { Kind::Conllu } else { Kind::Columns })
}

fn empty(file: &str, what: &str, kind: Option<Kind>) -> Error {
    Error::new(file, what).help(match kind {
        None | Some(Kind::Columns | Kind::Conllu) => {
            "one token a line is wanted, its columns separated by blanks or tabs, and an empty line after \
             each sentence; or CoNLL-U"
        }
        Some(Kind::Conllx) => "ten columns between tabs are wanted, and an empty line after each sentence",
        Some(Kind::Crfsuite) => {
            "a label and attributes a line are wanted, between tabs, and an empty line after each sequence"
        }
        Some(Kind::Words) => "a sentence a line is wanted, its words separated by blanks",
        Some(Kind::Tagged) => "a sentence a line is wanted, such as The/DT cat/NN",
        Some(Kind::Jsonl) => "an object a line is wanted, with the key tokens or features",
        Some(Kind::Ocr) => "a letter a line is wanted, 134 columns between tabs",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::Input;

    const ROW: &str = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n";

    /// The format found and the first block, read in blocks of `size`.
    fn start(text: &str, size: usize, kind: Option<Kind>) -> Result<(Box<dyn Format>, Block)> {
        let mut blocks = Blocks::with_size(Input::from_bytes("a.txt", text)?, size);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, kind)?;
        format.parse("a.txt", &mut block)?;
        Ok((format, block))
    }

    #[test]
    fn kinds_have_names() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name()), Some(kind));
        }
        assert_eq!(Kind::parse("xml"), None);
    }

    #[test]
    fn what_a_file_looks_like() {
        for size in [1, 5, 1000] {
            for (text, kind, columns) in [
                (ROW.to_owned(), Kind::Conllu, 10),
                (format!("# sent_id = 1\n{ROW}"), Kind::Conllu, 10),
                // Comments in stretches of their own do not decide.
                (format!("\n\n# only = this\n\n# and = this\n\n{ROW}"), Kind::Conllu, 10),
                (ROW.replace('1', "2"), Kind::Columns, 10),
                (ROW.replace("\t_\n", "\n"), Kind::Columns, 9),
                ("# NN\n\na NN\n".into(), Kind::Columns, 2),
                ("#tag\n\n#other\n".into(), Kind::Columns, 1),
                ("-DOCSTART-\n\n-DOCSTART-\n\na NN O\n".into(), Kind::Columns, 3),
                ("a\tNN\n".into(), Kind::Columns, 2),
                ("a".into(), Kind::Columns, 1),
            ] {
                let (format, _) = start(&text, size, None).unwrap();
                assert_eq!((format.kind(), format.columns()), (kind, columns), "{text:?} {size}");
            }
        }
    }

    #[test]
    fn a_brace_opens_json_lines() {
        for (text, kind) in [
            ("{\"tokens\": [\"a\"]}\n", Kind::Jsonl),
            ("\n  {\"tokens\": [], \"labels\": []}\n{\"tokens\": [\"a\"]}\n", Kind::Jsonl),
            ("{ X\na X\n", Kind::Columns),
            ("{\tX\na\tX\n", Kind::Columns),
            ("{\n", Kind::Columns),
        ] {
            assert_eq!(start(text, 100, None).unwrap().0.kind(), kind, "{text}");
        }
        for line in
            ["{\"tokens\": [\"a\", \"b\"]", "{ \"tokens\" [\"a\"]}", "{'tokens': ['a']}", "{tokens: [\"a\"]}"]
        {
            for kind in [None, Some(Kind::Jsonl)] {
                for text in [format!("{line}\n{{\"tokens\": [\"a\"]}}\n"), line.to_owned()] {
                    let mut blocks = Blocks::new(Input::from_bytes("a.txt", text.as_bytes()).unwrap());
                    // Before anything is said of columns and labels.
                    let error = first(&mut blocks, &mut Block::default(), kind).err().unwrap();
                    assert_eq!(error.line, 1, "{text} {error}");
                    assert!(error.help.starts_with("a line is an object such as"), "{error}");
                }
            }
        }
    }

    #[test]
    fn what_the_caller_says_counts() {
        let (format, _) = start(ROW, 100, Some(Kind::Columns)).unwrap();
        assert_eq!(format.kind(), Kind::Columns);
        let error = start("a NN\n", 100, Some(Kind::Conllu)).unwrap_err();
        assert_eq!(error.what, "found 1 column, expected 10");
    }

    #[test]
    fn the_first_block_has_all_text_so_far() {
        let text = format!("# a\n\n\n# b\n\n{ROW}\n{ROW}");
        let (_, block) = start(&text, 1, None).unwrap();
        assert!(text.starts_with(block.text()) && block.len() == 1);
        assert_eq!((block.first_line(), block.sentence(0).line), (1, 6));
        // The line that decided is counted in the file, not in the block.
        let error = start("-DOCSTART-\n\na NN\nb\n", 1, None).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (4, "found 1 column, expected 2 as on line 3"));
    }

    #[test]
    fn files_without_a_token() {
        let help = "help: one token a line is wanted, its columns separated by blanks or tabs, and an empty \
                    line after each sentence; or CoNLL-U";
        let error = |text: &str, kind| start(text, 4, kind).unwrap_err().to_string();
        assert_eq!(error("", None), format!("a.txt: the file is empty\n  {help}"));
        for text in ["\n", " \r\n\t\n\n", "-DOCSTART- -X- O\n\n-DOCSTART- -X- O\n", "\u{feff}"] {
            assert_eq!(error(text, None), format!("a.txt: the file has no token\n  {help}"), "{text:?}");
        }
        assert_eq!(error("# a\n", Some(Kind::Conllu)), format!("a.txt: the file has no token\n  {help}"));
    }

    #[test]
    fn lines_of_old_macs() {
        assert_eq!(
            start("a NN\rb NN\r\rc NN\r", 100, None).unwrap_err().to_string(),
            "a.txt:1: lines end in CR alone, not in LF or CRLF\n  help: convert the file: tr '\\r' '\\n'"
        );
        assert!(start("a NN\r", 100, None).is_ok());
    }
}
