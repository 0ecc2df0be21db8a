//! Which labels may follow each other, and which may begin and end a sequence.
//!
//! A labelling that breaks a rule has probability 0 and is never found: sums run over the others, in
//! training as in decoding. So a model learns nothing about what cannot happen anyway.

use seqoia_core::cast::label;

/// Allowed pairs of K labels and of the two ends of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    labels: usize,
    bits: Vec<u32>, // [K + 1][ceil((K + 1) / 32)]: bit y of row y'; K is outside of the sequence
    forbidden: Vec<(u16, u16)>, // pairs that are not allowed
    no_start: Vec<u16>, // labels that begin no sequence
    no_end: Vec<u16>, // labels that end none
}

impl Rules {
    /// Rules for `labels` labels: `allows(before, after)`, where none is an end of the sequence.
    #[must_use]
    pub fn new(labels: usize, allows: impl Fn(Option<u16>, Option<u16>) -> bool) -> Self {
        let blocks = Self::blocks(labels);
        let mut bits = vec![0; (labels + 1) * blocks];
        let name = |y: usize| (y < labels).then(|| label(y));
        for from in 0..=labels {
            for to in (0..=labels).filter(|&to| allows(name(from), name(to))) {
                bits[from * blocks + to / 32] |= 1 << (to % 32);
            }
        }
        Self::made(labels, bits)
    }

    /// Rules as [`Rules::bits`] gave them; none if there are not as many as `labels` labels need.
    #[must_use]
    pub fn from_bits(labels: usize, bits: &[u32]) -> Option<Self> {
        let fits = bits.len() == (labels + 1) * Self::blocks(labels);
        fits.then(|| Self::made(labels, bits.to_vec()))
    }

    fn made(labels: usize, bits: Vec<u32>) -> Self {
        let mut rules = Rules { labels, bits, forbidden: vec![], no_start: vec![], no_end: vec![] };
        let all = || (0..labels).map(label);
        for from in all() {
            let out: Vec<_> = all().filter(|to| !rules.allows(Some(from), Some(*to))).collect();
            rules.forbidden.extend(out.into_iter().map(|to| (from, to)));
        }
        rules.no_start = all().filter(|y| !rules.allows(None, Some(*y))).collect();
        rules.no_end = all().filter(|y| !rules.allows(Some(*y), None)).collect();
        rules
    }

    fn blocks(labels: usize) -> usize {
        (labels + 1).div_ceil(32)
    }

    /// One bit for each pair, for a file.
    #[must_use]
    pub fn bits(&self) -> &[u32] {
        &self.bits
    }

    /// Number of labels.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Whether `after` may stand behind `before`; none is an end of the sequence.
    #[must_use]
    pub fn allows(&self, before: Option<u16>, after: Option<u16>) -> bool {
        let number = |y: Option<u16>| y.map_or(self.labels, usize::from);
        let (from, to) = (number(before), number(after));
        self.bits[from * Self::blocks(self.labels) + to / 32] >> (to % 32) & 1 == 1
    }

    /// The first position at which a labelling breaks a rule; its length if that is at the end.
    #[must_use]
    pub fn broken_at(&self, labels: &[u16]) -> Option<usize> {
        let mut before = None;
        for (t, &y) in labels.iter().enumerate() {
            if !self.allows(before, Some(y)) {
                return Some(t);
            }
            before = Some(y);
        }
        (!labels.is_empty() && !self.allows(before, None)).then_some(labels.len())
    }

    /// `y' * width + y` of each pair that is not allowed.
    pub(crate) fn forbidden(&self, width: usize) -> impl Iterator<Item = usize> {
        self.forbidden.iter().map(move |&(from, to)| usize::from(from) * width + usize::from(to))
    }

    /// Labels that may not begin a sequence, and those that may not end one.
    pub(crate) fn ends(&self) -> (&[u16], &[u16]) {
        (&self.no_start, &self.no_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O, B, I with I behind B and I only.
    fn bio() -> Rules {
        Rules::new(3, |before, after| after != Some(2) || matches!(before, Some(1 | 2)))
    }

    #[test]
    fn pairs_and_ends_are_as_told() {
        let rules = bio();
        assert_eq!(rules.forbidden(4).collect::<Vec<_>>(), [2]); // O before I
        assert_eq!(rules.ends(), (&[2][..], &[][..]));
        assert_eq!(rules.broken_at(&[0, 1, 2, 2]), None);
        assert_eq!(rules.broken_at(&[2]), Some(0));
        assert_eq!(rules.broken_at(&[0, 2]), Some(1));
        assert_eq!(Rules::from_bits(3, rules.bits()), Some(rules.clone()));
        assert_eq!(Rules::from_bits(40, rules.bits()), None);
        let whole = Rules::new(2, |before, _| before != Some(1));
        assert_eq!(whole.broken_at(&[0, 1]), Some(2));
    }
}
