//! Feature sets that are known by name.
//!
//! Notation: `w[k]`, `l[k]`, `t[k]` are the word, the word in lower case and its brief shape at
//! offset k, `p[k]` the part of speech; `a|b` is a joint attribute. Every set has label pairs.

use super::{Boundary, Function, Part, Piece, Source, Template, crfpp};

/// Where a format keeps the word and the part of speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Column of the word.
    pub word: u16,
    /// Column of the part of speech.
    pub pos: u16,
}

/// The sets, with a line about each.
pub const SETS: &[(&str, &str)] = &[
    ("chunking", "words and parts of speech in a window of five, with joint attributes"),
    ("pos", "words in a window of five, affixes, shapes, capitals, digits"),
];

/// The templates of a set; `None` if there is no such set.
#[must_use]
pub fn find(name: &str, roles: Roles) -> Option<Vec<Template>> {
    match name {
        "chunking" => Some(chunking(roles)),
        "pos" => Some(pos(roles.word)),
        _ => None,
    }
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

/// After Ratnaparkhi 1996 and Collins 2002: `l[-2..2]`, `w[0]`, `l[-1]|l[0]`, `l[0]|l[1]`, prefixes
/// and suffixes of `l[0]` up to 4, suffix 3 of both neighbours, `t[0]`, `t[-1]|t[0]`, tests for a
/// digit, a hyphen, all upper case, an upper-case first letter (of its own at the start), and a bias.
fn pos(word: u16) -> Vec<Template> {
    let at = |function, offset| Piece {
        source: Source::Column(word, function),
        offset,
        boundary: Boundary::Plain,
    };
    let mut templates: Vec<Template> = vec![template(&[])];
    let mut add = |pieces: &[Piece]| templates.push(template(pieces));
    (-2..=2).for_each(|k| add(&[at(Function::Lower, k)]));
    add(&[at(Function::Same, 0)]);
    add(&[at(Function::Lower, -1), at(Function::Lower, 0)]);
    add(&[at(Function::Lower, 0), at(Function::Lower, 1)]);
    (1..=4).for_each(|n| add(&[at(Function::LowerPrefix(n), 0)]));
    (1..=4).for_each(|n| add(&[at(Function::LowerSuffix(n), 0)]));
    add(&[at(Function::LowerSuffix(3), -1)]);
    add(&[at(Function::LowerSuffix(3), 1)]);
    add(&[at(Function::BriefShape, 0)]);
    add(&[at(Function::BriefShape, -1), at(Function::BriefShape, 0)]);
    for test in [Function::HasDigit, Function::HasHyphen, Function::AllUpper] {
        add(&[at(test, 0)]);
    }
    let place = Piece { source: Source::Place, offset: 0, boundary: Boundary::Plain };
    add(&[at(Function::FirstUpper, 0), place]);
    templates
}

/// A template named after its pieces: `l[-1]|l[0]=the|cat`.
fn template(pieces: &[Piece]) -> Template {
    let name = |p: &Piece| match p.source {
        Source::Column(_, function) => format!("{}[{}]", function.name(), p.offset),
        Source::Place => "place".to_owned(),
        Source::Given => "given".to_owned(),
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
        assert!(find("ner-9", roles).is_none());
        assert!(SETS.iter().all(|(name, _)| find(name, roles).is_some()));
    }
}
