//! Small texts that are read as a whole: templates, patterns, rules, lists of words.

use std::io::Read;

use crate::error::{Error, Result};
use crate::format::checked;
use crate::open::{Input, RAISE_LIMIT};

/// An input as text, of at most a quarter of its [limit](Input::limit).
///
/// # Errors
/// It cannot be read or unpacked, is too large, is binary or is not UTF-8; with the line.
pub fn read(mut input: Input) -> Result<String> {
    let (mut bytes, most) = (vec![], input.limit() / 4);
    let read = (&mut input).take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|e| Error::from_io(&input.name, &e))?;
    if bytes.len() > most {
        let what =
            format!("the text is larger than {}, which is too large to be read as a whole", size(most));
        return Err(Error::new(input.name, what).help(RAISE_LIMIT));
    }
    checked(&input.name, 1, bytes).map_err(|(error, _)| error)
}

/// Bytes in a sentence.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..0x10_0000 => format!("{bytes} bytes"),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes.div_ceil(1 << 20)),
        _ => format!("{} GiB", bytes.div_ceil(1 << 30)),
    }
}

/// The lines of a text with their numbers. An editor may have put a byte-order mark before the first, which is
/// no part of it.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines())
}

/// What is wrong with a line of JSON. The line is always the first, and names stand between quotes as elsewhere:
/// backquotes are for options.
#[must_use]
pub fn told(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", ", at byte ").replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Clusters, Lexica, Names, WordList, crfpp, wapiti};
    use crate::rules::RuleTable;

    #[test]
    fn a_mark_before_the_text_changes_nothing() {
        let marked = |text: &str| format!("\u{feff}{text}");
        let lists = |text: &str| {
            let (mut names, mut words) = (Names::default(), WordList::default());
            names.read("l", "f", text).unwrap();
            words.read("f", text).unwrap();
            Lexica { names, words, ..Lexica::default() }.digest()
        };
        assert_eq!(lists("Rome\nOslo\n"), lists(&marked("Rome\nOslo\n")));
        let clusters = |text: &str| {
            Lexica { clusters: Clusters::read("c", text).unwrap(), ..Lexica::default() }.digest()
        };
        assert_eq!(clusters("01\ta\n"), clusters(&marked("01\ta\n")));
        let template = "U0:%x[0,0]\n";
        assert_eq!(crfpp::parse("t", template).unwrap(), crfpp::parse("t", &marked(template)).unwrap());
        let pattern = "u:%x[0,0]\n";
        assert_eq!(wapiti::parse("p", pattern).unwrap(), wapiti::parse("p", &marked(pattern)).unwrap());
        let rule = "forbid O I\n";
        assert_eq!(RuleTable::parse("r", rule).unwrap(), RuleTable::parse("r", &marked(rule)).unwrap());
    }

    #[test]
    fn a_small_archive_of_much_text_is_refused() {
        let packed = zstd::encode_all(std::io::repeat(b'a').take(3 << 20), 3).unwrap();
        assert!(packed.len() < 1000);
        let read = |limit| read(Input::from_bytes("list", packed.clone()).unwrap().with_limit(limit));
        assert_eq!(read(12 << 20).unwrap().len(), 3 << 20);
        let error = read((12 << 20) - 4).unwrap_err().to_string();
        assert!(error.starts_with("list: the text is larger than 3 MiB, which"), "{error}");
        assert!(error.contains("`limit` raises this bound"), "{error}");
    }

    #[test]
    fn what_is_no_text_has_a_line_and_a_place() {
        let error = |bytes: &[u8]| read(Input::from_bytes("list", bytes).unwrap()).unwrap_err().to_string();
        assert!(error(b"Rome\ncaf\xe9\n").starts_with("list:2: byte 4 of the line, 0xE9, is not UTF-8"));
        assert!(error(b"\xff\xfeR\0").starts_with("list:1: the text is UTF-16"));
        assert_eq!(read(Input::from_bytes("list", "Oslo\n").unwrap()).unwrap(), "Oslo\n");
    }
}
