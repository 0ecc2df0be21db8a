//! How often attributes occur, and with which labels.

use super::NONE;
use crate::threads::each;
use seqoia_core::cast::narrow;
use seqoia_core::{Pairs, Ragged};

/// How often each attribute occurs.
pub(super) fn counts(lists: &Ragged, attributes: usize) -> Vec<u32> {
    let mut counts = vec![0u32; attributes];
    lists.items.iter().for_each(|&a| counts[a as usize] = counts[a as usize].saturating_add(1));
    counts
}

/// Attributes that occur at least `cutoff` times.
pub(super) fn frequent(counts: &[u32], cutoff: u32) -> Vec<u32> {
    (0..narrow(counts.len())).filter(|&a| counts[a as usize] >= cutoff.max(1)).collect()
}

/// What was seen of an attribute. Beside each other, since both are written.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) labels: u64, // a bit for each
    pub(super) count: u32,
}

/// How often each attribute occurs and with which labels, if these are so few that a word has a bit for each: one sweep
/// then tells what [`counts`] and [`pairs`] need five for. Two threads take half of the tokens each: more would need
/// more tables.
pub(super) fn few_labels<'a>(
    lists: &Ragged,
    attributes: usize,
    threads: usize,
    labels_of: impl Fn(usize) -> &'a [u16] + Sync,
) -> Vec<Seen> {
    let tokens = lists.starts.len().saturating_sub(1);
    let middle = if threads > 1 { tokens / 2 } else { tokens };
    let mut halves = vec![(0..middle, vec![Seen::default(); attributes])];
    if middle < tokens {
        halves.push((middle..tokens, vec![Seen::default(); attributes]));
    }
    each(threads, &mut halves, |_, (tokens, seen)| {
        for t in tokens {
            let mask = labels_of(t).iter().fold(0, |mask, y| mask | 1_u64 << y);
            for &a in &lists.items[lists.starts[t] as usize..lists.starts[t + 1] as usize] {
                let seen = &mut seen[a as usize];
                seen.labels |= mask;
                seen.count = seen.count.saturating_add(1);
            }
        }
    });
    let mut halves = halves.into_iter().map(|(_, seen)| seen);
    let mut all = halves.next().unwrap_or_default();
    for (seen, more) in all.iter_mut().zip(halves.flatten()) {
        seen.labels |= more.labels;
        seen.count = seen.count.saturating_add(more.count);
    }
    all
}

/// Which labels each kept attribute occurs with.
pub(super) fn pairs_of_masks(seen: &[Seen], kept: &[u32]) -> Pairs {
    let mut pairs = Pairs { starts: vec![0], labels: vec![], counts: vec![] };
    for &a in kept {
        let Seen { labels: mut mask, count } = seen[a as usize];
        while mask != 0 {
            pairs.labels.push(mask.trailing_zeros());
            mask &= mask - 1;
        }
        pairs.starts.push(narrow(pairs.labels.len()));
        pairs.counts.push(count);
    }
    pairs
}

/// Which labels each kept attribute occurs with: occurrences are sorted by attribute, then each list
/// is made unique with one stamp a label.
pub(super) fn pairs<I: Iterator<Item = usize>>(
    lists: &Ragged,
    counts: &[u32],
    kept: &[u32],
    labels: usize,
    labels_of: impl Fn(usize) -> I,
) -> Pairs {
    let at = |t: usize| &lists.items[lists.starts[t] as usize..lists.starts[t + 1] as usize];
    let tokens = lists.starts.len().saturating_sub(1);
    let mut starts: Vec<usize> = counts.iter().map(|&count| count as usize).collect();
    for t in 0..tokens {
        // One label is counted already; the edge into a first token has none, which leaves a place free.
        let more = labels_of(t).skip(1).count();
        if more > 0 {
            at(t).iter().for_each(|&a| starts[a as usize] += more);
        }
    }
    let mut total = 0;
    for start in &mut starts {
        total += std::mem::replace(start, total);
    }
    let mut next = starts.clone();
    let mut seen = vec![NONE; total];
    for t in 0..tokens {
        for y in labels_of(t) {
            for &a in at(t) {
                seen[next[a as usize]] = narrow(y);
                next[a as usize] += 1;
            }
        }
    }
    let mut pairs = Pairs { starts: vec![0], labels: vec![], counts: vec![] };
    let mut stamps = vec![NONE; labels];
    for &a in kept {
        let from = pairs.labels.len();
        for &y in &seen[starts[a as usize]..next[a as usize]] {
            if stamps[y as usize] != a {
                stamps[y as usize] = a;
                pairs.labels.push(y);
            }
        }
        pairs.labels[from..].sort_unstable();
        pairs.starts.push(narrow(pairs.labels.len()));
        pairs.counts.push(counts[a as usize]);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Random;

    /// One sweep over bits finds what sorting finds, on one thread and on two.
    #[test]
    fn bits_are_those_that_sorting_finds() {
        let mut random = Random::new(1, 0, 0, "pairs");
        for labels in [1, 2, 63, 64] {
            let (tokens, attributes) = (300, 50);
            let mut lists = Ragged { starts: vec![0], ..Ragged::default() };
            for _ in 0..tokens {
                lists.items.extend((0..random.below(6)).map(|_| narrow(random.below(attributes))));
                lists.starts.push(narrow(lists.items.len()));
            }
            let gold: Vec<u16> =
                (0..tokens).map(|_| seqoia_core::cast::label(random.below(labels))).collect();
            let counts = counts(&lists, attributes);
            let kept = frequent(&counts, 2);
            let expected = pairs(&lists, &counts, &kept, labels, |t| [usize::from(gold[t])].into_iter());
            for threads in [1, 2, 8] {
                let seen = few_labels(&lists, attributes, threads, |t| &gold[t..=t]);
                assert!(seen.iter().zip(&counts).all(|(seen, count)| seen.count == *count));
                assert_eq!(format!("{:?}", pairs_of_masks(&seen, &kept)), format!("{expected:?}"));
            }
        }
    }
}
