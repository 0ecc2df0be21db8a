//! Finds labellings with an immutable model: the weights may be a learner's, in double precision, or
//! lie in a mapped model file. Prediction, dev scores and margin learners call the same code.

use super::beam::Beam;
use super::kbest::{KBest, Scored};
use super::kernel::{ForwardBackward, Kernel, Real, best_path};
use super::{Limits, SpaceView, Steps};
use seqoia_core::Isa;
use seqoia_core::SequenceView;

/// A labelling and its score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labelling {
    /// One label a position.
    pub labels: Vec<u16>,
    /// `w . phi(x, labels)`.
    pub score: f64,
}

/// One worker's buffers; every call works on the sequence it is given.
#[derive(Clone, Debug)]
pub struct Decoder<R> {
    pub(crate) kernel: Kernel,
    pub(crate) nodes: Vec<R>, // [T][W] scores
    pub(crate) edges: Vec<R>, // [K][W], or [T-1][K][W] if transitions see the input
    pub(crate) stride: usize, // 0, or K * W
    kept: (Vec<R>, Vec<R>),   // nodes and edges while a search changes them
    best: Vec<R>,             // [T][W]
    pub(crate) beam: Beam<R>,
    kbest: KBest<R>,
    forward_backward: ForwardBackward<R>,
    node_marginals: Vec<R>,
    edge_marginals: Vec<R>,
}

impl<R: Real> Default for Decoder<R> {
    fn default() -> Self {
        Decoder::new(Isa::detect())
    }
}

impl<R: Real> Decoder<R> {
    /// A decoder that uses these instructions.
    #[must_use]
    pub fn new(isa: Isa) -> Self {
        Decoder {
            kernel: Kernel::new(isa),
            nodes: vec![],
            edges: vec![],
            stride: 0,
            kept: (vec![], vec![]),
            best: vec![],
            beam: Beam::default(),
            kbest: KBest::default(),
            forward_backward: ForwardBackward::default(),
            node_marginals: vec![],
            edge_marginals: vec![],
        }
    }

    /// Scores of all positions and transitions.
    pub(crate) fn score(&mut self, space: SpaceView<'_>, w: &[R], scale: R, x: SequenceView<'_>) {
        self.nodes.resize(x.len() * space.width, R::ZERO);
        self.kernel.node_scores(space, w, scale, x.nodes, &mut self.nodes);
        let matrix = space.labels * space.width;
        if x.edges.is_empty() {
            self.stride = 0;
            self.edges.clear();
            // One token has no pairs: nothing is K x K where most sentences are that short.
            let pairs = if x.len() > 1 { &w[..matrix] } else { &[] };
            self.edges.extend(pairs.iter().map(|a| *a * scale));
        } else {
            self.stride = matrix;
            self.edges.resize(x.len().saturating_sub(1) * matrix, R::ZERO);
            self.kernel.edge_scores(space, w, scale, x.edges, &mut self.edges);
        }
    }

    /// Rules out what lies beyond the limits: a search then never finds it.
    pub(crate) fn limit(&mut self, space: SpaceView<'_>, limits: Limits<'_>) {
        if !limits.is_free() {
            limits.put(space, R::LEAST, &mut self.nodes, &mut self.edges);
        }
        self.limit_steps(space, limits.steps);
    }

    /// The same for single places, which gives each step edges of its own.
    fn limit_steps(&mut self, space: SpaceView<'_>, steps: Option<&Steps>) {
        let Some(steps) = steps.filter(|_| !self.nodes.is_empty()) else { return };
        let (width, matrix) = (space.width, space.labels * space.width);
        let last = self.nodes.len() - width;
        steps.no_start.iter().for_each(|y| self.nodes[usize::from(*y)] = R::LEAST);
        steps.no_end.iter().for_each(|y| self.nodes[last + usize::from(*y)] = R::LEAST);
        if self.stride == 0 && !steps.pairs.is_empty() {
            self.edges = self.edges[..matrix].repeat(last / width);
            self.stride = matrix;
        }
        for &(t, from, to) in &steps.pairs {
            let at = (t as usize - 1) * matrix + usize::from(from) * width + usize::from(to);
            self.edges[at] = R::LEAST;
        }
    }

    /// The best labelling of what was scored, into `labels`; its score.
    pub(crate) fn best_scored(&mut self, space: SpaceView<'_>, labels: &mut Vec<u16>) -> f64 {
        self.kernel.best_prefixes(space, &self.nodes, &self.edges, self.stride, &mut self.best);
        best_path(space, &self.edges, self.stride, &self.best, labels).to_f64()
    }

    /// The best labelling within the limits of what was scored, into `labels`; the scores stay.
    pub(crate) fn best_of_scored(&mut self, space: SpaceView<'_>, limits: Limits<'_>, labels: &mut Vec<u16>) {
        self.kept.0.clone_from(&self.nodes);
        self.kept.1.clone_from(&self.edges);
        self.limit(space, limits);
        self.best_scored(space, labels);
        std::mem::swap(&mut self.nodes, &mut self.kept.0);
        std::mem::swap(&mut self.edges, &mut self.kept.1);
    }

    /// The k best labellings of what was scored.
    pub(crate) fn nbest_scored(&mut self, space: SpaceView<'_>, k: usize) -> Vec<Labelling> {
        let Decoder { kernel, nodes, edges, best, kbest, .. } = self;
        kernel.best_prefixes(space, nodes, edges, self.stride, best);
        kbest.run(space, Scored { nodes, edges, stride: self.stride, best }, k)
    }

    /// The best labelling within the limits, into `labels`; returns its score, which is not finite if
    /// there is none.
    pub fn best(
        &mut self,
        space: SpaceView<'_>,
        w: &[R],
        x: SequenceView<'_>,
        limits: Limits<'_>,
        labels: &mut Vec<u16>,
    ) -> f64 {
        self.score(space, w, R::ONE, x);
        self.limit(space, limits);
        self.best_scored(space, labels)
    }

    /// The best labelling that a beam of `size` labels a position finds; exact from K on.
    pub fn best_in_beam(
        &mut self,
        space: SpaceView<'_>,
        w: &[R],
        x: SequenceView<'_>,
        limits: Limits<'_>,
        size: usize,
        labels: &mut Vec<u16>,
    ) -> f64 {
        self.score(space, w, R::ONE, x);
        self.limit(space, limits);
        self.beam.run(space, &self.nodes, &self.edges, self.stride, size.max(1));
        self.beam.trace(space, &self.edges, self.stride, x.len(), labels).to_f64()
    }

    /// How many labellings of so many positions and labels [`Decoder::nbest`] can find at most.
    #[must_use]
    pub fn most_labellings(length: usize, labels: usize) -> usize {
        super::kbest::most(length, labels)
    }

    /// At most `k` labellings within the limits, best first; see [`Decoder::most_labellings`].
    pub fn nbest(
        &mut self,
        space: SpaceView<'_>,
        w: &[R],
        x: SequenceView<'_>,
        limits: Limits<'_>,
        k: usize,
    ) -> Vec<Labelling> {
        self.score(space, w, R::ONE, x);
        self.limit(space, limits);
        self.nbest_scored(space, k)
    }

    /// The same, and log Z over all labellings within the limits, of which [`Decoder::score_of`] makes probabilities.
    pub fn nbest_and_log_z(
        &mut self,
        space: SpaceView<'_>,
        w: &[R],
        x: SequenceView<'_>,
        limits: Limits<'_>,
        k: usize,
    ) -> (Vec<Labelling>, f64) {
        self.score(space, w, R::ONE, x);
        self.limit_steps(space, limits.steps);
        let isa = self.kernel.isa();
        let log_z =
            self.forward_backward.run(isa, space, &self.nodes, &self.edges, self.stride, limits, None);
        self.limit(space, Limits { steps: None, ..limits });
        (self.nbest_scored(space, k), log_z)
    }

    /// Probabilities of all labels at all positions among the labellings within the limits, and log Z;
    /// see [`Decoder::marginal`].
    pub fn marginals(
        &mut self,
        space: SpaceView<'_>,
        w: &[R],
        x: SequenceView<'_>,
        limits: Limits<'_>,
    ) -> f64 {
        self.score(space, w, R::ONE, x);
        self.limit_steps(space, limits.steps);
        self.node_marginals.resize(self.nodes.len(), R::ZERO);
        self.edge_marginals.resize(self.edges.len(), R::ZERO);
        let out = Some((self.node_marginals.as_mut_slice(), self.edge_marginals.as_mut_slice()));
        let isa = self.kernel.isa();
        self.forward_backward.run(isa, space, &self.nodes, &self.edges, self.stride, limits, out)
    }

    /// p(y_t = y) under the last [`Decoder::marginals`].
    #[must_use]
    pub fn marginal(&self, space: SpaceView<'_>, t: usize, y: u16) -> f64 {
        self.node_marginals[t * space.width + usize::from(y)].to_f64()
    }

    /// Score of a labelling of what was scored last; e^(score - log Z) is its probability.
    #[must_use]
    pub fn score_of(&self, space: SpaceView<'_>, labels: &[u16]) -> f64 {
        path_score(space, &self.nodes, &self.edges, self.stride, labels)
    }
}

/// Score of one path through node and edge scores, added up in the order in which the search adds them: the best
/// path has the very score that was found.
pub(crate) fn path_score<R: Real>(
    space: SpaceView<'_>,
    nodes: &[R],
    edges: &[R],
    stride: usize,
    labels: &[u16],
) -> f64 {
    let y = |t: usize| usize::from(labels[t]);
    let mut score = 0.0;
    for t in 0..labels.len() {
        if t > 0 {
            score += edges[(t - 1) * stride + y(t - 1) * space.width + y(t)].to_f64();
        }
        score += nodes[t * space.width + y(t)].to_f64();
    }
    score
}
