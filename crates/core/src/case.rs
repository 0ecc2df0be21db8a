//! One example on a worker's bench, and the questions that a learner may ask about it.

use crate::{Asked, Delta, Lane, Note, Result, Search, Weights};

/// A worker's buffers beside its lane.
#[derive(Debug, Default)]
pub struct Bench {
    /// At least as long as the weights that were asked about, and always zero between two questions.
    pub zeros: Vec<f64>,
    scores: Vec<f64>,
    along: Vec<f64>,
    mixed: Vec<f64>,
    spare: Delta,
}

/// One open example. Losses, parts and what follows from them carry the example's weight; marginals
/// do not.
pub struct Case<'a> {
    /// Number of the example.
    pub id: usize,
    /// Its weight c.
    pub weight: f64,
    /// Who answers.
    pub lane: &'a mut dyn Lane,
    /// The worker's buffers.
    pub bench: &'a mut Bench,
    /// Times the cost of a part, added before inference (softmax-margin); 0: log loss.
    pub cost: f64,
    /// What has been asked so far.
    pub asked: Asked,
}

impl Case<'_> {
    fn score(&mut self, w: Weights<'_>) {
        self.bench.scores.resize(self.lane.parts(), 0.0);
        self.lane.scores(w, &mut self.bench.scores);
        if self.cost != 0.0 {
            self.lane.costs(self.cost, &mut self.bench.scores);
        }
    }

    /// `-c log p(y|x)` under `w`.
    pub fn loss(&mut self, w: Weights<'_>) -> f64 {
        self.asked.losses += 1;
        self.score(w);
        let log_z = self.lane.infer(&self.bench.scores, None);
        self.weight * (log_z - self.lane.gold_score(&self.bench.scores))
    }

    /// The same, with the marginals of all parts (these without c).
    pub fn marginals(&mut self, w: Weights<'_>, out: &mut Vec<f64>) -> f64 {
        self.asked.gradients += 1;
        self.score(w);
        out.resize(self.lane.parts(), 0.0);
        let log_z = self.lane.infer(&self.bench.scores, Some(out));
        self.weight * (log_z - self.lane.gold_score(&self.bench.scores))
    }

    /// `note.loss`, and its gradient as `note.parts` = c (marginals - gold).
    pub fn gradient(&mut self, w: Weights<'_>, note: &mut Note) {
        note.loss = self.marginals(w, &mut note.parts);
        self.lane.gold(-1.0, &mut note.parts);
        if self.weight != 1.0 {
            note.parts.iter_mut().for_each(|p| *p *= self.weight);
        }
    }

    /// `note.parts` as rows in `note.delta`. Groups of parts that are all at most `least` (times c) in size
    /// are left out.
    pub fn expand(&mut self, least: f64, note: &mut Note) {
        note.delta.clear();
        self.lane.scatter(&note.parts, least * self.weight, &mut note.delta);
    }

    /// The part scores of the last question.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.bench.scores
    }

    /// Prepares [`Case::loss_along`]: part scores of the direction, once. Returns |delta|^2. `w` are the
    /// weights of the last question.
    pub fn aim(&mut self, w: Weights<'_>, delta: &Delta) -> f64 {
        self.bench.zeros.resize(w.values.len().max(self.bench.zeros.len()), 0.0);
        delta.add_to(1.0, &mut self.bench.zeros);
        self.bench.along.resize(self.lane.parts(), 0.0);
        self.lane.scores(Weights::plain(&self.bench.zeros), &mut self.bench.along);
        delta.take_back(&mut self.bench.zeros, None)
    }

    /// Loss at (weights of the last question) + step * delta: inference only, no weight is read.
    pub fn loss_along(&mut self, step: f64) -> f64 {
        self.asked.losses += 1;
        let b = &mut *self.bench;
        b.mixed.clear();
        b.mixed.extend(b.scores.iter().zip(&b.along).map(|(s, d)| s + step * d));
        self.weight * (self.lane.infer(&b.mixed, None) - self.lane.gold_score(&b.mixed))
    }

    /// Searches for the best outputs that are not gold; they come in `note`, best first.
    ///
    /// # Errors
    /// When the search fails.
    pub fn violations(&mut self, w: Weights<'_>, search: &Search, note: &mut Note) -> Result<()> {
        self.asked.searches += 1;
        self.lane.violations(w, search, note)
    }

    /// Brings `delta` into the form in which each index occurs once; returns |delta|^2.
    pub fn merge(&mut self, delta: &mut Delta) -> f64 {
        let norm = delta.merge(&mut self.bench.zeros, Some(&mut self.bench.spare));
        std::mem::swap(delta, &mut self.bench.spare);
        norm
    }

    /// Hessian of the loss times a direction, in parts: `c * d marginals / d scores * (scores of v)`
    /// at the weights of the last question.
    pub fn product(&mut self, v: Weights<'_>, out: &mut Vec<f64>) {
        self.asked.tangents += 1;
        let b = &mut *self.bench;
        b.along.resize(self.lane.parts(), 0.0);
        self.lane.scores(v, &mut b.along);
        out.resize(self.lane.parts(), 0.0);
        self.lane.tangent(&b.scores, &b.along, out);
        if self.weight != 1.0 {
            out.iter_mut().for_each(|x| *x *= self.weight);
        }
    }
}
