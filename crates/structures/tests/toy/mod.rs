//! Small random chains that can be enumerated.

#![allow(dead_code)] // each test program uses some of it

use std::sync::Arc;

use seqoia_core::cast::{label, narrow, real, single};
use seqoia_core::{Pairs, Ragged, Random, Sequence, SequenceView};
use seqoia_structures::chain::{Chain, Renumbering, Space};

/// What a random chain has.
#[derive(Clone, Copy)]
pub(crate) struct Toy {
    pub(crate) labels: usize,
    pub(crate) length: usize,
    pub(crate) edges: bool,
    pub(crate) values: bool,
    pub(crate) all: bool,
    /// Weights are whole numbers, so that ties occur.
    pub(crate) ties: bool,
    pub(crate) size: f64,
}

pub(crate) const PLAIN: Toy =
    Toy { labels: 3, length: 4, edges: false, values: false, all: false, ties: false, size: 1.0 };

pub(crate) fn toys() -> Vec<Toy> {
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
        p.counts.push(narrow(random.below(9)));
    }
    p
}

/// A random space with five sequences, and weights that are 0 in the holes.
pub(crate) fn make(toy: Toy, seed: u64) -> (Arc<Chain>, Vec<Sequence>, Vec<f64>) {
    const ATTRIBUTES: usize = 12;
    let mut random = Random::new(seed, 0, 0, "toy");
    let k = toy.labels;
    let nodes = pairs(&mut random, ATTRIBUTES, k);
    let edges = if toy.edges { pairs(&mut random, 4, k * k) } else { Pairs::default() };
    let transitions: Vec<u32> = (0..narrow(k * k)).filter(|_| random.unit() < 0.7).collect();
    let (space, new) = Space::new(k, &nodes, &edges, Some(&transitions), toy.all);
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

pub(crate) fn view(s: &Sequence) -> SequenceView<'_> {
    seqoia_core::Example::view(s)
}

pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}
