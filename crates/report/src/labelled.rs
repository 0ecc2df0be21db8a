//! The page of `predict --html`: a text with its labels, and those with errors first where the file has gold
//! labels.

use crate::evaluation::of_all;
use crate::html::{Page, Shown};
use crate::number::grouped;

/// What was found against the gold labels of a file, over all of its sentences.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Labels that were compared.
    pub labels: u64,
    /// Those that differ.
    pub errors: u64,
    /// Sentences with errors.
    pub sentences: u64,
}

/// A page that needs nothing but itself. `all` is how many sentences there are, and `gold` how they compare with the
/// labels of the file, if it has any; `sentences` are those to show.
#[must_use]
pub fn labelled_page(
    name: &str,
    model: &str,
    sentences: &[Vec<Shown>],
    all: u64,
    gold: Option<Counted>,
) -> String {
    let mut page = Page::new(&format!("{name} labelled"));
    page.paragraph(&format!(
        "Labelled by {model}. The probabilities of a word's labels appear when the pointer rests on it."
    ));
    let Some(Counted { labels, errors, sentences: with_errors }) = gold else {
        page.paragraph(&of_all(sentences.len(), usize::try_from(all).unwrap_or(usize::MAX)));
        for sentence in sentences {
            let words: Vec<Shown> = sentence.iter().map(|word| Shown { gold: None, ..*word }).collect();
            page.sentence(&words);
        }
        return page.finish();
    };
    let is_wrong = |word: &&Shown| word.gold.is_some_and(|gold| gold != word.label);
    let (wrong, right): (Vec<_>, Vec<_>) =
        sentences.iter().partition(|sentence| sentence.iter().any(|word| is_wrong(&word)));
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    page.paragraph(&format!(
        "{} of {} labels are those of the file.",
        grouped(labels.saturating_sub(errors)),
        grouped(labels)
    ));
    if (sentences.len() as u64) < all {
        page.paragraph(&format!(
            "{} of {} sentences are shown, those with errors first.",
            grouped(sentences.len() as u64),
            grouped(all)
        ));
    }
    page.heading("Sentences with errors");
    page.paragraph(&of_all(wrong.len(), size(with_errors)));
    if !wrong.is_empty() {
        page.legend();
    }
    wrong.iter().for_each(|sentence| page.sentence(sentence));
    page.heading("Sentences without errors");
    page.paragraph(&of_all(right.len(), size(all.saturating_sub(with_errors))));
    right.iter().for_each(|sentence| page.sentence(sentence));
    page.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    #[test]
    fn gold_labels_bring_errors_first_and_counts_are_of_all_sentences() {
        let probabilities = [("N".to_owned(), 0.75), ("V".to_owned(), 0.25)];
        let word =
            |word, label, gold| Shown { word, label, gold, line: Some(1), probabilities: &probabilities };
        let sentences = [vec![word("one", "N", Some("N"))], vec![word("two", "N", Some("V"))]];
        // Of nine sentences two are shown.
        let counted = Counted { labels: 30, errors: 4, sentences: 3 };
        let page = labelled_page("<in>", "m", &sentences, 9, Some(counted));
        assert!(page.find(">two<").unwrap() < page.find(">one<").unwrap());
        assert!(page.contains("26 of 30 labels are those of the file") && page.contains("<del>N</del>"));
        assert!(page.contains("2 of 9 sentences are shown") && page.contains("1 of 3 sentences."));
        assert!(page.contains("1 of 6 sentences."));
        assert!(page.contains("&lt;in&gt; labelled") && page.contains("N 0.750, V 0.250"));
        let sentences = [vec![word("one", "N", Some("O"))], vec![word("two", "V", Some("O"))]];
        let page = labelled_page("in", "m", &sentences, 7, None);
        assert!(page.find(">one<").unwrap() < page.find(">two<").unwrap() && !page.contains("<del>"));
        assert!(page.contains("2 of 7 sentences."));
    }
}
