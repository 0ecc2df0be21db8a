//! Attributes under the names that they have in a model: for people and for other tools.

use std::sync::Arc;

use seqoia_core::{Items, Ragged};
use seqoia_data::features::{Extractor, Growing, KeysView, Lexica, Program};
use seqoia_data::format::Block;

use crate::error::Result;

/// Makes the attributes of one sentence after another.
pub(crate) struct Expander {
    dictionary: Growing,
    extractor: Extractor,
    names: Names,
    nodes: Ragged,
    edges: Ragged,
}

/// The names of all attributes so far, by their numbers: each is put together once.
pub(crate) struct Names {
    program: Arc<Program>,
    nodes: Vec<Option<String>>, // none if it was dropped
    edges: Vec<Option<String>>,
}

impl Expander {
    pub(crate) fn new(program: Arc<Program>, lexica: Arc<Lexica>) -> Self {
        let mut dictionary = Growing::new(&program, lexica);
        let extractor = Extractor::new(Arc::clone(&program), &mut dictionary);
        let (nodes, edges) = (Ragged::default(), Ragged::default());
        Expander { dictionary, extractor, names: Names::new(program), nodes, edges }
    }

    pub(crate) fn expand(&mut self, file: &str, block: &Block, tokens: std::ops::Range<usize>) -> Result<()> {
        for lists in [&mut self.nodes, &mut self.edges] {
            lists.starts.clear();
            lists.items.clear();
            lists.values.clear();
        }
        let Expander { dictionary, extractor, nodes, edges, .. } = self;
        dictionary.sentence = dictionary.sentence.saturating_add(1);
        extractor.extract(dictionary, file, block, tokens, nodes, edges)?;
        self.names.add(&self.dictionary);
        Ok(())
    }

    /// The attributes of the sentence's token `t`, with their values.
    pub(crate) fn nodes(&self, t: usize) -> Vec<(&str, f32)> {
        self.names.nodes(self.nodes.view(), t)
    }

    /// Those of the edge into it.
    pub(crate) fn edges(&self, t: usize) -> Vec<(&str, f32)> {
        self.names.edges(self.edges.view(), t)
    }
}

impl Names {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        Names { program, nodes: vec![], edges: vec![] }
    }

    /// Takes in what is new in the dictionary.
    pub(crate) fn add(&mut self, dictionary: &Growing) {
        let add = |keys: KeysView<'_>, names: &mut Vec<Option<String>>| {
            while let Some(key) = u32::try_from(names.len()).ok().and_then(|id| keys.get(id)) {
                names.push(Some(self.program.name(key, dictionary.strings.view())));
            }
        };
        add(dictionary.nodes.view(), &mut self.nodes);
        add(dictionary.edges.view(), &mut self.edges);
    }

    /// Drops all but these, which are in ascending order.
    pub(crate) fn keep(&mut self, nodes: &[u32], edges: &[u32]) {
        for (names, kept) in [(&mut self.nodes, nodes), (&mut self.edges, edges)] {
            let dropped = (0..).zip(names).filter(|(id, _)| kept.binary_search(id).is_err());
            dropped.for_each(|(_, name)| *name = None);
        }
    }

    /// Attributes of the token `t` of some lists, with their values.
    pub(crate) fn nodes(&self, lists: Items<'_>, t: usize) -> Vec<(&str, f32)> {
        named(&self.nodes, lists, t)
    }

    /// Those of the edge into it; none into the first, whose label has none before it.
    pub(crate) fn edges(&self, lists: Items<'_>, t: usize) -> Vec<(&str, f32)> {
        if t == 0 || lists.is_empty() { vec![] } else { named(&self.edges, lists, t) }
    }
}

fn named<'a>(names: &'a [Option<String>], lists: Items<'_>, t: usize) -> Vec<(&'a str, f32)> {
    let values = lists.values_at(t);
    let value = |i: usize| values.map_or(1.0, |values| values[i]);
    let name = |id: u32| names.get(id as usize)?.as_deref();
    lists.at(t).iter().enumerate().filter_map(|(i, &id)| Some((name(id)?, value(i)))).collect()
}
