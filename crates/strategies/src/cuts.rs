//! Structure regularisation: sequences cut at random places, anew in each pass, whose pieces are examples of their own
//! (Sun 2014). Features still see the whole sentence; pairs of labels across a cut are not learned.
//!
//! ```text
//! a sequence of T tokens has k = T/N pieces, rounded, one at least
//! its j-th cut is uniform among the places nearest to j T/k,   j = 1 .. k - 1
//! ```
//!
//! So a piece has N tokens on average and about 2 N at most. Sun draws lengths; here the number of pieces is fixed, so that
//! it is the same in every pass: with m pieces of n sequences
//!
//! ```text
//! (1/n) sum of losses + (l2/2) |w|^2   =   (m/n) ( (1/m) sum of losses + (l2 n/m)/2 |w|^2 )
//! ```
//!
//! and a learner that takes pieces for examples and is given `l2 n/m` minimises the objective of the n sequences.

use seqoia_core::cast::narrow;
use seqoia_core::{Error, Lane, Question, Random, Result, Structure};

/// A piece of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the sequence.
    pub id: u32,
    /// Where it begins.
    pub from: u32,
    /// Where it ends; this place is the next one's.
    pub to: u32,
}

/// The pieces of a pass.
#[derive(Clone, Debug)]
pub struct Cuts {
    length: usize,
    pieces: Vec<Piece>,
}

impl Cuts {
    /// Pieces of `length` tokens on average; none are cut before [`Cuts::draw`].
    ///
    /// # Errors
    /// A structure whose examples cannot be cut.
    pub fn new(structure: &dyn Structure, length: usize) -> Result<Cuts> {
        if !structure.offers().contains(&Question::Stretches) {
            let what = format!("a {} does not offer {}", structure.name(), Question::Stretches.name());
            return Err(Error::Mismatch(what));
        }
        Ok(Cuts { length: length.max(1), pieces: Vec::with_capacity(Self::number(structure, length)) })
    }

    /// How many pieces all examples have, in every pass.
    #[must_use]
    pub fn number(structure: &dyn Structure, length: usize) -> usize {
        (0..structure.examples()).map(|id| pieces_of(structure.size(id), length)).sum()
    }

    /// Cuts all examples for a pass.
    pub fn draw(&mut self, structure: &dyn Structure, random: &mut Random) {
        self.pieces.clear();
        for id in 0..structure.examples() {
            let size = structure.size(id);
            let pieces = pieces_of(size, self.length);
            // Places from `border(j)` up to `border(j + 1)` are those nearest to the j-th cut.
            let border = |j: usize| ((2 * j - 1) * size).div_ceil(2 * pieces);
            let mut from = 0;
            for j in 1..=pieces {
                let to = if j == pieces { size } else { border(j) + random.below(border(j + 1) - border(j)) };
                self.pieces.push(Piece { id: narrow(id), from: narrow(from), to: narrow(to) });
                from = to;
            }
        }
    }

    /// The pieces, in the order of the sequences.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Tokens of a piece.
    pub(crate) fn size(&self, piece: usize) -> usize {
        let Piece { from, to, .. } = self.pieces[piece];
        (to - from) as usize
    }

    pub(crate) fn open(&self, lane: &mut dyn Lane, piece: usize) -> Result<f64> {
        let Piece { id, from, to } = self.pieces[piece];
        lane.open_stretch(id as usize, from as usize, to as usize)
    }
}

/// How many pieces so many tokens have.
fn pieces_of(size: usize, length: usize) -> usize {
    let length = length.max(1);
    let rest = size % length;
    (size / length + usize::from(rest >= length - rest)).max(1) // rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pieces_are_rounded() {
        let of = |length: usize| (0..8).map(|size| pieces_of(size, length)).collect::<Vec<_>>();
        assert_eq!(of(1), [1, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(of(2), [1, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(of(3), [1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(of(usize::MAX), [1; 8]);
    }
}
