//! A page of its own: no links, no script, its style inside, so that it can be sent about and opened anywhere.
//!
//! There are two ways to write into a page. `markup` takes only text that is part of this program, which the type
//! `&'static str` sees to; everything else, names, words, labels and numbers, goes through `text`, which escapes.
//! So nothing that a file holds can become markup.

use std::collections::HashMap;
use std::fmt::Write;

use crate::plot::Plot;
use crate::table::Table;

/// A token as a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The word.
    pub word: &'a str,
    /// The label found.
    pub label: &'a str,
    /// The label it should have, if that is known; what differs is shown as wrong.
    pub gold: Option<&'a str>,
    /// Its line in the file, if it has one.
    pub line: Option<u64>,
    /// Labels and their probabilities, shown when the pointer rests on the token; may be empty.
    pub probabilities: &'a [(String, f64)],
}

/// A page that is being written.
#[derive(Debug)]
pub struct Page {
    out: String,
    /// Types of labels, numbered in order of appearance: the number picks the colour.
    kinds: HashMap<String, usize>,
}

/// Colours are laid over whatever the background is, so that the page is legible by day and by night.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:16px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1rem;display:block;overflow-x:auto}
th,td{padding:.1rem .7rem;text-align:right;font-variant-numeric:tabular-nums;white-space:pre}
th{font-weight:600;border-bottom:1px solid #8888}
.l{text-align:left}
.s{margin:.4rem 0;padding:.4rem 0 0 4rem;border-top:1px solid #8884;position:relative}
.n{position:absolute;left:0;opacity:.65;font-size:.8rem}
.w{display:inline-block;vertical-align:top;text-align:center;margin:0 .15rem .3rem 0;padding:0 .25rem;border-radius:.2rem;white-space:pre-wrap;overflow-wrap:anywhere}
.w[title]{cursor:help}
.w small{display:block;font-size:.7rem;min-height:1.45em}
.x{outline:2px solid #d33}
del{color:#c22;color:light-dark(#b3001b,#ff9a90)}
ins{text-decoration:none;font-weight:600}
.k0{background:hsl(210 90% 50%/.22)}.k1{background:hsl(30 95% 50%/.25)}.k2{background:hsl(130 70% 40%/.22)}
.k3{background:hsl(280 70% 55%/.22)}.k4{background:hsl(55 95% 45%/.28)}.k5{background:hsl(330 80% 55%/.22)}
.k6{background:hsl(180 80% 38%/.24)}.k7{background:hsl(0 60% 45%/.2)}.k8{background:hsl(90 65% 42%/.24)}
.k9{background:hsl(245 75% 60%/.22)}
@media(max-width:40rem){body{margin:1rem auto}.s{padding-left:0}.n{position:static;display:block}}
";

const COLOURS: [&str; 10] = [" k0", " k1", " k2", " k3", " k4", " k5", " k6", " k7", " k8", " k9"];

/// For pages with plots.
const WIDE: &str = "\
body{max-width:90rem}
pre{overflow-x:auto;font-size:.8rem;white-space:pre-wrap}
.plots{display:flex;flex-wrap:wrap;gap:1rem;margin:.5rem 0 1rem}.plots svg{max-width:100%;height:auto}
";

impl Page {
    /// Starts a page; the title is its first heading too.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self::start(title, "")
    }

    /// The same as wide as the window allows, for plots.
    #[must_use]
    pub fn wide(title: &str) -> Self {
        Self::start(title, WIDE)
    }

    fn start(title: &str, style: &'static str) -> Self {
        let mut page = Page { out: String::new(), kinds: HashMap::new() };
        page.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.markup("<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        page.text(title);
        page.markup("</title>\n<style>\n");
        page.markup(STYLE);
        page.markup(style);
        page.markup("</style>\n</head>\n<body>\n<h1>");
        page.text(title);
        page.markup("</h1>\n");
        page
    }

    /// A heading of a part.
    pub fn heading(&mut self, text: &str) {
        self.element("<h2>", text, "</h2>\n");
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.element("<p>", text, "</p>\n");
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.markup("<table>\n<tr>");
        for column in &table.columns {
            self.element(if column.left { "<th class=\"l\">" } else { "<th>" }, &column.head, "</th>");
        }
        self.markup("</tr>\n");
        for row in &table.rows {
            self.markup("<tr>");
            for (column, cell) in table.columns.iter().zip(row) {
                self.element(if column.left { "<td class=\"l\">" } else { "<td>" }, cell, "</td>");
            }
            self.markup("</tr>\n");
        }
        self.markup("</table>\n");
    }

    /// Plots side by side, as many as there is room for.
    pub fn plots(&mut self, plots: &[Plot]) {
        self.markup("<div class=\"plots\">\n");
        for plot in plots {
            self.out.push_str(&plot.svg());
        }
        self.markup("</div>\n");
    }

    /// Lines of a terminal, under a heading that opens them.
    pub fn lines(&mut self, heading: &str, lines: &str) {
        self.element("<details><summary>", heading, "</summary>\n");
        self.element("<pre>", lines, "</pre>\n</details>\n");
    }

    /// How to read the sentences where gold labels are known.
    pub fn legend(&mut self) {
        self.markup("<p>Under each word stands its label. In a frame: the label found is wrong and struck ");
        self.markup(
            "out, the gold label stands behind it. Before a sentence: the line of its first word.</p>\n",
        );
    }

    /// A sentence: words, labels under them in colours by type, and what is wrong.
    ///
    /// ```
    /// use seqoia_report::{Page, Shown};
    ///
    /// let (word, label) = ("Rome", "B-LOC");
    /// let probabilities = [("B-LOC".to_owned(), 0.9), ("O".to_owned(), 0.1)];
    /// let mut page = Page::new("labelled");
    /// page.sentence(&[Shown { word, label, gold: None, line: None, probabilities: &probabilities }]);
    /// assert!(page.finish().contains("title=\"B-LOC 0.900, O 0.100\">Rome<small>B-LOC</small>"));
    /// ```
    pub fn sentence(&mut self, words: &[Shown]) {
        self.markup("<div class=\"s\">");
        if let Some(line) = words.first().and_then(|word| word.line) {
            self.element("<span class=\"n\">", &line.to_string(), "</span>");
        }
        words.iter().for_each(|word| self.word(word));
        self.markup("</div>\n");
    }

    fn word(&mut self, shown: &Shown) {
        let wrong = shown.gold.is_some_and(|gold| gold != shown.label);
        self.markup("<span class=\"w");
        let colour = self.colour(shown.gold.unwrap_or(shown.label));
        self.markup(colour);
        self.markup(if wrong { " x\"" } else { "\"" });
        let mut title = String::new();
        if let (true, Some(line)) = (wrong, shown.line) {
            title = format!("line {line}");
        }
        for (label, probability) in shown.probabilities {
            let comma = if title.is_empty() { "" } else { ", " };
            let _ = write!(title, "{comma}{label} {probability:.3}"); // a string takes everything
        }
        if !title.is_empty() {
            self.element(" title=\"", &title, "\"");
        }
        self.element(">", shown.word, "<small>");
        match shown.gold {
            Some(gold) if wrong => {
                self.element("<del>", shown.label, "</del> ");
                self.element("<ins>", gold, "</ins>");
            }
            // Most words are outside of every chunk; no label says so with less ink.
            _ if shown.label == "O" => (),
            _ => self.text(shown.label),
        }
        self.markup("</small></span> ");
    }

    /// The colour of a label: that of its type, where it is a chunk label.
    fn colour(&mut self, label: &str) -> &'static str {
        let kind = match label.split_once('-') {
            _ if label == "O" => return "",
            Some((prefix, kind)) if prefix.len() == 1 => kind,
            _ => label,
        };
        let next = self.kinds.len();
        let number = match self.kinds.get(kind) {
            Some(number) => *number,
            None => *self.kinds.entry(kind.to_owned()).or_insert(next),
        };
        COLOURS[number % COLOURS.len()]
    }

    /// Ends the page.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.markup("</body>\n</html>\n");
        self.out
    }

    fn element(&mut self, before: &'static str, text: &str, after: &'static str) {
        self.markup(before);
        self.text(text);
        self.markup(after);
    }

    fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&escape(text));
    }
}

/// Text for content and for attributes in double quotes; control characters, which a page must not hold, are replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'a>(word: &'a str, label: &'a str, gold: Option<&'a str>) -> Shown<'a> {
        Shown { word, label, gold, line: Some(7), probabilities: &[] }
    }

    fn page(words: &[Shown]) -> String {
        let mut page = Page::new("t");
        page.sentence(words);
        page.finish()
    }

    #[test]
    fn words_labels_titles_are_escaped() {
        let evil = "<script>alert(1)</script>";
        let probabilities = [("\"><script>".to_owned(), 0.5)];
        let word = Shown { probabilities: &probabilities, ..shown(evil, evil, Some("'&\u{0}")) };
        let page = page(&[word]);
        assert!(!page.contains("<script"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count(), 2, "word and label");
        assert!(page.contains("title=\"line 7, &quot;&gt;&lt;script&gt; 0.500\""), "{page}");
        assert!(page.contains("<ins>&#39;&amp;\u{fffd}</ins>"), "{page}");
    }

    #[test]
    fn errors_are_told_in_words_and_colours_by_type() {
        let page = page(&[
            shown("a", "B-X", Some("B-X")),
            shown("b", "I-X", Some("B-Y")),
            shown("c", "O", Some("O")),
            shown("d", "I-X", None),
        ]);
        assert!(page.contains("<span class=\"n\">7</span>"));
        assert!(page.contains("<span class=\"w k0\">a<small>B-X</small>"));
        assert!(page.contains(
            "<span class=\"w k1 x\" title=\"line 7\">b<small><del>I-X</del> <ins>B-Y</ins></small>"
        ));
        assert!(page.contains("<span class=\"w\">c<small></small>"));
        assert!(page.contains("<span class=\"w k0\">d<small>I-X</small>"), "the colour of its type");
    }

    /// A page with as many types as words takes no longer than one with a few.
    #[test]
    fn any_number_of_types() {
        let started = std::time::Instant::now();
        let labels: Vec<String> = (0..150_000).map(|i| format!("B-{i}")).collect();
        let mut page = Page::new("types");
        page.sentence(&labels.iter().map(|label| shown("w", label, None)).collect::<Vec<_>>());
        assert!(page.finish().contains("k9\">w<small>B-149999</small>"));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
