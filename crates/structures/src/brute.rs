//! Chains by enumeration: every labelling, scored from the definition. Exponential, and the
//! reference that all kernels must equal in the tests.

use crate::chain::SpaceView;
use seqoia_core::SequenceView;
use seqoia_core::cast::label;

/// Score of one labelling, straight from the weights.
#[must_use]
pub fn score(space: SpaceView<'_>, w: &[f64], x: SequenceView<'_>, labels: &[u16]) -> f64 {
    let mut total = 0.0;
    for t in 0..x.len() {
        let y = usize::from(labels[t]);
        for (i, &a) in x.nodes.at(t).iter().enumerate() {
            let value = x.nodes.values_at(t).map_or(1.0, |v| f64::from(v[i]));
            total += value * node_weight(space, w, a as usize, y);
        }
        if t == 0 {
            continue;
        }
        let from = usize::from(labels[t - 1]);
        total += w[from * space.width + y];
        if x.edges.is_empty() {
            continue;
        }
        for (i, &e) in x.edges.at(t).iter().enumerate() {
            let value = x.edges.values_at(t).map_or(1.0, |v| f64::from(v[i]));
            let range = space.edge_starts[e as usize] as usize..space.edge_starts[e as usize + 1] as usize;
            let here = |p: &usize| space.edge_pairs[p - space.edges_at()] as usize == from * space.width + y;
            total += value * range.filter(here).map(|p| w[p]).sum::<f64>();
        }
    }
    total
}

fn node_weight(space: SpaceView<'_>, w: &[f64], attribute: usize, y: usize) -> f64 {
    if attribute < space.dense {
        return w[space.rows_at() + attribute * space.width + y];
    }
    let list = space.list(seqoia_core::cast::narrow(attribute));
    list.into_iter().filter(|(_, label)| usize::from(*label) == y).map(|(p, _)| w[p]).sum()
}

/// All labellings of `length` positions, in the order in which ties are broken (the last position
/// decides first, lower labels first).
#[must_use]
pub fn labellings(labels: usize, length: usize) -> Vec<Vec<u16>> {
    let mut all = vec![vec![]];
    for _ in 0..length {
        all = (0..labels)
            .flat_map(|y| {
                all.iter().map(move |rest: &Vec<u16>| {
                    let mut l = rest.clone();
                    l.push(label(y));
                    l
                })
            })
            .collect();
    }
    all
}

/// log Z.
#[must_use]
pub fn log_z(space: SpaceView<'_>, w: &[f64], x: SequenceView<'_>) -> f64 {
    let scores: Vec<f64> = labellings(space.labels, x.len()).iter().map(|y| score(space, w, x, y)).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + scores.iter().map(|s| (s - most).exp()).sum::<f64>().ln()
}
