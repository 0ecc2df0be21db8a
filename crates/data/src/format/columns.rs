//! Columns: one token a row, an empty line after each sentence, as in CoNLL-2000 to 2003 and CRF++.
//!
//! The first token row decides for the file. If it holds a tab, columns stand between single tabs,
//! and a field may hold blanks; else runs of blanks separate them, and a tab is an error: it may
//! separate two fields or belong to one, and nobody can tell which was meant. Every row must have as
//! many columns as that one: a row that has not is an error in the data that a learner would turn
//! into a silently worse model.
//!
//! A row whose first field is `-DOCSTART-` starts a document. It is no token, ends a sentence if one
//! is open (in CoNLL-2003 it has an empty line behind it, in CoNLL-2002 none) and need not have all
//! columns; it is kept as a [`Mark`](super::Mark) so that whoever adds a column can add it there.
//! There are no comments: `#` is a word.

use memchr::memchr;

use super::Kind;
use super::block::{Block, Format, Place, Rows, Span, is_blank};
use super::copy::{Copy, Labelled};
use super::guess::Guess;
use super::write::{Outgoing, Refusal, refuse};
use crate::error::{Error, Result};

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// One tab. Blanks belong to the field they are in, but for those at the end of the row.
    Tab,
    /// A run of blanks; those at the ends of a row do not count.
    Blanks,
}

/// The format, as the first token row of a file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// What separates columns.
    pub separator: Separator,
    /// Number of columns.
    pub width: usize,
    /// The line that decided, from 1.
    line: u64,
    /// That row started with `#`: maybe a comment of another format.
    hash: bool,
    /// What it may be instead.
    guess: Option<Guess>,
}

impl Columns {
    /// As they are written: between tabs.
    pub(super) const TABS: Self =
        Self { separator: Separator::Tab, width: 2, line: 1, hash: false, guess: None };

    /// The format of a file that starts with this text; none if the text has no token row.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        let mut rows = block.text().split('\n').map(str::as_bytes).zip(block.first_line()..);
        let (row, line) = rows.find(|(row, _)| !is_blank(row) && !is_docstart(row))?;
        let separator = if memchr(b'\t', row).is_some() { Separator::Tab } else { Separator::Blanks };
        let mut width = 0;
        separator.split(row, 0, separator.end(row, 0, row.len()), |_, _| width += 1);
        Some(Self { separator, width, line, hash: row.starts_with(b"#"), guess: Guess::of(block.text()) })
    }

    /// Takes one row, which is not blank.
    #[inline]
    fn row(&self, bytes: &[u8], start: usize, end: usize, line: u32, rows: &mut Rows) -> Row {
        let end = self.separator.end(bytes, start, end);
        if is_docstart(&bytes[start..end]) {
            if self.separator == Separator::Blanks && memchr(b'\t', &bytes[start..end]).is_some() {
                return Row::Tab;
            }
            rows.end_sentence();
            rows.mark(Span::new(start, end));
            return Row::Good;
        }
        let mut found = 0;
        let mut empty = 0;
        let whole = self.separator.split(bytes, start, end, |start, end| {
            rows.field(start, end);
            found += 1;
            if start == end && empty == 0 {
                empty = found;
            }
        });
        if !whole {
            return Row::Tab;
        }
        if found != self.width {
            return Row::Width(found);
        }
        if empty > 0 {
            return Row::Empty(empty);
        }
        rows.token(Span::new(start, end), line);
        Row::Good
    }

    fn error(&self, file: &str, line: u64, row: &str, problem: &Row) -> Error {
        match *problem {
            Row::Width(found) => {
                let s = if found == 1 { "" } else { "s" };
                let expected = self.width;
                let what = format!("found {found} column{s}, expected {expected} as on line {}", self.line);
                Error::at(file, line, what).help(self.help(row, found))
            }
            Row::Empty(column) => Error::at(file, line, format!("column {column} is empty"))
                .help("a tab stands between two columns, and a field without a value is written _"),
            Row::Tab => {
                let what = format!("a tab, where blanks separate the columns as on line {}", self.line);
                Error::at(file, line, what)
                    .help("use one of them throughout the file, such as by tr '\\t' ' '")
            }
            Row::Good => Error::at(file, line, "nothing is wrong"),
        }
    }

    /// The likeliest cause of a wrong number of columns.
    fn help(&self, row: &str, found: usize) -> String {
        let expected = self.width;
        let line = self.line;
        let by_blanks = row.split([' ', '\t']).filter(|field| !field.is_empty()).count();
        if let Some(guess) = self.guess {
            guess.help().to_owned()
        } else if self.hash {
            format!("line {line} was taken for a token: column files have no comments")
        } else if row.starts_with('#') {
            "a line that starts with # is a token here: column files have no comments".to_owned()
        } else if self.separator == Separator::Tab && found < expected && by_blanks == expected {
            format!(
                "this row is separated by blanks, line {line} by tabs: use one of them throughout the file"
            )
        } else if self.separator == Separator::Tab && row.ends_with('\t') {
            "the row ends in a tab".to_owned()
        } else if expected > 1 && (found == 2 * expected || found + 1 == 2 * expected) {
            "two rows seem to stand on one line: is a line end or an empty line missing here?".to_owned()
        } else if found > expected && self.separator == Separator::Blanks {
            "if a word holds a blank, separate the columns by tabs throughout".to_owned()
        } else if found > expected {
            "a tab too many, or two files with different columns in one?".to_owned()
        } else if found + 1 == expected {
            "is the label or another field missing?".to_owned()
        } else {
            "each row must have all columns, and an empty line must stand between sentences".to_owned()
        }
    }
}

impl Format for Columns {
    fn kind(&self) -> Kind {
        Kind::Columns
    }

    fn columns(&self) -> usize {
        self.width
    }

    fn separator(&self) -> char {
        match self.separator {
            Separator::Tab => '\t',
            Separator::Blanks => ' ',
        }
    }

    fn label(&self) -> Place {
        Place::Last
    }

    fn guess(&self) -> Option<Guess> {
        self.guess
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        match self.separator {
            _ if !is_field(label) => Some(NO_FIELD),
            Separator::Tab if label.ends_with(' ') => Some("ends in a blank, which no one would see"),
            Separator::Blanks if label.contains(' ') => {
                Some("holds a blank, and blanks separate the columns")
            }
            _ => None,
        }
    }

    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        let separator = self.separator();
        for (i, name, probability) in labelled.iter() {
            copy.marks_before(i, self, out);
            if copy.added == 0 {
                copy.replace_label(i, name, out);
                continue;
            }
            let Some(token) = copy.block.tokens().get(i) else { continue };
            copy.upto(token.span.end, out);
            out.extend_from_slice(separator.encode_utf8(&mut [0; 4]).as_bytes());
            out.extend_from_slice(name.as_bytes());
            if let Some(p) = probability {
                out.extend_from_slice(format!("{separator}{p:.6}").as_bytes());
            }
        }
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        let first_line = block.first_line();
        let (text, rows) = block.parts();
        rows.clear();
        let bytes = text.as_bytes();
        let mut start = 0;
        let mut line = 0;
        while start < bytes.len() {
            let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n);
            if is_blank(&bytes[start..end]) {
                rows.end_sentence();
            } else {
                let row = self.row(bytes, start, end, line, rows);
                if row != Row::Good {
                    rows.clear();
                    let text = text.get(start..end).unwrap_or("").trim_end_matches('\r');
                    return Err(self.error(file, first_line + u64::from(line), text, &row));
                }
            }
            start = end + 1;
            line += 1;
        }
        rows.end_sentence();
        Ok(())
    }
}

/// Whether a text can stand between tabs and line ends.
pub(super) fn is_field(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\t', '\n', '\r', '\0'])
}

/// What is wrong with one that cannot.
pub(super) const NO_FIELD: &str = "cannot be a field: it is empty or holds a tab, a line end or a zero byte";

/// Writes a sentence: its fields, then its label, between tabs.
pub(super) fn write(sentence: &Outgoing<'_>, out: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
    for row in &sentence.rows {
        let fields: Vec<&str> = row.fields.iter().copied().chain(row.label).collect();
        if let Some(field) = fields.iter().find(|f| !is_field(f)) {
            return refuse(format!("{field:?} {NO_FIELD}"));
        }
        match fields[..] {
            [] => return refuse("a token without fields and label has no place in columns"),
            [field] if field.contains(' ') => {
                return refuse(format!("{field:?} holds a blank, and one column alone cannot"));
            }
            [first, ..] if is_docstart(first.as_bytes()) => {
                return refuse(format!("{first} would be the start of a document"));
            }
            [.., last] if last.ends_with(' ') => {
                return refuse(format!("{last:?} ends in a blank, which no one would see"));
            }
            _ => (),
        }
        out.extend_from_slice(fields.join("\t").as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

/// What came of a row.
#[derive(Debug, PartialEq, Eq)]
enum Row {
    Good,
    /// So many columns were found.
    Width(usize),
    /// This column, from 1, is empty.
    Empty(usize),
    /// There is a tab, which does not separate here.
    Tab,
}

impl Separator {
    /// Where the last field of a row ends. Blanks behind it cannot be seen in an editor and must not
    /// make another label of `NN`; a last field of nothing but blanks is left as it is.
    #[inline]
    fn end(self, bytes: &[u8], start: usize, end: usize) -> usize {
        let row = &bytes[start..end];
        let trimmed = |drop: fn(u8) -> bool| row.iter().rposition(|&byte| !drop(byte)).map_or(0, |n| n + 1);
        start
            + match self {
                Self::Blanks => trimmed(|byte| matches!(byte, b' ' | b'\r')),
                Self::Tab => match trimmed(|byte| matches!(byte, b' ' | b'\r')) {
                    n if n > 0 && row[n - 1] == b'\t' => trimmed(|byte| byte == b'\r'),
                    n => n,
                },
            }
    }

    /// Gives start and end of each field of the row; `false` if there is a tab that does not separate.
    #[inline]
    fn split(self, bytes: &[u8], start: usize, end: usize, mut field: impl FnMut(usize, usize)) -> bool {
        let mut from = start;
        match self {
            Self::Tab => {
                for (at, &byte) in (start..end).zip(&bytes[start..end]) {
                    if byte == b'\t' {
                        field(from, at);
                        from = at + 1;
                    }
                }
                field(from, end);
            }
            Self::Blanks => {
                for (at, &byte) in (start..end).zip(&bytes[start..end]) {
                    if matches!(byte, b' ' | b'\t') {
                        if byte == b'\t' {
                            return false;
                        }
                        if from < at {
                            field(from, at);
                        }
                        from = at + 1;
                    }
                }
                if from < end {
                    field(from, end);
                }
            }
        }
        true
    }
}

/// Whether the first field is `-DOCSTART-`.
#[inline]
pub(super) fn is_docstart(row: &[u8]) -> bool {
    row.first() == Some(&b'-')
        && row
            .strip_prefix(b"-DOCSTART-")
            .is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r')))
}

#[cfg(test)]
mod tests {
    use super::super::{Blocks, first};
    use super::*;
    use crate::open::Input;

    /// The file as one parsed block.
    fn read(text: &str) -> Result<(Block, Box<dyn Format>)> {
        let mut blocks = Blocks::new(Input::from_bytes("train.txt", text)?);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Columns))?;
        format.parse("train.txt", &mut block)?;
        Ok((block, format))
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    fn rows(block: &Block) -> Vec<Vec<Vec<&str>>> {
        block.sentences().map(|s| s.tokens.map(|i| block.columns(i).collect()).collect()).collect()
    }

    #[test]
    fn blanks() {
        let (block, format) = read("\n\nThe  DT \r\n  cat NN\n \t\r\n\n# X\nend .").unwrap();
        assert_eq!(
            rows(&block),
            [vec![vec!["The", "DT"], vec!["cat", "NN"]], vec![vec!["#", "X"], vec!["end", "."]]]
        );
        assert_eq!((format.kind(), format.columns(), format.separator()), (Kind::Columns, 2, ' '));
        assert_eq!(block.sentences().map(|s| s.line).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(block.line(1), 4);
        assert_eq!(block.tokens()[0].columns(), 2);
        let lines: Vec<_> = block.tokens().iter().map(|token| block.slice(token.span)).collect();
        assert_eq!(lines, ["The  DT", "  cat NN", "# X", "end ."]);
    }

    #[test]
    fn tabs() {
        let (block, format) = read("New York\tNNP \r\n \tSP\nx\t \n\t\t\ny\tZ Z").unwrap();
        assert_eq!(format.separator(), '\t');
        assert_eq!(
            rows(&block),
            [vec![vec!["New York", "NNP"], vec![" ", "SP"], vec!["x", " "]], vec![vec!["y", "Z Z"]]]
        );
        assert_eq!(block.slice(block.tokens()[0].span), "New York\tNNP");
    }

    #[test]
    fn document_starts() {
        // Alone in a block; inside a block; with other columns; a word that only looks like it.
        let text = "-DOCSTART- -X- O O\r\n\na N X O\n\n-DOCSTART-\nb N X O\nc N X O\n\
                    -DOCSTART- -X-\nd N X O\n-DOCSTART-s N X O\n";
        let (block, format) = read(text).unwrap();
        assert_eq!(format.columns(), 4);
        let words: Vec<Vec<&str>> =
            block.sentences().map(|s| s.tokens.map(|i| block.field(i, 0)).collect()).collect();
        assert_eq!(words, [vec!["a"], vec!["b", "c"], vec!["d", "-DOCSTART-s"]]);
        let marks: Vec<_> = block.marks().iter().map(|mark| (block.slice(mark.span), mark.before)).collect();
        assert_eq!(marks, [("-DOCSTART- -X- O O", 0), ("-DOCSTART-", 1), ("-DOCSTART- -X-", 3)]);
        let (block, _) = read("-DOCSTART-\nw\tN\n-DOCSTART-\t_\n").unwrap();
        assert_eq!((block.tokens().len(), block.marks().len()), (1, 2));
    }

    #[test]
    fn rows_of_another_width() {
        for (text, expected) in [
            (
                "a DT O\nb NN\n",
                "train.txt:2: found 2 columns, expected 3 as on line 1\n  \
                 help: is the label or another field missing?",
            ),
            (
                "\na DT O\n\nb\n",
                "train.txt:4: found 1 column, expected 3 as on line 2\n  \
                 help: each row must have all columns, and an empty line must stand between sentences",
            ),
            (
                "a DT O\nb NN Ob NN O\n",
                "train.txt:2: found 5 columns, expected 3 as on line 1\n  \
                 help: two rows seem to stand on one line: is a line end or an empty line missing here?",
            ),
            (
                "a DT O\nNew York NN O\n",
                "train.txt:2: found 4 columns, expected 3 as on line 1\n  \
                 help: if a word holds a blank, separate the columns by tabs throughout",
            ),
            (
                "a\tDT\tO\nb NN O\n",
                "train.txt:2: found 1 column, expected 3 as on line 1\n  \
                 help: this row is separated by blanks, line 1 by tabs: use one of them throughout the file",
            ),
            (
                "a\tDT\tO\nb\tNN O\n",
                "train.txt:2: found 2 columns, expected 3 as on line 1\n  \
                 help: this row is separated by blanks, line 1 by tabs: use one of them throughout the file",
            ),
            (
                "a\tDT\tO\nb\tNN\tO\t\r\n",
                "train.txt:2: found 4 columns, expected 3 as on line 1\n  help: the row ends in a tab",
            ),
            (
                "a\tDT\tO\nb\tNN\tO\tX\n",
                "train.txt:2: found 4 columns, expected 3 as on line 1\n  \
                 help: a tab too many, or two files with different columns in one?",
            ),
            (
                "a DT O\n# a comment about what follows\n",
                "train.txt:2: found 6 columns, expected 3 as on line 1\n  \
                 help: a line that starts with # is a token here: column files have no comments",
            ),
            (
                "# a comment\na DT\n",
                "train.txt:2: found 2 columns, expected 3 as on line 1\n  \
                 help: line 1 was taken for a token: column files have no comments",
            ),
        ] {
            assert_eq!(error(text), expected);
        }
    }

    #[test]
    fn tabs_among_blanks() {
        for row in ["b\tNN X O", "b NN\tO", "\tb NN O", "b NN O\t\r", "-DOCSTART-\t-X- O", "New\tYork NN O"] {
            assert_eq!(
                error(&format!("\na DT O\n\n{row}\n")),
                "train.txt:4: a tab, where blanks separate the columns as on line 2\n  \
                 help: use one of them throughout the file, such as by tr '\\t' ' '",
                "{row:?}"
            );
        }
    }

    #[test]
    fn empty_fields() {
        let help = "help: a tab stands between two columns, and a field without a value is written _";
        assert_eq!(error("a\tN\tO\nb\t\tO\n"), format!("train.txt:2: column 2 is empty\n  {help}"));
        assert_eq!(error("\tN\tO\n"), format!("train.txt:1: column 1 is empty\n  {help}"));
        assert_eq!(error("a\tN\tO\nb\tN\t\r\n"), format!("train.txt:2: column 3 is empty\n  {help}"));
    }

    #[test]
    fn no_rows_after_an_error() {
        let mut blocks = Blocks::new(Input::from_bytes("train.txt", "a b\n\nc\n").unwrap());
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, None).unwrap();
        assert!(format.parse("train.txt", &mut block).is_err());
        assert_eq!((block.len(), block.tokens().len(), block.field(0, 0)), (0, 0, ""));
    }
}
