//! Marginals of each position and each pair of neighbours apart, and what follows from them: entropies and derivatives
//! of marginals.
//!
//! A chain's distribution is a Markov chain in both directions, with p(y | y') = p(y', y) / p(y') and
//! p(y' | y) = p(y', y) / p(y). Along a direction of the scores (ds at nodes, da at pairs) the marginals change by their
//! covariance with what the direction adds to the score of a labelling:
//!
//! ```text
//! u_1(y) = ds_1(y),   u_t(y)  = ds_t(y) + sum_y' p(y' | y) (u_{t-1}(y') + da(y', y))     all up to t, given y_t
//! v_T(y) = 0,         v_t(y') = sum_y p(y | y') (da(y', y) + ds_{t+1}(y) + v_{t+1}(y))   all behind t, given y_t
//! e = sum_y p(y_T = y) u_T(y)
//! dp(y_t = y) = p(y) (u_t(y) + v_t(y) - e)
//! dp(y', y)   = p(y', y) (u_{t-1}(y') + da(y', y) + ds_t(y) + v_t(y) - e)
//! ```

use super::SpaceView;

/// Edge scores of each of the `pairs` pairs of neighbours apart, where they are the same for all.
pub(super) fn repeated(edges: &[f64], pairs: usize, to: &mut Vec<f64>) {
    to.clear();
    (0..pairs).for_each(|_| to.extend_from_slice(edges));
}

/// Marginals and a direction: nodes `[T][W]`, edges `[T-1][K][W]` apart; the direction's edges are one matrix with
/// `stride` 0.
#[derive(Clone, Copy)]
pub(super) struct Direction<'a> {
    pub(super) p: (&'a [f64], &'a [f64]),
    pub(super) along: (&'a [f64], &'a [f64]),
    pub(super) stride: usize,
}

/// Adds `c` times the derivative of the marginals to `out`, whose edges are apart or one matrix as the direction's.
pub(super) fn tangent(space: SpaceView<'_>, direction: Direction<'_>, c: f64, out: (&mut [f64], &mut [f64])) {
    let Direction { p: (p_nodes, p_edges), along: (ds, da), stride } = direction;
    let (width, labels) = (space.width, space.labels);
    let (length, matrix) = (p_nodes.len() / width, labels * width);
    let share = |pair: f64, of: f64| if of > 0.0 { pair / of } else { 0.0 };
    let (mut u, mut v) = (ds.to_vec(), vec![0.0; ds.len()]);
    for t in 1..length {
        let (pairs, da) = (&p_edges[(t - 1) * matrix..][..matrix], &da[(t - 1) * stride..][..matrix]);
        for y in 0..labels {
            let of = p_nodes[t * width + y];
            let before = |from: usize| u[(t - 1) * width + from] + da[from * width + y];
            let sum: f64 = (0..labels).map(|from| share(pairs[from * width + y], of) * before(from)).sum();
            u[t * width + y] += sum;
        }
    }
    for t in (1..length).rev() {
        let (pairs, da) = (&p_edges[(t - 1) * matrix..][..matrix], &da[(t - 1) * stride..][..matrix]);
        for from in 0..labels {
            let of = p_nodes[(t - 1) * width + from];
            let behind = |y: usize| da[from * width + y] + ds[t * width + y] + v[t * width + y];
            v[(t - 1) * width + from] =
                (0..labels).map(|y| share(pairs[from * width + y], of) * behind(y)).sum();
        }
    }
    let Some(last) = length.checked_sub(1) else { return };
    let mean: f64 = (0..labels).map(|y| p_nodes[last * width + y] * u[last * width + y]).sum();
    for t in 0..length {
        for y in 0..labels {
            let at = t * width + y;
            out.0[at] += c * p_nodes[at] * (u[at] + v[at] - mean);
        }
    }
    for t in 1..length {
        let pairs = &p_edges[(t - 1) * matrix..][..matrix];
        let (da, to) = (&da[(t - 1) * stride..][..matrix], &mut out.1[(t - 1) * stride..][..matrix]);
        for from in 0..labels {
            let before = u[(t - 1) * width + from] - mean;
            for y in 0..labels {
                let (pair, at) = (from * width + y, t * width + y);
                to[pair] += c * pairs[pair] * (before + da[pair] + ds[at] + v[at]);
            }
        }
    }
}

/// How often each piece counts in the entropy of a chain of `length` positions.
pub(super) fn counting(space: SpaceView<'_>, length: usize, counts: &mut [f64]) {
    let (width, labels) = (space.width, space.labels);
    counts.fill(0.0);
    let (nodes, edges) = counts.split_at_mut(length * width);
    for (t, row) in nodes.chunks_exact_mut(width).enumerate() {
        let inner = t > 0 && t + 1 < length;
        let count = if length == 1 {
            1.0
        } else if inner {
            -1.0
        } else {
            0.0
        };
        row[..labels].fill(count);
    }
    for row in edges.chunks_exact_mut(width) {
        row[..labels].fill(1.0);
    }
}
