//! SAG-NUS: SAG with non-uniform sampling (Schmidt, Le Roux & Bach 2013, section 5.5).
//!
//! ```text
//! with probability (n - m)/n:  i uniform among those not seen yet;  else among the m seen, in proportion to
//!                              (L_i + l2) + (mean L + l2)
//! L_i: first 1 (`lipschitz`), halved at every return, then searched;   largest L: falls by 2^(-1/n) per step
//! alpha = (n - m)/n / (max L + l2) + m/n (1/(max L + l2) + 1/(mean L + l2)) / 2
//! ```
//!
//! Everything else is [`Sag`](crate::sag::Sag). `sag-nus-star` is the better one of the two (Schmidt et al. 2015).

use crate::sampling::{Found, Sampling};
use crate::table::WHY;
use crate::trees::Tree;
use seqoia_core::cast::real;
use seqoia_core::param::Settings;
use seqoia_core::{Data, Mix, Random, Slot};

/// An estimate for each example, which is drawn in proportion to it.
#[derive(Clone, Debug)]
pub(crate) struct Nus {
    first: f64,
    l2: f64,
    l: Vec<f64>, // [n] the estimates; 0: not seen yet
    most: f64,
    seen: usize,
    by_l: Tree,
    new: Tree, // 1 for those not seen yet
}

impl Nus {
    pub(crate) fn new(settings: &Settings, l2: f64) -> Self {
        let first = settings.number("lipschitz");
        Nus { first, l2, l: vec![], most: 0.0, seen: 0, by_l: Tree::default(), new: Tree::default() }
    }

    fn mean(&self) -> f64 {
        self.by_l.sum() / real(self.seen.max(1))
    }

    /// How far the examples have been seen, from 0 to 1.
    fn progress(&self) -> f64 {
        real(self.seen) / real(self.l.len())
    }
}

impl Sampling for Nus {
    fn begin(&mut self, n: usize) -> bool {
        if self.l.is_empty() {
            self.l = vec![0.0; n];
        }
        self.seen = self.l.iter().filter(|l| **l > 0.0).count();
        self.by_l = Tree::new(&self.l);
        let new: Vec<f64> = self.l.iter().map(|l| if *l > 0.0 { 0.0 } else { 1.0 }).collect();
        self.new = Tree::new(&new);
        self.l.len() == n
    }

    fn draw(&self, random: &mut Random) -> usize {
        let [kind, share] = [random.unit(), random.unit()];
        if kind >= self.progress() {
            return self.new.draw(share);
        }
        // (L_i + l2) + (mean L + l2): half of the mass goes by L_i + l2, half is the same for all that were seen.
        let by_l = self.by_l.sum() / (self.by_l.sum() + real(self.seen) * self.l2);
        if random.unit() < 0.5 * by_l {
            return self.by_l.draw(share);
        }
        // A uniform one of those that were seen: most have been, soon.
        loop {
            let id = random.below(self.l.len());
            if self.l[id] > 0.0 {
                return id;
            }
        }
    }

    fn probability(&self, id: usize) -> f64 {
        let progress = self.progress();
        if self.l[id] == 0.0 {
            return (1.0 - progress) / self.new.sum();
        }
        let all = 2.0 * (self.by_l.sum() + real(self.seen) * self.l2);
        progress * (self.l[id] + self.mean() + 2.0 * self.l2) / all
    }

    fn first(&self, id: usize) -> Option<f64> {
        Some(if self.l[id] > 0.0 { 0.5 * self.l[id] } else { self.first })
    }

    fn learn(&mut self, id: usize, found: Option<Found>) {
        let Some(found) = found else { return };
        if self.l[id] == 0.0 {
            self.seen += 1;
            self.new.set(id, 0.0);
        }
        self.l[id] = found.l;
        self.by_l.set(id, found.l);
        self.most = found.l.max(self.most * (-1.0 / real(self.l.len())).exp2());
    }

    fn step(&self, l2: f64) -> f64 {
        let (most, mean) = (1.0 / (self.most + l2), 1.0 / (self.mean() + l2));
        let progress = self.progress();
        (1.0 - progress) * most + progress * 0.5 * (most + mean)
    }

    fn change_l2(&mut self, l2: f64) {
        self.l2 = l2;
    }

    fn state(&mut self) -> Vec<Slot<'_>> {
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        vec![slot("lipschitz", Data::F64(&mut self.l)), slot("most", Data::Real(&mut self.most))]
    }
}
