//! The chain as a [`Structure`]: layout, examples, and the lanes that answer about them.

use std::sync::Arc;

use super::lane::ChainLane;
use super::{Known, Limits, Rules, Sets, Space};
use seqoia_core::Isa;
use seqoia_core::{Corpus, Lane, Question, Result, Sequence, Shelf, Structure};

/// Makes a place outside memory for so many numbers.
pub type Shelves = Arc<dyn Fn(usize) -> Result<Arc<dyn Shelf>> + Send + Sync>;

/// Arithmetic of sums over whole passes. Weights, losses and what learners do with them are in double
/// precision either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Double: exact to 1e-10 and better.
    #[default]
    F64,
    /// Single: half the memory traffic; losses exact to about 1e-7, gradients to 1e-5 of their largest.
    F32,
}

impl Precision {
    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }
}

/// Sequences to learn from, in one space of weights.
pub struct Chain {
    pub(super) space: Arc<Space>,
    pub(super) corpus: Arc<dyn Corpus<Sequence>>,
    pub(super) isa: Isa,
    pub(super) beam: Option<usize>,
    pub(super) precision: Precision,
    pub(super) limits: ExampleLimits,
    pub(super) costs: Vec<f64>, // [K] of missing each label; empty: 1 each
    pub(super) by_pairs: bool,  // sums go over the label pairs that occur
    shelves: Option<Shelves>,
}

/// What labellings of the examples are held to.
pub(super) struct ExampleLimits {
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) sets: Sets,
    pub(super) partial: Vec<bool>, // gold labels are known in part; empty: in none
    pub(super) broken: Vec<bool>,  // gold breaks the rules, which do not hold there; empty: in none
}

impl ExampleLimits {
    fn new(rules: Option<Arc<Rules>>, sets: Sets) -> Self {
        ExampleLimits { rules, sets, partial: vec![], broken: vec![] }
    }

    /// Gold labels of this example are known in part only.
    pub(super) fn is_partial(&self, id: usize) -> bool {
        self.partial.get(id).is_some_and(|partial| *partial)
    }

    /// The limits of an example; with its gold labels, those of what they may stand for.
    pub(super) fn of<'a>(&'a self, id: usize, gold: Option<&'a [u16]>) -> Limits<'a> {
        let broken = self.broken.get(id).is_some_and(|broken| *broken);
        let rules = self.rules.as_deref().filter(|_| !broken);
        let known = gold.map(|labels| Known { labels, sets: &self.sets });
        Limits { rules, known, ..Limits::default() }
    }
}

impl Chain {
    /// A chain over these examples.
    #[must_use]
    pub fn new(space: Arc<Space>, corpus: Arc<dyn Corpus<Sequence>>) -> Self {
        let (isa, precision, limits) =
            (Isa::detect(), Precision::F64, ExampleLimits::new(None, Sets::new(space.labels())));
        let by_pairs = space.sums_by_pairs();
        Chain { space, corpus, isa, beam: None, precision, limits, costs: vec![], by_pairs, shelves: None }
    }

    /// Holds labellings to rules, and reads gold labels from K on as sets of labels. In an example whose
    /// gold labels break the rules, all labellings are allowed.
    ///
    /// # Errors
    /// An example that cannot be read.
    pub fn with_limits(self, rules: Option<Arc<Rules>>, sets: Sets) -> Result<Self> {
        let mut limits = ExampleLimits::new(rules, sets);
        let mut copy = Sequence::default();
        let (mut partial, mut broken) = (vec![], vec![]);
        // Nothing to look for: examples that do not lie in memory need not be read.
        let examples = if limits.rules.is_none() && limits.sets.is_empty() { 0 } else { self.corpus.len() };
        for id in 0..examples {
            let labels = self.corpus.view_or_read(id, &mut copy)?.labels;
            partial.push(limits.sets.any(labels));
            broken.push(limits.rules.is_some() && !limits.of(id, Some(labels)).can_be_met(labels.len()));
        }
        (limits.partial, limits.broken) = (partial, broken);
        Ok(Chain { limits, ..self })
    }

    /// Missing a gold label costs what stands at its number: for learners that look at costs.
    #[must_use]
    pub fn with_costs(self, costs: Vec<f64>) -> Self {
        Chain { costs, ..self }
    }

    /// What learners remember of each example lies outside memory.
    #[must_use]
    pub fn with_shelves(self, shelves: Shelves) -> Self {
        Chain { shelves: Some(shelves), ..self }
    }

    /// The examples whose gold labels break the rules.
    pub fn broken(&self) -> impl Iterator<Item = usize> {
        self.limits.broken.iter().enumerate().filter(|(_, broken)| **broken).map(|(id, _)| id)
    }

    /// The same with other instructions: all give the same bits, which a test shows.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Chain { isa, ..self }
    }

    /// Sums over the label pairs that occur, or over all, whatever is faster: both give the same, which a test shows.
    #[must_use]
    pub fn with_sums_by_pairs(self, by_pairs: bool) -> Self {
        Chain { by_pairs, ..self }
    }

    /// Sums whole passes in this precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Chain { precision, ..self }
    }

    /// Searches with a beam of `size` labels a position instead of exactly.
    #[must_use]
    pub fn with_beam(self, size: usize) -> Self {
        Chain { beam: Some(size.max(1)), ..self }
    }

    /// Where each weight lies.
    #[must_use]
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }
}

impl Structure for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn examples(&self) -> usize {
        self.corpus.len()
    }

    fn weights(&self) -> usize {
        self.space.view().weights()
    }

    fn offers(&self) -> &'static [Question] {
        &[
            Question::Expectations,
            Question::Tangent,
            Question::Violations,
            Question::Rows,
            Question::Costs,
            Question::Pieces,
            Question::Stretches,
        ]
    }

    fn size(&self, id: usize) -> usize {
        self.corpus.size(id)
    }

    fn noise(&self) -> f64 {
        match self.precision {
            Precision::F64 => 1e-10,
            Precision::F32 => 1e-7,
        }
    }

    fn shelf(&self, length: usize) -> Result<Option<Arc<dyn Shelf>>> {
        self.shelves.as_ref().map(|shelves| shelves(length)).transpose()
    }

    fn lane(self: Arc<Self>, _number: usize) -> Result<Box<dyn Lane>> {
        Ok(Box::new(ChainLane::new(self)))
    }
}
