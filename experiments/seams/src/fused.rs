//! The same work without seams: two loops as one would write them for this learner on this structure
//! alone.
//!
//! They call the kernels that the seams call and read the same layout, so that what differs is what
//! the seams add: questions and notes, sparse differences that are written before they are added,
//! virtual calls, chunks.

use seqoia_core::cast::real64;
use seqoia_core::{Corpus, Isa, Order, Random, Sequence};
use seqoia_structures::chain::{Batch, Decoder, Limits, Plane, Space, SumLimits};

/// The averaged perceptron, batches of one, on a chain: decode, add in place.
pub(crate) struct Perceptron<'a> {
    space: &'a Space,
    corpus: &'a dyn Corpus<Sequence>,
    seed: u64,
    decoder: Decoder<f64>,
    found: Vec<u16>,
    w: Vec<f64>,   // [weights]
    h: Vec<f64>,   // [weights] this pass: sum of i d_i
    sum: Vec<f64>, // [weights] sum of w after each example of earlier passes
    t: u64,        // examples of earlier passes
}

impl<'a> Perceptron<'a> {
    pub(crate) fn new(space: &'a Space, corpus: &'a dyn Corpus<Sequence>, seed: u64) -> Self {
        let plane = || vec![0.0; space.view().weights()];
        Perceptron {
            space,
            corpus,
            seed,
            decoder: Decoder::default(),
            found: vec![],
            w: plane(),
            h: plane(),
            sum: plane(),
            t: 0,
        }
    }

    /// Pass `number`, in the order in which a serial strategy goes.
    pub(crate) fn pass(&mut self, number: u64) {
        let Perceptron { space, corpus, decoder, found, w, h, .. } = self;
        let view = space.view();
        let mut order = Order::new(corpus.len(), Random::new(self.seed, number, 0, "order"));
        let (mut ids, mut s) = (vec![], 0.0);
        order.next(corpus.len(), &mut ids);
        for id in ids {
            let Some(x) = corpus.view(id) else { continue };
            decoder.best(view, w, x, Limits::default(), found);
            if found != x.labels {
                let mut add = |at: Option<usize>, c: f64| {
                    if let Some(at) = at {
                        w[at] += c;
                        h[at] += s * c;
                    }
                };
                for t in 0..found.len() {
                    let (gold, other) = (x.labels[t], found[t]);
                    if gold != other {
                        for &a in x.nodes.at(t) {
                            add(space.node_weight(a, gold), x.weight);
                            add(space.node_weight(a, other), -x.weight);
                        }
                    }
                    if t > 0 && (gold != other || x.labels[t - 1] != found[t - 1]) {
                        add(space.transition_weight(x.labels[t - 1], gold), x.weight);
                        add(space.transition_weight(found[t - 1], other), -x.weight);
                    }
                }
            }
            s += 1.0;
        }
        for ((sum, w), h) in self.sum.iter_mut().zip(w).zip(h) {
            *sum += s * *w - *h;
            *h = 0.0;
        }
        self.t += self.corpus.len() as u64;
    }

    /// The mean of all weights so far.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let total = real64(self.t);
        self.sum.iter().map(|sum| sum / total).collect()
    }
}

/// Loss and gradient of all sequences: one sweep of the kernel into one gradient.
pub(crate) struct Gradient<'a> {
    space: &'a Space,
    corpus: &'a dyn Corpus<Sequence>,
    ids: Vec<usize>,
    batch: Batch<f64>,
    odd: Vec<usize>,
    plane: Plane<f64>,
}

impl<'a> Gradient<'a> {
    pub(crate) fn new(space: &'a Space, corpus: &'a dyn Corpus<Sequence>) -> Self {
        let ids = (0..corpus.len()).collect();
        Gradient { space, corpus, ids, batch: Batch::default(), odd: vec![], plane: Plane::default() }
    }

    /// Overwrites `g`; returns the loss. `None` if the kernel left a sequence out.
    pub(crate) fn total(&mut self, w: &[f64], g: &mut [f64]) -> Option<f64> {
        g.fill(0.0);
        let (isa, view) = (Isa::detect(), self.space.view());
        self.plane.fill(view, w);
        let loss = self.batch.sum(
            isa,
            view,
            self.corpus,
            SumLimits::default(),
            &self.ids,
            w,
            &mut self.plane,
            true,
            &mut self.odd,
        );
        self.plane.collect(isa, self.space, g);
        self.odd.is_empty().then_some(loss)
    }
}
