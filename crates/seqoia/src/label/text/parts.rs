//! From the weights of a text to the arrays of a model: the way that training takes in `save.rs`, without a
//! training set.

use std::collections::{HashMap, HashSet};

use seqoia_core::Pairs;
use seqoia_core::cast::narrow;
use seqoia_data::features::{Keys, NONE, Program, Renumbered, Strings};
use seqoia_structures::chain::{Layout, Space};

use crate::error::Result;
use crate::label::meta::Description;
use crate::label::save::{Arrays, coded, keep, keys, lay_out};
use seqoia_model::codes::Bits;

/// What the first lines say.
pub(super) struct Head {
    pub(super) text: Vec<u8>,
    pub(super) description: Description,
    pub(super) program: Program,
    pub(super) labels: HashMap<String, u16>,
}

/// What the lines of weights say.
#[derive(Default)]
pub(super) struct Weights {
    pub(super) transitions: Vec<f32>, // [K][W]
    pub(super) strings: Strings,
    pub(super) nodes: Attributes,
    pub(super) edges: Attributes,
}

/// Attributes with their weights, in order of appearance.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) keys: Keys,
    /// The one whose lines are being read.
    last: Option<u32>,
    weights: Vec<(u32, f32)>,
    labels: HashSet<u32>,
    /// Number in `keys` of each attribute that has a weight.
    owners: Vec<u32>,
    pairs: Pairs,
    values: Vec<f32>,
}

impl Attributes {
    /// Takes a weight; or says why not.
    pub(super) fn add(
        &mut self,
        key: &[u32],
        label: u32,
        weight: f32,
    ) -> std::result::Result<(), &'static str> {
        let before = self.keys.view().len();
        let Some(id) = self.keys.intern(key) else { return Err("there are too many attributes") };
        if self.last != Some(id) {
            if (id as usize) < before {
                return Err("this attribute has lines above; all of them must stand together");
            }
            self.flush();
            self.last = Some(id);
        }
        if !self.labels.insert(label) {
            return Err("this weight is there already");
        }
        self.weights.push((label, weight));
        Ok(())
    }

    fn flush(&mut self) {
        self.labels.clear();
        let kept = keep(self.weights.drain(..), &mut self.pairs, &mut self.values) != NONE;
        self.owners.extend(self.last.filter(|_| kept));
    }

    fn finish(&mut self) {
        self.flush();
        self.pairs.starts.push(narrow(self.pairs.labels.len()));
    }
}

/// Lays the weights out, in these bits.
///
/// # Errors
/// A weight that does not fit.
pub(super) fn arrays(head: Head, weights: &mut Weights, bits: Bits) -> Result<Arrays> {
    let Head { text: mut meta_text, mut description, program, .. } = head;
    let meta = &mut description.labeller;
    let Weights { nodes, edges, transitions, strings: known } = weights;
    nodes.finish();
    edges.finish();
    let (space, new) = Space::new(meta.labels.len(), &nodes.pairs, &edges.pairs, None, Layout::Stored);
    let weights = lay_out(&space, transitions, &nodes.pairs, &nodes.values, &new.nodes, &edges.values);
    let order = |owners: &[u32], new: &[u32]| new.iter().copied().zip(owners.iter().copied()).collect();
    let mut strings = Renumbered::new(known.view());
    let (node_keys, numbers) =
        keys(&program, nodes.keys.view(), order(&nodes.owners, &new.nodes), &mut strings);
    let (edge_keys, _) = keys(&program, edges.keys.view(), order(&edges.owners, &new.edges), &mut strings);
    let strings = strings.finish();
    let counts = (space.view().dense, weights.iter().filter(|w| **w != 0.0).count());
    if counts != (meta.dense, meta.weights) {
        (meta.dense, meta.weights) = counts;
        meta_text = description.bytes();
    }
    let (meta, weights) = (meta_text, coded(weights, bits)?);
    Ok(Arrays { meta, space, weights, strings, nodes: node_keys, numbers, edges: edge_keys })
}
