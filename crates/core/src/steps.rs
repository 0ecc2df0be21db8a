//! Steps along the rows of a sparse vector, where each weight has a factor of its own, and decay that was put off.
//!
//! Rows of different attributes lie far apart, so cache lines are asked for some rows ahead. Holes get a zero by a
//! factor instead of a branch. Portable and AVX2 builds give the same bits: nothing is summed.

#![allow(unsafe_code)] // calls into functions compiled for an instruction set that was detected

use crate::isa::for_this_processor;
use crate::{Delta, Isa, Row, prefetch};

/// How many rows ahead cache lines are asked for.
const AHEAD: usize = 16;

/// For each weight j of each row of `d`, with x its value: `w_j -= scale rates_j x`. The planes must be as long as
/// the rows reach.
pub fn rated_step(d: &Delta, scale: f64, rates: &[f32], w: &mut [f64]) {
    for_this_processor!(rated_step_body::<>(d: &Delta, scale: f64, rates: &[f32], w: &mut [f64]))
}

#[inline(always)]
fn rated_step_body(d: &Delta, scale: f64, rates: &[f32], w: &mut [f64]) {
    for (i, r) in d.rows.iter().enumerate() {
        if let Some(next) = d.rows.get(i + AHEAD) {
            for j in (0..next.len as usize).step_by(8) {
                prefetch(rates, next.at as usize + j);
                prefetch(w, next.at as usize + j);
            }
        }
        let (at, from, len) = (r.at as usize, r.from as usize, r.len as usize);
        if len == 1 {
            w[at] -= scale * f64::from(rates[at]) * d.pool[from];
            continue;
        }
        let (w, rates, x) = (&mut w[at..at + len], &rates[at..at + len], &d.pool[from..from + len]);
        let ((w, w_rest), (rates, rates_rest)) = (w.as_chunks_mut::<4>(), rates.as_chunks::<4>());
        let (x, x_rest) = x.as_chunks::<4>();
        let mut done = 0;
        for ((w, rates), x) in w.iter_mut().zip(rates).zip(x) {
            let x = present(r.holes, done, x);
            *w = std::array::from_fn(|j| w[j] - scale * f64::from(rates[j]) * x[j]);
            done += 4;
        }
        for ((w, rate), x) in w_rest.iter_mut().zip(rates_rest).zip(x_rest) {
            let [x] = present(r.holes, done, &[*x]);
            *w -= scale * f64::from(*rate) * x;
            done += 1;
        }
    }
}

/// The same where all weights of a row have the rate of its first one.
pub fn rows_step(d: &Delta, scale: f64, rates: &[f64], w: &mut [f64]) {
    for_this_processor!(rows_step_body::<>(d: &Delta, scale: f64, rates: &[f64], w: &mut [f64]))
}

#[inline(always)]
fn rows_step_body(d: &Delta, scale: f64, rates: &[f64], w: &mut [f64]) {
    add(&d.rows, &d.pool, |r| -scale * rates[r.at as usize], w);
}

/// `to_j += step x` for each weight j of each row of `d`, with x its value.
pub fn add_rows(d: &Delta, step: f64, to: &mut [f64]) {
    for_this_processor!(add_rows_body::<>(d: &Delta, step: f64, to: &mut [f64]))
}

#[inline(always)]
fn add_rows_body(d: &Delta, step: f64, to: &mut [f64]) {
    add(&d.rows, &d.pool, |_| step, to);
}

/// Adds rows, each times its own factor.
#[inline(always)]
fn add(rows: &[Row], pool: &[f64], factor: impl Fn(&Row) -> f64, to: &mut [f64]) {
    for (i, r) in rows.iter().enumerate() {
        fetch(rows, i, to);
        let (at, from, len, step) = (r.at as usize, r.from as usize, r.len as usize, factor(r));
        if len == 1 {
            to[at] += step * pool[from];
            continue;
        }
        let (x, x_rest) = pool[from..from + len].as_chunks::<4>();
        let (to, to_rest) = to[at..at + len].as_chunks_mut::<4>();
        let mut done = 0;
        for (to, x) in to.iter_mut().zip(x) {
            let x = present(r.holes, done, x);
            *to = std::array::from_fn(|j| to[j] + step * x[j]);
            done += 4;
        }
        for (to, x) in to_rest.iter_mut().zip(x_rest) {
            let [x] = present(r.holes, done, &[*x]);
            *to += step * x;
            done += 1;
        }
    }
}

/// The sum of the squares of a plane that is 0 but for these rows, which are 0 afterwards.
pub fn take_squares(rows: &[Row], plane: &mut [f64]) -> f64 {
    for_this_processor!(take_squares_body::<>(rows: &[Row], plane: &mut [f64]) -> f64)
}

#[inline(always)]
fn take_squares_body(rows: &[Row], plane: &mut [f64]) -> f64 {
    let (mut sums, mut single) = ([0.0; 4], 0.0);
    for (i, r) in rows.iter().enumerate() {
        fetch(rows, i, plane);
        let (at, len) = (r.at as usize, r.len as usize);
        let (fours, rest) = plane[at..at + len].as_chunks_mut::<4>();
        for four in fours {
            for j in 0..4 {
                sums[j] += four[j] * four[j];
            }
            *four = [0.0; 4];
        }
        for x in rest {
            single += *x * *x;
            *x = 0.0;
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + single
}

/// Asks for the cache lines of a row that comes soon.
#[inline(always)]
fn fetch(rows: &[Row], i: usize, plane: &[f64]) {
    if let Some(next) = rows.get(i + AHEAD) {
        for j in (0..next.len as usize).step_by(8) {
            prefetch(plane, next.at as usize + j);
        }
    }
}

/// Some neighbouring values of a row, from number `first` on, with 0 where there is a hole. Rows longer than 32 have no
/// holes.
#[inline(always)]
fn present<const N: usize>(holes: u32, first: usize, x: &[f64; N]) -> [f64; N] {
    let holes = if first < 32 { holes >> first } else { 0 };
    if holes & ((1 << N) - 1) == 0 {
        return *x;
    }
    std::array::from_fn(|j| if holes >> j & 1 == 0 { x[j] } else { 0.0 })
}

/// Brings rows up to date whose weights go on by a constant direction while nobody looks: with `moved[s]` how far
/// they had gone after step s and `now` the last step, `v_j -= (moved[now] - moved[last_j]) d_j; last_j = now`.
/// All weights of a row are brought up to date together; where d is 0, so in holes, v stays.
pub fn catch_up(rows: &[Row], moved: &[f64], now: u32, last: &mut [u32], d: &[f64], v: &mut [f64]) {
    for_this_processor!(catch_up_body::<>(rows: &[Row], moved: &[f64], now: u32, last: &mut [u32], d: &[f64], v: &mut [f64]))
}

#[inline(always)]
fn catch_up_body(rows: &[Row], moved: &[f64], now: u32, last: &mut [u32], d: &[f64], v: &mut [f64]) {
    let end = moved[now as usize];
    for (i, r) in rows.iter().enumerate() {
        if let Some(next) = rows.get(i + AHEAD) {
            prefetch(last, next.at as usize);
            for j in (0..next.len as usize).step_by(8) {
                prefetch(d, next.at as usize + j);
                prefetch(v, next.at as usize + j);
            }
        }
        let (at, len) = (r.at as usize, r.len as usize);
        if last[at] == now {
            continue;
        }
        let step = end - moved[last[at] as usize];
        if len == 1 {
            v[at] -= step * d[at];
            last[at] = now;
            continue;
        }
        last[at..at + len].fill(now);
        let ((v, v_rest), (d, d_rest)) =
            (v[at..at + len].as_chunks_mut::<4>(), d[at..at + len].as_chunks::<4>());
        for (v, d) in v.iter_mut().zip(d) {
            *v = std::array::from_fn(|j| v[j] - step * d[j]);
        }
        v_rest.iter_mut().zip(d_rest).for_each(|(v, d)| *v -= step * d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of several lengths with and without holes, one of them twice.
    fn sample() -> Delta {
        let mut d = Delta::default();
        let from = d.share(&[0.5, -2.0, 3.0, 1.0, -0.25, 0.75]);
        d.rows.push(Row { at: 1, from, len: 6, holes: 0b1_0010 });
        d.rows.push(Row { at: 9, from, len: 1, holes: 0 });
        d.rows.push(Row { at: 1, from: from + 1, len: 5, holes: 0 });
        let long: Vec<f64> = (0..40u8).map(|i| f64::from(i) - 17.5).collect();
        let from = d.share(&long);
        d.rows.push(Row { at: 12, from, len: 40, holes: 0 });
        d
    }

    #[test]
    fn rated_steps_follow_the_formula_and_leave_holes() {
        let d = sample();
        let rates: Vec<f32> = (0..60u8).map(|i| 0.25 + f32::from(i)).collect();
        let (mut w, mut plain, mut body) = (vec![1.0; 60], vec![1.0; 60], vec![1.0; 60]);
        rated_step(&d, 0.3, &rates, &mut w);
        rated_step_body(&d, 0.3, &rates, &mut body);
        for (j, x) in d.entries() {
            plain[j] -= 0.3 * f64::from(rates[j]) * x;
        }
        assert_eq!(w, plain);
        assert_eq!(w, body);
    }

    #[test]
    fn rows_are_added_and_taken_back() {
        let d = sample();
        let (mut plane, mut plain) = (vec![0.0; 60], vec![0.0; 60]);
        add_rows(&d, -0.5, &mut plane);
        d.entries().for_each(|(j, x)| plain[j] += -0.5 * x);
        assert_eq!(plane, plain);
        let square: f64 = plain.iter().map(|x| x * x).sum();
        let taken = take_squares(&d.rows, &mut plane);
        assert!((taken - square).abs() < 1e-12 * square, "{taken} {square}");
        assert!(plane.iter().all(|x| *x == 0.0));
    }

    #[test]
    fn rows_catch_up_once_however_often_they_are_named() {
        let rows = [
            Row { at: 1, from: 0, len: 6, holes: 0b10 },
            Row { at: 9, from: 0, len: 1, holes: 0 },
            Row { at: 1, from: 0, len: 6, holes: 0b10 },
        ];
        let moved = [0.0, 0.5, 0.75, 2.0];
        let d: Vec<f64> = (0..10u8).map(|i| if i == 2 { 0.0 } else { f64::from(i) - 3.5 }).collect();
        let (mut v, mut last) = (vec![1.0; 10], vec![1; 10]);
        last[9] = 2;
        catch_up(&rows, &moved, 3, &mut last, &d, &mut v);
        let expected: Vec<f64> = (0..10)
            .map(|j| match j {
                1..=6 => 1.0 - 1.5 * d[j],
                9 => 1.0 - 1.25 * d[j],
                _ => 1.0,
            })
            .collect();
        assert_eq!(v, expected);
        assert_eq!(last, [1, 3, 3, 3, 3, 3, 3, 1, 1, 3]);
    }
}
