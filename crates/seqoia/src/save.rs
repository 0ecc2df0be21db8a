//! From a learner's weights to a model file: rounded to single precision, zeros dropped, attributes
//! without weights dropped, values that no attribute uses dropped.

use std::collections::BTreeMap;

use seqoia_core::Pairs;
use seqoia_core::cast::{narrow, single};
use seqoia_data::features::{Keys, NONE, Program, Strings, StringsView};
use seqoia_model::Writer;
use seqoia_structures::chain::Space;

use crate::error::Result;
use crate::meta::Meta;
use crate::options::TrainOptions;
use crate::trainer::{Trained, Trainer};
use crate::training_set::TrainingSet;

/// The bytes of the model file.
///
/// # Errors
/// When the options do not fit the data.
pub fn model_bytes(set: &TrainingSet, options: &TrainOptions, trained: &Trained) -> Result<Vec<u8>> {
    let packed = Packed::new(set, &trained.weights);
    let mut strings = Strings::default();
    let (nodes, numbers) = keys(set, &set.node_numbers, &packed.node_numbers, false, &mut strings);
    let (edges, _) = keys(set, &set.edge_numbers, &packed.edge_numbers, true, &mut strings);
    let meta = Meta {
        made_by: format!("seqoia {}", env!("CARGO_PKG_VERSION")),
        structure: "chain".to_owned(),
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
        training: training(&Trainer::new(set, options)?),
        data_digest: set.digest.clone(),
        sequences: set.corpus.ends.len(),
        tokens: set.corpus.tokens(),
        scores: trained.scores.iter().map(|s| (s.name.to_owned(), s.value)).collect(),
        passes: trained.passes,
        best_pass: trained.best_pass,
        ended: trained.ended.to_string(),
    };
    let (space, strings) = (packed.space.view(), strings.view());
    // Serialising plain strings and numbers cannot fail.
    let meta = serde_json::to_vec(&meta).unwrap_or_default();
    let mut writer = Writer::default();
    writer.add("meta", &meta);
    add_strings(&mut writer, ["strings.text", "strings.starts", "strings.slots"], strings);
    writer.add("nodes.keys", nodes.view().keys);
    writer.add("nodes.slots", nodes.view().slots);
    writer.add("nodes.numbers", &numbers);
    writer.add("edges.keys", edges.view().keys);
    writer.add("edges.slots", edges.view().slots);
    writer.add("space.singles", space.singles);
    writer.add("space.estarts", space.edge_starts);
    writer.add("space.epairs", space.edge_pairs);
    writer.add("weights", &packed.values);
    let lexica = set.dictionary.lexica.view();
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
    Ok(writer.to_bytes())
}

fn add_strings<'a>(writer: &mut Writer<'a>, names: [&str; 3], strings: StringsView<'a>) {
    writer.add(names[0], strings.text);
    writer.add(names[1], strings.starts);
    writer.add(names[2], strings.slots);
}

/// How it was trained, as text; never the number of threads.
pub(crate) fn training(trainer: &Trainer<'_>) -> BTreeMap<String, String> {
    let (set, options) = (trainer.set, trainer.options);
    let mut all: BTreeMap<String, String> =
        options.settings.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    let objective = trainer.objective();
    for (name, value) in [
        ("learner", options.learner.name.to_owned()),
        ("strategy", trainer.strategy().name().to_owned()),
        ("batch-size", options.batch_size.to_string()),
        ("l1", objective.l1.to_string()),
        ("l2", objective.l2.to_string()),
        ("seed", options.seed.to_string()),
        ("precision", trainer.precision().name().to_owned()),
        ("cutoff", set.cutoff.to_string()),
        ("pairs", set.pairs.name().to_owned()),
    ] {
        all.insert(name.to_owned(), value);
    }
    if let Some(digest) = set.dictionary.lexica.digest() {
        all.insert("lexica".to_owned(), format!("{digest:016x}"));
    }
    if let Some(size) = trainer.beam() {
        all.insert("beam".to_owned(), size.to_string());
    }
    if let Some(start) = &options.start {
        let bytes: Vec<u8> = start.iter().flat_map(|w| w.to_le_bytes()).collect();
        all.insert("start".to_owned(), format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)));
    }
    all
}

/// Weights without zeros.
struct Packed {
    space: Space,
    values: Vec<f32>,
    node_numbers: Vec<u32>, // of each attribute of the training space, or NONE
    edge_numbers: Vec<u32>,
}

impl Packed {
    fn new(set: &TrainingSet, weights: &[f64]) -> Packed {
        let view = set.space.view();
        let (labels, width) = (view.labels, view.width);
        let transitions: Vec<f32> = weights[..labels * width].iter().map(|w| single(*w)).collect();
        let (mut nodes, mut node_values, mut node_numbers) = (Pairs::default(), vec![], vec![]);
        node_numbers.resize(view.dense + view.singles.len(), NONE);
        for attribute in 0..view.dense {
            let row = &weights[view.rows_at() + attribute * width..][..labels];
            let entries = (0..).zip(row.iter().map(|w| single(*w)));
            node_numbers[attribute] = keep(entries, &mut nodes, &mut node_values);
        }
        for attribute in view.sparse() {
            let entries = view.list(attribute).into_iter().map(|(p, y)| (u32::from(y), single(weights[p])));
            node_numbers[attribute as usize] = keep(entries, &mut nodes, &mut node_values);
        }
        let (mut edges, mut edge_values, mut edge_numbers) = (Pairs::default(), vec![], vec![]);
        for attribute in 0..view.edge_attributes() {
            let range = view.edge_starts[attribute] as usize..view.edge_starts[attribute + 1] as usize;
            let pair = |p: usize| {
                let padded = view.edge_pairs[p - view.edges_at()] as usize;
                narrow(padded / width * labels + padded % width)
            };
            let entries = range.map(|p| (pair(p), single(weights[p])));
            edge_numbers.push(keep(entries, &mut edges, &mut edge_values));
        }
        for pairs in [&mut nodes, &mut edges] {
            pairs.starts.push(narrow(pairs.labels.len()));
        }
        let (space, new) = Space::new(labels, &nodes, &edges, None, false);
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
fn keep(entries: impl Iterator<Item = (u32, f32)>, pairs: &mut Pairs, values: &mut Vec<f32>) -> u32 {
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

fn lay_out(
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

/// The table of the attributes that are left, in the order of their numbers, and those.
fn keys(
    set: &TrainingSet,
    numbers: &[u32],
    packed: &[u32],
    edge: bool,
    strings: &mut Strings,
) -> (Keys, Vec<u32>) {
    let program: &Program = &set.program;
    let dictionary = if edge { &set.dictionary.edges } else { &set.dictionary.nodes };
    let mut order: Vec<(u32, u32)> = (0..)
        .zip(numbers)
        .filter(|(_, number)| **number != NONE)
        .map(|(id, number)| (packed[*number as usize], id))
        .filter(|(new, _)| *new != NONE)
        .collect();
    order.sort_unstable();
    let mut keys = Keys::new(program.stride());
    for &(_, id) in &order {
        let mut key = dictionary.view().get(id).unwrap_or_default().to_vec();
        let pieces = program.arity(key[0]);
        for value in &mut key[1..=pieces] {
            let text = set.dictionary.strings.view().get(*value).unwrap_or_default();
            // A part of a table that fitted fits.
            *value = strings.intern(text).unwrap_or(0);
        }
        keys.intern(&key);
    }
    (keys, order.into_iter().map(|(number, _)| number).collect())
}
