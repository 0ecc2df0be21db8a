//! JSON lines: a sentence a line, as an object.
//!
//! ```text
//! {"tokens": ["The", "cat"], "labels": ["DT", "NN"]}
//! {"tokens": [["The", "DT"], ["cat", "NN"]], "labels": ["B-NP", "I-NP"], "id": 17}
//! {"features": [["w=the", {"length": 3}], {"w=cat": 1, "length": 3}], "labels": ["DT", "NN"], "weight": 2}
//! ```
//!
//! A token is a string or a list of fields; the features of a token are a list of names and of objects
//! from names to values, or one such object. Names are taken as they are: a colon has no meaning. Values are
//! those of python-crfsuite: `true` is 1, and `{"word": "the"}`, `{"word": ["the"]}` and
//! `{"word": {"the": 1}}` all name the attribute `word:the` with the value 1. With
//! both keys, tokens have fields and attributes. A name that an object has twice is a mistake; one that a list has
//! twice counts twice, as in CRFsuite. A value of `false` says that a token does not have the attribute.
//! `weight` is the weight of the sentence. Neighbouring lines with the same `document`, a string or a number, are one
//! document, for features that look there; a line without one stands alone. Other keys are left alone. Which keys there are, and how many fields, is decided by the first line that has a token.
//!
//! Labels are put into the text of the line, so that all else in it stays to the byte.

mod line;
mod put;
mod quick;

use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Kind;
use super::block::{Block, Format, Place, Problem, Rows, Span, is_blank};
use super::copy::{Copy, Labelled};
use crate::error::Result;
use line::{Keys, Line};
use put::put;
pub(super) use put::write;
pub use put::{has_key, put_with_other_keys};

/// The format, as the first line with a token has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Jsonl {
    /// Fields of a token; 0 if there is no key `tokens`.
    pub fields: usize,
    /// There is a key `labels`.
    pub labelled: bool,
    /// There is a key `features`.
    pub ready: bool,
    /// The keys of the line that decided, for errors.
    keys: Vec<String>,
}

/// A line, as far as it says which document it belongs to.
#[derive(Deserialize)]
struct Member<'a> {
    #[serde(borrow)]
    document: Option<&'a RawValue>,
}

/// Where the last document of some whole lines starts, if that is not in the first line.
pub(super) fn last_document(bytes: &[u8]) -> Option<usize> {
    fn of(line: &[u8]) -> Option<&str> {
        let text = std::str::from_utf8(line).ok()?;
        serde_json::from_str::<Member<'_>>(text).ok()?.document.map(RawValue::get)
    }
    // Lines from the last whole one back; blank ones are in no document. Behind: the line after it, and its key.
    let (mut end, mut behind) = (memchr::memrchr(b'\n', bytes)?, None);
    loop {
        let start = memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |n| n + 1);
        let line = &bytes[start..end];
        if !is_blank(line) {
            let own = of(line);
            match behind {
                Some((at, key)) if key != own || own.is_none() => return Some(at),
                _ => behind = Some((start, own)),
            }
        }
        end = start.checked_sub(1)?;
    }
}

impl Jsonl {
    /// What sentences of a program with ready attributes are like.
    pub(super) fn of_program(fields: usize, labelled: bool) -> Self {
        Self { fields, labelled, ready: true, keys: vec![] }
    }
}

/// Whether a file that starts with this line is meant to be in this format, be it right or wrong: a slip in the
/// first line must not make columns of it. A brace between blanks is a word of a column file, unless what follows
/// can only be an object.
pub(super) fn can_start(line: &[u8]) -> bool {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"{") else { return false };
    let inside = rest.trim_ascii_start();
    !rest.is_empty() && (inside.len() == rest.len() || matches!(inside.first(), Some(b'"' | b'\'' | b'}')))
}

const LISTS: &str =
    "lists of candidates are for re-ranking: train with `task rerank`, score choices with `metric cost`";
const WANTED: &str = "a line is an object such as {\"tokens\": [\"The\", \"cat\"], \"labels\": [\"DT\", \"NN\"]}, or with features: \
     {\"features\": [{\"w\": \"The\", \"x\": 0.5}, [\"w=cat\"]], \"labels\": [\"DT\", \"NN\"]}; JSON has no NaN";
const ALIKE: &str = "all lines have the same keys, and all tokens as many fields";
const FILLED: &str = "leave it out, or write _ for no value";

/// As it is written: words and labels.
pub(super) static WRITTEN: Jsonl = Jsonl { fields: 1, labelled: true, ready: false, keys: vec![] };

impl Jsonl {
    /// The format of a file that starts with this text; none if the text has no token. A line that is
    /// broken is left for `parse` to tell.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        let mut lines = block.text().lines().filter(|line| !is_blank(line.as_bytes()));
        lines.find_map(|row| match Line::of(row) {
            Ok(line) if line.len() > 0 => Some(Self { keys: keys(row), ..line.shape() }),
            Ok(line) if line.tokens.is_some() || line.features.is_some() => None,
            _ => Some(Self::default()),
        })
    }

    /// With `fast`, lines are first tried in one sweep; else none is.
    fn find(&self, text: &str, rows: &mut Rows, fast: bool) -> std::result::Result<(), Problem> {
        let (mut start, mut document, mut quick) = (0, None, quick::quick(text));
        for number in 0.. {
            let here = start;
            let Some(rest) = text.get(here..) else { break };
            let row = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
            start += row.len() + 1;
            let row = row.trim_end_matches([' ', '\t', '\r']);
            if row.is_empty() {
                continue;
            }
            let (span, before) = (Span::new(here, here + row.len()), rows.lengths());
            // Whether a document starts is known behind the tokens, and its mark stands before them.
            rows.mark(Span::new(here, here));
            if fast && let Some(own) = quick.line(self, span, number, rows) {
                if own.is_some() && own == document {
                    rows.unmark();
                }
                document = own;
                continue;
            }
            rows.cut(before);
            let line = Line::of(row).map_err(|what| (number, what, WANTED.to_owned()))?;
            if line.tokens.is_none() && line.features.is_none() {
                let found = keys(row);
                let what = format!("neither 'tokens' nor 'features'; {}", listed(&found));
                let lists = found.iter().any(|key| key == "candidates");
                return Err((number, what, if lists { LISTS } else { WANTED }.to_owned()));
            }
            let own = line.document.map(RawValue::get);
            if own.is_none() || own != document {
                rows.mark(Span::new(here, here));
            }
            document = own;
            self.sentence(line, span, number, rows)
                .map_err(|(what, help)| (number, what, help.to_owned()))?;
        }
        Ok(())
    }

    fn sentence(
        &self,
        line: Line<'_>,
        span: Span,
        number: u32,
        rows: &mut Rows,
    ) -> std::result::Result<(), (String, &'static str)> {
        let length = line.len();
        if length == 0 {
            return Ok(());
        }
        let have = |key: &str, has: bool| {
            format!("{} '{key}', unlike the lines before", if has { "a key" } else { "no key" })
        };
        let shape = line.shape();
        if (shape.fields > 0) != (self.fields > 0) {
            return Err((have("tokens", shape.fields > 0), ALIKE));
        }
        if shape.ready != self.ready {
            return Err((have("features", shape.ready), ALIKE));
        }
        if shape.labelled != self.labelled {
            return Err((have("labels", shape.labelled), ALIKE));
        }
        let counts = [line.features.as_ref().map(Vec::len), line.labels.as_ref().map(Vec::len)];
        for (key, count) in ["features", "labels"].into_iter().zip(counts) {
            if let Some(count) = count.filter(|&count| count != length) {
                return Err((
                    format!("the length of '{key}' is {count}, expected {length}"),
                    "every token has one",
                ));
            }
        }
        if let Some(weight) = line.weight {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err((format!("the weight {weight} is no number from 0"), "such as 0.5"));
            }
            rows.weight(weight);
        }
        let (tokens, features) = (line.tokens.unwrap_or_default(), line.features.unwrap_or_default());
        let labels = line.labels.unwrap_or_default();
        for t in 0..length {
            let fields = tokens.get(t).map_or(&[][..], |fields| &fields.0);
            if fields.len() != self.fields {
                let what = format!("token {} has {} fields, expected {}", t + 1, fields.len(), self.fields);
                return Err((what, ALIKE));
            }
            for field in fields.iter().chain(labels.get(t)) {
                if field.is_empty() {
                    return Err((format!("a field or the label of token {} is empty", t + 1), FILLED));
                }
                let span = rows.own(field);
                rows.field_at(span);
            }
            for (name, value) in features.get(t).map_or(&[][..], |features| &features.0) {
                if name.is_empty() {
                    return Err((format!("a feature of token {} has no name", t + 1), FILLED));
                }
                let span = rows.own(name);
                rows.attribute(span, *value);
            }
            rows.token_with_attributes(span, number);
        }
        rows.end_sentence();
        Ok(())
    }
}

/// The keys of a line that is an object.
fn keys(line: &str) -> Vec<String> {
    Keys::of(line).into_iter().map(|(key, _)| key).collect()
}

/// Keys for an error.
fn listed(keys: &[String]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
    match quoted[..] {
        [] => "there are no keys".to_owned(),
        _ => format!("the keys are {}", quoted.join(", ")),
    }
}

impl Format for Jsonl {
    fn kind(&self) -> Kind {
        Kind::Jsonl
    }

    fn columns(&self) -> usize {
        self.fields + usize::from(self.labelled)
    }

    fn label(&self) -> Place {
        if self.labelled { Place::Fixed(self.fields) } else { Place::Missing }
    }

    fn why_unlabelled(&self) -> String {
        format!("{}, and labels are wanted as 'labels'", listed(&self.keys))
    }

    fn ready(&self) -> bool {
        self.ready
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, |text, rows| self.find(text, rows, true))
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        label.is_empty().then_some("is empty")
    }

    /// Into the value of `labels`, or as a further key; probabilities go to `probabilities`.
    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        let Some(token) = copy.block.tokens().get(labelled.tokens.start) else { return };
        let place = copy.block.answer_place(labelled.tokens.start);
        put(copy, (token.span, place), labelled.names, labelled.probabilities, out);
    }

    /// An empty list, so that every object has one.
    fn put_empty(&self, copy: &mut Copy<'_>, line: Span, probabilities: bool, out: &mut Vec<u8>) {
        if line.start < line.end {
            put(copy, (line, None), &[], probabilities.then_some(&[]), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn read(text: &str) -> Result<(Block, Box<dyn Format>)> {
        let mut blocks = Blocks::new(Input::from_bytes("a.jsonl", text)?);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Jsonl))?;
        format.parse("a.jsonl", &mut block)?;
        Ok((block, format))
    }

    #[test]
    fn tokens_and_labels() {
        let text = "\r\n{\"id\": 1, \"tokens\": [\"a b\", \"\\u00e9\\n\"], \"labels\": [\"X\", \"Y\"]}\r\n\
                    {\"tokens\": [], \"labels\": []}\n{\"labels\":[\"Z\"],\"tokens\":[[\"c\"]],\"weight\":0.5}";
        let (block, format) = read(text).unwrap();
        assert_eq!((block.text(), format.columns(), format.label()), (text, 2, Place::Fixed(1)));
        let rows: Vec<Vec<&str>> = (0..3).map(|i| block.columns(i).collect()).collect();
        assert_eq!(rows, [["a b", "X"], ["é\n", "Y"], ["c", "Z"]]);
        assert_eq!((block.len(), block.sentence(1).line, block.weight(2)), (2, 4, 0.5));
    }

    #[test]
    fn features_and_values() {
        let text = r#"{"features": [["a:1", {"b": 2.5}, "c"], {"d": 1, "e": -1}, []]}"#;
        let (block, format) = read(text).unwrap();
        assert_eq!((format.columns(), format.label(), format.ready()), (0, Place::Missing, true));
        assert_eq!(block.attributes(0).collect::<Vec<_>>(), [("a:1", 1.0), ("b", 2.5), ("c", 1.0)]);
        assert_eq!(block.attributes(1).collect::<Vec<_>>(), [("d", 1.0), ("e", -1.0)]);
        assert_eq!(block.attributes(2).len(), 0);
    }

    #[test]
    fn values_of_python_crfsuite() {
        let text = r#"{"features": [{"w": "the", "t": true, "f": false, "n": -2},
                      {"p": {"a": 0.5, "q": ["b", {"c": "d"}]}}, [{"w": ""}]]}"#;
        let (block, _) = read(&text.replace('\n', "")).unwrap();
        let of = |i| block.attributes(i).collect::<Vec<_>>();
        assert_eq!(of(0), [("w:the", 1.0), ("t", 1.0), ("n", -2.0)]);
        assert_eq!(of(1), [("p:a", 0.5), ("p:q:b", 1.0), ("p:q:c:d", 1.0)]);
        assert_eq!(of(2), [("w:", 1.0)]);
    }

    #[test]
    fn documents_are_those_of_the_key_and_stay_whole_wherever_blocks_are_cut() {
        let line = |word: &str, document: &str| format!("{{\"tokens\": [\"{word}\"]{document}}}\n");
        let keys = ["", "", "7", "7", "7", "8", "\"7\"", "\"7\"", "", "7"];
        let text: String = keys
            .iter()
            .map(|key| {
                line("w", &if key.is_empty() { String::new() } else { format!(", \"document\": {key}") })
            })
            .collect();
        // Where a document starts: a line without a key does, and one with another key than before.
        let wanted = [0, 1, 2, 5, 6, 8, 9];
        for size in [1, 40, 100, 10_000] {
            let input = crate::open::Input::from_bytes("a", text.as_str()).unwrap();
            let mut blocks = crate::format::Blocks::with_size(input, size).whole_documents(true);
            let mut block = Block::default();
            let format = crate::format::first(&mut blocks, &mut block, None).unwrap();
            let (mut starts, mut before) = (vec![], 0);
            loop {
                format.parse("a", &mut block).unwrap();
                starts.extend(block.marks().iter().map(|mark| before + mark.before as usize));
                before += block.tokens().len();
                if !blocks.fill(&mut block).unwrap() {
                    break;
                }
            }
            assert_eq!((starts, before), (wanted.to_vec(), keys.len()), "blocks of {size}");
        }
    }

    #[test]
    fn all_but_the_labels_stays() {
        let put = |text: &str, probabilities: Option<&[f64]>| {
            let (block, format) = read(text).unwrap();
            let (mut copy, mut out) = (Copy::new(&block, 1, 1), vec![]);
            let names = ["A\"".to_owned()];
            format.put(
                &mut copy,
                &Labelled { tokens: 0..1, names: &names, probabilities, beside: &[] },
                &mut out,
            );
            copy.rest(&*format, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            put("{\"labels\" : [ \"x\" ], \"tokens\": [\"a\"], \"k\": null } \r\n", None),
            "{\"labels\" : [\"A\\\"\"], \"tokens\": [\"a\"], \"k\": null } \r\n"
        );
        assert_eq!(
            put("{\"tokens\": [\"a\"]}\n{\"tokens\": []}\n", Some(&[0.25])),
            "{\"tokens\": [\"a\"],\"labels\":[\"A\\\"\"],\"probabilities\":[0.250000]}\n{\"tokens\": []}\n"
        );
        assert_eq!(
            put("{\"labels\":null,\"tokens\":[\"a\"]}", None),
            "{\"labels\":[\"A\\\"\"],\"tokens\":[\"a\"]}"
        );
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        let one = "{\"tokens\":[\"a\"],\"labels\":[\"x\"]}\n";
        for (text, expected) in [
            (one.replace("]}", "}"), "a.jsonl:1: expected ',' or ']', at byte 30\n  help: a line is"),
            (
                one.replace("tokens", "words"),
                "a.jsonl:1: neither 'tokens' nor 'features'; the keys are 'words', 'labels'\n  help: a line is",
            ),
            (
                "{\"candidates\":[]}".to_owned(),
                "a.jsonl:1: neither 'tokens' nor 'features'; the keys are 'candidates'\n  help: lists of candidates",
            ),
            ("{}".to_owned(), "a.jsonl:1: neither 'tokens' nor 'features'; there are no keys"),
            (
                "{\"features\":[{\"a\":null}]}".to_owned(),
                "a.jsonl:1: invalid type: null, expected the value of a feature, a number",
            ),
            (one.replace("\"a\"", "1"), "a.jsonl:1: invalid type: integer '1', expected a word or a list of"),
            (one.replace("\"x\"", ""), "a.jsonl:1: the length of 'labels' is 0, expected 1"),
            (one.replace("\"x\"", "\"\""), "a.jsonl:1: a field or the label of token 1 is empty"),
            (one.replace("]}", "],\"weight\":-1}"), "a.jsonl:1: the weight -1 is no number from 0"),
            (format!("{one}{{\"tokens\":[\"a\"]}}"), "a.jsonl:2: no key 'labels', unlike the lines before"),
            (
                format!("{one}{}", one.replace("tokens", "features").replace("\"a\"", "[]")),
                "a.jsonl:2: no key 'tokens'",
            ),
            (
                format!("{one}{}", one.replace("\"a\"", "[\"a\",\"b\"]")),
                "a.jsonl:2: token 1 has 2 fields, expected 1",
            ),
            (
                "{\"features\":[\"a\"]}".to_owned(),
                "a.jsonl:1: invalid type: string \"a\", expected the features of a",
            ),
            ("{\"features\":[[[]]]}".to_owned(), "a.jsonl:1: invalid type: sequence, expected a feature"),
            (
                "{\"features\":[{\"x\":1,\"b\":2,\"x\":5}]}".to_owned(),
                "a.jsonl:1: an object has the feature 'x' twice",
            ),
            (
                "{\"features\":[[\"a\",\"a\"]]}\n{\"features\":[{\"w\":\"a\",\"w\":\"b\"}]}".to_owned(),
                "a.jsonl:2: an object has the feature 'w' twice",
            ),
            ("{\"features\":[{\"a\":1e39}]}".to_owned(), "a.jsonl:1: the value of 'a' is too large"),
            (
                "{\"features\":[{\"a\":1e12}]}\n{\"features\":[{\"a\":-1.1e12}]}".to_owned(),
                "a.jsonl:2: the value of 'a' is too large, they go up to 1e12",
            ),
        ] {
            assert!(error(&text).starts_with(expected), "{}", error(&text));
        }
    }
}
