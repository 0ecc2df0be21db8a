//! Tagged text: a sentence a line, its words between blanks, each with its label behind a slash.
//!
//! ```text
//! The/DT 1\/2/CD cat/NN ./.
//! ```
//!
//! The last slash splits, so a word may hold slashes and a label may not. A file in whose first line
//! some word has no slash, or nothing behind it, has no labels at all; otherwise every word has one.
//! Blanks between words are kept when labels are written.

use memchr::memrchr;

use super::Kind;
use super::block::{Block, Format, Place, Problem, Rows, Span};
use super::copy::{Copy, Labelled};
use super::write::{Outgoing, Refusal, refuse};
use crate::error::Result;

/// The format, as the first line of a file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tagged {
    /// Words have labels.
    pub labelled: bool,
}

impl Tagged {
    /// The format of a file that starts with this text; none if it has no word.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        let line = block.text().lines().find(|line| !line.trim().is_empty())?;
        Some(Self { labelled: line.split_whitespace().all(|word| slash(word).is_some()) })
    }

    fn find(self, text: &str, rows: &mut Rows) -> std::result::Result<(), Problem> {
        let mut start = 0;
        for (line, row) in (0..).zip(text.split('\n')) {
            for word in row.split_whitespace() {
                let at = start + (word.as_ptr() as usize - row.as_ptr() as usize);
                let end = at + word.len();
                match (self.labelled, slash(word)) {
                    (false, _) => rows.field(at, end),
                    (true, Some(slash)) => {
                        rows.field(at, at + slash);
                        rows.field(at + slash + 1, end);
                    }
                    (true, None) => {
                        let what = format!("'{word}' has no label");
                        let help = "a word and its label look like cat/NN, as in the first line of the file";
                        return Err((line, what, help.to_owned()));
                    }
                }
                rows.token(Span::new(at, end), line);
            }
            rows.end_sentence();
            start += row.len() + 1;
        }
        Ok(())
    }
}

/// Where word and label part, if there are both.
pub(super) fn slash(word: &str) -> Option<usize> {
    memrchr(b'/', word.as_bytes()).filter(|&at| at > 0 && at + 1 < word.len())
}

/// Whether it cannot stand between blanks.
fn bad(text: &str) -> bool {
    text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '\0')
}

impl Format for Tagged {
    fn kind(&self) -> Kind {
        Kind::Tagged
    }

    fn columns(&self) -> usize {
        1 + usize::from(self.labelled)
    }

    fn label(&self) -> Place {
        if self.labelled { Place::Fixed(1) } else { Place::Missing }
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, |text, rows| self.find(text, rows))
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        (bad(label) || label.contains('/')).then_some("holds a slash or a blank, or is empty")
    }

    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        for (i, name, _) in labelled.iter() {
            let Some(&word) = copy.block.spans(i).first() else { continue };
            copy.upto(word.end, out);
            out.push(b'/');
            out.extend_from_slice(name.as_bytes());
            copy.at = copy.block.tokens().get(i).map_or(copy.at, |token| token.span.range().end);
        }
    }
}

/// Writes a sentence.
pub(super) fn write(sentence: &Outgoing<'_>, out: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
    for (t, row) in sentence.rows.iter().enumerate() {
        let Some(&word) = row.fields.first() else {
            return refuse("a token without a word has no place in a text");
        };
        match row.label {
            _ if bad(word) => return refuse(format!("{word:?} is empty or holds a blank")),
            None if word.contains('/') => {
                return refuse(format!("'{word}' has a slash and no label, so it would get one"));
            }
            _ => (),
        }
        if t > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(word.as_bytes());
        if let Some(label) = row.label {
            out.push(b'/');
            out.extend_from_slice(label.as_bytes());
        }
    }
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn read(text: &str) -> Result<(Block, Box<dyn Format>)> {
        let mut blocks = Blocks::new(Input::from_bytes("a.txt", text)?);
        let mut block = Block::default();
        let format = first(&mut blocks, &mut block, Some(Kind::Tagged))?;
        format.parse("a.txt", &mut block)?;
        Ok((block, format))
    }

    fn put(block: &Block, format: &dyn Format, label: &str) -> String {
        let (mut copy, mut out) = (Copy::new(block, 1, 1), vec![]);
        for s in block.sentences() {
            let names = vec![label.to_owned(); s.tokens.len()];
            format.put(
                &mut copy,
                &Labelled { tokens: s.tokens, names: &names, probabilities: None, beside: &[] },
                &mut out,
            );
        }
        copy.rest(format, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_and_labels() {
        let (block, format) = read("\n1/2/CD  ///X a/B\r\n\nc/D").unwrap();
        assert_eq!((format.columns(), format.label(), block.len()), (2, Place::Fixed(1), 2));
        let rows: Vec<Vec<&str>> = (0..4).map(|i| block.columns(i).collect()).collect();
        assert_eq!(rows, [["1/2", "CD"], ["//", "X"], ["a", "B"], ["c", "D"]]);
        assert_eq!(put(&block, &*format, "Y"), "\n1/2/Y  ///Y a/Y\r\n\nc/Y");
    }

    #[test]
    fn words_alone() {
        for text in ["a b/c\nd\n", "a/ b/c\nd\n"] {
            let (block, format) = read(text).unwrap();
            assert_eq!((format.columns(), format.label()), (1, Place::Missing));
            assert_eq!(block.columns(1).collect::<Vec<_>>(), ["b/c"]);
            assert_eq!(put(&block, &*format, "Y"), text.replace(' ', "/Y ").replace('\n', "/Y\n"));
        }
        let error = read("a/A b/B\n\nc/C d\n").unwrap_err().to_string();
        assert!(error.starts_with("a.txt:3: 'd' has no label\n"), "{error}");
    }
}
