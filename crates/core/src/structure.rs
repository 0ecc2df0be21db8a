//! Seam 1: what is decoded.
//!
//! Features are linear in *parts* (label y at position t; label y after y'; an arc h -> d), so a few
//! linear maps and one inference serve every log-linear learner: `scores` takes weights to parts,
//! `infer` parts to marginals, `scatter` and `spread` parts back to weights. Margin learners ask for
//! `violations` and see no parts at all.

use std::sync::Arc;

use crate::{Delta, Error, Note, Result, Row, Shelf, Weights};

/// A kind of output with its training examples: numbers to everyone else, so they may lie in memory,
/// in a file, behind a pipe.
pub trait Structure: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;
    /// Number of examples.
    fn examples(&self) -> usize;
    /// Number of weights; may grow while learning (open feature spaces).
    fn weights(&self) -> usize;
    /// What its lanes can answer.
    fn offers(&self) -> &'static [Question];
    /// Work an example makes, in any unit (tokens): balances workers, cuts the chunks of a sum.
    fn size(&self, _id: usize) -> usize {
        1
    }
    /// A worker: its buffers, or its child process and pipes. It keeps the structure alive.
    ///
    /// # Errors
    /// When a decoder cannot be started.
    fn lane(self: Arc<Self>, number: usize) -> Result<Box<dyn Lane>>;
    /// Lanes keep state between examples (decoders): slot i of a batch goes to lane i mod lanes.
    fn sticky(&self) -> bool {
        false
    }
    /// Relative error of its sums: two of them that are closer cannot be told apart.
    fn noise(&self) -> f64 {
        1e-10
    }
    /// A place outside memory for so many numbers, if what learners remember of each example is to lie there.
    ///
    /// # Errors
    /// When there is no room.
    fn shelf(&self, _length: usize) -> Result<Option<Arc<dyn Shelf>>> {
        Ok(None)
    }
    /// Told after each batch what the learner will see. Beside a scaling of all weights alike, only the
    /// weights in it can change before the next `settle` or `renew`; a learner that scales (its `look`
    /// shows `Weights::scale`) may fold the scale into them at any time.
    fn settle(&self, _batch: &[Note]) {}
    /// Open feature spaces: what a checkpoint must hold so that weights keep their numbers (a dictionary of
    /// features, say). `None`: the space is closed, and the data alone fixes it.
    fn memo(&self) -> Option<Vec<u8>> {
        None
    }
    /// Takes in what `memo` gave, before a learner's state is loaded.
    ///
    /// # Errors
    /// When it is not a memo of this structure.
    fn recall(&self, _memo: &[u8]) -> Result<()> {
        Err(Error::Mismatch(format!("a {} has a closed feature space and recalls nothing", self.name())))
    }
}

/// What a learner needs and a structure offers; checked before anything runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Parts, scores, log Z and marginals: log-linear learners.
    Expectations,
    /// Derivatives of marginals: Hessian products.
    Tangent,
    /// Search for outputs that beat the gold one: margin learners.
    Violations,
    /// The rows of weights that an example reads: learners that put the decay of weights off.
    Rows,
    /// What wrong outputs cost: cost-augmented search, softmax-margin.
    Costs,
    /// Marginals of each position and of each pair apart, and with them entropies: dual learners.
    Pieces,
    /// Stretches of an example as examples of their own: training on sequences that are cut.
    Stretches,
}

impl Question {
    /// How the question is called in an error.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Question::Expectations => "marginals",
            Question::Tangent => "Hessian products",
            Question::Violations => "search",
            Question::Rows => "the rows that an example reads",
            Question::Costs => "costs of wrong outputs",
            Question::Pieces => "marginals of each position and pair apart",
            Question::Stretches => "parts of its examples as examples",
        }
    }
}

/// Which prefix an inexact search compares (Huang et al. 2012).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Whole outputs.
    Full,
    /// Where the gold prefix first falls off the beam.
    Early,
    /// The last prefix that is a violation.
    Latest,
    /// The prefix that is violated most.
    MaxViolation,
}

impl Update {
    /// As on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Update::Full => "full",
            Update::Early => "early",
            Update::Latest => "latest",
            Update::MaxViolation => "max-violation",
        }
    }
}

/// How to look for violations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// At most this many.
    pub k: usize,
    /// Weight of the cost inside the search; 0 is plain decoding.
    pub cost: f64,
    /// For inexact search.
    pub update: Update,
}

/// One worker with one example open. Defaults are for what a structure does not offer: teams refuse to ask it.
#[allow(unused_variables)]
pub trait Lane: Send {
    /// Opens an example and returns its weight c (all divided by their mean; 1 if there are none).
    ///
    /// # Errors
    /// When the example cannot be read.
    fn open(&mut self, id: usize) -> Result<f64>;
    /// Opens the stretch of an example from one place up to another, in the unit of [`Structure::size`], as if it were an
    /// example; what features see does not change. Returns the weight of the example.
    ///
    /// # Errors
    /// When the example cannot be read, or cannot be cut.
    fn open_stretch(&mut self, id: usize, from: usize, to: usize) -> Result<f64> {
        Err(Error::Example { id, what: "it cannot be cut".to_owned() })
    }
    /// A pass begins: weights may have changed anywhere (mixing, a checkpoint).
    fn renew(&mut self) {}
    /// Fills `note` with those of the `search.k` best outputs that are not gold, best first, and `note.wrong`.
    /// If gold is the best, one is asked for and costs do not count, nothing is left.
    ///
    /// # Errors
    /// When the search fails: scores that are not finite, a broken decoder.
    fn violations(&mut self, w: Weights<'_>, search: &Search, note: &mut Note) -> Result<()> {
        Ok(())
    }
    /// Number of parts of the open example.
    fn parts(&self) -> usize {
        0
    }
    /// How many of the parts, the first ones, belong to one position alone: labels, not pairs of them.
    fn single_parts(&self) -> usize {
        self.parts()
    }
    /// Appends the rows that `scores` reads (`from` unused), for lazy learners.
    fn rows(&self, out: &mut Vec<Row>) {}
    /// Part scores under `w`: linear in w, finite. Rules on outputs act in `infer`.
    fn scores(&mut self, w: Weights<'_>, scores: &mut [f64]) {}
    /// Adds `c` times each part's cost.
    fn costs(&self, c: f64, scores: &mut [f64]) {}
    /// log Z, and the marginals if wanted.
    fn infer(&mut self, scores: &[f64], marginals: Option<&mut [f64]>) -> f64 {
        f64::NAN
    }
    /// Score of the gold output; with partial labels, log Z over what they allow.
    fn gold_score(&mut self, scores: &[f64]) -> f64 {
        0.0
    }
    /// Adds `c` at the gold parts (partial labels: at their marginals under the last `gold_score`).
    fn gold(&mut self, c: f64, parts: &mut [f64]) {}
    /// Appends `sum_p parts[p] phi_p` to `out`: the transpose of `scores`. Parts that belong together
    /// (the labels of a position) and are all at most `least` in size may be left out: with 0, those
    /// that say nothing.
    fn scatter(&self, parts: &[f64], least: f64, out: &mut Delta) {}
    /// `to += step * sum_p parts[p] phi_p` (closed spaces), for the weights from index `at` on that
    /// `to` holds; the others are someone else's. This is the definition; a structure's own loop
    /// writes no rows.
    fn spread(&mut self, parts: &[f64], step: f64, at: usize, to: &mut [f64]) {
        let mut delta = Delta::default();
        self.scatter(parts, 0.0, &mut delta);
        for (index, x) in delta.entries() {
            if let Some(to) = index.checked_sub(at).and_then(|i| to.get_mut(i)) {
                *to += step * x;
            }
        }
    }
    /// Derivative of (marginals - gold) along a direction of the scores; `gold` is constant unless labels are known in
    /// part.
    fn tangent(&mut self, scores: &[f64], along: &[f64], out: &mut [f64]) {}
    /// Number of pieces of the open example: like its parts, but with each pair of neighbours apart, where parts may
    /// have them added up over positions.
    fn pieces(&self) -> usize {
        0
    }
    /// Marginals of all pieces under these part scores, with `bonus` added to the score of each gold piece; log Z, which
    /// is not a number if gold labels are known in part.
    fn infer_pieces(&mut self, scores: &[f64], bonus: f64, marginals: &mut [f64]) -> f64 {
        f64::NAN
    }
    /// `parts = pieces` added up.
    fn join(&self, pieces: &[f64], parts: &mut [f64]) {}
    /// How often each piece counts in the entropy `- sum counts p ln p` of a distribution with marginals p: 1 for a
    /// pair, -1 for a label between two pairs, 0 for a label at an end (1 if it stands alone) and for padding.
    fn counting(&self, counts: &mut [f64]) {}
    /// Sums under `w` follow, several perhaps: what they share may be made here, once.
    fn prepare(&mut self, w: Weights<'_>) {}
    /// `sum_i c_i loss_i` (log loss) under the weights of the last `prepare`: one chunk of a batch pass. Its
    /// gradient, if wanted, waits in the
    /// lane or in `g`, which the caller lends (all zero or empty) and gives back to `collect`. A
    /// structure overrides both with its fused kernel, in any layout or precision.
    ///
    /// # Errors
    /// When an example cannot be read or its loss is not finite; nothing waits then.
    fn sum(&mut self, ids: &[usize], w: Weights<'_>, g: Option<&mut Vec<f64>>) -> Result<f64> {
        let Some(g) = g else { return sum_by_parts(self, ids, w, None) };
        g.resize(w.values.len(), 0.0);
        sum_by_parts(self, ids, w, Some(g)).inspect_err(|_| g.clear())
    }
    /// Adds the gradient that waits since the last `sum` to `to`; nothing waits afterwards. Apart from
    /// `sum`, because chunks are added in their order and summed in any.
    fn collect(&mut self, g: &mut Vec<f64>, to: &mut [f64]) {
        for (to, g) in to.iter_mut().zip(g) {
            *to += std::mem::take(g);
        }
    }
}

/// [`Lane::sum`] by its definition: open, scores, infer, gold, spread for each example, times c.
///
/// # Errors
/// When an example cannot be read or its loss is not finite.
pub fn sum_by_parts<L: Lane + ?Sized>(
    lane: &mut L,
    ids: &[usize],
    w: Weights<'_>,
    g: Option<&mut [f64]>,
) -> Result<f64> {
    sum_opened(lane, ids, L::open, w, g)
}

/// The same of what `open` opens for each number.
///
/// # Errors
/// When an example cannot be read or its loss is not finite.
pub fn sum_opened<L: Lane + ?Sized>(
    lane: &mut L,
    ids: &[usize],
    open: impl Fn(&mut L, usize) -> Result<f64>,
    w: Weights<'_>,
    mut g: Option<&mut [f64]>,
) -> Result<f64> {
    let (mut scores, mut parts, mut total) = (vec![], vec![], 0.0);
    for &id in ids {
        let c = open(lane, id)?;
        scores.resize(lane.parts(), 0.0);
        lane.scores(w, &mut scores);
        let log_z = match &mut g {
            None => lane.infer(&scores, None),
            Some(_) => {
                parts.resize(lane.parts(), 0.0);
                lane.infer(&scores, Some(&mut parts))
            }
        };
        let loss = c * (log_z - lane.gold_score(&scores));
        if !loss.is_finite() {
            return Err(Error::NotFinite { id, what: format!("its loss is {loss}") });
        }
        total += loss;
        if let Some(g) = &mut g {
            lane.gold(-1.0, &mut parts);
            lane.spread(&parts, c, 0, g);
        }
    }
    Ok(total)
}
