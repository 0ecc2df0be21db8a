//! SAG-NUS*: SAG with non-uniform sampling and fewer line searches (Schmidt et al. 2015, section 5).
//!
//! ```text
//! with probability 1/2:  i uniform in 1..n;   else among those seen, in proportion to L_i
//! L_i: new: half the mean of those known (the very first: `lipschitz`); at a return times 0.9; then searched
//! alpha = (1/(max L + l2) + 1/(mean L + l2)) / 2
//! ```
//!
//! After k searches in a row that were content with their first test, an example is spared the next 2^(k-1) of them (and
//! the factor 0.9 with them), which halves the number of evaluations late in training. The largest L is that of the
//! examples as they stand now, not one that decays as in `sag-nus`. Everything else is [`Sag`](crate::sag::Sag).

use crate::sampling::{Found, Sampling};
use crate::table::WHY;
use crate::trees::Tree;
use seqoia_core::cast::real;
use seqoia_core::param::Settings;
use seqoia_core::{Data, Mix, Random, Slot};

/// The longest row of content searches that counts.
const ROW: u32 = 30;
/// What an estimate is multiplied with before each search.
const RELAX: f64 = 0.9;

/// An estimate for each example; half of the draws are in proportion to it.
#[derive(Clone, Debug)]
pub(crate) struct NusStar {
    first: f64,
    l: Vec<f64>,    // [n] the estimates; 0: not seen yet
    row: Vec<u32>,  // [n] searches in a row that were content at once
    wait: Vec<u32>, // [n] draws for which no search is made
    seen: usize,
    by_l: Tree,
}

impl NusStar {
    pub(crate) fn new(settings: &Settings) -> Self {
        let first = settings.number("lipschitz");
        NusStar { first, l: vec![], row: vec![], wait: vec![], seen: 0, by_l: Tree::default() }
    }

    /// The mean of the estimates.
    pub(crate) fn mean(&self) -> f64 {
        self.by_l.sum() / real(self.seen.max(1))
    }

    /// The largest estimate.
    pub(crate) fn most(&self) -> f64 {
        self.by_l.most()
    }

    /// The tree of the estimates.
    pub(crate) fn by_l(&self) -> &Tree {
        &self.by_l
    }

    /// Of one example; that of one not seen yet is the one from which its first search would begin.
    pub(crate) fn estimate(&self, id: usize) -> f64 {
        match self.l[id] {
            0.0 if self.seen == 0 => self.first,
            0.0 => 0.5 * self.mean(),
            l => l,
        }
    }

    /// Gives every one of n examples the first estimate, unless it has one.
    pub(crate) fn know_all(&mut self, n: usize) {
        if self.l.is_empty() {
            (self.l, self.row, self.wait) = (vec![self.first; n], vec![0; n], vec![0; n]);
        }
    }

    /// How many examples there are.
    pub(crate) fn len(&self) -> usize {
        self.l.len()
    }
}

impl Sampling for NusStar {
    fn begin(&mut self, n: usize) -> bool {
        if self.l.is_empty() {
            self.l = vec![0.0; n];
            self.row = vec![0; n];
            self.wait = vec![0; n];
        }
        self.seen = self.l.iter().filter(|l| **l > 0.0).count();
        self.by_l = Tree::new(&self.l);
        [self.l.len(), self.row.len(), self.wait.len()] == [n; 3]
    }

    fn draw(&self, random: &mut Random) -> usize {
        if self.seen == 0 || random.unit() < 0.5 {
            return random.below(self.l.len());
        }
        self.by_l.draw(random.unit())
    }

    fn probability(&self, id: usize) -> f64 {
        let uniform = 1.0 / real(self.l.len());
        if self.seen == 0 { uniform } else { 0.5 * (uniform + self.l[id] / self.by_l.sum()) }
    }

    fn first(&self, id: usize) -> Option<f64> {
        match self.l[id] {
            0.0 => Some(self.estimate(id)),
            l if self.wait[id] == 0 => Some(RELAX * l),
            _ => None,
        }
    }

    fn learn(&mut self, id: usize, found: Option<Found>) {
        let Some(found) = found else {
            self.wait[id] = self.wait[id].saturating_sub(1);
            return;
        };
        self.seen += usize::from(self.l[id] == 0.0);
        self.l[id] = found.l;
        self.by_l.set(id, found.l);
        if found.doubled {
            self.row[id] = 0;
        } else if found.searched {
            self.row[id] = (self.row[id] + 1).min(ROW);
            self.wait[id] = 1 << (self.row[id] - 1);
        }
    }

    fn step(&self, l2: f64) -> f64 {
        0.5 * (1.0 / (self.most() + l2) + 1.0 / (self.mean() + l2))
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        vec![
            slot("lipschitz", Data::F64(&mut self.l)),
            slot("row", Data::U32(&mut self.row)),
            slot("wait", Data::U32(&mut self.wait)),
        ]
    }
}
