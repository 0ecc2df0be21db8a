//! Feature sets that are known by name.
//!
//! Notation: `w[k]`, `l[k]`, `t[k]` are the word, the word in lower case and its brief shape at
//! offset k, `p[k]` the part of speech, `mention[k]` the word in lower case at offset k from another mention
//! of the word in its document (see `mentions.rs`), `mention-shape` the brief shape of that mention; `a|b` is a
//! joint attribute. Every set has label pairs.

mod chinese;

use super::{Boundary, Function, Part, Piece, Source, Template, crfpp};
pub use chinese::{categories, dictionary, varieties};

/// Where a format keeps the word and the part of speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Column of the word.
    pub word: u16,
    /// Column of the part of speech; [`NO_COLUMN`] if there is none.
    pub pos: u16,
}

/// Stands for a column that a file does not have.
pub const NO_COLUMN: u16 = u16::MAX;

/// The sets, with a line about each.
pub const SETS: &[(&str, &str)] = &[
    ("chunking", "words and parts of speech in a window of five, and their pairs"),
    ("pos", "words in a window of five, affixes, shapes, capitals, digits"),
    ("ner", "for names, the one to take: ner-001, longer affixes, other mentions"),
    ("ner-001", "words, affixes, shapes, parts of speech and their pairs, for names"),
    ("ner-003", "words, parts of speech, shapes in a window of five, for names"),
    ("segmentation", "characters in a window of five, for text without blanks"),
    ("ner-zh", "characters in a window of five, their kinds, for Chinese names"),
    ("pos-zh", "words in a window of five, their first and last characters, for Chinese"),
];

/// Whether a set reads text whose tokens are characters, so that names of lists are looked for in characters.
#[must_use]
pub fn reads_characters(name: &str) -> bool {
    matches!(name, "segmentation" | "ner-zh")
}

/// The templates of a set, without those of a column that there is none of; `None` if there is no such set.
#[must_use]
pub fn find(name: &str, roles: Roles) -> Option<Vec<Template>> {
    let mut set = match name {
        "chunking" => chunking(roles),
        "pos" => pos(roles),
        "ner" => ner(roles),
        "ner-001" => ner_001(roles),
        "ner-003" => ner_003(roles),
        "segmentation" => chinese::segmentation(roles),
        "ner-zh" => chinese::names(roles),
        "pos-zh" => chinese::pos(roles),
        _ => return None,
    };
    set.retain(|template| !template.reads(NO_COLUMN));
    Some(set)
}

/// CRF++'s chunking template: `w[-2..2]`, `w[-1]|w[0]`, `w[0]|w[1]`, `p[-2..2]`, pairs and triples of
/// neighbouring `p` in -2..2.
fn chunking(roles: Roles) -> Vec<Template> {
    let mut text = String::new();
    let mut number = 0;
    let mut line = |macros: &[(i16, u16)]| {
        let macros: Vec<String> = macros.iter().map(|(row, column)| format!("%x[{row},{column}]")).collect();
        text.push_str(&format!("U{number:02}:{}\n", macros.join("/")));
        number += 1;
    };
    let (w, p) = (roles.word, roles.pos);
    (-2..=2).for_each(|k| line(&[(k, w)]));
    (-1..=0).for_each(|k| line(&[(k, w), (k + 1, w)]));
    (-2..=2).for_each(|k| line(&[(k, p)]));
    (-2..=1).for_each(|k| line(&[(k, p), (k + 1, p)]));
    (-2..=0).for_each(|k| line(&[(k, p), (k + 1, p), (k + 2, p)]));
    // The text above is well formed, so there is nothing to lose.
    crfpp::parse("chunking", &text).map(|file| file.templates).unwrap_or_default()
}

/// Templates of plain sets, put together piece by piece.
struct Set {
    roles: Roles,
    templates: Vec<Template>,
}

impl Set {
    /// With a bias.
    fn new(roles: Roles) -> Set {
        Set { roles, templates: vec![template(roles, &[], &[])] }
    }

    fn word(&self, function: Function, offset: i16) -> Piece {
        Piece::new(Source::Column(self.roles.word, function), offset, Boundary::Plain)
    }

    fn pos(&self, offset: i16) -> Piece {
        Piece::new(Source::Column(self.roles.pos, Function::Same), offset, Boundary::Plain)
    }

    fn place() -> Piece {
        Piece::new(Source::Place, 0, Boundary::Plain)
    }

    fn add(&mut self, pieces: &[Piece]) {
        self.templates.push(template(self.roles, &[], pieces));
    }

    /// One attribute for each offset of a window of five.
    fn window(&mut self, piece: impl Fn(&Set, i16) -> Piece) {
        (-2..=2).for_each(|k| self.add(&[piece(self, k)]));
    }

    /// Neighbours in a window of five, `n` together.
    fn together(&mut self, n: i16, piece: impl Fn(&Set, i16) -> Piece) {
        for k in -2..=3 - n {
            let pieces: Vec<Piece> = (k..k + n).map(|k| piece(self, k)).collect();
            self.add(&pieces);
        }
    }

    /// The word with each of its neighbours.
    fn with_neighbours(&mut self, function: Function) {
        for k in [-1, 0] {
            self.add(&[self.word(function, k), self.word(function, k + 1)]);
        }
    }
}

/// After Ratnaparkhi 1996 and Collins 2002: `l[-2..2]`, `w[0]`, `l[-1]|l[0]`, `l[0]|l[1]`, prefixes
/// and suffixes of `l[0]` up to 4, suffix 3 of both neighbours, `t[0]`, `t[-1]|t[0]`, tests for a
/// digit, a hyphen, all upper case, an upper-case first letter (of its own at the start), and a bias.
fn pos(roles: Roles) -> Vec<Template> {
    let mut set = Set::new(roles);
    set.window(|s, k| s.word(Function::Lower, k));
    set.add(&[set.word(Function::Same, 0)]);
    set.with_neighbours(Function::Lower);
    (1..=4).for_each(|n| set.add(&[set.word(Function::LowerPrefix(n), 0)]));
    (1..=4).for_each(|n| set.add(&[set.word(Function::LowerSuffix(n), 0)]));
    set.add(&[set.word(Function::LowerSuffix(3), -1)]);
    set.add(&[set.word(Function::LowerSuffix(3), 1)]);
    set.add(&[set.word(Function::BriefShape, 0)]);
    set.add(&[set.word(Function::BriefShape, -1), set.word(Function::BriefShape, 0)]);
    for test in [Function::HasDigit, Function::HasHyphen, Function::AllUpper] {
        set.add(&[set.word(test, 0)]);
    }
    set.add(&[set.word(Function::FirstUpper, 0), Set::place()]);
    set.templates
}

/// The basic English set of the MIRA papers: `w[-2..2]`, `w[-1]|w[0]`, `w[0]|w[1]`, `p[-2..2]`, pairs
/// and triples of `p`, `s[-2..2]` and pairs of `s` in -2..2.
fn ner_003(roles: Roles) -> Vec<Template> {
    let mut set = Set::new(roles);
    set.window(|s, k| s.word(Function::Same, k));
    set.with_neighbours(Function::Same);
    (1..=3).for_each(|n| set.together(n, Set::pos));
    (1..=2).for_each(|n| set.together(n, |s, k| s.word(Function::Shape, k)));
    set.templates
}

/// Words, affixes, orthography, parts of speech and what they make together: `w[-2..2]`, `l[-2..2]`,
/// `w[-1]|w[0]`, `w[0]|w[1]`, affixes up to 4 of the word and its neighbours, one to three `p`,
/// `s[-2..2]`, one to two `t`, the middle three `t`, four mixed pairs, five tests.
fn ner_001(roles: Roles) -> Vec<Template> {
    names(roles).templates
}

/// What we recommend for names: `ner-001`, affixes of 5, suffixes with the part of speech and the shape, what
/// the start of a sentence, where every word has a capital, makes of shapes and words, and what stands beside
/// the first two other mentions of the word in the document, whose attributes are the same: `mention[-1]`,
/// `mention[1]`, `mention-shape`, and of the first one both words with `t[0]`. Chosen on the development data
/// of CoNLL-2003, what mentions are looked at with three seeds (with clusters two), the rest and mentions of the
/// neighbours with one. What gave little or nothing there: words three and four away, the phrase column, pairs of context words, label pairs that see shapes and tags; of mentions, the nearest or
/// last instead of the first, one that is not at an end of its sentence or beside capitals, shapes and further
/// words beside it, its words with the part of speech or the token's own neighbours, mentions of the
/// neighbours, whether the document has the word in lower case.
fn ner(roles: Roles) -> Vec<Template> {
    let mut set = names(roles);
    set.add(&[set.word(Function::Prefix(5), 0)]);
    set.add(&[set.word(Function::Suffix(5), 0)]);
    set.add(&[set.word(Function::Suffix(2), 0), set.pos(0)]);
    set.add(&[set.word(Function::Suffix(3), 0), set.pos(0)]);
    let (t, l) = (Function::BriefShape, Function::Lower);
    set.add(&[set.word(Function::Suffix(3), 0), set.word(t, 0)]);
    set.add(&[Set::place(), set.word(t, 0)]);
    set.add(&[Set::place(), set.word(t, 0), set.word(t, 1)]);
    set.add(&[Set::place(), set.word(l, 0)]);
    let mention = |which, step| Piece::new(Source::Mention(roles.word, which, step), 0, Boundary::Nothing);
    for which in [0, 1] {
        (-1..=1).for_each(|step| set.add(&[mention(which, step)]));
    }
    set.add(&[mention(0, -1), set.word(t, 0)]);
    set.add(&[mention(0, 1), set.word(t, 0)]);
    set.templates
}

/// The pieces that both have.
fn names(roles: Roles) -> Set {
    let mut set = Set::new(roles);
    set.window(|s, k| s.word(Function::Same, k));
    set.window(|s, k| s.word(Function::Lower, k));
    set.with_neighbours(Function::Same);
    for k in -1..=1 {
        (1..=4).for_each(|n| set.add(&[set.word(Function::Prefix(n), k)]));
        (1..=4).for_each(|n| set.add(&[set.word(Function::Suffix(n), k)]));
    }
    (1..=3).for_each(|n| set.together(n, Set::pos));
    set.window(|s, k| s.word(Function::Shape, k));
    let (t, l) = (Function::BriefShape, Function::Lower);
    (1..=2).for_each(|n| set.together(n, |s, k| s.word(t, k)));
    set.add(&[set.word(t, -1), set.word(t, 0), set.word(t, 1)]);
    set.add(&[set.word(l, 0), set.pos(0)]);
    set.add(&[set.word(t, 0), set.pos(0)]);
    set.add(&[set.word(l, -1), set.word(t, 0)]);
    set.add(&[set.word(l, 1), set.word(t, 0)]);
    for test in [Function::HasDigit, Function::HasHyphen, Function::FirstUpper, Function::AllUpper] {
        set.add(&[set.word(test, 0)]);
    }
    set.add(&[Piece::new(Source::First, 0, Boundary::Nothing)]);
    set
}

/// What lists from outside add to any set: the paths of words cut at 4, 10, 16 and 20 steps, one and two
/// together in -2..2, if there are `clusters`; where the word and its neighbours stand in the names of
/// each of `lists`, and the word in lower case, both in full width if `wide`. Where the templates `chosen` look beside other mentions, the
/// paths there, cut at 6, 10 and 20 steps.
#[must_use]
pub fn extended(
    roles: Roles,
    clusters: bool,
    lists: &[String],
    wide: bool,
    chosen: &[Template],
) -> Vec<Template> {
    let mut templates = vec![];
    let mut add = |pieces: &[Piece]| templates.push(template(roles, lists, pieces));
    for most in [4, 10, 16, 20].into_iter().filter(|_| clusters) {
        let at = |offset| Piece::new(Source::Cluster(roles.word, most), offset, Boundary::Plain);
        (-2..=2).for_each(|k| add(&[at(k)]));
        (-2..=1).for_each(|k| add(&[at(k), at(k + 1)]));
    }
    if clusters && chosen.iter().any(Template::reads_mentions) {
        for (which, step) in [(0, -1), (0, 1), (1, -1), (1, 1)] {
            for most in [6, 10, 20] {
                let source = Source::MentionPath(roles.word, which, step, most);
                add(&[Piece::new(source, 0, Boundary::Nothing)]);
            }
        }
    }
    for (list, _) in (0u8..).zip(lists) {
        let at = |source, offset| Piece { wide, ..Piece::new(source, offset, Boundary::Nothing) };
        (-1..=1).for_each(|k| add(&[at(Source::Listed(roles.word, list), k)]));
        add(&[at(Source::ListedLower(roles.word, list), 0)]);
    }
    templates
}

/// A template named after its pieces: `l[-1]|l[0]=the|cat`.
fn template(roles: Roles, lists: &[String], pieces: &[Piece]) -> Template {
    let name_of = |list: u8| lists.get(usize::from(list)).map_or("list", String::as_str);
    let name = |p: &Piece| match p.source {
        Source::Column(column, Function::Same) if column == roles.pos => format!("p[{}]", p.offset),
        Source::Column(_, function) => format!("{}[{}]", function.name(), p.offset),
        Source::Place => "place".to_owned(),
        Source::First => "first".to_owned(),
        Source::Twin(_, distance) => format!("twin[{},{}]", p.offset, p.offset + distance),
        Source::MentionPath(.., step, most) => format!("mention-path{most}[{step}]"),
        // Which one it is has no say: the attributes of both are the same.
        Source::Mention(.., 0) => "mention-shape".to_owned(),
        Source::Mention(.., step) => format!("mention[{step}]"),
        Source::Cluster(_, most) => format!("path{most}[{}]", p.offset),
        // A list may be called like anything else, so its name stands behind what only lists have.
        Source::Listed(_, list) => format!("list:{}[{}]", name_of(list), p.offset),
        Source::ListedLower(_, list) => format!("list-lower:{}[{}]", name_of(list), p.offset),
        Source::WordStarting(..) => format!("starts[{}]", p.offset),
        Source::WordEnding(..) => format!("ends[{}]", p.offset),
        Source::LongestStarting(_) => format!("longest-start[{}]", p.offset),
        Source::LongestEnding(_) => format!("longest-end[{}]", p.offset),
        Source::Category(_, false) => format!("forward[{}]", p.offset),
        Source::Category(_, true) => format!("backward[{}]", p.offset),
        Source::Alone(_, false) => format!("forward-word[{}]", p.offset),
        Source::Alone(_, true) => format!("backward-word[{}]", p.offset),
        Source::Variety(_, length, before) => {
            let side = if before { "before" } else { "behind" };
            let end = if length < 0 { "ends" } else { "starts" };
            format!("{side}-{end}{}[{}]", length.unsigned_abs(), p.offset)
        }
        Source::Binding(_) => format!("binding[{}]", p.offset),
        // No set has expressions, and given attributes have their own names.
        Source::Test(..) | Source::Match(..) | Source::MatchLower(..) | Source::Given => "given".to_owned(),
    };
    let head: Vec<String> = pieces.iter().map(name).collect();
    let mut parts = vec![Part::Text(if pieces.is_empty() { "b".to_owned() } else { head.join("|") + "=" })];
    for i in 0..pieces.len() {
        if i > 0 {
            parts.push(Part::Text("|".to_owned()));
        }
        parts.push(Part::Piece(i));
    }
    Template { name: parts, pieces: pieces.to_vec(), value: None, edge: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_have_the_templates_they_promise() {
        let roles = Roles { word: 0, pos: 1 };
        let chunking = find("chunking", roles).unwrap();
        assert_eq!(chunking.len(), 5 + 2 + 5 + 4 + 3);
        assert_eq!(chunking[5].render(|i| ["a", "b"][i].to_owned()), "U05:a/b");
        let pos = find("pos", roles).unwrap();
        assert_eq!(pos.len(), 1 + 5 + 1 + 2 + 8 + 2 + 2 + 3 + 1);
        assert_eq!(pos[0].render(|_| String::new()), "b");
        assert_eq!(pos[7].render(|i| ["the", "cat"][i].to_owned()), "l[-1]|l[0]=the|cat");
        let ner = find("ner-001", roles).unwrap();
        assert_eq!(ner.len(), 1 + 10 + 2 + 24 + 12 + 5 + 9 + 1 + 4 + 5);
        assert_eq!(find("ner", roles).unwrap().len(), ner.len() + 8 + 8);
        assert_eq!(find("ner-003", roles).unwrap().len(), 1 + 5 + 2 + 12 + 9);
        let segmentation = find("segmentation", roles).unwrap();
        assert_eq!(segmentation.len(), 1 + 2 * (5 + 4 + 4 + 3));
        assert_eq!(segmentation[10].render(|_| "1".to_owned()), "twin[-2,-1]=1");
        let words = dictionary(roles);
        assert_eq!(words.len(), 5 + 5 + 2 * 25 + 9);
        assert_eq!(words[10].render(|i| ["a", "bc"][i].to_owned()), "ends[-1]|starts[0]=a|bc");
        let names = find("ner-zh", roles).unwrap();
        assert_eq!(names.len(), 1 + 5 + 4 + 1 + 3);
        assert_eq!(names[10].render(|i| ["a", "b"][i].to_owned()), "c[-1]|c[1]=a|b");
        assert_eq!(names[12].render(|_| "D".to_owned()), "kind[0]=D");
        let tags = find("pos-zh", roles).unwrap();
        assert_eq!(tags.len(), 1 + 5 + 4 + 3 + 3);
        assert_eq!(tags[10].render(|_| "a".to_owned()), "Pre1[0]=a");
        assert!(find("ner-9", roles).is_none());
        // Paths beside other mentions are for those who look there.
        assert_eq!(extended(roles, true, &[], false, &ner).len(), 4 * (5 + 4));
        assert_eq!(
            extended(roles, true, &[], false, &find("ner", roles).unwrap()).len(),
            4 * (5 + 4) + 4 * 3
        );
        assert_eq!(extended(roles, false, &["a".to_owned()], false, &find("ner", roles).unwrap()).len(), 4);
        assert!(SETS.iter().all(|(name, _)| find(name, roles).is_some()));
        // Without parts of speech.
        let words = Roles { word: 0, pos: NO_COLUMN };
        assert_eq!(find("chunking", words).unwrap().len(), 5 + 2);
        assert_eq!(find("ner-001", words).unwrap().len(), ner.len() - 12 - 2);
        assert_eq!(find("pos", words), find("pos", roles));
    }

    #[test]
    fn lists_of_any_name_share_no_attribute_with_others() {
        let roles = Roles { word: 0, pos: 1 };
        let mut all: Vec<Template> =
            ["pos", "ner"].iter().filter_map(|set| find(set, roles)).flatten().collect();
        let own: std::collections::HashSet<String> = all.iter().map(Template::text).collect();
        let lists = ["w", "p", "a", "a-lower", "lower:a", "list:a", "mention", "first", "path4"];
        let lists = lists.map(str::to_owned);
        let added = extended(roles, true, &lists, false, &[]);
        all.extend(added.clone());
        let different: std::collections::HashSet<String> = all.iter().map(Template::text).collect();
        assert_eq!(different.len(), own.len() + added.len());
    }
}
