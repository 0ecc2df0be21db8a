//! A look at every example outside of passes, some at a time, so that notes of all of them are never held at once.

use seqoia_core::{Look, Note, Result, Team};

/// Examples that are asked at a time.
const SOME: usize = 256;

/// Asks about all examples, in their order, and hands the notes over.
pub(crate) fn sweep(
    team: &mut dyn Team,
    look: &Look<'_>,
    mut take: impl FnMut(&[Note], &mut dyn Team) -> Result<()>,
) -> Result<()> {
    let (mut notes, ids) = (vec![], (0..team.examples()).collect::<Vec<_>>());
    for ids in ids.chunks(SOME) {
        team.ask(ids, look, &mut notes)?;
        take(&notes, team)?;
    }
    Ok(())
}
