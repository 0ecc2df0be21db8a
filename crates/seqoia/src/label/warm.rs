//! Weights of an existing model in the numbers of a training set: where learning starts from.
//!
//! Attributes are matched by what they mean: the text of their template and the values of its pieces.
//! What the model does not know starts at 0; what the training set does not have is left out.

use std::collections::HashMap;

use seqoia_core::cast::narrow;
use seqoia_data::features::UNKNOWN;

use super::Labeller;
use super::TrainingSet;
use crate::error::{BadOption, Result};

/// What a run starts from.
#[derive(Clone, Debug)]
pub struct Start {
    /// The weights, as the training set numbers them.
    pub weights: Vec<f64>,
    /// Attributes of the training set that the model knows.
    pub known: usize,
}

/// The model's weights for `set`.
///
/// # Errors
/// When the model has none of the training set's labels.
pub fn weights(model: &Labeller, set: &TrainingSet) -> Result<Start> {
    let (from, to) = (model.space()?, set.space.view());
    let (old, values) = (model.frozen()?, model.weights()?);
    let names: HashMap<&str, usize> = set.labels.iter().enumerate().map(|(i, name)| (name, i)).collect();
    let labels: Vec<Option<usize>> =
        model.meta().labels.iter().map(|name| names.get(name.as_str()).copied()).collect();
    if labels.iter().all(Option::is_none) {
        let what = format!("the model to start from has none of the labels of {}", set.file);
        return Err(BadOption::of("warm-start", "", what).into());
    }
    let (mut w, mut known) = (vec![0.0; to.weights()], 0);
    for (y, new_y) in labels.iter().enumerate() {
        for (z, new_z) in labels.iter().enumerate() {
            if let (Some(y2), Some(z2)) = (new_y, new_z) {
                w[y2 * to.width + z2] = f64::from(values[y * from.width + z]);
            }
        }
    }
    let (groups, new) = (set.program.groups_of(model.program()), set.frozen());
    // The tuple that stands for the same attribute in the new tables, if its values are known there.
    let translate = |old_key: &[u32]| {
        let group = (*groups.get(*old_key.first()? as usize)?)?;
        let arity = set.program.arity(group);
        let value = |v: &u32| new.strings.find(old.strings.get(*v).unwrap_or_default());
        let values = old_key.get(1..=arity)?; // a damaged model may have fewer
        let mut key: Vec<u32> = std::iter::once(group).chain(values.iter().map(value)).collect();
        key.resize(set.program.stride(), 0);
        (!key[1..=arity].contains(&UNKNOWN)).then_some(key)
    };
    for (i, number) in (0..).zip(old.node_numbers.unwrap_or_default()) {
        let Some(key) = old.nodes.get(i).and_then(translate) else { continue };
        let found = set.node_numbers.get(new.node(&key) as usize).copied();
        let Some(attribute) = found.filter(|a| to.has(*a)) else { continue };
        known += 1;
        let entries: Vec<(usize, usize)> = if (*number as usize) < from.dense {
            (0..from.labels).map(|y| (y, from.rows_at() + *number as usize * from.width + y)).collect()
        } else {
            from.list(*number).into_iter().map(|(p, y)| (usize::from(y), p)).collect()
        };
        for (y, p) in entries {
            let Some(Some(y)) = labels.get(y) else { continue };
            if (attribute as usize) < to.dense {
                w[to.rows_at() + attribute as usize * to.width + y] = f64::from(values[p]);
            } else if let Some((at, _)) = to.list(attribute).into_iter().find(|(_, z)| usize::from(*z) == *y)
            {
                w[at] = f64::from(values[p]);
            }
        }
    }
    for i in 0..from.edge_attributes() {
        let Some(key) = old.edges.get(narrow(i)).and_then(translate) else { continue };
        let found = set.edge_numbers.get(new.edges.find(&key) as usize).copied();
        let Some(attribute) = found.filter(|a| (*a as usize) < to.edge_attributes()) else { continue };
        known += 1;
        let new_range = to.edge_starts[attribute as usize]..to.edge_starts[attribute as usize + 1];
        for p in from.edge_starts[i]..from.edge_starts[i + 1] {
            let pair = from.edge_pairs[p as usize - from.edges_at()] as usize;
            let (Some(Some(y)), Some(Some(z))) =
                (labels.get(pair / from.width), labels.get(pair % from.width))
            else {
                continue;
            };
            let wanted = |q: &u32| to.edge_pairs[*q as usize - to.edges_at()] as usize == y * to.width + z;
            if let Some(q) = new_range.clone().find(wanted) {
                w[q as usize] = f64::from(values[p as usize]);
            }
        }
    }
    set.space.clear_holes(&mut w);
    Ok(Start { weights: w, known })
}
