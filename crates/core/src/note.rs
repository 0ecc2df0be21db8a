//! What goes from workers to `learn`: one [`Note`] per example, its buffers used again and again.

use crate::Delta;

/// `phi(gold) - phi(found)`, what it should win by, and what it wins by now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Violation {
    /// The difference of the feature vectors.
    pub delta: Delta,
    /// The cost of what was found.
    pub cost: f64,
    /// `w . delta`, without cost: negative if what was found scores higher.
    pub margin: f64,
}

/// Evaluations: counted in [`crate::Case`], and by the team for sums over whole passes.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Losses with marginals.
    pub gradients: u64,
    /// Losses alone.
    pub losses: u64,
    /// Searches.
    pub searches: u64,
    /// Hessian products.
    pub tangents: u64,
}

impl std::ops::AddAssign for Asked {
    fn add_assign(&mut self, other: Asked) {
        self.gradients += other.gradients;
        self.losses += other.losses;
        self.searches += other.searches;
        self.tangents += other.tangents;
    }
}

impl Asked {
    /// All evaluations that cost a sweep over an example.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.gradients + self.losses + self.searches + self.tangents
    }
}

/// What `look` found out about one example.
#[derive(Clone, Debug, Default)]
pub struct Note {
    /// Number of the example.
    pub id: usize,
    /// Weight c of the example; `Case` has put it into loss and parts, not into violations.
    pub weight: f64,
    /// For the report; must be finite.
    pub loss: f64,
    /// Something scores at least as high as gold, costs aside.
    pub wrong: bool,
    /// Log-linear learners: the gradient in parts, for `Team::spread`.
    pub parts: Vec<f64>,
    /// The same in rows, where `look` needed them.
    pub delta: Delta,
    /// What else `look` tells `learn`: a step, a norm, a gain.
    pub own: [f64; 4],
    /// What was asked.
    pub asked: Asked,
    violations: Vec<Violation>,
    found: usize,
}

impl Note {
    /// Begins a new note in the old buffers.
    pub fn clear(&mut self, id: usize, weight: f64) {
        (self.id, self.weight, self.loss, self.wrong) = (id, weight, 0.0, false);
        (self.own, self.asked, self.found) = ([0.0; 4], Asked::default(), 0);
        self.parts.clear();
        self.delta.clear();
    }

    /// Room for one more violation, empty.
    pub fn violation(&mut self) -> &mut Violation {
        if self.found == self.violations.len() {
            self.violations.push(Violation::default());
        }
        self.found += 1;
        let v = &mut self.violations[self.found - 1];
        (v.cost, v.margin) = (0.0, 0.0);
        v.delta.clear();
        v
    }

    /// The violations that were found, best first.
    #[must_use]
    pub fn found(&self) -> &[Violation] {
        &self.violations[..self.found]
    }

    /// The same, to be merged or sorted out.
    pub fn found_mut(&mut self) -> &mut [Violation] {
        &mut self.violations[..self.found]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_forgets_but_keeps_its_buffers() {
        let mut note = Note::default();
        note.clear(3, 2.0);
        let v = note.violation();
        v.delta.share(&[1.0, 2.0]);
        v.cost = 4.0;
        note.clear(4, 1.0);
        assert!(note.found().is_empty());
        let v = note.violation();
        assert!(v.delta.pool.is_empty() && v.delta.pool.capacity() >= 2);
        assert_eq!((v.cost, note.found().len()), (0.0, 1));
    }
}
