//! CoNLL-U: ten columns between tabs, the format of Universal Dependencies.
//!
//! Lines that start with `#` before the first row of a sentence are comments. Rows for words of
//! several tokens (`3-4`) and for empty nodes (`8.1`) are no tokens. All of these stay in the text,
//! so that whoever writes the block copies them. Ids must count 1, 2, 3 in each sentence, since
//! heads refer to them. See <https://universaldependencies.org/format.html>.
//!
//! CoNLL-X (2006, 2007) has ten columns, too, but neither comments nor rows that are no tokens, and
//! other names for four columns: CPOSTAG, POSTAG, PHEAD, PDEPREL. It is read as CoNLL-U unless it is
//! asked for; then what it does not have is an error.

use memchr::{memchr, memchr_iter};

use super::Kind;
use super::block::{Block, Format, Place, Problem, Rows, Span, is_blank};
use super::columns::{NO_FIELD, is_field};
use super::copy::{Copy, Labelled};
use super::write::{Outgoing, Refusal, refuse};
use crate::error::Result;

/// Number of columns.
const WIDTH: usize = 10;

/// The columns by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// Number of the word in the sentence, from 1.
    Id,
    /// The word.
    Form,
    /// Its lemma.
    Lemma,
    /// Universal part of speech.
    Upos,
    /// Part of speech of the language.
    Xpos,
    /// Morphological features.
    Feats,
    /// Id of the head, 0 for the root.
    Head,
    /// Relation to the head.
    Deprel,
    /// Enhanced dependencies.
    Deps,
    /// Anything else.
    Misc,
}

impl Field {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; WIDTH] = [
        Self::Id,
        Self::Form,
        Self::Lemma,
        Self::Upos,
        Self::Xpos,
        Self::Feats,
        Self::Head,
        Self::Deprel,
        Self::Deps,
        Self::Misc,
    ];

    /// The column, from 0.
    #[inline]
    #[must_use]
    pub const fn column(self) -> usize {
        self as usize
    }

    /// The name, as the format's description has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::Form => "FORM",
            Self::Lemma => "LEMMA",
            Self::Upos => "UPOS",
            Self::Xpos => "XPOS",
            Self::Feats => "FEATS",
            Self::Head => "HEAD",
            Self::Deprel => "DEPREL",
            Self::Deps => "DEPS",
            Self::Misc => "MISC",
        }
    }

    /// Whether labels may be written there: all other columns say which word it is and what it depends on.
    #[must_use]
    pub const fn takes_labels(self) -> bool {
        matches!(self, Self::Upos | Self::Xpos | Self::Feats | Self::Deprel | Self::Misc)
    }

    /// The column of that name, in any case; CoNLL-X's names are known, too.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let others =
            [("CPOSTAG", Self::Upos), ("POSTAG", Self::Xpos), ("PHEAD", Self::Deps), ("PDEPREL", Self::Misc)];
        if let Some((_, field)) = others.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
            return Some(field);
        }
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name))
    }
}

/// The format; it has nothing to decide but which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conllu {
    /// CoNLL-X: no comments, no rows that are no tokens.
    pub x: bool,
}

impl Format for Conllu {
    fn kind(&self) -> Kind {
        if self.x { Kind::Conllx } else { Kind::Conllu }
    }

    fn columns(&self) -> usize {
        WIDTH
    }

    fn label(&self) -> Place {
        Place::Chosen
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        (!is_field(label)).then_some(NO_FIELD)
    }

    fn fills_columns(&self) -> bool {
        true
    }

    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        for (t, (i, name, probability)) in labelled.iter().enumerate() {
            let in_misc = copy.label == Field::Misc.column();
            copy.replace_beside(i, t, 0..copy.label, labelled.beside, out);
            if !in_misc || probability.is_none() {
                copy.replace_label(i, name, out);
            }
            copy.replace_beside(i, t, copy.label + 1..Field::Misc.column(), labelled.beside, out);
            let misc = copy.block.spans(i).last().copied();
            if let (Some(p), Some(misc)) = (probability, misc) {
                let text = if in_misc { name } else { copy.block.slice(misc) };
                let rest = if text == "_" { String::new() } else { format!("{text}|") };
                copy.replace(misc, &format!("{rest}Probability={p:.6}"), out);
            }
        }
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, |text, rows| find(text, rows, self.x))
    }
}

/// Writes a sentence: words as FORM, labels in their column, `_` everywhere else.
pub(super) fn write(
    sentence: &Outgoing<'_>,
    label: Field,
    out: &mut Vec<u8>,
) -> std::result::Result<(), Refusal> {
    for (id, row) in (1..).zip(&sentence.rows) {
        let mut fields = ["_"; WIDTH];
        let id = format!("{id}");
        fields[Field::Id.column()] = &id;
        let Some(&word) = row.fields.first() else {
            return refuse("a token without a word has no place in CoNLL-U");
        };
        fields[Field::Form.column()] = word;
        if let Some(name) = row.label {
            fields[label.column()] = name;
        }
        if let Some(field) = fields.iter().find(|f| !is_field(f)) {
            return refuse(format!("{field:?} {NO_FIELD}"));
        }
        out.extend_from_slice(fields.join("\t").as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

fn find(text: &str, rows: &mut Rows, x: bool) -> std::result::Result<(), Problem> {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut line = 0;
    // Id of the next word; `inside` says that the sentence has rows, if only of other kinds.
    let mut next = 1;
    let mut inside = false;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n);
        let row = &bytes[start..end];
        if is_blank(row) {
            rows.end_sentence();
            next = 1;
            inside = false;
        } else if row[0] != b'#' {
            inside = true;
            let length = row.iter().rposition(|&byte| byte != b'\r').map_or(0, |n| n + 1);
            let end = start + length;
            let (found, empty) = split(bytes, start, end, rows);
            if found != WIDTH {
                return Err(width(line, &text[start..end], found));
            }
            if let Some(field) = empty.and_then(|column| Field::ALL.get(column)) {
                let what = format!("column {} ({}) is empty", field.column() + 1, field.name());
                return Err((line, what, "a field without a value is written _".to_owned()));
            }
            let id = &row[..memchr(b'\t', row).unwrap_or(0)];
            match Id::of(id) {
                Id::Word(number) if number == next => {
                    rows.token(Span::new(start, end), line);
                    next += 1;
                }
                Id::Other if !x => rows.drop_fields(),
                Id::Other => {
                    let what = format!("row {} is no token", String::from_utf8_lossy(id));
                    return Err((line, what, NOT_X.to_owned()));
                }
                _ => {
                    let what = format!("found id {}, expected {next}", String::from_utf8_lossy(id));
                    return Err((line, what, if next == 1 { FIRST } else { NEXT }.to_owned()));
                }
            }
        } else if x {
            return Err((line, "a comment".to_owned(), NOT_X.to_owned()));
        } else if inside {
            return Err((line, "a comment inside a sentence".to_owned(), COMMENT.to_owned()));
        }
        start = end + 1;
        line += 1;
    }
    rows.end_sentence();
    Ok(())
}

const FIRST: &str = "the words of a sentence have the ids 1, 2, 3 and so on";
const NEXT: &str = "the words of a sentence have the ids 1, 2, 3 and so on; is an empty line missing here?";
const NOT_X: &str = "CoNLL-X has words only; this looks like CoNLL-U, the format conllu";
const COMMENT: &str =
    "comments stand before the first row of a sentence, and an empty line stands between sentences";

/// Notes the fields of a row: how many there are, and the first that is empty, from 0.
#[inline]
fn split(bytes: &[u8], start: usize, end: usize, rows: &mut Rows) -> (usize, Option<usize>) {
    let mut from = start;
    let mut found = 0;
    let mut empty = None;
    let mut field = |start: usize, end: usize| {
        rows.field(start, end);
        if start == end {
            empty = empty.or(Some(found));
        }
        found += 1;
    };
    for tab in memchr_iter(b'\t', &bytes[start..end]) {
        field(from, start + tab);
        from = start + tab + 1;
    }
    field(from, end);
    (found, empty)
}

fn width(line: u32, row: &str, found: usize) -> Problem {
    let s = if found == 1 { "" } else { "s" };
    let help = if found == 1 && row.contains(' ') {
        "tabs separate the columns of CoNLL-U, blanks do not"
    } else if found > WIDTH {
        "a tab too many, or two rows on one line?"
    } else {
        "a row of CoNLL-U has all ten, _ where there is no value"
    };
    (line, format!("found {found} column{s}, expected {WIDTH}"), help.to_owned())
}

/// The first field of a row.
#[derive(Debug, PartialEq, Eq)]
enum Id {
    /// `5`
    Word(u32),
    /// `5-6` or `5.1`
    Other,
    Wrong,
}

impl Id {
    fn of(text: &[u8]) -> Self {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = text.split_at(digits);
        match rest {
            [] => Self::word(number),
            [b'-' | b'.', rest @ ..]
                if digits > 0 && !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) =>
            {
                Self::Other
            }
            _ => Self::Wrong,
        }
    }

    /// `01` is no id, nor is a number that does not fit 32 bits.
    fn word(digits: &[u8]) -> Self {
        let number = digits
            .iter()
            .try_fold(0u32, |number, &digit| number.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
        match (digits, number) {
            ([b'1'..=b'9', ..], Some(number)) => Self::Word(number),
            _ => Self::Wrong,
        }
    }
}

/// Whether a CoNLL-U sentence can start with this row: its id is `1`, `1-2` or `0.1`.
pub(super) fn can_start(row: &str) -> bool {
    let row = row.trim_end_matches('\r');
    let id = row.split('\t').next().unwrap_or("");
    row.split('\t').count() == WIDTH
        && match Id::of(id.as_bytes()) {
            Id::Word(number) => number == 1,
            Id::Other => id.starts_with("1-") || id.starts_with("0."),
            Id::Wrong => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn row(id: &str, form: &str) -> String {
        format!("{id}\t{form}\t_\tX\t_\t_\t0\troot\t_\t_\n")
    }

    fn read(text: &str) -> Result<Block> {
        let mut blocks = Blocks::new(Input::from_bytes("a.conllu", text)?);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Conllu))?;
        format.parse("a.conllu", &mut block)?;
        Ok(block)
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn ranges_empty_nodes_and_comments() {
        let text = [
            "# newdoc\r\n# text = don't go\r\n",
            &row("0.1", "nothing"),
            &row("1-2", "don't"),
            &row("1", "do"),
            &row("2", "n't").replace('\n', "\r\n"),
            &row("2.1", "really"),
            &row("3", "New York"),
            "\n\n# a comment without a sentence\n\n# text = go\n",
            &row("1", "go"),
        ]
        .concat();
        let block = read(&text).unwrap();
        assert_eq!(block.text(), text);
        let words: Vec<Vec<&str>> = block
            .sentences()
            .map(|s| s.tokens.map(|i| block.field(i, Field::Form.column())).collect())
            .collect();
        assert_eq!(words, [vec!["do", "n't", "New York"], vec!["go"]]);
        assert_eq!(block.sentences().map(|s| s.line).collect::<Vec<_>>(), [5, 14]);
        assert!(block.tokens().iter().all(|token| token.columns() == 10));
        assert_eq!(block.field(1, Field::Misc.column()), "_", "the CR is no part of it");
        assert_eq!(block.slice(block.tokens()[1].span), row("2", "n't").trim_end());
    }

    #[test]
    fn wrong_rows() {
        let one = row("1", "a");
        let ids = "help: the words of a sentence have the ids 1, 2, 3 and so on";
        for (text, expected) in [
            (row("2", "b"), format!("a.conllu:1: found id 2, expected 1\n  {ids}")),
            (
                format!("{one}{}", row("3", "b")),
                format!("a.conllu:2: found id 3, expected 2\n  {ids}; is an empty line missing here?"),
            ),
            (
                format!("{one}{one}"),
                format!("a.conllu:2: found id 1, expected 2\n  {ids}; is an empty line missing here?"),
            ),
            (row("01", "b"), format!("a.conllu:1: found id 01, expected 1\n  {ids}")),
            (row("1-", "b"), format!("a.conllu:1: found id 1-, expected 1\n  {ids}")),
            (row(".1", "b"), format!("a.conllu:1: found id .1, expected 1\n  {ids}")),
            (row("4294967297", "b"), format!("a.conllu:1: found id 4294967297, expected 1\n  {ids}")),
            (row("é", "b"), format!("a.conllu:1: found id é, expected 1\n  {ids}")),
            (
                format!("# x\n{one}2\tb\t_\n"),
                "a.conllu:3: found 3 columns, expected 10\n  \
                 help: a row of CoNLL-U has all ten, _ where there is no value"
                    .into(),
            ),
            (
                format!("{one}{}", row("1-2", "b").replace("\t0", "")),
                "a.conllu:2: found 9 columns, expected 10\n  \
                 help: a row of CoNLL-U has all ten, _ where there is no value"
                    .into(),
            ),
            (
                one.replace('\t', " "),
                "a.conllu:1: found 1 column, expected 10\n  \
                 help: tabs separate the columns of CoNLL-U, blanks do not"
                    .into(),
            ),
            (
                one.replace('\n', "\tx\n"),
                "a.conllu:1: found 11 columns, expected 10\n  help: a tab too many, or two rows on one line?"
                    .into(),
            ),
            (
                one.replace("X", ""),
                "a.conllu:1: column 4 (UPOS) is empty\n  help: a field without a value is written _".into(),
            ),
            (
                format!("{one}# late\n"),
                "a.conllu:2: a comment inside a sentence\n  help: comments stand before the first row of a \
                 sentence, and an empty line stands between sentences"
                    .into(),
            ),
        ] {
            assert_eq!(error(&text), expected);
        }
    }

    #[test]
    fn labels_and_probabilities() {
        let block = read(&(row("1", "a") + &row("2", "b").replace("_\n", "A=1\n"))).unwrap();
        let put = |label: Field, probabilities: Option<&[f64]>| {
            let (mut copy, mut out) = (Copy::new(&block, label.column(), 2), vec![]);
            let names = ["B-LOC".to_owned(), "_".to_owned()];
            let labelled = Labelled { tokens: 0..2, names: &names, probabilities, beside: &[] };
            Conllu { x: false }.put(&mut copy, &labelled, &mut out);
            copy.rest(&Conllu { x: false }, &mut out);
            let text = String::from_utf8(out).unwrap();
            let ends = |line: &str| line.split('\t').skip(3).collect::<Vec<_>>().join(" ");
            text.lines().map(ends).collect::<Vec<_>>()
        };
        let p = Some(&[0.5, 1.0][..]);
        assert_eq!(put(Field::Misc, None), ["X _ _ 0 root _ B-LOC", "X _ _ 0 root _ _"]);
        assert_eq!(
            put(Field::Misc, p),
            ["X _ _ 0 root _ B-LOC|Probability=0.500000", "X _ _ 0 root _ Probability=1.000000"]
        );
        assert_eq!(
            put(Field::Upos, p),
            ["B-LOC _ _ 0 root _ Probability=0.500000", "_ _ _ 0 root _ A=1|Probability=1.000000"]
        );
    }

    #[test]
    fn columns_beside_the_label_are_filled_and_all_else_stays() {
        let (mut block, mut out) = (Block::default(), vec![]);
        let text = "# a remark\n1\tto\t_\tX\tY\t_\t_\t_\t_\tA=1\n2\tgo\t_\tX\tY\tF\t7\told\t_\t_\n\n";
        let input = crate::open::Input::from_bytes("a", text).unwrap();
        let mut blocks = crate::format::Blocks::new(input);
        let format = crate::format::first(&mut blocks, &mut block, Some(Kind::Conllu)).unwrap();
        format.parse("a", &mut block).unwrap();
        assert!(format.fills_columns());
        let texts = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let (names, heads, relations) = (texts("PART", "VERB"), texts("2", "0"), texts("mark", "root"));
        // In any order: the text has its own.
        let beside = [
            crate::format::Beside { column: Field::Deprel.column(), texts: &relations },
            crate::format::Beside { column: Field::Head.column(), texts: &heads },
        ];
        let mut copy = Copy::new(&block, Field::Upos.column(), 1);
        format.put(
            &mut copy,
            &Labelled { tokens: 0..2, names: &names, probabilities: Some(&[0.5, 1.0]), beside: &beside },
            &mut out,
        );
        copy.rest(&*format, &mut out);
        let expected = "# a remark\n1\tto\t_\tPART\tY\t_\t2\tmark\t_\tA=1|Probability=0.500000\n\
                        2\tgo\t_\tVERB\tY\tF\t0\troot\t_\tProbability=1.000000\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn names_and_columns() {
        for (column, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field.column(), column);
            assert_eq!(Field::parse(&field.name().to_lowercase()), Some(field));
        }
        assert_eq!(Field::parse("POS"), None);
    }

    #[test]
    fn rows_that_start_a_sentence() {
        for (id, can) in [
            ("1", true),
            ("1-2", true),
            ("0.1", true),
            ("2", false),
            ("1.1", false),
            ("0-1", false),
            ("10-11", false),
            ("one", false),
            ("", false),
        ] {
            assert_eq!(can_start(row(id, "a").trim_end()), can, "{id}");
        }
        assert!(!can_start("1\ta\tb"));
        assert!(can_start("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\r"));
    }
}
