//! Loss and gradient with many labels, where few of the K^2 label pairs occur.
//!
//! A pair that does not occur has weight 0, so its factor is 1 and the sum over all sources is the sum
//! over those that occur plus a constant (Lavergne et al. 2010, section 3.3, for L1 models):
//!
//! ```text
//! sum_y' alpha(y') exp a(y', y) = sum_y' alpha(y') + sum_{y' with a pair} alpha(y') (exp a(y', y) - 1)
//! ```
//!
//! and the same backwards; only pairs that occur need an expectation. A position then costs K
//! exponentials and three passes over the pairs that occur, instead of three over K^2. On the Brown
//! corpus (472 labels) those are one pair in forty.
//!
//! Where most of the mass goes through pairs with strongly negative weights, the two sums nearly cancel;
//! such a label is summed again over all sources.
//!
//! Under rules a label that may not follow every other has no constant: its sum is over the pairs that are
//! allowed, which for chunks are two sources for each label inside one. A label that nothing leads to has a
//! part in no such sum, whatever follows it.

use super::super::Rules;
use super::gather::scatter_position;
use super::lost::is_whole;
use super::{Kernel, Real, SpaceView, SumLimits, Touched, dispatch};
use crate::exp::{exp64, ln};
use seqoia_core::cast::{label, narrow};
use seqoia_core::{Corpus, Isa, Sequence, SequenceView};

/// A sum smaller than this part of its constant is summed again.
const CANCELLED: f64 = 1e-4;
/// As for the dense kernel: scores may differ by this much, pairs included.
const LIMIT: f64 = 600.0;

/// The pairs that are summed one by one, by source and by target, and one worker's buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wide {
    base: Vec<f64>, // [K] factor of the pairs that lead to a label and are not listed: 1, or 0
    source_starts: Vec<u32>, // [K + 1] into `targets`
    targets: Vec<u32>, // label that each pair leads to
    target_starts: Vec<u32>, // [K + 1] into `sources`
    sources: Vec<u32>, // label that each pair comes from
    by_target: Vec<u32>, // number of the pair, in the order of `targets`
    factors: Vec<f64>, // exp a - base, in the order of `targets`
    back_factors: Vec<f64>, // the same in the order of `sources`
    expected: Vec<f64>, // sum of alpha r, in the order of `targets`
    nodes: Vec<f64>, // [T][W] scores, then psi, then r
    alpha: Vec<f64>, // [T][W]
    scales: Vec<f64>, // [T] 1 / c_t
    beta: Vec<f64>, // [W]
    part: Vec<f64>, // [W]
}

impl Wide {
    /// For a layout whose label pairs exist where `exists` says so, and rules.
    pub(crate) fn new(labels: usize, rules: Option<&Rules>, exists: impl Fn(usize, usize) -> bool) -> Self {
        let mut wide = Wide { source_starts: vec![0], target_starts: vec![0], ..Wide::default() };
        let allows = |from, to| rules.is_none_or(|rules| rules.allows(Some(label(from)), Some(label(to))));
        let free = |to: usize| (0..labels).all(|from| allows(from, to));
        wide.base = (0..labels).map(|to| if free(to) { 1.0 } else { 0.0 }).collect();
        let listed = |from, to| if wide.base[to] == 1.0 { exists(from, to) } else { allows(from, to) };
        let mut number = vec![];
        for from in 0..labels {
            for to in (0..labels).filter(|&to| listed(from, to)) {
                number.push((narrow(to), narrow(from), narrow(wide.targets.len())));
                wide.targets.push(narrow(to));
            }
            wide.source_starts.push(narrow(wide.targets.len()));
        }
        number.sort_unstable();
        for to in 0..labels {
            let end = number.partition_point(|n| (n.0 as usize) <= to);
            wide.target_starts.push(narrow(end));
        }
        wide.sources = number.iter().map(|n| n.1).collect();
        wide.by_target = number.iter().map(|n| n.2).collect();
        wide
    }

    /// Adds the gradient to `g` and returns the loss; sequences that it cannot do go to `odd`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn sum(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        corpus: &dyn Corpus<Sequence>,
        limits: SumLimits<'_>,
        ids: &[usize],
        w: &[f64],
        mut g: Option<(&mut [f64], &mut Touched)>,
        odd: &mut Vec<usize>,
    ) -> f64 {
        let width = space.width;
        let from_of = |starts: &[u32], from: usize| starts[from] as usize..starts[from + 1] as usize;
        self.factors.clear();
        for from in 0..space.labels {
            let targets = self.targets[from_of(&self.source_starts, from)].iter().map(|&to| to as usize);
            self.factors.extend(targets.map(|to| exp64(w[from * width + to]) - self.base[to]));
        }
        self.back_factors.clear();
        self.back_factors.extend(self.by_target.iter().map(|&k| self.factors[k as usize]));
        self.expected.clear();
        self.expected.resize(self.targets.len(), 0.0);
        let reach = w[..space.labels * width].iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        let mut total = 0.0;
        let mut copy = Sequence::default();
        for &id in ids {
            let free = matches!(limits.of(id), Ok(None));
            let x = corpus.view_or_read(id, &mut copy).ok().filter(|x| free && x.edges.is_empty());
            let Some(x) = x else {
                odd.push(id);
                continue;
            };
            self.nodes.resize(x.len() * width, 0.0);
            Kernel::new(isa).node_scores(space, w, 1.0, x.nodes, &mut self.nodes);
            let gold = super::super::decoder::path_score(space, &self.nodes, w, 0, x.labels);
            let ends = limits.rules.map(Rules::ends);
            let log_z = self.forward(isa, space, w, ends, x.len(), LIMIT - 2.0 * reach);
            // What underflow cost is bounded by the general path.
            let whole = |_: &f64| limits.rules.is_none() || is_whole(&self.nodes, &self.alpha, reach);
            let Some(log_z) = log_z.filter(whole) else {
                odd.push(id);
                continue;
            };
            total += x.weight * (log_z - gold);
            if let Some((g, touched)) = &mut g {
                self.backward(space, w, x, g, touched);
            }
        }
        if let Some((g, _)) = g {
            for from in 0..space.labels {
                for k in from_of(&self.source_starts, from) {
                    // Not 1 + factor, which has lost the digits of a small exponential.
                    let at = from * width + self.targets[k] as usize;
                    // A pair that nobody expects may have a weight whose exponential is infinite.
                    if self.expected[k] != 0.0 {
                        g[at] += self.expected[k] * exp64(w[at]);
                    }
                }
            }
        }
        total
    }

    /// Fills alpha and the scales; log Z, or None if scores of a position differ by more than `most_range`.
    /// `ends`: the labels that may not begin the sequence, and those that may not end it.
    fn forward(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        w: &[f64],
        ends: Option<(&[u16], &[u16])>,
        length: usize,
        most_range: f64,
    ) -> Option<f64> {
        let (labels, width) = (space.labels, space.width);
        self.alpha.resize(length * width, 0.0);
        self.scales.resize(length, 0.0);
        let (mut offset, mut product, mut logs) = (0.0, 1.0, 0.0);
        for t in 0..length {
            let psi = &mut self.nodes[t * width..][..width];
            let most = psi[..labels].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = psi[..labels].iter().copied().fold(f64::INFINITY, f64::min);
            let fits = most - least <= most_range;
            if !fits {
                return None;
            }
            offset += most;
            exponentials(isa, psi, most, labels);
            if let Some((no_start, no_end)) = ends {
                let out = if t == 0 { no_start } else { &[] };
                out.iter().for_each(|y| psi[usize::from(*y)] = 0.0);
                let out = if t + 1 == length { no_end } else { &[] };
                out.iter().for_each(|y| psi[usize::from(*y)] = 0.0);
            }
            let (before, row) = self.alpha.split_at_mut(t * width);
            let row = &mut row[..width];
            if t == 0 {
                row.copy_from_slice(psi);
            } else {
                let before = &before[(t - 1) * width..][..labels];
                for y in 0..labels {
                    let pairs = self.target_starts[y] as usize..self.target_starts[y + 1] as usize;
                    let sources = self.sources[pairs.clone()].iter().zip(&self.back_factors[pairs]);
                    let listed = sources.map(|(&from, f)| before[from as usize] * f).sum::<f64>();
                    let mut sum = self.base[y] + listed;
                    if sum < CANCELLED && self.base[y] == 1.0 {
                        let all = before.iter().enumerate();
                        sum = all.map(|(from, a)| a * exp64(w[from * width + y])).sum();
                    }
                    row[y] = sum * psi[y];
                }
            }
            let scale: f64 = row[..labels].iter().sum();
            row[..labels].iter_mut().for_each(|a| *a /= scale);
            self.scales[t] = 1.0 / scale;
            product *= scale;
            if !(1e-100..1e100).contains(&product) {
                logs += ln(product);
                product = 1.0;
            }
        }
        Some(offset + logs + ln(product))
    }

    fn backward(
        &mut self,
        space: SpaceView<'_>,
        w: &[f64],
        x: SequenceView<'_>,
        g: &mut [f64],
        touched: &mut Touched,
    ) {
        let (labels, width, c) = (space.labels, space.width, x.weight);
        let (transitions, rest) = g.split_at_mut(space.rows_at());
        let (rows, singles) = rest.split_at_mut(space.dense * width);
        let Wide { beta, part, alpha, nodes, scales, base, expected, .. } = self;
        let (targets, factors, base) = (&self.targets[..], &self.factors[..], &base[..labels]);
        beta.clear();
        beta.resize(labels, 1.0);
        part.resize(width, 0.0);
        for t in (0..x.len()).rev() {
            let y = usize::from(x.labels[t]);
            let here = &alpha[t * width..][..labels];
            // A label that nothing leads to may have any beta, and no part in what follows.
            beta.iter_mut().zip(here).for_each(|(b, a)| *b = if *a == 0.0 { 0.0 } else { *b });
            part.iter_mut().zip(here.iter().zip(&*beta)).for_each(|(p, (a, b))| *p = c * (a * b));
            part[y] -= c;
            let (ids, values) = (x.nodes.at(t), x.nodes.values_at(t));
            scatter_position::<f64, 0, 1>(space, ids, values, part, rows, singles, touched);
            if t == 0 {
                continue;
            }
            let gold_before = usize::from(x.labels[t - 1]);
            transitions[gold_before * width + y] -= c;
            let (r, scale) = (&mut nodes[t * width..][..labels], scales[t]);
            r.iter_mut().zip(&*beta).for_each(|(r, b)| *r *= b * scale);
            let constant: f64 = r.iter().zip(base).map(|(r, base)| r * base).sum();
            let before = &alpha[(t - 1) * width..][..labels];
            for (from, (beta, a)) in beta.iter_mut().zip(before).enumerate() {
                let pairs = self.source_starts[from] as usize..self.source_starts[from + 1] as usize;
                let (listed, a) = (targets[pairs.clone()].iter().zip(&factors[pairs.clone()]), c * a);
                let mut sum = constant;
                for ((&to, factor), expected) in listed.clone().zip(&mut expected[pairs]) {
                    let r = r[to as usize];
                    sum += factor * r;
                    *expected += a * r;
                }
                if sum < CANCELLED * constant {
                    let free = (0..labels).filter(|&to| base[to] == 1.0);
                    sum = free.map(|to| r[to] * exp64(w[from * width + to])).sum();
                    let ruled = listed.filter(|(to, _)| base[**to as usize] == 0.0);
                    sum += ruled.map(|(to, factor)| factor * r[*to as usize]).sum::<f64>();
                }
                *beta = sum;
            }
        }
    }
}

/// `row = exp(row - most)`, 0 in the padding.
fn exponentials<R: Real>(isa: Isa, row: &mut [R], most: R, labels: usize) {
    dispatch!(isa, 0, exp_row::<R>(row: &mut [R], most: R, labels: usize));
}

#[inline(always)]
fn exp_row<R: Real, const W: usize>(row: &mut [R], most: R, labels: usize) {
    debug_assert!(W <= row.len());
    R::exp_all(row, most);
    row[labels..].fill(R::ZERO);
}
