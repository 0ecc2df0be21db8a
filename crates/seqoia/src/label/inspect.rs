//! What is in a model, for a person: figures, the strongest weights, the weights of label pairs.

use seqoia_core::cast::label as label_number;
use seqoia_data::features::Frozen;
use seqoia_structures::chain::SpaceView;
use serde::Serialize;

use super::Labeller;
use super::meta::Meta;
use crate::error::{BadOption, Result};
use crate::run::Head;

/// A part of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A model in figures.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSummary {
    /// What it says about itself.
    #[serde(flatten)]
    pub head: Head,
    /// The same about labels, columns and features.
    #[serde(rename = "labeller")]
    pub meta: Meta,
    /// Templates as a person writes them.
    pub features: Vec<String>,
    /// Attributes of tokens.
    pub attributes: u64,
    /// Attributes of label pairs.
    pub edge_attributes: u64,
    /// Places for weights, with padding.
    pub places: u64,
    /// Weights that are not zero.
    pub nonzero: u64,
    /// How they are stored.
    pub precision: &'static str,
    /// The parts of the file.
    pub sections: Vec<Section>,
    /// Size of the file.
    pub bytes: u64,
    /// The checksum in the file: equal models have equal ones.
    pub digest: String,
}

/// The weight of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// The attribute.
    pub attribute: String,
    /// The label before, if the attribute is one of a label pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The weight.
    pub weight: f32,
}

/// The strongest weights of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strongest {
    /// The label.
    pub label: String,
    /// What speaks for it, the strongest first.
    pub positive: Vec<Weight>,
    /// What speaks against it, the strongest first.
    pub negative: Vec<Weight>,
}

/// The weight of a label pair, whatever the input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    /// The first label.
    pub from: String,
    /// The label behind it.
    pub to: String,
    /// The weight.
    pub weight: f32,
}

/// An attribute of tokens or of label pairs, by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    key: u32,
    before: Option<u16>,
}

/// The arrays of a model, opened for a look.
pub struct Inspector<'a> {
    pub(crate) labeller: &'a Labeller,
    pub(crate) space: SpaceView<'a>,
    pub(crate) frozen: Frozen<'a>,
    pub(crate) weights: &'a [f32],
}

impl<'a> Inspector<'a> {
    /// Opens a model.
    ///
    /// # Errors
    /// A model without one of its parts, which opening it would have told.
    pub fn new(labeller: &'a Labeller) -> Result<Self> {
        let (space, frozen, weights) = (labeller.space()?, labeller.frozen()?, labeller.weights()?);
        Ok(Inspector { labeller, space, frozen, weights })
    }

    /// The model in figures.
    #[must_use]
    pub fn summary(&self) -> ModelSummary {
        let container = self.labeller.container();
        let sections = container
            .sections()
            .map(|(name, _, bytes)| Section { name: name.to_owned(), bytes: bytes.len() as u64 });
        ModelSummary {
            head: self.labeller.head().clone(),
            meta: self.labeller.meta().clone(),
            features: self.labeller.meta().templates.iter().map(|t| t.text()).collect(),
            attributes: self.frozen.nodes.len() as u64,
            edge_attributes: self.frozen.edges.len() as u64,
            places: self.weights.len() as u64,
            nonzero: self.weights.iter().filter(|w| **w != 0.0).count() as u64,
            precision: self.labeller.bits().name(),
            sections: sections.collect(),
            bytes: container.len() as u64,
            digest: format!("{:016x}", container.checksum()),
        }
    }

    /// The number of a label.
    ///
    /// # Errors
    /// A sentence with the nearest label, or with all of them.
    pub fn label(&self, name: &str) -> Result<u16> {
        let labels = &self.labeller.meta().labels;
        if let Some(found) = labels.iter().position(|l| l == name) {
            return Ok(label_number(found));
        }
        let nearest = seqoia_core::param::nearest(name, labels.iter().map(String::as_str));
        let other = match nearest {
            Some(other) => format!("did you mean {other}?"),
            None => format!("there are: {}", labels.join(", ")),
        };
        Err(BadOption::of("label", name, format!("there is no such label; {other}")).into())
    }

    /// The `n` strongest weights for and against each label, or `only` one.
    #[must_use]
    pub fn strongest(&self, n: usize, only: Option<u16>) -> Vec<Strongest> {
        let mut best: Vec<[Top; 2]> = (0..self.space.labels).map(|_| [Top::new(n), Top::new(n)]).collect();
        let mut see = |y: u16, weight: f32, named: Named| {
            if only.is_none_or(|only| only == y) && weight != 0.0 {
                best[usize::from(y)][usize::from(weight < 0.0)].add(weight, named);
            }
        };
        for (key, &number) in (0..).zip(self.frozen.node_numbers.unwrap_or_default()) {
            self.node(number).for_each(|(y, weight)| see(y, weight, Named { key, before: None }));
        }
        for key in (0..self.space.edge_attributes()).map(seqoia_core::cast::narrow) {
            self.edge(key).for_each(|(before, y, weight)| {
                see(y, weight, Named { key, before: Some(before) });
            });
        }
        let named = |(weight, Named { key, before }): (f32, Named)| Weight {
            attribute: if before.is_some() { self.edge_name(key) } else { self.node_name(key) },
            before: before.map(|y| self.label_name(y).to_owned()),
            weight,
        };
        let wanted = (0..).zip(best).filter(|(y, _)| only.is_none_or(|only| only == *y));
        wanted
            .map(|(y, [positive, negative])| Strongest {
                label: self.label_name(y).to_owned(),
                positive: positive.finish().into_iter().map(named).collect(),
                negative: negative.finish().into_iter().map(named).collect(),
            })
            .collect()
    }

    /// Weights of label pairs that are not zero, the strongest first; of those that have the label `only`.
    #[must_use]
    pub fn transitions(&self, only: Option<u16>) -> Vec<Transition> {
        let mut found: Vec<(u16, u16, f32)> = vec![];
        for from in 0..label_number(self.space.labels) {
            for to in 0..label_number(self.space.labels) {
                let weight = self.transition(from, to);
                if weight != 0.0 && only.is_none_or(|only| only == from || only == to) {
                    found.push((from, to, weight));
                }
            }
        }
        found.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs())); // equal ones stay in order
        let name = |y| self.label_name(y).to_owned();
        found.into_iter().map(|(a, b, weight)| Transition { from: name(a), to: name(b), weight }).collect()
    }

    /// The weight of a label pair.
    pub(crate) fn transition(&self, from: u16, to: u16) -> f32 {
        self.weights[usize::from(from) * self.space.width + usize::from(to)]
    }

    /// Labels and weights of an attribute of tokens, by its number in the space.
    pub(crate) fn node(&self, number: u32) -> impl Iterator<Item = (u16, f32)> {
        let dense = (number as usize) < self.space.dense;
        let row = self.space.rows_at() + number as usize * self.space.width;
        let labels = if dense { label_number(self.space.labels) } else { 0 };
        let list = if dense { vec![] } else { self.space.list(number) };
        let rows = (0..labels).map(move |y| (row + usize::from(y), y));
        rows.chain(list).map(|(at, y)| (y, self.weights[at]))
    }

    /// Label pairs and weights of an attribute of label pairs.
    pub(crate) fn edge(&self, number: u32) -> impl Iterator<Item = (u16, u16, f32)> {
        let starts = &self.space.edge_starts[number as usize..][..2];
        let (first, width) = (self.space.edges_at(), self.space.width);
        (starts[0] as usize..starts[1] as usize).map(move |at| {
            let pair = self.space.edge_pairs[at - first] as usize;
            (label_number(pair / width), label_number(pair % width), self.weights[at])
        })
    }

    pub(crate) fn label_name(&self, y: u16) -> &'a str {
        self.labeller.meta().labels.get(usize::from(y)).map_or("", String::as_str)
    }

    /// The name of an attribute of tokens, by its number in the table.
    pub(crate) fn node_name(&self, key: u32) -> String {
        let key = self.frozen.nodes.get(key).unwrap_or_default();
        self.labeller.program().name(key, self.frozen.strings)
    }

    /// The name of an attribute of label pairs.
    pub(crate) fn edge_name(&self, key: u32) -> String {
        let key = self.frozen.edges.get(key).unwrap_or_default();
        self.labeller.program().name(key, self.frozen.strings)
    }

    /// The number in the table of an attribute of tokens with this number in the space. Numbers ascend in
    /// all files that this program writes.
    pub(crate) fn key_of(&self, number: u32) -> Option<u32> {
        let numbers = self.frozen.node_numbers.unwrap_or_default();
        let found = numbers.binary_search(&number).ok();
        found.or_else(|| numbers.iter().position(|n| *n == number)).map(seqoia_core::cast::narrow)
    }
}

/// The weights that are farthest from zero, of equal ones the first.
struct Top {
    most: usize,
    found: Vec<(f32, Named)>,
}

impl Top {
    fn new(most: usize) -> Self {
        Top { most, found: vec![] }
    }

    fn add(&mut self, weight: f32, named: Named) {
        self.found.push((weight, named));
        if self.found.len() >= self.most.saturating_mul(2).saturating_add(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.found.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        self.found.truncate(self.most);
    }

    fn finish(mut self) -> Vec<(f32, Named)> {
        self.cut();
        self.found
    }
}
