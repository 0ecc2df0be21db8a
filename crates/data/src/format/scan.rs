//! Where a text has bytes of a kind, found 64 bytes at a time.
//!
//! Fields are short: a search that starts anew behind each takes longer to start than to search. Here the bytes of a
//! stretch are compared in one loop, which compilers make vector instructions of, and become a word with a bit per
//! byte; the reader then goes from bit to bit.

/// Bytes of a stretch, and bits of a word.
const STRETCH: usize = 64;

/// The places of wanted bytes in a text, ascending.
#[derive(Debug, Clone)]
pub(super) struct Stops<'a, F> {
    text: &'a [u8],
    wanted: F,
    base: usize, // of the stretch
    bits: u64,   // of the stretch, without those that were given out
}

impl<'a, F: Fn(u8) -> bool> Stops<'a, F> {
    /// Of the bytes of which `wanted` is true: comparisons without branches, so that they become vector instructions.
    pub(super) fn new(text: &'a [u8], wanted: F) -> Self {
        let mut stops = Stops { text, wanted, base: 0, bits: 0 };
        stops.look();
        stops
    }

    /// Without those before this place.
    pub(super) fn from(mut self, at: usize) -> Self {
        self.base = at;
        self.look();
        self
    }

    /// Goes to the next stretch that has any. Once in 64 bytes, so a call costs little, and callers stay small.
    #[inline(never)]
    fn go_on(&mut self) -> Option<()> {
        while self.bits == 0 {
            if self.base + STRETCH >= self.text.len() {
                self.base = self.text.len();
                return None;
            }
            self.base += STRETCH;
            self.look();
        }
        Some(())
    }

    /// Looks at the stretch at `base`.
    #[inline]
    fn look(&mut self) {
        let rest = self.text.get(self.base..).unwrap_or_default();
        self.bits = match rest.first_chunk() {
            Some(stretch) => bits(stretch, &self.wanted),
            None => {
                let places = rest.iter().enumerate().filter(|(_, byte)| (self.wanted)(**byte));
                places.fold(0, |bits, (i, _)| bits | 1 << i)
            }
        };
    }
}

impl<F: Fn(u8) -> bool> Iterator for Stops<'_, F> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.bits == 0 {
            self.go_on()?;
        }
        let at = self.base + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(at)
    }
}

/// A bit for each byte that is wanted.
#[inline]
fn bits(stretch: &[u8; STRETCH], wanted: impl Fn(u8) -> bool) -> u64 {
    /// Moves the lowest bit of each byte into the highest byte, in order.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut hits = [0; STRETCH];
    for (hit, &byte) in hits.iter_mut().zip(stretch) {
        *hit = u8::from(wanted(byte));
    }
    let words = hits.as_chunks::<8>().0.iter().rev();
    words.fold(0, |bits, word| bits << 8 | u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_once() {
        let wanted = |byte| (byte < b' ') | (byte == b':') | (byte == b'\\');
        let mut state = 1u32;
        for length in (0..200).chain([1000, 4096]) {
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"ab\t\n:\\\x89\xff"[(state >> 29) as usize]
                })
                .collect();
            let slow: Vec<usize> = (0..length).filter(|&i| wanted(text[i])).collect();
            assert_eq!(Stops::new(&text, wanted).collect::<Vec<_>>(), slow, "{length}");
        }
        let all = [b':'; 130];
        assert!(Stops::new(&all, wanted).eq(0..130));
    }
}
