//! Which attributes are frequent, found in a few bits for each instead of a table of them.
//!
//! A hash of each occurrence chooses three small counters in one cache line, of which the least are raised. So the least
//! of the three is never below the true count: what it calls rare is rare, and only some of what it lets pass is rare,
//! too, which an exact count of those that passed then drops. Numbers of attributes and models do not depend on it.
//!
//! Reference: Cormode & Muthukrishnan 2005 (the count-min sketch); Estan & Varghese 2002 (conservative update).

use seqoia_core::prefetch;

/// Counters that an attribute has.
const COUNTERS: usize = 3;
/// Bits of a line.
const LINE: usize = 512;

/// Counts occurrences.
#[derive(Clone, Debug)]
pub(super) struct Rough {
    lines: Vec<[u64; LINE / 64]>,
    bits: usize, // of a counter: 2, 4 or 8
    most: u64,   // that one counts to
    cutoff: u64,
}

/// Where the counters of an attribute are: a line, and numbers in it.
#[inline]
fn place(code: u64, lines: usize, counters: usize) -> (usize, [usize; COUNTERS]) {
    // The mixing of SplitMix64: tables use some bits of the same hash.
    let mut x = code.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    #[allow(clippy::cast_possible_truncation)] // below the number of lines
    let line = ((u128::from(x) * lines as u128) >> 64) as usize;
    let number = |i: usize| narrow32(x >> (10 * i)) & (counters - 1);
    (line, [number(0), number(1), number(2)])
}

#[inline]
fn narrow32(x: u64) -> usize {
    #[allow(clippy::cast_possible_truncation)] // ten bits are used
    let low = x as u32;
    low as usize
}

impl Rough {
    /// For attributes that occur at least `cutoff` times, in about so many bytes.
    pub(super) fn new(bytes: usize, cutoff: u32) -> Self {
        let bits = match cutoff {
            0..=3 => 2,
            4..=15 => 4,
            _ => 8,
        };
        let most = (1 << bits) - 1;
        let lines = vec![[0; LINE / 64]; (bytes * 8 / LINE).max(1)];
        Rough { lines, bits, most, cutoff: u64::from(cutoff.max(1)) }
    }

    /// Asks for the counters of an attribute.
    #[inline]
    pub(super) fn fetch(&self, code: u64) {
        prefetch(&self.lines, place(code, self.lines.len(), LINE / self.bits).0);
    }

    /// Counts an occurrence.
    #[inline]
    pub(super) fn add(&mut self, code: u64) {
        let (line, numbers) = place(code, self.lines.len(), LINE / self.bits);
        let line = &mut self.lines[line];
        let per_word = 64 / self.bits;
        let at = numbers.map(|n| (n / per_word, n % per_word * self.bits));
        let least = at.iter().map(|&(word, shift)| line[word] >> shift & self.most).min().unwrap_or(0);
        if least == self.most {
            return;
        }
        for (word, shift) in at {
            // Two of them may be the same one, which is then raised once.
            if line[word] >> shift & self.most == least {
                line[word] += 1 << shift;
            }
        }
    }

    /// Those that may be frequent, in a bit for each counter.
    pub(super) fn finish(self) -> Frequent {
        let counters = LINE / self.bits;
        let enough = self.cutoff.min(self.most);
        let mut words = vec![0; (self.lines.len() * counters).div_ceil(64)];
        for (i, line) in self.lines.iter().enumerate() {
            for n in 0..counters {
                let (word, shift) = (n / (64 / self.bits), n % (64 / self.bits) * self.bits);
                let at = i * counters + n;
                words[at / 64] |= u64::from(line[word] >> shift & self.most >= enough) << (at % 64);
            }
        }
        Frequent { words, lines: self.lines.len(), counters }
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        LINE / 8 * self.lines.len()
    }
}

/// What may be frequent.
#[derive(Clone, Debug)]
pub(super) struct Frequent {
    words: Vec<u64>,
    lines: usize,
    counters: usize, // of a line
}

impl Frequent {
    /// Asks for what is known of an attribute.
    #[inline]
    pub(super) fn fetch(&self, code: u64) {
        prefetch(&self.words, place(code, self.lines, self.counters).0 * self.counters / 64);
    }

    /// False if an attribute is too rare for sure.
    #[inline]
    pub(super) fn may_have(&self, code: u64) -> bool {
        let (line, numbers) = place(code, self.lines, self.counters);
        numbers.iter().all(|n| {
            let at = line * self.counters + n;
            self.words[at / 64] >> (at % 64) & 1 == 1
        })
    }

    /// Bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        8 * self.words.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::hash;
    use super::*;
    use seqoia_core::Random;

    /// What is frequent always passes, whatever the room; with enough of it hardly anything else does.
    #[test]
    fn nothing_frequent_is_lost() {
        for cutoff in [2, 3, 4, 7, 16, 40, 300] {
            for bytes in [64, 1 << 12, 1 << 16] {
                let (mut rough, mut counts) = (Rough::new(bytes, cutoff), vec![0; 3000]);
                let mut random = Random::new(1, 0, 0, "rough");
                for _ in 0..60_000 {
                    let i = (random.unit() * random.unit() * random.unit() * 3000.0).floor();
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 3000
                    let i = i as u32;
                    counts[i as usize] += 1;
                    rough.add(hash(&[i, 7]));
                }
                let frequent = rough.finish();
                let mut wrong = 0;
                for (i, count) in (0..3000).zip(&counts) {
                    let passes = frequent.may_have(hash(&[i, 7]));
                    assert!(passes || *count < cutoff, "{i} occurs {count} times");
                    wrong += usize::from(passes && *count < cutoff.min(255));
                }
                // Counters of two and four bits do not tell 3 from 4, or 15 from 16.
                let exact = bytes == 1 << 16 && [2, 3, 7, 40].contains(&cutoff);
                assert!(!exact || wrong < 30, "{wrong} of cut-off {cutoff}");
            }
        }
    }
}
