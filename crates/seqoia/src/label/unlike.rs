//! Features of a file that the model has never seen, by the name that they begin with: `w` of `w=the`. When they are
//! named otherwise than in training, all of such a kind are unknown, and labels are wrong without another sign, since
//! a few (`bias`) are known all the same.

use std::collections::BTreeMap;

use seqoia_data::features::UNKNOWN;
use seqoia_data::format::Block;

use super::Labeller;
use crate::error::Result;

/// Tokens that are looked at.
const SAMPLE: usize = 200;
/// A kind of feature that was met so often and never known is no chance.
const OFTEN: usize = 20;
/// Kinds that a warning names.
const NAMED: usize = 3;

/// What was met of a kind of feature.
#[derive(Default)]
struct Met {
    count: usize,
    known: usize,
    example: String,
}

/// Counts of the first tokens of a file.
#[derive(Default)]
pub(super) struct Unlike {
    tokens: usize,
    kinds: BTreeMap<String, Met>,
}

impl Unlike {
    /// Counts the features of a block; nothing if enough was seen, or the model makes its features itself.
    pub(super) fn add(&mut self, labeller: &Labeller, block: &Block) -> Result<()> {
        let tokens = block.tokens().len().min(SAMPLE - self.tokens);
        if tokens == 0 || labeller.program().given().is_none() {
            return Ok(());
        }
        self.tokens += tokens;
        let strings = labeller.frozen()?.strings;
        for (name, _) in (0..tokens).flat_map(|i| block.attributes(i)) {
            let kind = kind(name);
            if !self.kinds.contains_key(kind) {
                self.kinds.insert(kind.to_owned(), Met { example: name.to_owned(), ..Met::default() });
            }
            if let Some(met) = self.kinds.get_mut(kind) {
                met.count += 1;
                met.known += usize::from(strings.find(name.as_bytes()) != UNKNOWN);
            }
        }
        Ok(())
    }

    /// What to say about them.
    pub(super) fn doubt(&self) -> Option<String> {
        const HELP: &str = "; name and write features as in the training data";
        let named = |met: Vec<&Met>| {
            let names: Vec<&str> = met.iter().take(NAMED).map(|met| met.example.as_str()).collect();
            names.join(" ")
        };
        if self.kinds.is_empty() {
            return None;
        }
        if self.kinds.values().all(|met| met.known == 0) {
            let examples = named(self.kinds.values().collect());
            return Some(format!("none of the features is known to the model, such as {examples}{HELP}"));
        }
        // A name without a value may be a word; `bias` stands at every second token at least.
        let often = |name: &str| if has_value(name) { OFTEN } else { OFTEN.max(self.tokens.div_ceil(2)) };
        let unlike: Vec<&Met> = (self.kinds.iter())
            .filter(|(name, met)| met.known == 0 && met.count >= often(name))
            .map(|(_, met)| met)
            .collect();
        let (features, all): (usize, usize) =
            (unlike.iter().map(|met| met.count).sum(), self.kinds.values().map(|met| met.count).sum());
        (!unlike.is_empty()).then(|| {
            format!(
                "{features} of the first {all} features are of kinds that are never known to the model, such as \
                 {}{HELP}",
                named(unlike)
            )
        })
    }
}

/// What the name of a feature begins with, up to its value, if it has one.
fn kind(name: &str) -> &str {
    match name.find(['=', ':']).filter(|end| *end > 0) {
        Some(end) => &name[..=end],
        None => name,
    }
}

fn has_value(kind: &str) -> bool {
    kind.len() > 1 && kind.ends_with(['=', ':'])
}
