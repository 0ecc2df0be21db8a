//! Scores a text in columns, as `conlleval` reads it: for `eval --conlleval`, since all else reads files with the
//! formats of training and prediction.
//!
//! One token a line; the last two columns are the gold and the guessed label. An empty line ends a sentence, and
//! so does a row whose first column is the boundary, `-X-`: such a row is no token. Every row has as many columns
//! as the first.
//!
//! Reference: `conlleval`, version 2004-01-26, which splits at every single blank and drops empty columns at the
//! end of a line. Where this differs: if the first row holds a tab, all rows are split at tabs only, so that words
//! may hold blanks; lines may end as on Windows, and a byte order mark is skipped; a line of blanks and tabs is
//! empty; and an empty gold label, text that is not UTF-8, or no token at all is an error and not a score.

use std::io::BufRead;

use serde::Serialize;

use crate::{Accuracy, Sentence, SpanScores, Spans, Token};

/// How a text is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Labels have no prefix and each token not labelled `O` is a chunk: `conlleval -r`.
    pub raw: bool,
    /// The first column of a row that is a break and no token.
    pub boundary: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { raw: false, boundary: "-X-".into() }
    }
}

/// The scores of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scored {
    /// Chunks.
    pub spans: SpanScores,
    /// Tokens and sentences; a token is right if its labels are the same to the byte.
    pub accuracy: Accuracy,
}

/// A text that cannot be scored: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {what}\n  help: {help}")]
pub struct Error {
    /// The name that the caller gave to the text.
    pub name: String,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
    /// A cure.
    pub help: String,
}

/// Scores all rows of `reader`; `name` is only for errors.
pub fn score(reader: impl BufRead, name: &str, options: &Options) -> Result<Scored, Error> {
    let mut spans = Spans::new(options.raw);
    let mut accuracy = Accuracy::default();
    rows(reader, name, options, |_, row| match row {
        Some((_, gold, guess)) => {
            spans.token(gold, guess);
            accuracy.token(gold == guess);
        }
        None => {
            spans.end_sentence();
            accuracy.end_sentence();
        }
    })?;
    accuracy.end_sentence();
    Ok(Scored { spans: spans.finish(), accuracy })
}

/// The sentences of `reader`, which [`score`] would score; `name` is only for errors. The word is the first
/// column, and empty where there are the two labels only.
pub fn read(reader: impl BufRead, name: &str, options: &Options) -> Result<Vec<Sentence>, Error> {
    let (mut sentences, mut open) = (vec![], Sentence::default());
    rows(reader, name, options, |line, row| match row {
        Some((word, gold, guess)) => {
            let [word, gold, found] = [word, gold, guess].map(str::to_owned);
            open.tokens.push(Token { line, word, gold, found });
        }
        None if open.tokens.is_empty() => (),
        None => sentences.push(std::mem::take(&mut open)),
    })?;
    if !open.tokens.is_empty() {
        sentences.push(open);
    }
    Ok(sentences)
}

/// Calls `each` with the line of every row and its word, gold and guess; with none at a break.
fn rows(
    mut reader: impl BufRead,
    name: &str,
    options: &Options,
    mut each: impl FnMut(u64, Option<(&str, &str, &str)>),
) -> Result<(), Error> {
    let mut shape = None;
    let mut buffer = Vec::new();
    let (mut line, mut tokens) = (0, 0_u64);
    loop {
        let fail = |line, (what, help)| Error { name: name.into(), line, what, help };
        buffer.clear();
        let read =
            reader.read_until(b'\n', &mut buffer).map_err(|error| fail(line + 1, unreadable(&error)))?;
        if read == 0 {
            break;
        }
        line += 1;
        if buffer.contains(&0) {
            return Err(fail(line, binary()));
        }
        let text = str::from_utf8(&buffer).map_err(|error| fail(line, not_utf8(error.valid_up_to())))?;
        let text = if line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.trim_matches([' ', '\t']).is_empty() {
            each(line, None);
            continue;
        }
        let shape = shape.get_or_insert_with(|| Shape::of(text, line));
        let row = shape.row(text);
        if row.columns != shape.columns {
            return Err(fail(line, other_columns(text, &row, shape)));
        }
        if row.first == options.boundary {
            each(line, None);
            continue;
        }
        let (gold, guess) = row.labels.ok_or_else(|| fail(line, one_column(shape)))?;
        if gold.is_empty() {
            return Err(fail(line, no_gold()));
        }
        tokens += 1;
        each(line, Some((if row.columns > 2 { row.first } else { "" }, gold, guess)));
    }
    if tokens == 0 {
        let (what, help) = nothing();
        return Err(Error { name: name.into(), line: line.max(1), what, help });
    }
    Ok(())
}

/// What the first row says about all others.
struct Shape {
    line: u64,
    separator: char,
    columns: usize,
}

/// The parts of a row that count.
struct Row<'a> {
    columns: usize,
    first: &'a str,
    /// Gold and guess, if there are two columns.
    labels: Option<(&'a str, &'a str)>,
}

impl Shape {
    fn of(text: &str, line: u64) -> Self {
        let separator = if text.contains('\t') { '\t' } else { ' ' };
        let mut shape = Self { line, separator, columns: 0 };
        shape.columns = shape.row(text).columns;
        shape
    }

    fn row<'a>(&self, text: &'a str) -> Row<'a> {
        let text = text.trim_end_matches(self.separator);
        let (rest, guess) = text.rsplit_once(self.separator).unzip();
        let gold = rest.and_then(|rest| rest.rsplit(self.separator).next());
        Row {
            columns: text.matches(self.separator).count() + 1,
            first: text.split(self.separator).next().unwrap_or(text),
            labels: gold.zip(guess),
        }
    }
}

/// What is wrong, and the cure.
pub(crate) type Complaint = (String, String);

const EXPECTED: &str = "one token a line with the gold and the guessed label as the last two columns, \
                        for example `Rome NNP B-LOC B-LOC`, and an empty line between sentences";

fn columns(count: usize) -> String {
    if count == 1 { "1 column".into() } else { format!("{count} columns") }
}

fn other_columns(text: &str, row: &Row, shape: &Shape) -> Complaint {
    let (first, tabs) = (shape.line, shape.separator == '\t');
    let help = if tabs && !text.contains('\t') {
        format!("columns are split at tabs, since line {first} has a tab; separate all rows in the same way")
    } else if !tabs && text.contains('\t') {
        format!(
            "columns are split at blanks, since line {first} has no tab; separate all rows in the same way"
        )
    } else if !tabs && text.contains("  ") {
        "every single blank starts a new column; put one blank between columns, or tabs in all rows".into()
    } else {
        format!(
            "every row needs the columns of line {first}; words that hold blanks need tabs between columns"
        )
    };
    (format!("{}, but line {first} has {}", columns(row.columns), shape.columns), help)
}

fn one_column(shape: &Shape) -> Complaint {
    let by = if shape.separator == '\t' { "tabs" } else { "blanks" };
    (format!("only 1 column when split at {by}"), format!("expected is {EXPECTED}"))
}

fn no_gold() -> Complaint {
    let help = "the last column but one is the gold; write `O` for a token outside of every chunk";
    ("the gold label is empty".into(), help.into())
}

fn nothing() -> Complaint {
    ("no token, nothing to score".into(), format!("expected is {EXPECTED}"))
}

fn binary() -> Complaint {
    let help = "text in UTF-8 is wanted, plain or packed with gzip, xz or zstd; convert UTF-16 with iconv";
    ("a byte 0x00: the file is binary, not text".into(), help.into())
}

pub(crate) fn not_utf8(valid: usize) -> Complaint {
    let help = "convert it first, for example with `iconv -f latin1 -t utf-8`";
    (format!("not UTF-8 at byte {} of the line", valid + 1), help.into())
}

fn unreadable(error: &std::io::Error) -> Complaint {
    (format!("cannot be read: {error}"), "check that the file is whole and not compressed".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use crate::Unit;

    fn read(text: impl AsRef<[u8]>) -> Result<Scored, Error> {
        score(text.as_ref(), "dev.txt", &Options::default())
    }

    /// Gold, found and right chunks, then tokens and sentences.
    fn counts(text: &str) -> (u64, u64, u64, u64, u64) {
        let Scored { spans, accuracy } = read(text).unwrap();
        (spans.gold, spans.found, spans.correct, spans.tokens, accuracy.sentence_counts().0)
    }

    #[test]
    fn sentences_are_what_is_scored() {
        let text = "\n\nv NN I-A I-A\nw NN I-A O\n\n\n-X- x y z\nx NN B-B B-B";
        let sentences = super::read(text.as_bytes(), "x", &Options::default()).unwrap();
        let lines = |s: &Sentence| s.tokens.iter().map(|t| t.line).collect::<Vec<_>>();
        let tokens: Vec<_> = sentences.iter().map(lines).collect();
        assert_eq!(tokens, [vec![3, 4], vec![8]]);
        assert_eq!(Scored::of(&sentences, Unit::Chunks), read(text).unwrap());
        let first = &sentences[0].tokens[1];
        assert_eq!([&first.word, &first.gold, &first.found], ["w", "I-A", "O"]);
        let two = super::read("A B".as_bytes(), "x", &Options::default()).unwrap();
        assert_eq!(two[0].tokens[0].word, "", "two columns hold no words");
    }

    #[test]
    fn the_last_two_columns_count() {
        assert_eq!(counts("B-A B-A\nI-A I-A\n"), (1, 1, 1, 2, 1));
        assert_eq!(counts("w B-B B-C B-A B-A\nw B-B B-C I-A O\n"), (1, 1, 0, 2, 1));
    }

    #[test]
    fn breaks_end_chunks_and_are_no_tokens() {
        let expected = (2, 2, 2, 2, 2);
        for between in ["\n", "\n\n\n", " \t\n", "-X- B-A B-A\n", "-X- O O\n\n"] {
            assert_eq!(counts(&format!("v I-A I-A\n{between}w I-A I-A")), expected, "{between:?}");
        }
        let options = Options { boundary: "--".into(), ..Options::default() };
        let scored = score("v I-A I-A\n-- x y\n-X- I-A I-A".as_bytes(), "x", &options).unwrap();
        assert_eq!((scored.spans.gold, scored.spans.tokens), (2, 2));
    }

    #[test]
    fn line_ends_and_marks_do_not_matter() {
        let plain = read("v B-A B-A\nw I-A O\n\nx B-B B-B\n").unwrap();
        for text in [
            "v B-A B-A\nw I-A O\n\nx B-B B-B",
            "v B-A B-A\r\nw I-A O\r\n\r\nx B-B B-B\r\n",
            "\n\nv B-A B-A\nw I-A O\n\nx B-B B-B\n\n\n",
            "\u{feff}v B-A B-A\nw I-A O  \n\nx B-B B-B",
            "v v\tB-A\tB-A\nw\tI-A\tO\n\nx  y z\tB-B\tB-B\t\n",
        ] {
            assert_eq!(read(text).unwrap(), plain, "{text:?}");
        }
    }

    #[test]
    fn a_single_blank_starts_a_column_as_in_the_reference() {
        assert_eq!(counts("w  B-A B-A\n NN B-B B-A\n"), (2, 2, 1, 2, 1));
    }

    #[test]
    fn raw_labels() {
        let options = Options { raw: true, ..Options::default() };
        let scored = score("( -LRB- -LRB-\na DT DT\nb NN DT\nc O O\n".as_bytes(), "x", &options).unwrap();
        let names: Vec<_> = scored.spans.types.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["-LRB-", "DT", "NN"]);
        assert_eq!((scored.spans.gold, scored.spans.found, scored.spans.correct), (3, 3, 2));
        assert_eq!(scored.accuracy.token_counts(), (4, 3));
    }

    #[test]
    fn errors_name_the_line_and_a_cure() {
        let cases: [(&[u8], u64, &str, &str); 13] = [
            (b"", 1, "nothing to score", "gold and the guessed label"),
            (b"\n\n \n", 3, "nothing to score", "empty line between"),
            (b"-X- O O\n", 1, "nothing to score", "last two columns"),
            (b"w\n", 1, "1 column when split at blanks", "last two columns"),
            (b"w O O\t\nx O\tO", 1, "1 column when split at tabs", "last two columns"),
            (b"w O O\n\nx O\n", 3, "2 columns, but line 1 has 3", "columns of line 1"),
            (b"\nw O O\n-X- O O O\n", 3, "4 columns, but line 2 has 3", "columns of line 2"),
            (b"w O O\nx y O O", 2, "4 columns", "need tabs"),
            (b"w O O\nx O  O", 2, "4 columns", "one blank between"),
            (b"w O O\nx\tO\tO", 2, "1 column, but line 1 has 3", "split at blanks"),
            (b"w\tO\tO\nx O O", 2, "1 column, but line 1 has 3", "split at tabs"),
            (b"w\tO\tO\nx\t\tO", 2, "gold label is empty", "write `O`"),
            (b"w O O\nx O O\nM\xfcnchen O O\n", 3, "not UTF-8 at byte 2", "iconv"),
        ];
        for (text, line, what, help) in cases {
            let error = read(text).unwrap_err();
            let shown = error.to_string();
            assert!(shown.starts_with(&format!("dev.txt:{line}: {}\n  help: ", error.what)), "{shown}");
            assert!(error.what.contains(what) && error.help.contains(help), "{text:?} gave {shown}");
        }
    }

    #[test]
    fn a_reader_that_fails_is_an_error() {
        struct Broken;
        impl std::io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("the disk is gone"))
            }
        }
        use std::io::Read;
        let reader = std::io::BufReader::new("w O O\n".as_bytes().chain(Broken));
        let error = score(reader, "dev.txt", &Options::default()).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (2, "cannot be read: the disk is gone"));
    }
}
