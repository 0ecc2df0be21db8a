//! Random sequences for the kernels: like text, a few attributes are frequent and most are rare, a label
//! depends on the word and on the label before, and few of the label pairs occur.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use seqoia_core::cast::{label, narrow, single};
use seqoia_core::{Pairs, Ragged, Random, Sequence};
use seqoia_structures::chain::{Chain, Layout, Sets, Space};

/// What the sequences are like.
pub(crate) struct Shape {
    pub(crate) labels: usize,
    pub(crate) tokens: usize,
    pub(crate) words: usize,
    /// Every pair of attribute and label has a weight.
    pub(crate) all: bool,
    /// Attributes have values.
    pub(crate) values: bool,
    /// Every tenth gold label is not known.
    pub(crate) partial: bool,
}

/// Words to either side that a token has as attributes; as many classes of words come on top.
const WINDOW: usize = 3;
/// Classes of words.
const CLASSES: usize = 40;
/// How far a label may be from the one before.
const STEPS: [usize; 6] = [0, 1, 2, 3, 5, 8];
const LENGTH: usize = 20;

/// The chain, and weights that are about right for it: they grow with the count of their pair.
pub(crate) fn chain(shape: &Shape) -> Result<(Chain, Vec<f64>)> {
    let mut random = Random::new(1, 0, 0, "guard");
    let mut all: Vec<Sequence> = (0..shape.tokens / LENGTH).map(|_| sequence(shape, &mut random)).collect();
    let attributes = (2 * WINDOW + 1) * (shape.words + CLASSES);
    let (mut seen, mut counts) = (vec![BTreeSet::new(); attributes], vec![0; attributes]);
    let mut steps = BTreeSet::new();
    for x in &all {
        for (t, &y) in x.labels.iter().enumerate() {
            for &a in x.nodes.view().at(t) {
                seen[a as usize].insert(u32::from(y));
                counts[a as usize] += 1;
            }
        }
        steps.extend(x.labels.windows(2).map(|y| narrow(usize::from(y[0]) * shape.labels) + u32::from(y[1])));
    }
    let mut pairs = Pairs { starts: vec![0], counts, ..Pairs::default() };
    for labels in seen {
        pairs.labels.extend(labels);
        pairs.starts.push(narrow(pairs.labels.len()));
    }
    let steps: Vec<u32> = steps.into_iter().collect();
    let layout = if shape.all { Layout::All } else { Layout::Observed };
    let (space, new) = Space::new(shape.labels, &pairs, &Pairs::default(), Some(&steps), layout);

    let mut w = vec![0.0; space.view().weights()];
    for x in &mut all {
        let Ragged { starts, items, .. } = &mut x.nodes;
        items.iter_mut().for_each(|a| *a = new.nodes[*a as usize]);
        // Attributes with dense rows come first; they have the lower numbers.
        starts.windows(2).for_each(|list| items[list[0] as usize..list[1] as usize].sort_unstable());
        for (t, &y) in x.labels.iter().enumerate() {
            let nodes = x.nodes.view().at(t).iter().filter_map(|&a| space.node_weight(a, y));
            let before = t.checked_sub(1).and_then(|s| space.transition_weight(x.labels[s], y));
            nodes.chain(before).for_each(|at| w[at] += 1.0);
        }
    }
    w.iter_mut().for_each(|w| *w = 0.3 * f64::ln_1p(*w));

    let mut sets = Sets::new(shape.labels);
    if shape.partial {
        let unknown = label(sets.add((0..shape.labels).map(label)));
        all.iter_mut().flat_map(|x| &mut x.labels).step_by(10).for_each(|y| *y = unknown);
    }
    Ok((Chain::new(Arc::new(space), Arc::new(all)).with_limits(None, sets)?, w))
}

fn sequence(shape: &Shape, random: &mut Random) -> Sequence {
    let Shape { labels, words, .. } = *shape;
    let mut x = Sequence::default();
    let (mut y, mut text) = (random.below(labels), vec![]);
    for _ in 0..LENGTH {
        y = (y + STEPS[random.below(STEPS.len())]) % labels;
        // A word of the label, most often one of the first; now and then any word.
        let rank = (0..3).fold(words / labels, |n, _| 1 + random.below(n)) - 1;
        text.push(if random.below(10) == 0 { random.below(words) } else { rank * labels + y });
        x.labels.push(label(y));
    }
    x.nodes.starts.push(0);
    for t in 0..LENGTH {
        for offset in 0..=2 * WINDOW {
            let Some(&word) = (t + offset).checked_sub(WINDOW).and_then(|t| text.get(t)) else { continue };
            let class = (2 * WINDOW + 1) * words + offset * CLASSES + word % CLASSES;
            x.nodes.items.extend([narrow(offset * words + word), narrow(class)]);
        }
        x.nodes.starts.push(narrow(x.nodes.items.len()));
    }
    if shape.values {
        x.nodes.values = x.nodes.items.iter().map(|_| single(0.5 + random.unit())).collect();
    }
    x
}
