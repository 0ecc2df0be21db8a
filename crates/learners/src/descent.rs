//! Where a quasi-Newton method stands and when it stops: what `lbfgs` and `owl-qn` have in common beside the
//! curvature [`Memory`].

use crate::quasi_newton::Memory;
use seqoia_core::param::Settings;
use seqoia_core::{Data, Done, Error, Mix, Profile, Result, Slot};

/// The weights of a pass, those under trial, and what is known about both.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    pub(crate) memory: Memory,
    pub(crate) w: Vec<f64>,       // [weights]
    pub(crate) g: Vec<f64>,       // [weights] gradient of the smooth part at w
    pub(crate) d: Vec<f64>,       // [weights] direction; scratch
    pub(crate) trial: Vec<f64>,   // [weights] w + t d; scratch
    pub(crate) trial_g: Vec<f64>, // [weights]; scratch
    values: Vec<f64>,             // F at the start and after each pass
    stopping: Stopping,
}

impl Descent {
    /// `derives`: directions are asked for at the gradients of the smooth part, as [`Memory::new`] wants to know.
    pub(crate) fn new(settings: &Settings, derives: bool) -> Self {
        Descent {
            memory: Memory::new(whole(settings, "history"), derives),
            w: vec![],
            g: vec![],
            d: vec![],
            trial: vec![],
            trial_g: vec![],
            values: vec![],
            stopping: Stopping::new(settings),
        }
    }

    /// Of a quasi-Newton method with this name.
    pub(crate) fn profile(&self, name: &'static str) -> Profile {
        // w, g, d, trial, trial_g and the two loops' scratch; a pair of singles is as large as a double.
        let doubles = 6 + self.memory.limit();
        Profile { whole: true, stops: true, ..Profile::log_linear(name, doubles * size_of::<f64>()) }
    }

    /// From the weights that a warm start left, or from 0; `start` then tells F there.
    pub(crate) fn begin(&mut self, weights: usize) {
        self.w.resize(weights, 0.0);
        self.memory.begin(weights);
    }

    pub(crate) fn start(&mut self, f: f64) {
        self.values = vec![f];
    }

    /// F at w, once it is known.
    pub(crate) fn value(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// The trial, where F is `f`, becomes the weights.
    pub(crate) fn accept(&mut self, f: f64) {
        std::mem::swap(&mut self.w, &mut self.trial);
        std::mem::swap(&mut self.g, &mut self.trial_g);
        self.values.push(f);
    }

    /// After an accepted step: `slope` = |grad F|, `size` = |w|.
    pub(crate) fn test(&self, slope: f64, size: f64, n: f64) -> Done {
        self.stopping.test(&self.values, slope, size, n)
    }

    /// When no step is accepted: the end, if the gradient is near 0 or the last passes gained hardly more
    /// than the relative error of F, else an error.
    pub(crate) fn stuck(&self, name: &str, slope: f64, size: f64, n: f64, noise: f64) -> Result<Done> {
        let gain = self.stopping.gain(&self.values).unwrap_or(f64::INFINITY);
        if n * slope <= 1e-2 * size.max(1.0) || gain <= 100.0 * noise {
            return Ok(Done::Stuck("the objective cannot be resolved further"));
        }
        let value = self.value().unwrap_or(0.0);
        if !(value.is_finite() && slope.is_finite()) {
            let what =
                format!("{name} cannot start: F = {value}; the penalty or a value in the data is too large");
            return Err(Error::Learner(what));
        }
        Err(Error::Learner(format!(
            "{name} finds no lower objective after pass {}, at F = {}, |grad F| = {slope:e}; is the penalty \
             far too weak or too strong, or a value in the data very large?",
            self.values.len().saturating_sub(1),
            value
        )))
    }

    /// After a load: what was loaded must be the state of a learner with this memory. Scratch planes are no
    /// part of it.
    pub(crate) fn rest(&mut self) -> Result<()> {
        let sound = self.memory.is_sound(self.w.len());
        self.memory.begin(self.w.len());
        if self.g.len() != self.w.len() || self.values.is_empty() || !sound {
            return Err(Error::other_state());
        }
        Ok(())
    }

    pub(crate) fn state(&mut self) -> Vec<Slot<'_>> {
        const WHY: &str = "quasi-Newton methods work on whole passes and cannot be mixed";
        let slot = |name, data| Slot { name, mix: Mix::Never(WHY), data };
        let mut slots = vec![
            slot("w", Data::F64(&mut self.w)),
            slot("g", Data::F64(&mut self.g)),
            slot("values", Data::F64(&mut self.values)),
        ];
        slots.extend(self.memory.state());
        slots
    }
}

/// A count among the settings; every one of them has a default.
fn whole(settings: &Settings, name: &str) -> usize {
    settings.count(name).map_or(1, |n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
struct Stopping {
    tolerance: f64,
    period: usize,
    gradient: f64,
}

impl Stopping {
    fn new(settings: &Settings) -> Self {
        Stopping {
            tolerance: settings.number("tolerance"),
            period: whole(settings, "period"),
            gradient: settings.number("gradient"),
        }
    }

    /// `values`: F after each pass; `slope` = |grad F|.
    fn test(&self, values: &[f64], slope: f64, size: f64, n: f64) -> Done {
        if n * slope <= self.gradient * size.max(1.0) {
            return Done::Converged("the gradient is small enough");
        }
        match self.gain(values) {
            Some(gain) if gain < self.tolerance => Done::Converged("the objective falls too little"),
            _ => Done::Pass,
        }
    }

    /// What the last `period` passes gained, relative to F; none before there were as many.
    fn gain(&self, values: &[f64]) -> Option<f64> {
        let (before, now) = (values.get(values.len().checked_sub(self.period + 1)?)?, values.last()?);
        Some((before - now) / now.abs().max(f64::MIN_POSITIVE))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use crate::lbfgs::PARAMS;

    const SMALL: Done = Done::Converged("the gradient is small enough");
    const FLAT: Done = Done::Converged("the objective falls too little");

    /// With these values of F so far, a period of two passes and round bounds.
    fn at(values: &[f64]) -> Descent {
        let given = [("tolerance", "0.01"), ("period", "2"), ("gradient", "0.001")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = Settings::check("test", PARAMS, &given).unwrap();
        Descent { values: values.to_vec(), ..Descent::new(&settings, true) }
    }

    #[test]
    fn a_small_gradient_is_one_below_the_bound_times_the_size_of_the_weights() {
        let falling = at(&[4.0, 2.0, 1.0]);
        // n |grad F| <= 0.001 max(1, |w|).
        for (slope, size, n, expected) in [
            (0.0009, 0.1, 1.0, SMALL),
            (0.0011, 0.1, 1.0, Done::Pass),
            (0.0011, 2.0, 1.0, SMALL),
            (0.0009, 0.1, 2.0, Done::Pass),
            (f64::NAN, 0.1, 1.0, Done::Pass),
        ] {
            assert_eq!(falling.test(slope, size, n), expected, "{slope} {size} {n}");
        }
    }

    #[test]
    fn too_little_gain_is_that_of_a_whole_period_relative_to_f() {
        for (values, expected) in [
            ([].as_slice(), Done::Pass),
            (&[1.0], Done::Pass),
            (&[1.0, 1.0], Done::Pass), // not two passes yet
            (&[1.0, 1.0, 1.0], FLAT),
            (&[1.02, 1.0, 1.0], Done::Pass),
            (&[9.0, 1.009, 1.0, 1.0], FLAT),
            (&[9.0, 1.011, 1.0, 1.0], Done::Pass),
            (&[1.01005, 1.0, 1.0], Done::Pass), // of the F that was reached
            (&[100.9, 100.0, 100.0], FLAT),
            (&[101.1, 100.0, 100.0], Done::Pass),
            (&[0.0, 0.0, 0.0], FLAT),
        ] {
            assert_eq!(at(values).test(1.0, 1.0, 1.0), expected, "{values:?}");
        }
    }

    #[test]
    fn without_a_step_near_the_optimum_is_the_end_and_far_from_it_an_error() {
        let resolved = Done::Stuck("the objective cannot be resolved further");
        // The gradient is near 0, or the last passes gained hardly more than the error of F.
        assert_eq!(at(&[2.0]).stuck("X", 0.004, 1.0, 2.0, 1e-10).unwrap(), resolved);
        let flat = at(&[1.0 + 5e-9, 1.0, 1.0]);
        assert_eq!(flat.stuck("X", 3.0, 1.0, 2.0, 1e-10).unwrap(), resolved);
        assert!(flat.stuck("X", 3.0, 1.0, 2.0, 1e-11).is_err());
        let told = at(&[4.0, 2.5]).stuck("X", 0.25, 1.0, 2.0, 1e-10).unwrap_err().to_string();
        assert!(
            told.starts_with("X finds no lower objective after pass 1, at F = 2.5, |grad F| = 2.5e-1;"),
            "{told}"
        );
        for (f, slope) in [(f64::INFINITY, 1.0), (1.0, f64::NAN)] {
            let told = at(&[f]).stuck("X", slope, 1.0, 2.0, 1e-10).unwrap_err().to_string();
            assert!(told.starts_with(&format!("X cannot start: F = {f};")), "{told}");
        }
    }

    #[test]
    fn a_loaded_state_of_another_size_is_refused() {
        let sound = || {
            let mut at = at(&[1.0]);
            at.begin(5);
            at.g = vec![0.0; 5];
            at
        };
        assert!(sound().rest().is_ok());
        let spoilt: [fn(&mut Descent); 4] = [
            |at| at.g.truncate(4),
            |at| at.values.clear(),
            |at| at.memory = Memory::new(at.memory.limit(), true),
            |at| (at.w, at.g) = (vec![0.0; 6], vec![0.0; 6]),
        ];
        for spoil in spoilt {
            let mut other = sound();
            spoil(&mut other);
            assert!(matches!(other.rest(), Err(Error::Mismatch(_))));
        }
    }
}
