//! What `serial`, `minibatch` and `batch` have in common: one team over all examples.

use std::sync::Arc;

use crate::registry::Entry;
use crate::team::{Setup, Workers};
use seqoia_core::{Error, Learner, Report, Result, Strategy, Structure, Team, Weights};

/// A strategy with one team.
pub struct OneTeam {
    entry: &'static Entry,
    team: Workers,
}

impl OneTeam {
    /// `batch` examples are looked at before each step.
    ///
    /// # Errors
    /// When a lane cannot be opened.
    pub fn new(
        entry: &'static Entry,
        structure: Arc<dyn Structure>,
        setup: Setup,
        batch: usize,
    ) -> Result<OneTeam> {
        Ok(OneTeam { entry, team: Workers::new(structure, setup, batch)? })
    }
}

impl Strategy for OneTeam {
    fn accepts(&self, learner: &dyn Learner) -> Result<()> {
        let (structure, profile) = (self.team.structure(), learner.profile());
        let offers = structure.offers();
        if let Some(missing) = profile.needs.iter().find(|q| !offers.contains(q)) {
            return Err(Error::Mismatch(format!(
                "{} needs {}, which a {} does not offer",
                profile.name,
                missing.name(),
                structure.name()
            )));
        }
        self.entry.accepts(&profile)
    }

    fn begin(&mut self, learner: &mut dyn Learner, loaded: bool) -> Result<()> {
        self.team.start(0);
        if loaded { learner.rest(&mut self.team) } else { learner.begin(&mut self.team) }
    }

    fn pass(&mut self, number: u64, learner: &mut dyn Learner) -> Result<Report> {
        self.team.start(number);
        let done = learner.pass(&mut self.team)?;
        Ok(Report { done, ..self.team.report() })
    }

    fn total(&mut self, w: Weights<'_>, g: Option<&mut [f64]>) -> Result<f64> {
        self.team.total(None, w, g)
    }
}
