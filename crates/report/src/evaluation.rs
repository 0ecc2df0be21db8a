//! All that `eval` shows of one file: scores, known and unknown words, the interval, confusions; as text, and
//! with the sentences themselves as a page.

use seqoia_eval::{ByKnown, Confusion, Interval, Part, Scored, Sentence, TypeScores, Unit};

use crate::html::{Page, Shown};
use crate::number::{counted, grouped};
use crate::scores::{labels, score_table, tallies, tally_row, types};
use crate::table::Table;

/// Most sentences that a page shows: more make a browser slow.
pub const MOST_SENTENCES: usize = 2000;

/// What was looked at.
pub struct Evaluation<'a> {
    /// The file.
    pub name: &'a str,
    /// Its scores.
    pub scored: &'a Scored,
    /// What they count.
    pub unit: Unit,
    /// The scores of each label, where tokens count.
    pub labels: &'a [TypeScores],
    /// How many of them are shown as text.
    pub most_labels: usize,
    /// How to see the others, such as `; --all shows them`.
    pub others: &'a str,
    /// Known and unknown words, and the file that says which are known.
    pub known: Option<(&'a str, &'a ByKnown)>,
    /// The interval of the score.
    pub interval: Option<Interval>,
    /// The confusions to show, the most frequent first.
    pub confusions: Option<&'a [Confusion]>,
    /// How many different confusions there are.
    pub all_confusions: usize,
}

impl Evaluation<'_> {
    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        if !self.unit.is_chunks() {
            out.push_str(&labels(self.labels, self.most_labels).text());
            let more = self.labels.len().saturating_sub(self.most_labels);
            if more > 0 {
                out.push_str(&format!(" {}{}\n", counted(more as u64, "more label"), self.others));
            }
            out.push('\n');
        }
        out.push_str(&score_table(self.scored, self.unit.is_chunks()));
        if let Some((file, known)) = self.known {
            out.push_str(&format!("\n Words that {file} has, and others:\n\n"));
            let tables: Vec<String> = self.known_tables(known).iter().map(Table::text).collect();
            out.push_str(&tables.join("\n"));
        }
        if let Some(interval) = &self.interval {
            out.push_str(&format!("\n {}\n", self.interval_line(interval)));
        }
        if let Some(confusions) = self.confusions {
            out.push_str(&format!("\n {}\n", self.confusion_line(confusions)));
            if !confusions.is_empty() {
                out.push('\n');
                out.push_str(&confusion_table(confusions).text());
            }
        }
        out
    }

    /// A page that needs nothing but itself, with the sentences of the file.
    #[must_use]
    pub fn html(&self, sentences: &[Sentence]) -> String {
        let mut page = Page::new(&format!("{} scored", self.name));
        page.table(&self.summary());
        if let Some(interval) = &self.interval {
            page.paragraph(&self.interval_line(interval));
        }
        if self.unit.is_chunks() {
            page.heading("Types of chunks");
            page.table(&types(&self.scored.spans));
        } else {
            page.heading("Labels");
            page.table(&labels(self.labels, self.labels.len()));
        }
        if let Some((file, known)) = self.known {
            page.heading("Known and unknown words");
            page.paragraph(&format!("Words that {file} has, and others."));
            self.known_tables(known).iter().for_each(|table| page.table(table));
        }
        if let Some(confusions) = self.confusions {
            page.heading("Confusions");
            page.paragraph(&self.confusion_line(confusions));
            if !confusions.is_empty() {
                page.table(&confusion_table(confusions));
            }
        }
        let (wrong, right): (Vec<_>, Vec<_>) = sentences.iter().partition(|sentence| sentence.wrong() > 0);
        let shown = wrong.len().min(MOST_SENTENCES);
        page.heading("Sentences with errors");
        page.paragraph(&of_all(shown, wrong.len()));
        if shown > 0 {
            page.legend();
        }
        wrong.iter().take(shown).for_each(|sentence| show(&mut page, sentence));
        let more = right.len().min(MOST_SENTENCES - shown);
        page.heading("Sentences without errors");
        page.paragraph(&of_all(more, right.len()));
        right.iter().take(more).for_each(|sentence| show(&mut page, sentence));
        page.finish()
    }

    /// What a reader wants first.
    fn summary(&self) -> Table {
        let mut table = Table::new().names("", 0).numbers("%", 0).numbers("right", 0).numbers("of", 0);
        let mut row = |name: &str, value: f64, counts: Option<(u64, u64)>| {
            let [right, of] =
                counts.map_or([const { String::new() }; 2], |(of, right)| [right, of].map(grouped));
            table.row([name.to_owned(), format!("{value:.2}"), right, of]);
        };
        let Scored { spans, accuracy } = self.scored;
        if self.unit.is_chunks() {
            row("F1", spans.f1(), None);
            row("precision", spans.precision(), Some((spans.found, spans.correct)));
            row("recall", spans.recall(), Some((spans.gold, spans.correct)));
        }
        row("tokens", accuracy.tokens(), Some(accuracy.token_counts()));
        row("sentences", accuracy.sentences(), Some(accuracy.sentence_counts()));
        table
    }

    fn interval_line(&self, interval: &Interval) -> String {
        let score = match self.unit {
            Unit::Tokens => self.scored.accuracy.tokens(),
            Unit::Chunks | Unit::Raw => self.scored.spans.f1(),
        };
        let Interval { low, high, resamples, seed } = *interval;
        format!(
            "{} {score:.2}, 95 % interval {low:.2} to {high:.2} ({}, seed {seed})",
            self.unit.score(),
            counted(resamples as u64, "draw"),
        )
    }

    fn known_tables(&self, by: &ByKnown) -> Vec<Table> {
        let mut words = Table::new().names("", 14).numbers("accuracy", 9).numbers("tokens", 10);
        words = words.numbers("right", 10);
        let mut row = |name: &str, part: &Part| {
            let accuracy = format!("{:.2}", part.accuracy());
            words.row([name.to_owned(), accuracy, grouped(part.tokens), grouped(part.tokens_correct)]);
        };
        row("known", &by.known);
        row("unknown", &by.unknown);
        let mut tables = vec![words];
        if let (Some(known), Some(unknown)) = (by.known.chunks, by.unknown.chunks) {
            let mut chunks = tallies();
            tally_row(&mut chunks, "all known", known);
            tally_row(&mut chunks, "some unknown", unknown);
            tables.push(chunks);
        }
        tables
    }

    fn confusion_line(&self, shown: &[Confusion]) -> String {
        match self.all_confusions {
            0 => "No confusions: every label is right.".to_owned(),
            all if all == shown.len() => "Confusions, and the lines of the first of each:".to_owned(),
            all => format!(
                "The {} most frequent of {}, and the lines of the first of each:",
                shown.len(),
                counted(all as u64, "confusion")
            ),
        }
    }
}

fn confusion_table(confusions: &[Confusion]) -> Table {
    let mut table = Table::new().numbers("count", 7).names("gold", 10).names("found", 10).names("lines", 0);
    for Confusion { gold, found, count, lines } in confusions {
        let more = if *count > lines.len() as u64 { ", ..." } else { "" };
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        table.row([grouped(*count), gold.clone(), found.clone(), format!("{}{more}", lines.join(", "))]);
    }
    table
}

pub(crate) fn of_all(shown: usize, all: usize) -> String {
    let all_of_them = counted(all as u64, "sentence");
    if shown == all {
        format!("{all_of_them}.")
    } else {
        format!("{} of {all_of_them}.", grouped(shown as u64))
    }
}

fn show(page: &mut Page, sentence: &Sentence) {
    let words: Vec<Shown> = sentence
        .tokens
        .iter()
        .map(|token| Shown {
            word: &token.word,
            label: &token.found,
            gold: Some(&token.gold),
            line: Some(token.line),
            probabilities: &[],
        })
        .collect();
    page.sentence(&words);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;
    use seqoia_eval::{Options, confusions, read};

    fn sentences(text: &str) -> Vec<Sentence> {
        read(text.as_bytes(), "x", &Options::default()).unwrap()
    }

    fn page(text: &str) -> String {
        let sentences = sentences(text);
        let scored = Scored::of(&sentences, Unit::Chunks);
        let confusions = confusions(&sentences, 3);
        let evaluation = Evaluation {
            name: "<out>",
            scored: &scored,
            unit: Unit::Chunks,
            labels: &[],
            most_labels: 0,
            others: "",
            known: None,
            interval: None,
            confusions: Some(&confusions),
            all_confusions: confusions.len(),
        };
        evaluation.html(&sentences)
    }

    #[test]
    fn what_a_file_holds_is_text_and_never_markup() {
        let page = page("<script>alert(1)</script> B-<b> I-<b>\n\"&' O O\n");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(
            page.contains("B-&lt;b&gt;") && page.contains("&quot;&amp;&#39;") && page.contains("&lt;out&gt;")
        );
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains("<out>"));
    }

    #[test]
    fn errors_come_first() {
        let page = page("one O O\n\ntwo O B-X\n\nthree O O\n");
        let place = |word: &str| page.find(&format!(">{word}<")).unwrap();
        assert!(place("two") < place("one") && place("one") < place("three"));
        assert!(page.contains("1 sentence.") && page.contains("2 sentences."));
    }

    #[test]
    fn a_page_needs_nothing_else() {
        let page = page("one O B-X\n");
        for outside in ["http", "src=", "href=", "url(", "@import", "<link", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
