//! The chain as a [`Structure`]: layout, examples, and the lanes that answer about them.

use std::sync::Arc;

use super::Space;
use super::kernel::WIDE;
use super::lane::ChainLane;
use seqoia_core::Isa;
use seqoia_core::{Corpus, Lane, Question, Result, Sequence, Structure};

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

    /// The one that is used with so many labels: many are summed in double precision always, since what
    /// is gained there is not arithmetic.
    #[must_use]
    pub fn with_labels(self, labels: usize) -> Self {
        if Space::padded(labels) >= WIDE { Precision::F64 } else { self }
    }
}

/// Sequences to learn from, in one space of weights.
pub struct Chain {
    pub(super) space: Arc<Space>,
    pub(super) corpus: Arc<dyn Corpus<Sequence>>,
    pub(super) isa: Isa,
    pub(super) beam: Option<usize>,
    pub(super) precision: Precision,
}

impl Chain {
    /// A chain over these examples.
    #[must_use]
    pub fn new(space: Arc<Space>, corpus: Arc<dyn Corpus<Sequence>>) -> Self {
        Chain { space, corpus, isa: Isa::detect(), beam: None, precision: Precision::F64 }
    }

    /// The same with other instructions: all give the same bits, which a test shows.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Chain { isa, ..self }
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
    fn examples(&self) -> usize {
        self.corpus.len()
    }

    fn weights(&self) -> usize {
        self.space.view().weights()
    }

    fn offers(&self) -> &'static [Question] {
        &[Question::Expectations, Question::Violations]
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

    fn lane(self: Arc<Self>, _number: usize) -> Result<Box<dyn Lane>> {
        Ok(Box::new(ChainLane::new(self)))
    }
}
