//! What a learner minimises, and its smooth part by one evaluation of the whole data.
//!
//! ```text
//! F(w) = (1/n) sum_i c_i loss_i(w) + (l2/2) |w|^2 + l1 |w|_1
//! ```

use crate::planes::{BLOCK, inner};
use seqoia_core::cast::real;
use seqoia_core::vecmath::mean_plus_scaled;
use seqoia_core::{Error, Result, Team, Weights, each};

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
    let n = real(team.examples());
    g.resize(w.len(), 0.0);
    let loss = team.total(None, Weights::plain(w), Some(g))?;
    let items: Vec<_> = g.chunks_mut(BLOCK).zip(w.chunks(BLOCK)).collect();
    each(team, items, |(g, w): (&mut [f64], &[f64])| mean_plus_scaled(n, l2, w, g))?;
    Ok(loss / n + 0.5 * l2 * inner(team, w, w)?)
}

/// A step so long that a loss is not a number any more is too long, not an error.
pub(crate) fn or_infinite(value: Result<f64>) -> Result<f64> {
    match value {
        Err(Error::NotFinite { .. }) => Ok(f64::INFINITY),
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
