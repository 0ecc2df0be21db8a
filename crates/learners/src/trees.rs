//! Numbers of which one changes at a time, and of which the sum, the largest and the least are always known; draws in
//! proportion to them.
//!
//! A binary tree over the numbers: a change goes up one path. A node is computed from its two children, so the tree is a
//! function of the numbers and nothing drifts.

/// What is known of some of the numbers.
#[derive(Clone, Copy, Debug)]
struct Node {
    sum: f64,
    most: f64,
    least: f64,
}

const NONE: Node = Node { sum: 0.0, most: 0.0, least: f64::INFINITY };

/// The tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>, // node i has the children 2 i and 2 i + 1; the leaves are the second half
}

impl Tree {
    /// Of these numbers, none of which is negative.
    pub(crate) fn new(numbers: &[f64]) -> Tree {
        let leaves = numbers.len().next_power_of_two();
        let mut nodes = vec![NONE; 2 * leaves];
        for (node, x) in nodes[leaves..].iter_mut().zip(numbers) {
            *node = Node { sum: *x, most: *x, least: *x };
        }
        for i in (1..leaves).rev() {
            nodes[i] = join(nodes[2 * i], nodes[2 * i + 1]);
        }
        Tree { nodes }
    }

    pub(crate) fn set(&mut self, i: usize, x: f64) {
        let mut at = self.nodes.len() / 2 + i;
        self.nodes[at] = Node { sum: x, most: x, least: x };
        while at > 1 {
            at /= 2;
            self.nodes[at] = join(self.nodes[2 * at], self.nodes[2 * at + 1]);
        }
    }

    fn root(&self) -> Node {
        self.nodes.get(1).copied().unwrap_or(NONE)
    }

    pub(crate) fn sum(&self) -> f64 {
        self.root().sum
    }

    pub(crate) fn most(&self) -> f64 {
        self.root().most
    }

    pub(crate) fn least(&self) -> f64 {
        self.root().least
    }

    /// The number of the leaf at `share` of the sum, share in [0, 1); one whose number is above 0, if there is any.
    pub(crate) fn draw(&self, share: f64) -> usize {
        let (leaves, mut at, mut left) = (self.nodes.len() / 2, 1, share * self.sum());
        while at < leaves {
            let (first, second) = (self.nodes[2 * at].sum, self.nodes[2 * at + 1].sum);
            at *= 2;
            if left >= first && second > 0.0 {
                left -= first;
                at += 1;
            }
        }
        at - leaves
    }
}

fn join(a: Node, b: Node) -> Node {
    Node { sum: a.sum + b.sum, most: a.most.max(b.most), least: a.least.min(b.least) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqoia_core::Random;
    use seqoia_core::cast::real;

    #[test]
    fn sum_most_and_least_follow_every_change() {
        let mut random = Random::new(1, 0, 0, "tree");
        for n in [1, 2, 3, 7, 8, 9] {
            let mut numbers = vec![0.0; n];
            let mut tree = Tree::new(&numbers);
            for _ in 0..50 {
                let i = random.below(n);
                numbers[i] = random.unit();
                tree.set(i, numbers[i]);
                let sum: f64 = numbers.iter().sum();
                assert!((tree.sum() - sum).abs() < 1e-12);
                assert_eq!(tree.most(), numbers.iter().copied().fold(0.0, f64::max));
                assert_eq!(tree.least(), numbers.iter().copied().fold(f64::INFINITY, f64::min));
                assert_eq!(tree.sum().to_bits(), Tree::new(&numbers).sum().to_bits());
            }
        }
    }

    #[test]
    fn draws_are_in_proportion() {
        let numbers = [0.0, 3.0, 0.0, 1.0, 2.0, 0.0];
        let tree = Tree::new(&numbers);
        let mut counts = [0; 6];
        let draws = 6000;
        (0..draws).for_each(|i| counts[tree.draw(real(i) / real(draws))] += 1);
        assert_eq!(counts, [0, 3000, 0, 1000, 2000, 0]);
        assert_eq!(tree.draw(1.0 - f64::EPSILON), 4);
        assert_eq!(Tree::new(&[0.0, 0.0]).draw(0.7), 0);
    }
}
