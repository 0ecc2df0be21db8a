//! The page of `predict --html`: a text with its labels, and those with errors first where the file has gold
//! labels.

use crate::evaluation::of_all;
use crate::html::{Page, Shown};
use crate::number::grouped;

/// A page that needs nothing but itself. `all` is how many sentences there are; `sentences` are the first.
///
/// Labels of the file count as gold only if they differ somewhere: a column of `O` is a place for labels.
#[must_use]
pub fn labelled_page(name: &str, model: &str, sentences: &[Vec<Shown>], all: u64) -> String {
    let mut page = Page::new(&format!("{name} labelled"));
    page.paragraph(&format!(
        "Labelled by {model}. The probabilities of a word's labels appear when the pointer rests on it."
    ));
    let mut golds = sentences.iter().flatten().filter_map(|word| word.gold);
    let first = golds.next();
    if !golds.any(|gold| Some(gold) != first) {
        page.paragraph(&of_all(sentences.len(), usize::try_from(all).unwrap_or(usize::MAX)));
        for sentence in sentences {
            let words: Vec<Shown> = sentence.iter().map(|word| Shown { gold: None, ..*word }).collect();
            page.sentence(&words);
        }
        return page.finish();
    }
    let is_wrong = |word: &&Shown| word.gold.is_some_and(|gold| gold != word.label);
    let (wrong, right): (Vec<_>, Vec<_>) =
        sentences.iter().partition(|sentence| sentence.iter().any(|word| is_wrong(&word)));
    let words = sentences.iter().flatten().filter(|word| word.gold.is_some()).count();
    let errors = sentences.iter().flatten().filter(is_wrong).count();
    let of = if sentences.len() as u64 == all { "" } else { " of the sentences shown" };
    page.paragraph(&format!(
        "{} of {} labels{of} are those of the file.",
        grouped((words - errors) as u64),
        grouped(words as u64)
    ));
    page.heading("Sentences with errors");
    page.paragraph(&of_all(wrong.len(), wrong.len()));
    if !wrong.is_empty() {
        page.legend();
    }
    wrong.iter().for_each(|sentence| page.sentence(sentence));
    page.heading("Sentences without errors");
    page.paragraph(&of_all(
        right.len(),
        usize::try_from(all).unwrap_or(usize::MAX).saturating_sub(wrong.len()),
    ));
    right.iter().for_each(|sentence| page.sentence(sentence));
    page.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    #[test]
    fn gold_labels_bring_errors_first_and_a_column_of_one_value_does_not() {
        let probabilities = [("N".to_owned(), 0.75), ("V".to_owned(), 0.25)];
        let word =
            |word, label, gold| Shown { word, label, gold, line: Some(1), probabilities: &probabilities };
        let sentences = [vec![word("one", "N", Some("N"))], vec![word("two", "N", Some("V"))]];
        let page = labelled_page("<in>", "m", &sentences, 2);
        assert!(page.find(">two<").unwrap() < page.find(">one<").unwrap());
        assert!(page.contains("1 of 2 labels are those of the file") && page.contains("<del>N</del>"));
        assert!(page.contains("&lt;in&gt; labelled") && page.contains("N 0.750, V 0.250"));
        let sentences = [vec![word("one", "N", Some("O"))], vec![word("two", "V", Some("O"))]];
        let page = labelled_page("in", "m", &sentences, 7);
        assert!(page.find(">one<").unwrap() < page.find(">two<").unwrap() && !page.contains("<del>"));
        assert!(page.contains("2 of 7 sentences."));
    }
}
