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

use seqoia_core::cast::{real64, single};

use super::Jsonl;
use crate::format::block::{LARGEST, Rows, Span};
use crate::format::scan::Stops;

/// Lists and objects within each other that are followed.
const DEEP: usize = 16;
/// Names of an object that are held against each other here.
const MOST: usize = 1024;
/// Slots for the names of an object: a power of two.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 11;
/// Powers of ten: the quotient of a number below 2^53 and one of them is rounded once, so it is the nearest.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

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
        let (mut weight, mut document, mut probabilities) = (None, None, false);
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
                other => {
                    probabilities |= other == "probabilities";
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
        if !probabilities {
            let end = span.range().end - 1; // the closing brace
            rows.answer_at(labels.map_or(Span::new(end, end), |(_, span)| span));
        }
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

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        if self.byte()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind the blanks of JSON; a line end is not inside a line.
    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.take(b':')?;
        self.blanks();
        Some(())
    }

    /// Behind an item: whether another one follows, at which it then stands, or else the end.
    #[inline]
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        let byte = self.byte()?;
        self.at += 1;
        if byte == b',' {
            self.blanks();
            return Some(true);
        }
        (byte == end).then_some(false)
    }

    /// At the start of a list or an object: whether it has an item, at which it then stands.
    #[inline]
    fn begins(&mut self, end: u8) -> Option<bool> {
        self.at += 1;
        self.blanks();
        let some = self.byte()? != end;
        self.at += usize::from(!some);
        Some(some)
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

    /// A string, without looking at its escapes. A call for each would take longer than the string.
    #[inline(always)]
    fn string(&mut self) -> Option<Quoted> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            let stop = self.stops.next()?;
            if stop < start {
                continue;
            }
            if self.text.as_bytes()[stop] == b'"' {
                self.at = stop + 1;
                return Some(Quoted { start, end: stop, escaped: false });
            }
            return self.escaped(start, stop);
        }
    }

    /// A string of which something other than its end was found first.
    #[cold]
    fn escaped(&mut self, start: usize, first: usize) -> Option<Quoted> {
        let (bytes, mut stop) = (self.text.as_bytes(), first);
        while bytes[stop] != b'"' {
            // Whatever stands behind a backslash ends no string; but stops of other lines are not for this one.
            if bytes[stop] != b'\\' || bytes.get(stop + 1).is_none_or(|byte| *byte < b' ') {
                return None;
            }
            let behind = stop + 2;
            stop = self.stops.find(|&next| next >= behind)?;
        }
        self.at = stop + 1;
        Some(Quoted { start, end: stop, escaped: true })
    }

    #[inline]
    fn raw(&self, string: Quoted) -> &'a str {
        &self.text[string.start..string.end]
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

    #[inline]
    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.text.as_bytes()[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// A number, rounded to the nearest.
    #[inline]
    fn number(&mut self) -> Option<f64> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let negative = bytes.get(start) == Some(&b'-');
        self.at += usize::from(negative);
        let (mut digits, mut point) = (0u64, None);
        let first = self.at;
        while let Some(byte) = self.byte() {
            match byte {
                b'0'..=b'9' => digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
                b'.' if point.is_none() => point = Some(self.at),
                _ => break,
            }
            self.at += 1;
        }
        let whole = point.unwrap_or(self.at);
        let behind = point.map_or(0, |point| self.at - point - 1);
        // A digit before and behind the point, and no 0 before others.
        if whole == first || point.is_some() && behind == 0 || whole > first + 1 && bytes[first] == b'0' {
            return None;
        }
        let exponent = matches!(self.byte(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        if exponent || whole - first + behind > 15 {
            return self.text[start..self.at].parse::<f64>().ok().filter(|x| x.is_finite());
        }
        let value = real64(digits) / TENS[behind];
        Some(if negative { -value } else { value })
    }

    /// A value that is not looked at, as it stands there.
    fn skip(&mut self, depth: usize) -> Option<&'a str> {
        let start = self.at;
        match self.byte()? {
            b'"' => {
                let string = self.string()?;
                if string.escaped {
                    unescape(self.raw(string), &mut self.value)?;
                }
            }
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ if depth > DEEP => return None,
            open @ (b'[' | b'{') => {
                let end = if open == b'[' { b']' } else { b'}' };
                let mut more = self.begins(end)?;
                while more {
                    if open == b'{' {
                        let key = self.string()?;
                        if key.escaped {
                            unescape(self.raw(key), &mut self.value)?;
                        }
                        self.colon()?;
                    }
                    self.skip(depth + 1)?;
                    more = self.goes_on(end)?;
                }
            }
            _ => {
                self.number()?;
            }
        }
        Some(&self.text[start..self.at])
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

/// Writes a string without its escapes; none if one of them is not in order.
fn unescape(raw: &str, out: &mut String) -> Option<()> {
    out.clear();
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let mut behind = 2;
        out.push(match rest.as_bytes().get(at + 1)? {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
            b'u' => {
                let (mut code, low) = (unit(rest, at)?, unit(rest, at + 6));
                behind = 6;
                if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (code, low) {
                    code = 0x1_0000 + ((code - 0xd800) << 10 | (low - 0xdc00));
                    behind = 12;
                }
                char::from_u32(code)? // half a pair is no character
            }
            _ => return None,
        });
        rest = rest.get(at + behind..)?;
    }
    out.push_str(rest);
    Some(())
}

/// The four digits of the `\u` at a place.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
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
