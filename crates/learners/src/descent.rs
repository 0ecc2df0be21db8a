//! Where a quasi-Newton method stands and when it stops: what `lbfgs` and `owl-qn` have in common beside the
//! curvature [`Memory`].

use crate::quasi_newton::Memory;
use seqoia_core::param::Settings;
use seqoia_core::{Data, Done, Error, Mix, Profile, Question, Result, Slot};

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
    pub(crate) fn new(settings: &Settings) -> Self {
        Descent {
            memory: Memory::new(whole(settings, "history")),
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
        Profile {
            name,
            needs: vec![Question::Expectations],
            whole: true,
            stops: true,
            calibrated: true,
            per_weight: doubles * size_of::<f64>(),
            per_example: 0,
        }
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
            return Err(Error::Mismatch("the saved state belongs to another learner or data set".to_owned()));
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
