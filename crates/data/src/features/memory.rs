//! A corpus in memory: all sequences in a few long arrays.

use super::NONE;
use crate::threads::each;
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

    /// Gives every attribute a new number (`NONE` drops it) and sorts the lists by it, on at most so many threads.
    pub fn renumber(&mut self, nodes: &[u32], edges: &[u32], threads: usize) {
        renumber(&mut self.nodes, nodes, threads);
        renumber(&mut self.edges, edges, threads);
    }

    /// Divides instance weights by their mean, and says what they summed up to before.
    pub fn normalise_weights(&mut self) -> f64 {
        normalise(&mut self.weights, self.ends.len())
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

/// Divides the weights of n sequences by their mean, and says what they summed up to before; all are 1 if there are none.
pub fn normalise(weights: &mut [f64], n: usize) -> f64 {
    let n = seqoia_core::cast::real(n);
    if weights.is_empty() {
        return n;
    }
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|weight| *weight *= n / sum);
    }
    sum
}

/// Lists that are renumbered in one go.
const STRETCH: usize = 4096;

/// Some neighbouring lists of a [`Ragged`].
struct Stretch<'a> {
    from: usize,          // where the first one starts
    ends: &'a mut [u32],  // where each ends; in the end counted from the first that is kept
    items: &'a mut [u32], // the first `kept` of them, in the end
    values: &'a mut [f32],
    kept: usize,
}

fn renumber(lists: &mut Ragged, numbers: &[u32], threads: usize) {
    let Some((_, mut ends)) = lists.starts.split_first_mut() else { return };
    let (mut items, mut values, mut from) = (lists.items.as_mut_slice(), lists.values.as_mut_slice(), 0);
    let mut stretches = vec![];
    while !ends.is_empty() {
        let (own, more) = ends.split_at_mut(STRETCH.min(ends.len()));
        let length = own.last().map_or(0, |end| *end as usize - from);
        let (own_items, more_items) = items.split_at_mut(length);
        let (own_values, more_values) = values.split_at_mut(length.min(values.len()));
        stretches.push(Stretch { from, ends: own, items: own_items, values: own_values, kept: 0 });
        (ends, items, values, from) = (more, more_items, more_values, from + length);
    }
    each(threads, &mut stretches, |_, stretch| stretch.renumber(numbers));
    let mut moves = vec![];
    let mut kept = 0;
    for stretch in &mut stretches {
        stretch.ends.iter_mut().for_each(|end| *end += narrow(kept));
        moves.push((stretch.from..stretch.from + stretch.kept, kept));
        kept += stretch.kept;
    }
    let valued = !lists.values.is_empty();
    for (range, to) in moves.into_iter().filter(|(range, to)| range.start != *to) {
        lists.items.copy_within(range.clone(), to);
        if valued {
            lists.values.copy_within(range, to);
        }
    }
    lists.items.truncate(kept);
    lists.values.truncate(kept);
}

impl Stretch<'_> {
    fn renumber(&mut self, numbers: &[u32]) {
        let (mut kept, mut from) = (0, 0);
        let mut pairs: Vec<(u32, f32)> = vec![];
        for end in self.ends.iter_mut() {
            let to = *end as usize - self.from;
            let start = kept;
            if self.values.is_empty() {
                for i in from..to {
                    let number = numbers[self.items[i] as usize];
                    self.items[kept] = number;
                    kept += usize::from(number != NONE);
                }
                sort(&mut self.items[start..kept]);
            } else {
                pairs.clear();
                pairs.extend((from..to).map(|i| (numbers[self.items[i] as usize], self.values[i])));
                pairs.retain(|(a, _)| *a != NONE);
                pairs.sort_by_key(|(a, _)| *a);
                for &(attribute, value) in &pairs {
                    (self.items[kept], self.values[kept]) = (attribute, value);
                    kept += 1;
                }
            }
            from = to;
            *end = narrow(kept);
        }
        self.kept = kept;
    }
}

/// Lists up to this length are sorted by rank.
const SHORT: usize = 64;

/// Sorts numbers, of which hardly any stands twice. In a short list the place of each is how many are smaller, which is
/// counted in vectors and without a branch.
fn sort(items: &mut [u32]) {
    const LANES: usize = 16;
    let n = items.len();
    if n > SHORT {
        return items.sort_unstable();
    }
    let mut sorted = [0; SHORT];
    let mut places = 0;
    let (all, mut from) = (&*items, 0);
    let mut padded = [u32::MAX; SHORT];
    padded[..n].copy_from_slice(all);
    while from < n {
        let mut ranks = [0_u32; LANES];
        let lanes: [u32; LANES] = std::array::from_fn(|j| padded[from + j]);
        for x in all {
            for (rank, lane) in ranks.iter_mut().zip(&lanes) {
                *rank += u32::from(x < lane);
            }
        }
        for (rank, lane) in ranks.iter().zip(&lanes).take(n - from) {
            sorted[*rank as usize % SHORT] = *lane;
            places += *rank as usize;
        }
        from += LANES;
    }
    if places == n * n.saturating_sub(1) / 2 {
        items.copy_from_slice(&sorted[..n]);
    } else {
        items.sort_unstable(); // equal ones have the same rank
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

    #[test]
    fn short_lists_are_sorted_as_long_ones() {
        let mut random = seqoia_core::Random::new(1, 0, 0, "sort");
        for n in 0..=2 * SHORT {
            for most in [2, 200, u32::MAX] {
                let mut items: Vec<u32> = (0..n).map(|_| narrow(random.below(most as usize))).collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                sort(&mut items);
                assert_eq!(items, expected);
            }
        }
    }
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
            m.renumber(&[2, NONE, 1, 0], &[], 1);
            assert_eq!(m.nodes.starts, [0, 1, 2, 4]);
            assert_eq!(m.nodes.items, [2, 1, 0, 2]);
            assert!(!values || m.nodes.values == [0.5, 2.5, 4.5, 5.5]);
        }
    }

    #[test]
    fn threads_and_stretches_do_not_matter() {
        let tokens = 2 * STRETCH + 77;
        for valued in [false, true] {
            let mut m =
                Memory { nodes: Ragged { starts: vec![0], ..Ragged::default() }, ..Memory::default() };
            for t in 0..tokens {
                m.nodes.items.extend((0..t % 5).map(|i| narrow((t * 7 + i * 13) % 50)));
                m.nodes.starts.push(narrow(m.nodes.items.len()));
            }
            m.nodes.values.extend(
                (0..m.nodes.items.len())
                    .filter(|_| valued)
                    .map(seqoia_core::cast::real)
                    .map(seqoia_core::cast::single),
            );
            let numbers: Vec<u32> = (0..50).map(|a| if a % 3 == 0 { NONE } else { 49 - a }).collect();
            let (mut items, mut values, mut starts) = (vec![], vec![], vec![0]);
            for t in 0..tokens {
                let range = m.nodes.starts[t] as usize..m.nodes.starts[t + 1] as usize;
                let mut list: Vec<(u32, usize)> =
                    range.map(|i| (numbers[m.nodes.items[i] as usize], i)).filter(|p| p.0 != NONE).collect();
                list.sort_by_key(|p| p.0);
                items.extend(list.iter().map(|p| p.0));
                values.extend(
                    list.iter()
                        .filter(|_| valued)
                        .map(|p| seqoia_core::cast::single(seqoia_core::cast::real(p.1))),
                );
                starts.push(narrow(items.len()));
            }
            for threads in [1, 2, 3] {
                let mut m = m.clone();
                m.renumber(&numbers, &[], threads);
                assert_eq!(
                    m.nodes,
                    Ragged { starts: starts.clone(), items: items.clone(), values: values.clone() }
                );
            }
        }
    }
}
