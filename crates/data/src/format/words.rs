//! Segmented text: a sentence a line, its words between blanks. A token is a character.
//!
//! The labels say how characters make words, in BMES: `B` first, `M` inside, `E` last, `S` alone. They
//! stand nowhere in the file, so there is no mistake to be made in them; other schemes are made from
//! them ([`crate::scheme`]). In a text that is to be labelled blanks do not matter: they are no tokens,
//! and what is written has one between two words. Empty lines stay, so that lines keep their numbers.
//! Any white space of Unicode is a blank.

use super::Kind;
use super::block::{Block, Format, Place, Problem, Rows, Span};
use super::copy::{Copy, Labelled};
use super::write::{Outgoing, Refusal, refuse};
use crate::error::Result;
use crate::scheme::{Scheme, spans};

/// The format; it has nothing to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words;

/// The scheme of its labels.
pub const SCHEME: Scheme = Scheme::Bmes;

impl Words {
    /// The format, if the text has a token.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        (!block.text().trim().is_empty()).then_some(Self)
    }
}

fn find(text: &str, rows: &mut Rows) -> std::result::Result<(), Problem> {
    let [first, inner, last, alone] = ["B", "M", "E", "S"].map(|label| rows.own(label));
    let mut start = 0;
    for (line, row) in (0..).zip(text.split('\n')) {
        for word in row.split(char::is_whitespace).filter(|word| !word.is_empty()) {
            // Words are slices of the row, so their places are differences.
            let at = start + (word.as_ptr() as usize - row.as_ptr() as usize);
            for (i, c) in word.char_indices() {
                let end = i + c.len_utf8();
                rows.field(at + i, at + end);
                rows.field_at(match (i == 0, end == word.len()) {
                    (true, true) => alone,
                    (true, false) => first,
                    (false, true) => last,
                    (false, false) => inner,
                });
                rows.token(Span::new(at + i, at + end), line);
            }
        }
        rows.end_sentence();
        start += row.len() + 1;
    }
    Ok(())
}

impl Format for Words {
    fn kind(&self) -> Kind {
        Kind::Words
    }

    fn columns(&self) -> usize {
        2
    }

    fn label(&self) -> Place {
        Place::Fixed(1)
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, find)
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        let says = matches!(label, "B" | "M" | "E" | "S");
        (!says).then_some("does not say which characters make a word")
    }

    /// Labels are those of [`SCHEME`].
    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        let names: Vec<&str> = labelled.names.iter().map(String::as_str).collect();
        let mut words = spans(SCHEME, &names).into_iter().map(|word| word.start).peekable();
        for (t, (i, ..)) in labelled.iter().enumerate() {
            let Some(token) = copy.block.tokens().get(i) else { continue };
            let Span { start, end } = token.span;
            copy_line_ends(copy, start as usize, out);
            if words.next_if_eq(&t).is_some() && t > 0 {
                out.push(b' ');
            }
            copy.upto(end, out);
        }
    }
}

/// Whether any line of a block has more than one word. Raw text has none: its lines are not words that someone found.
#[must_use]
pub fn is_cut(block: &Block) -> bool {
    block.sentences().any(|s| s.tokens.clone().skip(1).any(|i| matches!(block.field(i, 1), "B" | "S")))
}

/// The text up to this byte, in which there are no tokens and so nothing but white space; of that, line ends count.
pub(super) fn copy_line_ends(copy: &mut Copy<'_>, end: usize, out: &mut Vec<u8>) {
    let between = copy.block.text().as_bytes().get(copy.at..end).unwrap_or_default();
    out.extend(between.iter().filter(|byte| matches!(byte, b'\r' | b'\n')));
    copy.at = end;
}

/// Writes a sentence: characters joined to words as their labels in `scheme` say; without one, every
/// token is a word.
pub(super) fn write(
    sentence: &Outgoing<'_>,
    scheme: Option<Scheme>,
    out: &mut Vec<u8>,
) -> std::result::Result<(), Refusal> {
    let mut tokens = vec![];
    for row in &sentence.rows {
        match row.fields.first() {
            Some(word) if word.is_empty() || word.contains(char::is_whitespace) => {
                return refuse(format!("{word:?} is empty or holds a blank"));
            }
            Some(word) if scheme.is_some() && word.chars().count() > 1 => {
                return refuse(format!("'{word}' is no single character, and labels say what makes a word"));
            }
            Some(&word) => tokens.push(word),
            None => return refuse("a token without a word has no place in a text"),
        }
    }
    let labels: Vec<&str> = sentence.rows.iter().map(|row| row.label.unwrap_or("")).collect();
    let words: Vec<String> = match scheme {
        None => tokens.iter().map(|&word| word.to_owned()).collect(),
        Some(scheme) => {
            let words = spans(scheme, &labels);
            if let Some(word) = words.iter().find(|word| !word.kind.is_empty()) {
                return refuse(format!("words have no types, and this one is '{}'", word.kind));
            }
            let covered: usize = words.iter().map(|word| word.end - word.start).sum();
            if covered < tokens.len() {
                return refuse("a character is in no word");
            }
            words.iter().map(|word| tokens[word.start..word.end].concat()).collect()
        }
    };
    out.extend_from_slice(words.join(" ").as_bytes());
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn read(text: &str) -> (Block, Box<dyn Format>) {
        let mut blocks = Blocks::new(Input::from_bytes("a.txt", text).unwrap());
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Words)).unwrap();
        format.parse("a.txt", &mut block).unwrap();
        (block, format)
    }

    #[test]
    fn characters_and_their_labels() {
        let text = "\n１９９８年  我\u{3000}爱a \r\n \n是";
        let (block, format) = read(text);
        assert_eq!((block.text(), format.columns()), (text, 2));
        let sentence = |i: usize| {
            let tokens = block.sentence(i).tokens;
            tokens.map(|i| block.columns(i).collect::<Vec<_>>().concat()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sentence(0), "１B ９M ９M ８M 年E 我S 爱B aE");
        assert_eq!((sentence(1).as_str(), block.len(), block.sentence(1).line), ("是S", 2, 4));
    }

    #[test]
    fn labels_become_blanks() {
        let (block, format) = read("  我 爱你\r\n\n是 \n");
        let (mut copy, mut out) = (Copy::new(&block, 1, 1), vec![]);
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let put = |copy: &mut Copy<'_>, tokens, labels, out: &mut Vec<u8>| {
            format.put(
                copy,
                &Labelled { tokens, names: &names(labels), probabilities: None, beside: &[] },
                out,
            );
        };
        put(&mut copy, 0..3, "B E S", &mut out);
        put(&mut copy, 3..4, "M", &mut out);
        copy.rest(&*format, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "我爱 你\r\n\n是\n");
    }
}
