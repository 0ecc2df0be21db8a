//! Rows of a column file that are not what they seem: a row of column names, two labels glued together, a file that
//! is one sentence. `train` refuses what must not be learned from, `check` tells all of it.

use crate::error::Error;

/// What people call the column of the label.
const HEADERS: [&str; 15] = [
    "label", "labels", "tag", "tags", "ner", "ner_tag", "ner_tags", "pos", "pos_tag", "chunk", "chunks",
    "entity", "iob", "bio", "class",
];

/// What to do about a row of names.
pub(crate) const NO_HEADER: &str = "a column file has no row of names: take it out, such as by tail -n +2";

/// Whether people call a column of labels so.
pub(crate) fn is_header(name: &str) -> bool {
    HEADERS.contains(&name.to_lowercase().as_str())
}

/// A sentence of more tokens is rarely meant, if it is the only one.
const LONG: usize = 500;

/// A label of a file.
pub(crate) struct Met<'a> {
    pub(crate) name: &'a str,
    pub(crate) count: u64,
    /// Of its first token.
    pub(crate) line: u64,
}

/// What is suspicious.
pub(crate) struct Suspect {
    /// Nothing can be learned from it.
    pub(crate) fatal: bool,
    pub(crate) line: Option<u64>,
    pub(crate) what: String,
    pub(crate) help: String,
}

impl Suspect {
    /// As an error about a file.
    pub(crate) fn error(self, file: &str) -> Error {
        seqoia_data::Error::at(file, self.line.unwrap_or(0), self.what).help(self.help).into()
    }
}

/// Looks at the labels of a column file, in order of appearance.
pub(crate) fn find(labels: &[Met<'_>], sentences: usize, tokens: usize) -> Vec<Suspect> {
    let mut found = vec![];
    if let Some(first) = labels.first().filter(|l| l.count == 1 && tokens > 1)
        && is_header(first.name)
    {
        found.push(Suspect {
            fatal: true,
            line: Some(first.line),
            what: format!("the label '{}' stands in the first row alone: is this a header?", first.name),
            help: NO_HEADER.to_owned(),
        });
    }
    let is_label = |part: &str| labels.iter().any(|label| label.name == part);
    let glued = |name: &str| {
        let mut parts = name.split([' ', '\t']).filter(|part| !part.is_empty());
        name.contains([' ', '\t']) && parts.all(is_label)
    };
    if let Some(label) = labels.iter().find(|label| glued(label.name)) {
        found.push(Suspect {
            fatal: true,
            line: Some(label.line),
            what: format!("'{}' is two labels: tabs separate the columns, but not these two", label.name),
            help: "separate all columns in the same way, such as by sed 's/ /\\t/g'".to_owned(),
        });
    }
    if sentences == 1 && tokens > LONG {
        found.push(Suspect {
            fatal: false,
            line: None,
            what: format!("there is no empty line, so {tokens} tokens are one sentence"),
            help: "an empty line ends a sentence".to_owned(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(labels: &[(&str, u64)], sentences: usize, tokens: usize) -> Vec<String> {
        let met: Vec<Met<'_>> =
            (1..).zip(labels).map(|(line, (name, count))| Met { name, count: *count, line }).collect();
        find(&met, sentences, tokens).into_iter().map(|s| format!("{} {}", s.fatal, s.what)).collect()
    }

    #[test]
    fn headers_glue_and_missing_ends_are_seen_and_labels_are_left_alone() {
        assert!(told(&[("Tag", 1), ("O", 9)], 3, 10)[0].starts_with("true the label 'Tag' stands"));
        assert!(told(&[("I-NP", 3), ("O", 9), ("I-NP O", 2)], 3, 14)[0].starts_with("true 'I-NP O' is two"));
        assert!(told(&[("O", 900)], 1, 900)[0].starts_with("false there is no empty line"));
        for labels in [&[("pos", 2), ("neg", 4)][..], &[("O", 5), ("class", 1)], &[("a b", 2), ("a", 3)]] {
            assert!(told(labels, 3, 6).is_empty(), "{labels:?}");
        }
        assert!(told(&[("label", 1)], 1, 1).is_empty());
    }
}
