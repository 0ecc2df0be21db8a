//! Smaller models: weights left out, weights in fewer bits.

use std::sync::Arc;

use seqoia_core::Score;
use seqoia_data::features::Strings;
use seqoia_data::format::{self, Block, Blocks, Place};
use seqoia_data::open::Input;
use seqoia_model::Writer;

use crate::coded::{Bits, Coded};
use crate::error::{Error, Result};
use crate::fit::{label_column, program_for};
use crate::labeller::Labeller;
use crate::predictor::Predictor;
use crate::save::{Arrays, Packed, keys, order};
use crate::scorer::Scorer;

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
/// A threshold that is no number from 0 on; a weight that does not fit.
pub fn shrink(model: &Labeller, options: ShrinkOptions) -> Result<Vec<u8>> {
    if !(options.prune >= 0.0 && options.prune.is_finite()) {
        return Err(Error::Option(format!("--prune {}: expected a number from 0", options.prune)));
    }
    let (space, frozen, mut weights) = (model.space()?, model.frozen()?, model.weights()?.to_vec());
    for w in weights[space.rows_at()..].iter_mut().filter(|w| w.abs() < options.prune) {
        *w = 0.0;
    }
    let bits = options.bits.unwrap_or(model.bits());
    // What few bits make 0 is left out as well.
    let rounded = Coded::new(weights, bits)?.decoded();
    let Packed { space, values, node_numbers, edge_numbers } = Packed::new(space, |p| rounded[p]);
    let mut meta = model.meta().clone();
    (meta.dense, meta.weights) = (space.view().dense, values.iter().filter(|w| **w != 0.0).count());
    if options.prune > 0.0 {
        meta.training.insert("pruned".to_owned(), options.prune.to_string());
    }
    let (program, mut strings) = (model.program(), Strings::default());
    let node_order = order(frozen.node_numbers.unwrap_or_default(), &node_numbers);
    let (nodes, numbers) = keys(program, frozen.nodes, frozen.strings, node_order, &mut strings);
    let all: Vec<u32> = (0..).take(frozen.edges.len()).collect();
    let edge_order = order(&all, &edge_numbers);
    let (edges, _) = keys(program, frozen.edges, frozen.strings, edge_order, &mut strings);
    // Serialising plain strings and numbers cannot fail.
    let meta = serde_json::to_vec(&meta).unwrap_or_default();
    let arrays = Arrays { meta, space, weights: Coded::new(values, bits)?, strings, nodes, numbers, edges };
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

/// How good a model is on labelled data.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// F1 of chunks, or the share of tokens that are right.
    pub score: Score,
    /// Tokens that were labelled.
    pub tokens: u64,
}

/// Labels a file on one thread and scores what is found.
///
/// # Errors
/// Data that cannot be read, does not fit the model or has no labels.
pub fn try_out(model: &Arc<Labeller>, input: Input) -> Result<Trial> {
    let file = input.name.clone();
    let mut blocks = Blocks::new(input).whole_documents(model.program().reads_mentions());
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, Some(model.kind()))?;
    program_for(model, &file, &*format)?;
    let label = label_column(model, &*format);
    if format.label() == Place::Missing || label >= format.columns() {
        return Err(Error::Mismatch(format!("{file} has no labels to compare with")));
    }
    let mut predictor = Predictor::new(Arc::clone(model));
    let mut scorer = Scorer::new(model.schemes().file.map(|file| [file; 2]));
    let (mut names, mut tokens) = (vec![], 0);
    loop {
        format.parse(&file, &mut block)?;
        for sentence in block.sentences() {
            predictor.read(&file, &block, sentence.tokens.clone(), label)?;
            let best = predictor.best_labels()?.to_vec();
            predictor.names(&best, &mut names);
            tokens += names.len() as u64;
            let gold: Vec<&str> = sentence.tokens.map(|i| block.field(i, label)).collect();
            let found: Vec<&str> = names.iter().map(String::as_str).collect();
            scorer.sentence(&gold, &found);
        }
        if !blocks.fill(&mut block)? {
            break;
        }
    }
    let score = scorer.scores().remove(0);
    Ok(Trial { score, tokens })
}
