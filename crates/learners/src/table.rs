//! What is remembered of each example: the gradient of its loss in parts, in single precision.
//!
//! Parts of a chain are the labels of each position and the label pairs, added up over positions, so this is the "mixed"
//! form of Schmidt et al. 2015, section 5.1: T K + K K numbers per sequence, however many features it has. Whoever keeps a
//! sum of all gradients must move it by the difference of what is stored, rounded, or it drifts away from the table.
//!
//! Where the team lends a shelf, the numbers lie there instead of in memory, and a checkpoint cannot hold them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::sweep::sweep;
use seqoia_core::cast::{real, single};
use seqoia_core::{Case, Data, Error, Mix, Note, Result, Shelf, Slot, Team};

/// Why learners with a table cannot be mixed.
pub(crate) const WHY: &str =
    "it remembers a gradient of every example, and copies would remember different ones";

/// How many numbers an example takes.
pub(crate) type Length = fn(&Case<'_>) -> usize;

/// Where the numbers of each example begin, and where the last ones end.
pub(crate) fn starts(team: &mut dyn Team, length: Length) -> Result<Vec<usize>> {
    let (mut starts, mut end) = (vec![0], 0);
    let look = |case: &mut Case<'_>, note: &mut Note| {
        note.own[0] = real(length(case));
        Ok(())
    };
    sweep(team, &look, |notes, _| {
        for note in notes {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it was a length
            let length = note.own[0] as usize;
            end += length;
            starts.push(end);
        }
        Ok(())
    })?;
    Ok(starts)
}

/// A list of numbers for each example.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    starts: Vec<usize>, // [n + 1]
    values: Vec<f32>,
    shelf: Option<Arc<dyn Shelf>>, // in place of `values`
    seen: Vec<u32>,                // [n] 1: it has been stored
    stored: usize,                 // how many have
}

impl Table {
    /// Room for `length` numbers of each example, unless they are there; called at every rest, too.
    pub(crate) fn begin(&mut self, team: &mut dyn Team, length: Length) -> Result<()> {
        let n = team.examples();
        if self.starts.len() != n + 1 {
            self.starts = starts(team, length)?;
        }
        let length = self.starts.last().copied().unwrap_or(0);
        if self.seen.is_empty() {
            self.shelf = team.shelf(length)?;
            self.values = vec![0.0; if self.shelf.is_some() { 0 } else { length }];
            self.seen = vec![0; n];
        }
        if self.shelf.is_none() && self.values.len() != length || self.seen.len() != n {
            return Err(Error::other_state());
        }
        self.stored = self.seen.iter().filter(|seen| **seen == 1).count();
        Ok(())
    }

    pub(crate) fn of(&self, id: usize) -> Result<Cow<'_, [f32]>> {
        let range = self.starts[id]..self.starts[id + 1];
        let Some(shelf) = &self.shelf else { return Ok(Cow::Borrowed(&self.values[range])) };
        let mut numbers = vec![0.0; range.len()];
        shelf.get(range.start, &mut numbers)?;
        Ok(Cow::Owned(numbers))
    }

    /// How many examples have been stored.
    pub(crate) fn stored(&self) -> usize {
        self.stored
    }

    /// Puts `new - old` in `difference`, `new` rounded, and keeps `new` if `keeps`.
    pub(crate) fn replace(
        &mut self,
        id: usize,
        new: &[f64],
        keeps: bool,
        difference: &mut Vec<f64>,
    ) -> Result<()> {
        let range = self.starts[id]..self.starts[id + 1];
        let mut lent = vec![]; // the numbers of a shelf
        let old = match &self.shelf {
            None => &mut self.values[range.clone()],
            Some(shelf) => {
                lent.resize(range.len(), 0.0);
                shelf.get(range.start, &mut lent)?;
                &mut lent[..]
            }
        };
        difference.clear();
        difference
            .extend(new.iter().zip(old.iter()).map(|(new, old)| f64::from(single(*new)) - f64::from(*old)));
        if keeps {
            old.iter_mut().zip(new).for_each(|(old, new)| *old = single(*new));
            if let Some(shelf) = &self.shelf {
                shelf.put(range.start, &lent)?;
            }
            self.stored += usize::from(std::mem::replace(&mut self.seen[id], 1) == 0);
        }
        Ok(())
    }

    pub(crate) fn state(&mut self) -> [Slot<'_>; 2] {
        [
            Slot { name: "table", mix: Mix::Never(WHY), data: Data::F32(&mut self.values) },
            Slot { name: "seen", mix: Mix::Never(WHY), data: Data::U32(&mut self.seen) },
        ]
    }
}
