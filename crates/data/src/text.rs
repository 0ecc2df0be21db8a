//! Small texts that are read as a whole: templates, patterns, rules, lists of words.

use std::io::Read;

use seqoia_core::cast::{real64, single};

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

/// A number as most are written: digits, with a point or without. Rounded to the nearest, as the standard library
/// does. None for all others, and for those that need more bits.
#[inline]
pub(crate) fn short_number(text: &str) -> Option<f32> {
    const TENS: [f64; 19] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
    ];
    const EXACT: u64 = 1 << 53;
    /// Bits of a double that a single does not have, and what they are halfway between two singles.
    const REST: u64 = (1 << 29) - 1;
    const HALFWAY: u64 = 1 << 28;
    let plain = text.strip_prefix('-');
    let digits = plain.unwrap_or(text).as_bytes();
    if digits.len() >= TENS.len() {
        return None;
    }
    let (mut number, mut point) = (0u64, digits.len());
    for (i, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            b'.' if point == digits.len() => point = i,
            _ => return None,
        }
    }
    let behind = if point == digits.len() { 0 } else { digits.len() - point - 1 };
    if point == 0 || point + 1 == digits.len() || number >= EXACT {
        return None;
    }
    // Both are exact, so this is the double that is nearest; rounded again it is the nearest single unless it lies
    // just between two of them.
    let near = real64(number) / TENS[behind];
    if near.to_bits() & REST == HALFWAY {
        return None;
    }
    Some(if plain.is_some() { -single(near) } else { single(near) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Clusters, Lexica, Names, WordList, crfpp, wapiti};
    use crate::rules::RuleTable;
    use seqoia_core::Random;
    use seqoia_core::cast::narrow;

    #[test]
    fn short_numbers_are_those_of_the_library() {
        let mut random = Random::new(1, 0, 0, "numbers");
        // Halfway between two singles, and just beside; more bits than fit; other ways to write one.
        let odd = [
            "16777217",
            "16777217.0000001",
            "16777216.9999999",
            "33554434.0",
            "0",
            "-0",
            "0.0",
            "-0.0",
            "1.",
            ".5",
            "-",
            "",
            ".",
            "-.",
            "+1",
            "1e3",
            "1e-40",
            "inf",
            "nan",
            "1..2",
            "1.2.3",
            "--1",
            "1_0",
            " 1",
            "0.1",
            "0.30000001192092896",
            "123456789012345678",
            "1234567890123456789",
            "9007199254740993",
            "00012.50",
        ];
        let mut taken = 0;
        let mut check = |text: &str| {
            let slow = text.parse::<f32>().ok().map(f32::to_bits);
            if let Some(fast) = short_number(text) {
                assert_eq!(Some(fast.to_bits()), slow, "{text}");
                taken += 1;
            }
        };
        odd.iter().for_each(|text| check(text));
        for _ in 0..100_000 {
            let digits = random.below(17);
            let number = random.below(10usize.pow(narrow(digits)).max(1));
            let text = format!("{number:0digits$}");
            let point = random.below(digits + 1);
            let sign = if random.below(4) == 0 { "-" } else { "" };
            check(&format!("{sign}{}.{}", &text[..point], &text[point..]));
            check(&format!("{sign}{number}"));
        }
        assert!(taken > 100_000);
        assert_eq!(short_number("-1.5"), Some(-1.5));
    }

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
