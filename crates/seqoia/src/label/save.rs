//! From a learner's weights to a model file: rounded to single precision, zeros dropped, attributes
//! without weights dropped, values that no attribute uses dropped.

use seqoia_core::Pairs;
use seqoia_core::cast::{narrow, single};
use seqoia_data::features::{Keys, KeysView, NONE, Program, Renumbered, Strings, StringsView};
use seqoia_model::Writer;
use seqoia_model::codes::{Bits, Coded};
use seqoia_structures::chain::{Layout, Space, SpaceView};

use super::TrainingSet;
use super::meta::{Description, Meta};
use crate::error::{BadOption, Error, Result};
use crate::run::{Head, Trained};

/// Makes the model file and hands it to `write`.
///
/// # Errors
/// A weight that the file cannot hold; what `write` says.
pub(crate) fn model<T>(
    set: &TrainingSet,
    trained: &Trained,
    head: Head,
    write: impl FnOnce(&Writer<'_>) -> Result<T>,
) -> Result<T> {
    let packed = Packed::new(set.space.view(), |p| single(trained.weights[p]));
    let known = &set.dictionary;
    let order = order(&set.node_numbers, &packed.node_numbers);
    let mut strings = Renumbered::new(known.strings.view());
    let (nodes, numbers) = keys(&set.program, known.nodes.view(), order, &mut strings);
    let order = self::order(&set.edge_numbers, &packed.edge_numbers);
    let (edges, _) = keys(&set.program, known.edges.view(), order, &mut strings);
    let strings = strings.finish();
    let labeller = Meta {
        labels: set.labels.iter().map(str::to_owned).collect(),
        file_scheme: set.schemes.file.map(|s| s.name().to_owned()),
        model_scheme: set.schemes.model.map(|s| s.name().to_owned()),
        format: set.kind.name().to_owned(),
        columns: set.columns,
        label_column: set.label,
        templates: set.program.templates().to_vec(),
        transitions: set.transitions,
        dense: packed.space.view().dense,
        weights: packed.values.iter().filter(|v| **v != 0.0).count(),
        tokens: set.counts.tokens,
        classes: set.classes.clone(),
    };
    let meta = Description { head, labeller }.bytes();
    let Packed { space, values, node_numbers, edge_numbers } = packed;
    drop((node_numbers, edge_numbers));
    let arrays = Arrays { meta, space, weights: coded(values, Bits::F32)?, strings, nodes, numbers, edges };
    let mut writer = Writer::default();
    for section in SECTIONS {
        arrays.add(section, &mut writer);
    }
    if let Some(rules) = &set.rules {
        writer.add("rules", rules.bits());
    }
    let (lexica, marks) = (set.dictionary.lexica.view(), set.dictionary.lexica.words.settled());
    if !set.dictionary.lexica.clusters.is_empty() {
        let names = ["clusters.text", "clusters.starts", "clusters.slots"];
        add_strings(&mut writer, names, lexica.clusters.words);
        add_strings(&mut writer, ["paths.text", "paths.starts", "paths.slots"], lexica.clusters.paths);
        writer.add("clusters.paths", lexica.clusters.path_of);
    }
    if !set.dictionary.lexica.names.lists().is_empty() {
        add_strings(&mut writer, ["names.text", "names.starts", "names.slots"], lexica.names.strings);
        writer.add("names.lists", lexica.names.masks);
        add_strings(&mut writer, ["lower.text", "lower.starts", "lower.slots"], lexica.lower.strings);
        writer.add("lower.lists", lexica.lower.masks);
    }
    if !marks.is_empty() {
        add_strings(&mut writer, ["words.text", "words.starts", "words.slots"], lexica.words.strings);
        writer.add("words.marks", &marks);
    }
    if !set.dictionary.lexica.thesaurus.is_empty() {
        let of = lexica.thesaurus;
        add_strings(&mut writer, ["lexicon.text", "lexicon.starts", "lexicon.slots"], of.strings);
        add_strings(&mut writer, ["codes.text", "codes.starts", "codes.slots"], of.codes);
        writer.add("lexicon.ends", of.ends);
        writer.add("lexicon.codes", of.list);
    }
    if !set.dictionary.lexica.varieties.is_empty() {
        let names = ["rawtext.text", "rawtext.starts", "rawtext.slots"];
        add_strings(&mut writer, names, lexica.varieties.strings);
        writer.add("rawtext.numbers", lexica.varieties.numbers);
    }
    write(&writer)
}

pub(crate) fn add_strings<'a>(writer: &mut Writer<'a>, names: [&str; 3], strings: StringsView<'a>) {
    writer.add(names[0], strings.text);
    writer.add(names[1], strings.starts);
    writer.add(names[2], strings.slots);
}

/// The parts of every model, in order.
const SECTIONS: [&str; 13] = [
    "meta",
    "strings.text",
    "strings.starts",
    "strings.slots",
    "nodes.keys",
    "nodes.slots",
    "nodes.numbers",
    "edges.keys",
    "edges.slots",
    "space.singles",
    "space.estarts",
    "space.epairs",
    "weights",
];

/// What those parts are made of.
pub(crate) struct Arrays {
    pub(crate) meta: Vec<u8>,
    pub(crate) space: Space,
    pub(crate) weights: Coded,
    pub(crate) strings: Strings,
    pub(crate) nodes: Keys,
    pub(crate) numbers: Vec<u32>,
    pub(crate) edges: Keys,
}

impl Arrays {
    /// Adds a part; false if it is none of them.
    pub(crate) fn add<'a>(&'a self, section: &str, writer: &mut Writer<'a>) -> bool {
        let (space, strings) = (self.space.view(), self.strings.view());
        match section {
            "meta" => writer.add(section, &self.meta),
            "strings.text" => writer.add(section, strings.text),
            "strings.starts" => writer.add(section, strings.starts),
            "strings.slots" => writer.add(section, strings.slots),
            "nodes.keys" => writer.add(section, self.nodes.view().keys),
            "nodes.slots" => writer.add(section, self.nodes.view().slots),
            "nodes.numbers" => writer.add(section, &self.numbers),
            "edges.keys" => writer.add(section, self.edges.view().keys),
            "edges.slots" => writer.add(section, self.edges.view().slots),
            "space.singles" => writer.add(section, space.singles),
            "space.estarts" => writer.add(section, space.edge_starts),
            "space.epairs" => writer.add(section, space.edge_pairs),
            _ => return self.weights.add(section, writer),
        }
        true
    }
}

/// Weights in these bits.
///
/// # Errors
/// A weight that does not fit.
pub(crate) fn coded(weights: Vec<f32>, bits: Bits) -> Result<Coded> {
    let too_large = |w: f32| match w.is_finite() {
        true => BadOption::of("weights", bits.name(), format!("a weight of {w} does not fit into it")).into(),
        false => Error::Train(seqoia_core::Error::Learner(format!(
            "a weight is {w} in single precision, which no model holds; no model was written; try a lower rate, a \
             stronger penalty or another learner"
        ))),
    };
    Coded::new(weights, bits).map_err(too_large)
}

/// Weights without zeros.
pub(crate) struct Packed {
    pub(crate) space: Space,
    pub(crate) values: Vec<f32>,
    pub(crate) node_numbers: Vec<u32>, // of each attribute of the space it is made of, or NONE
    pub(crate) edge_numbers: Vec<u32>,
}

impl Packed {
    /// Those of a space.
    pub(crate) fn new(view: SpaceView<'_>, weight: impl Fn(usize) -> f32) -> Packed {
        let (labels, width) = (view.labels, view.width);
        let stored = Space::stored(labels);
        let mut transitions = vec![0.0; labels * stored];
        for (from, row) in transitions.chunks_exact_mut(stored).enumerate() {
            (0..labels).for_each(|to| row[to] = weight(from * width + to));
        }
        let (mut nodes, mut node_values, mut node_numbers) = (Pairs::default(), vec![], vec![]);
        node_numbers.resize(view.dense + view.singles.len(), NONE);
        for (attribute, number) in node_numbers.iter_mut().enumerate().take(view.dense) {
            let row = view.rows_at() + attribute * width;
            let entries = (0..).zip((row..row + labels).map(&weight));
            *number = keep(entries, &mut nodes, &mut node_values);
        }
        for attribute in view.sparse() {
            let entries = view.entries(attribute).map(|(p, y)| (u32::from(y), weight(p)));
            node_numbers[attribute as usize] = keep(entries, &mut nodes, &mut node_values);
        }
        let (mut edges, mut edge_values, mut edge_numbers) = (Pairs::default(), vec![], vec![]);
        for attribute in 0..view.edge_attributes() {
            let range = view.edge_starts[attribute] as usize..view.edge_starts[attribute + 1] as usize;
            let pair = |p: usize| {
                let padded = view.edge_pairs[p - view.edges_at()] as usize;
                narrow(padded / width * labels + padded % width)
            };
            let entries = range.map(|p| (pair(p), weight(p)));
            edge_numbers.push(keep(entries, &mut edges, &mut edge_values));
        }
        for pairs in [&mut nodes, &mut edges] {
            pairs.starts.push(narrow(pairs.labels.len()));
        }
        let (space, new) = Space::new(labels, &nodes, &edges, None, Layout::Stored);
        let values = lay_out(&space, &transitions, &nodes, &node_values, &new.nodes, &edge_values);
        let renumber = |numbers: &mut Vec<u32>, new: &[u32]| {
            numbers.iter_mut().filter(|n| **n != NONE).for_each(|n| *n = new[*n as usize]);
        };
        renumber(&mut node_numbers, &new.nodes);
        renumber(&mut edge_numbers, &new.edges);
        Packed { space, values, node_numbers, edge_numbers }
    }
}

/// Takes in an attribute if any of its weights is not zero; its number, or NONE.
pub(crate) fn keep(
    entries: impl Iterator<Item = (u32, f32)>,
    pairs: &mut Pairs,
    values: &mut Vec<f32>,
) -> u32 {
    let from = pairs.labels.len();
    for (label, value) in entries.filter(|(_, value)| *value != 0.0) {
        pairs.labels.push(label);
        values.push(value);
    }
    if pairs.labels.len() == from {
        return NONE;
    }
    pairs.starts.push(narrow(from));
    pairs.counts.push(0); // the order stays
    narrow(pairs.len() - 1)
}

pub(crate) fn lay_out(
    space: &Space,
    transitions: &[f32],
    nodes: &Pairs,
    node_values: &[f32],
    numbers: &[u32],
    edge_values: &[f32],
) -> Vec<f32> {
    let view = space.view();
    let mut values = vec![0.0; view.weights()];
    values[..transitions.len()].copy_from_slice(transitions);
    for (old, &new) in numbers.iter().enumerate() {
        let range = nodes.starts[old] as usize..nodes.starts[old + 1] as usize;
        if (new as usize) < view.dense {
            let at = view.rows_at() + new as usize * view.width;
            range.for_each(|i| values[at + nodes.labels[i] as usize] = node_values[i]);
        } else {
            let at = view.singles_at() + new as usize - view.dense;
            values[at..at + range.len()].copy_from_slice(&node_values[range]);
        }
    }
    values[view.edges_at()..].copy_from_slice(edge_values);
    values
}

/// New number and number in the dictionary of each attribute that is left.
pub(crate) fn order(numbers: &[u32], packed: &[u32]) -> Vec<(u32, u32)> {
    (0..)
        .zip(numbers)
        .filter(|(_, number)| **number != NONE)
        .map(|(id, number)| (packed[*number as usize], id))
        .filter(|(new, _)| *new != NONE)
        .collect()
}

/// The table of some attributes of another one, in the order of their new numbers, and those; `order` has
/// the new number and the number in the other table. Their values get numbers in `strings`.
pub(crate) fn keys(
    program: &Program,
    from: KeysView<'_>,
    mut order: Vec<(u32, u32)>,
    strings: &mut Renumbered<'_>,
) -> (Keys, Vec<u32>) {
    order.sort_unstable();
    let mut keys = Vec::with_capacity(order.len() * program.stride());
    for &(_, id) in &order {
        let start = keys.len();
        keys.extend_from_slice(from.get(id).unwrap_or_default());
        let pieces = program.arity(keys[start]);
        for value in &mut keys[start + 1..=start + pieces] {
            *value = strings.number(*value);
        }
    }
    (Keys::of_distinct(program.stride(), keys), order.into_iter().map(|(number, _)| number).collect())
}
