//! The initial rate of a stochastic learner, found by trying it on a sample (Bottou's crfsgd).
//!
//! ```text
//! sample: min(n, 1000) examples, drawn with replacement if n > 1000
//! trial(eta): one pass over the sample from the current weights with constant eta; F on the sample
//! eta = 0.1, doubled while trial(eta) < F(start); then 0.05, halved, until ten trials succeeded
//! result: half of the best eta, to be on the safe side
//! ```
//!
//! Differs from crfsgd: at most 30 trials; a trial that is not finite has failed; if nothing
//! succeeds, the smallest eta tried is taken instead of 1. Costs of wrong labels, if the learner has any, are
//! left out here.

use seqoia_core::cast::real;
use seqoia_core::param::{Kind, Param, Value};
use seqoia_core::steps::rated_step;
use seqoia_core::vecmath::dot;
use seqoia_core::{Error, Result, Team, Weights};

use crate::objective::or_infinite;

const SAMPLE: usize = 1000;
const START: f64 = 0.1;
const SUCCESSES: usize = 10;
const TRIALS: usize = 30;

/// The parameter of learners that have such a rate.
pub(crate) const RATE: Param = Param {
    name: "rate",
    kind: Kind::Real { above: 0.0, most: f64::INFINITY },
    default: Value::Auto("calibrated on a sample"),
    help: "initial learning rate",
};

/// The rate that was given, or a calibrated one; refused if weights would not survive a step.
pub(crate) fn given_or(given: Option<f64>, team: &mut dyn Team, w: &[f64], l2: f64) -> Result<f64> {
    let eta = match given {
        Some(rate) => rate,
        None => rate(team, w, l2, None)?,
    };
    if eta * l2 >= 1.0 {
        return Err(Error::Learner(format!(
            "a rate of {eta:e} with l2 = {l2:e} wipes the weights out at every step; the product must be below 1"
        )));
    }
    Ok(eta)
}

/// The rate for SGD with penalty `l2` from weights `w`; with `factors` each weight has its own part of the rate.
pub(crate) fn rate(team: &mut dyn Team, w: &[f64], l2: f64, factors: Option<&[f32]>) -> Result<f64> {
    let n = team.examples();
    let sample: Vec<usize> = match n {
        0..=SAMPLE => (0..n).collect(),
        _ => {
            let random = team.random("sample");
            (0..SAMPLE).map(|_| random.below(n)).collect()
        }
    };
    let objective = |team: &mut dyn Team, v: &[f64]| -> Result<f64> {
        let loss = or_infinite(team.total(Some(&sample), Weights::plain(v), None))?;
        Ok(loss / real(sample.len().max(1)) + 0.5 * l2 * dot(v, v))
    };
    let start = objective(team, w)?;
    let (mut best, mut smallest) = (None::<(f64, f64)>, START);
    let (mut eta, mut rising, mut successes) = (START, true, 0);
    for _ in 0..TRIALS {
        if team.stopping() {
            break;
        }
        smallest = eta.min(smallest);
        let tried = match factors {
            None => trial(team, w, &sample, eta, l2)?,
            Some(factors) => rated_trial(team, w, &sample, eta, l2, factors)?,
        };
        let after = match tried {
            Some(v) => objective(team, &v)?,
            None => f64::INFINITY,
        };
        let success = after < start;
        if success {
            successes += 1;
            if best.is_none_or(|(f, _)| after < f) {
                best = Some((after, eta));
            }
        }
        if rising && success {
            eta *= 2.0;
        } else if rising {
            (rising, eta) = (false, START / 2.0);
        } else {
            eta /= 2.0;
        }
        if !rising && successes >= SUCCESSES {
            break;
        }
    }
    Ok(best.map_or(smallest, |(_, eta)| eta) / 2.0)
}

/// One pass of plain SGD with a constant rate; None if it ran away.
fn trial(team: &mut dyn Team, w: &[f64], sample: &[usize], eta: f64, l2: f64) -> Result<Option<Vec<f64>>> {
    let (mut v, mut scale, mut notes) = (w.to_vec(), 1.0, vec![]);
    for &id in sample {
        if team.stopping() {
            return Ok(None);
        }
        let weights = Weights { values: &v, scale };
        let look = |case: &mut seqoia_core::Case<'_>, note: &mut seqoia_core::Note| {
            case.gradient(weights, note);
            Ok(())
        };
        match team.ask(&[id], &look, &mut notes) {
            Err(Error::NotFinite { .. }) => return Ok(None),
            other => other?,
        }
        scale *= 1.0 - eta * l2;
        if scale < 1e-6 {
            return Ok(None); // so large a rate wipes the weights out
        }
        team.spread(&notes, -eta / scale, &mut v)?;
    }
    v.iter_mut().for_each(|v| *v *= scale);
    Ok(Some(v))
}

/// The same where each weight has its own part of the rate. Weights decay 16 times in a pass, not at every step.
fn rated_trial(
    team: &mut dyn Team,
    w: &[f64],
    sample: &[usize],
    eta: f64,
    l2: f64,
    factors: &[f32],
) -> Result<Option<Vec<f64>>> {
    let (mut w, mut notes) = (w.to_vec(), vec![]);
    for stretch in sample.chunks(sample.len().div_ceil(16).max(1)) {
        for &id in stretch {
            if team.stopping() {
                return Ok(None);
            }
            let look = |case: &mut seqoia_core::Case<'_>, note: &mut seqoia_core::Note| {
                case.gradient(Weights::plain(&w), note);
                case.expand(0.0, note);
                Ok(())
            };
            match team.ask(&[id], &look, &mut notes) {
                Err(Error::NotFinite { .. }) => return Ok(None),
                other => other?,
            }
            notes.iter().for_each(|note| rated_step(&note.delta, eta, factors, &mut w));
        }
        let decay = eta * l2 * real(stretch.len());
        w.iter_mut().zip(factors).for_each(|(w, factor)| *w *= (1.0 - decay * f64::from(*factor)).max(0.0));
    }
    Ok(Some(w))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use crate::alone::Alone;
    use seqoia_testkit::chains::learnable;
    use seqoia_testkit::close;
    use seqoia_testkit::teams::team;
    use std::sync::Arc;

    const N: usize = 30;
    const L2: f64 = 0.01;

    /// F of the examples in a plain sum.
    fn value(team: &mut dyn Team, w: &[f64]) -> f64 {
        let squares: f64 = w.iter().map(|w| w * w).sum();
        team.total(None, Weights::plain(w), None).unwrap() / real(N) + 0.5 * L2 * squares
    }

    /// The weights after one pass with this rate, in a plain loop.
    fn tried(team: &mut dyn Team, w: &[f64], eta: f64) -> Vec<f64> {
        let mut w = w.to_vec();
        for id in 0..N {
            let mut g = vec![0.0; w.len()];
            team.total(Some(&[id]), Weights::plain(&w), Some(&mut g)).unwrap();
            w.iter_mut().zip(g).for_each(|(w, g)| *w = (1.0 - eta * L2) * *w - eta * g);
        }
        w
    }

    /// Where a pass begins: at 0, and elsewhere.
    fn starts(weights: usize) -> [Vec<f64>; 2] {
        let elsewhere = (0..weights).map(|i| 0.3 * (real(i) * 0.7).sin()).collect();
        [vec![0.0; weights], elsewhere]
    }

    #[test]
    fn a_trial_is_a_plain_pass() {
        let mut team = team(Arc::new(learnable(N, 5)), 1, 1);
        let sample: Vec<usize> = (0..N).collect();
        for w in starts(team.weights()) {
            let expected = tried(&mut team, &w, 0.4);
            let found = trial(&mut team, &w, &sample, 0.4, L2).unwrap().unwrap();
            assert!(found.iter().zip(&expected).all(|(a, b)| close(*a, *b, 1e-12)));
            // A rate that wipes the weights out runs away.
            assert!(trial(&mut team, &w, &sample, 1.0 / L2, L2).unwrap().is_none());
        }
    }

    #[test]
    fn the_rate_is_half_of_the_best() {
        let mut team = team(Arc::new(learnable(N, 5)), 1, 1);
        for w in starts(team.weights()) {
            let rate = rate(&mut team, &w, L2, None).unwrap();
            let grid = (-9..=5).map(|power| START * 2_f64.powi(power));
            let mut after = |eta| {
                let there = tried(&mut team, &w, eta);
                value(&mut team, &there)
            };
            let values: Vec<_> = grid.map(|eta| (after(eta), eta)).collect();
            let best = values.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
            assert!(values[0].1 < best && best < values[values.len() - 1].1, "{values:?}");
            assert_eq!(rate, best / 2.0);
            assert!(after(rate) < value(&mut team, &w));
        }
    }

    /// The rate, and the number of trials, with these values of F: first that of the start.
    fn search(says: fn(usize) -> Result<f64>) -> (f64, usize) {
        let mut team = Alone::saying(says);
        (rate(&mut team, &[], 0.0, None).unwrap(), team.totals - 1)
    }

    #[test]
    fn the_search_ends_after_ten_successes_or_thirty_trials() {
        // 0.1 and 0.2 succeed, 0.4 does not; then eight more, from 0.05 down. 0.2 was the best.
        let (values, trials) = search(|call| Ok([1.0, 0.9, 0.5, 2.0].get(call).copied().unwrap_or(0.8)));
        assert_eq!((values, trials), (0.2 / 2.0, 11));
        // A trial that is not finite has failed.
        let runaway = |call| match call {
            0 => Ok(1.0),
            1 => Err(Error::NotFinite { id: 0, what: String::new() }),
            2 => Ok(0.5),
            _ => Ok(0.8),
        };
        assert_eq!(search(runaway), (0.05 / 2.0, 11));
        // Nothing fails: doubled to the end. Nothing succeeds: halved to the end.
        let (values, trials) = search(|call| Ok(-real(call)));
        assert_eq!((values, trials), (START * 2_f64.powi(29) / 2.0, TRIALS));
        let (values, trials) = search(|_| Ok(1.0));
        assert_eq!((values, trials), (START * 0.5_f64.powi(29) / 2.0, TRIALS));
    }

    #[test]
    fn a_stop_ends_the_search_and_an_error_is_told() {
        let falling = |stop| Alone::saying(|call| Ok(-real(call))).stopping_after(stop);
        for (stop, expected) in [(1, 0.1), (2, 0.1), (3, 0.2), (4, 0.4)] {
            let mut team = falling(stop);
            assert_eq!(rate(&mut team, &[], 0.0, None).unwrap(), expected / 2.0);
            assert_eq!(team.totals, stop);
        }
        assert!(matches!(rate(&mut Alone::new(), &[], 0.0, None), Err(Error::Worker(_))));
    }
}
