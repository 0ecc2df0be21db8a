//! What margin learners ask a chain: outputs that beat gold, by exact search or in a beam, as sparse
//! differences of features.
//!
//! With gold labels that are known in part the best labelling that they allow stands for gold, and what they
//! allow is no mistake.

use super::lane::{Place, edge_weights, limits};
use super::{Chain, Decoder};
use seqoia_core::cast::narrow;
use seqoia_core::{Error, Note, Result, Row, Search, SequenceView, Violation, Weights};

/// The fields of a lane that a search needs.
pub(super) struct Searcher<'a> {
    pub(super) chain: &'a Chain,
    pub(super) decoder: &'a mut Decoder<f64>,
    pub(super) found: &'a mut Vec<u16>,
    pub(super) gold: &'a mut Vec<u16>,
}

impl<'a> Searcher<'a> {
    /// See `Lane::violations`; of `x`, which lies at this place.
    pub(super) fn violations(
        self,
        place: Place,
        mut x: SequenceView<'a>,
        w: Weights<'_>,
        search: &Search,
        note: &mut Note,
    ) -> Result<()> {
        let Searcher { chain, decoder, found, gold } = self;
        let id = place.id;
        let space = chain.space.view();
        decoder.score(space, w.values, w.scale, x);
        if search.cost != 0.0 {
            add_costs(chain, x.labels, search.cost, &mut decoder.nodes);
        }
        let known = x.labels;
        if chain.limits.is_partial(id) {
            // The best labelling of those that they allow stands for gold; none of its labels has a cost.
            decoder.best_of_scored(space, limits(chain, place, Some(known)), gold);
            x.labels = gold.as_slice();
        }
        let (x, gold) = (x, Gold { chain, id, known });
        decoder.limit(space, limits(chain, place, None));
        if let Some(size) = chain.beam {
            return in_beam(gold, decoder, x, size, search, note, found);
        }
        let mut keep = |decoder: &Decoder<f64>, rank: usize, found: &[u16], score: f64| {
            if !score.is_finite() {
                return Err(Error::NotFinite { id, what: format!("the best labelling scores {score}") });
            }
            if found != x.labels && !gold.allows(found) {
                let v = note.violation();
                v.cost = gold.cost(found);
                // Both scores hold costs: none for gold, `search.cost` a wrong label for the other.
                v.margin = decoder.score_of(space, x.labels) - (score - search.cost * v.cost);
                // The best one beats gold even if rounding says otherwise.
                let beats = v.margin <= 0.0 || (rank == 0 && search.cost == 0.0);
                differ(chain, x, found, v);
                note.wrong |= beats;
            }
            Ok(())
        };
        if search.k <= 1 {
            let score = decoder.best_scored(space, found);
            return keep(decoder, 0, found, score);
        }
        let best = decoder.nbest_scored(space, search.k);
        best.iter().enumerate().try_for_each(|(rank, l)| keep(decoder, rank, &l.labels, l.score))
    }
}

/// The violation that inexact search finds: one pair of prefixes, as `search.update` says.
fn in_beam(
    gold: Gold<'_>,
    decoder: &mut Decoder<f64>,
    x: SequenceView<'_>,
    size: usize,
    search: &Search,
    note: &mut Note,
    found: &mut Vec<u16>,
) -> Result<()> {
    let (chain, id) = (gold.chain, gold.id);
    let space = chain.space.view();
    let Decoder { nodes, edges, stride, beam, .. } = decoder;
    beam.run(space, nodes, edges, *stride, size);
    let mut score = beam.trace(space, edges, *stride, x.len(), found);
    if score == f64::NEG_INFINITY {
        // Rules let the beam run into a dead end: one that has room for every label does not.
        beam.run(space, nodes, edges, *stride, space.labels);
        score = beam.trace(space, edges, *stride, x.len(), found);
    }
    if !score.is_finite() {
        return Err(Error::NotFinite { id, what: format!("the best labelling scores {score}") });
    }
    note.wrong = found != x.labels && !gold.allows(found);
    let mut prefixes = vec![]; // scores of gold's
    for (t, &y) in x.labels.iter().enumerate() {
        let (node, y) = (nodes[t * space.width + usize::from(y)], usize::from(y));
        let arrive = t
            .checked_sub(1)
            .map_or(0.0, |s| prefixes[s] + edges[s * *stride + usize::from(x.labels[s]) * space.width + y]);
        prefixes.push(arrive + node);
    }
    let length = beam.length(space, search.update, &prefixes, x.labels);
    let score = beam.trace(space, edges, *stride, length, found);
    if found[..] != x.labels[..length] && !gold.allows(found) {
        let v = note.violation();
        v.cost = gold.cost(found);
        v.margin = prefixes[length - 1] - (score - search.cost * v.cost);
        differ(chain, x, found, v);
    }
    Ok(())
}

/// The gold labels of an example as they are known.
#[derive(Clone, Copy)]
struct Gold<'a> {
    chain: &'a Chain,
    id: usize,
    known: &'a [u16],
}

impl Gold<'_> {
    /// Known in part, they allow this labelling or prefix: it is no mistake.
    fn allows(self, found: &[u16]) -> bool {
        let sets = &self.chain.limits.sets;
        self.chain.limits.is_partial(self.id)
            && self.known.iter().zip(found).all(|(gold, y)| sets.holds(*gold, *y))
    }

    /// What a labelling or prefix costs.
    fn cost(self, found: &[u16]) -> f64 {
        let sets = &self.chain.limits.sets;
        let missed = self.known.iter().zip(found).filter(|(gold, y)| !sets.holds(**gold, **y));
        missed.map(|(gold, _)| cost(self.chain, *gold)).sum()
    }
}

/// What it costs to miss a gold label; to miss a set of them costs 1.
fn cost(chain: &Chain, gold: u16) -> f64 {
    chain.costs.get(usize::from(gold)).copied().unwrap_or(1.0)
}

/// Adds `c` times the cost of missing gold to every label that does.
pub(super) fn add_costs(chain: &Chain, gold: &[u16], c: f64, nodes: &mut [f64]) {
    let space = chain.space.view();
    for (row, &y) in nodes.chunks_exact_mut(space.width).zip(gold) {
        let c = c * cost(chain, y);
        for (other, score) in (0u16..).zip(&mut row[..space.labels]) {
            if !chain.limits.sets.holds(y, other) {
                *score += c;
            }
        }
    }
}

/// `phi(gold) - phi(found)` as single weights: only positions and pairs that differ have any. What was
/// found may be a prefix, and is compared with a prefix of gold.
fn differ(chain: &Chain, x: SequenceView<'_>, found: &[u16], v: &mut Violation) {
    let space = chain.space.view();
    let (plus, minus) = (v.delta.share(&[1.0]), v.delta.share(&[-1.0]));
    let single = |at: usize, from: u32| Row { at: narrow(at), from, len: 1, holes: 0 };
    for t in 0..found.len() {
        let (gold, other) = (x.labels[t], found[t]);
        if gold != other {
            for (i, &a) in x.nodes.at(t).iter().enumerate() {
                let (plus, minus) = match x.nodes.values_at(t) {
                    None => (plus, minus),
                    Some(values) => {
                        let value = f64::from(values[i]);
                        (v.delta.share(&[value]), v.delta.share(&[-value]))
                    }
                };
                v.delta.rows.extend(chain.space.node_weight(a, gold).map(|at| single(at, plus)));
                v.delta.rows.extend(chain.space.node_weight(a, other).map(|at| single(at, minus)));
            }
        }
        if t == 0 || (gold == other && x.labels[t - 1] == found[t - 1]) {
            continue;
        }
        for (labels, from) in [(x.labels, plus), (found, minus)] {
            let transition = chain.space.transition_weight(labels[t - 1], labels[t]);
            v.delta.rows.extend(transition.map(|at| single(at, from)));
            if x.edges.is_empty() {
                continue;
            }
            let (before, y) = (usize::from(labels[t - 1]), usize::from(labels[t]));
            let sign = v.delta.pool[from as usize];
            for (i, &e) in x.edges.at(t).iter().enumerate() {
                let from = match x.edges.values_at(t) {
                    None => from,
                    Some(values) => v.delta.share(&[sign * f64::from(values[i])]),
                };
                edge_weights(space, e, |at, pair| {
                    if pair as usize == before * space.width + y {
                        v.delta.rows.push(single(at as usize, from));
                    }
                });
            }
        }
    }
}
