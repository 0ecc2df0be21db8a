//! Random chains: small ones that can be enumerated ([`make`]), and larger ones whose labels can be learned
//! ([`learnable`]); and chains written out by hand ([`written`]).

use std::sync::Arc;

use seqoia_core::cast::{label, narrow, real, single};
use seqoia_core::{Pairs, Ragged, Random, Sequence, SequenceView};
use seqoia_structures::chain::{Chain, Layout, Renumbering, Space};

/// What a random chain has.
#[derive(Clone, Copy, Debug)]
pub struct Toy {
    /// Number of labels.
    pub labels: usize,
    /// Length of its sequences.
    pub length: usize,
    /// Edges have attributes.
    pub edges: bool,
    /// Attributes have values.
    pub values: bool,
    /// Every attribute goes with every label.
    pub all: bool,
    /// Weights are whole numbers, so that ties occur.
    pub ties: bool,
    /// Size of the weights.
    pub size: f64,
}

/// Three labels, four positions, nothing else.
pub const PLAIN: Toy =
    Toy { labels: 3, length: 4, edges: false, values: false, all: false, ties: false, size: 1.0 };

/// All kinds of toys with up to four labels and positions.
#[must_use]
pub fn toys() -> Vec<Toy> {
    let mut all = vec![];
    for labels in 1..=4 {
        for length in 0..=4 {
            for kind in 0..8 {
                let (edges, values, ties) = (kind & 1 == 1, kind & 2 == 2, kind & 4 == 4);
                all.push(Toy {
                    labels,
                    length,
                    edges,
                    values,
                    ties,
                    all: (labels + kind) % 3 == 0,
                    size: 1.0,
                });
            }
        }
    }
    all
}

fn lists(random: &mut Random, length: usize, numbers: &[u32], values: bool) -> Ragged {
    let mut r = Ragged { starts: vec![0], ..Ragged::default() };
    for _ in 0..length {
        let from = r.items.len();
        let drawn = (0..random.below(5)).map(|_| numbers[random.below(numbers.len())]);
        r.items.extend(drawn.filter(|a| *a != Renumbering::NONE));
        r.items[from..].sort_unstable();
        r.starts.push(narrow(r.items.len()));
    }
    if values {
        r.values = r.items.iter().map(|_| single(random.unit() * 2.0 - 0.5)).collect();
    }
    r
}

fn pairs(random: &mut Random, attributes: usize, labels: usize) -> Pairs {
    let mut p = Pairs { starts: vec![0], ..Pairs::default() };
    for _ in 0..attributes {
        p.labels.extend((0..narrow(labels)).filter(|_| random.unit() < 0.5));
        p.starts.push(narrow(p.labels.len()));
        // Some so frequent that they have rows.
        let count = random.below(9);
        p.counts.push(narrow(if count > 4 { 1000 * count } else { count }));
    }
    p
}

/// A random space with five sequences, and weights that are 0 in the holes.
#[must_use]
pub fn make(toy: Toy, seed: u64) -> (Arc<Chain>, Vec<Sequence>, Vec<f64>) {
    const ATTRIBUTES: usize = 12;
    let mut random = Random::new(seed, 0, 0, "toy");
    let k = toy.labels;
    let nodes = pairs(&mut random, ATTRIBUTES, k);
    let edges = if toy.edges { pairs(&mut random, 4, k * k) } else { Pairs::default() };
    let transitions: Vec<u32> = (0..narrow(k * k)).filter(|_| random.unit() < 0.7).collect();
    let layout = if toy.all { Layout::All } else { Layout::Observed };
    let (space, new) = Space::new(k, &nodes, &edges, Some(&transitions), layout);
    let sequences: Vec<Sequence> = (0..5)
        .map(|_| Sequence {
            nodes: lists(&mut random, toy.length, &new.nodes, toy.values),
            edges: if toy.edges {
                lists(&mut random, toy.length, &new.edges, toy.values)
            } else {
                Ragged::default()
            },
            labels: (0..toy.length).map(|_| label(random.below(k))).collect(),
            weight: 0.5 + random.unit(),
        })
        .collect();
    let mut w: Vec<f64> = (0..space.view().weights())
        .map(|_| if toy.ties { real(random.below(3)) - 1.0 } else { (random.unit() * 4.0 - 2.0) * toy.size })
        .collect();
    space.clear_holes(&mut w);
    (Arc::new(Chain::new(Arc::new(space), Arc::new(sequences.clone()))), sequences, w)
}

/// A sequence, borrowed.
#[must_use]
pub fn view(s: &Sequence) -> SequenceView<'_> {
    seqoia_core::Example::view(s)
}

/// Labels of [`learnable`] chains.
pub const LABELS: usize = 5;
/// Attributes of [`learnable`] chains.
pub const ATTRIBUTES: usize = 40;

/// Random sequences whose labels depend on their attributes and on the label before.
#[must_use]
pub fn learnable(sequences: usize, seed: u64) -> Chain {
    let mut random = Random::new(seed, 0, 0, "toy");
    let all: Vec<Sequence> = (0..sequences)
        .map(|_| {
            let length = 1 + random.below(12);
            let mut nodes = Ragged { starts: vec![0], ..Ragged::default() };
            let mut labels: Vec<u16> = vec![];
            for _ in 0..length {
                let word = random.below(ATTRIBUTES - 8);
                let context = ATTRIBUTES - 8 + random.below(8);
                let before = labels.last().map_or(0, |&y| usize::from(y));
                // Every sixth word has no label of its own and takes the one before.
                let own = if word % 6 < LABELS { word % 6 } else { before };
                labels.push(label(if random.unit() < 0.03 { random.below(LABELS) } else { own }));
                nodes.items.extend([narrow(word), narrow(context)]);
                nodes.starts.push(narrow(nodes.items.len()));
            }
            Sequence { nodes, labels, weight: 0.5 + random.unit(), ..Sequence::default() }
        })
        .collect();
    Chain::new(Arc::new(space()), Arc::new(all))
}

/// The space of [`learnable`] chains: every attribute with every label.
#[must_use]
pub fn space() -> Space {
    space_of(LABELS, ATTRIBUTES)
}

/// Every one of so many attributes with every label, and all pairs of labels. Attributes keep their numbers.
#[must_use]
pub fn space_of(labels: usize, attributes: usize) -> Space {
    let nodes = Pairs {
        starts: (0..=attributes).map(|i| narrow(i * labels)).collect(),
        labels: (0..attributes).flat_map(|_| 0..narrow(labels)).collect(),
        counts: vec![1; attributes],
    };
    let transitions: Vec<u32> = (0..narrow(labels * labels)).collect();
    Space::new(labels, &nodes, &Pairs::default(), Some(&transitions), Layout::All).0
}

/// A chain written out: for each sequence one attribute per position, the gold labels, and the weight.
#[must_use]
pub fn written(labels: usize, attributes: usize, sequences: &[(&[u32], &[u16], f64)]) -> Chain {
    let sequence = |&(items, labels, weight): &(&[u32], &[u16], f64)| {
        let starts = (0..=narrow(items.len())).collect();
        let nodes = Ragged { starts, items: items.to_vec(), values: vec![] };
        Sequence { nodes, labels: labels.to_vec(), weight, ..Sequence::default() }
    };
    let all: Vec<Sequence> = sequences.iter().map(sequence).collect();
    Chain::new(Arc::new(space_of(labels, attributes)), Arc::new(all))
}
