//! Reads a line in one sweep, without a string or a list of its own.
//!
//! Quotes, backslashes and control characters are found 64 bytes at a time ([`Stops`]); what stands between two quotes
//! is a string, and a span of the text. Only what the text does not have as it is meant is copied: a string with
//! escapes, and `word:the` for `"word": "the"`.
//!
//! Whatever is odd is left to [`Line`](super::line::Line), which reads all of JSON and says what is wrong: a mistake of
//! any kind, names that an object has twice, keys that differ from those of the lines before, a line without tokens.
//! So there is one place for messages, and this one must only be right in what it takes. JSON is read by hand here
//! since a library either makes values, which allocate, or calls back for each, and knows nothing of spans.

use seqoia_core::cast::single;

use super::Jsonl;
use crate::format::block::{LARGEST, Rows, Span};
use crate::format::scan::Stops;
use values::unescape;

/// Lists and objects within each other that are followed.
const DEEP: usize = 16;
/// Names of an object that are held against each other here.
const MOST: usize = 1024;
/// Slots for the names of an object: a power of two.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 11;
/// The buffers, which outlive a line.
#[derive(Debug)]
pub(super) struct Quick<'a, F> {
    text: &'a str,
    at: usize,
    stops: Stops<'a, F>,
    words: Vec<Span>,  // [tokens][fields] of the line
    labels: Vec<Span>, // [tokens] of the line
    prefix: String,    // names that an object stands under, with a colon behind each
    key: String,       // without its escapes
    value: String,     // without its escapes
    codes: Vec<u64>,   // of the names of all open objects
    slots: Vec<u32>,   // [SLOTS] the last object that had a name of this slot
    objects: u32,
}

/// A string between quotes: where it stands. Three numbers, so that it stays in registers.
#[derive(Clone, Copy)]
struct Quoted {
    start: usize,
    end: usize,
    escaped: bool,
}

/// Reads lines of a text, from the first to the last.
pub(super) fn quick(text: &str) -> Quick<'_, impl Fn(u8) -> bool> {
    let wanted = |byte| (byte == b'"') | (byte == b'\\') | (byte < b' ');
    Quick {
        text,
        at: 0,
        stops: Stops::new(text.as_bytes(), wanted),
        words: vec![],
        labels: vec![],
        prefix: String::new(),
        key: String::new(),
        value: String::new(),
        codes: vec![],
        slots: vec![0; SLOTS],
        objects: 0,
    }
}

impl<'a, F: Fn(u8) -> bool> Quick<'a, F> {
    /// Takes in the line at `span`, which is not empty, and gives the value of its `document`. None if the line is not
    /// one of those that are read here; what was pushed is to be taken back then.
    pub(super) fn line(
        &mut self,
        format: &Jsonl,
        span: Span,
        number: u32,
        rows: &mut Rows,
    ) -> Option<Option<&'a str>> {
        self.at = span.range().start;
        self.words.clear();
        self.labels.clear();
        self.codes.clear();
        self.prefix.clear();
        let (mut tokens, mut features, mut labels) = (None, None, None);
        let (mut weight, mut document) = (None, None);
        self.blanks();
        self.take(b'{')?;
        self.blanks();
        loop {
            let key = self.string()?;
            if key.escaped {
                return None;
            }
            self.colon()?;
            let once = match self.raw(key) {
                "tokens" => tokens.replace(self.tokens(format.fields, rows)?).is_none(),
                "features" => features.replace(self.list(rows, Self::token_features)?).is_none(),
                "labels" => {
                    let start = self.at;
                    let count = self.list(rows, |quick, rows| {
                        let label = quick.field(rows)?;
                        quick.labels.push(label);
                        Some(())
                    })?;
                    labels.replace((count, Span::new(start, self.at))).is_none()
                }
                "weight" => weight.replace(self.number()?).is_none(),
                "document" if self.byte() == Some(b'n') => return None, // null
                "document" => document.replace(self.skip(0)?).is_none(),
                _ => {
                    self.skip(0)?;
                    true
                }
            };
            if !once {
                return None;
            }
            if !self.goes_on(b'}')? {
                break;
            }
        }
        let length = tokens.or(features)?;
        let alike = tokens.is_some() == (format.fields > 0)
            && features.is_some() == format.ready
            && labels.is_some() == format.labelled
            && features.is_none_or(|count| count == length)
            && labels.is_none_or(|(count, _)| count == length);
        if self.at != span.range().end || length == 0 || !alike {
            return None;
        }
        if let Some(weight) = weight {
            if !(weight >= 0.0 && weight.is_finite()) {
                return None;
            }
            rows.weight(weight);
        }
        let end = span.range().end - 1; // the closing brace
        rows.answer_at(labels.map_or(Span::new(end, end), |(_, span)| span));
        for t in 0..length {
            let fields = &self.words[t * format.fields..][..format.fields];
            fields.iter().chain(self.labels.get(t)).for_each(|&field| rows.field_at(field));
            rows.token(span, number);
            if !format.ready {
                rows.end_attributes();
            }
        }
        rows.end_sentence();
        Some(document)
    }

    /// A list: how many items it has.
    #[inline]
    fn list(
        &mut self,
        rows: &mut Rows,
        mut item: impl FnMut(&mut Self, &mut Rows) -> Option<()>,
    ) -> Option<usize> {
        if self.byte()? != b'[' {
            return None;
        }
        let (mut more, mut count) = (self.begins(b']')?, 0);
        while more {
            item(self, rows)?;
            count += 1;
            more = self.goes_on(b']')?;
        }
        Some(count)
    }

    /// A field or a label, which is not empty.
    #[inline]
    fn field(&mut self, rows: &mut Rows) -> Option<Span> {
        let string = self.string()?;
        let span = self.span(string, rows)?;
        (span.start < span.end).then_some(span)
    }

    /// Where a string stands: in the text if it has no escapes.
    #[inline]
    fn span(&mut self, string: Quoted, rows: &mut Rows) -> Option<Span> {
        if !string.escaped {
            return Some(Span::new(string.start, string.end));
        }
        unescape(self.raw(string), &mut self.value)?;
        Some(rows.own(&self.value))
    }

    /// The tokens, all of so many fields: how many there are.
    fn tokens(&mut self, fields: usize, rows: &mut Rows) -> Option<usize> {
        self.list(rows, |quick, rows| {
            let count = match quick.byte()? {
                b'"' => {
                    let word = quick.field(rows)?;
                    quick.words.push(word);
                    1
                }
                _ => quick.list(rows, |quick, rows| {
                    let field = quick.field(rows)?;
                    quick.words.push(field);
                    Some(())
                })?,
            };
            (count == fields).then_some(())
        })
    }

    fn token_features(&mut self, rows: &mut Rows) -> Option<()> {
        self.features(rows, 0)?;
        rows.end_attributes();
        Some(())
    }

    /// A list of names and of objects, or an object.
    #[inline]
    fn features(&mut self, rows: &mut Rows, depth: usize) -> Option<()> {
        if self.byte()? == b'{' {
            return self.object(rows, depth);
        }
        self.list(rows, |quick, rows| match quick.byte()? {
            b'{' => quick.object(rows, depth),
            _ => {
                let string = quick.string()?;
                quick.attribute(string, 1.0, rows)
            }
        })?;
        Some(())
    }

    /// Names with their values.
    fn object(&mut self, rows: &mut Rows, depth: usize) -> Option<()> {
        if depth > DEEP {
            return None;
        }
        let first = self.codes.len();
        self.objects += 1;
        let (object, mut nested) = (self.objects, false);
        let mut more = self.begins(b'}')?;
        while more {
            let key = self.string()?;
            self.colon()?;
            let value = self.byte()?;
            if value == b'f' {
                // The token does not have it; then it may well have it by the same name later.
                self.literal(b"false")?;
                if key.escaped {
                    unescape(self.raw(key), &mut self.key)?; // to be in order it has nevertheless
                }
            } else {
                if !self.is_new(key, first, object, nested)? {
                    return None;
                }
                match value {
                    b'"' => {
                        let value = self.string()?;
                        self.joined(key, value, rows)?;
                    }
                    b'[' | b'{' => {
                        let length = self.prefix.len();
                        self.push_prefix(key)?;
                        self.features(rows, depth + 1)?;
                        self.prefix.truncate(length);
                        nested = true;
                    }
                    b't' => {
                        self.literal(b"true")?;
                        self.attribute(key, 1.0, rows)?;
                    }
                    _ => {
                        let value = single(self.number()?);
                        if value.abs() > LARGEST {
                            return None;
                        }
                        self.attribute(key, value, rows)?;
                    }
                }
            }
            more = self.goes_on(b'}')?;
        }
        self.codes.truncate(first);
        Some(())
    }

    /// Whether an object has had no such name, as far as a hash tells: two names with one hash are for others to compare.
    /// The slots are those of this object only if there was none within it.
    #[inline]
    fn is_new(&mut self, key: Quoted, first: usize, object: u32, nested: bool) -> Option<bool> {
        let code = match key.escaped {
            false => code(self.raw(key).as_bytes()),
            true => {
                unescape(self.raw(key), &mut self.key)?;
                code(self.key.as_bytes())
            }
        };
        let slot = &mut self.slots[(code >> (64 - SLOT_BITS)) as usize];
        let doubtful = nested | (*slot == object);
        *slot = object;
        if doubtful && self.codes[first..].contains(&code) {
            return Some(false);
        }
        self.codes.push(code);
        Some(self.codes.len() - first <= MOST)
    }

    /// Takes in the attribute of a name, which is not empty.
    #[inline]
    fn attribute(&mut self, name: Quoted, value: f32, rows: &mut Rows) -> Option<()> {
        if name.start == name.end && self.prefix.is_empty() {
            return None;
        }
        let span = if self.prefix.is_empty() {
            self.span(name, rows)?
        } else {
            let name = plain(self.text, name, &mut self.value)?;
            rows.own_parts([&self.prefix, name])
        };
        rows.attribute(span, value);
        Some(())
    }

    /// Takes in the attribute `key:value`.
    #[inline]
    fn joined(&mut self, key: Quoted, value: Quoted, rows: &mut Rows) -> Option<()> {
        let (key, value) = (plain(self.text, key, &mut self.key)?, plain(self.text, value, &mut self.value)?);
        let span = match self.prefix.is_empty() {
            true => rows.own_parts([key, ":", value]),
            false => rows.own_parts([&self.prefix, key, ":", value]),
        };
        rows.attribute(span, 1.0);
        Some(())
    }

    fn push_prefix(&mut self, key: Quoted) -> Option<()> {
        self.prefix.push_str(plain(self.text, key, &mut self.key)?);
        self.prefix.push(':');
        Some(())
    }
}

/// A string as it is meant.
#[inline]
fn plain<'b>(text: &'b str, string: Quoted, memory: &'b mut String) -> Option<&'b str> {
    let raw = &text[string.start..string.end];
    if !string.escaped {
        return Some(raw);
    }
    unescape(raw, memory)?;
    Some(memory)
}

/// A number that is the same for the same name, and hardly ever for another one.
#[inline]
fn code(name: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |code: u64, word: u64| (code ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let code = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(_), Some(last)) => {
            let words = name.as_chunks::<8>().0.iter();
            let code = words.fold(0, |code, word| mix(code, u64::from_le_bytes(*word)));
            mix(code, u64::from_le_bytes(*last))
        }
        _ => mix(0, name.iter().fold(0, |code, byte| code << 8 | u64::from(*byte))),
    };
    (code ^ name.len() as u64).wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests;
mod values;
