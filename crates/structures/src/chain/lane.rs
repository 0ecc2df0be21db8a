//! One worker of a chain: answers the questions of learners about one open sequence.
//!
//! Parts: label y at position t, `[T][W]`, then the label pairs, `[K][W]` summed over positions, or
//! `[T-1][K][W]` if transitions see the input. Padding columns read 0 and are ignored.

use std::sync::Arc;

use super::decoder::{Decoder, path_score};
use super::kernel::ForwardBackward;
use super::pieces::{self, Direction, repeated};
use super::search::{Searcher, add_costs};
use super::sums::Sums;
use super::{Chain, Limits, SpaceView};
use seqoia_core::cast::narrow;
use seqoia_core::{
    Delta, Error, Items, Lane, Note, Result, Row, Search, Sequence, SequenceView, Weights, sum_by_parts,
};

/// An example, or a stretch of one.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) id: usize,
    stretch: Option<(usize, usize)>, // from, to; none: all of it
}

pub(super) struct ChainLane {
    chain: Arc<Chain>,
    place: Place,
    copy: Sequence,        // of the open example, if it does not lie in memory
    copied: Option<usize>, // its number: opening it again reads nothing
    decoder: Decoder<f64>,
    forward_backward: ForwardBackward<f64>,
    found: Vec<u16>,
    gold: Vec<u16>,       // the best labelling that gold labels known in part allow
    gold_parts: Vec<f64>, // marginals among the labellings that they allow
    scaled: Vec<f64>,     // [W] of the position at hand, if W is large
    pieces: Vec<f64>,     // marginals of the pieces of `tangent`
    apart: Vec<f64>,      // edge scores of each pair apart
    sums: Sums,
}

/// Which values rows share, and what they are multiplied with.
enum Values {
    /// Of a position.
    Node(usize, f64),
    /// Of the plain label pairs, summed over positions.
    Transitions,
    /// Of an edge, the first one being number 0.
    Edge(usize, f64),
}

impl ChainLane {
    pub(super) fn new(chain: Arc<Chain>) -> Self {
        let decoder = Decoder::new(chain.isa);
        ChainLane {
            chain,
            place: Place::default(),
            copy: Sequence::default(),
            copied: None,
            decoder,
            forward_backward: ForwardBackward::default(),
            found: vec![],
            gold: vec![],
            gold_parts: vec![],
            scaled: vec![],
            pieces: vec![],
            apart: vec![],
            sums: Sums::default(),
        }
    }

    fn space(&self) -> SpaceView<'_> {
        self.chain.space.view()
    }

    fn open_view(&self) -> SequenceView<'_> {
        view(&self.chain, self.place, &self.copy)
    }

    /// Calls `see` with every row of weights that the open example has a feature in. Rows point into a
    /// pool: `share` is called for the values of each group of rows, before it, and says where they are,
    /// or that the group is to be left out.
    fn each_row(&self, mut share: impl FnMut(Values) -> Option<u32>, mut see: impl FnMut(Row)) {
        let (space, x) = (self.space(), self.open_view());
        let layout = &*self.chain.space;
        let value = |items: Items<'_>, t: usize, i: usize| items.values_at(t).map(|v| f64::from(v[i]));
        for t in 0..x.len() {
            // All attributes share one copy unless they have values of their own.
            let plain = x.nodes.values.is_empty();
            let shared = if plain { share(Values::Node(t, 1.0)) } else { None };
            for (i, &a) in x.nodes.at(t).iter().enumerate() {
                let own = value(x.nodes, t, i).and_then(|value| share(Values::Node(t, value)));
                let Some(from) = shared.or(own) else { continue };
                if (a as usize) < space.dense {
                    let at = space.rows_at() + a as usize * space.width;
                    dense(space.width, layout.holes(space.labels + a as usize), at, from, &mut see);
                } else {
                    space.each_single(a, |p, y| {
                        let (at, from) = (narrow(space.singles_at() + p), from + narrow(y));
                        see(Row { at, from, len: 1, holes: 0 });
                    });
                }
            }
        }
        if x.len() > 1
            && let Some(from) = share(Values::Transitions)
        {
            for y in 0..space.labels {
                let at = y * space.width;
                dense(space.width, layout.holes(y), at, from + narrow(at), &mut see);
            }
        }
        for t in 1..x.edges.len() {
            let plain = x.edges.values.is_empty();
            let shared = if plain { share(Values::Edge(t - 1, 1.0)) } else { None };
            for (i, &e) in x.edges.at(t).iter().enumerate() {
                let own = value(x.edges, t, i).and_then(|value| share(Values::Edge(t - 1, value)));
                let Some(from) = shared.or(own) else { continue };
                edge_weights(space, e, |at, pair| see(Row { at, from: from + pair, len: 1, holes: 0 }));
            }
        }
    }

    /// log Z and marginals of scores whose edges are apart; of what gold labels allow if `gold`.
    fn infer_apart(&mut self, nodes: &[f64], edges: &[f64], gold: bool, marginals: &mut [f64]) -> f64 {
        let ChainLane { chain, place, copy, decoder, forward_backward, .. } = self;
        let (space, x) = (chain.space.view(), view(chain, *place, copy));
        let limits = limits(chain, *place, gold.then_some(x.labels));
        let out = Some(marginals.split_at_mut(nodes.len()));
        let matrix = space.labels * space.width;
        forward_backward.run(decoder.kernel.isa(), space, nodes, edges, matrix, limits, out)
    }

    /// Adds `c` times the derivative of the marginals, of what gold labels allow if `gold`.
    fn add_tangent(&mut self, scores: &[f64], along: &[f64], c: f64, gold: bool, out: &mut [f64]) {
        let (mut p, mut apart) = (std::mem::take(&mut self.pieces), std::mem::take(&mut self.apart));
        let (space, length, stride) = (self.space(), self.open_view().len(), self.stride());
        let (nodes, edges) = scores.split_at(length * space.width);
        repeated(edges, if stride == 0 { length.saturating_sub(1) } else { 1 }, &mut apart);
        p.resize(self.pieces(), 0.0);
        self.infer_apart(nodes, &apart, gold, &mut p);
        let direction = Direction { p: p.split_at(nodes.len()), along: along.split_at(nodes.len()), stride };
        pieces::tangent(self.space(), direction, c, out.split_at_mut(nodes.len()));
        (self.pieces, self.apart) = (p, apart);
    }

    /// Distance between the edge scores of neighbouring positions.
    fn stride(&self) -> usize {
        stride(self.space(), self.open_view())
    }
}

/// The rows of a dense attribute, 32 weights each.
#[inline(always)]
fn dense(width: usize, holes: &[u32], at: usize, from: u32, see: &mut impl FnMut(Row)) {
    for (block, &holes) in holes.iter().enumerate() {
        let len = (width - block * 32).min(32);
        let (at, from) = (narrow(at + block * 32), from + narrow(block * 32));
        see(Row { at, from, len: narrow(len), holes });
    }
}

/// The open example, in place or copied. Functions instead of methods where a buffer is borrowed
/// at the same time.
fn view<'a>(chain: &'a Chain, place: Place, copy: &'a Sequence) -> SequenceView<'a> {
    use seqoia_core::Example;
    let all = chain.corpus.view(place.id).unwrap_or_else(|| copy.view());
    place.stretch.map_or(all, |(from, to)| all.stretch(from, to))
}

/// Its limits; with its gold labels, those of what they may stand for.
pub(super) fn limits<'a>(chain: &'a Chain, place: Place, gold: Option<&'a [u16]>) -> Limits<'a> {
    let limits = chain.limits.of(place.id, gold);
    let Some((from, to)) = place.stretch else { return limits };
    Limits { inside: [from > 0, to < chain.corpus.size(place.id)], ..limits }
}

fn stride(space: SpaceView<'_>, x: SequenceView<'_>) -> usize {
    if x.edges.is_empty() { 0 } else { space.labels * space.width }
}

impl Lane for ChainLane {
    fn open_stretch(&mut self, id: usize, from: usize, to: usize) -> Result<f64> {
        let weight = self.open(id)?;
        self.place.stretch = Some((from, to));
        Ok(weight)
    }

    fn open(&mut self, id: usize) -> Result<f64> {
        self.place = Place { id, stretch: None };
        self.gold_parts.clear();
        if self.copied != Some(id) && self.chain.corpus.view(id).is_none() {
            self.copied = None;
            self.chain.corpus.read(id, &mut self.copy)?;
            self.copied = Some(id);
        }
        Ok(self.open_view().weight)
    }

    fn violations(&mut self, w: Weights<'_>, search: &Search, note: &mut Note) -> Result<()> {
        let ChainLane { chain, place, copy, decoder, found, gold, .. } = self;
        let x = view(chain, *place, copy);
        Searcher { chain, decoder, found, gold }.violations(*place, x, w, search, note)
    }

    fn parts(&self) -> usize {
        let (space, x) = (self.space(), self.open_view());
        let matrix = space.labels * space.width;
        // One token has no pairs: nothing is K x K where most sentences are that short.
        let steps = x.len().saturating_sub(1);
        x.len() * space.width + matrix * if x.edges.is_empty() { steps.min(1) } else { steps }
    }

    fn single_parts(&self) -> usize {
        self.open_view().len() * self.space().width
    }

    fn rows(&self, out: &mut Vec<Row>) {
        self.each_row(|_| Some(0), |row| out.push(row));
    }

    fn scores(&mut self, w: Weights<'_>, scores: &mut [f64]) {
        let ChainLane { chain, place, copy, decoder, .. } = self;
        let (space, x) = (chain.space.view(), view(chain, *place, copy));
        let (nodes, edges) = scores.split_at_mut(x.len() * space.width);
        decoder.kernel.node_scores(space, w.values, w.scale, x.nodes, nodes);
        if x.edges.is_empty() {
            // None if there is one token.
            edges.iter_mut().zip(w.values).for_each(|(e, a)| *e = w.scale * a);
        } else {
            decoder.kernel.edge_scores(space, w.values, w.scale, x.edges, edges);
        }
    }

    fn costs(&self, c: f64, scores: &mut [f64]) {
        add_costs(&self.chain, self.open_view().labels, c, scores);
    }

    fn infer(&mut self, scores: &[f64], marginals: Option<&mut [f64]>) -> f64 {
        let ChainLane { chain, place, copy, decoder, forward_backward, .. } = self;
        let (space, x) = (chain.space.view(), view(chain, *place, copy));
        let (nodes, edges) = scores.split_at(x.len() * space.width);
        let out = marginals.map(|m| m.split_at_mut(nodes.len()));
        let limits = limits(chain, *place, None);
        forward_backward.run(decoder.kernel.isa(), space, nodes, edges, stride(space, x), limits, out)
    }

    fn gold_score(&mut self, scores: &[f64]) -> f64 {
        let ChainLane { chain, place, copy, decoder, forward_backward, gold_parts, .. } = self;
        let (space, x) = (chain.space.view(), view(chain, *place, copy));
        let (nodes, edges) = scores.split_at(x.len() * space.width);
        if !chain.limits.is_partial(place.id) {
            return path_score(space, nodes, edges, stride(space, x), x.labels);
        }
        gold_parts.resize(scores.len(), 0.0);
        let out = Some(gold_parts.split_at_mut(nodes.len()));
        let limits = limits(chain, *place, Some(x.labels));
        forward_backward.run(decoder.kernel.isa(), space, nodes, edges, stride(space, x), limits, out)
    }

    fn gold(&mut self, c: f64, parts: &mut [f64]) {
        if self.chain.limits.is_partial(self.place.id) {
            debug_assert_eq!(self.gold_parts.len(), parts.len(), "gold_score comes first");
            parts.iter_mut().zip(&self.gold_parts).for_each(|(part, gold)| *part += c * gold);
            return;
        }
        let (space, x, stride) = (self.space(), self.open_view(), self.stride());
        let (nodes, edges) = parts.split_at_mut(x.len() * space.width);
        for (t, &y) in x.labels.iter().enumerate() {
            nodes[t * space.width + usize::from(y)] += c;
            if t > 0 {
                edges[(t - 1) * stride + usize::from(x.labels[t - 1]) * space.width + usize::from(y)] += c;
            }
        }
    }

    fn scatter(&self, parts: &[f64], least: f64, out: &mut Delta) {
        let (space, x) = (self.space(), self.open_view());
        let (width, matrix) = (space.width, space.labels * space.width);
        let (nodes, edges) = parts.split_at(x.len() * width);
        let Delta { rows, pool } = out;
        let share = |values: Values| {
            let from = pool.len();
            let (part, value) = match values {
                Values::Node(t, value) => (&nodes[t * width..][..width], value),
                Values::Edge(t, value) => (&edges[t * matrix..][..matrix], value),
                Values::Transitions if x.edges.is_empty() => (edges, 1.0),
                Values::Transitions => {
                    pool.resize(from + matrix, 0.0);
                    for part in edges.chunks_exact(matrix) {
                        pool[from..].iter_mut().zip(part).for_each(|(sum, p)| *sum += p);
                    }
                    return Some(narrow(from));
                }
            };
            part.iter().any(|p| p.abs() > least).then(|| {
                pool.extend(part.iter().map(|p| value * p));
                narrow(from)
            })
        };
        self.each_row(share, |row| rows.push(row));
    }

    fn spread(&mut self, parts: &[f64], step: f64, at: usize, to: &mut [f64]) {
        let ChainLane { chain, place, copy, decoder, scaled, .. } = self;
        let (layout, x) = (&*chain.space, view(chain, *place, copy));
        let space = layout.view();
        let (nodes, edges) = parts.split_at(x.len() * space.width);
        decoder.kernel.spread_nodes(layout, x.nodes, nodes, step, at, to, scaled);
        let matrix = space.labels * space.width;
        // Someone else's transitions are not even looked at.
        let mine = at / space.width..space.labels.min((at + to.len()).div_ceil(space.width));
        let mut add = |index: usize, x: f64| {
            if let Some(to) = index.checked_sub(at).and_then(|i| to.get_mut(i)) {
                *to += step * x;
            }
        };
        for (t, part) in edges.chunks_exact(matrix).enumerate() {
            for from in mine.clone() {
                let holes = layout.holes(from);
                for y in (0..space.labels).filter(|y| holes[y / 32] >> (y % 32) & 1 == 0) {
                    add(from * space.width + y, part[from * space.width + y]);
                }
            }
            if x.edges.is_empty() {
                continue;
            }
            let values = x.edges.values_at(t + 1);
            for (i, &e) in x.edges.at(t + 1).iter().enumerate() {
                let value = values.map_or(1.0, |v| f64::from(v[i]));
                edge_weights(space, e, |at, pair| add(at as usize, value * part[pair as usize]));
            }
        }
    }

    fn tangent(&mut self, scores: &[f64], along: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_tangent(scores, along, 1.0, false, out);
        if self.chain.limits.is_partial(self.place.id) {
            self.add_tangent(scores, along, -1.0, true, out);
        }
    }

    fn pieces(&self) -> usize {
        let (space, length) = (self.space(), self.open_view().len());
        length * space.width + length.saturating_sub(1) * space.labels * space.width
    }

    fn infer_pieces(&mut self, scores: &[f64], bonus: f64, marginals: &mut [f64]) -> f64 {
        if self.chain.limits.is_partial(self.place.id) {
            return f64::NAN;
        }
        let view = self.open_view();
        let (space, width) = (self.space(), self.space().width);
        let matrix = space.labels * width;
        let labels: Vec<usize> = view.labels.iter().map(|y| usize::from(*y)).collect();
        let (mut nodes, edges) = scores.split_at(labels.len() * width);
        let (mut raised, mut apart) = (vec![], std::mem::take(&mut self.apart));
        if edges.len() == matrix {
            repeated(edges, labels.len().saturating_sub(1), &mut apart);
        } else {
            repeated(edges, 1, &mut apart);
        }
        if bonus != 0.0 {
            raised.extend_from_slice(nodes);
            labels.iter().enumerate().for_each(|(t, y)| raised[t * width + y] += bonus);
            nodes = &raised;
            let pairs = labels.windows(2).enumerate();
            pairs.for_each(|(t, pair)| apart[t * matrix + pair[0] * width + pair[1]] += bonus);
        }
        let log_z = self.infer_apart(nodes, &apart, false, marginals);
        self.apart = apart;
        log_z
    }

    fn join(&self, pieces: &[f64], parts: &mut [f64]) {
        let nodes = self.open_view().len() * self.space().width;
        let (to, edges) = parts.split_at_mut(nodes);
        to.copy_from_slice(&pieces[..nodes]);
        edges.fill(0.0);
        for pairs in pieces[nodes..].chunks_exact(edges.len().max(1)) {
            edges.iter_mut().zip(pairs).for_each(|(to, p)| *to += p);
        }
    }

    fn counting(&self, counts: &mut [f64]) {
        pieces::counting(self.space(), self.open_view().len(), counts);
    }

    fn prepare(&mut self, _: Weights<'_>) {
        self.sums.prepare();
    }

    fn sum(&mut self, ids: &[usize], w: Weights<'_>, mut g: Option<&mut Vec<f64>>) -> Result<f64> {
        let (chain, mut odd) = (Arc::clone(&self.chain), vec![]);
        let loss = self.sums.fused(&chain, ids, w, g.as_deref_mut(), &mut odd);
        let rest = match g.as_deref_mut().filter(|_| !odd.is_empty()) {
            None => sum_by_parts(self, &odd, w, None),
            Some(g) => {
                g.resize(w.values.len(), 0.0);
                self.sums.touch_all(&chain);
                sum_by_parts(self, &odd, w, Some(g))
            }
        };
        let total = rest.and_then(|rest| {
            if (loss + rest).is_finite() {
                return Ok(loss + rest);
            }
            sum_by_parts(self, ids, w, None)?; // names the example
            let what = format!("from here on {} losses add up to {}", ids.len(), loss + rest);
            Err(Error::NotFinite { id: ids.first().copied().unwrap_or(0), what })
        });
        total.inspect_err(|_| {
            self.sums.forget();
            g.into_iter().for_each(Vec::clear);
        })
    }

    fn collect(&mut self, g: &mut Vec<f64>, to: &mut [f64]) {
        self.sums.collect(&self.chain, g, to);
    }
}

/// The weights of an edge attribute: index and `y' * W + y`.
pub(super) fn edge_weights(space: SpaceView<'_>, attribute: u32, mut each: impl FnMut(u32, u32)) {
    for at in space.edge_starts[attribute as usize]..space.edge_starts[attribute as usize + 1] {
        each(at, space.edge_pairs[at as usize - space.edges_at()]);
    }
}
