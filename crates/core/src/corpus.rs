//! Indexed examples: plain types that readers write and structures read, so that neither imports
//! the other.

use crate::Result;

/// A kind of example that can be borrowed from where it lies.
pub trait Example: Default + Send {
    /// The borrowed form.
    type View<'a>: Copy
    where
        Self: 'a;
    /// Borrows this one.
    fn view(&self) -> Self::View<'_>;
}

/// Where examples come from: memory, a cache file.
pub trait Corpus<E: Example>: Send + Sync {
    /// Number of examples.
    fn len(&self) -> usize;
    /// No examples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Work an example makes, in tokens.
    fn size(&self, id: usize) -> usize;
    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize;
    /// The example in place, if it lies in memory.
    fn view(&self, id: usize) -> Option<E::View<'_>>;
    /// A copy of it.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, id: usize, into: &mut E) -> Result<()>;
    /// The example, in place or copied.
    ///
    /// # Errors
    /// When it cannot be read.
    fn view_or_read<'a>(&'a self, id: usize, copy: &'a mut E) -> Result<E::View<'a>> {
        if let Some(x) = self.view(id) {
            return Ok(x);
        }
        self.read(id, copy)?;
        Ok(copy.view())
    }
}

/// Lists of attributes, one list a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ragged {
    /// Where each list begins in `items`, and one more: the end. `[T + 1]`; empty if there are none.
    pub starts: Vec<u32>,
    /// Attribute numbers; within a list those with dense rows come first.
    pub items: Vec<u32>,
    /// Their values; empty if all are 1.
    pub values: Vec<f32>,
}

impl Ragged {
    /// Borrows it.
    #[must_use]
    pub fn view(&self) -> Items<'_> {
        Items { starts: &self.starts, items: &self.items, values: &self.values }
    }
}

/// Borrowed lists of attributes. `starts` may point into a longer `items` than its own lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Items<'a> {
    /// As in [`Ragged`].
    pub starts: &'a [u32],
    /// As in [`Ragged`].
    pub items: &'a [u32],
    /// As in [`Ragged`].
    pub values: &'a [f32],
}

impl<'a> Items<'a> {
    /// Number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// No lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lists from one position up to another, the latter left out.
    #[must_use]
    pub fn stretch(&self, from: usize, to: usize) -> Items<'a> {
        if self.is_empty() { *self } else { Items { starts: &self.starts[from..=to], ..*self } }
    }

    /// The attributes at position `t`.
    #[inline]
    #[must_use]
    pub fn at(&self, t: usize) -> &'a [u32] {
        &self.items[self.starts[t] as usize..self.starts[t + 1] as usize]
    }

    /// Their values, if they have any.
    #[inline]
    #[must_use]
    pub fn values_at(&self, t: usize) -> Option<&'a [f32]> {
        (!self.values.is_empty()).then(|| &self.values[self.starts[t] as usize..self.starts[t + 1] as usize])
    }
}

/// A sequence to label, with its gold labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Attributes of each position.
    pub nodes: Ragged,
    /// Attributes of the edge that enters each position (the first list is not used); without lists
    /// if transitions do not look at the input.
    pub edges: Ragged,
    /// Gold labels, `[T]`.
    pub labels: Vec<u16>,
    /// Instance weight c, divided by the mean of all.
    pub weight: f64,
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence { nodes: Ragged::default(), edges: Ragged::default(), labels: vec![], weight: 1.0 }
    }
}

/// A borrowed [`Sequence`].
#[derive(Clone, Copy, Debug)]
pub struct SequenceView<'a> {
    /// Attributes of each position.
    pub nodes: Items<'a>,
    /// Attributes of the edge that enters each position.
    pub edges: Items<'a>,
    /// Gold labels.
    pub labels: &'a [u16],
    /// Instance weight.
    pub weight: f64,
}

impl<'a> SequenceView<'a> {
    /// The positions from one up to another, the latter left out, as a sequence of its own.
    #[must_use]
    pub fn stretch(&self, from: usize, to: usize) -> SequenceView<'a> {
        SequenceView {
            nodes: self.nodes.stretch(from, to),
            edges: self.edges.stretch(from, to),
            labels: &self.labels[from..to],
            weight: self.weight,
        }
    }

    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// No positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Example for Sequence {
    type View<'a> = SequenceView<'a>;

    fn view(&self) -> SequenceView<'_> {
        SequenceView {
            nodes: self.nodes.view(),
            edges: self.edges.view(),
            labels: &self.labels,
            weight: self.weight,
        }
    }
}

/// A list of sequences is a corpus: for tests and small data.
impl Corpus<Sequence> for Vec<Sequence> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn size(&self, id: usize) -> usize {
        self[id].labels.len()
    }

    fn bytes(&self) -> usize {
        let of = |r: &Ragged| 4 * (r.starts.capacity() + r.items.capacity() + r.values.capacity());
        self.iter().map(|s| size_of::<Sequence>() + of(&s.nodes) + of(&s.edges) + 2 * s.labels.len()).sum()
    }

    fn view(&self, id: usize) -> Option<SequenceView<'_>> {
        Some(self[id].view())
    }

    fn read(&self, id: usize, into: &mut Sequence) -> Result<()> {
        into.clone_from(&self[id]);
        Ok(())
    }
}

/// Candidates to choose from, with what each costs.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Features of each candidate, with their values.
    pub candidates: Ragged,
    /// Cost of each candidate, `[C]`; gold are those of least cost.
    pub costs: Vec<f64>,
    /// Instance weight c, divided by the mean of all.
    pub weight: f64,
}

impl Default for List {
    fn default() -> Self {
        List { candidates: Ragged::default(), costs: vec![], weight: 1.0 }
    }
}

/// A borrowed [`List`].
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a> {
    /// Features of each candidate.
    pub candidates: Items<'a>,
    /// Cost of each candidate.
    pub costs: &'a [f64],
    /// Instance weight.
    pub weight: f64,
}

impl Example for List {
    type View<'a> = ListView<'a>;

    fn view(&self) -> ListView<'_> {
        ListView { candidates: self.candidates.view(), costs: &self.costs, weight: self.weight }
    }
}

/// A list of lists is a corpus: lists of candidates are few and short beside the decoder that made them.
impl Corpus<List> for Vec<List> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn size(&self, id: usize) -> usize {
        self[id].costs.len()
    }

    fn bytes(&self) -> usize {
        let of = |r: &Ragged| 4 * (r.starts.capacity() + r.items.capacity() + r.values.capacity());
        self.iter().map(|list| size_of::<List>() + of(&list.candidates) + 8 * list.costs.capacity()).sum()
    }

    fn view(&self, id: usize) -> Option<ListView<'_>> {
        Some(self[id].view())
    }

    fn read(&self, id: usize, into: &mut List) -> Result<()> {
        into.clone_from(&self[id]);
        Ok(())
    }
}

/// Which labels each attribute was seen with: lists of label numbers, ascending. For attributes of
/// edges a "label" is the pair `y' * K + y`.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Where each attribute's list begins, and the end: `[A + 1]`.
    pub starts: Vec<u32>,
    /// The lists.
    pub labels: Vec<u32>,
    /// How often each attribute occurs: `[A]`.
    pub counts: Vec<u32>,
}

impl Pairs {
    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// No attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The labels of an attribute.
    #[must_use]
    pub fn of(&self, attribute: usize) -> &[u32] {
        &self.labels[self.starts[attribute] as usize..self.starts[attribute + 1] as usize]
    }
}
