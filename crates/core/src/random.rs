//! Random numbers that belong to what they are for.
//!
//! A stream is fixed by (seed, pass, shard, purpose) and begins anew each pass, so no generator is
//! part of a learner's state and adding a draw in one place changes nothing in another. The
//! generator is ChaCha with 8 rounds (Bernstein 2008), written here in forty lines because the
//! numbers are part of the format of a run: an upgrade of a library must not change a model.
//!
//! Key, 32 bytes: seed, pass, shard (u64, little endian), purpose (8 bytes, padded with zeros).
//! Numbers are taken 8 bytes at a time, little endian.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    key: [u32; 8],
    block: u64,
    at: usize,
    out: [u64; 8],
}

impl Random {
    /// The stream of one purpose (at most 8 bytes of it count) in one pass of one shard.
    #[must_use]
    pub fn new(seed: u64, pass: u64, shard: u64, purpose: &str) -> Self {
        let mut name = [0u8; 8];
        let used = purpose.len().min(8);
        name[..used].copy_from_slice(&purpose.as_bytes()[..used]);
        let mut key = [0u32; 8];
        for (i, word) in [seed, pass, shard, u64::from_le_bytes(name)].into_iter().enumerate() {
            key[2 * i] = low(word);
            key[2 * i + 1] = low(word >> 32);
        }
        Random { key, block: 0, at: 8, out: [0; 8] }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        if self.at == 8 {
            self.out = chacha8(&self.key, self.block);
            self.block += 1;
            self.at = 0;
        }
        self.at += 1;
        self.out[self.at - 1]
    }

    /// A number below `n`, exactly uniform: the high word of `bits() * n` in 128 bits, rejected while
    /// the low word is under 2^64 mod n (Lemire 2019). 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        let least = n.wrapping_neg() % n; // 2^64 mod n
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            if low64(wide) >= least {
                #[allow(clippy::cast_possible_truncation)] // less than n
                return (wide >> 64) as usize;
            }
        }
    }

    /// A number in [0, 1): 53 random bits.
    pub fn unit(&mut self) -> f64 {
        crate::cast::real64(self.bits() >> 11) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Fisher-Yates: from the last index down to 1, each swapped with one of those up to itself.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // the low half is meant
const fn low(x: u64) -> u32 {
    x as u32
}

#[allow(clippy::cast_possible_truncation)] // the low half is meant
const fn low64(x: u128) -> u64 {
    x as u64
}

/// Block `counter` of the key stream with a zero nonce.
fn chacha8(key: &[u32; 8], counter: u64) -> [u64; 8] {
    let mut start = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    start[4..12].copy_from_slice(key);
    start[12] = low(counter);
    start[13] = low(counter >> 32);
    let mut x: [u32; 16] = start;
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        x[a] = x[a].wrapping_add(x[b]);
        x[d] = (x[d] ^ x[a]).rotate_left(16);
        x[c] = x[c].wrapping_add(x[d]);
        x[b] = (x[b] ^ x[c]).rotate_left(12);
        x[a] = x[a].wrapping_add(x[b]);
        x[d] = (x[d] ^ x[a]).rotate_left(8);
        x[c] = x[c].wrapping_add(x[d]);
        x[b] = (x[b] ^ x[c]).rotate_left(7);
    };
    for _ in 0..4 {
        for i in 0..4 {
            quarter(i, 4 + i, 8 + i, 12 + i);
        }
        for i in 0..4 {
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
    }
    let word = |i: usize| u64::from(x[i].wrapping_add(start[i]));
    std::array::from_fn(|i| word(2 * i) | word(2 * i + 1) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key and nonce of zeros: the ChaCha8 test vector of draft-strombergson-chacha-test-vectors-01.
    #[test]
    fn the_published_vector_comes_out() {
        let mut r = Random::new(0, 0, 0, "");
        let bytes: Vec<u8> = (0..2).flat_map(|_| r.bits().to_le_bytes()).collect();
        assert_eq!(bytes, [62, 0, 239, 47, 137, 95, 64, 214, 127, 91, 184, 232, 31, 9, 165, 161]);
    }

    #[test]
    fn below_is_uniform_and_streams_differ() {
        let mut counts = [0usize; 7];
        let mut r = Random::new(1, 2, 3, "test");
        (0..70_000).for_each(|_| counts[r.below(7)] += 1);
        // Ten standard deviations of a binomial with p = 1/7.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 930), "{counts:?}");
        let first = |seed, pass, shard, purpose| Random::new(seed, pass, shard, purpose).bits();
        let all = [
            first(1, 1, 0, "order"),
            first(2, 1, 0, "order"),
            first(1, 2, 0, "order"),
            first(1, 1, 1, "order"),
            first(1, 1, 0, "other"),
        ];
        assert!((0..5).all(|i| (0..i).all(|j| all[i] != all[j])));
        assert_eq!(r.below(0), 0);
        assert_eq!(r.below(1), 0);
    }

    /// Part of the format of a run: other numbers here are other models. They are from twenty lines of Python
    /// that follow the description above.
    #[test]
    fn the_numbers_are_these() {
        let mut r = Random::new(1, 2, 3, "pinned");
        let below: Vec<usize> = (0..12).map(|_| r.below(1000)).collect();
        assert_eq!(below, [832, 206, 599, 886, 73, 432, 769, 485, 250, 631, 145, 252]);
        // Large enough for numbers to be rejected.
        let most = (1 << 63) + 1;
        let below: Vec<usize> = (0..6).map(|_| r.below(most)).collect();
        let wanted = [
            5_036_569_614_736_534_380,
            62_534_174_302_510_201,
            9_144_157_454_223_508_779,
            9_031_046_664_354_993_176,
            1_640_827_012_354_994_778,
            3_276_799_769_313_474_727,
        ];
        assert_eq!(below, wanted);
        assert_eq!(r.unit().to_bits(), 4_603_766_268_138_859_818);
        let mut items: Vec<usize> = (0..8).collect();
        r.shuffle(&mut items);
        assert_eq!(items, [0, 6, 3, 1, 5, 7, 4, 2]);
    }

    #[test]
    fn unit_stays_below_one_and_a_shuffle_permutes() {
        let mut r = Random::new(9, 0, 0, "unit");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&r.unit())));
        let mut items: Vec<usize> = (0..100).collect();
        r.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
