//! A list of numbers of each example, in single precision. Whoever keeps a sum of what is stored must move it by the
//! difference of the rounded numbers, or it drifts away from the table.
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

/// How many numbers an example takes; the note is scratch.
pub(crate) type Length<'a> = dyn Fn(&mut Case<'_>, &mut Note) -> usize + Sync + 'a;

/// Where the numbers of each example begin, and where the last ones end.
pub(crate) fn starts(team: &mut dyn Team, length: &Length<'_>) -> Result<Vec<usize>> {
    let (mut starts, mut end) = (vec![0], 0);
    let look = |case: &mut Case<'_>, note: &mut Note| {
        note.own[0] = real(length(case, note));
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
    pub(crate) fn begin(&mut self, team: &mut dyn Team, length: &Length<'_>) -> Result<()> {
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

    /// Whether anything of this example has been stored.
    pub(crate) fn has(&self, id: usize) -> bool {
        self.seen[id] == 1
    }

    /// Puts `new - old` in `difference`, `new` rounded.
    pub(crate) fn subtract(&self, id: usize, new: &[f64], difference: &mut Vec<f64>) -> Result<()> {
        difference.clear();
        let old = self.of(id)?;
        difference.extend(new.iter().zip(&*old).map(|(new, old)| f64::from(single(*new)) - f64::from(*old)));
        Ok(())
    }

    /// Stores numbers, rounded.
    pub(crate) fn keep(&mut self, id: usize, new: &[f64]) -> Result<()> {
        let range = self.starts[id]..self.starts[id + 1];
        match &self.shelf {
            None => self.values[range].iter_mut().zip(new).for_each(|(old, new)| *old = single(*new)),
            Some(shelf) => {
                let new: Vec<f32> = new.iter().map(|new| single(*new)).collect();
                shelf.put(range.start, &new)?;
            }
        }
        self.stored += usize::from(std::mem::replace(&mut self.seen[id], 1) == 0);
        Ok(())
    }

    pub(crate) fn state(&mut self) -> [Slot<'_>; 2] {
        [
            Slot { name: "table", mix: Mix::Never(WHY), data: Data::F32(&mut self.values) },
            Slot { name: "seen", mix: Mix::Never(WHY), data: Data::U32(&mut self.seen) },
        ]
    }
}
