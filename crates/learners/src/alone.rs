//! A team without examples, for tests of what learners do with whole planes, and with totals that a test tells it.

use seqoia_core::{Error, Look, Note, Random, Result, Row, Team, Weights};

pub(crate) struct Alone {
    random: Random,
    says: fn(usize) -> Result<f64>, // the total of a call, by its number
    pub(crate) totals: usize,       // calls so far
    stop: usize,                    // raised after so many
}

impl Alone {
    pub(crate) fn new() -> Self {
        Alone::saying(|_| none())
    }

    /// With these totals; the first call has number 0.
    pub(crate) fn saying(says: fn(usize) -> Result<f64>) -> Self {
        Alone { random: Random::new(0, 0, 0, "alone"), says, totals: 0, stop: usize::MAX }
    }

    /// Wants an end after so many totals.
    pub(crate) fn stopping_after(self, totals: usize) -> Self {
        Alone { stop: totals, ..self }
    }
}

fn none<T>() -> Result<T> {
    Err(Error::Worker("there are no examples here".to_owned()))
}

impl Team for Alone {
    fn examples(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        0
    }

    fn weights(&self) -> usize {
        0
    }

    fn batch(&self) -> usize {
        1
    }

    fn next(&mut self, _: usize, ids: &mut Vec<usize>) {
        ids.clear();
    }

    fn random(&mut self, _: &'static str) -> &mut Random {
        &mut self.random
    }

    fn rows(&mut self, _: &[usize], _: &mut Vec<Row>) -> Result<()> {
        none()
    }

    fn ask(&mut self, _: &[usize], _: &Look<'_>, _: &mut Vec<Note>) -> Result<()> {
        none()
    }

    fn spread(&mut self, _: &[Note], _: f64, _: &mut [f64]) -> Result<()> {
        none()
    }

    fn total(&mut self, _: Option<&[usize]>, _: Weights<'_>, _: Option<&mut [f64]>) -> Result<f64> {
        self.totals += 1;
        (self.says)(self.totals - 1)
    }

    fn noise(&self) -> f64 {
        0.0
    }

    fn run(&mut self, job: &(dyn Fn() + Sync)) -> Result<()> {
        job();
        Ok(())
    }

    fn stopping(&self) -> bool {
        self.totals >= self.stop
    }
}
