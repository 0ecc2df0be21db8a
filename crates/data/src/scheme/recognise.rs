//! Which scheme labels are in.

use super::{Label, Letter, Scheme};

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
