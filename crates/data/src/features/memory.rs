//! A corpus in memory: all sequences in a few long arrays.

use super::NONE;
use seqoia_core::cast::narrow;
use seqoia_core::{Corpus, Items, Ragged, Result, Sequence, SequenceView};

/// Sequences one after another; views borrow stretches of the arrays.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Attributes of all tokens.
    pub nodes: Ragged,
    /// Attributes of all edges; no lists if there are none.
    pub edges: Ragged,
    /// Gold labels of all tokens.
    pub labels: Vec<u16>,
    /// Where each sequence ends, in tokens.
    pub ends: Vec<u32>,
    /// Instance weights; empty if all are 1.
    pub weights: Vec<f64>,
}

impl Memory {
    fn range(&self, id: usize) -> std::ops::Range<usize> {
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        start..self.ends[id] as usize
    }

    /// Gives every attribute a new number (`NONE` drops it) and sorts the lists by it.
    pub fn renumber(&mut self, nodes: &[u32], edges: &[u32]) {
        renumber(&mut self.nodes, nodes);
        renumber(&mut self.edges, edges);
    }

    /// Divides instance weights by their mean, and says what they summed up to before.
    pub fn normalise_weights(&mut self) -> f64 {
        let n = seqoia_core::cast::real(self.ends.len());
        if self.weights.is_empty() {
            return n;
        }
        let sum: f64 = self.weights.iter().sum();
        if sum > 0.0 {
            self.weights.iter_mut().for_each(|weight| *weight *= n / sum);
        }
        sum
    }

    /// Number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.labels.len()
    }

    /// Gives back what growing left over.
    pub fn shrink(&mut self) {
        for lists in [&mut self.nodes, &mut self.edges] {
            lists.starts.shrink_to_fit();
            lists.items.shrink_to_fit();
            lists.values.shrink_to_fit();
        }
        self.labels.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

fn renumber(lists: &mut Ragged, numbers: &[u32]) {
    let (mut kept, mut from) = (0, 0);
    let valued = !lists.values.is_empty();
    let mut pairs: Vec<(u32, f32)> = vec![];
    for list in 1..lists.starts.len() {
        let end = lists.starts[list] as usize;
        if valued {
            pairs.clear();
            pairs.extend((from..end).map(|i| (numbers[lists.items[i] as usize], lists.values[i])));
            pairs.retain(|(a, _)| *a != NONE);
            pairs.sort_by_key(|(a, _)| *a);
            for (i, &(attribute, value)) in pairs.iter().enumerate() {
                (lists.items[kept + i], lists.values[kept + i]) = (attribute, value);
            }
            kept += pairs.len();
        } else {
            let start = kept;
            for i in from..end {
                let number = numbers[lists.items[i] as usize];
                lists.items[kept] = number;
                kept += usize::from(number != NONE);
            }
            lists.items[start..kept].sort_unstable();
        }
        from = end;
        lists.starts[list] = narrow(kept);
    }
    lists.items.truncate(kept);
    if valued {
        lists.values.truncate(kept);
    }
}

impl Corpus<Sequence> for Memory {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn size(&self, id: usize) -> usize {
        self.range(id).len()
    }

    fn bytes(&self) -> usize {
        let lists = |l: &Ragged| 4 * (l.starts.capacity() + l.items.capacity() + l.values.capacity());
        lists(&self.nodes) + lists(&self.edges) + 2 * self.labels.capacity() + 4 * self.ends.capacity()
    }

    fn view(&self, id: usize) -> Option<SequenceView<'_>> {
        let range = self.range(id);
        Some(SequenceView {
            nodes: stretch(&self.nodes, &range),
            edges: stretch(&self.edges, &range),
            labels: &self.labels[range],
            weight: self.weights.get(id).copied().unwrap_or(1.0),
        })
    }

    fn read(&self, id: usize, into: &mut Sequence) -> Result<()> {
        let Some(x) = self.view(id) else { return Ok(()) };
        let copy = |from: Items<'_>, to: &mut Ragged| {
            let (first, last) = match (from.starts.first(), from.starts.last()) {
                (Some(&first), Some(&last)) => (first as usize, last as usize),
                _ => (0, 0),
            };
            to.starts = from.starts.iter().map(|s| s - narrow(first)).collect();
            to.items = from.items[first..last].to_vec();
            to.values = from.values.get(first..last).unwrap_or_default().to_vec();
        };
        copy(x.nodes, &mut into.nodes);
        copy(x.edges, &mut into.edges);
        into.labels = x.labels.to_vec();
        into.weight = x.weight;
        Ok(())
    }
}

fn stretch<'a>(lists: &'a Ragged, range: &std::ops::Range<usize>) -> Items<'a> {
    let starts = lists.starts.get(range.start..=range.end).unwrap_or_default();
    Items { starts, items: &lists.items, values: &lists.values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Example;

    fn memory(values: bool) -> Memory {
        let items = vec![0, 1, 2, 1, 3, 0];
        let values = if values { vec![0.5, 1.5, 2.5, 3.5, 4.5, 5.5] } else { vec![] };
        Memory {
            nodes: Ragged { starts: vec![0, 2, 3, 6], items, values },
            labels: vec![0, 1, 0],
            ends: vec![2, 3],
            ..Memory::default()
        }
    }

    #[test]
    fn a_copy_equals_the_view() {
        for values in [false, true] {
            let m = memory(values);
            for id in 0..2 {
                let mut copy = Sequence::default();
                m.read(id, &mut copy).unwrap();
                let (a, b) = (m.view(id).unwrap(), copy.view());
                assert_eq!((a.len(), a.labels), (b.len(), b.labels));
                assert!((0..a.len()).all(|t| a.nodes.at(t) == b.nodes.at(t)));
                assert!((0..a.len()).all(|t| a.nodes.values_at(t) == b.nodes.values_at(t)));
                assert!(a.edges.is_empty());
            }
        }
    }

    #[test]
    fn weights_have_mean_one() {
        let mut m = memory(false);
        assert_eq!((m.normalise_weights(), m.weights.len()), (2.0, 0));
        m.weights = vec![1.0, 3.0];
        assert_eq!((m.normalise_weights(), m.weights.as_slice()), (4.0, &[0.5, 1.5][..]));
        m.weights = vec![0.0, 0.0];
        assert_eq!(m.normalise_weights(), 0.0);
    }

    #[test]
    fn new_numbers_drop_and_sort() {
        for values in [false, true] {
            let mut m = memory(values);
            m.renumber(&[2, NONE, 1, 0], &[]);
            assert_eq!(m.nodes.starts, [0, 1, 2, 4]);
            assert_eq!(m.nodes.items, [2, 1, 0, 2]);
            assert!(!values || m.nodes.values == [0.5, 2.5, 4.5, 5.5]);
        }
    }
}
