//! New words, coined from syllables, stems and affixes, and figures.
//!
//! A coined word is a function of a rank, and ranks are drawn so that each doubling of the rank is
//! equally likely (Zipf's law in octaves, integers only). Low ranks come back often and high ranks
//! hardly ever, so the number of different words grows with the corpus like a power of its size
//! (Heaps' law), while the word of a rank is the same in every corpus.

use seqoia_core::Random;

use super::morphology::capital;

/// Parts of a word, one of each list.
pub(super) type Pattern = &'static [&'static [&'static str]];

/// How to make a word that is in no list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coin {
    /// By one of these patterns.
    Stem(&'static [Pattern]),
    /// The same, with a capital.
    Name(&'static [Pattern]),
    /// By this function.
    Figure(fn(&mut Random) -> String),
}

/// Ranks go up to 2^18.
const OCTAVES: usize = 18;

impl Coin {
    /// A word, in its uninflected form.
    pub(super) fn make(self, random: &mut Random) -> String {
        match self {
            Coin::Stem(patterns) => compose(patterns, random),
            Coin::Name(patterns) => capital(&compose(patterns, random)),
            Coin::Figure(make) => make(random),
        }
    }
}

fn compose(patterns: &[Pattern], random: &mut Random) -> String {
    let pattern = patterns.get(random.below(patterns.len())).copied().unwrap_or_default();
    // Times a prime: neighbouring ranks look nothing alike.
    let mut rest = rank(random, OCTAVES) * 7919;
    let words = pattern.iter().map(|parts| {
        let part = parts[rest % parts.len()];
        rest /= parts.len();
        part
    });
    words.collect()
}

/// A number from 1 to 2^octaves - 1: the octave first, then evenly within it.
fn rank(random: &mut Random, octaves: usize) -> usize {
    let octave = 1 << random.below(octaves);
    octave + random.below(octave)
}

/// No two of these make a word one would not print.
#[rustfmt::skip]
const SYLLABLE: &[&str] = &[
    "bal", "bren", "cal", "cor", "dal", "del", "dor", "el", "fal", "fen", "gal", "gar", "hal", "har", "hol",
    "kal", "kel", "lin", "lor", "mar", "mel", "mor", "nor", "ol", "pel", "quil", "ral", "ren", "sal", "sel",
    "sor", "tal", "tam", "tel", "tor", "val", "vel", "ven", "vor", "wen", "yar",
];
#[rustfmt::skip]
const MATERIAL: &[&str] = &[
    "steel", "wool", "water", "snow", "wheat", "paper", "milk", "wind", "sand", "copper", "cotton", "river",
    "salt", "stone", "glass", "fruit",
];
#[rustfmt::skip]
const TOOL: &[&str] = &[
    "pump", "mill", "press", "cart", "yard", "ramp", "boat", "line", "shed", "test", "market", "rule",
];
#[rustfmt::skip]
const ROOT: &[&str] = &[
    "kind", "calm", "bold", "proud", "sweet", "frank", "plain", "smooth", "mild", "fresh", "keen",
];
#[rustfmt::skip]
const WORK: &[&str] = &[
    "paint", "open", "sort", "test", "count", "stock", "load", "plant", "pack", "order", "print",
];
const LETTER: &[&str] = &["B", "C", "D", "F", "L", "M", "N", "P", "R", "V"];
const DIGIT: &[&str] = &["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// "woolmaker", "co-printer", "velorist".
pub(super) const PERSON: &[Pattern] = &[
    &[MATERIAL, &["maker", "worker", "dealer"]],
    &[&["", "re", "over", "co-"], WORK, &["er"]],
    &[SYLLABLE, SYLLABLE, &["ist", "er", "ian"]],
];
/// "wool-pump", "sandyard", "calmness", "torvelment".
pub(super) const THING: &[Pattern] = &[
    &[MATERIAL, &["", "-"], TOOL],
    &[&["sub-", "micro", "over", "re"], TOOL],
    &[&["", "un"], ROOT, &["ness"]],
    &[SYLLABLE, SYLLABLE, &["", "et", "ment", "ing", "ion", "er"]],
];
/// "balcorite".
pub(super) const MASS: &[Pattern] = &[&[SYLLABLE, SYLLABLE, &["ite", "ium", "ing", "ine"]]];
/// "repaint", "morvelize".
pub(super) const DEED: &[Pattern] =
    &[&[&["re", "out", "pre", "over"], WORK], &[SYLLABLE, SYLLABLE, &["ize", "ate", "ish", ""]]];
/// "steel-based", "12-ton", "unkind", "veloric".
pub(super) const QUALITY: &[Pattern] = &[
    &[MATERIAL, &["-based", "-rich", "-like", "-free"]],
    &[DIGIT, DIGIT, &["-year-old", "-point", "-mile", "-ton", "-hour"]],
    &[&["un", "", "over", "half-"], ROOT],
    &[SYLLABLE, SYLLABLE, &["ic", "al", "ous", "ed", "ing", "ly"]],
];
/// "boldly", "velorically".
pub(super) const MANNER: &[Pattern] =
    &[&[&["", "un", "over"], ROOT, &["ly"]], &[SYLLABLE, SYLLABLE, &["ically", "ously", "edly"]]];
/// "Kelia".
pub(super) const GIVEN: &[Pattern] = &[&[SYLLABLE, &["a", "o", "in", "ia", "is"]]];
/// "Torson", "Valdorberg"; endings and bare stems are shared with towns and firms.
pub(super) const SURNAME: &[Pattern] = &[
    &[SYLLABLE, &["son", "berg", "ton", "o", "ini", "ford"]],
    &[SYLLABLE, SYLLABLE, &["", "son", "berg", "ez", "ton", "ova", "ini", "sen"]],
    &[SYLLABLE, SYLLABLE, SYLLABLE, &["", "son", "ova", "ford"]],
];
/// "Norton", "Calvelburg".
pub(super) const TOWN: &[Pattern] = &[
    &[SYLLABLE, &["ton", "burg", "ford", "by", "mouth", "o"]],
    &[SYLLABLE, SYLLABLE, &["", "ton", "burg", "ville", "ford", "berg", "by", "mouth"]],
    &[SYLLABLE, SYLLABLE, SYLLABLE, &["", "ton", "by", "o"]],
];
/// "Halex", "Vencorsoft".
pub(super) const FIRM: &[Pattern] = &[
    &[SYLLABLE, &["tech", "ex", "o", "son", "ton"]],
    &[SYLLABLE, SYLLABLE, &["", "tech", "ex", "o", "ia", "soft", "ton", "son"]],
    &[SYLLABLE, SYLLABLE, SYLLABLE, &["", "o", "ia", "ton"]],
];
/// "MRB".
pub(super) const ACRONYM: &[Pattern] = &[&[LETTER, LETTER, LETTER]];
/// "X-31", "Volix".
pub(super) const PRODUCT: &[Pattern] =
    &[&[&["X-", "R", "MX-", "T"], DIGIT, &["", "0", "1", "5"]], &[SYLLABLE, SYLLABLE, &["a", "ix", "", "o"]]];

/// 7; 4,250.
pub(super) fn number(random: &mut Random) -> String {
    let n = rank(random, 14) * if random.below(3) == 0 { 10 } else { 1 };
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}

/// 3.25.
pub(super) fn decimal(random: &mut Random) -> String {
    format!("{}.{}", rank(random, 7) - 1, random.below(100) / (1 + random.below(10)))
}

pub(super) fn year(random: &mut Random) -> String {
    (2025 - rank(random, 6)).to_string()
}

pub(super) fn age(random: &mut Random) -> String {
    (14 + random.below(70)).to_string()
}

/// Of a month.
pub(super) fn day(random: &mut Random) -> String {
    (1 + random.below(31)).to_string()
}

/// 3-1: of a match, for the winner.
pub(super) fn score(random: &mut Random) -> String {
    let lost = random.below(4);
    format!("{}-{lost}", lost + 1 + random.below(3))
}
