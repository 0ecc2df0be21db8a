//! Lists of candidates to choose from, as JSON lines: what another program found, with features and costs.
//!
//! ```text
//! {"id": 7, "candidates": [{"text": "a cat", "features": {"lm": -3.2, "known": true}, "cost": 0.25}, ...]}
//! ```
//!
//! One list per line. A feature is a number; `true` is 1, and `false`, 0 and a feature that is not there are the same.
//! Costs may be left out where nothing is learned or scored. Other keys are left alone.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use seqoia_core::cast::{real64, single};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::format::{Block, Blocks, Kind, LARGEST};
use crate::open::Input;
use crate::text::told;

const EXAMPLE: &str = "a line is an object such as \
    {\"candidates\": [{\"text\": \"a cat\", \"features\": {\"lm\": -3.2}, \"cost\": 0.25}]}";

/// One list, as its line has it.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateList<'a> {
    /// The line in the file, from 1.
    pub line: u64,
    /// The line as it is.
    pub json: &'a str,
    /// What the line says its id is, as JSON.
    pub id: Option<&'a str>,
    /// The candidates, at least one.
    pub candidates: Vec<Candidate<'a>>,
}

impl CandidateList<'_> {
    /// Bytes that it takes beside the text of its line, with those that reading it took: vectors grow by doubling.
    fn bytes(&self) -> usize {
        let owned = |text: &Cow<'_, str>| match text {
            Cow::Borrowed(_) => 0,
            Cow::Owned(text) => text.capacity(),
        };
        let (mut sum, mut longest) = (size_of::<Candidate<'_>>() * self.candidates.capacity() * 3 / 2, 0);
        for Candidate { text, features, .. } in &self.candidates {
            let list = size_of::<(Cow<'_, str>, f32)>() * features.capacity();
            sum += list + owned(text) + features.iter().map(|(name, _)| owned(name)).sum::<usize>();
            let names = size_of::<&str>() * features.capacity();
            longest = longest.max(list / 2 + names).max(2 * owned(text));
            longest = features.iter().map(|(name, _)| 2 * owned(name)).fold(longest, usize::max);
        }
        sum + longest
    }
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Candidate<'a> {
    /// What it stands for.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    /// Names and values, none of them twice; finite and not 0.
    #[serde(borrow, deserialize_with = "features")]
    pub features: Vec<(Cow<'a, str>, f32)>,
    /// What choosing it costs; at most 1e12 in size.
    pub cost: Option<f64>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "candidates")]
    candidates: Vec<Candidate<'a>>,
}

/// The most candidates of a list: a line of millions of empty ones takes far more memory than itself.
const MOST_CANDIDATES: usize = 1_000_000;

fn candidates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Candidate<'de>>, D::Error> {
    struct Read;
    impl<'de> Visitor<'de> for Read {
        type Value = Vec<Candidate<'de>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of candidates")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Self::Value, A::Error> {
            let mut all = vec![];
            while let Some(candidate) = seq.next_element::<Candidate<'de>>()? {
                if all.len() == MOST_CANDIDATES {
                    return Err(A::Error::custom(format!(
                        "the list has more than {MOST_CANDIDATES} candidates"
                    )));
                }
                if candidate.cost.is_some_and(|cost| cost.abs() > f64::from(LARGEST)) {
                    return Err(A::Error::custom(format!("a cost is not a number up to {LARGEST:e}")));
                }
                all.push(candidate);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Read)
}

/// A string that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// `true`, `false` or a number.
struct Value(f64);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, true or false as the value of a feature")
            }
            fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
                Ok(Value(f64::from(u8::from(value))))
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
                Ok(Value(-real64(value.unsigned_abs()))) // those from 0 on come as u64
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
                Ok(Value(real64(value)))
            }
            fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
                Ok(Value(value))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

fn features<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<(Cow<'de, str>, f32)>, D::Error> {
    struct Read;
    impl<'de> Visitor<'de> for Read {
        type Value = Vec<(Cow<'de, str>, f32)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object from names of features to numbers")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
            let mut all = Vec::with_capacity(map.size_hint().unwrap_or(0));
            while let Some((Name(name), Value(value))) = map.next_entry()? {
                let value = single(value);
                let fits = value.abs() <= LARGEST;
                if !fits {
                    return Err(A::Error::custom(format!(
                        "feature '{name}' is not a number up to {LARGEST:e}"
                    )));
                }
                all.push((name, value));
            }
            let mut names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
            names.sort_unstable();
            if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(A::Error::custom(format!("a candidate has the feature '{}' twice", twice[0])));
            }
            all.retain(|(_, value)| *value != 0.0);
            Ok(all)
        }
    }
    deserializer.deserialize_map(Read)
}

/// Reads a file list by list.
///
/// ```
/// use seqoia_data::candidates::CandidateLists;
/// use seqoia_data::open::Input;
///
/// let text = r#"{"candidates": [{"text": "a cat", "features": {"lm": -3.2}, "cost": 0.25}]}"#;
/// let mut lists = CandidateLists::new(Input::from_bytes("lists.jsonl", text)?);
/// while let Some(list) = lists.next()? {
///     assert_eq!((list.line, &*list.candidates[0].text), (1, "a cat"));
/// }
/// # Ok::<(), seqoia_data::Error>(())
/// ```
pub struct CandidateLists {
    blocks: Blocks,
    block: Block,
    at: usize, // byte of the block where the next line starts
    line: u64,
    digest: Xxh3,
    largest: usize,
}

impl CandidateLists {
    /// From an open text.
    #[must_use]
    pub fn new(input: Input) -> Self {
        let mut blocks = Blocks::new(input);
        blocks.cut_at(|_| true);
        CandidateLists { blocks, block: Block::default(), at: 0, line: 1, digest: Xxh3::new(), largest: 0 }
    }

    /// Each list as soon as its line was read, for a program that waits at the other end of a pipe.
    #[must_use]
    pub fn eager(mut self, eager: bool) -> Self {
        self.blocks = self.blocks.eager(eager);
        self
    }

    /// The file's name for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        self.blocks.name()
    }

    /// XXH3 of the text that was read.
    #[must_use]
    pub fn digest(&self) -> String {
        format!("{:032x}", self.digest.digest128())
    }

    /// Bytes of the largest stretch of text that was in memory, with the largest list.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// The next list; none at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is not a list of candidates.
    #[allow(clippy::should_implement_trait)] // what it gives is borrowed from the reader
    pub fn next(&mut self) -> Result<Option<CandidateList<'_>>> {
        let Some((line, range)) = self.next_line()? else { return Ok(None) };
        let list = parse(&self.block.text()[range], line)
            .map_err(|what| Error::at(self.blocks.name(), line, what).help(EXAMPLE))?;
        // A long line made the text grow: half of it was held beside it.
        let text = self.block.bytes(Kind::Jsonl) * 3 / 2;
        self.largest = self.largest.max(text + self.blocks.bytes() + list.bytes());
        Ok(Some(list))
    }

    /// Number and place of the next line that is not blank.
    fn next_line(&mut self) -> Result<Option<(u64, Range<usize>)>> {
        loop {
            if self.at >= self.block.text().len() {
                if !self.blocks.fill(&mut self.block)? {
                    return Ok(None);
                }
                self.digest.update(self.block.text().as_bytes());
                (self.at, self.line) = (0, self.block.first_line());
            }
            let rest = &self.block.text()[self.at..];
            let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
            let (line, range) = (self.line, self.at..self.at + length);
            let blank = rest[..length].trim_ascii().is_empty();
            (self.at, self.line) = (range.end, line + 1);
            if !blank {
                return Ok(Some((line, range)));
            }
        }
    }
}

/// Whether a file starts with a list of candidates, as far as its first line tells.
///
/// # Errors
/// The file cannot be read.
pub fn looks_like_lists(input: Input) -> Result<bool> {
    #[derive(Deserialize)]
    struct Keys<'a> {
        #[serde(borrow)]
        candidates: Option<&'a RawValue>,
    }
    let mut blocks = Blocks::new(input);
    let line = std::str::from_utf8(blocks.peek()?).unwrap_or_default();
    Ok(serde_json::from_str::<Keys<'_>>(line).is_ok_and(|keys| keys.candidates.is_some()))
}

fn parse(text: &str, line: u64) -> std::result::Result<CandidateList<'_>, String> {
    if text.trim_start().starts_with('[') {
        // serde would take the values of an object without their names, too.
        return Err("not a list of candidates: a list, where an object is expected".to_owned());
    }
    let Line { id, candidates } = serde_json::from_str(text).map_err(|error| {
        let what = told(&error);
        format!("not a list of candidates: {what}")
    })?;
    if candidates.is_empty() {
        return Err("the list has no candidate".to_owned());
    }
    Ok(CandidateList { line, json: text, id: id.map(RawValue::get), candidates })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>> {
        let mut lists = CandidateLists::new(Input::from_bytes("a", text.as_bytes())?);
        let mut found = vec![];
        while let Some(list) = lists.next()? {
            found.push(format!("{list:?}"));
        }
        Ok(found)
    }

    #[test]
    fn lines_become_lists() {
        let text = "\n{\"id\": \"x\", \"candidates\": [{\"text\": \"a\\n\", \"features\": {\"f\": 2, \"g\": true, \
                    \"h\": false, \"i\": 0, \"j\": -3}, \"cost\": 1}], \"more\": []}\r\n{\"candidates\": [{\"text\": \"\", \
                    \"features\": {}}]}";
        let mut lists = CandidateLists::new(Input::from_bytes("a", text).unwrap());
        let first = lists.next().unwrap().unwrap();
        assert_eq!((first.line, first.id), (2, Some("\"x\"")));
        let candidate = &first.candidates[0];
        assert_eq!((&*candidate.text, candidate.cost), ("a\n", Some(1.0)));
        assert_eq!(candidate.features, [("f".into(), 2.0), ("g".into(), 1.0), ("j".into(), -3.0)]);
        let second = lists.next().unwrap().unwrap();
        assert_eq!((second.line, second.id, second.candidates[0].cost), (3, None, None));
        assert!(lists.next().unwrap().is_none());
    }

    #[test]
    fn what_is_not_a_list() {
        let of = |candidate: &str| format!("{{\"candidates\": [{candidate}]}}");
        for (text, what) in [
            ("{}".to_owned(), "missing field 'candidates'"),
            (of(""), "the list has no candidate"),
            (of("{\"features\": {}}"), "missing field 'text'"),
            (of("{\"text\": \"a\"}"), "missing field 'features'"),
            (of("{\"text\": \"a\", \"features\": {\"f\": \"x\"}}"), "a number, true or false"),
            (of("{\"text\": \"a\", \"features\": {\"f\": 1, \"f\": 0}}"), "the feature 'f' twice"),
            (of("{\"text\": \"a\", \"features\": {\"f\": 1e300}}"), "not a number up to 1e12"),
            (of("{\"text\": \"a\", \"features\": {}, \"cost\": -1e13}"), "a cost is not a number up to 1e12"),
            (of("{\"text\": \"a\", \"features\": {}, \"cost\": 1e999}"), "number out of range"),
            (of("{\"text\": \"a\", \"features\": {}, \"cost\": \"low\"}"), "expected f64"),
            ("a cat".to_owned(), "expected value"),
        ] {
            let error = read(&format!("\n{text}\n")).unwrap_err();
            assert!(error.line == 2 && error.what.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_has_a_bound() {
        let empty = "{\"text\":\"\",\"features\":{}},".repeat(MOST_CANDIDATES);
        let error = read(&format!("{{\"candidates\":[{empty}{{}}]}}")).unwrap_err();
        assert!(error.what.contains("missing field"), "{error}");
        let last = "{\"text\":\"\",\"features\":{}}";
        assert!(read(&format!("{{\"candidates\":[{}]}}", empty.trim_end_matches(','))).is_ok());
        let error = read(&format!("{{\"candidates\":[{empty}{last}]}}")).unwrap_err();
        assert!(error.what.contains("more than 1000000 candidates"), "{error}");
    }

    #[test]
    fn a_first_line_tells() {
        let looks = |text: &str| looks_like_lists(Input::from_bytes("a", text.as_bytes()).unwrap()).unwrap();
        assert!(looks("\n{\"id\": 1, \"candidates\": 3}\n"));
        assert!(!looks("{\"tokens\": [\"a\"]}\n") && !looks("a cat\n") && !looks(""));
    }
}
