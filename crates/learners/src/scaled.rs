//! Weights that decay as a whole for the price of one multiplication: w = scale * v (Shalev-Shwartz et al. 2007).

use crate::planes::BLOCK;
use seqoia_core::cast::real;
use seqoia_core::{Note, Result, Team, Weights, each};

/// Below this the scale is folded into the weights.
const FOLD: f64 = 1e-6;

/// A plane and its scale.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// `[weights]` w / scale; at rest w.
    pub(crate) v: Vec<f64>,
    scale: f64,
}

impl Default for Scaled {
    fn default() -> Self {
        Scaled { v: vec![], scale: 1.0 }
    }
}

impl Scaled {
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights { values: &self.v, scale: self.scale }
    }

    pub(crate) fn plain(&self) -> Vec<f64> {
        self.v.iter().map(|v| self.scale * v).collect()
    }

    /// `w <- factor w - eta (mean gradient of the batch)`.
    pub(crate) fn step(&mut self, factor: f64, eta: f64, batch: &[Note], team: &mut dyn Team) -> Result<()> {
        self.scale *= factor;
        if self.scale == 0.0 {
            (self.scale, self.v) = (1.0, vec![0.0; self.v.len()]); // all that was learned is wiped out
        }
        team.spread(batch, -eta / (self.scale * real(batch.len())), &mut self.v)?;
        if self.scale.abs() < FOLD { self.fold(team) } else { Ok(()) }
    }

    /// `w <- factor w`.
    pub(crate) fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
    }

    pub(crate) fn fold(&mut self, team: &mut dyn Team) -> Result<()> {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        if scale == 1.0 {
            return Ok(());
        }
        let blocks = self.v.chunks_mut(BLOCK).collect();
        each(team, blocks, |block: &mut [f64]| block.iter_mut().for_each(|v| *v *= scale))
    }
}
