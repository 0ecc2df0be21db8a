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

mod convert;
mod recognise;
#[cfg(test)]
mod tests;

pub use convert::{Chunk, convert, fits, is_local, possible, rename, spans};
pub use recognise::Recogniser;

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
