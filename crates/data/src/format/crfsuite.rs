//! CRFsuite's text: a token a line, its label, then its attributes, all between tabs.
//!
//! ```text
//! B-NP<TAB>w[0]=the<TAB>pos[0]=DT<TAB>length:3
//! I-NP<TAB>w[0]=cat\:s
//!
//! @weight:2
//! O<TAB>w[0]=.
//! ```
//!
//! An empty line ends a sequence. `:` separates an attribute from its value, which is 1 if there is
//! none; `\:` and `\\` mean `:` and `\` themselves, another `\` is one. Several tabs are one. A line
//! `@weight:x` (also `@weight<TAB>x`) before the first token is the weight of the sequence. There are
//! no comments.
//!
//! The reader differs from `frontend/iwa.c` and `frontend/reader.c` of CRFsuite 0.12 where that reads
//! something else than was meant: a value that is no number is an error and not 0, a second `:` is one,
//! lines may end in CR LF, a line of blanks is empty, and a line that starts with a tab is a token
//! without label and not one whose first attribute is its label. Whether a file has labels is decided
//! by its first token.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::Kind;
use super::block::{Block, Format, LARGEST, Place, Problem, Rows, Span, is_blank};
use super::columns::{NO_FIELD, is_field};
use super::copy::{Copy, Labelled};
use super::scan::Stops;
use super::write::{Outgoing, Refusal, refuse};
use crate::error::Result;
use crate::text::short_number;

/// The format, as the first token of a file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crfsuite {
    /// Tokens have labels.
    pub labelled: bool,
}

impl Crfsuite {
    /// The format of a file that starts with this text; none if the text has no token.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        let mut rows = block.text().split('\n').map(str::as_bytes);
        let row = rows.find(|row| !is_blank(row) && !row.starts_with(b"@"))?;
        Some(Self { labelled: !row.starts_with(b"\t") })
    }

    fn find(self, text: &str, rows: &mut Rows) -> std::result::Result<(), Problem> {
        let bytes = text.as_bytes();
        let mut stops = Stops::new(bytes, is_stop);
        let (mut start, mut line) = (0, 0);
        let mut inside = false;
        let mut waiting = None; // the line of a weight whose sequence has not begun
        let alone = |line| Err((line, "a weight without a sequence".to_owned(), ALONE.to_owned()));
        while start <= bytes.len() {
            let place = |(what, help): (String, &'static str)| (line, what, help.to_owned());
            if !matches!(bytes.get(start), None | Some(b'@' | b' ' | b'\t' | b'\r' | b'\n')) {
                // Neither empty nor a weight.
                (inside, waiting) = (true, None);
                start = self.token(text, start, line, &mut stops, rows).map_err(place)? + 1;
                line += 1;
                continue;
            }
            let end = stops.by_ref().find(|&at| bytes[at] == b'\n').unwrap_or(bytes.len());
            let row = text[start..end].trim_end_matches('\r');
            if is_blank(row.as_bytes()) {
                if let Some(line) = waiting {
                    return alone(line);
                }
                rows.end_sentence();
                inside = false;
            } else if let Some(declared) = row.strip_prefix('@') {
                let weight = weight(declared).map_err(place)?;
                if inside {
                    return Err((line, "a weight inside a sequence".to_owned(), FIRST.to_owned()));
                }
                rows.weight(weight);
                waiting = Some(line);
            } else {
                (inside, waiting) = (true, None);
                let mut stops = Stops::new(&bytes[..end], is_stop).from(start);
                self.token(&text[..end], start, line, &mut stops, rows).map_err(place)?;
            }
            start = end + 1;
            line += 1;
        }
        rows.end_sentence();
        waiting.map_or(Ok(()), alone)
    }

    /// Takes in the row that starts at `start`, up to which `stops` have been given out, and tells where it ends.
    #[inline]
    fn token(
        self,
        text: &str,
        start: usize,
        line: u32,
        stops: &mut Stops<'_, impl Fn(u8) -> bool>,
        rows: &mut Rows,
    ) -> std::result::Result<usize, (String, &'static str)> {
        let bytes = text.as_bytes();
        let (mut first, mut from) = (true, start);
        loop {
            // The field: where its value begins, if that is sure, and where it ends.
            let (mut colon, mut escaped) = (None, false);
            let (end, last) = loop {
                let Some(at) = stops.next() else { break (bytes.len(), true) };
                match bytes[at] {
                    b'\t' => break (at, false),
                    b'\n' => break (at, true),
                    b':' => colon = colon.or(Some(at)),
                    _ => escaped = true,
                }
            };
            let mut to = end;
            while last && to > from && bytes[to - 1] == b'\r' {
                to -= 1;
            }
            if first {
                self.label(&text[from..to], from, rows)?;
            } else if from < to {
                let (span, value) = match colon {
                    _ if escaped => name(&text[from..to], from, rows),
                    None => (Span::new(from, to), None),
                    Some(at) => (Span::new(from, at), Some(&text[at + 1..to])),
                };
                if span.start == span.end {
                    return Err((format!("the name of '{}' is empty", &text[from..to]), COLON));
                }
                let value = match value {
                    None | Some("") => 1.0,
                    Some(value) => number(&text[from..to], value)?,
                };
                rows.attribute(span, value);
            }
            if last {
                rows.token_with_attributes(Span::new(start, to), line);
                return Ok(end);
            }
            (first, from) = (false, end + 1);
        }
    }

    /// In a file without labels whatever stands in the first field is none.
    #[inline]
    fn label(
        self,
        field: &str,
        start: usize,
        rows: &mut Rows,
    ) -> std::result::Result<(), (String, &'static str)> {
        if !self.labelled {
            return Ok(());
        }
        if field.is_empty() {
            return Err(("there is no label".to_owned(), LABEL));
        }
        let span = name(field, start, rows).0;
        if span.start == span.end {
            return Err((format!("the label of '{field}' is empty"), COLON));
        }
        rows.field_at(span);
        Ok(())
    }
}

/// What ends a field, or makes a name of less than all of it.
#[inline]
fn is_stop(byte: u8) -> bool {
    (byte == b'\t') | (byte == b'\n') | (byte == b':') | (byte == b'\\')
}

/// The value of an attribute.
#[inline]
fn number(field: &str, text: &str) -> std::result::Result<f32, (String, &'static str)> {
    match short_number(text).map_or_else(|| text.parse::<f32>(), Ok) {
        Ok(value) if value.abs() <= LARGEST => Ok(value),
        Ok(value) if value.is_finite() => Err((format!("'{field}' has too large a value"), SCALE)),
        _ => Err((format!("the value '{text}' of '{field}' is no number"), COLON)),
    }
}

const FIRST: &str = "it stands before the first token, and an empty line stands between sequences";
const ALONE: &str = "the first token of the sequence stands on the next line";
const SCALE: &str = "scale the values: they go up to 1e12";
const LABEL: &str = "a line starts with the label; a file to be labelled may have none on every line";
const COLON: &str = "write \\: for a colon that belongs to the name";

/// `weight:2` or `weight<TAB>2`.
fn weight(declared: &str) -> std::result::Result<f64, (String, &'static str)> {
    let (what, value) = declared.split_once([':', '\t']).unwrap_or((declared, ""));
    if what != "weight" {
        return Err((
            format!("'@{what}' is no declaration"),
            "there is @weight:x only; no label starts with @",
        ));
    }
    match value.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err((format!("the weight '{value}' is no number from 0"), "such as @weight:0.5")),
    }
}

/// The name of an attribute or label and the text of its value. The name is a stretch of the text if
/// it has no escapes.
fn name<'a>(field: &'a str, start: usize, rows: &mut Rows) -> (Span, Option<&'a str>) {
    let bytes = field.as_bytes();
    let Some(first) = memchr2(b':', b'\\', bytes) else {
        return (Span::new(start, start + field.len()), None);
    };
    if bytes[first] == b':' {
        return (Span::new(start, start + first), Some(&field[first + 1..]));
    }
    let mut plain = String::with_capacity(field.len());
    let mut chars = field.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (rows.own(&plain), Some(&field[at + 1..])),
            '\\' => plain.push(chars.next_if(|(_, c)| matches!(c, ':' | '\\')).map_or('\\', |(_, c)| c)),
            c => plain.push(c),
        }
    }
    (rows.own(&plain), None)
}

fn escaped(name: &str) -> Cow<'_, str> {
    if memchr2(b':', b'\\', name.as_bytes()).is_none() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('\\', "\\\\").replace(':', "\\:"))
}

impl Format for Crfsuite {
    fn kind(&self) -> Kind {
        Kind::Crfsuite
    }

    fn columns(&self) -> usize {
        usize::from(self.labelled)
    }

    fn label(&self) -> Place {
        if self.labelled { Place::Fixed(0) } else { Place::Missing }
    }

    fn ready(&self) -> bool {
        true
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, |text, rows| self.find(text, rows))
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        match label {
            _ if !is_field(label) => Some(NO_FIELD),
            _ if label.starts_with('@') => Some("would be read as a declaration, since it starts with @"),
            _ if label.starts_with('\u{feff}') => {
                Some("starts with a byte-order mark, which no one would see")
            }
            _ => is_blank(label.as_bytes()).then_some("is nothing but blanks"),
        }
    }

    /// In the label's place; a probability is its value, as CRFsuite's own tagger writes it.
    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        for (i, name, probability) in labelled.iter() {
            let Some(token) = copy.block.tokens().get(i) else { continue };
            let row = copy.block.slice(token.span);
            let length = memchr(b'\t', row.as_bytes()).unwrap_or(row.len());
            let start = token.span.range().start;
            copy.replace(Span::new(start, start + length), &escaped(name), out);
            if let Some(p) = probability {
                out.extend_from_slice(format!(":{p:.6}").as_bytes());
            }
            copy.upto(token.span.end, out);
        }
    }
}

/// Writes a sentence.
pub(super) fn write(sentence: &Outgoing<'_>, out: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
    if !sentence.ready {
        return refuse(
            "it holds attributes, and this sentence has none (`template` and `features` make some)",
        );
    }
    if sentence.weight != 1.0 {
        out.extend_from_slice(format!("@weight:{}\n", sentence.weight).as_bytes());
    }
    for row in &sentence.rows {
        if row.label.is_none() && row.attributes.is_empty() {
            return refuse("a token has neither label nor attributes");
        }
        if row.label.is_none() && row.attributes.iter().all(|(name, _)| is_blank(name.as_bytes())) {
            return refuse("a token has nothing but blanks");
        }
        write_row(row.label.unwrap_or(""), &row.attributes, &[], out)?;
    }
    out.push(b'\n');
    Ok(())
}

/// Appends the row of a token. Attributes of the edge into it are no part of the format: they are written
/// `edge:NAME:VALUE`, which no reader takes for something else.
///
/// # Errors
/// A name that is empty or holds a tab or a line end.
pub fn write_row(
    label: &str,
    attributes: &[(&str, f32)],
    edges: &[(&str, f32)],
    out: &mut Vec<u8>,
) -> std::result::Result<(), Refusal> {
    let names = || attributes.iter().chain(edges).map(|a| a.0);
    if let Some(name) = names().chain([label]).find(|n| n.contains(['\t', '\n', '\r'])) {
        return refuse(format!("{name:?} holds a tab or a line end"));
    }
    if names().any(str::is_empty) {
        return refuse("an attribute has an empty name");
    }
    out.extend_from_slice(escaped(label).as_bytes());
    for (name, value) in attributes {
        out.push(b'\t');
        out.extend_from_slice(escaped(name).as_bytes());
        if *value != 1.0 {
            out.extend_from_slice(format!(":{value}").as_bytes());
        }
    }
    for (name, value) in edges {
        out.extend_from_slice(format!("\tedge:{}:{value}", escaped(name)).as_bytes());
    }
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn read(text: &str) -> Result<(Block, Box<dyn Format>)> {
        let mut blocks = Blocks::new(Input::from_bytes("a.crfsuite", text)?);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Crfsuite))?;
        format.parse("a.crfsuite", &mut block)?;
        Ok((block, format))
    }

    #[test]
    fn attributes_values_escapes_and_weights() {
        let text = "@weight:2.5\r\nB\\:X\ta\tb:0.5\tc\\:d\\\\:-3\t\te:\r\nO\n\n\nO\t\\x\\\n";
        let (block, format) = read(text).unwrap();
        assert_eq!(block.text(), text);
        assert_eq!((format.columns(), format.label(), format.ready()), (1, Place::Fixed(0), true));
        let attributes = |i| block.attributes(i).collect::<Vec<_>>();
        assert_eq!(attributes(0), [("a", 1.0), ("b", 0.5), ("c:d\\", -3.0), ("e", 1.0)]);
        assert_eq!(attributes(1), []);
        assert_eq!(attributes(2), [("\\x\\", 1.0)]);
        assert_eq!((0..3).map(|i| block.field(i, 0)).collect::<Vec<_>>(), ["B:X", "O", "O"]);
        assert_eq!(block.sentences().map(|s| block.weight(s.tokens.start)).collect::<Vec<_>>(), [2.5, 1.0]);
    }

    #[test]
    fn labels_go_to_the_label_s_place() {
        let text = "A\ta:1\r\nB\\:\tb\n\n@weight\t3\nA\n";
        let (block, format) = read(text).unwrap();
        let mut out = vec![];
        let mut copy = Copy::new(&block, 0, 1);
        let names = ["X:Y".to_owned(), "Z".to_owned()];
        format.put(
            &mut copy,
            &Labelled { tokens: 0..2, names: &names, probabilities: Some(&[0.5, 1.0]), beside: &[] },
            &mut out,
        );
        format.put(
            &mut copy,
            &Labelled { tokens: 2..3, names: &names[1..], probabilities: None, beside: &[] },
            &mut out,
        );
        copy.rest(&*format, &mut out);
        let expected = "X\\:Y:0.500000\ta:1\r\nZ:1.000000\tb\n\n@weight\t3\nZ\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn files_without_labels() {
        let (block, format) = read("\ta\tb\n\tc\n").unwrap();
        assert_eq!((format.columns(), format.label()), (0, Place::Missing));
        assert_eq!(block.attributes(0).map(|a| a.0).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn mistakes() {
        let error = |text| read(text).unwrap_err().to_string();
        for (text, expected) in [
            ("A\ta:b\n", "a.crfsuite:1: the value 'b' of 'a:b' is no number\n  help: write \\: for"),
            ("A\t:1\n", "a.crfsuite:1: the name of ':1' is empty"),
            (":1\ta\n", "a.crfsuite:1: the label of ':1' is empty"),
            ("A\ta:1:2\n", "a.crfsuite:1: the value '1:2' of 'a:1:2' is no number"),
            ("A\ta:inf\n", "a.crfsuite:1: the value 'inf' of 'a:inf' is no number"),
            ("A\ta\n\n\tb\n", "a.crfsuite:3: there is no label\n  help: a line starts with the label"),
            ("@weight:x\nA\n", "a.crfsuite:1: the weight 'x' is no number from 0"),
            ("@weight:-1\nA\n", "a.crfsuite:1: the weight '-1' is no number from 0"),
            ("@group:1\nA\n", "a.crfsuite:1: '@group' is no declaration"),
            ("A\n@weight:1\n", "a.crfsuite:2: a weight inside a sequence"),
            ("A\n\n@weight:5\n\nB\n", "a.crfsuite:3: a weight without a sequence\n  help: the first token"),
            ("A\n\n@weight:5\n", "a.crfsuite:3: a weight without a sequence"),
            ("A\ta:1e12\nA\ta:-1.1e12\n", "a.crfsuite:2: 'a:-1.1e12' has too large a value\n  help: scale"),
        ] {
            assert!(error(text).starts_with(expected), "{}", error(text));
        }
    }

    /// Line by line and field by field.
    impl Crfsuite {
        fn slow_find(self, text: &str, rows: &mut Rows) -> std::result::Result<(), Problem> {
            let mut start = 0;
            let mut inside = false;
            let mut waiting = None; // the line of a weight whose sequence has not begun
            let alone = |line| Err((line, "a weight without a sequence".to_owned(), ALONE.to_owned()));
            for (line, row) in (0..).zip(text.split('\n')) {
                let here = start;
                start += row.len() + 1;
                let row = row.trim_end_matches('\r');
                if is_blank(row.as_bytes()) {
                    if let Some(line) = waiting {
                        return alone(line);
                    }
                    rows.end_sentence();
                    inside = false;
                } else if let Some(declared) = row.strip_prefix('@') {
                    let weight = weight(declared).map_err(|(what, help)| (line, what, help.to_owned()))?;
                    if inside {
                        return Err((line, "a weight inside a sequence".to_owned(), FIRST.to_owned()));
                    }
                    rows.weight(weight);
                    waiting = Some(line);
                } else {
                    inside = true;
                    waiting = None;
                    self.slow_token(row, here, line, rows)
                        .map_err(|(what, help)| (line, what, help.to_owned()))?;
                }
            }
            rows.end_sentence();
            waiting.map_or(Ok(()), alone)
        }

        fn slow_token(
            self,
            row: &str,
            start: usize,
            line: u32,
            rows: &mut Rows,
        ) -> std::result::Result<(), (String, &'static str)> {
            let mut at = start;
            for (number, field) in row.split('\t').enumerate() {
                let here = at;
                at += field.len() + 1;
                if number == 0 {
                    if field.is_empty() && self.labelled {
                        return Err(("there is no label".to_owned(), LABEL));
                    }
                    if self.labelled {
                        let span = name(field, here, rows).0;
                        if span.start == span.end {
                            return Err((format!("the label of '{field}' is empty"), COLON));
                        }
                        rows.field_at(span);
                    }
                    continue; // in a file without labels whatever stands here is none
                }
                if field.is_empty() {
                    continue;
                }
                let (span, value) = name(field, here, rows);
                if span.start == span.end {
                    return Err((format!("the name of '{field}' is empty"), COLON));
                }
                let value = match value {
                    None | Some("") => 1.0,
                    Some(text) => match text.parse::<f32>() {
                        Ok(value) if value.abs() <= LARGEST => value,
                        Ok(value) if value.is_finite() => {
                            return Err((format!("'{field}' has too large a value"), SCALE));
                        }
                        _ => return Err((format!("the value '{text}' of '{field}' is no number"), COLON)),
                    },
                };
                rows.attribute(span, value);
            }
            rows.token_with_attributes(Span::new(start, start + row.len()), line);
            Ok(())
        }
    }

    #[test]
    fn rows_are_those_found_line_by_line() {
        let mut state = 7_u32;
        let mut next = |n: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % n
        };
        let pieces = [
            "a",
            "B",
            "\t",
            "\t",
            "\n",
            "\n\n",
            ":",
            "1",
            ".5",
            "\\",
            "\r",
            " ",
            "@",
            "@weight:2\n",
            "\u{e9}",
        ];
        let mut broken = 0;
        for _ in 0..20_000 {
            let text: String = (0..next(60)).map(|_| pieces[next(pieces.len())]).collect();
            for labelled in [false, true] {
                let (format, mut fast, mut slow) = (Crfsuite { labelled }, Rows::default(), Rows::default());
                let results = (format.find(&text, &mut fast), format.slow_find(&text, &mut slow));
                broken += usize::from(results.0.is_err());
                assert_eq!(results.0, results.1, "{text:?}");
                if results.0.is_ok() {
                    assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{text:?}");
                }
            }
        }
        assert!((1000..39_000).contains(&broken), "{broken}");
    }
}
