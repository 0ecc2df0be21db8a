//! Images of handwritten letters, as Kassel's words in Taskar's form have them (`letter.data`).
//!
//! A letter a line, between tabs: its id, the letter, the id of the next letter of the word (-1 behind
//! the last), the word's number, the position in it, the fold of cross-validation, then 16 rows of 8
//! pixels, each 0 or 1. A word is a sequence; the letter is the label; the attributes of a letter are
//! the pixels that are set, `p_0_0` to `p_15_7`.
//! See Taskar, Guestrin and Koller, "Max-Margin Markov Networks" (2003).

use memchr::memchr;

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

/// What is read of a row.
#[derive(Debug, PartialEq)]
struct Letter<'a> {
    id: &'a str,
    letter: &'a str,
    next: &'a str,
    /// A bit for each pixel that is set, the first one lowest.
    pixels: u128,
}

/// A row whose pixels take a byte each, as all do in which nothing is wrong; the others are left to [`read`].
fn quick(row: &str) -> Option<Letter<'_>> {
    /// Moves the lowest bit of each byte into the highest byte, in order.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let row = row.trim_end_matches('\r');
    let (mut head, mut start) = ([""; HEAD], 0);
    for field in &mut head {
        let length = row.as_bytes()[start..].iter().position(|&byte| byte == b'\t')?;
        *field = &row[start..start + length];
        start += length + 1;
    }
    let pixels = row.as_bytes()[start..].as_chunks::<2>();
    let last = match pixels {
        (_, []) => *pixels.0.last()?,
        (_, [last]) => [*last, b'\t'], // the row ends with it
        _ => return None,
    };
    let others = pixels.0.get(..HEIGHT * WIDTH - 1)?;
    if pixels.0.len() + pixels.1.len() != HEIGHT * WIDTH {
        return None;
    }
    let (mut bits, mut wrong) = ([0; HEIGHT * WIDTH], 0);
    for (bit, &[pixel, tab]) in bits.iter_mut().zip(others.iter().chain([&last])) {
        *bit = pixel ^ b'0';
        wrong |= (*bit & !1) | (tab ^ b'\t');
    }
    let numbers = head.iter().enumerate().filter(|(column, _)| *column != LETTER);
    if wrong != 0 || head[LETTER].is_empty() || numbers.into_iter().any(|(_, field)| !is_number(field)) {
        return None;
    }
    let pixels = bits.as_chunks::<8>().0.iter().rev().fold(0, |pixels, word| {
        pixels << 8 | u128::from(u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56)
    });
    Some(Letter { id: head[0], letter: head[LETTER], next: head[NEXT], pixels })
}

/// Whether a field is surely an integer of 64 bits.
fn is_number(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field).as_bytes();
    (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// Any row, field by field; or what is wrong with it.
fn read(row: &str) -> std::result::Result<Letter<'_>, String> {
    let fields = split(row)?;
    let set = (0..).zip(&fields[HEAD..]).filter(|(_, pixel)| **pixel == "1");
    let pixels = set.fold(0, |pixels, (i, _)| pixels | 1 << i);
    Ok(Letter { id: fields[0], letter: fields[LETTER], next: fields[NEXT], pixels })
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
    for line in 0.. {
        let here = start;
        let Some(rest) = text.get(here..) else { break };
        let row = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
        start += row.len() + 1;
        if is_blank(row.as_bytes()) {
            continue;
        }
        let help = "id, letter, next id, word, position, fold and 128 pixels stand between tabs";
        let found = quick(row).map_or_else(|| read(row), Ok).map_err(|what| (line, what, help.to_owned()))?;
        if let Some(next) = next.filter(|next| *next != found.id) {
            let what = format!("found letter {}, expected {next}, the next of its word", found.id);
            return Err((
                line,
                what,
                "the letters of a word stand in order; the last has -1 as next id".to_owned(),
            ));
        }
        let letter = here + found.id.len() + 1;
        rows.field(letter, letter + found.letter.len());
        let mut pixels = found.pixels;
        while pixels != 0 {
            rows.attribute(names[pixels.trailing_zeros() as usize], 1.0);
            pixels &= pixels - 1;
        }
        rows.token_with_attributes(Span::new(here, here + row.trim_end_matches('\r').len()), line);
        next = Some(found.next).filter(|next| *next != "-1");
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

    #[test]
    fn a_quick_look_at_a_row_finds_what_a_slow_one_finds() {
        let (mut state, mut taken) = (1u64, 0);
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..20_000 {
            let mut fields: Vec<String> = ["17", "ë", "-1", "3", "+4", "0"].map(str::to_owned).into();
            fields[4] =
                ["4", "4", "4", "-5", "+4", "99999999999999999999", "-", "", "4x"][below(9)].to_owned();
            fields.extend((0..128).map(|_| below(2).to_string()));
            let odd = ["", "2", "01", "1 ", "0\t1", "/", "ë", "1\r"];
            match below(6) {
                0 => fields[below(134)] = odd[below(odd.len())].to_owned(),
                1 => drop(fields.remove(below(134))),
                2 => fields.insert(below(134), "1".to_owned()),
                _ => {}
            }
            let row = fields.join("\t") + ["", "\t", "\r", "\t\r", "\t\t", "\r\t"][below(6)];
            let found = quick(&row);
            taken += usize::from(found.is_some());
            assert!(found.is_none() || found == super::read(&row).ok(), "{row}");
        }
        assert!(taken > 2000, "{taken}");
    }
}
