//! Two systems beside each other: scores, difference, and in plain words whether it is chance.

use seqoia_eval::{Interval, Scored, Significance, TypeScores, Unit};

use crate::number::counted;
use crate::table::Table;

/// What is compared: the second system against the first.
pub struct Compared<'a> {
    /// The files.
    pub names: [&'a str; 2],
    /// Their scores.
    pub scored: [&'a Scored; 2],
    /// What they count.
    pub unit: Unit,
    /// The score of the second less that of the first.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Whether it is chance.
    pub significance: Significance,
}

impl Compared<'_> {
    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = self.table().text();
        let Interval { low, high, resamples, .. } = self.interval;
        let Significance { p, shuffles, seed, .. } = self.significance;
        let unit = self.unit.score();
        out.push_str(&format!(
            "\n {unit} differs by {:+.2}, 95 % interval {low:+.2} to {high:+.2} ({})\n",
            self.difference,
            counted(resamples as u64, "draw")
        ));
        out.push_str(&format!(
            " p = {p:.4} by approximate randomisation ({}, seed {seed})\n\n {}\n",
            counted(shuffles as u64, "shuffle"),
            self.verdict()
        ));
        out
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let p = self.significance.p;
        let better = self.names[usize::from(self.difference > 0.0)];
        if self.difference == 0.0 {
            "Both score the same.".to_owned()
        } else if p < 0.01 {
            format!("{better} is better: chance alone hardly ever gives so much.")
        } else if p < 0.05 {
            format!("{better} is probably better: chance gives so much in {:.0} of 100 cases.", 100.0 * p)
        } else {
            format!("This may well be chance, which gives as much in {:.0} of 100 cases.", 100.0 * p)
        }
    }

    /// Rows are scores; columns the first system, the second, and the difference.
    fn table(&self) -> Table {
        let mut table = Table::new().names("", 14).numbers("first", 10).numbers("second", 10);
        table = table.numbers("difference", 12);
        let [a, b] = self.scored;
        let mut row = |name: &str, a: f64, b: f64| {
            table.row([name.to_owned(), format!("{a:.2}"), format!("{b:.2}"), format!("{:+.2}", b - a)]);
        };
        if self.unit.is_chunks() {
            row("precision", a.spans.precision(), b.spans.precision());
            row("recall", a.spans.recall(), b.spans.recall());
            row("F1", a.spans.f1(), b.spans.f1());
            let mut names: Vec<&str> =
                [a, b].iter().flat_map(|s| &s.spans.types).map(|t| t.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let f1 = |scored: &Scored, name: &str| {
                scored.spans.types.iter().find(|t| t.name == name).map_or(0.0, TypeScores::f1)
            };
            names.iter().for_each(|name| row(&format!("  {name}"), f1(a, name), f1(b, name)));
        }
        row("tokens right", a.accuracy.tokens(), b.accuracy.tokens());
        row("sentences", a.accuracy.sentences(), b.accuracy.sentences());
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_better_one_and_the_chance() {
        let scored = Scored { spans: Default::default(), accuracy: Default::default() };
        let verdict = |difference, p| {
            let interval = Interval { low: 0.0, high: 0.0, resamples: 100, seed: 1 };
            let significance = Significance { p, as_large: 0, shuffles: 100, seed: 1 };
            let names = ["a.txt", "b.txt"];
            let scored = [&scored, &scored];
            Compared { names, scored, unit: Unit::Chunks, difference, interval, significance }.verdict()
        };
        assert_eq!(verdict(0.0, 1.0), "Both score the same.");
        assert_eq!(verdict(1.0, 0.001), "b.txt is better: chance alone hardly ever gives so much.");
        assert_eq!(verdict(-1.0, 0.03), "a.txt is probably better: chance gives so much in 3 of 100 cases.");
        assert_eq!(verdict(-1.0, 0.4), "This may well be chance, which gives as much in 40 of 100 cases.");
    }
}
