//! Which penalties a learner is given: several l2 one after another, each begun at the weights of the one before; and what
//! they are for one that takes the pieces of cut sequences for examples.
//!
//! ```text
//! (1/n) sum of losses + (l2/2) |w|^2  =  (m/n) ((1/m) sum of losses + (l2 n/m)/2 |w|^2)       n sequences, m pieces
//! ```

use seqoia_core::cast::{real, single};
use seqoia_core::{Learner, Question, Score, Strategy, Structure};
use seqoia_learners::registry::Objective;
use seqoia_strategies::Cuts;

use super::progress::{PathRow, Progress};
use super::train::Run;
use super::{LearnOptions, Start};
use crate::error::{BadOption, Result};

/// The examples of a learner, as the options have them cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Looks of a pass.
    pub(super) looks: usize,
    /// n / m; 1 where nothing is cut.
    pub(super) scale: f64,
}

impl Sizes {
    pub(super) fn new(options: &LearnOptions, structure: &dyn Structure) -> Result<Sizes> {
        let n = structure.examples();
        let Some(length) = options.cut else { return Ok(Sizes { looks: n, scale: 1.0 }) };
        if !structure.offers().contains(&Question::Stretches) {
            let what = format!("a {} cannot be cut: it is for training on sequences", structure.name());
            return Err(BadOption::of("cut", length, what).into());
        }
        let looks = Cuts::number(structure, length);
        Ok(Sizes { looks, scale: real(n) / real(looks.max(1)) })
    }
}

impl Run<'_> {
    /// Makes the learner for an l2 of the path.
    pub(super) fn build(&self, step: usize, sizes: Sizes) -> Box<dyn Learner> {
        let Objective { l1, .. } = self.objective;
        let penalty = Objective { l1: l1 * sizes.scale, l2: self.l2(step) * sizes.scale };
        self.options.learner.build(&self.options.settings, penalty)
    }

    /// The l2 of a step; the last one for steps that a file made up.
    pub(super) fn l2(&self, step: usize) -> f64 {
        let last = self.path.len().saturating_sub(1);
        self.path.get(step.min(last)).copied().unwrap_or(self.objective.l2)
    }

    /// Whether there are several l2.
    pub(super) fn has_path(&self) -> bool {
        self.path.len() > 1
    }

    /// What became of the l2 of this step, whose last weights and dev scores these are.
    pub(super) fn path_row(
        &self,
        progress: &Progress,
        strategy: &mut dyn Strategy,
        known: Option<f64>,
        weights: &[f64],
        scores: Vec<Score>,
    ) -> Result<PathRow> {
        let objective = match known {
            None if self.profile.needs.contains(&Question::Expectations) => {
                Some(self.value(strategy, weights, progress.step)?)
            }
            known => known,
        };
        let nonzero = weights.iter().filter(|w| single(**w) != 0.0).count();
        let passes = progress.pass - progress.before;
        Ok(PathRow { l2: self.l2(progress.step), passes, objective, nonzero, scores })
    }

    /// Goes on to the next l2: with all that the learner remembers, if that does not depend on it, else with its weights.
    pub(super) fn next_step(
        &self,
        progress: &mut Progress,
        learner: &mut Box<dyn Learner>,
        strategy: &mut dyn Strategy,
        structure: &dyn Structure,
        sizes: Sizes,
    ) -> Result<()> {
        (progress.step, progress.before, progress.converged) = (progress.step + 1, progress.pass, None);
        progress.effective = 0.0;
        if learner.change_l2(self.l2(progress.step) * sizes.scale) {
            return Ok(());
        }
        let start = Start { weights: learner.take_weights(), memo: None };
        *learner = self.build(progress.step, sizes);
        self.start(&start, &mut **learner, structure)?;
        strategy.begin(&mut **learner, false)?;
        Ok(())
    }
}
