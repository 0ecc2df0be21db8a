//! What `serial`, `minibatch` and `batch` have in common: one team over all examples.

use std::sync::Arc;

use crate::team::{Setup, Workers};
use seqoia_core::{Error, Learner, Report, Result, Strategy, Structure, Team, Weights};

/// Which learners a strategy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Every,
    Online,
    Whole,
}

/// A strategy with one team.
pub struct OneTeam {
    name: &'static str,
    takes: Takes,
    team: Workers,
}

impl OneTeam {
    pub(crate) fn new(
        name: &'static str,
        takes: Takes,
        structure: Arc<dyn Structure>,
        setup: Setup,
    ) -> Result<OneTeam> {
        Ok(OneTeam { name, takes, team: Workers::new(structure, setup)? })
    }
}

impl Strategy for OneTeam {
    fn accepts(&self, learner: &mut dyn Learner) -> Result<()> {
        let offers = self.team.structure().offers();
        if let Some(missing) = learner.needs().iter().find(|q| !offers.contains(q)) {
            let what = format!("this learner needs {}, which the structure does not offer", missing.name());
            return Err(Error::Mismatch(what));
        }
        match (self.takes, learner.whole()) {
            (Takes::Online, true) => Err(Error::Mismatch(format!(
                "this learner works on whole passes; strategy {} takes it apart: use batch or serial",
                self.name
            ))),
            (Takes::Whole, false) => Err(Error::Mismatch(format!(
                "this learner works on single examples; strategy {} has whole passes: use serial or minibatch",
                self.name
            ))),
            _ => Ok(()),
        }
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
