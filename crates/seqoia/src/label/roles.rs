//! Columns of a column file that are not what they are taken for: numbers of tokens in place of the word, words in
//! place of the label. The first tokens tell.

use std::collections::HashSet;

use seqoia_data::format::{Block, Format, Guess, Kind};

use super::suspects::Suspect;
use crate::error::counted;

/// Tokens that are looked at.
const SAMPLE: usize = 2000;
/// So many tokens tell that numbers go up.
const FEW: usize = 5;
/// So many tell what varies.
const SOME: usize = 50;
/// Values that are named.
const NAMED: usize = 3;

/// The number of each token stands in this column.
pub(crate) fn numbers(format: &dyn Format, block: &Block, column: usize) -> Option<Suspect> {
    if format.kind() != Kind::Columns || !is_numbered(block, column) {
        return None;
    }
    let cut = if format.separator() == '\t' { "cut -f 2-" } else { "cut -d ' ' -f 2-" };
    Some(Suspect {
        fatal: true,
        line: Some(block.line(0)),
        what: format!("column {column} holds the number of each token, and is taken for the word"),
        help: format!(
            "take it out, such as by {cut}; or read the word from another column with a template file"
        ),
    })
}

/// From 0 or 1 in each sentence, or on and on in the file. Words of several tokens (`3-4`) and empty ones (`3.1`) of
/// CoNLL-U stand between.
fn is_numbered(block: &Block, column: usize) -> bool {
    let (mut counted, mut last, mut long) = (0, None, false);
    for sentence in block.sentences() {
        let mut place = 0;
        for i in sentence.tokens {
            let field = block.field(i, column);
            let Ok(number) = field.parse::<u64>() else {
                match field.split_once(['-', '.']).map(|(a, b)| [a, b].map(|n| n.parse::<u64>().is_ok())) {
                    Some([true, true]) => continue,
                    _ => return false,
                }
            };
            let goes_on = last.is_some_and(|last: u64| number == last.saturating_add(1));
            if !goes_on && (place > 0 || number > 1) {
                return false;
            }
            (last, place, counted) = (Some(number), place + 1, counted + 1);
            long |= place > 2;
            if counted == SAMPLE {
                return true;
            }
        }
    }
    counted >= FEW && long
}

/// The last column is taken for the label, and looks like words, while the first looks like labels.
pub(crate) fn label_first(format: &dyn Format, block: &Block) -> Option<Suspect> {
    let last = format.columns().checked_sub(1).filter(|last| *last > 0)?;
    if format.kind() != Kind::Columns {
        return None;
    }
    let tokens = block.tokens().len().min(SAMPLE);
    let mut seen = [0, last].map(|_| HashSet::new());
    let mut named: Vec<&str> = vec![];
    for i in 0..tokens {
        if seen[0].insert(block.field(i, 0)) && named.len() < NAMED {
            named.push(block.field(i, 0));
        }
        seen[1].insert(block.field(i, last));
    }
    let [first, words] = [seen[0].len(), seen[1].len()];
    let outside = |label: &&str| *label == "O";
    let chunks = seen[0].iter().all(|label| outside(label) || is_chunk(label))
        && seen[0].iter().any(|label| is_chunk(label))
        && !seen[1].iter().any(|label| outside(label) || is_chunk(label));
    let varies = tokens >= SOME && 5 * first <= words && 4 * words >= tokens;
    (chunks || varies).then(|| Suspect {
        fatal: true,
        line: Some(block.line(0)),
        what: format!(
            "column {last}, the last, is taken for the label, but has {} in the first {}, while column 0 looks like \
             labels: {}{}",
            counted(words, "different value"),
            counted(tokens, "token"),
            named.join(" "),
            if first > NAMED { " and so on" } else { "" }
        ),
        help: match format.guess() {
            Some(guess @ Guess::Like(Kind::Crfsuite)) => guess.help().to_owned(),
            _ => format!(
                "say which column is the label: `label 0`, or `label {last}` if it is the last after all; or, if a row is \
                 a label and its features, `format crfsuite`"
            ),
        },
    })
}

/// A label such as `B-X`.
pub(crate) fn is_chunk(label: &str) -> bool {
    matches!(label.as_bytes(), [b'B' | b'I' | b'E' | b'S' | b'M' | b'L' | b'U' | b'W', b'-', _, ..])
}

/// Labels that would be chunk labels but for quotes around them, or for a small letter or a zero in place of `O`: what
/// is wrong with them.
pub(crate) fn nearly_chunks<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    fn mended(label: &str) -> &str {
        let inner =
            ['"', '\''].iter().find_map(|q| label.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(label);
        if matches!(inner, "o" | "0") { "O" } else { inner }
    }
    let mut all = labels.clone().map(mended);
    let first = labels.clone().find(|label| mended(label) != *label)?;
    let chunks = all.clone().any(is_chunk) && all.all(|label| label == "O" || is_chunk(label));
    chunks.then(|| format!("labels look like chunks but for {first}, which would be {}", mended(first)))
}

/// What to do about them.
pub(crate) const MEND: &str = "mend them: as they are, each label is learned and scored by itself";

#[cfg(test)]
mod tests {
    use seqoia_data::format::{Blocks, Reader};
    use seqoia_data::open::Input;

    use super::*;

    fn told(text: &str) -> [bool; 2] {
        let mut reader = Reader::new(Blocks::new(Input::from_bytes("a", text).unwrap()), None).unwrap();
        let format = reader.format();
        let block = reader.peek().unwrap().unwrap();
        [numbers(&*format, block, 0).is_some(), label_first(&*format, block).is_some()]
    }

    #[test]
    fn numbers_of_tokens_are_seen_and_words_that_are_numbers_are_left_alone() {
        for text in [
            "1 a X\n2 b Y\n3 c X\n\n1 d X\n2 e Y\n",
            "0 a X\n1 b Y\n2 c X\n\n0 d X\n1 e Y\n",
            "1 a X\n2 b Y\n3 c X\n\n4 d X\n5 e Y\n",
            "1-2 ab _\n1 a X\n2 b Y\n3 c X\n3.1 x _\n4 d X\n5 e Y\n",
        ] {
            assert_eq!(told(text), [true, false], "{text}");
        }
        for text in [
            "1 X\n2 X\n3 X\n",
            "1 X\n2 X\n3 X\n5 X\n6 X\n",
            "1 X\n\n1 X\n\n1 X\n\n1 X\n\n1 Y\n",
            "a X\nb Y\n",
        ] {
            assert_eq!(told(text), [false, false], "{text}");
        }
    }

    #[test]
    fn labels_that_come_first_are_seen() {
        assert_eq!(told("B-PER Anna\nO sees\nO Rome\n"), [false, true]);
        let many: String = (0..100).map(|i| format!("{} w{i}\n", ["N", "V"][i % 2])).collect();
        assert_eq!(told(&many), [false, true]);
        let few: String = (0..100).map(|i| format!("{} w{}\n", ["a", "b"][i % 2], i % 7)).collect();
        for text in [&few, "Anna B-PER\nsees O\n", "O O\nO B-X\n", "a X\nb Y\n"] {
            assert_eq!(told(text), [false, false], "{text}");
        }
    }

    #[test]
    fn labels_that_are_nearly_chunks() {
        let told = |labels: &[&str]| nearly_chunks(labels.iter().copied()).is_some();
        assert!(told(&["o", "B-PER", "I-PER"]) && told(&["\"O\"", "\"B-PER\""]) && told(&["0", "B-X"]));
        assert!(
            !told(&["O", "B-PER"]) && !told(&["o", "x"]) && !told(&["o", "B-X", "NN"]) && !told(&["o", "O"])
        );
    }
}
