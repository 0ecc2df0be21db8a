//! Forms of words: how the stems of the lexicon inflect, by the rules of English spelling and two
//! short lists of exceptions.

use super::lexicon::{IRREGULAR, PLURALS};

/// How the words of a class inflect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Two forms: one, many.
    Noun,
    /// Seven forms, in the order of [`Kind::tags`]; the last is the past of a plural subject, which
    /// only "be" tells from the other.
    Verb,
    /// Three forms: slow, slower, slowest.
    Grade,
    /// One form, with this tag.
    Plain(&'static [&'static str; 1]),
}

impl Kind {
    /// The tags of the forms.
    pub(super) fn tags(self) -> &'static [&'static str] {
        match self {
            Kind::Noun => &["NN", "NNS"],
            Kind::Verb => &["VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "VBD"],
            Kind::Grade => &["JJ", "JJR", "JJS"],
            Kind::Plain(tags) => tags,
        }
    }

    /// Form `form` of a stem.
    pub(super) fn inflect(self, stem: &str, form: usize) -> String {
        match (self, form) {
            (Kind::Noun, 1) => match PLURALS.iter().find(|(one, _)| *one == stem) {
                Some((_, many)) => (*many).to_string(),
                None => with_s(stem),
            },
            (Kind::Verb, _) => conjugate(stem, form),
            (Kind::Grade, 1) => with_vowel(stem, "er"),
            (Kind::Grade, 2) => with_vowel(stem, "est"),
            _ => stem.to_string(),
        }
    }
}

fn conjugate(stem: &str, form: usize) -> String {
    if stem == "be" {
        return ["be", "is", "are", "was", "been", "being", "were"][form % 7].to_string();
    }
    let irregular =
        IRREGULAR.split(' ').find_map(|verb| verb.strip_prefix(stem)?.strip_prefix('/')?.split_once('/'));
    match (form, irregular) {
        (1, _) if stem == "have" => "has".to_string(),
        (1, _) => with_s(stem),
        (3 | 6, Some((past, _))) => past.to_string(),
        (4, Some((_, participle))) => participle.to_string(),
        (3 | 4 | 6, None) => with_vowel(stem, "ed"),
        (5, _) if stem == "begin" => "beginning".to_string(),
        (5, _) => with_vowel(stem, "ing"),
        _ => stem.to_string(),
    }
}

fn is_vowel(c: char) -> bool {
    "aeiou".contains(c)
}

/// The stem without its y, if the y stands for an i ("city", not "day").
fn y_for_i(stem: &str) -> Option<&str> {
    stem.strip_suffix('y').filter(|rest| !rest.ends_with(is_vowel))
}

/// The ending of the plural and of the third person: cities, matches, goes, plans.
fn with_s(stem: &str) -> String {
    match y_for_i(stem) {
        Some(rest) => format!("{rest}ies"),
        None if ["s", "x", "ch", "sh", "o"].iter().any(|end| stem.ends_with(end))
            && !stem.ends_with("io") =>
        {
            format!("{stem}es")
        }
        None => format!("{stem}s"),
    }
}

/// An ending with a vowel: planned, raised, studied, building, bigger.
fn with_vowel(stem: &str, ending: &str) -> String {
    if ending != "ing"
        && let Some(rest) = y_for_i(stem)
    {
        return format!("{rest}i{ending}");
    }
    if let Some(rest) = stem.strip_suffix('e')
        && (ending != "ing" || !rest.ends_with('e'))
    {
        return format!("{rest}{ending}");
    }
    let mut end = stem.chars().rev();
    let last = end.next().unwrap_or('x');
    let short = !is_vowel(last)
        && !"wxy".contains(last)
        && end.next().is_some_and(is_vowel)
        && stem.chars().filter(|&c| is_vowel(c)).count() == 1;
    if short { format!("{stem}{last}{ending}") } else { format!("{stem}{ending}") }
}

/// Whether "an" goes before the word.
pub(super) fn takes_an(word: &str) -> bool {
    word.to_lowercase().starts_with(is_vowel)
        && !["eur", "un", "us"].iter().any(|hard| word.starts_with(hard))
        || word.starts_with("hour")
        || word.starts_with('8')
}

/// The word with a capital.
pub(super) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
