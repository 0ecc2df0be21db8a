//! A model as text, and back: one line a weight, with exact numbers.
//!
//! ```text
//! seqoia model text 1
//! digest      d2b65cf4e3a51b6a          of the model; tells whether the text was changed
//! sections    meta  strings.text ...    parts of the file, in order
//! meta        {"made_by":...}           what the model says about itself: labels, templates, training
//! # a remark                            such as which number a template has
//! transition  B-NP  I-NP  1.25          label, label behind it, weight
//! node        5  of  the  I-NP  -0.5    template, its values, label, weight
//! edge        9  of  B-NP  I-NP  0.125  template, its values, two labels, weight
//! cluster     0110  Paris               path, word
//! name        3  New York               bits of the lists that have it, entry or start of one
//! lower       3  new york               the same in lower case
//! word        1  中国                   1 and a word of the dictionary, 0 and what begins one
//! section     rules  u32                any other part: then lines `text` or `numbers`
//! ```
//!
//! Fields stand between tabs; in them `\t`, `\n`, `\r` and `\\` stand for a tab, line ends and a backslash.
//! Weights of one attribute stand together. Tables and layout are made anew by the code that writes models
//! after training, so an unchanged text gives the bytes of the model it was written from, and a changed one
//! a model in order: an attribute whose weights are gone is gone.

mod parts;
mod read;
mod write;

pub use read::{FromText, model_from_text};
pub use write::model_to_text;

use seqoia_model::Number;

use seqoia_model::codes::Bits;

/// Numbers that a section may hold, by name.
const KINDS: [(&str, u32); 6] = [
    (u8::NAME, u8::KIND),
    (u16::NAME, u16::KIND),
    (u32::NAME, u32::KIND),
    (u64::NAME, u64::KIND),
    (f32::NAME, f32::KIND),
    (f64::NAME, f64::KIND),
];

/// The first line.
const HEADER: &str = "seqoia model text 1";

/// Parts that have lines of their own; all others are written as numbers.
fn is_known(section: &str) -> bool {
    let (table, part) = section.split_once('.').unwrap_or((section, ""));
    match table {
        "meta" => part.is_empty(),
        "weights" => Bits::ALL.iter().any(|bits| bits.sections().contains(&section)),
        "strings" | "paths" => matches!(part, "text" | "starts" | "slots"),
        "nodes" => matches!(part, "keys" | "slots" | "numbers"),
        "edges" => matches!(part, "keys" | "slots"),
        "space" => matches!(part, "singles" | "estarts" | "epairs"),
        "clusters" => matches!(part, "text" | "starts" | "slots" | "paths"),
        "words" => matches!(part, "text" | "starts" | "slots" | "marks"),
        "names" | "lower" => matches!(part, "text" | "starts" | "slots" | "lists"),
        _ => false,
    }
}

/// Whether a text is a model.
pub(crate) fn is_model_text(text: &str) -> bool {
    text.starts_with("seqoia model text ")
}

/// Appends a field with its tabs and line ends escaped.
fn escape(field: &str, out: &mut String) {
    for c in field.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
}

/// The field that was escaped; none if a backslash stands before anything else.
fn unescape(field: &str) -> Option<String> {
    let mut out = String::with_capacity(field.len());
    let mut rest = field.chars();
    while let Some(c) = rest.next() {
        out.push(match c {
            '\\' => match rest.next()? {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_come_back(field in "(\\PC|[\t\n\r\\\\])*") {
            let mut escaped = String::new();
            escape(&field, &mut escaped);
            prop_assert!(!escaped.contains(['\t', '\n', '\r']));
            prop_assert_eq!(unescape(&escaped), Some(field));
        }
    }
}
