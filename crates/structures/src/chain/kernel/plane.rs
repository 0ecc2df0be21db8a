//! One worker's weights and gradient during a whole pass.
//!
//! A row of weights and the row of its gradient lie side by side: when the gradient of a sentence is added, a moment
//! after its scores were read, the cache lines are there. For that each worker has a copy of the rows, which is made
//! once per pass. Rows begin at cache lines. Other weights are read where they are (in single precision: from a copy),
//! and have a gradient of their own.

use super::super::Space;
use super::collect::{Touched, add_rows, add_singles};
use super::{Real, SpaceView};
use seqoia_core::Isa;

/// Weights and gradient of a worker.
#[derive(Clone, Debug, Default)]
pub struct Plane<R> {
    rows: Vec<R>,        // [dense][2][W] weights and gradient, from the first cache line on
    copy: Vec<R>,        // the other weights, if the learner's are in another precision
    transitions: Vec<R>, // [K][W] gradient
    singles: Vec<R>,     // gradient
    edges: Vec<R>,       // gradient
    touched: Touched,
    waits: bool, // a gradient waits to be collected
}

/// What a sum reads and what it adds to.
pub(super) struct Parts<'a, R> {
    /// `[dense][2][W]`
    pub(super) rows: &'a mut [R],
    pub(super) read: Read<'a, R>,
    pub(super) transitions: &'a mut [R],
    pub(super) singles: &'a mut [R],
    pub(super) edges: &'a mut [R],
    pub(super) touched: &'a mut Touched,
}

/// The weights that are not in rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a, R> {
    pub(super) transitions: &'a [R],
    pub(super) singles: &'a [R],
    pub(super) edges: &'a [R],
}

/// Numbers that fill a cache line.
const fn line<R>() -> usize {
    64 / size_of::<R>()
}

/// Where the first cache line begins.
fn first_line<R>(numbers: &[R]) -> usize {
    let past = numbers.as_ptr().addr() % 64;
    if past == 0 { 0 } else { (64 - past) / size_of::<R>() }
}

impl<R: Real> Plane<R> {
    /// Takes in the weights of the sums that follow.
    pub fn fill(&mut self, space: SpaceView<'_>, w: &[f64]) {
        let (width, matrix) = (space.width, space.rows_at());
        self.rows.resize(2 * space.dense * width + line::<R>(), R::ZERO);
        self.transitions.resize(matrix, R::ZERO);
        self.singles.resize(space.singles.len(), R::ZERO);
        self.edges.resize(space.edge_pairs.len(), R::ZERO);
        self.touched.resize(space);
        let first = first_line(&self.rows);
        let from = w[matrix..space.singles_at()].chunks_exact(width);
        for (to, from) in self.rows[first..].chunks_exact_mut(2 * width).zip(from) {
            to[..width].iter_mut().zip(from).for_each(|(to, from)| *to = R::from_f64(*from));
        }
        if R::same(w).is_none() {
            let rest = w[..matrix].iter().chain(&w[space.singles_at()..]);
            self.copy.clear();
            self.copy.extend(rest.map(|w| R::from_f64(*w)));
        }
    }

    /// The parts of it, `w` being the weights that it was filled with. What is added waits to be collected.
    pub(super) fn parts<'a>(&'a mut self, space: SpaceView<'_>, w: &'a [f64], adds: bool) -> Parts<'a, R> {
        let (matrix, singles) = (space.rows_at(), space.singles.len());
        let (transitions, rest) = match R::same(w) {
            Some(w) => (&w[..matrix], &w[space.singles_at()..]),
            None => self.copy.split_at(matrix),
        };
        let read = Read { transitions, singles: &rest[..singles], edges: &rest[singles..] };
        let first = first_line(&self.rows);
        self.waits |= adds;
        Parts {
            rows: &mut self.rows[first..][..2 * space.dense * space.width],
            read,
            transitions: &mut self.transitions,
            singles: &mut self.singles,
            edges: &mut self.edges,
            touched: &mut self.touched,
        }
    }

    /// Adds the gradient that waits to `to`, where a weight exists, and clears it.
    pub fn collect(&mut self, isa: Isa, space: &Space, to: &mut [f64]) {
        if !std::mem::take(&mut self.waits) {
            return;
        }
        let view = space.view();
        let (to_transitions, to) = to.split_at_mut(view.rows_at());
        let (to_rows, to) = to.split_at_mut(view.dense * view.width);
        let (to_singles, to_edges) = to.split_at_mut(view.singles.len());
        let first = first_line(&self.rows);
        add_rows::<R, 1>(isa, space, 0, &mut self.transitions, to_transitions);
        add_rows::<R, 2>(isa, space, view.labels, &mut self.rows[first..], to_rows);
        add_singles(isa, &self.touched, &mut self.singles, to_singles);
        add_singles(isa, &Touched::default(), &mut self.edges, to_edges);
        self.touched.clear();
    }

    /// Nothing waits any more.
    pub(crate) fn forget(&mut self) {
        *self = Plane::default();
    }
}
