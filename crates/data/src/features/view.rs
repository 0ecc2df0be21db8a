//! What a view reads of one field.

use super::function::{NO, full_width, lower};
use super::{Boundary, Piece, Source};

/// Distances outside the sentence that Wapiti's words tell apart; further ones are like the last.
pub(super) const FAR: usize = 5;

/// A view of the sentence that pieces read: one array of numbers with room for the boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) source: Source,
    pub(super) boundary: Boundary,
    pub(super) fixed: Option<i16>, // one token's value everywhere: from 1, or back from -1
    pub(super) wide: bool,
    pub(super) fails: bool,
}

impl View {
    /// The view that a piece reads.
    pub(super) fn new(piece: &Piece) -> View {
        View {
            source: piece.source.clone(),
            boundary: piece.boundary,
            fixed: piece.fixed.then_some(piece.offset),
            wide: piece.wide,
            fails: piece.fails,
        }
    }

    /// Writes the value for a field into `out`, with the help of `wide`; false if there is none.
    pub(super) fn read(&self, field: &str, wide: &mut String, out: &mut String) -> bool {
        let field = self.in_width(field, wide);
        if let Source::Column(_, function) = self.source {
            let fires = function.apply(field, out);
            if !fires && self.fails && function.is_test() {
                out.push_str(NO);
                return true;
            }
            return fires;
        }
        out.clear();
        match &self.source {
            Source::Test(_, pattern) => {
                out.push_str(if pattern.find(field).is_some() { "true" } else { "false" })
            }
            Source::Match(_, pattern) => out.push_str(&field[pattern.find(field).unwrap_or(0..0)]),
            Source::MatchLower(_, pattern) => lower(&field[pattern.find(field).unwrap_or(0..0)], out),
            _ => return false,
        }
        true
    }

    /// A field in the width that is wanted; `wide` holds it if that is not its own.
    pub(super) fn in_width<'a>(&self, field: &'a str, wide: &'a mut String) -> &'a str {
        if !self.wide {
            return field;
        }
        wide.clear();
        wide.extend(field.chars().map(full_width));
        wide
    }

    /// Whether two fields are the same.
    pub(super) fn same(&self, a: &str, b: &str) -> bool {
        match self.wide {
            true => a.chars().map(full_width).eq(b.chars().map(full_width)),
            false => a == b,
        }
    }

    /// Writes what is read so far outside the sentence, on the side of `sign`; false if nothing is.
    pub(super) fn outside(&self, sign: char, distance: usize, wide: &mut String, out: &mut String) -> bool {
        out.clear();
        match self.boundary {
            Boundary::Plain => out.push_str(if sign == '-' { "<s>" } else { "</s>" }),
            Boundary::Numbered => out.push_str(&format!("_B{sign}{distance}")),
            Boundary::Words if distance < FAR => return self.read(&format!("_x{sign}{distance}"), wide, out),
            Boundary::Words => return self.read(&format!("_x{sign}#"), wide, out),
            Boundary::Nothing => return false,
        }
        true
    }
}

/// Index of a fixed place in a sentence of `length` tokens, or how far outside of it that is: before
/// (`Err` below 0) or behind.
pub(super) fn fixed(place: i16, length: usize) -> Result<usize, isize> {
    let length = length.cast_signed();
    let at = if place < 0 { length + isize::from(place) } else { isize::from(place) - 1 };
    match usize::try_from(at) {
        Ok(index) if at < length => Ok(index),
        Ok(_) => Err(at - length + 1),
        Err(_) => Err(at),
    }
}
