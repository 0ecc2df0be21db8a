//! Sums and steps over whole planes, by the team's workers: cut into blocks of fixed length, partial
//! sums added in order, so that the bits do not depend on threads.

use seqoia_core::vecmath::{self, dot};
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
    let ranges = (0..length.div_ceil(BLOCK)).map(|block| block * BLOCK..length.min((block + 1) * BLOCK));
    sum_items(team, ranges.collect(), width, job)
}

/// The same for items that hold what each block may write.
pub(crate) fn sum_items<T: Send>(
    team: &mut dyn Team,
    items: Vec<T>,
    width: usize,
    job: impl Fn(T, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let mut partial = vec![0.0; items.len() * width.max(1)];
    let items = items.into_iter().zip(partial.chunks_mut(width.max(1))).collect();
    each(team, items, |(item, out)| job(item, out))?;
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

/// `out = a + step * b`; its square.
pub(crate) fn moved(team: &mut dyn Team, a: &[f64], step: f64, b: &[f64], out: &mut Vec<f64>) -> Result<f64> {
    out.resize(a.len(), 0.0);
    let items = out.chunks_mut(BLOCK).zip(a.chunks(BLOCK).zip(b.chunks(BLOCK))).collect();
    let job = |(out, (a, b)): (&mut [f64], (&[f64], &[f64])), square: &mut [f64]| {
        square[0] = vecmath::moved(a, step, b, out);
    };
    Ok(sum_items(team, items, 1, job)?[0])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use seqoia_core::cast::real;
    use seqoia_testkit::chains::learnable;
    use seqoia_testkit::{bits, close, teams};
    use std::sync::Arc;

    fn plane(length: usize, factor: f64) -> Vec<f64> {
        (0..length).map(|i| (real(i) * factor).sin()).collect()
    }

    /// Two sums of what a plane holds, `a . b`, and a + 0.7 b.
    fn worked(threads: usize, a: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let team = &mut teams::team(Arc::new(learnable(3, 1)), threads, 1);
        let mut sums = sum_blocks(team, a.len(), 2, |range, out| {
            out[0] = a[range.clone()].iter().sum();
            out[1] = real(range.len());
        })
        .unwrap();
        sums.push(inner(team, a, b).unwrap());
        let mut out = vec![9.0; 5]; // of another length, and not empty
        sums.push(moved(team, a, 0.7, b, &mut out).unwrap());
        (sums, out)
    }

    #[test]
    fn sums_and_steps_by_blocks_are_those_of_plain_loops_for_any_number_of_threads() {
        for length in [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 123] {
            let (a, b) = (plane(length, 0.7), plane(length, 1.3));
            let (sums, out) = worked(1, &a, &b);
            let product: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let square: f64 = out.iter().map(|x| x * x).sum();
            for (sum, expected) in sums.iter().zip([a.iter().sum(), real(length), product, square]) {
                assert!(close(*sum, expected, 1e-12), "{length}: {sum} {expected}");
            }
            let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 0.7 * b).collect();
            assert_eq!(bits(&out), bits(&expected), "{length}");
            for threads in [2, 3] {
                let (other_sums, other) = worked(threads, &a, &b);
                assert_eq!((bits(&other_sums), bits(&other)), (bits(&sums), bits(&out)), "{length}");
            }
        }
    }

    #[test]
    fn sums_follow_the_blocks_even_if_the_first_ends_last() {
        // In this order the 1 is lost; added last, it is not.
        const PARTS: [f64; 3] = [1.0, 1e16, -1e16];
        for threads in [1, 2, 3] {
            let team = &mut teams::team(Arc::new(learnable(3, 1)), threads, 1);
            let sums = sum_blocks(team, PARTS.len() * BLOCK, 1, |range, out| {
                if range.start == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                out[0] = PARTS[range.start / BLOCK];
            });
            assert_eq!(sums.unwrap(), [0.0], "{threads} threads");
        }
    }
}
