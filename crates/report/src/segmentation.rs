//! The table of `eval --metric sighan`: the figures of the bakeoffs as they print them, with three digits.

use seqoia_eval::{Interval, Segmentation};

use crate::number::{counted, grouped};
use crate::table::Table;

/// Words, recall, precision, F, and what became of known and unknown words.
#[must_use]
pub fn segmentation_table(scores: &Segmentation, interval: Option<&Interval>) -> String {
    let words = scores.words();
    let (recall, precision, f1) = scores.figures();
    let mut table = Table::new().names("", 18).numbers("", 8).names("", 0);
    let mut row = |name: &str, value: Option<f64>, of: Option<(u64, u64)>| {
        let value = value.map_or("-".to_owned(), |x| format!("{x:.3}"));
        let of = of.map_or(String::new(), |(part, all)| format!("{} of {}", grouped(part), grouped(all)));
        table.row([name.to_owned(), value, of]);
    };
    row("recall", Some(recall), Some((words.correct, words.gold)));
    row("precision", Some(precision), Some((words.correct, words.found)));
    row("F", Some(f1), None);
    if let Some(seen) = scores.vocabulary {
        row("OOV rate", Some(seen.oov_rate()), Some((seen.oov, seen.oov + seen.iv)));
        row("OOV recall", seen.oov_recall(), Some((seen.oov_correct, seen.oov)));
        row("IV recall", seen.iv_recall(), Some((seen.iv_correct, seen.iv)));
    }
    let table = table.text();
    let mut out = format!(
        " {} in the gold, {} found, {}\n{table}",
        counted(words.gold, "word"),
        grouped(words.found),
        counted(scores.lines.len() as u64, "line")
    );
    if let Some(Interval { low, high, resamples, seed }) = interval {
        out.push_str(&format!(
            "\n F {f1:.3}, 95 % interval {:.3} to {:.3} ({}, seed {seed})\n",
            low / 100.0,
            high / 100.0,
            counted(*resamples as u64, "draw")
        ));
    }
    out
}
