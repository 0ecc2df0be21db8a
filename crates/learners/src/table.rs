//! A list of numbers of each example, in single precision. Whoever keeps a sum of what is stored must move it by the
//! difference of the rounded numbers, or it drifts away from the table.

use crate::sweep::sweep;
use seqoia_core::cast::{real, single};
use seqoia_core::{Case, Data, Error, Mix, Note, Result, Slot, Team};

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
    seen: Vec<u32>, // [n] 1: it has been stored
    stored: usize,  // how many have
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
            self.values = vec![0.0; length];
            self.seen = vec![0; n];
        }
        if self.values.len() != length || self.seen.len() != n {
            return Err(Error::other_state());
        }
        self.stored = self.seen.iter().filter(|seen| **seen == 1).count();
        Ok(())
    }

    pub(crate) fn of(&self, id: usize) -> &[f32] {
        &self.values[self.starts[id]..self.starts[id + 1]]
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
    pub(crate) fn subtract(&self, id: usize, new: &[f64], difference: &mut Vec<f64>) {
        difference.clear();
        let both = new.iter().zip(self.of(id));
        difference.extend(both.map(|(new, old)| f64::from(single(*new)) - f64::from(*old)));
    }

    /// Stores numbers, rounded.
    pub(crate) fn keep(&mut self, id: usize, new: &[f64]) {
        let old = &mut self.values[self.starts[id]..self.starts[id + 1]];
        old.iter_mut().zip(new).for_each(|(old, new)| *old = single(*new));
        self.stored += usize::from(std::mem::replace(&mut self.seen[id], 1) == 0);
    }

    pub(crate) fn state(&mut self) -> [Slot<'_>; 2] {
        [
            Slot { name: "table", mix: Mix::Never(WHY), data: Data::F32(&mut self.values) },
            Slot { name: "seen", mix: Mix::Never(WHY), data: Data::U32(&mut self.seen) },
        ]
    }
}
