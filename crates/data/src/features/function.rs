//! Functions of a field: what named feature sets and patterns read instead of the word itself. Each
//! is computed once per distinct word, not per token.

use serde::{Deserialize, Serialize};

/// The value of a test that fires.
pub(super) const YES: &str = "1";
/// The value of one that does not, if it is asked for.
pub(super) const NO: &str = "F";

/// A function of a string; none for some strings, and then the attribute does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// The string itself.
    Same,
    /// In lower case.
    Lower,
    /// The first n characters of the lower-cased string, if it has as many.
    LowerPrefix(u8),
    /// The last n characters of the lower-cased string, if it has as many.
    LowerSuffix(u8),
    /// The first n characters, if there are as many.
    Prefix(u8),
    /// The last n characters, if there are as many.
    Suffix(u8),
    /// Upper-case letters X, lower-case x, digits 0, others as they are.
    Shape,
    /// The same, runs squeezed to one.
    BriefShape,
    /// Half-width ASCII as full-width characters: Chinese text has both.
    FullWidth,
    /// What the first character is: D a digit, a Chinese numeral too; L a letter; P punctuation or a symbol; W a
    /// Chinese character or another one that makes words.
    Kind,
    /// Fires if there is a digit.
    HasDigit,
    /// Fires if there is a hyphen, of either width.
    HasHyphen,
    /// Fires if there are letters and all of them are upper case.
    AllUpper,
    /// Fires if the first character is an upper-case letter.
    FirstUpper,
}

impl Function {
    /// Writes the value into `out` (cleared before); false if there is none.
    #[must_use]
    pub fn apply(self, string: &str, out: &mut String) -> bool {
        out.clear();
        match self {
            Function::Same => out.push_str(string),
            Function::Lower => lower(string, out),
            Function::LowerPrefix(n) => {
                lower(string, out);
                return keep_first(usize::from(n), out);
            }
            Function::LowerSuffix(n) => {
                lower(string, out);
                return keep_last(usize::from(n), out);
            }
            Function::Prefix(n) => {
                out.push_str(string);
                return keep_first(usize::from(n), out);
            }
            Function::Suffix(n) => {
                out.push_str(string);
                return keep_last(usize::from(n), out);
            }
            Function::Shape => out.extend(string.chars().map(shape)),
            Function::FullWidth => out.extend(string.chars().map(full_width)),
            Function::Kind => match string.chars().next() {
                Some(first) => out.push(kind(first)),
                None => return false,
            },
            Function::BriefShape => {
                let mut last = None;
                for symbol in string.chars().map(shape) {
                    if last != Some(symbol) {
                        out.push(symbol);
                        last = Some(symbol);
                    }
                }
            }
            Function::HasDigit => return fires(string.chars().any(char::is_numeric), out),
            Function::HasHyphen => return fires(string.contains(['-', '\u{ff0d}']), out),
            Function::AllUpper => {
                let upper = string.chars().any(char::is_uppercase) && !string.chars().any(char::is_lowercase);
                return fires(upper, out);
            }
            Function::FirstUpper => return fires(string.chars().next().is_some_and(char::is_uppercase), out),
        }
        true
    }

    /// Whether it fires or does not.
    #[must_use]
    pub fn is_test(self) -> bool {
        use Function::{AllUpper, FirstUpper, HasDigit, HasHyphen};
        matches!(self, HasDigit | HasHyphen | AllUpper | FirstUpper)
    }

    /// How names of attributes write the function.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Function::Same => "w".to_owned(),
            Function::Lower => "l".to_owned(),
            Function::LowerPrefix(n) => format!("pre{n}"),
            Function::LowerSuffix(n) => format!("suf{n}"),
            Function::Prefix(n) => format!("Pre{n}"),
            Function::Suffix(n) => format!("Suf{n}"),
            Function::Shape => "s".to_owned(),
            Function::FullWidth => "c".to_owned(),
            Function::BriefShape => "t".to_owned(),
            Function::Kind => "kind".to_owned(),
            Function::HasDigit => "digit".to_owned(),
            Function::HasHyphen => "hyphen".to_owned(),
            Function::AllUpper => "upper".to_owned(),
            Function::FirstUpper => "cap".to_owned(),
        }
    }
}

/// Cuts behind character n; false if there are fewer.
fn keep_first(n: usize, out: &mut String) -> bool {
    match out.char_indices().map(|(i, c)| i + c.len_utf8()).nth(n.wrapping_sub(1)) {
        Some(end) => {
            out.truncate(end);
            true
        }
        None => false,
    }
}

/// Cuts before the last n characters; false if there are fewer.
fn keep_last(n: usize, out: &mut String) -> bool {
    match out.char_indices().rev().map(|(i, _)| i).nth(n.wrapping_sub(1)) {
        Some(start) => {
            out.drain(..start);
            true
        }
        None => false,
    }
}

fn fires(test: bool, out: &mut String) -> bool {
    if test {
        out.push_str(YES);
    }
    test
}

/// Appends a string in lower case, character by character: what stands around one has no say, as it would for
/// the last sigma of a Greek word, so a word is the same alone and in a name.
pub(super) fn lower(string: &str, out: &mut String) {
    if string.is_ascii() {
        let from = out.len();
        out.push_str(string);
        out[from..].make_ascii_lowercase();
    } else {
        out.extend(string.chars().flat_map(char::to_lowercase));
    }
}

fn shape(c: char) -> char {
    match c {
        _ if c.is_uppercase() => 'X',
        _ if c.is_lowercase() => 'x',
        _ if c.is_numeric() => '0',
        _ => c,
    }
}

fn kind(c: char) -> char {
    match c {
        // The circle is written for the zero that it looks like.
        '〇' | '○' | '零' | '一' | '二' | '三' | '四' | '五' | '六' | '七' | '八' | '九' => 'D',
        '十' | '百' | '千' | '万' | '亿' | '萬' | '億' | '两' | '兩' => 'D',
        _ if c.is_numeric() => 'D',
        _ if c.is_uppercase() || c.is_lowercase() => 'L',
        '\u{e000}'..='\u{f8ff}' => 'W', // where old encodings put characters that they lacked
        _ if c.is_alphanumeric() => 'W',
        _ => 'P',
    }
}

pub(super) fn full_width(c: char) -> char {
    match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(f: Function, s: &str) -> Option<String> {
        let mut out = String::new();
        f.apply(s, &mut out).then_some(out)
    }

    #[test]
    fn lower_case_is_appended_to_what_is_there() {
        let mut out = "A".to_owned();
        lower("BC", &mut out);
        lower("\u{c4}D", &mut out);
        assert_eq!(out, "Abc\u{e4}d");
    }

    #[test]
    fn functions_do_what_they_say() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(apply(Function::Same, "Äb"), some("Äb"));
        assert_eq!(apply(Function::Lower, "ÄB"), some("äb"));
        assert_eq!(apply(Function::LowerPrefix(2), "ÄBC"), some("äb"));
        assert_eq!(apply(Function::LowerSuffix(2), "xÄB"), some("äb"));
        assert_eq!(apply(Function::LowerSuffix(3), "ab"), None);
        assert_eq!(apply(Function::LowerPrefix(3), "abc"), some("abc"));
        assert_eq!(apply(Function::Prefix(2), "ÄBC"), some("ÄB"));
        assert_eq!(apply(Function::Suffix(2), "xÄB"), some("ÄB"));
        assert_eq!(apply(Function::Suffix(3), "ab"), None);
        assert_eq!(apply(Function::Shape, "McDonald's"), some("XxXxxxxx'x"));
        assert_eq!(apply(Function::FullWidth, "A1～中"), some("Ａ１～中"));
        let kinds: String = "中３二Ｂb。$万カ".chars().map(kind).collect();
        assert_eq!(kinds, "WDDLLPPDW");
        assert_eq!([apply(Function::Kind, "十二"), apply(Function::Kind, "")], [some("D"), None]);
        assert_eq!(apply(Function::BriefShape, "McDonald's"), some("XxXx'x"));
        assert_eq!(apply(Function::BriefShape, "1,234.5%"), some("0,0.0%"));
        assert_eq!(apply(Function::HasDigit, "a1"), some("1"));
        assert_eq!(apply(Function::HasDigit, "a"), None);
        assert_eq!(apply(Function::HasHyphen, "a-b"), some("1"));
        assert_eq!(apply(Function::HasHyphen, "Ａ－１"), some("1"));
        assert_eq!(apply(Function::AllUpper, "U.S."), some("1"));
        assert_eq!(apply(Function::AllUpper, "123"), None);
        assert_eq!(apply(Function::FirstUpper, "Ab"), some("1"));
        assert_eq!(apply(Function::FirstUpper, ""), None);
    }
}
