//! The order of a pass, the same in memory and out of core.
//!
//! Blocks of 1,024 neighbours are shuffled; then, for each 32 blocks in that order, their examples
//! together. Up to 32,768 examples this is a plain shuffle; beyond, a reader needs one window of
//! examples in memory and reads whole blocks. Both numbers are part of the format of a run: changing
//! them changes models.

use crate::Random;

/// Hands out the examples of a pass, in random order, and starts anew when they are used up.
#[derive(Clone, Debug)]
pub struct Order {
    n: usize,
    blocks: Vec<usize>, // those to come, the next one last
    window: Vec<usize>, // examples to come, the next one last
    random: Random,
}

impl Order {
    /// Neighbours that stay together.
    pub const BLOCK: usize = 1024;
    /// Blocks that are mixed.
    pub const WINDOW: usize = 32;

    /// An order of `n` examples.
    #[must_use]
    pub fn new(n: usize, random: Random) -> Self {
        Order { n, blocks: vec![], window: vec![], random }
    }

    /// The examples of the next window, which a reader may fetch together.
    fn refill(&mut self) {
        if self.blocks.is_empty() {
            self.blocks = (0..self.n.div_ceil(Self::BLOCK)).collect();
            self.random.shuffle(&mut self.blocks);
            self.blocks.reverse();
        }
        let from = self.blocks.len().saturating_sub(Self::WINDOW);
        for b in self.blocks.drain(from..).rev() {
            self.window.extend(b * Self::BLOCK..self.n.min((b + 1) * Self::BLOCK));
        }
        self.random.shuffle(&mut self.window);
        self.window.reverse();
    }

    /// Appends the next `count` examples; nothing if there are no examples.
    pub fn next(&mut self, count: usize, ids: &mut Vec<usize>) {
        for _ in 0..count {
            if self.window.is_empty() {
                self.refill();
            }
            ids.extend(self.window.pop());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(n: usize, by: usize) -> Vec<usize> {
        let (mut order, mut ids) = (Order::new(n, Random::new(1, 1, 0, "order")), vec![]);
        while ids.len() < n {
            order.next(by.min(n - ids.len()), &mut ids);
        }
        ids
    }

    #[test]
    fn a_pass_is_a_permutation_and_does_not_depend_on_the_batch() {
        for n in [1, 7, 1023, 1024, 5000, 33_000, 70_000] {
            let ids = take(n, 1);
            assert_eq!(ids, take(n, 24));
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        }
    }

    /// Part of the format of a run: other numbers here are other models. They are from twenty lines of Python
    /// that follow the description above.
    #[test]
    fn the_order_is_this_one() {
        assert_eq!(take(12, 1), [8, 5, 4, 11, 1, 10, 9, 7, 3, 6, 2, 0]);
        // Beyond a window.
        let ids = take(40_000, 1);
        assert_eq!(ids[..4], [4228, 35_008, 28_893, 32_320]);
        assert_eq!(ids[39_996..], [14_839, 11_058, 13_646, 35_947]);
    }

    #[test]
    fn a_window_holds_whole_blocks() {
        let ids = take(100_000, 24);
        let blocks: std::collections::BTreeSet<_> = ids[..20_000].iter().map(|i| i / Order::BLOCK).collect();
        assert!(blocks.len() <= Order::WINDOW, "{} blocks in the first window", blocks.len());
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let mut ids = vec![];
        Order::new(0, Random::new(1, 1, 0, "order")).next(3, &mut ids);
        assert!(ids.is_empty());
    }
}
