//! Functions of a field: what named feature sets and patterns read instead of the word itself. Each
//! is computed once per distinct word, not per token.

use serde::{Deserialize, Serialize};

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
    /// Upper-case letters X, lower-case x, digits 0, others as they are; runs squeezed to one.
    BriefShape,
    /// Fires if there is a digit.
    HasDigit,
    /// Fires if there is a hyphen.
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
                match out.char_indices().map(|(i, c)| i + c.len_utf8()).nth(usize::from(n).wrapping_sub(1)) {
                    Some(end) => out.truncate(end),
                    None => return false,
                }
            }
            Function::LowerSuffix(n) => {
                lower(string, out);
                match out.char_indices().rev().map(|(i, _)| i).nth(usize::from(n).wrapping_sub(1)) {
                    Some(start) => drop(out.drain(..start)),
                    None => return false,
                }
            }
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
            Function::HasHyphen => return fires(string.contains('-'), out),
            Function::AllUpper => {
                let upper = string.chars().any(char::is_uppercase) && !string.chars().any(char::is_lowercase);
                return fires(upper, out);
            }
            Function::FirstUpper => return fires(string.chars().next().is_some_and(char::is_uppercase), out),
        }
        true
    }

    /// How names of attributes write the function.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Function::Same => "w".to_owned(),
            Function::Lower => "l".to_owned(),
            Function::LowerPrefix(n) => format!("pre{n}"),
            Function::LowerSuffix(n) => format!("suf{n}"),
            Function::BriefShape => "t".to_owned(),
            Function::HasDigit => "digit".to_owned(),
            Function::HasHyphen => "hyphen".to_owned(),
            Function::AllUpper => "upper".to_owned(),
            Function::FirstUpper => "cap".to_owned(),
        }
    }
}

fn fires(test: bool, out: &mut String) -> bool {
    if test {
        out.push('1');
    }
    test
}

fn lower(string: &str, out: &mut String) {
    if string.is_ascii() {
        out.push_str(string);
        out.make_ascii_lowercase();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(f: Function, s: &str) -> Option<String> {
        let mut out = String::new();
        f.apply(s, &mut out).then_some(out)
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
        assert_eq!(apply(Function::BriefShape, "McDonald's"), some("XxXx'x"));
        assert_eq!(apply(Function::BriefShape, "1,234.5%"), some("0,0.0%"));
        assert_eq!(apply(Function::HasDigit, "a1"), some("1"));
        assert_eq!(apply(Function::HasDigit, "a"), None);
        assert_eq!(apply(Function::HasHyphen, "a-b"), some("1"));
        assert_eq!(apply(Function::AllUpper, "U.S."), some("1"));
        assert_eq!(apply(Function::AllUpper, "123"), None);
        assert_eq!(apply(Function::FirstUpper, "Ab"), some("1"));
        assert_eq!(apply(Function::FirstUpper, ""), None);
    }
}
