//! log Z and marginals of a chain (Rabiner 1989), in the linear domain with one factor a position.
//!
//! With m_t the largest score of position t, m the largest transition, E = exp(a - m) and
//! psi_t = exp(s_t - m_t):
//!
//! ```text
//! alpha_t = (alpha_{t-1} E) psi_t / c_t,   c_t such that alpha_t sums to 1
//! log Z   = sum_t (m_t + ln c_t) + (T - 1) m
//! r_t     = psi_t beta_t / c_t,   beta_{T-1} = 1,   beta_t = E r_{t+1}
//! p_t(y)  = alpha_t(y) beta_t(y),   sum_t p_t(y', y) = E(y', y) sum_t alpha_{t-1}(y') r_t(y)
//! ```
//!
//! E is taken out of the sum over positions, so the pairs cost one multiplication and one addition
//! each, and `exp` is computed for T K + K K numbers instead of T K K.
//!
//! When is this exact? Every label is reached from the best one of the position before, so
//! alpha_t(y) >= exp(-(range of a + range of s_t)) / K: as long as those two ranges stay below
//! `Real::LIMIT` together, nothing underflows that could matter later. Where they do not (weights
//! of 1e3), the caller takes the log domain: [`log_domain`], which is also the slow twin in tests.
//! Labels and pairs that are ruled out have psi or E 0. Rules may then make every way to what is likely lead through
//! labels whose alpha underflowed: with rules, a bound of what that costs is found afterwards (`lost.rs`), and where it
//! is too much the caller takes the log domain as well.

use super::super::Limits;
use super::lost::{is_bearable, is_whole};
use super::{Real, SpaceView, dispatch};
use crate::exp::{exp64, ln};
use seqoia_core::Isa;

/// Buffers of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForwardBackward<R> {
    psi: Vec<R>,        // [T][W], then r
    alpha: Vec<R>,      // [T][W]
    e: Vec<R>,          // [K][W], or [T-1][K][W]
    transposed: Vec<R>, // [K][W]
    scales: Vec<R>,     // [T] 1 / c_t
    beta: Vec<R>,       // [W] of the position at hand
}

/// Where marginals go: nodes [T][W], and the edges, [K][W] summed over positions or [T-1][K][W].
pub(crate) type Marginals<'a, R> = Option<(&'a mut [R], &'a mut [R])>;

impl<R: Real> ForwardBackward<R> {
    /// log Z of scores `nodes` [T][W] and `edges`, which are [K][W] (`stride` 0) or [T-1][K][W], over the
    /// labellings within `limits`; and the marginals, if wanted. Without any such labelling log Z is no
    /// finite number.
    #[allow(clippy::too_many_arguments)] // the fields of a decoder, borrowed apart
    pub(crate) fn run(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        nodes: &[R],
        edges: &[R],
        stride: usize,
        limits: Limits<'_>,
        marginals: Marginals<'_, R>,
    ) -> f64 {
        if nodes.is_empty() {
            if let Some((_, edges)) = marginals {
                edges.fill(R::ZERO);
            }
            return 0.0;
        }
        let Some(log_z) = self.linear(isa, space, nodes, edges, stride, limits) else {
            if limits.is_free() {
                return log_domain(space, nodes, edges, stride, marginals);
            }
            let (mut nodes, mut edges) = (nodes.to_vec(), edges.to_vec());
            limits.put(space, R::LEAST, &mut nodes, &mut edges);
            return log_domain(space, &nodes, &edges, stride, marginals);
        };
        if let Some((p_nodes, p_edges)) = marginals {
            self.transpose(space, stride);
            let this = self;
            dispatch!(isa, space.width, backward::<R>(this: &mut ForwardBackward<R>, space: SpaceView<'_>, stride: usize, p_nodes: &mut [R], p_edges: &mut [R]));
        }
        log_z
    }

    /// Fills psi, E, alpha and the scales; log Z, or None if it takes the log domain.
    pub(super) fn linear(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        nodes: &[R],
        edges: &[R],
        stride: usize,
        limits: Limits<'_>,
    ) -> Option<f64> {
        let (offset, range) = self.exponentials(isa, space, nodes, edges, stride)?;
        if !limits.is_free() {
            limits.put(space, R::ZERO, &mut self.psi, &mut self.e);
        }
        let this = self;
        let logs = dispatch!(isa, space.width, forward::<R>(this: &mut ForwardBackward<R>, space: SpaceView<'_>, stride: usize) -> f64);
        let ruled = limits.rules.is_some();
        let fits = !ruled
            || logs.is_finite()
                && dispatch!(isa, space.width, fits::<R>(this: &ForwardBackward<R>, space: SpaceView<'_>, stride: usize, range: f64) -> bool);
        fits.then_some(offset + logs)
    }

    /// Fills psi and E; returns the sum of what was subtracted and how far transitions are apart, or None if the scores
    /// are too far apart.
    pub(super) fn exponentials(
        &mut self,
        isa: Isa,
        space: SpaceView<'_>,
        nodes: &[R],
        edges: &[R],
        stride: usize,
    ) -> Option<(f64, f64)> {
        let (width, labels) = (space.width, space.labels);
        let (length, matrix) = (nodes.len() / width, labels * width);
        let matrices = if stride == 0 { usize::from(length > 1) } else { length - 1 };
        self.e.resize(matrices * matrix, R::ZERO);
        self.psi.resize(nodes.len(), R::ZERO);

        let (mut offset, mut widest_edges) = (0.0, R::ZERO);
        for i in 0..matrices {
            let (from, to) = (&edges[i * stride..][..matrix], &mut self.e[i * matrix..][..matrix]);
            let (least, most) =
                dispatch!(isa, width, range::<R>(from: &[R], width: usize, labels: usize) -> (R, R));
            widest_edges = larger(widest_edges, most - least);
            offset += most.to_f64() * if stride == 0 { seqoia_core::cast::real(length - 1) } else { 1.0 };
            dispatch!(isa, width, exp_rows::<R>(from: &[R], most: R, labels: usize, width: usize, to: &mut [R]));
        }
        let (psi, room) = (self.psi.as_mut_slice(), R::LIMIT - widest_edges);
        let most = dispatch!(isa, width, psi_rows::<R>(nodes: &[R], labels: usize, width: usize, room: R, psi: &mut [R]) -> Option<f64>);
        Some((offset + most?, widest_edges.to_f64()))
    }

    /// Fills the transpose of E, if there is one E for all positions.
    fn transpose(&mut self, space: SpaceView<'_>, stride: usize) {
        if stride == 0 && !self.e.is_empty() {
            self.transposed.resize(self.e.len(), R::ZERO);
            for y in 0..space.labels {
                for from in 0..space.labels {
                    self.transposed[y * space.width + from] = self.e[from * space.width + y];
                }
            }
        }
    }
}

#[inline(always)]
fn larger<R: Real>(a: R, b: R) -> R {
    if b > a { b } else { a }
}

#[inline(always)]
fn smaller<R: Real>(a: R, b: R) -> R {
    if b < a { b } else { a }
}

/// Smallest and largest number of rows of `labels` numbers each.
pub(super) fn rows_range<R: Real>(rows: &[R], width: usize, labels: usize) -> (R, R) {
    range::<R, 0>(rows, width, labels)
}

#[inline(always)]
fn range<R: Real, const W: usize>(rows: &[R], width: usize, labels: usize) -> (R, R) {
    let width = if W == 0 { width } else { W };
    // One after the other: both in one loop are woven into each other by the compiler, with shuffles.
    (extreme(rows, width, labels, smaller), extreme(rows, width, labels, larger))
}

#[inline(always)]
fn extreme<R: Real>(rows: &[R], width: usize, labels: usize, pick: impl Fn(R, R) -> R) -> R {
    let mut found = [rows[0]; 4];
    for row in rows.chunks_exact(width) {
        let (fours, rest) = row[..labels].as_chunks::<4>();
        for four in fours {
            for j in 0..4 {
                found[j] = pick(found[j], four[j]);
            }
        }
        for &x in rest {
            found[0] = pick(found[0], x);
        }
    }
    pick(pick(found[0], found[1]), pick(found[2], found[3]))
}

/// psi of all positions; the sum of what was subtracted, or None if scores of a position differ by more than `room`.
#[inline(always)]
fn psi_rows<R: Real, const W: usize>(
    nodes: &[R],
    labels: usize,
    width: usize,
    room: R,
    psi: &mut [R],
) -> Option<f64> {
    let width = if W == 0 { width } else { W };
    let mut offset = 0.0;
    for (from, to) in nodes.chunks_exact(width).zip(psi.chunks_exact_mut(width)) {
        let (least, most) = range::<R, W>(from, width, labels);
        // A score that is not a number may pass: the sum, and with it log Z, is then none either.
        let fits = most - least <= room;
        if !fits {
            return None;
        }
        offset += most.to_f64();
        to.copy_from_slice(from);
        R::exp_all(to, most);
        to[labels..].fill(R::ZERO);
    }
    Some(offset)
}

/// `to = exp(from - most)`, 0 in the padding.
#[inline(always)]
fn exp_rows<R: Real, const W: usize>(from: &[R], most: R, labels: usize, width: usize, to: &mut [R]) {
    let width = if W == 0 { width } else { W };
    for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(width)) {
        to.copy_from_slice(from);
        R::exp_all(to, most);
        to[labels..].fill(R::ZERO);
    }
}

/// `pairs[y'][y] += c sum_t alpha_{t-1}(y') r_t(y)`: two stretches of the result stay in registers
/// while t runs.
#[inline(always)]
pub(super) fn add_pairs<R: Real, A: Real, const W: usize>(
    alpha: &[R],
    r: &[R],
    labels: usize,
    width: usize,
    c: R,
    pairs: &mut [A],
) {
    match W {
        2 => pair_stretch::<R, A, 2, W>(alpha, r, labels, 2, c, 0, pairs),
        4 => pair_stretch::<R, A, 4, W>(alpha, r, labels, 4, c, 0, pairs),
        8 => pair_stretch::<R, A, 8, W>(alpha, r, labels, 8, c, 0, pairs),
        12 => pair_stretch::<R, A, 12, W>(alpha, r, labels, 12, c, 0, pairs),
        16 => pair_stretch::<R, A, 16, W>(alpha, r, labels, 16, c, 0, pairs),
        20 => pair_stretch::<R, A, 20, W>(alpha, r, labels, 20, c, 0, pairs),
        24 => pair_stretch::<R, A, 24, W>(alpha, r, labels, 24, c, 0, pairs),
        28 => {
            pair_stretch::<R, A, 16, W>(alpha, r, labels, 28, c, 0, pairs);
            pair_stretch::<R, A, 12, W>(alpha, r, labels, 28, c, 16, pairs);
        }
        _ => {
            let width = if W == 0 { width } else { W };
            let mut at = 0;
            while at + 16 <= width {
                pair_stretch::<R, A, 16, W>(alpha, r, labels, width, c, at, pairs);
                at += 16;
            }
            while at < width {
                pair_stretch::<R, A, 8, W>(alpha, r, labels, width, c, at, pairs); // multiples of 8
                at += 8;
            }
        }
    }
}

#[inline(always)]
fn pair_stretch<R: Real, A: Real, const B: usize, const W: usize>(
    alpha: &[R],
    r: &[R],
    labels: usize,
    width: usize,
    c: R,
    at: usize,
    pairs: &mut [A],
) {
    let width = if W == 0 { width } else { W };
    for from in (0..labels).step_by(2) {
        let second = (from + 1).min(labels - 1);
        let (mut one, mut two) = ([R::ZERO; B], [R::ZERO; B]);
        for (alpha, r) in alpha.chunks_exact(width).zip(r.chunks_exact(width).skip(1)) {
            let (a, b, r) = (alpha[from], alpha[second], &r[at..at + B]);
            for j in 0..B {
                one[j] += a * r[j];
                two[j] += b * r[j];
            }
        }
        let row = &mut pairs[from * width + at..][..B];
        for j in 0..B {
            row[j] += A::from_f64((c * one[j]).to_f64());
        }
        if second != from {
            let row = &mut pairs[second * width + at..][..B];
            for j in 0..B {
                row[j] += A::from_f64((c * two[j]).to_f64());
            }
        }
    }
}

/// `out = v M`: `out[j] = sum_i v[i] m[i][j]`. A stretch of the result stays in registers while i runs;
/// rows that are too long for that are cut into stretches.
#[inline(always)]
pub(super) fn times<R: Real, const W: usize>(v: &[R], m: &[R], width: usize, out: &mut [R]) {
    match W {
        2 => stretch::<R, 2>(v, m, 2, 0, out),
        4 => stretch::<R, 4>(v, m, 4, 0, out),
        8 => stretch::<R, 8>(v, m, 8, 0, out),
        12 => stretch::<R, 12>(v, m, 12, 0, out),
        16 => stretch::<R, 16>(v, m, 16, 0, out),
        20 => stretch::<R, 20>(v, m, 20, 0, out),
        24 => stretch::<R, 24>(v, m, 24, 0, out),
        28 => stretch::<R, 28>(v, m, 28, 0, out),
        32 => stretch::<R, 32>(v, m, 32, 0, out),
        _ => {
            let width = if W == 0 { width } else { W };
            let mut at = 0;
            while at + 24 <= width {
                stretch::<R, 24>(v, m, width, at, out);
                at += 24;
            }
            while at < width {
                stretch::<R, 8>(v, m, width, at, out); // wide rows are multiples of 8
                at += 8;
            }
        }
    }
}

#[inline(always)]
fn stretch<R: Real, const B: usize>(v: &[R], m: &[R], width: usize, at: usize, out: &mut [R]) {
    let mut sum = [R::ZERO; B];
    for (&x, row) in v.iter().zip(m.chunks_exact(width)) {
        let row = &row[at..at + B];
        for j in 0..B {
            sum[j] += x * row[j];
        }
    }
    out[at..at + B].copy_from_slice(&sum);
}

/// `row *= x`, number by number, four at a time: a short loop over all is unrolled into single numbers.
#[inline(always)]
pub(super) fn times_each<R: Real>(row: &mut [R], x: &[R]) {
    let ((fours, rest), (x, last)) = (row.as_chunks_mut::<4>(), x.as_chunks::<4>());
    for (row, x) in fours.iter_mut().zip(x) {
        *row = std::array::from_fn(|j| row[j] * x[j]);
    }
    rest.iter_mut().zip(last).for_each(|(row, x)| *row *= *x);
}

/// `row *= x`.
#[inline(always)]
pub(super) fn times_all<R: Real>(row: &mut [R], x: R) {
    let (fours, rest) = row.as_chunks_mut::<4>();
    for row in fours {
        *row = std::array::from_fn(|j| row[j] * x);
    }
    rest.iter_mut().for_each(|row| *row *= x);
}

/// Sum of a row in four running sums, so that it does not wait for every addition.
#[inline(always)]
pub(super) fn row_sum<R: Real>(row: &[R]) -> R {
    let mut sums = [R::ZERO; 4];
    let (fours, rest) = row.as_chunks::<4>();
    for four in fours {
        for j in 0..4 {
            sums[j] += four[j];
        }
    }
    sums.iter_mut().zip(rest).for_each(|(sum, x)| *sum += *x);
    // Behind the back of the compiler, which else sees two halves here and takes whatever led to them apart as well.
    let sums = std::hint::black_box(sums);
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Multiplies a factor into the product of which one logarithm is taken for many positions; a factor so
/// small that the product might underflow goes to the logarithms at once.
#[inline(always)]
pub(super) fn times_scale(product: f64, scale: f64, logs: f64) -> (f64, f64) {
    const FITS: std::ops::Range<f64> = 1e-100..1e100;
    match (FITS.contains(&scale), FITS.contains(&(product * scale))) {
        (true, true) => (product * scale, logs),
        (true, false) => (1.0, logs + ln(product * scale)),
        (false, _) => (product, logs + ln(scale)),
    }
}

/// Fills alpha and the scales; returns the sum of the logarithms of the scales.
#[inline(always)]
fn forward<R: Real, const W: usize>(fb: &mut ForwardBackward<R>, space: SpaceView<'_>, stride: usize) -> f64 {
    let width = if W == 0 { space.width } else { W };
    let (labels, length) = (space.labels, fb.psi.len() / width);
    fb.alpha.resize(fb.psi.len(), R::ZERO);
    fb.scales.resize(length, R::ZERO);
    let (mut product, mut logs) = (1.0, 0.0);
    for t in 0..length {
        let (before, row) = fb.alpha.split_at_mut(t * width);
        let row = &mut row[..width];
        let psi = &fb.psi[t * width..][..width];
        if t == 0 {
            row.copy_from_slice(psi);
        } else {
            let e = &fb.e[(t - 1) * stride..][..labels * width];
            times::<R, W>(&before[(t - 1) * width..][..labels], e, width, row);
            times_each(row, psi);
        }
        let scale = row_sum(row);
        let inverse = R::ONE / scale;
        times_all(row, inverse);
        fb.scales[t] = inverse;
        (product, logs) = times_scale(product, scale.to_f64(), logs);
    }
    logs + ln(product)
}

/// Whether underflow under rules cost nothing that matters.
#[inline(always)]
fn fits<R: Real, const W: usize>(
    fb: &ForwardBackward<R>,
    space: SpaceView<'_>,
    stride: usize,
    range: f64,
) -> bool {
    let (width, labels) = (if W == 0 { space.width } else { W }, space.labels);
    is_whole(&fb.psi, &fb.alpha, range)
        || is_bearable(&fb.psi, &fb.scales, width, |t, lost, row| {
            let e = &fb.e[(t - 1) * stride..][..labels * width];
            times::<R, W>(&lost[..labels], e, width, row);
        })
}

/// Marginals from alpha, the scales and E; r of each position replaces its psi.
#[inline(always)]
fn backward<R: Real, const W: usize>(
    fb: &mut ForwardBackward<R>,
    space: SpaceView<'_>,
    stride: usize,
    p_nodes: &mut [R],
    p_edges: &mut [R],
) {
    let width = if W == 0 { space.width } else { W };
    let (labels, length) = (space.labels, fb.psi.len() / width);
    let matrix = labels * width;
    let ForwardBackward { psi, alpha, e, transposed, scales, beta } = fb;
    beta.clear();
    beta.resize(labels, R::ONE);
    beta.resize(width, R::ZERO);
    for t in (0..length).rev() {
        let here = &alpha[t * width..][..width];
        let beta = &mut beta[..width];
        let (out, r) = (&mut p_nodes[t * width..][..width], &mut psi[t * width..][..width]);
        let scale = scales[t];
        for j in 0..width {
            // A label that nothing leads to may have any beta, and no part in what follows.
            let from_here = if here[j] == R::ZERO { R::ZERO } else { beta[j] };
            out[j] = here[j] * from_here;
            r[j] = r[j] * from_here * scale;
        }
        if t == 0 {
            break;
        }
        if stride == 0 {
            times::<R, W>(&r[..labels], transposed, width, beta);
        } else {
            let before = &alpha[(t - 1) * width..][..labels];
            let e = &e[(t - 1) * stride..][..matrix];
            let out = &mut p_edges[(t - 1) * matrix..][..matrix];
            for (from, (row, out)) in e.chunks_exact(width).zip(out.chunks_exact_mut(width)).enumerate() {
                out.iter_mut().zip(row.iter().zip(&*r)).for_each(|(o, (e, r))| *o = *e * *r);
                beta[from] = row_sum(out);
                out.iter_mut().for_each(|o| *o *= before[from]);
            }
        }
    }
    if stride == 0 && length > 1 {
        let p_edges = &mut p_edges[..matrix];
        p_edges.fill(R::ZERO);
        add_pairs::<R, R, W>(alpha, psi, labels, width, R::ONE, p_edges);
        let e = &e[..matrix];
        for j in 0..matrix {
            p_edges[j] *= e[j];
        }
    }
}

/// The same in the log domain: slower by an `exp` for every label pair, safe for any finite scores and
/// for `Real::LEAST` at what is ruled out.
/// Normalised at each position too (by ln c_t), so that long sequences lose no digits.
pub(crate) fn log_domain<R: Real>(
    space: SpaceView<'_>,
    nodes: &[R],
    edges: &[R],
    stride: usize,
    marginals: Marginals<'_, R>,
) -> f64 {
    let (width, labels) = (space.width, space.labels);
    let (length, matrix) = (nodes.len() / width, labels * width);
    let node = |t: usize, y: usize| nodes[t * width + y].to_f64();
    let edge = |t: usize, from: usize, to: usize| edges[(t - 1) * stride + from * width + to].to_f64();
    let (mut a, mut b) = (vec![0.0; length * labels], vec![0.0; length * labels]);
    let (mut terms, mut logs) = (vec![0.0; labels], vec![0.0; length]);
    for t in 0..length {
        for y in 0..labels {
            a[t * labels + y] = node(t, y);
            if t > 0 {
                (0..labels).for_each(|from| terms[from] = a[(t - 1) * labels + from] + edge(t, from, y));
                a[t * labels + y] += log_sum_exp(&terms);
            }
        }
        let row = &mut a[t * labels..][..labels];
        logs[t] = log_sum_exp(row);
        row.iter_mut().for_each(|a| *a -= logs[t]);
    }
    let log_z: f64 = logs.iter().sum();
    let Some((p_nodes, p_edges)) = marginals else { return log_z };
    for t in (1..length).rev() {
        for from in 0..labels {
            (0..labels).for_each(|y| terms[y] = edge(t, from, y) + node(t, y) + b[t * labels + y]);
            b[(t - 1) * labels + from] = log_sum_exp(&terms) - logs[t];
        }
    }
    p_nodes.fill(R::ZERO);
    p_edges.fill(R::ZERO);
    for t in 0..length {
        for y in 0..labels {
            p_nodes[t * width + y] = R::from_f64(exp64(a[t * labels + y] + b[t * labels + y]));
            for from in (0..labels).filter(|_| t > 0) {
                let score = a[(t - 1) * labels + from] + edge(t, from, y) + node(t, y) + b[t * labels + y];
                let at = if stride == 0 { 0 } else { (t - 1) * matrix };
                p_edges[at + from * width + y] += R::from_f64(exp64(score - logs[t]));
            }
        }
    }
    log_z
}

fn log_sum_exp(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + ln(terms.iter().map(|x| exp64(x - most)).sum())
}
