//! Sums and scaled sums of whole planes, in an order that does not depend on threads or on vector
//! width: eight running sums, added pairwise at the end, so that the compiler may use vectors of two,
//! four or eight numbers and gives the same bits with each.

#![allow(unsafe_code)] // calls into functions compiled for an instruction set that was detected

use crate::cast::single;
use crate::isa::for_this_processor;
use crate::{Delta, Isa, prefetch};

const LANES: usize = 8;
/// How many numbers ahead four planes are asked for.
const FETCHED: usize = 512;

/// `sum_j a_j b_j`, in double precision whatever the planes are kept in.
#[must_use]
pub fn dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    for_this_processor!(dot_body::<A: Into<f64>, B: Into<f64>>(a: &[A], b: &[B]) -> f64)
}

#[inline(always)]
fn dot_body<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    let n = a.len().min(b.len());
    let (a8, ra) = a[..n].as_chunks::<LANES>();
    let (b8, rb) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    // One counter for both slices: two pointers that move cost two more instructions for each eight numbers.
    for i in 0..a8.len().min(b8.len()) {
        let (a, b) = (&a8[i], &b8[i]);
        for j in 0..LANES {
            sums[j] += a[j].into() * b[j].into();
        }
    }
    for (j, (a, b)) in ra.iter().zip(rb).enumerate() {
        sums[j] += (*a).into() * (*b).into();
    }
    added(sums)
}

/// The products of `y` with four planes in one sweep, each with the bits of [`dot`].
#[must_use]
pub fn four_dots(x: [&[f32]; 4], y: &[f64]) -> [f64; 4] {
    for_this_processor!(four_dots_body::<>(x: [&[f32]; 4], y: &[f64]) -> [f64; 4])
}

#[inline(always)]
fn four_dots_body(x: [&[f32]; 4], y: &[f64]) -> [f64; 4] {
    let n = x.iter().fold(y.len(), |n, x| n.min(x.len()));
    let (y8, ry) = y[..n].as_chunks::<LANES>();
    let (a8, ra) = x[0][..n].as_chunks::<LANES>();
    let (b8, rb) = x[1][..n].as_chunks::<LANES>();
    let (c8, rc) = x[2][..n].as_chunks::<LANES>();
    let (d8, rd) = x[3][..n].as_chunks::<LANES>();
    let mut sums = [[0.0; LANES]; 4];
    for i in 0..y8.len().min(a8.len()).min(b8.len()).min(c8.len()).min(d8.len()) {
        let (y, a, b, c, d) = (&y8[i], &a8[i], &b8[i], &c8[i], &d8[i]);
        // One line of each every other time: planes are larger than caches. Measured together with the sweeps that
        // were joined, not by itself.
        if i % 2 == 0 {
            x.iter().for_each(|x| prefetch(x, i * LANES + FETCHED));
        }
        for j in 0..LANES {
            sums[0][j] += f64::from(a[j]) * y[j];
            sums[1][j] += f64::from(b[j]) * y[j];
            sums[2][j] += f64::from(c[j]) * y[j];
            sums[3][j] += f64::from(d[j]) * y[j];
        }
    }
    for (j, &y) in ry.iter().enumerate() {
        for (sums, x) in sums.iter_mut().zip([ra, rb, rc, rd]) {
            sums[j] += f64::from(x[j]) * y;
        }
    }
    sums.map(added)
}

/// `to = to / n + step * x`, then `to . d` and `to . to` with the bits of [`dot`].
pub fn mean_plus_scaled_along(n: f64, step: f64, x: &[f64], d: &[f64], to: &mut [f64]) -> [f64; 2] {
    for_this_processor!(mean_plus_scaled_along_body::<>(n: f64, step: f64, x: &[f64], d: &[f64], to: &mut [f64]) -> [f64; 2])
}

#[inline(always)]
fn mean_plus_scaled_along_body(n: f64, step: f64, x: &[f64], d: &[f64], to: &mut [f64]) -> [f64; 2] {
    let (mut along, mut square) = ([0.0; LANES], [0.0; LANES]);
    let length = to.len().min(x.len()).min(d.len());
    let (to8, last) = to[..length].as_chunks_mut::<LANES>();
    let ((x8, rx), (d8, rd)) = (x[..length].as_chunks::<LANES>(), d[..length].as_chunks::<LANES>());
    for i in 0..to8.len().min(x8.len()).min(d8.len()) {
        let (to, x, d) = (&mut to8[i], &x8[i], &d8[i]);
        for j in 0..LANES {
            let moved = to[j] / n + step * x[j];
            to[j] = moved;
            along[j] += moved * d[j];
            square[j] += moved * moved;
        }
    }
    for (j, (to, (x, d))) in last.iter_mut().zip(rx.iter().zip(rd)).enumerate() {
        *to = *to / n + step * x;
        along[j] += *to * d;
        square[j] += *to * *to;
    }
    [added(along), added(square)]
}

/// `s = step * d` and `y = g - before` in single precision; `s . y`, `s . s` and `y . y` with the bits of [`dot`].
pub fn pair(step: f64, d: &[f64], g: &[f64], before: &[f64], s: &mut [f32], y: &mut [f32]) -> [f64; 3] {
    for_this_processor!(pair_body::<>(step: f64, d: &[f64], g: &[f64], before: &[f64], s: &mut [f32], y: &mut [f32]) -> [f64; 3])
}

#[inline(always)]
fn pair_body(step: f64, d: &[f64], g: &[f64], before: &[f64], s: &mut [f32], y: &mut [f32]) -> [f64; 3] {
    let n = s.len().min(y.len()).min(d.len()).min(g.len()).min(before.len());
    let (s8, rs) = s[..n].as_chunks_mut::<LANES>();
    let (y8, ry) = y[..n].as_chunks_mut::<LANES>();
    let (d8, rd) = d[..n].as_chunks::<LANES>();
    let (g8, rg) = g[..n].as_chunks::<LANES>();
    let (before8, rb) = before[..n].as_chunks::<LANES>();
    let mut sums = [[0.0; LANES]; 3];
    for i in 0..s8.len().min(y8.len()).min(d8.len()).min(g8.len()).min(before8.len()) {
        let (d, g, before) = (&d8[i], &g8[i], &before8[i]);
        let (mut s, mut y) = ([0.0; LANES], [0.0; LANES]);
        for j in 0..LANES {
            s[j] = single(step * d[j]);
            y[j] = single(g[j] - before[j]);
        }
        for j in 0..LANES {
            sums[0][j] += f64::from(s[j]) * f64::from(y[j]);
            sums[1][j] += f64::from(s[j]) * f64::from(s[j]);
            sums[2][j] += f64::from(y[j]) * f64::from(y[j]);
        }
        (s8[i], y8[i]) = (s, y);
    }
    for j in 0..rs.len().min(ry.len()) {
        (rs[j], ry[j]) = (single(step * rd[j]), single(rg[j] - rb[j]));
        sums[0][j] += f64::from(rs[j]) * f64::from(ry[j]);
        sums[1][j] += f64::from(rs[j]) * f64::from(rs[j]);
        sums[2][j] += f64::from(ry[j]) * f64::from(ry[j]);
    }
    sums.map(added)
}

/// Running sums, added pairwise.
#[inline(always)]
fn added(sums: [f64; LANES]) -> f64 {
    let four: [f64; 4] = std::array::from_fn(|j| sums[j] + sums[j + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// `to += step * x`.
pub fn add_scaled<X: Copy + Into<f64>>(step: f64, x: &[X], to: &mut [f64]) {
    for_this_processor!(add_scaled_body::<X: Into<f64>>(step: f64, x: &[X], to: &mut [f64]))
}

#[inline(always)]
fn add_scaled_body<X: Copy + Into<f64>>(step: f64, x: &[X], to: &mut [f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += step * (*x).into());
}

/// `to = a + step * b`; `to . to` with the bits of [`dot`].
pub fn moved(a: &[f64], step: f64, b: &[f64], to: &mut [f64]) -> f64 {
    for_this_processor!(moved_body::<>(a: &[f64], step: f64, b: &[f64], to: &mut [f64]) -> f64)
}

#[inline(always)]
fn moved_body(a: &[f64], step: f64, b: &[f64], to: &mut [f64]) -> f64 {
    let n = to.len().min(a.len()).min(b.len());
    let (to8, last) = to[..n].as_chunks_mut::<LANES>();
    let ((a8, ra), (b8, rb)) = (a[..n].as_chunks::<LANES>(), b[..n].as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for i in 0..to8.len().min(a8.len()).min(b8.len()) {
        let (to, a, b) = (&mut to8[i], &a8[i], &b8[i]);
        for j in 0..LANES {
            let x = a[j] + step * b[j];
            to[j] = x;
            sums[j] += x * x;
        }
    }
    for (j, (to, (a, b))) in last.iter_mut().zip(ra.iter().zip(rb)).enumerate() {
        *to = a + step * b;
        sums[j] += *to * *to;
    }
    added(sums)
}

/// `to += steps[0] * x[0]`, then the same with the others, in one sweep and with the same bits.
pub fn add_four_scaled(steps: [f64; 4], x: [&[f32]; 4], to: &mut [f64]) {
    for_this_processor!(add_four_scaled_body::<>(steps: [f64; 4], x: [&[f32]; 4], to: &mut [f64]));
}

#[inline(always)]
fn add_four_scaled_body(steps: [f64; 4], x: [&[f32]; 4], to: &mut [f64]) {
    let n = x.iter().fold(to.len(), |n, x| n.min(x.len()));
    let (to, x) = (&mut to[..n], x.map(|x| &x[..n]));
    let (to8, last) = to.as_chunks_mut::<LANES>();
    let x8 = x.map(|x| x.as_chunks::<LANES>().0);
    let done = to8.len() * LANES;
    for (i, to) in to8.iter_mut().enumerate() {
        if i % 2 == 0 {
            x.iter().for_each(|x| prefetch(x, i * LANES + FETCHED));
        }
        for k in 0..4 {
            let x = &x8[k][i];
            for j in 0..LANES {
                to[j] += steps[k] * f64::from(x[j]);
            }
        }
    }
    for (i, to) in last.iter_mut().enumerate() {
        for k in 0..4 {
            *to += steps[k] * f64::from(x[k][done + i]);
        }
    }
}

/// For each weight j of each row of `d`, with x `scale` times its value: `squares_j += x^2`, then
/// `w_j -= rate x / (delta + sqrt(squares_j))`. The planes must be as long as the rows reach. The step
/// is computed in single precision, in which roots and divisions are cheaper.
pub fn adaptive_step(d: &Delta, scale: f64, rate: f32, delta: f32, w: &mut [f64], squares: &mut [f32]) {
    for_this_processor!(adaptive_step_body::<>(d: &Delta, scale: f64, rate: f32, delta: f32, w: &mut [f64], squares: &mut [f32]))
}

/// How many rows ahead cache lines are asked for: planes of all pairs are far larger than a cache.
const AHEAD: usize = 8;
/// The longest row with holes.
const LONGEST: usize = 32;

/// What rows that share their values have in common; 0 behind their end.
struct Shared {
    from: u32,
    len: u32,
    squares: [f32; LONGEST], // x^2
    steps: [f32; LONGEST],   // rate x
}

#[inline(always)]
fn adaptive_step_body(d: &Delta, scale: f64, rate: f32, delta: f32, w: &mut [f64], squares: &mut [f32]) {
    let mut shared = Shared { from: u32::MAX, len: 0, squares: [0.0; LONGEST], steps: [0.0; LONGEST] };
    for (i, r) in d.rows.iter().enumerate() {
        if let Some(next) = d.rows.get(i + AHEAD) {
            let mut j = 0;
            while j < next.len as usize {
                prefetch(squares, next.at as usize + j);
                prefetch(w, next.at as usize + j);
                prefetch(w, next.at as usize + j + 8);
                j += 16;
            }
        }
        let (at, from, len) = (r.at as usize, r.from as usize, r.len as usize);
        if len == 1 {
            let x = single(scale * d.pool[from]);
            squares[at] += x * x;
            w[at] -= f64::from(rate * x / (delta + squares[at].sqrt()));
            continue;
        }
        if len > LONGEST {
            let row = w[at..at + len].iter_mut().zip(&mut squares[at..at + len]);
            for (x, (w, squares)) in d.pool[from..from + len].iter().zip(row) {
                let x = single(scale * x);
                *squares += x * x;
                *w -= f64::from(rate * x / (delta + squares.sqrt()));
            }
            continue;
        }
        if (shared.from, shared.len) != (r.from, r.len) {
            (shared.from, shared.len) = (r.from, r.len);
            for (j, x) in d.pool[from..from + len].iter().enumerate() {
                let x = single(scale * x);
                shared.squares[j] = x * x;
                shared.steps[j] = rate * x;
            }
        }
        let (w, squares) = (&mut w[at..at + len], &mut squares[at..at + len]);
        let (w8, w) = w.as_chunks_mut::<8>();
        let (squares8, squares) = squares.as_chunks_mut::<8>();
        let mut done = 0;
        for (w, squares) in w8.iter_mut().zip(squares8) {
            step_some(&shared, done, r.holes, delta, w, squares);
            done += 8;
        }
        let (w4, w) = w.as_chunks_mut::<4>();
        let (squares4, squares) = squares.as_chunks_mut::<4>();
        for (w, squares) in w4.iter_mut().zip(squares4) {
            step_some(&shared, done, r.holes, delta, w, squares);
            done += 4;
        }
        for (w, squares) in w.iter_mut().zip(squares) {
            step_some(&shared, done, r.holes, delta, std::array::from_mut(w), std::array::from_mut(squares));
            done += 1;
        }
    }
}

/// Some neighbours of a row, from number `first` on. Written step by step over all of them, since a short loop over
/// whole steps is unrolled into single numbers.
#[inline(always)]
fn step_some<const N: usize>(
    shared: &Shared,
    first: usize,
    holes: u32,
    delta: f32,
    w: &mut [f64; N],
    squares: &mut [f32; N],
) {
    let (Some(new), Some(steps)) = (
        shared.squares.get(first..).and_then(|x| x.first_chunk::<N>()),
        shared.steps.get(first..).and_then(|x| x.first_chunk::<N>()),
    ) else {
        return;
    };
    let bits = holes >> first;
    let each = |f: &dyn Fn(usize) -> f32| -> [f32; N] { std::array::from_fn(f) };
    // A hole gets a zero, which changes nothing: by a mask, all bits of which are set where a weight exists.
    let mask: [u32; N] = std::array::from_fn(|j| (bits >> j & 1).wrapping_sub(1));
    let sums = each(&|j| squares[j] + f32::from_bits(new[j].to_bits() & mask[j]));
    let roots = each(&|j| delta + sums[j].sqrt());
    let steps = each(&|j| f32::from_bits(steps[j].to_bits() & mask[j]) / roots[j]);
    *squares = sums;
    for j in 0..N {
        w[j] -= f64::from(steps[j]);
    }
}

/// `w_j /= (1 + rate / (delta + sqrt(squares_j)))^steps`.
///
/// In single precision, and yet without a loss: what is computed is the part z that a weight loses. For one step it is
/// rate / (rate + delta + sqrt(squares_j)), and two losses together are `z + z' - z z'`, so that k steps take 2 log k
/// such sums.
pub fn adaptive_decay(steps: u32, rate: f32, delta: f32, squares: &[f32], w: &mut [f64]) {
    for_this_processor!(adaptive_decay_body::<>(steps: u32, rate: f32, delta: f32, squares: &[f32], w: &mut [f64]));
}

#[inline(always)]
fn adaptive_decay_body(steps: u32, rate: f32, delta: f32, squares: &[f32], w: &mut [f64]) {
    let n = w.len().min(squares.len());
    let (w8, last) = w[..n].as_chunks_mut::<LANES>();
    let (squares8, last_squares) = squares[..n].as_chunks::<LANES>();
    for (w, squares) in w8.iter_mut().zip(squares8) {
        if w.iter().any(|w| *w != 0.0) {
            decay_all(steps, rate, delta, squares, w);
        }
    }
    for (w, squares) in last.iter_mut().zip(last_squares) {
        decay_all(steps, rate, delta, &[*squares], std::array::from_mut(w));
    }
}

#[inline(always)]
fn decay_all<const N: usize>(mut steps: u32, rate: f32, delta: f32, squares: &[f32; N], w: &mut [f64; N]) {
    let (mut power, mut lost) = ([0.0; N], [0.0; N]);
    for j in 0..N {
        power[j] = rate / (rate + delta + squares[j].sqrt());
    }
    while steps > 0 {
        if steps & 1 == 1 {
            for j in 0..N {
                lost[j] += power[j] - lost[j] * power[j];
            }
        }
        power = power.map(|z| z + (z - z * z));
        steps >>= 1;
    }
    for j in 0..N {
        w[j] -= w[j] * f64::from(lost[j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::cast::real;

    #[test]
    fn vectors_of_any_width_give_the_same_bits() {
        let a: Vec<f32> = (0..4099u16).map(|i| f32::from(i).sin()).collect();
        let b: Vec<f64> = (0..4099).map(|i| (real(i) * 0.37).cos()).collect();
        assert_eq!(dot(&a, &b).to_bits(), dot_body(&a, &b).to_bits());
    }

    #[test]
    fn dot_equals_the_plain_sum() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(|i| real(i) * 0.5 - 3.0).collect();
            let b: Vec<f64> = (0..n).map(|i| 7.0 - real(i)).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-9);
        }
    }

    #[test]
    fn several_at_once_give_the_bits_of_one_by_one() {
        for n in [0, 1, 7, 8, 9, 100, 4097] {
            let plane = |factor: f64| (0..n).map(move |i| (real(i) * factor).sin());
            let singles: [Vec<f32>; 4] = [0.3, 0.7, 1.1, 1.9].map(|f| plane(f).map(single).collect());
            let [x, a, b, y] = singles.each_ref().map(Vec::as_slice);
            let c: Vec<f64> = plane(2.3).collect();
            let expected = [x, a, b, y].map(|x| dot(x, &c).to_bits());
            assert_eq!(four_dots([x, a, b, y], &c).map(f64::to_bits), expected);
            let (steps, mut one_by_one, mut at_once) = ([0.1, -0.7, 1.3, 2.9], c.clone(), c);
            steps.iter().zip([x, a, b, y]).for_each(|(s, x)| add_scaled(*s, x, &mut one_by_one));
            add_four_scaled(steps, [x, a, b, y], &mut at_once);
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn steps_with_products_give_the_bits_of_step_and_product() {
        for n in [0, 1, 7, 8, 9, 100, 4097] {
            let plane = |factor: f64| -> Vec<f64> { (0..n).map(|i| (real(i) * factor).sin()).collect() };
            let (a, b, c) = (plane(0.3), plane(0.7), plane(1.1));
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();

            let mut to = vec![9.0; n];
            let square = moved(&a, 0.7, &b, &mut to);
            let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 0.7 * b).collect();
            assert_eq!((bits(&to), square.to_bits()), (bits(&expected), dot(&to, &to).to_bits()));

            let mut to = c.clone();
            let products = mean_plus_scaled_along(3.0, 0.1, &a, &b, &mut to);
            let expected: Vec<f64> = c.iter().zip(&a).map(|(to, x)| to / 3.0 + 0.1 * x).collect();
            assert_eq!(bits(&to), bits(&expected));
            assert_eq!(bits(&products), bits(&[dot(&to, &b), dot(&to, &to)]));

            let (mut s, mut y) = (vec![9.0; n], vec![9.0; n]);
            let products = pair(0.3, &a, &b, &c, &mut s, &mut y);
            let expected: Vec<f32> = a.iter().map(|d| single(0.3 * d)).collect();
            assert_eq!(s, expected);
            let expected: Vec<f32> = b.iter().zip(&c).map(|(g, before)| single(g - before)).collect();
            assert_eq!(y, expected);
            assert_eq!(bits(&products), bits(&[dot(&s, &y), dot(&s, &s), dot(&y, &y)]));
        }
    }

    #[test]
    fn adaptive_steps_follow_the_formula_and_leave_holes() {
        let mut d = Delta::default();
        let from = d.share(&[0.5, -2.0, 0.0, 1.0]);
        d.rows.push(Row { at: 1, from, len: 4, holes: 0b0010 });
        d.rows.push(Row { at: 0, from, len: 1, holes: 0 });
        d.rows.push(Row { at: 1, from, len: 1, holes: 0 });
        let (mut w, mut squares) = (vec![1.0; 6], vec![0.0; 6]);
        adaptive_step(&d, 1.0, 0.2, 0.1, &mut w, &mut squares);
        assert_eq!(squares, [0.25, 0.5, 0.0, 0.0, 1.0, 0.0]);
        let once = |x: f64, squares: f64| 0.2 * x / (0.1 + squares.sqrt());
        let expected = [
            1.0 - once(0.5, 0.25),
            1.0 - once(0.5, 0.25) - once(0.5, 0.5),
            1.0,
            1.0,
            1.0 - once(1.0, 1.0),
            1.0,
        ];
        w.iter().zip(expected).for_each(|(w, e)| assert!((w - e).abs() < 1e-7, "{w} {e}"));
        let (mut plain, mut other) = (vec![1.0; 6], vec![0.0; 6]);
        adaptive_step_body(&d, 1.0, 0.2, 0.1, &mut plain, &mut other);
        assert_eq!(w, plain);
    }

    #[test]
    fn the_decay_of_many_steps_is_that_of_one_step_many_times() {
        let (rate, delta) = (0.01_f32, 0.1_f32);
        let squares: Vec<f32> = (0..21u16).map(|i| f32::from(i * i) * 0.7).collect();
        let (mut w, mut done) = (vec![1.0; squares.len()], 0);
        for steps in [0, 1, 2, 3, 7, 8, 100, 1023] {
            while done < steps {
                for (w, squares) in w.iter_mut().zip(&squares) {
                    *w /= 1.0 + f64::from(rate) / (f64::from(delta) + f64::from(*squares).sqrt());
                }
                done += 1;
            }
            let mut at_once = vec![1.0; squares.len()];
            adaptive_decay(steps, rate, delta, &squares, &mut at_once);
            at_once
                .iter()
                .zip(&w)
                .for_each(|(a, w)| assert!((a - w).abs() <= 1e-6 * (1.0 - w), "{steps}: {a} {w}"));
        }
        let mut gone = [1.0, 0.0];
        adaptive_decay(u32::MAX, rate, delta, &[0.0; 2], &mut gone);
        assert_eq!(gone, [0.0; 2]);
        let mut stays = [1.0, 0.0];
        adaptive_decay(u32::MAX, 0.0, delta, &[0.0; 2], &mut stays);
        assert_eq!(stays, [1.0, 0.0]);
    }
}
