//! What one worker does with one example, or with one piece of a cut one.

use seqoia_core::{Bench, Case, Lane, Look, Note, Question, Result};

use crate::Cuts;

/// A lane and what goes with it.
pub(crate) struct Worker {
    pub(crate) offers: &'static [Question],
    pub(crate) lane: Box<dyn Lane>,
    pub(crate) bench: Bench,
    pub(crate) gradient: Vec<f64>, // lent to the lane's sums: see `Lane::sum`
}

/// Opens an example, or a piece.
pub(crate) fn open(lane: &mut dyn Lane, cuts: Option<&Cuts>, id: usize) -> Result<f64> {
    match cuts {
        None => lane.open(id),
        Some(cuts) => cuts.open(lane, id),
    }
}

/// Looks at an example.
pub(crate) fn answer(
    worker: &mut Worker,
    cuts: Option<&Cuts>,
    id: usize,
    look: &Look<'_>,
    note: &mut Note,
) -> Result<()> {
    let weight = open(&mut *worker.lane, cuts, id)?;
    note.clear(id, weight);
    let mut case = Case::new(id, weight, worker.offers, &mut *worker.lane, &mut worker.bench);
    look(&mut case, note)?;
    note.asked = case.asked;
    Ok(())
}

/// Spreads notes over the weights from index `at` on.
pub(crate) fn spread_piece(
    worker: &mut Worker,
    cuts: Option<&Cuts>,
    notes: &[Note],
    step: f64,
    at: usize,
    to: &mut [f64],
) -> Result<()> {
    for note in notes {
        open(&mut *worker.lane, cuts, note.id)?;
        worker.lane.spread(&note.parts, step, at, to);
    }
    Ok(())
}
