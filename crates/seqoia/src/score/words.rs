//! Which words training has seen: from its data, or from a list.

use std::collections::HashSet;

use seqoia_data::format::{Blocks, Kind, Place, Reader};
use seqoia_data::open::Input;

use crate::error::Result;
use crate::label::options::LabelColumn;

/// A row that starts a document is no word that a model could not know.
const DOCUMENT: &str = "-DOCSTART-";

/// The words of labelled data, in the format `kind` if it is not to be recognised.
///
/// # Errors
/// Data that cannot be read or has no words.
pub fn words_of_data(input: Input, kind: Option<Kind>, label: &LabelColumn) -> Result<HashSet<String>> {
    let mut reader = Reader::new(Blocks::new(input), kind)?;
    let format = reader.format();
    let label = match (format.label(), label) {
        (Place::Fixed(column), _) => Some(column),
        (_, LabelColumn::Number(number)) => Some(*number),
        // Words alone will do: that the last column is the label is not said of a file without labels.
        _ => None,
    };
    let Some(column) = format.kind().word(format.columns(), label) else {
        let kind = format.kind().name();
        let what = format!("there are no words (it was read as {kind})");
        return Err(seqoia_data::Error::new(reader.name(), what).into());
    };
    let mut words = HashSet::from([DOCUMENT.to_owned()]);
    while let Some(block) = reader.next()? {
        for i in 0..block.tokens().len() {
            let word = block.field(i, column);
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        }
    }
    Ok(words)
}

/// The words of a text between blanks and line ends: a list, or segmented text.
///
/// # Errors
/// A text that cannot be read or is not UTF-8.
pub fn words_of_text(input: Input) -> Result<HashSet<String>> {
    let (name, text) = super::text(input)?;
    let text = String::from_utf8(text).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        seqoia_data::Error::at(name, line as u64 + 1, "not UTF-8")
            .help("convert the file; if it is GB 18030: iconv -f GB18030 -t UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn input(text: &str) -> Input {
        Input::from_bytes("x", text).unwrap()
    }

    fn sorted(words: HashSet<String>) -> Vec<String> {
        let mut words: Vec<String> = words.into_iter().collect();
        words.sort();
        words
    }

    fn words(text: &str, kind: Option<Kind>, label: Option<usize>) -> Result<HashSet<String>> {
        words_of_data(input(text), kind, &label.map_or(LabelColumn::Last, LabelColumn::Number))
    }

    #[test]
    fn of_every_format() {
        let own = |text: &str, kind, label| {
            let mut words = sorted(words(text, Some(kind), label).unwrap());
            words.retain(|word| word != DOCUMENT);
            words
        };
        assert_eq!(own("1\tThe\t_\t_\tDT\t_\t0\t_\t_\t_\n", Kind::Conllx, Some(4)), ["The"]);
        assert_eq!(own("a/X b/Y\n", Kind::Tagged, None), ["a", "b"]);
        assert_eq!(own("ab c\n", Kind::Words, None), ["a", "b", "c"]);
        assert_eq!(own("{\"tokens\": [\"a b\"], \"labels\": [\"X\"]}\n", Kind::Jsonl, None), ["a b"]);
        assert_eq!(own("X a q\nY b r\n", Kind::Columns, Some(0)), ["a", "b"]);
        let error = words("X\ta\n", Some(Kind::Crfsuite), None).unwrap_err();
        assert_eq!(error.to_string(), "x: there are no words (it was read as crfsuite)");
    }

    #[test]
    fn of_columns_of_conllu_and_of_lists() {
        let columns = words("-DOCSTART- O\n\na X\nb X\n\na Y\n", None, None).unwrap();
        assert_eq!(sorted(columns), [DOCUMENT, "a", "b"]);
        let conllu = words("1\tThe\tthe\tDET\tDT\t_\t0\troot\t_\t_\n", None, None).unwrap();
        assert_eq!(sorted(conllu), [DOCUMENT, "The"]);
        assert_eq!(sorted(words_of_text(input("\u{feff}b a\r\n\na　c\n")).unwrap()), ["a", "b", "c"]);
        let error = words_of_text(Input::from_bytes("x", b"a\nb\n\xff".to_vec()).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("x:3: not UTF-8\n  help: convert"), "{error}");
    }
}
