//! What a learner minimises, and its smooth part by one evaluation of the whole data.
//!
//! ```text
//! F(w) = (1/n) sum_i c_i loss_i(w) + (l2/2) |w|^2 + l1 |w|_1
//! ```

use crate::planes::{BLOCK, inner, sum_items};
use seqoia_core::cast::real;
use seqoia_core::vecmath::mean_plus_scaled_along;
use seqoia_core::{Error, Result, Team, Weights};

/// The penalties of F.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Objective {
    /// Weight of |w|_1.
    pub l1: f64,
    /// Twice the weight of |w|^2.
    pub l2: f64,
}

/// (1/n) sum loss + (l2/2) |w|^2 and its gradient.
pub(crate) fn smooth(team: &mut dyn Team, l2: f64, w: &[f64], g: &mut Vec<f64>) -> Result<f64> {
    let square = inner(team, w, w)?;
    Ok(smooth_along(team, None, l2, w, square, w, g)?.f)
}

/// What a step along a direction leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    /// The smooth part of F.
    pub(crate) f: f64,
    /// Its slope along the direction.
    pub(crate) slope: f64,
    /// The square of its gradient.
    pub(crate) gradient: f64,
}

impl Reached {
    /// Of a step so long that a loss is not a number any more.
    pub(crate) const TOO_LONG: Reached = Reached { f: f64::INFINITY, slope: f64::NAN, gradient: f64::NAN };
}

/// The same where |w|^2 is known, with what a line search along `d` asks: all of it in one sweep behind the loss. With
/// `ids` the mean is that of these examples.
pub(crate) fn smooth_along(
    team: &mut dyn Team,
    ids: Option<&[usize]>,
    l2: f64,
    w: &[f64],
    square: f64,
    d: &[f64],
    g: &mut Vec<f64>,
) -> Result<Reached> {
    let n = real(ids.map_or(team.examples(), <[usize]>::len));
    g.resize(w.len(), 0.0);
    let loss = team.total(ids, Weights::plain(w), Some(g))?;
    let items: Vec<_> = g.chunks_mut(BLOCK).zip(w.chunks(BLOCK).zip(d.chunks(BLOCK))).collect();
    let job = |(g, (w, d)): (&mut [f64], (&[f64], &[f64])), out: &mut [f64]| {
        out.copy_from_slice(&mean_plus_scaled_along(n, l2, w, d, g));
    };
    let sums = sum_items(team, items, 2, job)?;
    Ok(Reached { f: loss / n + 0.5 * l2 * square, slope: sums[0], gradient: sums[1] })
}

/// A step so long that a loss is not a number any more is too long, not an error.
pub(crate) fn or_infinite(value: Result<f64>) -> Result<f64> {
    or_too_long(value, f64::INFINITY)
}

/// The same with what stands for it.
pub(crate) fn or_too_long<T>(value: Result<T>, too_long: T) -> Result<T> {
    match value {
        Err(Error::NotFinite { .. }) => Ok(too_long),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_is_not_a_number_is_a_step_too_long_and_a_broken_worker_is_an_error() {
        let too_long = Error::NotFinite { id: 3, what: "its loss is inf".to_owned() };
        assert_eq!(or_infinite(Err(too_long)).ok(), Some(f64::INFINITY));
        assert_eq!(or_infinite(Ok(1.5)).ok(), Some(1.5));
        let broken = Error::Example { id: 3, what: "the decoder ended".to_owned() };
        assert!(or_infinite(Err(broken)).is_err());
    }
}
