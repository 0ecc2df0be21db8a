//! Smaller models: weights left out, weights in fewer bits.

use seqoia_data::features::Renumbered;
use seqoia_model::Writer;
use seqoia_model::codes::Bits;

use super::Labeller;
use super::meta::Description;
use super::save::{Arrays, Packed, coded, keys, order};
use crate::error::{BadOption, Result};

/// How a model is made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShrinkOptions {
    /// Weights below this are left out; so are attributes that have no other.
    pub prune: f32,
    /// How the others are stored; as before if none.
    pub bits: Option<Bits>,
}

/// The bytes of a smaller model. The weights of plain label pairs, which are few, are never left out.
///
/// # Errors
/// A threshold that is not a number from 0 on; a weight that does not fit.
pub fn shrink(model: &Labeller, options: ShrinkOptions) -> Result<Vec<u8>> {
    if !(options.prune >= 0.0 && options.prune.is_finite()) {
        return Err(BadOption::of("prune", options.prune, "expected a number from 0").into());
    }
    let (space, frozen, mut weights) = (model.space()?, model.frozen()?, model.weights()?.to_vec());
    for w in weights[space.rows_at()..].iter_mut().filter(|w| w.abs() < options.prune) {
        *w = 0.0;
    }
    let bits = options.bits.unwrap_or(model.bits());
    // What few bits make 0 is left out as well.
    let rounded = coded(weights, bits)?.decoded();
    let Packed { space, values, node_numbers, edge_numbers } = Packed::new(space, |p| rounded[p]);
    let mut meta = Description { head: model.head().clone(), labeller: model.meta().clone() };
    let used = values.iter().filter(|w| **w != 0.0).count();
    (meta.labeller.dense, meta.labeller.weights) = (space.view().dense, used);
    if options.prune > 0.0 {
        meta.head.training.insert("pruned".to_owned(), options.prune.to_string());
    }
    let (program, mut strings) = (model.program(), Renumbered::new(frozen.strings));
    let node_order = order(frozen.node_numbers.unwrap_or_default(), &node_numbers);
    let (nodes, numbers) = keys(program, frozen.nodes, node_order, &mut strings);
    let all: Vec<u32> = (0..).take(frozen.edges.len()).collect();
    let edge_order = order(&all, &edge_numbers);
    let (edges, _) = keys(program, frozen.edges, edge_order, &mut strings);
    let strings = strings.finish();
    let arrays =
        Arrays { meta: meta.bytes(), space, weights: coded(values, bits)?, strings, nodes, numbers, edges };
    let mut writer = Writer::default();
    for (name, kind, bytes) in model.container().sections() {
        let old = model.bits().sections();
        if name == old[0] {
            for section in bits.sections() {
                arrays.add(section, &mut writer);
            }
        } else if !old.contains(&name) && !arrays.add(name, &mut writer) {
            writer.add_bytes(name, kind, bytes);
        }
    }
    Ok(writer.to_bytes())
}
