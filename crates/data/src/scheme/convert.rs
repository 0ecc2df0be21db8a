//! From labels to chunks, and from one scheme to another.

use super::{Label, Letter, Scheme};

/// A stretch of tokens that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chunk<'a> {
    /// The first token.
    pub start: usize,
    /// The token after the last.
    pub end: usize,
    /// The type; empty if labels have none.
    pub kind: &'a str,
}

/// The chunks of a sentence, from left to right. A label that is none of the scheme is outside.
///
/// ```
/// use seqoia_data::scheme::{Chunk, Scheme, spans};
///
/// let chunks = spans(Scheme::Iob2, &["B-PER", "I-PER", "O", "I-LOC"]);
/// assert_eq!(chunks[0], Chunk { start: 0, end: 2, kind: "PER" });
/// assert_eq!(chunks[1], Chunk { start: 3, end: 4, kind: "LOC" });
/// ```
#[must_use]
pub fn spans<'a>(scheme: Scheme, labels: &[&'a str]) -> Vec<Chunk<'a>> {
    let mut chunks: Vec<Chunk<'a>> = Vec::new();
    // Whether the last chunk can go on with the next token.
    let mut open = false;
    for (i, label) in labels.iter().enumerate() {
        let Label::In(letter, kind) = scheme.read(label) else {
            open = false;
            continue;
        };
        match chunks.last_mut() {
            Some(chunk) if open && chunk.kind == kind && !matches!(letter, Letter::B | Letter::S) => {
                chunk.end = i + 1;
            }
            _ => chunks.push(Chunk { start: i, end: i + 1, kind }),
        }
        open = !matches!(letter, Letter::E | Letter::S);
    }
    chunks
}

/// Writes the labels of one scheme in another. `out` gets as many labels as there are, in the memory
/// it has.
///
/// A label that is none of the scheme `from`, such as `-X-`, is copied.
///
/// ```
/// use seqoia_data::scheme::{Scheme, convert};
///
/// let mut out = Vec::new();
/// convert(Scheme::Iob1, Scheme::Iobes, &["I-PER", "I-PER", "B-PER", "O"], &mut out);
/// assert_eq!(out, ["B-PER", "E-PER", "S-PER", "O"]);
/// ```
pub fn convert(from: Scheme, to: Scheme, labels: &[&str], out: &mut Vec<String>) {
    out.resize_with(labels.len(), String::new);
    for (out, label) in out.iter_mut().zip(labels) {
        out.clear();
        out.push_str(label);
    }
    let mut last: Option<Chunk> = None;
    for chunk in spans(from, labels) {
        let touches = last.is_some_and(|last| last.end == chunk.start && last.kind == chunk.kind);
        for (i, out) in out.iter_mut().enumerate().take(chunk.end).skip(chunk.start) {
            let first = i == chunk.start;
            let end = i + 1 == chunk.end;
            out.clear();
            out.push(match (to, first, end) {
                (Scheme::Iob1, true, _) if touches => 'B',
                (Scheme::Iob1, ..) => 'I',
                (Scheme::Iobes | Scheme::Bmes, true, true) => 'S',
                (_, true, _) => 'B',
                (Scheme::Iobes | Scheme::Bmes | Scheme::Bie, false, true) => 'E',
                (Scheme::Bmes, false, false) => 'M',
                (_, false, _) => 'I',
            });
            if !chunk.kind.is_empty() {
                out.push('-');
                out.push_str(chunk.kind);
            }
        }
        last = Some(chunk);
    }
}

/// What a single label is called in another scheme; `None` if that depends on its neighbours. Only IOBES
/// and BMES differ in nothing but a letter.
#[must_use]
pub fn rename(from: Scheme, to: Scheme, label: &str) -> Option<String> {
    let (inside, other) = match (from, to) {
        (Scheme::Iobes, Scheme::Bmes) => (Letter::I, "M"),
        (Scheme::Bmes, Scheme::Iobes) => (Letter::M, "I"),
        _ => return (from == to).then(|| label.to_owned()),
    };
    Some(match from.read(label) {
        Label::In(letter, _) if letter == inside => format!("{other}{}", &label[1..]),
        _ => label.to_owned(),
    })
}

/// Whether labels of one scheme are sets of labels of another: a labelling means the same exactly if it is well
/// formed and each of its labels is one of [`possible`].
#[must_use]
pub fn is_local(from: Scheme, to: Scheme) -> bool {
    use Scheme::{Bie, Bmes, Iob2, Iobes};
    from == to
        || matches!(
            (from, to),
            (Iob2, Iobes | Bmes | Bie) | (Bie, Iobes | Bmes) | (Iobes, Bmes) | (Bmes, Iobes)
        )
}

/// All that a label may become in another scheme, whatever its neighbours are.
///
/// ```
/// use seqoia_data::scheme::{Scheme, possible};
///
/// assert_eq!(possible(Scheme::Iob2, Scheme::Iobes, "B-PER"), ["B-PER", "S-PER"]);
/// ```
#[must_use]
pub fn possible(from: Scheme, to: Scheme, label: &str) -> Vec<String> {
    let Label::In(_, kind) = from.read(label) else { return vec![label.to_owned()] };
    let own = |letter: char| if kind.is_empty() { letter.to_string() } else { format!("{letter}-{kind}") };
    let beside: Vec<String> =
        ['B', 'I', 'M', 'E', 'S'].map(own).into_iter().chain(["O".to_owned()]).collect();
    let (mut found, mut out) = (vec![], vec![]);
    // How a label is written depends on its two neighbours at most.
    for (before, after) in beside.iter().flat_map(|b| beside.iter().map(move |a| (b, a))) {
        let fits = from.permits(Some(before), Some(label)) && from.permits(Some(label), Some(after));
        if fits
            && from.inside(Some(before)) == Label::read(before)
            && from.inside(Some(after)) == Label::read(after)
        {
            convert(from, to, &[before, label, after], &mut out);
            found.push(out[1].clone());
        }
    }
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { vec![label.to_owned()] } else { found }
}

/// Whether two neighbours in the labels of one scheme can be what labels of another say, where these are known:
/// none is an end of the sentence in `pair`, and nothing known in `known`.
///
/// A labelling of `from` is written in `to` as the known labels say if each pair of neighbours fits, the ends of
/// the sentence included: whether a chunk begins at a label is seen from the label before it, and whether it ends
/// from the label after it.
///
/// ```
/// use seqoia_data::scheme::{Scheme, fits};
///
/// // In IOB1 a chunk goes on with I-X, or begins with it.
/// assert!(fits(Scheme::Iob1, Scheme::Iob2, [Some("I-X"), Some("I-X")], [None, Some("I-X")]));
/// assert!(!fits(Scheme::Iob1, Scheme::Iob2, [Some("O"), Some("I-X")], [None, Some("I-X")]));
/// ```
#[must_use]
pub fn fits(from: Scheme, to: Scheme, pair: [Option<&str>; 2], known: [Option<&str>; 2]) -> bool {
    use Letter::{B, E, I, M, S};
    let [before, after] = pair.map(|label| from.inside(label));
    let (same, continues) = match (before, after) {
        (Label::In(last, kind), Label::In(next, other)) => {
            (kind == other, kind == other && !matches!(last, E | S) && !matches!(next, B | S))
        }
        _ => (false, false),
    };
    let begins_as_known = match (known[1].map(|known| (known, to.read(known))), after) {
        (None, _) => true,
        (Some((_, Label::In(letter, kind))), Label::In(_, own)) => {
            let begins = match (to, letter) {
                (Scheme::Iob1, B) => !continues && same,
                (Scheme::Iob1, _) => continues || !same,
                (_, B | S) => !continues,
                (_, I | M | E) => continues,
            };
            kind == own && begins
        }
        (Some((_, Label::In(..))), _) | (Some(_), Label::In(..)) => false,
        (Some((known, _)), _) => pair[1] == Some(known),
    };
    let ends_as_known = match (to, known[0].and_then(|known| to.read(known).letter())) {
        (_, None) | (Scheme::Iob1 | Scheme::Iob2, _) | (Scheme::Bie, Some(B)) => true,
        (_, Some(E | S)) => !continues,
        (_, Some(B | I | M)) => continues,
    };
    begins_as_known && ends_as_known
}
