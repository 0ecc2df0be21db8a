//! One example on a worker's bench, and the questions that a learner may ask about it.

use crate::steps::{add_rows, take_squares};
use crate::{Asked, Delta, Error, Lane, Note, Question, Result, Search, Weights};

/// A worker's buffers beside its lane.
#[derive(Debug, Default)]
pub struct Bench {
    /// At least as long as the weights that were asked about, and always zero between two questions.
    pub zeros: Vec<f64>,
    scores: Vec<f64>, // [parts] of the last question
    along: Vec<f64>,  // [parts] of the direction of `aim` or `product`
    mixed: Vec<f64>,  // [parts] scores + step * along
    pieces: Vec<f64>, // marginals of the last `gradient_by_pieces`
    spare: Delta,
}

/// One open example. Losses, parts and what follows from them carry the example's weight; marginals
/// do not.
pub struct Case<'a> {
    /// Number of the example.
    pub id: usize,
    /// Its weight c.
    pub weight: f64,
    /// What has been asked so far: whatever costs a sweep over the example is counted here.
    pub asked: Asked,
    cost: f64,
    offers: &'static [Question],
    lane: &'a mut dyn Lane,
    bench: &'a mut Bench,
}

impl<'a> Case<'a> {
    /// The example that `lane` has open, which has this weight; the lane answers what its structure `offers`.
    pub fn new(
        id: usize,
        weight: f64,
        offers: &'static [Question],
        lane: &'a mut dyn Lane,
        bench: &'a mut Bench,
    ) -> Self {
        Case { id, weight, asked: Asked::default(), cost: 0.0, offers, lane, bench }
    }

    /// An answer that the structure does not have must not pass for one.
    fn offered(&self, question: Question) -> Result<()> {
        if self.offers.contains(&question) {
            return Ok(());
        }
        let what = format!("{} asked for, which the structure does not offer", question.name());
        Err(Error::Example { id: self.id, what })
    }

    /// From here on `cost` times the cost of a part is added before inference (softmax-margin); 0: log loss.
    ///
    /// # Errors
    /// When the structure knows no costs.
    pub fn add_costs(&mut self, cost: f64) -> Result<()> {
        if cost != 0.0 {
            self.offered(Question::Costs)?;
        }
        self.cost = cost;
        Ok(())
    }

    /// Number of parts.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.lane.parts()
    }

    /// How many of them, the first ones, belong to one position alone.
    #[must_use]
    pub fn single_parts(&self) -> usize {
        self.lane.single_parts()
    }

    /// log Z of any part scores, and their marginals if wanted: for learners with part scores of their own
    /// (dual variables, a point on a line). Neither the example's weight nor costs play a part.
    pub fn infer(&mut self, scores: &[f64], marginals: Option<&mut [f64]>) -> f64 {
        match marginals {
            Some(_) => self.asked.gradients += 1,
            None => self.asked.losses += 1,
        }
        self.lane.infer(scores, marginals)
    }

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

    /// The same from the marginals of all pieces, which [`Case::marginals_of_pieces`] then has.
    ///
    /// # Errors
    /// When the structure has no pieces.
    pub fn gradient_by_pieces(&mut self, w: Weights<'_>, note: &mut Note) -> Result<()> {
        self.offered(Question::Pieces)?;
        self.asked.gradients += 1;
        self.score(w);
        let b = &mut *self.bench;
        b.pieces.resize(self.lane.pieces(), 0.0);
        let log_z = self.lane.infer_pieces(&b.scores, 0.0, &mut b.pieces);
        note.loss = self.weight * (log_z - self.lane.gold_score(&b.scores));
        note.parts.resize(self.lane.parts(), 0.0);
        self.lane.join(&b.pieces, &mut note.parts);
        self.lane.gold(-1.0, &mut note.parts);
        if self.weight != 1.0 {
            note.parts.iter_mut().for_each(|p| *p *= self.weight);
        }
        Ok(())
    }

    /// What the last [`Case::gradient_by_pieces`] found; to be changed, for [`Case::join_marginals`].
    pub fn marginals_of_pieces(&mut self) -> &mut [f64] {
        &mut self.bench.pieces
    }

    /// They, added up to parts.
    pub fn join_marginals(&self, parts: &mut [f64]) {
        self.lane.join(&self.bench.pieces, parts);
    }

    /// `note.parts` as rows in `note.delta`. Groups of parts that are all at most `least` (times c) in size
    /// are left out.
    pub fn expand(&mut self, least: f64, note: &mut Note) {
        note.delta.clear();
        self.lane.scatter(&note.parts, least * self.weight, &mut note.delta);
    }

    /// The same with all groups, those without a gradient too.
    pub fn expand_all(&mut self, note: &mut Note) {
        self.expand(-1.0, note);
    }

    /// Score of the gold output among these part scores; with partial labels, log Z over what they allow.
    pub fn gold_score(&mut self, scores: &[f64]) -> f64 {
        self.lane.gold_score(scores)
    }

    /// Adds `c` at the gold parts, after [`Case::gold_score`].
    pub fn gold(&mut self, c: f64, parts: &mut [f64]) {
        self.lane.gold(c, parts);
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
        add_rows(delta, 1.0, &mut self.bench.zeros);
        self.bench.along.resize(self.lane.parts(), 0.0);
        self.lane.scores(Weights::plain(&self.bench.zeros), &mut self.bench.along);
        take_squares(&delta.rows, &mut self.bench.zeros)
    }

    /// |delta|^2, each index once; its rows must lie within `weights`.
    pub fn square(&mut self, delta: &Delta, weights: usize) -> f64 {
        self.bench.zeros.resize(weights.max(self.bench.zeros.len()), 0.0);
        add_rows(delta, 1.0, &mut self.bench.zeros);
        take_squares(&delta.rows, &mut self.bench.zeros)
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
    /// When the search fails, or the structure does not search or knows no costs.
    pub fn violations(&mut self, w: Weights<'_>, search: &Search, note: &mut Note) -> Result<()> {
        self.offered(Question::Violations)?;
        if search.cost != 0.0 {
            self.offered(Question::Costs)?;
        }
        self.asked.searches += 1;
        self.lane.violations(w, search, note)
    }

    /// Brings `delta` into the form in which each index occurs once; returns |delta|^2.
    pub fn merge(&mut self, delta: &mut Delta) -> f64 {
        let norm = delta.merge(&mut self.bench.zeros, Some(&mut self.bench.spare));
        std::mem::swap(delta, &mut self.bench.spare);
        norm
    }

    /// The same with rows that add up to zero: which indices there are follows from the example alone.
    pub fn unite(&mut self, delta: &mut Delta) {
        delta.unite(&mut self.bench.zeros, &mut self.bench.spare);
        std::mem::swap(delta, &mut self.bench.spare);
    }

    /// Number of pieces: see [`Lane::pieces`].
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.lane.pieces()
    }

    /// Marginals of all pieces under these part scores, with `bonus` on each gold piece; log Z. Neither the example's
    /// weight nor costs play a part.
    ///
    /// # Errors
    /// When the structure has no pieces.
    pub fn infer_pieces(&mut self, scores: &[f64], bonus: f64, out: &mut Vec<f64>) -> Result<f64> {
        self.offered(Question::Pieces)?;
        self.asked.gradients += 1;
        out.resize(self.lane.pieces(), 0.0);
        Ok(self.lane.infer_pieces(scores, bonus, out))
    }

    /// The part scores under `w`, without inference, for [`Case::infer_pieces`].
    pub fn score_parts(&mut self, w: Weights<'_>, out: &mut Vec<f64>) {
        out.resize(self.lane.parts(), 0.0);
        self.lane.scores(w, out);
    }

    /// Pieces added up to parts.
    pub fn join(&self, pieces: &[f64], parts: &mut Vec<f64>) {
        parts.resize(self.lane.parts(), 0.0);
        self.lane.join(pieces, parts);
    }

    /// How often each piece counts in an entropy: see [`Lane::counting`].
    pub fn counting(&self, counts: &mut Vec<f64>) {
        counts.resize(self.lane.pieces(), 0.0);
        self.lane.counting(counts);
    }

    /// Hessian of the loss times a direction, in parts: `c * d marginals / d scores * (scores of v)`
    /// at the weights of the last question.
    ///
    /// # Errors
    /// When the structure has no such derivatives.
    pub fn product(&mut self, v: Weights<'_>, out: &mut Vec<f64>) -> Result<()> {
        self.offered(Question::Tangent)?;
        self.asked.tangents += 1;
        let b = &mut *self.bench;
        b.along.resize(self.lane.parts(), 0.0);
        self.lane.scores(v, &mut b.along);
        out.resize(self.lane.parts(), 0.0);
        self.lane.tangent(&b.scores, &b.along, out);
        if self.weight != 1.0 {
            out.iter_mut().for_each(|x| *x *= self.weight);
        }
        Ok(())
    }
}
