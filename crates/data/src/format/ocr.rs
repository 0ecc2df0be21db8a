//! Images of handwritten letters, as Kassel's words in Taskar's form have them (`letter.data`).
//!
//! A letter a line, between tabs: its id, the letter, the id of the next letter of the word (-1 behind
//! the last), the word's number, the position in it, the fold of cross-validation, then 16 rows of 8
//! pixels, each 0 or 1. A word is a sequence; the letter is the label; the attributes of a letter are
//! the pixels that are set, `p_0_0` to `p_15_7`.
//! See Taskar, Guestrin and Koller, "Max-Margin Markov Networks" (2003).

use super::Kind;
use super::block::{Block, Format, Place, Problem, Rows, Span, is_blank};
use super::columns::{NO_FIELD, is_field};
use super::copy::{Copy, Labelled};
use crate::error::Result;

const HEIGHT: usize = 16;
const WIDTH: usize = 8;
/// Columns before the pixels.
const HEAD: usize = 6;
/// The letter, and the id of the next one.
const LETTER: usize = 1;
const NEXT: usize = 2;

/// The format; it has nothing to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ocr;

/// Whether a word ends with this line.
pub(super) fn ends(line: &[u8]) -> bool {
    line.split(|&byte| byte == b'\t').nth(NEXT) == Some(b"-1")
}

/// Whether this line is one of the format.
pub(super) fn can_start(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|line| split(line).is_ok())
}

impl Ocr {
    /// The format, if the text has a row.
    #[must_use]
    pub fn detect(block: &Block) -> Option<Self> {
        block.text().lines().any(|line| !is_blank(line.as_bytes())).then_some(Self)
    }
}

/// The fields of a row, if all is as it must be.
fn split(row: &str) -> std::result::Result<Vec<&str>, String> {
    // The file as it was published has a tab at the end of each row.
    let row = row.trim_end_matches('\r');
    let fields: Vec<&str> = row.strip_suffix('\t').unwrap_or(row).split('\t').collect();
    let expected = HEAD + HEIGHT * WIDTH;
    if fields.len() != expected {
        return Err(format!("found {} columns, expected {expected}", fields.len()));
    }
    for (column, field) in fields.iter().enumerate().take(HEAD).filter(|(column, _)| *column != LETTER) {
        if field.parse::<i64>().is_err() {
            return Err(format!("'{field}' in column {column} is no number"));
        }
    }
    if fields[LETTER].is_empty() {
        return Err("there is no letter".to_owned());
    }
    match fields[HEAD..].iter().find(|pixel| !matches!(**pixel, "0" | "1")) {
        Some(pixel) => Err(format!("the pixel '{pixel}' is neither 0 nor 1")),
        None => Ok(fields),
    }
}

fn find(text: &str, rows: &mut Rows) -> std::result::Result<(), Problem> {
    let names: Vec<Span> = (0..HEIGHT * WIDTH)
        .map(|pixel| rows.own(&format!("p_{}_{}", pixel / WIDTH, pixel % WIDTH)))
        .collect();
    let mut start = 0;
    let mut next = None;
    for (line, row) in (0..).zip(text.split('\n')) {
        let here = start;
        start += row.len() + 1;
        if is_blank(row.as_bytes()) {
            continue;
        }
        let help = "id, letter, next id, word, position, fold and 128 pixels stand between tabs";
        let fields = split(row).map_err(|what| (line, what, help.to_owned()))?;
        if let Some(next) = next.filter(|next| *next != fields[0]) {
            let what = format!("found letter {}, expected {next}, the next of its word", fields[0]);
            return Err((
                line,
                what,
                "the letters of a word stand in order; the last has -1 as next id".to_owned(),
            ));
        }
        let letter = here + fields[0].len() + 1;
        rows.field(letter, letter + fields[LETTER].len());
        for (name, pixel) in names.iter().zip(&fields[HEAD..]) {
            if *pixel == "1" {
                rows.attribute(*name, 1.0);
            }
        }
        rows.token_with_attributes(Span::new(here, here + row.trim_end_matches('\r').len()), line);
        next = Some(fields[NEXT]).filter(|next| *next != "-1");
        if next.is_none() {
            rows.end_sentence();
        }
    }
    rows.end_sentence();
    Ok(())
}

impl Format for Ocr {
    fn kind(&self) -> Kind {
        Kind::Ocr
    }

    fn columns(&self) -> usize {
        1
    }

    fn label(&self) -> Place {
        Place::Fixed(0)
    }

    fn ready(&self) -> bool {
        true
    }

    fn parse(&self, file: &str, block: &mut Block) -> Result<()> {
        block.find(file, find)
    }

    fn refuses_label(&self, label: &str) -> Option<&'static str> {
        (!is_field(label)).then_some(NO_FIELD)
    }

    fn put(&self, copy: &mut Copy<'_>, labelled: &Labelled<'_>, out: &mut Vec<u8>) {
        labelled.iter().for_each(|(i, name, _)| copy.replace_label(i, name, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Blocks, first};
    use crate::open::Input;

    fn row(id: u32, letter: &str, next: i32, pixel: usize) -> String {
        let pixels: Vec<&str> = (0..128).map(|i| if i == pixel { "1" } else { "0" }).collect();
        format!("{id}\t{letter}\t{next}\t1\t1\t0\t{}", pixels.join("\t"))
    }

    fn read(text: &str, size: usize) -> Result<Vec<String>> {
        let mut blocks = Blocks::with_size(Input::from_bytes("letter.data", text)?, size);
        let (mut block, mut words) = (Block::default(), vec![]);
        let format = first(&mut blocks, &mut block, None)?;
        assert_eq!(format.kind(), Kind::Ocr);
        loop {
            format.parse("letter.data", &mut block)?;
            let letter = |i| {
                format!("{}:{} ", block.field(i, 0), block.attributes(i).map(|a| a.0).collect::<String>())
            };
            words.extend(block.sentences().map(|s| s.tokens.map(letter).collect::<String>()));
            if !blocks.fill(&mut block)? {
                return Ok(words);
            }
        }
    }

    #[test]
    fn words_are_chains_of_ids() {
        let text = [row(1, "o", 2, 0), row(2, "m", -1, 9) + "\t\r", row(5, "x", -1, 127)].join("\n");
        for size in [1, 300, 10_000] {
            assert_eq!(read(&text, size).unwrap(), ["o:p_0_0 m:p_1_1 ", "x:p_15_7 "]);
        }
        let error =
            read(&[row(1, "o", 2, 0), row(3, "m", -1, 9)].join("\n"), 10_000).unwrap_err().to_string();
        assert!(error.starts_with("letter.data:2: found letter 3, expected 2"), "{error}");
        let error =
            read(&[row(1, "o", 2, 0), row(2, "m", -1, 9) + "\t1"].join("\n"), 9).unwrap_err().to_string();
        assert!(error.starts_with("letter.data:2: found 135 columns, expected 134"), "{error}");
    }
}
