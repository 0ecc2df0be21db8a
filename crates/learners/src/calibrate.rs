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
use seqoia_core::vecmath::dot;
use seqoia_core::{Error, Result, Team, Weights};

use crate::objective::or_infinite;

const SAMPLE: usize = 1000;
const START: f64 = 0.1;
const SUCCESSES: usize = 10;
const TRIALS: usize = 30;

/// The rate for SGD with penalty `l2` from weights `w`.
pub(crate) fn rate(team: &mut dyn Team, w: &[f64], l2: f64) -> Result<f64> {
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
        let after = match trial(team, w, &sample, eta, l2)? {
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
