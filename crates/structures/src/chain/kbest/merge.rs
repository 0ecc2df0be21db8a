//! The slow twin: the k best labellings by filling every list (the parallel form of Viterbi's recursion;
//! Seshadri & Sundberg 1994).
//!
//! For each position and label the k best prefixes are kept with the label and the rank they come
//! from. Each list is merged from the K lists before it, k times the best head: T K K k steps.
//! Equal scores go to the lower label before. What is ruled out scores `Real::LEAST` and is in no list.

use super::most;
use crate::chain::kernel::Real;
use crate::chain::{Labelling, SpaceView};
use seqoia_core::cast::{label, narrow};

#[derive(Clone, Copy, Debug)]
struct Prefix<R> {
    score: R,
    from: u16,
    rank: u32,
}

/// The lists of all positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Merge<R> {
    prefixes: Vec<Prefix<R>>, // lists one after another, by position and label
    starts: Vec<u32>,         // [T * K + 1]
    heads: Vec<u32>,          // [K] how far each list before has been used
}

impl<R: Real> Merge<R> {
    /// At most `k` labellings of `nodes` [T][W] and `edges` ([K][W] with stride 0), best first.
    pub(super) fn run(
        &mut self,
        space: SpaceView<'_>,
        nodes: &[R],
        edges: &[R],
        stride: usize,
        k: usize,
    ) -> Vec<Labelling> {
        let (width, labels) = (space.width, space.labels);
        let length = nodes.len() / width;
        let k = k.min(most(length, labels)).max(usize::from(k > 0));
        if length == 0 || k == 0 {
            return vec![];
        }
        self.prefixes.clear();
        self.starts.clear();
        for t in 0..length {
            for y in 0..labels {
                self.starts.push(narrow(self.prefixes.len()));
                let here = nodes[t * width + y];
                if here == R::LEAST {
                    continue;
                }
                if t == 0 {
                    self.prefixes.push(Prefix { score: here, from: 0, rank: 0 });
                } else {
                    let edges = &edges[(t - 1) * stride..];
                    self.merge(k, (t - 1) * labels, labels, here, |from| edges[from * width + y]);
                }
            }
        }
        self.starts.push(narrow(self.prefixes.len()));
        // The labellings end in any label: one more merge, whose edges score nothing.
        self.merge(k, (length - 1) * labels, labels, R::ZERO, |_| R::ZERO);
        let last = self.starts[length * labels] as usize;
        (last..self.prefixes.len()).map(|i| self.trace(i, length, labels)).collect()
    }

    /// Appends the `k` best of the lists `first..first + labels`, each plus its edge and `here`.
    fn merge(&mut self, k: usize, first: usize, labels: usize, here: R, edge: impl Fn(usize) -> R) {
        self.heads.clear();
        self.heads.extend_from_slice(&self.starts[first..first + labels]);
        for _ in 0..k {
            let (mut best, mut top) = (None, R::LEAST);
            for from in 0..labels {
                let head = self.heads[from];
                if head != self.starts[first + from + 1] {
                    let score = self.prefixes[head as usize].score + edge(from);
                    if score > top {
                        (best, top) = (Some(from), score);
                    }
                }
            }
            let Some(from) = best else { break };
            let rank = self.heads[from] - self.starts[first + from];
            self.heads[from] += 1;
            self.prefixes.push(Prefix { score: top + here, from: label(from), rank });
        }
    }

    fn trace(&self, end: usize, length: usize, labels: usize) -> Labelling {
        let mut prefix = self.prefixes[end];
        let score = prefix.score.to_f64();
        let mut path = vec![0; length];
        for t in (0..length).rev() {
            path[t] = prefix.from;
            let list = self.starts[t * labels + usize::from(prefix.from)];
            prefix = self.prefixes[(list + prefix.rank) as usize];
        }
        Labelling { labels: path, score }
    }
}
