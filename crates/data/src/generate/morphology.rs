//! Forms of words: inflection of the stems in the lexicon, and new words coined from syllables,
//! stems and affixes.
//!
//! A coined word is a function of a rank, and ranks are drawn so that each doubling of the rank is
//! equally likely (Zipf's law in octaves, integers only). Low ranks come back often and high ranks
//! hardly ever, so the number of different words grows with the corpus like a power of its size
//! (Heaps' law), while the word of a rank is the same in every corpus.

use seqoia_core::Random;

use super::lexicon::{IRREGULAR, PLURALS};

/// How the words of a class inflect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Two forms: one, many.
    Noun,
    /// Seven forms, in the order of [`Kind::tags`]; the last is the past of a plural subject, which
    /// only "be" tells from the other.
    Verb,
    /// Four forms: slow, slower, slowest, slowly.
    Grade,
    /// One form, with this tag.
    Plain(&'static str),
}

impl Kind {
    /// The tag of form `form`.
    pub(super) fn tag(self, form: usize) -> &'static str {
        let tags: &[&'static str] = match self {
            Kind::Noun => &["NN", "NNS"],
            Kind::Verb => &["VB", "VBZ", "VBP", "VBD", "VBN", "VBG", "VBD"],
            Kind::Grade => &["JJ", "JJR", "JJS", "RB"],
            Kind::Plain(tag) => return tag,
        };
        tags[form % tags.len()]
    }

    /// How many forms there are.
    pub(super) fn forms(self) -> usize {
        match self {
            Kind::Noun => 2,
            Kind::Verb => 7,
            Kind::Grade => 4,
            Kind::Plain(_) => 1,
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
            (Kind::Grade, 3) => adverb(stem),
            _ => stem.to_string(),
        }
    }
}

fn conjugate(stem: &str, form: usize) -> String {
    if stem == "be" {
        return ["be", "is", "are", "was", "been", "being", "were"][form % 7].to_string();
    }
    let irregular = IRREGULAR.iter().find(|(base, _, _)| *base == stem);
    match (form, irregular) {
        (1, _) if stem == "have" => "has".to_string(),
        (1, _) => with_s(stem),
        (3 | 6, Some((_, past, _))) => (*past).to_string(),
        (4, Some((_, _, participle))) => (*participle).to_string(),
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
        None if ["s", "x", "ch", "sh", "o"].iter().any(|end| stem.ends_with(end)) && !stem.ends_with("io") => {
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
        && !rest.ends_with('e')
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

/// Quietly, heavily.
fn adverb(adjective: &str) -> String {
    match y_for_i(adjective) {
        Some(rest) => format!("{rest}ily"),
        None => format!("{adjective}ly"),
    }
}

/// Ways to make a word that is in no list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coin {
    /// Who does something: "cheesemaker", "co-owner".
    Person,
    /// What there is: "wool-pump", "quietness", "torvel".
    Thing,
    /// A material: "balorite".
    Mass,
    /// What one does: "rebuild", "morvelize".
    Deed,
    /// How something is: "steel-based", "unlucky", "veloric", "12-point".
    Quality,
    /// How something is done: "calorically".
    Manner,
    /// Given name of a person.
    Given,
    /// Family name of a person.
    Surname,
    /// Name of a town.
    Town,
    /// Name of a firm.
    Firm,
    /// Three or four capitals.
    Acronym,
    /// Name of a product.
    Product,
    /// A whole number.
    Number,
    /// A number with a decimal point.
    Decimal,
    /// A year.
    Year,
    /// The result of a match.
    Score,
    /// 1 to 31.
    DayOfMonth,
}

/// No two of these make a word one would not print.
#[rustfmt::skip]
const SYLLABLES: [&str; 42] = [
    "bal", "bren", "cal", "cor", "dal", "del", "dor", "el", "fal", "fen", "gal", "gar", "hal", "har", "hol", "kal", "kel",
    "lan", "lor", "mar", "mel", "mor", "nor", "ol", "pel", "quil", "ral", "ren", "sal", "sel", "sor", "tal", "tar", "tel",
    "tor", "val", "vel", "ven", "vor", "wen", "yar", "zel",
];
const MATERIALS: [&str; 16] = [
    "steel", "wool", "water", "snow", "wheat", "paper", "milk", "wind", "sand", "copper", "cotton", "river",
    "salt", "stone", "glass", "fruit",
];
const TOOLS: [&str; 12] =
    ["pump", "mill", "press", "cart", "yard", "gate", "boat", "line", "shed", "test", "market", "rule"];
const ROOTS: [&str; 12] = [
    "kind", "calm", "bold", "proud", "sweet", "dull", "plain", "smooth", "mild", "fresh", "shy", "keen",
];
const WORKS: [&str; 12] =
    ["build", "open", "paint", "test", "count", "read", "load", "plant", "pack", "order", "print", "work"];

impl Coin {
    /// A word, in its uninflected form.
    pub(super) fn make(self, random: &mut Random) -> String {
        let rank = rank(random, 16);
        match self {
            Coin::Person => match random.below(3) {
                0 => format!("{}{}", pick(&MATERIALS, rank), pick(&["maker", "worker", "dealer"], rank / 16)),
                1 => format!("{}{}er", pick(&["", "re", "over", "co-"], rank / 12), pick(&WORKS, rank)),
                _ => spell(rank, &["ist", "er", "ian"]),
            },
            Coin::Thing => match random.below(5) {
                0 => format!("{}{}ness", pick(&["", "un"], rank / 12), pick(&ROOTS, rank)),
                1 => format!("{}{}", pick(&MATERIALS, rank), pick(&TOOLS, rank / 16)),
                2 => format!("{}-{}", pick(&MATERIALS, rank), pick(&TOOLS, rank / 16)),
                3 => format!("{}{}", pick(&["sub-", "micro", "over", "re"], rank / 12), pick(&TOOLS, rank)),
                _ => spell(rank, &["", "et", "ment", "ing", "ion", "er"]),
            },
            Coin::Mass => spell(rank, &["ite", "ium", "ing", "ine"]),
            Coin::Deed => match random.below(2) {
                0 => format!("{}{}", pick(&["re", "out", "pre", "over"], rank / 12), pick(&WORKS, rank)),
                _ => spell(rank, &["ize", "ate", "ish", ""]),
            },
            Coin::Quality => match random.below(4) {
                0 => format!("{}-{}", pick(&MATERIALS, rank), pick(&["based", "rich", "like", "free"], rank / 16)),
                1 => format!("{}-{}", rank % 60 + 2, pick(&["year-old", "point", "mile", "ton", "hour"], rank / 60)),
                2 => format!("{}{}", pick(&["un", "", "over", "half-"], rank / 12), pick(&ROOTS, rank)),
                _ => spell(rank, &["ic", "al", "ous", "ed", "ing", "ly"]),
            },
            Coin::Manner => format!("{}ly", spell(rank, &["ical", "ous", "ed", "al"])),
            Coin::Given => capital(&spell(rank, &["a", "o", "in", "ia", "us"])),
            Coin::Surname => capital(&spell(rank, &["", "son", "berg", "ez", "ton", "ova", "ini", "ford", "sen", ""])),
            Coin::Town => capital(&spell(rank, &["", "ton", "burg", "ville", "ford", "berg", "by", "mouth", "", "o"])),
            Coin::Firm => capital(&spell(rank, &["", "tech", "ex", "o", "son", "ia", "soft", "", "ton"])),
            Coin::Product => match random.below(2) {
                0 => format!("{}{}", pick(&["X-", "R", "MX-", "T"], rank), rank % 90 + 1),
                _ => capital(&spell(rank, &["a", "ix", "", "o"])),
            },
            Coin::Acronym => {
                let letters: Vec<char> = "BCDFLMNPRV".chars().collect();
                (0..3 + u32::from(rank > 999)).map(|i| letters[rank * 37 / 10usize.pow(i) % 10]).collect()
            }
            Coin::Number => {
                let n = self::rank(random, 14) * if random.below(3) == 0 { 10 } else { 1 };
                if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
            }
            Coin::Decimal => format!("{}.{}", self::rank(random, 7) - 1, random.below(100) / (1 + random.below(10))),
            Coin::Year => (2031 - self::rank(random, 6)).to_string(),
            Coin::Score => format!("{}-{}", random.below(6), random.below(4)),
            Coin::DayOfMonth => (random.below(31) + 1).to_string(),
        }
    }
}

/// A rank from 1 to 2^octaves - 1: the octave first, then evenly within it.
fn rank(random: &mut Random, octaves: usize) -> usize {
    let octave = 1 << random.below(octaves);
    octave + random.below(octave)
}

fn pick<'a>(items: &[&'a str], n: usize) -> &'a str {
    items[n % items.len()]
}

/// Two or three syllables and an ending; neighbouring ranks look nothing alike.
fn spell(rank: usize, endings: &[&str]) -> String {
    let mixed = rank * 7919 + 1000;
    let (first, rest) = (pick(&SYLLABLES, mixed), mixed / SYLLABLES.len());
    let (second, rest) = if rank % 5 == 0 { ("", rest) } else { (pick(&SYLLABLES, rest), rest / SYLLABLES.len()) };
    let third = if rank > 2000 { pick(&SYLLABLES, rest / 7) } else { "" };
    format!("{first}{second}{third}{}", pick(endings, rest))
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
