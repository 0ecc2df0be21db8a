//! Sets for Chinese, after He & Wang 2012, "A Comparison and Improvement of Online Learning Algorithms for Sequence
//! Labeling", table 2, spelled out where the table leaves something open. Text has half-width and full-width ASCII, so
//! all of them read it in full width.

use super::{Boundary, Function, Piece, Roles, Set, Source, Template, template};
use crate::features::word_list::LONGEST;

/// Characters `c[-2..2]`, their pairs in -2..2, tests whether a character is the same as the next or the
/// one after it; each for labels and for label pairs. Half-width ASCII is taken for full width.
pub(super) fn segmentation(roles: Roles) -> Vec<Template> {
    let mut set = Set::new(roles);
    set.window(|s, k| s.word(Function::FullWidth, k));
    set.together(2, |s, k| s.word(Function::FullWidth, k));
    for (distance, last) in [(1, 1), (2, 0)] {
        for offset in -2..=last {
            let twin = Piece::new(Source::Twin(roles.word, distance), offset, Boundary::Nothing);
            set.add(&[wide(twin)]);
        }
    }
    let mut templates = set.templates;
    let edges: Vec<Template> =
        templates.iter().skip(1).map(|t| Template { edge: true, ..t.clone() }).collect();
    templates.extend(edges);
    templates
}

/// For names in text without blanks: `c[-2..2]`, their pairs in -2..2, `c[-1]|c[1]`, the kind of `c[-1..1]`.
pub(super) fn names(roles: Roles) -> Vec<Template> {
    let mut set = Set::new(roles);
    let c = |s: &Set, k| s.word(Function::FullWidth, k);
    set.window(c);
    set.together(2, c);
    set.add(&[c(&set, -1), c(&set, 1)]);
    (-1..=1).for_each(|k| set.add(&[wide(set.word(Function::Kind, k))]));
    set.templates
}

/// For parts of speech of words: `c[-2..2]`, here whole words, their pairs in -2..2, the first and the last one to
/// three characters.
pub(super) fn pos(roles: Roles) -> Vec<Template> {
    let mut set = Set::new(roles);
    set.window(|s, k| s.word(Function::FullWidth, k));
    set.together(2, |s, k| s.word(Function::FullWidth, k));
    (1..=3).for_each(|n| set.add(&[wide(set.word(Function::Prefix(n), 0))]));
    (1..=3).for_each(|n| set.add(&[wide(set.word(Function::Suffix(n), 0))]));
    set.templates
}

fn wide(piece: Piece) -> Piece {
    Piece { wide: true, ..piece }
}

/// What a dictionary adds to any set, x being the characters and i the current one: which x[j..i] and x[i..k]
/// are words, j and k up to five away, and which two words meet, x[j..i-1] and x[i..k] or x[j..i] and
/// x[i+1..k]. A template looks for words of one length; those of all lengths share their attributes. Words that
/// the training text does not have are known by their length only: of the longest that starts and ends at the
/// characters around.
#[must_use]
pub fn dictionary(roles: Roles) -> Vec<Template> {
    let piece = |source, offset| Piece::new(source, offset, Boundary::Nothing);
    let ending = |length, offset| piece(Source::WordEnding(roles.word, length), offset);
    let starting = |length, offset| piece(Source::WordStarting(roles.word, length), offset);
    let mut templates = vec![];
    let mut add = |pieces: &[Piece]| templates.push(template(roles, &[], pieces));
    (2..=LONGEST).for_each(|n| add(&[ending(n, 0)]));
    (2..=LONGEST).for_each(|n| add(&[starting(n, 0)]));
    for (short, long) in (1..LONGEST).flat_map(|short| (2..=LONGEST).map(move |long| (short, long))) {
        add(&[ending(short, -1), starting(long, 0)]);
        add(&[ending(long, 0), starting(short, 1)]);
    }
    let starts = |offset| piece(Source::LongestStarting(roles.word), offset);
    let ends = |offset| piece(Source::LongestEnding(roles.word), offset);
    (-1..=1).for_each(|k| add(&[starts(k)]));
    (-1..=1).for_each(|k| add(&[ends(k)]));
    add(&[ends(-1), starts(0)]);
    add(&[ends(0), starts(1)]);
    add(&[ends(0), starts(0)]);
    templates
}

/// What a lexicon of categories adds to a set: the categories of the words that the longest match finds at `c[-2..2]`,
/// from the left and from the right, with the place of the character; whether the word here has one character or more.
#[must_use]
pub fn categories(roles: Roles) -> Vec<Template> {
    let mut templates = vec![];
    let mut add = |source, offset| {
        let piece = Piece::new(source, offset, Boundary::Nothing);
        templates.push(template(roles, &[], &[piece]));
    };
    for backward in [false, true] {
        (-2..=2).for_each(|k| add(Source::Category(roles.word, backward), k));
        add(Source::Alone(roles.word, backward), 0);
    }
    templates
}

/// What raw text adds to a set: the varieties of the strings of two to four characters that start and end here, before
/// and behind them, and how the character is bound to both neighbours.
#[must_use]
pub fn varieties(roles: Roles) -> Vec<Template> {
    let mut templates = vec![];
    let mut add = |source, offset| {
        let piece = Piece::new(source, offset, Boundary::Nothing);
        templates.push(template(roles, &[], &[piece]));
    };
    for length in [2, 3, 4, -2, -3, -4] {
        [true, false].into_iter().for_each(|before| add(Source::Variety(roles.word, length, before), 0));
    }
    (0..=1).for_each(|k| add(Source::Binding(roles.word), k));
    templates
}
