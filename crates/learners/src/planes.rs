//! Sums and steps over whole planes, by the team's workers: cut into blocks of fixed length, partial
//! sums added in order, so that the bits do not depend on threads.

use seqoia_core::vecmath::{add_scaled, dot};
use seqoia_core::{Result, Team, each};

/// Weights of one job: a dozen planes of a block fit into a second-level cache.
pub(crate) const BLOCK: usize = 4096;

/// Calls `job` with the number of each block, its range and the numbers it may write, `width` of them;
/// returns the sums of these numbers over all blocks.
pub(crate) fn sum_blocks(
    team: &mut dyn Team,
    length: usize,
    width: usize,
    job: impl Fn(std::ops::Range<usize>, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let blocks = length.div_ceil(BLOCK);
    let mut partial = vec![0.0; blocks * width.max(1)];
    let items = partial.chunks_mut(width.max(1)).enumerate().collect();
    each(team, items, |(block, out)| {
        let range = block * BLOCK..length.min((block + 1) * BLOCK);
        job(range, out);
    })?;
    let mut sums = vec![0.0; width];
    for row in partial.chunks(width.max(1)) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
    Ok(sums)
}

/// `a . b`.
pub(crate) fn inner(team: &mut dyn Team, a: &[f64], b: &[f64]) -> Result<f64> {
    Ok(sum_blocks(team, a.len(), 1, |r, out| out[0] = dot(&a[r.clone()], &b[r]))?[0])
}

/// `out = a + step * b`.
pub(crate) fn moved(team: &mut dyn Team, a: &[f64], step: f64, b: &[f64], out: &mut Vec<f64>) -> Result<()> {
    out.resize(a.len(), 0.0);
    let items = out.chunks_mut(BLOCK).zip(a.chunks(BLOCK).zip(b.chunks(BLOCK))).collect();
    each(team, items, |(out, (a, b)): (&mut [f64], (&[f64], &[f64]))| {
        out.copy_from_slice(a);
        add_scaled(step, b, out);
    })
}
