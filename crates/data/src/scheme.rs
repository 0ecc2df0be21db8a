//! Chunk labels: how a row of labels says where chunks start and end.
//!
//! A label is `O` or a letter, alone or with a type behind a hyphen: `B-PER`. In the schemes
//! a chunk of one, two and three tokens of type X, alone in its surroundings, is written
//!
//! | scheme | one | two | three | otherwise |
//! |---|---|---|---|---|
//! | IOB1 | `I` | `I I` | `I I I` | `B` at the start, if the chunk before touches it and has type X |
//! | IOB2 | `B` | `B I` | `B I I` | |
//! | IOBES | `S` | `B E` | `B I E` | |
//! | BMES | `S` | `B E` | `B M E` | |
//! | BIE | `B` | `B E` | `B I E` | |
//!
//! IOB1 is CoNLL-2003, after Ramshaw and Marcus, "Text Chunking using Transformation-Based
//! Learning" (1995); IOB2 is CoNLL-2000 and 2002, after Tjong Kim Sang and Veenstra, "Representing
//! Text Chunks" (1999); BMES and BIE come from Chinese word segmentation.
//!
//! Real labels break their scheme here and there, and systems' labels do so often. [`spans`] takes
//! every row of labels the way the scorer conlleval does: an inner label that has nothing of its
//! type before it starts a chunk, and a chunk ends where the next label does not continue it. So
//! converting valid labels and converting them back gives the same labels, and converting broken
//! labels gives valid ones for the chunks that a scorer would see.

/// How labels say where chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `I`; `B` only between touching chunks of one type.
    Iob1,
    /// `B` first, `I` behind it.
    Iob2,
    /// `B` first, `I` inside, `E` last; `S` alone.
    Iobes,
    /// `B` first, `M` inside, `E` last; `S` alone.
    Bmes,
    /// `B` first or alone, `I` inside, `E` last.
    Bie,
}

impl Scheme {
    /// All schemes; of two that fit as well the [`Recogniser`] takes the first.
    pub const ALL: [Self; 5] = [Self::Iob2, Self::Iob1, Self::Iobes, Self::Bmes, Self::Bie];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iob1 => "iob1",
            Self::Iob2 => "iob2",
            Self::Iobes => "iobes",
            Self::Bmes => "bmes",
            Self::Bie => "bie",
        }
    }

    /// The scheme of that name, in any case; `bio` and `bioes` are known too. `iob` is not, since
    /// some mean IOB1 by it and some IOB2.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "bio" => Some(Self::Iob2),
            "bioes" => Some(Self::Iobes),
            name => Self::ALL.into_iter().find(|scheme| scheme.name() == name),
        }
    }

    /// The tokens of a sentence whose labels valid ones cannot have there, ascending; the last one too if
    /// the sentence must not end with it.
    ///
    /// ```
    /// use seqoia_data::scheme::Scheme;
    ///
    /// assert_eq!(Scheme::Iobes.breaks(&["O", "I-X", "E-X", "NN", "B-X"]), [1, 3, 4]);
    /// ```
    #[must_use]
    pub fn breaks(self, labels: &[&str]) -> Vec<usize> {
        let (mut wrong, mut last) = (vec![], Label::Out);
        for (i, label) in labels.iter().enumerate() {
            let next = Label::read(label);
            if !self.allows(last, next) {
                wrong.push(i);
            }
            last = next;
        }
        let end = labels.len().wrapping_sub(1);
        if !self.allows(last, Label::Out) && wrong.last() != Some(&end) {
            wrong.push(end);
        }
        wrong
    }

    /// What a label says in this scheme.
    fn read(self, label: &str) -> Label<'_> {
        match Label::read(label) {
            Label::In(letter, kind) if self.has(letter) => Label::In(letter, kind),
            Label::In(..) => Label::Foreign,
            other => other,
        }
    }

    /// Whether its labels use this letter.
    const fn has(self, letter: Letter) -> bool {
        match self {
            Self::Iob1 | Self::Iob2 => matches!(letter, Letter::B | Letter::I),
            Self::Iobes => !matches!(letter, Letter::M),
            Self::Bmes => !matches!(letter, Letter::I),
            Self::Bie => matches!(letter, Letter::B | Letter::I | Letter::E),
        }
    }

    /// Whether valid labels can have `after` behind `before`; none is an end of the sentence. A label
    /// that is none of chunks counts as `O`.
    ///
    /// ```
    /// use seqoia_data::scheme::Scheme;
    ///
    /// assert!(Scheme::Iob2.permits(Some("B-PER"), Some("I-PER")));
    /// assert!(!Scheme::Iob2.permits(None, Some("I-PER")));
    /// ```
    #[must_use]
    pub fn permits(self, before: Option<&str>, after: Option<&str>) -> bool {
        self.allows(self.inside(before), self.inside(after))
    }

    /// A label of chunks, or `O`.
    fn inside(self, label: Option<&str>) -> Label<'_> {
        match label.map(|label| self.read(label)) {
            Some(Label::In(letter, kind)) => Label::In(letter, kind),
            _ => Label::Out,
        }
    }

    /// Whether a label is one of its chunks' labels.
    #[must_use]
    pub fn reads(self, label: &str) -> bool {
        matches!(self.read(label), Label::In(..))
    }

    /// Whether valid labels can have `next` behind `last`; the ends of a sentence count as `O`.
    fn allows(self, last: Label, next: Label) -> bool {
        use Letter::{B, E, I, M, S};
        let same = match (last, next) {
            (Label::In(_, last), Label::In(_, next)) => last == next,
            _ => false,
        };
        let last_letter = last.letter();
        let open = matches!(last_letter, Some(B | I | M));
        let continues = open && same;
        match next {
            Label::Foreign => false,
            Label::In(letter, _) if !self.has(letter) => false,
            _ => match (self, next.letter()) {
                (Self::Iob1, Some(B)) | (Self::Iob2, Some(I)) => continues,
                (Self::Iob1 | Self::Iob2, _) => true,
                (_, Some(I | M | E)) => continues,
                (Self::Iobes | Self::Bmes, Some(B | S) | None) => !open,
                (Self::Bie, Some(B | S) | None) => last_letter != Some(I),
            },
        }
    }
}

/// The letter of a label in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    B,
    I,
    M,
    E,
    S,
}

/// A label taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label<'a> {
    /// `O`
    Out,
    /// A letter and the type behind the hyphen; empty if there is none.
    In(Letter, &'a str),
    /// Anything else: `NN`, `-X-`, `B-`, `b-PER`.
    Foreign,
}

impl<'a> Label<'a> {
    fn read(label: &'a str) -> Self {
        let letter = match label.as_bytes().first() {
            Some(b'O') if label.len() == 1 => return Self::Out,
            Some(b'B') => Letter::B,
            Some(b'I') => Letter::I,
            Some(b'M') => Letter::M,
            Some(b'E') => Letter::E,
            Some(b'S') => Letter::S,
            _ => return Self::Foreign,
        };
        match &label[1..] {
            "" => Self::In(letter, ""),
            kind => match kind.strip_prefix('-') {
                None | Some("") => Self::Foreign,
                Some(kind) => Self::In(letter, kind),
            },
        }
    }

    const fn letter(self) -> Option<Letter> {
        match self {
            Self::In(letter, _) => Some(letter),
            _ => None,
        }
    }
}

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

/// Finds out in which scheme labels are written.
///
/// It counts, for every scheme, the transitions between neighbours (ends of sentences included) that
/// valid labels cannot have, among those that touch a chunk. Then
///
/// 1. labels are chunk labels only if at most one in a hundred is neither `O` nor a letter of `BIMES`
///    with or without a type, if at least one is in a chunk, and, should no label have a type, if at
///    least two labels differ. So part-of-speech tags are none, though some be called `I` or `E`;
/// 2. the scheme with the fewest wrong transitions is taken, if they are at most one in ten;
/// 3. of schemes that fit as well the first of [`Scheme::ALL`] is taken, but for labels of `B`, `E`
///    and `S` without `I` or `M`: without types and without `O` they are word segmentation and so
///    BMES.
///
/// One in ten is far from what a wrong scheme gives: a chunk has two to three transitions, and in
/// IOB1 taken for IOB2 or the other way round one of them is wrong in almost every chunk. What real
/// data break is below one in a thousand.
///
/// ```
/// use seqoia_data::scheme::{Recogniser, Scheme};
///
/// let mut recogniser = Recogniser::default();
/// recogniser.sentence(&["I-PER", "I-PER", "O", "I-LOC"]);
/// assert_eq!(recogniser.finish(), Some(Scheme::Iob1));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Recogniser {
    tokens: u64,
    foreign: u64,
    /// Transitions that touch a chunk.
    transitions: u64,
    /// Of them, those that each scheme of [`Scheme::ALL`] forbids.
    wrong: [u64; Scheme::ALL.len()],
    /// Labels seen: `O`, then letters without and with a type.
    outside: bool,
    plain: [bool; 5],
    typed: [bool; 5],
}

impl Recogniser {
    /// Takes the labels of a sentence.
    pub fn sentence<S: AsRef<str>>(&mut self, labels: &[S]) {
        let mut last = Label::Out;
        for label in labels {
            let next = Label::read(label.as_ref());
            self.tokens += 1;
            match next {
                Label::Out => self.outside = true,
                Label::In(letter, "") => self.plain[letter as usize] = true,
                Label::In(letter, _) => self.typed[letter as usize] = true,
                Label::Foreign => self.foreign += 1,
            }
            self.transition(last, next);
            last = next;
        }
        self.transition(last, Label::Out);
    }

    fn transition(&mut self, last: Label, next: Label) {
        if last.letter().is_none() && next.letter().is_none() {
            return;
        }
        self.transitions += 1;
        for (scheme, wrong) in Scheme::ALL.into_iter().zip(&mut self.wrong) {
            *wrong += u64::from(!scheme.allows(last, next));
        }
    }

    /// The scheme, or none if these are no chunk labels or fit no scheme.
    #[must_use]
    pub fn finish(&self) -> Option<Scheme> {
        let plain = self.plain.iter().filter(|&&seen| seen).count() + usize::from(self.outside);
        let typed = self.typed.contains(&true);
        if self.foreign.saturating_mul(100) > self.tokens || self.transitions == 0 || !typed && plain < 2 {
            return None;
        }
        // `min_by_key` takes the first of equals.
        let (scheme, &wrong) = Scheme::ALL.into_iter().zip(&self.wrong).min_by_key(|&(_, &wrong)| wrong)?;
        if wrong.saturating_mul(10) > self.transitions {
            return None;
        }
        let words = !typed && !self.outside;
        Some(if scheme == Scheme::Iobes && words && !self.saw(Letter::I) && self.saw(Letter::S) {
            Scheme::Bmes
        } else {
            scheme
        })
    }

    /// How many transitions so far are wrong in a scheme, to say so once.
    #[must_use]
    pub fn wrong(&self, scheme: Scheme) -> u64 {
        Scheme::ALL.into_iter().zip(self.wrong).find(|&(other, _)| other == scheme).map_or(0, |(_, n)| n)
    }

    const fn saw(&self, letter: Letter) -> bool {
        self.plain[letter as usize] || self.typed[letter as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunk(start: usize, end: usize, kind: &str) -> Chunk<'_> {
        Chunk { start, end, kind }
    }

    fn labels(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    fn converted(from: Scheme, to: Scheme, text: &str) -> String {
        let mut out = Vec::new();
        convert(from, to, &labels(text), &mut out);
        out.join(" ")
    }

    fn recognise(sentences: &[&str]) -> Option<Scheme> {
        let mut recogniser = Recogniser::default();
        for sentence in sentences {
            recogniser.sentence(&labels(sentence));
        }
        recogniser.finish()
    }

    /// The same chunks in all schemes: two of one type that touch, one of another, one alone.
    const SAME: [(Scheme, &str); 5] = [
        (Scheme::Iob1, "I-X I-X I-X B-X I-Y I-Y O I-A-B O"),
        (Scheme::Iob2, "B-X I-X I-X B-X B-Y I-Y O B-A-B O"),
        (Scheme::Iobes, "B-X I-X E-X S-X B-Y E-Y O S-A-B O"),
        (Scheme::Bmes, "B-X M-X E-X S-X B-Y E-Y O S-A-B O"),
        (Scheme::Bie, "B-X I-X E-X B-X B-Y E-Y O B-A-B O"),
    ];

    #[test]
    fn single_labels_are_renamed_where_neighbours_do_not_matter() {
        let labels = ["B-X", "I-X", "E-X", "S", "I", "O", "NN", "I-"];
        let names = |from, to| labels.map(|l| rename(from, to, l));
        let bmes = ["B-X", "M-X", "E-X", "S", "M", "O", "NN", "I-"];
        assert_eq!(names(Scheme::Iobes, Scheme::Bmes), bmes.map(|l| Some(l.to_owned())));
        assert_eq!(bmes.map(|l| rename(Scheme::Bmes, Scheme::Iobes, l)), labels.map(|l| Some(l.to_owned())));
        assert_eq!(names(Scheme::Bie, Scheme::Bie), labels.map(|l| Some(l.to_owned())));
        assert_eq!(rename(Scheme::Iobes, Scheme::Iob2, "O"), None);
    }

    #[test]
    fn names() {
        for scheme in Scheme::ALL {
            assert_eq!(Scheme::parse(scheme.name()), Some(scheme));
            assert_eq!(Scheme::parse(&scheme.name().to_uppercase()), Some(scheme));
        }
        assert_eq!(Scheme::parse("BIO"), Some(Scheme::Iob2));
        assert_eq!(Scheme::parse("bioes"), Some(Scheme::Iobes));
        assert_eq!(Scheme::parse("iob"), None);
    }

    #[test]
    fn one_example_in_all_schemes() {
        for (from, text) in SAME {
            assert_eq!(
                spans(from, &labels(text)),
                [chunk(0, 3, "X"), chunk(3, 4, "X"), chunk(4, 6, "Y"), chunk(7, 8, "A-B")]
            );
            for (to, expected) in SAME {
                assert_eq!(converted(from, to, text), expected, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn words_without_types() {
        assert_eq!(converted(Scheme::Bie, Scheme::Bmes, "B B E B I I E B"), "S B E B M M E S");
        assert_eq!(converted(Scheme::Bmes, Scheme::Bie, "S B E B M M E S"), "B B E B I I E B");
        assert_eq!(converted(Scheme::Bmes, Scheme::Iob1, "S B E S"), "I B I B");
        assert_eq!(converted(Scheme::Iob1, Scheme::Bmes, "O I I B O"), "O B E S O");
    }

    #[test]
    fn broken_labels_as_conlleval_takes_them() {
        // Inner after outside, after another type, at the start.
        let iob = labels("I-X O I-X I-Y B-Y I-X");
        let expected =
            [chunk(0, 1, "X"), chunk(2, 3, "X"), chunk(3, 4, "Y"), chunk(4, 5, "Y"), chunk(5, 6, "X")];
        assert_eq!(spans(Scheme::Iob1, &iob), expected);
        assert_eq!(spans(Scheme::Iob2, &iob), expected);
        // No end; two ends; an end alone; inner behind a single one.
        let iobes = labels("B-X I-X O E-X E-X S-X I-X B-X B-X");
        let expected = [
            chunk(0, 2, "X"),
            chunk(3, 4, "X"),
            chunk(4, 5, "X"),
            chunk(5, 6, "X"),
            chunk(6, 7, "X"),
            chunk(7, 8, "X"),
            chunk(8, 9, "X"),
        ];
        assert_eq!(spans(Scheme::Iobes, &iobes), expected);
    }

    #[test]
    fn labels_that_are_none_are_outside_and_stay() {
        for foreign in ["-X-", "B-", "BX", "b-X", "", "O-X", "Oh", "é", "E-X", "M-X"] {
            let mut out = vec!["left over".to_owned(); 7];
            let labels = ["B-X", foreign, "I-X"];
            assert_eq!(spans(Scheme::Iob2, &labels), [chunk(0, 1, "X"), chunk(2, 3, "X")]);
            convert(Scheme::Iob2, Scheme::Iobes, &labels, &mut out);
            assert_eq!(out, ["S-X", foreign, "S-X"]);
        }
    }

    #[test]
    fn recognised() {
        for (scheme, text) in SAME {
            assert_eq!(recognise(&[text]), Some(scheme));
            assert_eq!(recognise(&["O O O", text, "O"]), Some(scheme));
        }
        for (sentences, expected) in [
            (&["B-X O B-Y O"][..], Some(Scheme::Iob2)),
            (&["I-X O I-Y I-Y O"], Some(Scheme::Iob1)),
            (&["I-X I-X", "I-Y"], Some(Scheme::Iob1)),
            (&["I O O I I B I"], Some(Scheme::Iob1)),
            (&["B O O B I B I"], Some(Scheme::Iob2)),
            (&["S-X O B-X E-X"], Some(Scheme::Iobes)),
            (&["S B E S S", "B E"], Some(Scheme::Bmes)),
            (&["B E B I E B B E", "B E B"], Some(Scheme::Bie)),
            // No token alone: more likely the wide-spread scheme.
            (&["B-X I-X E-X O B-X E-X"], Some(Scheme::Iobes)),
            // Nothing to see.
            (&[], None),
            (&["", ""], None),
            (&["O O O"], None),
            // Tags.
            (&["DT NN VBZ I"], None),
            (&["B I E", "N V N", "O I B E S M"], None),
            (&["I I I I"], None),
            (&["S S S", "S"], None),
            (&["E B S I O E I B S B I O S E"], None),
            (&["NP-SBJ S-TPC VP B-NP"], None),
            // Half and half.
            (&["I-X O B-X O"], None),
        ] {
            assert_eq!(recognise(sentences), expected, "{sentences:?}");
        }
    }

    #[test]
    fn a_few_broken_labels_do_not_matter() {
        let mut good = vec![SAME[1].1; 10];
        good.push("O I-X O");
        good.push("I-Y I-Y");
        assert_eq!(recognise(&good), Some(Scheme::Iob2));
        let mut recogniser = Recogniser::default();
        good.iter().for_each(|sentence| recogniser.sentence(&labels(sentence)));
        assert_eq!(recogniser.wrong(Scheme::Iob2), 2);
        // One label in a hundred may be a slip, more may not.
        let mut slips = vec!["O O O O O O O O B-X I-X"; 10];
        slips.push("0");
        assert_eq!(recognise(&slips), Some(Scheme::Iob2));
        slips.push("o");
        assert_eq!(recognise(&slips), None);
        // An end of a chunk that is lost at the break of a sentence.
        let mut good = vec![SAME[3].1; 10];
        good.extend(["O B-X M-X", "M-X E-X O"]);
        assert_eq!(recognise(&good), Some(Scheme::Bmes));
    }

    /// Chunks that do not overlap, as gaps and lengths, and the sentence's length.
    fn chunks() -> impl Strategy<Value = (usize, Vec<(usize, usize, &'static str)>)> {
        let kind = prop::sample::select(vec!["X", "Y", "A-B"]);
        (prop::collection::vec((0..3usize, 1..5usize, kind), 0..8), 0..3usize).prop_map(|(parts, tail)| {
            let mut at = 0;
            let mut chunks = Vec::new();
            for (gap, length, kind) in parts {
                chunks.push((at + gap, at + gap + length, kind));
                at += gap + length;
            }
            (at + tail, chunks)
        })
    }

    fn iob2(length: usize, chunks: &[(usize, usize, &str)], types: bool) -> Vec<String> {
        let mut labels = vec!["O".to_owned(); length];
        for &(start, end, kind) in chunks {
            for (i, label) in labels.iter_mut().enumerate().take(end).skip(start) {
                let letter = if i == start { "B" } else { "I" };
                *label = if types { format!("{letter}-{kind}") } else { letter.to_owned() };
            }
        }
        labels
    }

    fn to(from: Scheme, to: Scheme, labels: &[String]) -> Vec<String> {
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let mut out = Vec::new();
        convert(from, to, &labels, &mut out);
        out
    }

    proptest! {
        #[test]
        fn there_and_back(
            (length, chunks) in chunks(),
            types: bool,
            path in prop::collection::vec(0..5usize, 1..6),
        ) {
            let start = iob2(length, &chunks, types);
            let mut at = Scheme::Iob2;
            let mut labels = start.clone();
            for step in path {
                let next = Scheme::ALL[step];
                labels = to(at, next, &labels);
                at = next;
                let views: Vec<&str> = labels.iter().map(String::as_str).collect();
                let expected: Vec<Chunk> = chunks
                    .iter()
                    .map(|&(start, end, kind)| chunk(start, end, if types { kind } else { "" }))
                    .collect();
                prop_assert_eq!(spans(at, &views), expected);
                // What is written is valid, and so is recognised.
                let mut recogniser = Recogniser::default();
                recogniser.sentence(&labels);
                prop_assert_eq!(recogniser.wrong(at), 0);
            }
            prop_assert_eq!(to(at, Scheme::Iob2, &labels), start);
        }

        #[test]
        fn any_labels(
            labels in prop::collection::vec("[OBIMES]?-?[XYé]?", 0..12),
            from in 0..5usize,
            into in 0..5usize,
        ) {
            let (from, into) = (Scheme::ALL[from], Scheme::ALL[into]);
            let out = to(from, into, &labels);
            prop_assert_eq!(out.len(), labels.len());
            // Broken labels become valid ones for the same chunks, if all are labels of the scheme.
            let views: Vec<&str> = labels.iter().map(String::as_str).collect();
            if views.iter().all(|label| from.read(label) != Label::Foreign) {
                let written: Vec<&str> = out.iter().map(String::as_str).collect();
                prop_assert_eq!(spans(into, &written), spans(from, &views));
                let mut recogniser = Recogniser::default();
                recogniser.sentence(&out);
                prop_assert_eq!(recogniser.wrong(into), 0);
            }
            let mut recogniser = Recogniser::default();
            recogniser.sentence(&labels);
            let _ = recogniser.finish();
        }
    }
}
