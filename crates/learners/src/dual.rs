//! What learners on the dual have in common: where they begin.

use seqoia_core::cast::real;
use seqoia_core::{Case, Error, Note, Result};

/// Refuses what a dual learner cannot begin with.
pub(crate) fn can_begin(name: &str, l2: f64, w: &[f64]) -> Result<()> {
    if l2 == 0.0 {
        return Err(Error::Learner(format!("{name} divides by l2, which is 0; give it a penalty")));
    }
    if w.iter().any(|w| *w != 0.0) {
        let what = "begins at distributions of its own, not at given weights; use lbfgs or sag-nus-star";
        return Err(Error::Learner(format!("{name} {what}")));
    }
    Ok(())
}

/// A log Z that is not a number says that the gold labels are not known.
pub(crate) fn known(id: usize, log_z: f64) -> Result<()> {
    if log_z.is_finite() {
        return Ok(());
    }
    let what = "dual learners ask for one known label at every position; use lbfgs or sgd".to_owned();
    Err(Error::Example { id, what })
}

/// `parts = c (pieces - gold)`, added up; behind them the pieces themselves. Their number goes into the note.
pub(crate) fn first_note(case: &mut Case<'_>, pieces: &[f64], note: &mut Note) {
    case.join(pieces, &mut note.parts);
    let zeros = vec![0.0; note.parts.len()];
    case.gold_score(&zeros);
    case.gold(-1.0, &mut note.parts);
    note.parts.iter_mut().for_each(|part| *part *= note.weight);
    note.own[3] = real(note.parts.len());
    note.parts.extend_from_slice(pieces);
}
