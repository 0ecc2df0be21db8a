//! What a sweep takes is what serde finds, on random lines with and without slips.

use super::*;
use crate::format::block::{Block, Format};
use crate::format::copy::{Copy, Labelled};
use proptest::prelude::*;

/// Random numbers, and random JSON of them: mostly what is meant to be read, with a slip here and there.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn blank(&mut self) -> &'static str {
        self.of(&["", "", "", "", " ", " ", "  ", "\t", "\r"])
    }

    fn string(&mut self) -> String {
        let parts = [
            "a",
            "b",
            "w",
            "word",
            "ë",
            "語",
            "𝄞",
            "word.lower()",
            ":",
            " ",
            "a long name of many bytes, ",
            "'",
            "[",
            "}",
            ",",
            "\\\"",
            "\\\\",
            "\\/",
            "\\n",
            "\\t",
            "\\u00eb",
            "\\u00EB",
            "\\ud834\\udd1e",
        ];
        let odd = ["\\u12", "\\ud834", "\\udd1e\\ud834", "\\x", "\t", "\u{1}", "\\", "\u{7f}"];
        let length = if self.below(150) == 0 { 0 } else { 1 + self.below(4) };
        let mut inside: String = (0..length).map(|_| self.of(&parts)).collect();
        if self.below(400) == 0 {
            inside.push_str(self.of(&odd));
        }
        format!("\"{inside}\"")
    }

    fn number(&mut self) -> String {
        let all = [
            "1",
            "0",
            "-0",
            "1.0",
            "0.5",
            "-2",
            "3.25",
            "1e-05",
            "2E+3",
            "1e12",
            "0.1234567890123456789",
            "123456789012345",
            "12345678901234567890123",
            "-0.0",
            "1.5e-7",
            "0.30000000000000004",
            "1e-400",
            "0e999999999999",
        ];
        let odd = ["01", "1.", ".5", "-", "1e", "1e13", "1e400", "+1", "1.2.3", "NaN", "0x1"];
        let all = if self.below(300) == 0 { &odd[..] } else { &all[..] };
        self.of(all).to_owned()
    }

    fn list(
        &mut self,
        [open, close]: [&str; 2],
        length: usize,
        mut item: impl FnMut(&mut Self) -> String,
    ) -> String {
        let mut text = open.to_owned();
        for i in 0..length {
            let comma = if i > 0 { "," } else { "" };
            text = format!("{text}{}{comma}{}{}", self.blank(), self.blank(), item(self));
        }
        format!("{text}{}{close}", self.blank())
    }

    fn pair(&mut self, depth: usize) -> String {
        let value = match self.below(if depth > 2 { 9 } else { 12 }) {
            0..4 => self.string(),
            4..7 => self.number(),
            7 | 8 => self.of(&["true", "false", "false", "false"]).to_owned(),
            _ => self.features(depth + 1),
        };
        let value =
            if self.below(500) == 0 { self.of(&["null", "tru", "falsey", ""]).to_owned() } else { value };
        format!("{}{}:{}{value}", self.string(), self.blank(), self.blank())
    }

    fn features(&mut self, depth: usize) -> String {
        let length = self.below(5);
        if self.below(2) == 0 {
            return self.list(["{", "}"], length, |random| random.pair(depth));
        }
        self.list(["[", "]"], length, |random| match random.below(4) {
            0 => random.list(["{", "}"], 2, |random| random.pair(depth)),
            _ => random.string(),
        })
    }

    fn other(&mut self, depth: usize) -> String {
        let length = self.below(3);
        match self.below(if depth > 3 { 3 } else { 5 }) {
            0 => self.string(),
            1 => self.number(),
            2 => self.of(&["true", "false", "null"]).to_owned(),
            3 => self.list(["[", "]"], length, |random| random.other(depth + 1)),
            _ => self.list(["{", "}"], length, |random| {
                format!("{}:{}{}", random.string(), random.blank(), random.other(depth + 1))
            }),
        }
    }

    fn line(&mut self, format: &Jsonl) -> String {
        let length = self.below(6) + usize::from(self.below(9) > 0);
        let brackets = ["[", "]"];
        let mut keys = vec![];
        if format.fields > 0 {
            let fields = if self.below(200) == 0 { 3 } else { format.fields };
            let token = |random: &mut Self| match fields {
                1 if random.below(2) == 0 => random.string(),
                _ => random.list(brackets, fields, Self::string),
            };
            keys.push(("tokens", self.list(brackets, length, token)));
        }
        if format.ready {
            keys.push(("features", self.list(brackets, length, |random| random.features(0))));
        }
        if format.labelled {
            let length = if self.below(200) == 0 { length + 1 } else { length };
            keys.push(("labels", self.list(brackets, length, Self::string)));
        }
        let document = self.of(&["1", "1", "\"1\"", "2", "null", "{\"a\": [1]}"]).to_owned();
        let more = [
            ("weight", self.number()),
            ("document", document),
            ("id", self.other(0)),
            ("probabilities", "[1]".to_owned()),
            ("labels", "null".to_owned()),
            ("l\\u0061bels", "[]".to_owned()),
            ("id", self.other(0)),
        ];
        for (i, pair) in more.into_iter().enumerate() {
            if self.below([5, 3, 4, 20, 200, 200, 9][i]) == 0 {
                keys.insert(self.below(keys.len() + 1), pair);
            }
        }
        if self.below(3) == 0 {
            keys.reverse();
        }
        let line = self.list(["{", "}"], keys.len(), |random| {
            let (key, value) = keys.remove(0);
            format!("\"{key}\"{}:{}{value}", random.blank(), random.blank())
        });
        let mut chars: Vec<char> = line.chars().collect();
        if self.below(12) == 0 {
            // A slip: something is missing, or too much.
            let at = self.below(chars.len());
            match self.below(3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(
                    at,
                    self.of(&["\"", ",", "\\", "]", "}", ":", "1", " ", "\u{2}"])
                        .chars()
                        .next()
                        .unwrap_or(' '),
                ),
                _ => chars.truncate(at),
            }
        }
        chars.into_iter().collect()
    }
}

/// All that there is to see of a text, and the text with labels; or what is wrong. And how often the sweep was enough.
fn seen(format: &Jsonl, text: &str, fast: bool) -> (std::result::Result<Vec<String>, String>, usize) {
    let mut block = Block::default();
    block.set_text(text.to_owned());
    if let Err(error) = block.find("f", |text, rows| format.find(text, rows, fast)) {
        return (Err(error.to_string()), 0);
    }
    let mut all = vec![format!("{:?} {:?}", block.marks(), block.text())];
    let (mut copy, mut out, mut swept) = (Copy::new(&block, format.fields, 1), vec![], 0);
    for sentence in block.sentences() {
        all.push(format!("{sentence:?} {}", block.weight(sentence.tokens.start)));
        for i in sentence.tokens.clone() {
            let attributes: Vec<_> = block.attributes(i).map(|(name, x)| (name, x.to_bits())).collect();
            all.push(format!(
                "{:?} {:?} {attributes:?}",
                block.tokens()[i].span,
                block.columns(i).collect::<Vec<_>>()
            ));
        }
        let names: Vec<String> = sentence.tokens.clone().map(|i| ["X", "\"ë\n"][i % 2].to_owned()).collect();
        let p = vec![0.5; names.len()];
        let probabilities = (sentence.line % 3 == 0).then_some(&p[..]);
        swept += usize::from(block.answer_place(sentence.tokens.start).is_some());
        format.put(
            &mut copy,
            &Labelled { tokens: sentence.tokens, names: &names, probabilities, beside: &[] },
            &mut out,
        );
    }
    copy.rest(format, &mut out);
    all.push(String::from_utf8(out).unwrap_or_default());
    (Ok(all), swept)
}

fn format(fields: usize, labelled: bool, ready: bool) -> Jsonl {
    Jsonl { fields, labelled, ready, keys: vec![] }
}

proptest! {
    #[test]
    fn a_sweep_finds_what_serde_finds(seed: u64) {
        let mut random = Random(seed);
        for (fields, ready) in [(0, true), (1, false), (2, true)] {
            let format = format(fields, random.below(2) == 0, ready);
            for lines in [1, 1, 1, 4] {
                let end = |random: &mut Random| random.of(&["\n", "\n", "\r\n", " \n", "\n\n", "\n \n"]);
                let text: String = (0..lines).map(|_| random.line(&format) + end(&mut random)).collect();
                let text = if random.below(2) == 0 { text.trim_end() } else { &text };
                prop_assert_eq!(seen(&format, text, true).0, seen(&format, text, false).0, "{}", text);
            }
        }
    }
}

#[test]
fn most_lines_are_read_in_one_sweep() {
    let (mut random, mut sentences, mut swept) = (Random(5), 0, 0);
    let format = format(1, true, true);
    for _ in 0..500 {
        let (Ok(_), found) = seen(&format, &random.line(&format), true) else { continue };
        sentences += 1;
        swept += found;
    }
    assert!(sentences > 100 && swept * 10 > sentences * 6, "{swept} of {sentences}");
}

#[test]
fn a_name_that_comes_twice_is_found_at_any_distance() {
    let format = format(0, false, true);
    for between in [0, 1, 30, 500, 1500] {
        for (first, second) in [("a", "a"), ("\\u0061", "a"), ("a", "b")] {
            let names: String = (0..between).map(|i| format!("\"n{i}\":{{\"x\":1}},")).collect();
            let line = format!("{{\"features\":[{{\"{first}\":1,{names}\"{second}\":\"x\"}}]}}");
            assert_eq!(seen(&format, &line, true).0, seen(&format, &line, false).0);
            assert_eq!(seen(&format, &line, true).0.is_ok(), second == "b");
        }
    }
}
