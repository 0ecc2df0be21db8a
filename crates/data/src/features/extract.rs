//! Runs a program of templates over a sentence, in two halves: [`Views`] reads what templates combine, and a
//! [`Stretch`] of tuples is put together from it; [`Numbers`] then looks the tuples up. The halves share nothing but
//! the stretch, so two threads can take one each (see [`reading`](super::reading)).

use std::ops::Range;
use std::sync::Arc;

use super::given::Given;
use super::lookups::Lookups;
use super::numbers::Numbers;
use super::stretch::{Stretch, windows};
use super::template::Program;
use super::views::Views;
use super::{Dictionary, Matched, Values};
use crate::error::Result;
use crate::format::Block;
use seqoia_core::Ragged;
use seqoia_core::cast::narrow;

/// One worker's buffers for extracting attributes with one dictionary.
#[derive(Clone, Debug)]
pub struct Extractor {
    pub(super) program: Arc<Program>,
    pub(super) views: Views,
    pub(super) numbers: Numbers,
    pub(super) given: Given,
    stretch: Stretch,
    pub(super) lookups: Lookups,
}

impl Extractor {
    /// For a program and the dictionary that all later calls are given.
    pub fn new(program: Arc<Program>, values: &mut impl Values) -> Self {
        Extractor {
            views: Views::new(Arc::clone(&program), values),
            numbers: Numbers::default(),
            given: Given::default(),
            stretch: Stretch::default(),
            lookups: Lookups::new(&program),
            program,
        }
    }

    /// Appends the attributes of a sentence, one list per token, those with dense rows first. Lists of
    /// edges are appended only if the program has attributes of edges.
    ///
    /// # Errors
    /// A value that is no number, with its line.
    pub fn extract<D: Dictionary>(
        &mut self,
        dictionary: &mut D,
        file: &str,
        block: &Block,
        tokens: Range<usize>,
        nodes: &mut Ragged,
        edges: &mut Ragged,
    ) -> Result<()> {
        begin(nodes, edges);
        let Extractor { program, views, numbers, given, stretch, lookups } = self;
        if let Some(group) = program.given().filter(|_| program.is_given_alone()) {
            given.extract(dictionary, [group, narrow(program.stride)], block, tokens, nodes);
            return Ok(());
        }
        views.fill(dictionary, block, tokens.clone());
        for window in windows(&tokens) {
            if D::FIXED && !program.has_values() {
                let window = window.start - tokens.start..window.end - tokens.start;
                lookups.append(program, dictionary, &views.rows, tokens.len(), window, nodes, edges);
                continue;
            }
            stretch.fill(program, views, dictionary, file, block, &tokens, window)?;
            numbers.append(program, dictionary, stretch, nodes, edges);
        }
        Ok(())
    }

    /// What was found in lists so far.
    #[must_use]
    pub fn matched(&self) -> &Matched {
        &self.views.matched
    }
}

/// Lists start at 0.
pub(super) fn begin(nodes: &mut Ragged, edges: &mut Ragged) {
    for lists in [nodes, edges] {
        if lists.starts.is_empty() {
            lists.starts.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stretch::WINDOW;
    use super::super::{Growing, sets};
    use super::*;
    use crate::format::{self, Blocks};
    use crate::open::Input;

    #[test]
    fn a_long_sentence_takes_no_more_room_for_its_tuples() {
        let roles = sets::Roles { word: 0, pos: 1 };
        let program = Arc::new(Program::new(sets::find("ner", roles).unwrap()));
        let room = |tokens: usize| {
            let mut blocks = Blocks::new(Input::from_bytes("x", "Rome NNP O\n".repeat(tokens)).unwrap());
            let mut block = Block::default();
            format::first(&mut blocks, &mut block, None).unwrap().parse("x", &mut block).unwrap();
            let mut dictionary = Growing::new(&program, Arc::default());
            let mut extractor = Extractor::new(Arc::clone(&program), &mut dictionary);
            let (mut nodes, mut edges) = (Ragged::default(), Ragged::default());
            extractor.extract(&mut dictionary, "x", &block, 0..tokens, &mut nodes, &mut edges).unwrap();
            assert_eq!(nodes.starts.len(), tokens + 1);
            extractor.stretch.bytes()
        };
        assert_eq!(room(20 * WINDOW + 1), room(WINDOW));
    }
}
