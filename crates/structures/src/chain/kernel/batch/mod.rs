//! Loss and gradient of many sequences in one sweep: the fused form of scores, forward-backward and
//! spread, for whole-pass learners.
//!
//! The formulas are those of `forward_backward`. What is gained over asking for parts:
//!
//! - exp of the transitions is computed once a chunk, and multiplied into the expected transitions
//!   once a chunk: `E (x) sum_t alpha_{t-1} r_t`;
//! - the gold label is subtracted from the posterior before it is scattered, so sums stay small (which
//!   is what lets single precision work) and no observed counts are needed;
//! - dense rows of the gradient are added without a look at their holes, which are cleared once;
//! - rows of the next position are prefetched while this one is worked on, together with the rows of the gradient,
//!   which lie beside them (`plane.rs`);
//! - a position is scored one ahead of the forward sums, which wait for each other; with 5 to 9 labels one ahead was
//!   faster than at its turn;
//! - attributes of edges cost as much as they have weights, not K^2 a position (`steps.rs`).
//!
//! Gold labels that are known in part make two sums of a sequence, of which the second is over the labels that they
//! may be; its posteriors are subtracted before anything is scattered.
//!
//! What did not help, on the chunks of CoNLL-2000 and Zen 3: dividing alpha after its use instead of
//! before, rows kept in local arrays (the compiler takes them apart), the range of a row in vectors,
//! single weights numbered by first occurrence. On Zen 5: rows divided by the sum of the row before, so that none waits
//! for its own; vectors of 64 bytes; one test of bounds for each row instead of two; positions scored along the chain
//! without the hint in `row_sum` (with 22 labels 4 to 6 % slower, as the loop over a row was taken apart); all memory in
//! large pages (within 3 %, and slower with a long tail). The time goes to the rows of weights and gradient.
//!
//! Sequences that the linear domain is not for (`lost.rs`, too) are left to the caller, and those whose gold labels break
//! the rules.

mod chain;
mod steps;

use super::super::{Rules, Sets};
use super::forward_backward::rows_range;
use super::gather::{fetch, scatter_position, score_position};
use super::plane::{Parts, Plane, Read};
use super::{Real, SpaceView, Touched, dispatch};
use crate::exp::exp64;
use chain::{Posteriors, Scores, There};
use seqoia_core::Isa;
use seqoia_core::{Corpus, Sequence, SequenceView};
use steps::Steps;

/// Buffers of one worker.
#[derive(Clone, Debug, Default)]
pub struct Batch<R> {
    e: Vec<R>,          // [K][W] exp(a - m)
    transposed: Vec<R>, // [K][W]
    pairs: Vec<f64>,    // [K][W] sum of alpha_{t-1} r_t: too large a sum for single precision
    gold: Vec<f64>,     // [K][W] weighted count of the gold pairs
    nodes: Vec<R>,      // [T][W] scores, then psi, then r
    alpha: Vec<R>,      // [T][W]
    scales: Vec<R>,     // [T] 1 / c_t
    beta: Vec<R>,       // [W] of the position at hand, if W is not known beforehand
    part: Vec<R>,       // [W] posterior of it
    kept: [Vec<R>; 3],  // nodes, alpha and scales of another sum over the sequence
    parts: Vec<R>,      // [T][W] posteriors until those of another sum are subtracted
    steps: Steps<R>,
    copy: Sequence, // of a sequence that does not lie in memory
}

/// What a sweep needs to know beside the buffers.
struct Work<'a, R> {
    isa: Isa,
    space: SpaceView<'a>,
    corpus: &'a dyn Corpus<Sequence>,
    ids: &'a [usize],
    w: Read<'a, R>,
    most: R,  // largest transition
    range: R, // largest minus smallest transition
    limits: SumLimits<'a>,
}

/// What labellings are held to.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumLimits<'a> {
    /// The rules of all sequences but those that break them.
    pub rules: Option<&'a Rules>,
    /// Which sequences do; none if it is empty.
    pub broken: &'a [bool],
    /// Which sequences have gold labels that are known in part, and the sets that these stand for.
    pub partial: Option<(&'a [bool], &'a Sets)>,
}

impl<'a> SumLimits<'a> {
    /// The sets that gold labels of a sequence stand for, if they are known in part; `Err` if it is not for the
    /// sweep.
    pub(super) fn of(&self, id: usize) -> Result<Option<&'a Sets>, ()> {
        let has = |flags: &[bool]| flags.get(id).is_some_and(|flag| *flag);
        match self.partial {
            _ if has(self.broken) => Err(()),
            Some((partial, sets)) if has(partial) => Ok(Some(sets)),
            _ => Ok(None),
        }
    }
}

impl<R: Real> Batch<R> {
    /// Adds the gradient to `g`, which may get values in its holes, marks what it touched, and returns the loss.
    /// Sequences that it cannot do go to `odd`.
    #[allow(clippy::too_many_arguments)]
    pub fn sum(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        corpus: &dyn Corpus<Sequence>,
        limits: SumLimits<'_>,
        ids: &[usize],
        w: &[f64],
        plane: &mut Plane<R>,
        wanted: bool,
        odd: &mut Vec<usize>,
    ) -> f64 {
        let (labels, width) = (space.labels, space.width);
        let matrix = labels * width;
        let Parts { rows, read: w, transitions, singles, edges, touched } = plane.parts(space, w, wanted);
        let (least, most) = rows_range(w.transitions, width, labels);
        let fits = most - least <= R::LIMIT;
        if !fits {
            odd.extend_from_slice(ids); // each of them would be found too far apart
            return 0.0;
        }
        self.e.resize(matrix, R::ZERO);
        self.transposed.resize(matrix, R::ZERO);
        // In double precision: an error here is the same at every position, so it adds up.
        for (e, a) in self.e.chunks_exact_mut(width).zip(w.transitions.chunks_exact(width)) {
            for y in 0..labels {
                e[y] = R::from_f64(exp64(a[y].to_f64() - most.to_f64()));
            }
        }
        if let Some(rules) = limits.rules {
            rules.forbidden(width).for_each(|pair| self.e[pair] = R::ZERO);
        }
        for y in 0..labels {
            (0..labels).for_each(|from| self.transposed[y * width + from] = self.e[from * width + y]);
        }
        for plane in [&mut self.pairs, &mut self.gold] {
            plane.clear();
            plane.resize(matrix, 0.0);
        }
        let work = &Work { isa, space, corpus, ids, w, most, range: most - least, limits };
        let (this, g) = (self, Gradient { wanted, rows, transitions, singles, edges, touched });
        dispatch!(isa, width, sweep::<R>(this: &mut Batch<R>, work: &Work<'_, R>, g: Gradient<'_, R>, odd: &mut Vec<usize>) -> f64)
    }
}

/// The rows, with their weights, and where the gradient goes, if it is wanted.
struct Gradient<'a, R> {
    wanted: bool,
    rows: &'a mut [R], // [dense][2][W]
    transitions: &'a mut [R],
    singles: &'a mut [R],
    edges: &'a mut [R],
    touched: &'a mut Touched,
}

#[inline(always)]
fn sweep<R: Real, const W: usize>(
    b: &mut Batch<R>,
    work: &Work<'_, R>,
    mut g: Gradient<'_, R>,
    odd: &mut Vec<usize>,
) -> f64 {
    let mut total = 0.0;
    let mut copy = std::mem::take(&mut b.copy);
    for &id in work.ids {
        let x = work.corpus.view_or_read(id, &mut copy);
        let (Ok(x), Ok(partial)) = (x, work.limits.of(id)) else {
            odd.push(id);
            continue;
        };
        let sum = if partial.is_none() && x.edges.is_empty() {
            b.plain_loss::<W>(work, x, &mut g)
        } else {
            b.score::<W>(work, x, &g);
            let range = if x.edges.is_empty() { work.range } else { b.steps.fill(work, x, &b.e) };
            match partial {
                None => b.loss::<W>(work, x, range, &mut g),
                Some(sets) => b.partial_loss::<W>(work, x, range, sets, &mut g),
            }
        };
        match sum {
            Some(loss) => total += x.weight * loss,
            None => odd.push(id),
        }
    }
    b.copy = copy;
    if g.wanted {
        let pairs = b.pairs.iter().zip(&b.e).zip(&b.gold);
        g.transitions
            .iter_mut()
            .zip(pairs)
            .for_each(|(g, ((p, e), gold))| *g += R::from_f64(p * e.to_f64() - gold));
    }
    total
}

/// Scores from the rows, and the score of the gold labels.
struct Gather<'a, R> {
    work: &'a Work<'a, R>,
    x: SequenceView<'a>,
    rows: &'a [R],
    singles: &'a [R],
    later: &'a [R],
    gold: &'a mut f64,
}

impl<R: Real> Scores<R> for Gather<'_, R> {
    #[inline(always)]
    fn put<const W: usize>(&mut self, t: usize, row: &mut [R]) {
        let Gather { work, x, rows, singles, later, gold } = self;
        let (space, width) = (work.space, width_of::<W>(work.space));
        if t + 1 < x.len() {
            fetch(space, 2 * width, x.nodes.at(t + 1), rows, singles, Some(later));
        }
        score_position::<R, W, 2>(space, rows, singles, x.nodes.at(t), x.nodes.values_at(t), row);
        let y = usize::from(x.labels[t]);
        **gold += row[y].to_f64();
        if t > 0 {
            **gold += work.w.transitions[usize::from(x.labels[t - 1]) * width + y].to_f64();
        }
    }
}

/// Posteriors minus gold, into the gradient.
struct Scatter<'a, R> {
    space: SpaceView<'a>,
    x: SequenceView<'a>,
    c: R,
    rows: &'a mut [R],
    singles: &'a mut [R],
    touched: &'a mut Touched,
}

impl<R: Real> Posteriors<R> for Scatter<'_, R> {
    #[inline(always)]
    fn take<const W: usize>(&mut self, gold: &mut [f64], t: usize, part: &mut [R]) {
        let Scatter { space, x, c, rows, singles, touched } = self;
        let (width, y) = (width_of::<W>(*space), usize::from(x.labels[t]));
        if t > 0 {
            gold[usize::from(x.labels[t - 1]) * width + y] += x.weight;
        }
        if W < 4 {
            part[y] += R::ZERO - *c;
        } else {
            // In vectors: a single number that was just stored would hold up the load of the row around it.
            let minus = R::ZERO - *c;
            for (i, part) in part.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *part = std::array::from_fn(|j| part[j] + minus.unless(u32::from(4 * i + j != y)));
            }
        }
        scatter_position::<R, W, 2>(
            *space,
            x.nodes.at(t),
            x.nodes.values_at(t),
            part,
            rows,
            singles,
            touched,
        );
    }
}

/// Posteriors of one sum, to which those of another will be added.
struct Keep<'a, R> {
    parts: &'a mut [R], // [T][W]
    add: bool,
}

impl<R: Real> Posteriors<R> for Keep<'_, R> {
    #[inline(always)]
    fn take<const W: usize>(&mut self, _: &mut [f64], t: usize, part: &mut [R]) {
        let row = &mut self.parts[t * part.len()..][..part.len()];
        match self.add {
            false => row.copy_from_slice(part),
            true => row.iter_mut().zip(part).for_each(|(row, part)| *row += *part),
        }
    }
}

/// The width of a row: known beforehand, or that of the space.
#[inline(always)]
fn width_of<const W: usize>(space: SpaceView<'_>) -> usize {
    if W == 0 { space.width } else { W }
}

impl<R: Real> Batch<R> {
    #[inline(always)]
    fn score<const W: usize>(&mut self, work: &Work<'_, R>, x: SequenceView<'_>, g: &Gradient<'_, R>) {
        let (space, width) = (work.space, width_of::<W>(work.space));
        self.nodes.resize(x.len() * width, R::ZERO);
        let (rows, singles) = (&*g.rows, work.w.singles);
        for (t, out) in self.nodes.chunks_exact_mut(width).enumerate() {
            if t + 1 < x.len() {
                fetch(space, 2 * width, x.nodes.at(t + 1), rows, singles, Some(g.singles));
            }
            score_position::<R, W, 2>(space, rows, singles, x.nodes.at(t), x.nodes.values_at(t), out);
        }
    }

    #[inline(always)]
    fn gold_score<const W: usize>(&self, work: &Work<'_, R>, x: SequenceView<'_>) -> f64 {
        let width = width_of::<W>(work.space);
        let (mut score, mut before) = (0.0, None::<usize>);
        for (t, (row, &y)) in self.nodes.chunks_exact(width).zip(x.labels).enumerate() {
            let y = usize::from(y);
            score += row[y].to_f64();
            if let Some(before) = before {
                let pair = before * width + y;
                score += work.w.transitions[pair].to_f64();
                if !x.edges.is_empty() {
                    score += steps::score(work, x, t, pair);
                }
            }
            before = Some(y);
        }
        score
    }

    /// The loss of a sequence without attributes of edges, whose gold labels are known; none if scores are too far
    /// apart. Each position is scored one ahead of the forward sums: the sums along the chain wait for each other, and the
    /// processor reads the rows of the next position meanwhile.
    #[inline(always)]
    fn plain_loss<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        g: &mut Gradient<'_, R>,
    ) -> Option<f64> {
        let (space, width) = (work.space, width_of::<W>(work.space));
        self.nodes.resize(x.len() * width, R::ZERO);
        let mut gold = 0.0;
        let (rows, singles, later) = (&*g.rows, work.w.singles, &*g.singles);
        let scores = Gather { work, x, rows, singles, later, gold: &mut gold };
        let log_z = self.forward::<W>(work, x, work.range, None, scores)?;
        if g.wanted {
            let c = R::from_f64(x.weight);
            let Gradient { rows, singles, touched, .. } = &mut *g;
            self.backward::<W>(work, x, c, Scatter { space, x, c, rows, singles, touched });
        }
        Some(log_z - gold)
    }

    /// The loss of a sequence whose scores are at hand; none if they are too far apart.
    #[inline(always)]
    fn loss<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        range: R,
        g: &mut Gradient<'_, R>,
    ) -> Option<f64> {
        let gold = self.gold_score::<W>(work, x);
        let log_z = self.forward::<W>(work, x, range, None, There)?;
        if g.wanted {
            let (space, c) = (work.space, R::from_f64(x.weight));
            let Gradient { rows, singles, touched, .. } = &mut *g;
            self.backward::<W>(work, x, c, Scatter { space, x, c, rows, singles, touched });
            if !x.edges.is_empty() {
                self.steps.spread(
                    work,
                    x,
                    x.weight,
                    Some(x.labels),
                    &self.alpha,
                    &self.nodes,
                    &self.e,
                    &mut self.gold,
                    g.edges,
                );
            }
        }
        Some(log_z - gold)
    }

    /// The same where gold labels are known in part.
    #[inline(always)]
    fn partial_loss<const W: usize>(
        &mut self,
        work: &Work<'_, R>,
        x: SequenceView<'_>,
        range: R,
        sets: &Sets,
        g: &mut Gradient<'_, R>,
    ) -> Option<f64> {
        if x.labels.iter().all(|known| sets.holds_all(*known)) {
            return Some(0.0); // two sums over the same
        }
        let (space, width) = (work.space, width_of::<W>(work.space));
        self.kept[0].clone_from(&self.nodes);
        let all = self.forward::<W>(work, x, range, None, There)?;
        self.swap_kept();
        let right = self.forward::<W>(work, x, range, Some(sets), There)?;
        self.swap_kept();
        if !g.wanted {
            return Some(all - right);
        }
        let mut parts = std::mem::take(&mut self.parts);
        parts.resize(x.len() * width, R::ZERO);
        for (add, c) in [(false, x.weight), (true, -x.weight)] {
            self.backward::<W>(work, x, R::from_f64(c), Keep { parts: &mut parts, add });
            if !x.edges.is_empty() {
                self.steps.spread(
                    work,
                    x,
                    c,
                    None,
                    &self.alpha,
                    &self.nodes,
                    &self.e,
                    &mut self.gold,
                    g.edges,
                );
            }
            self.swap_kept();
        }
        let Gradient { rows, singles, touched, .. } = g;
        for (t, part) in parts.chunks_exact(width).enumerate() {
            let (ids, values) = (x.nodes.at(t), x.nodes.values_at(t));
            scatter_position::<R, W, 2>(space, ids, values, part, rows, singles, touched);
        }
        self.parts = parts;
        Some(all - right)
    }

    /// The other one of two sums over a sequence.
    fn swap_kept(&mut self) {
        let here = [&mut self.nodes, &mut self.alpha, &mut self.scales];
        here.into_iter().zip(&mut self.kept).for_each(|(here, kept)| std::mem::swap(here, kept));
    }
}
