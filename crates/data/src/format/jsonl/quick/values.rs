//! What stands in a line: strings, numbers, what goes between them, and values that nobody looks at.

use seqoia_core::cast::real64;

use super::{DEEP, Quick, Quoted};

/// Powers of ten: the quotient of a number below 2^53 and one of them is rounded once, so it is the nearest.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

impl<'a, F: Fn(u8) -> bool> Quick<'a, F> {
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        if self.byte()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Goes behind the blanks of JSON; a line end is not inside a line.
    #[inline]
    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.take(b':')?;
        self.blanks();
        Some(())
    }

    /// Behind an item: whether another one follows, at which it then stands, or else the end.
    #[inline]
    pub(super) fn goes_on(&mut self, end: u8) -> Option<bool> {
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
    pub(super) fn begins(&mut self, end: u8) -> Option<bool> {
        self.at += 1;
        self.blanks();
        let some = self.byte()? != end;
        self.at += usize::from(!some);
        Some(some)
    }

    /// A string, without looking at its escapes. A call for each would take longer than the string.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Option<Quoted> {
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
    pub(super) fn raw(&self, string: Quoted) -> &'a str {
        &self.text[string.start..string.end]
    }

    #[inline]
    pub(super) fn literal(&mut self, word: &[u8]) -> Option<()> {
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
    pub(super) fn number(&mut self) -> Option<f64> {
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
    pub(super) fn skip(&mut self, depth: usize) -> Option<&'a str> {
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

/// Writes a string without its escapes; none if one of them is not in order.
pub(super) fn unescape(raw: &str, out: &mut String) -> Option<()> {
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
