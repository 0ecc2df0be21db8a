//! The table of `eval`: totals, then a row a type.

use crate::number::grouped;
use seqoia_eval::Scored;

/// Chunk scores by type, or accuracy alone if the labels are no chunks.
#[must_use]
pub fn score_table(scored: &Scored, chunks: bool) -> String {
    let mut out = String::new();
    let (tokens, _) = scored.accuracy.token_counts();
    let (sentences, _) = scored.accuracy.sentence_counts();
    if chunks {
        let s = &scored.spans;
        out.push_str("              precision   recall       F1      gold     found     right\n");
        let mut row = |name: &str, p: f64, r: f64, f: f64, counts: [u64; 3]| {
            let [gold, found, right] = counts.map(grouped);
            out.push_str(&format!(" {name:<14} {p:8.2} {r:8.2} {f:8.2} {gold:>9} {found:>9} {right:>9}\n"));
        };
        row("all", s.precision(), s.recall(), s.f1(), [s.gold, s.found, s.correct]);
        for t in &s.types {
            row(&format!("  {}", t.name), t.precision(), t.recall(), t.f1(), [t.gold, t.found, t.correct]);
        }
        out.push('\n');
    }
    out.push_str(&format!(
        " tokens right {:.2} % of {}   sentences right {:.2} % of {}\n",
        scored.accuracy.tokens(),
        grouped(tokens),
        scored.accuracy.sentences(),
        grouped(sentences)
    ));
    out
}
