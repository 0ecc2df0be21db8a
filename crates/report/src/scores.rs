//! The tables of `eval`: totals, then a row a type; or a row a label.

use crate::number::grouped;
use crate::table::Table;
use seqoia_eval::{Scored, SpanScores, Tally, TypeScores};

/// Chunk scores by type, or accuracy alone if the labels are no chunks.
#[must_use]
pub fn score_table(scored: &Scored, chunks: bool) -> String {
    let mut out = String::new();
    if chunks {
        out.push_str(&types(&scored.spans).text());
        out.push('\n');
    }
    let (tokens, _) = scored.accuracy.token_counts();
    let (sentences, _) = scored.accuracy.sentence_counts();
    out.push_str(&format!(
        " tokens right {:.2} % of {}   sentences right {:.2} % of {}\n",
        scored.accuracy.tokens(),
        grouped(tokens),
        scored.accuracy.sentences(),
        grouped(sentences)
    ));
    out
}

/// All chunks, then each type.
pub(crate) fn types(spans: &SpanScores) -> Table {
    let mut table = tallies();
    tally_row(&mut table, "all", spans.tally());
    for t in &spans.types {
        tally_row(&mut table, &format!("  {}", t.name), t.tally());
    }
    table
}

/// The first labels.
pub(crate) fn labels(labels: &[TypeScores], most: usize) -> Table {
    let mut table = tallies();
    labels.iter().take(most).for_each(|label| tally_row(&mut table, &label.name, label.tally()));
    table
}

/// A table of counts and their figures.
pub(crate) fn tallies() -> Table {
    let table = Table::new().names("", 14).numbers("precision", 9).numbers("recall", 9).numbers("F1", 9);
    table.numbers("gold", 10).numbers("found", 10).numbers("right", 10)
}

pub(crate) fn tally_row(table: &mut Table, name: &str, tally: Tally) {
    let figures = [tally.precision(), tally.recall(), tally.f1()].map(|x| format!("{x:.2}"));
    let counts = [tally.gold, tally.found, tally.correct].map(grouped);
    table.row([name.to_owned()].into_iter().chain(figures).chain(counts));
}
