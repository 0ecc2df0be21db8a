//! Numbers for strings and for tuples of numbers: open addressing, linear probing.
//!
//! Written by hand because the tables are part of the model file and are looked up in the mapped
//! bytes as they stand: the arrays of a growing table and of a mapped one are the same, and so is the
//! look-up. Of 2^k slots each holds 0, or a number plus 1 in its low k bits and bits of the hash above
//! them: nearly every look at a tuple or string that is not the one, a cache miss each, is saved.
//! Hashes on disk must never change: XXH3 for strings,
//! two multiplications for tuples. A damaged table can give wrong answers but no panic and no endless
//! loop.

use seqoia_core::cast::narrow;
use seqoia_core::prefetch;
use xxhash_rust::xxh3::xxh3_64;

/// No value here: an attribute that has this piece does not exist.
pub const NONE: u32 = u32::MAX;
/// A value that the table does not know: no known attribute has it.
pub const UNKNOWN: u32 = u32::MAX - 1;
/// The largest number a table gives.
const LAST: usize = (u32::MAX - 16) as usize;

/// Borrowed arrays of a table of strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct StringsView<'a> {
    /// All strings, one after another.
    pub text: &'a [u8],
    /// Where each begins, and the end: `[n + 1]`.
    pub starts: &'a [u32],
    /// A power of two of them, or none.
    pub slots: &'a [u32],
}

impl<'a> StringsView<'a> {
    /// Number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// No strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// String number `id`; nothing if there is none.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&'a [u8]> {
        let (from, to) = (*self.starts.get(id as usize)?, *self.starts.get(id as usize + 1)?);
        self.text.get(from as usize..to as usize)
    }

    /// Whether it is one that [`Strings`] could have made, as far as the time of a look-up depends on it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        is_sound(self.slots, self.len())
    }

    /// The number of a string, or [`UNKNOWN`].
    #[inline]
    #[must_use]
    pub fn find(&self, string: &[u8]) -> u32 {
        self.find_hashed(string, hash_string(string))
    }

    /// The same for a string whose hash is known.
    #[inline]
    #[must_use]
    pub fn find_hashed(&self, string: &[u8], code: u64) -> u32 {
        find(self.slots, code, |id| self.is(id, string)).unwrap_or(UNKNOWN)
    }

    /// Asks for the slot of a string with this hash, so that it is there when it is looked at.
    #[inline]
    pub fn fetch_slot(&self, code: u64) {
        if !self.slots.is_empty() {
            prefetch(self.slots, home(code, self.slots.len()));
        }
    }

    /// Asks for the place of the string that the slot of this hash names, and tells its number.
    #[inline]
    pub fn fetch_start(&self, code: u64) -> Option<u32> {
        let id = find(self.slots, code, |_| true)?;
        prefetch(self.starts, id as usize);
        Some(id)
    }

    /// Asks for the text of a string.
    #[inline]
    pub fn fetch_text(&self, id: u32) {
        if let Some(start) = self.starts.get(id as usize) {
            prefetch(self.text, *start as usize);
        }
    }

    /// Whether a number is that of a string.
    #[inline]
    pub(super) fn is(&self, id: u32, string: &[u8]) -> bool {
        self.get(id).is_some_and(|other| same(other, string))
    }
}

/// Strings with numbers in order of arrival.
#[derive(Clone, Debug)]
pub struct Strings {
    text: Vec<u8>,
    starts: Vec<u32>,
    slots: Vec<u32>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { text: vec![], starts: vec![0], slots: vec![] }
    }
}

impl Strings {
    /// The arrays.
    #[must_use]
    pub fn view(&self) -> StringsView<'_> {
        StringsView { text: &self.text, starts: &self.starts, slots: &self.slots }
    }

    /// The number of a string, a new one if it is new; `None` if the table is full (4 GiB of text).
    #[inline]
    pub fn intern(&mut self, string: &[u8]) -> Option<u32> {
        self.intern_hashed(string, hash_string(string))
    }

    /// The same for a string whose hash is known.
    #[inline]
    pub fn intern_hashed(&mut self, string: &[u8], code: u64) -> Option<u32> {
        match find(&self.slots, code, |id| self.view().is(id, string)) {
            Some(id) => Some(id),
            None => self.add(string, code),
        }
    }

    /// Bytes that are in use.
    pub(super) fn used(&self) -> usize {
        self.text.len() + 4 * (self.starts.len() + self.slots.len())
    }

    /// Takes in a string that is not there.
    fn add(&mut self, string: &[u8], code: u64) -> Option<u32> {
        let id = self.view().len();
        if self.text.len() + string.len() > LAST || id >= LAST {
            return None;
        }
        if crowded(id + 1, self.slots.len()) {
            let slots = (self.slots.len() * 2).max(64);
            self.slots =
                fill(slots, (0..narrow(id)).map(|i| xxh3_64(self.view().get(i).unwrap_or_default())));
        }
        put(&mut self.slots, code, narrow(id));
        self.text.extend_from_slice(string);
        self.starts.push(narrow(self.text.len()));
        Some(narrow(id))
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.capacity() + 4 * (self.starts.capacity() + self.slots.capacity())
    }
}

/// Some strings of a table, numbered in the order in which they are asked for: each is hashed once, at the end.
#[derive(Clone, Debug)]
pub struct Renumbered<'a> {
    from: StringsView<'a>,
    numbers: Vec<u32>, // of each string of the table, or NONE
    to: Strings,       // without slots
}

impl<'a> Renumbered<'a> {
    /// Of a table, none of them yet.
    #[must_use]
    pub fn new(from: StringsView<'a>) -> Self {
        Renumbered { from, numbers: vec![NONE; from.len()], to: Strings::default() }
    }

    /// The new number of a string; one that the table does not have is the empty string.
    #[inline]
    pub fn number(&mut self, old: u32) -> u32 {
        let Renumbered { from, numbers, to } = self;
        let mut add = || {
            let id = to.view().len();
            to.text.extend_from_slice(from.get(old).unwrap_or_default());
            to.starts.push(narrow(to.text.len())); // a part of a table that fitted fits
            narrow(id)
        };
        match numbers.get_mut(old as usize) {
            Some(number) if *number == NONE => {
                *number = add();
                *number
            }
            Some(number) => *number,
            None => add(),
        }
    }

    /// They as a table: the one that taking them in one after another would have given.
    #[must_use]
    pub fn finish(self) -> Strings {
        let mut strings = self.to;
        let codes =
            (0..narrow(strings.view().len())).map(|i| xxh3_64(strings.view().get(i).unwrap_or_default()));
        strings.slots = fill(slots_for(codes.len()), codes);
        strings
    }
}

/// Borrowed arrays of a table of tuples.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeysView<'a> {
    /// Numbers of a tuple.
    pub stride: usize,
    /// The tuples, one after another.
    pub keys: &'a [u32],
    /// A power of two of them, or none.
    pub slots: &'a [u32],
}

impl<'a> KeysView<'a> {
    /// Number of tuples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len().checked_div(self.stride).unwrap_or(0)
    }

    /// No tuples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tuple number `id`; nothing if there is none.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&'a [u32]> {
        let at = id as usize * self.stride;
        self.keys.get(at..at + self.stride)
    }

    /// Whether it is one that [`Keys`] could have made, as far as the time of a look-up depends on it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        is_sound(self.slots, self.len())
    }

    /// Asks for the slot of a tuple with this hash, so that it is there when it is looked at.
    #[inline]
    pub fn fetch_slot(&self, code: u64) {
        if !self.slots.is_empty() {
            prefetch(self.slots, home(code, self.slots.len()));
        }
    }

    /// Asks for the tuple that the slot of this hash names, and tells its number.
    #[inline]
    pub fn fetch_key(&self, code: u64) -> Option<u32> {
        let id = find(self.slots, code, |_| true)?;
        prefetch(self.keys, id as usize * self.stride);
        Some(id)
    }

    /// Whether a number is that of a tuple.
    #[inline]
    pub(super) fn is(&self, id: u32, key: &[u32]) -> bool {
        self.get(id).is_some_and(|k| equal(k, key))
    }

    /// The number of a tuple, or [`UNKNOWN`].
    #[inline]
    #[must_use]
    pub fn find(&self, key: &[u32]) -> u32 {
        self.find_hashed(key, hash(key))
    }

    /// The same for a tuple whose hash is known.
    #[inline]
    #[must_use]
    pub fn find_hashed(&self, key: &[u32], code: u64) -> u32 {
        find(self.slots, code, |id| self.is(id, key)).unwrap_or(UNKNOWN)
    }
}

/// Tuples with numbers in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    stride: usize,
    keys: Vec<u32>,
    slots: Vec<u32>,
}

impl Keys {
    /// For tuples of `stride` numbers.
    #[must_use]
    pub fn new(stride: usize) -> Self {
        Keys { stride, ..Keys::default() }
    }

    /// The table of tuples of which none stands twice, one after another: the one that taking them in one after
    /// another would have given.
    #[must_use]
    pub fn of_distinct(stride: usize, keys: Vec<u32>) -> Self {
        let codes = keys.chunks_exact(stride.max(1)).map(hash);
        let slots = fill(slots_for(codes.len()), codes);
        Keys { stride, keys, slots }
    }

    /// The arrays.
    #[must_use]
    pub fn view(&self) -> KeysView<'_> {
        KeysView { stride: self.stride, keys: &self.keys, slots: &self.slots }
    }

    /// The number of a tuple, a new one if it is new; `None` if the table is full.
    #[inline]
    pub fn intern(&mut self, key: &[u32]) -> Option<u32> {
        self.intern_hashed(key, hash(key))
    }

    /// The same for a tuple whose hash is known.
    #[inline]
    pub fn intern_hashed(&mut self, key: &[u32], code: u64) -> Option<u32> {
        if let Some(id) = find(&self.slots, code, |id| self.view().is(id, key)) {
            return Some(id);
        }
        let id = self.view().len();
        if id >= LAST {
            return None;
        }
        if crowded(id + 1, self.slots.len()) {
            let slots = (self.slots.len() * 2).max(64);
            self.slots = fill(slots, self.keys.chunks_exact(self.stride).map(hash));
        }
        put(&mut self.slots, code, narrow(id));
        self.keys.extend_from_slice(key);
        Some(narrow(id))
    }

    /// Bytes that are in use.
    pub(super) fn used(&self) -> usize {
        4 * (self.keys.len() + self.slots.len())
    }

    /// Takes in a tuple that is not there and will only be asked for by its number.
    #[inline]
    pub(super) fn push(&mut self, key: &[u32]) {
        self.keys.extend_from_slice(key);
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.keys.capacity() + self.slots.capacity())
    }
}

/// The hash of a string, as tables want it.
#[inline]
#[must_use]
pub(super) fn hash_string(string: &[u8]) -> u64 {
    xxh3_64(string)
}

/// Whether two strings are the same. Most are short: two words each, which may overlap, beat a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    fn ends<const N: usize>(s: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
        Some((s.first_chunk()?, s.last_chunk()?))
    }
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        4..=8 => ends::<4>(a) == ends::<4>(b),
        9..=16 => ends::<8>(a) == ends::<8>(b),
        _ => a == b,
    }
}

/// Tuples are short: a loop in place beats a call.
#[inline]
fn equal(a: &[u32], b: &[u32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// At most two thirds of the slots are used.
fn crowded(entries: usize, slots: usize) -> bool {
    entries * 3 > slots * 2
}

/// How many slots a table of so many entries has.
fn slots_for(entries: usize) -> usize {
    let mut slots = if entries == 0 { 0 } else { 64 };
    while crowded(entries, slots) {
        slots *= 2;
    }
    slots
}

/// What an unknown entry may cost: slots looked at, on average. Two thirds full, a table takes 5.
const MOST_LOOKS: usize = 64;

/// Whether slots hold so many entries, are no fuller than any that are made here, and are not in one row: a file may
/// hold any numbers, and look-ups in its tables are to stay fast.
fn is_sound(slots: &[u32], entries: usize) -> bool {
    if slots.is_empty() {
        return entries == 0;
    }
    if !slots.len().is_power_of_two() || crowded(entries, slots.len()) {
        return false;
    }
    // A run of n slots in use takes 1 + 2 + ... + n looks. Without branches: every model that is opened goes through.
    let (mut used, mut looks, mut run) = (0, 0, 0);
    for slot in slots {
        let in_use = usize::from(*slot != 0);
        run = (run + 1) & in_use.wrapping_neg();
        used += in_use;
        looks += run;
    }
    used == entries && looks / slots.len() <= MOST_LOOKS
}

/// Two numbers a round, folded by a wide multiplication: all bits of the input reach all bits used.
#[inline]
#[must_use]
pub(super) fn hash(key: &[u32]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15_u64;
    for pair in key.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        let wide = u128::from(h ^ word) * u128::from(0xd6e8_feb8_6659_fd93_u64 ^ word.rotate_left(32));
        #[allow(clippy::cast_possible_truncation)] // both halves are used
        let folded = (wide >> 64) as u64 ^ wide as u64;
        h = folded;
    }
    h
}

/// The first slot to look at: the high bits, which a multiplication mixes best.
#[inline]
fn home(code: u64, slots: usize) -> usize {
    #[allow(clippy::cast_possible_truncation)] // slots are fewer than 2^33
    let at = (code >> 29) as usize;
    at & (slots - 1)
}

/// What a slot of this many must hold above its number.
#[inline]
fn tag(code: u64, slots: usize) -> u32 {
    let bits = slots.trailing_zeros();
    #[allow(clippy::cast_possible_truncation)] // the low bits, which `home` does not look at
    let low = code as u32;
    low.checked_shl(bits).unwrap_or(0)
}

/// The number in a slot, if there is one.
#[inline]
fn number(slot: u32, slots: usize) -> Option<u32> {
    (slot & narrow(slots - 1)).checked_sub(1)
}

/// Calls `is_it` for the numbers that may be the right one.
#[inline(always)]
fn find(slots: &[u32], code: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
    if !slots.len().is_power_of_two() {
        return None;
    }
    let (mut at, tag, low) = (home(code, slots.len()), tag(code, slots.len()), narrow(slots.len() - 1));
    for _ in 0..slots.len() {
        let slot = slots[at];
        if slot & !low == tag {
            let id = number(slot, slots.len())?;
            if is_it(id) {
                return Some(id);
            }
        } else if slot == 0 {
            return None;
        }
        at = (at + 1) & (slots.len() - 1);
    }
    None
}

fn put(slots: &mut [u32], code: u64, id: u32) {
    let mut at = home(code, slots.len());
    while slots[at] != 0 {
        at = (at + 1) & (slots.len() - 1);
    }
    slots[at] = tag(code, slots.len()) | (id + 1);
}

/// The slots of entries with these hashes. A large table is out of every cache: some slots are asked for at once.
fn fill(slots: usize, mut codes: impl Iterator<Item = u64>) -> Vec<u32> {
    const AT_ONCE: usize = 32;
    let (mut table, mut id) = (vec![0; slots], 0);
    loop {
        let (mut some, mut met) = ([0; AT_ONCE], 0);
        for (some, code) in some.iter_mut().zip(&mut codes) {
            *some = code;
            prefetch(&table, home(code, slots));
            met += 1;
        }
        if met == 0 {
            return table;
        }
        for &code in &some[..met] {
            put(&mut table, code, id);
            id += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_numbers() {
        let mut table = Strings::default();
        let names: Vec<String> = (0..5000).map(|i| format!("w{}", i * 7 % 3001)).collect();
        let ids: Vec<u32> = names.iter().map(|n| table.intern(n.as_bytes()).unwrap()).collect();
        assert_eq!(table.view().len(), 3001);
        for (name, id) in names.iter().zip(&ids) {
            assert_eq!(table.view().find(name.as_bytes()), *id);
            assert_eq!(table.view().get(*id), Some(name.as_bytes()));
        }
        assert_eq!(table.view().find(b"nothing"), UNKNOWN);
        assert_eq!(table.view().get(3001), None);
        assert_eq!(table.intern(b""), table.intern(b""));
    }

    #[test]
    fn short_strings_are_compared_as_a_whole() {
        for length in 0..40 {
            let string = vec![b'a'; length];
            assert!(same(&string, &string.clone()));
            assert!(!same(&string, &vec![b'a'; length + 1]));
            for at in 0..length {
                let mut other = string.clone();
                other[at] = b'b';
                assert!(!same(&string, &other), "{length} {at}");
            }
        }
    }

    #[test]
    fn tables_made_at_once_are_those_made_one_by_one() {
        for n in [0, 1, 42, 43, 86, 3000] {
            let (mut one_by_one, mut keys) = (Strings::default(), Keys::new(2));
            for i in 0..n {
                one_by_one.intern(format!("s{i}").as_bytes()).unwrap();
                keys.intern(&[i, i / 2]).unwrap();
            }
            let mut renumbered = Renumbered::new(one_by_one.view());
            // Every other one twice, from the last on.
            let numbers: Vec<u32> = (0..n).rev().flat_map(|i| [i, i]).map(|i| renumbered.number(i)).collect();
            assert!(numbers.iter().zip(0..).all(|(number, i)| *number == i / 2));
            let (at_once, mut expected) = (renumbered.finish(), Strings::default());
            (0..n).rev().for_each(|i| assert!(expected.intern(format!("s{i}").as_bytes()).is_some()));
            assert_eq!((&at_once.text, &at_once.starts), (&expected.text, &expected.starts));
            assert_eq!(at_once.slots, expected.slots);
            assert_eq!(Keys::of_distinct(2, keys.keys.clone()).slots, keys.slots);
        }
    }

    #[test]
    fn tuples_keep_their_numbers() {
        for stride in [1, 2, 3, 4, 6] {
            let mut table = Keys::new(stride);
            let key = |i: u32| (0..narrow(stride)).map(|j| i.rotate_left(j) % 900).collect::<Vec<_>>();
            let ids: Vec<u32> = (0..2000).map(|i| table.intern(&key(i)).unwrap()).collect();
            for (i, id) in ids.iter().enumerate() {
                assert_eq!(table.view().find(&key(narrow(i))), *id);
            }
            assert_eq!(table.view().find(&vec![901; stride]), UNKNOWN);
        }
    }

    #[test]
    fn equal_hashes_are_told_apart_by_what_they_stand_for() {
        let mut slots = vec![0; 8];
        let codes = [7, 7, 7 + (1 << 29), 7]; // one with another home and the same tag
        codes.iter().zip(0..).for_each(|(&code, id)| put(&mut slots, code, id));
        for (&code, id) in codes.iter().zip(0..) {
            assert_eq!(find(&slots, code, |found| found == id), Some(id));
        }
        assert_eq!(find(&slots, 7, |_| false), None);
        assert_eq!(find(&slots, 8, |_| true), None); // another tag, the same home
    }

    #[test]
    fn a_damaged_table_ends_its_search() {
        let view = KeysView { stride: 2, keys: &[1, 2, 3, 4], slots: &[9, 9, 9, 9] };
        assert_eq!(view.find(&[1, 2]), UNKNOWN);
        let view = StringsView { text: b"abc", starts: &[0, 9, 2], slots: &[1, 2, 3, 4, 5] };
        assert_eq!(view.find(b"abc"), UNKNOWN);
        assert_eq!(StringsView { slots: &[1, 2], ..view }.find(b"abc"), UNKNOWN);
    }

    #[test]
    fn tables_that_were_made_are_sound_and_others_are_not() {
        let (mut strings, mut keys) = (Strings::default(), Keys::new(2));
        assert!(strings.view().is_sound() && keys.view().is_sound());
        for i in 0..20_000u32 {
            strings.intern(i.to_string().as_bytes()).unwrap();
            keys.intern(&[i / 100, i % 100]).unwrap();
            if i % 997 == 0 {
                assert!(strings.view().is_sound() && keys.view().is_sound(), "{i}");
            }
        }
        let mut in_a_row = keys.view().slots.to_vec();
        in_a_row.sort_unstable();
        assert!(!is_sound(&in_a_row, keys.view().len()));
        assert!(!is_sound(keys.view().slots, keys.view().len() - 1));
        assert!(!is_sound(&[], 1));
        assert!(!is_sound(&[1; 64], 64));
        assert!(!is_sound(&[0; 48], 0));
    }

    /// The numbers that stand in model files.
    #[test]
    fn hashes_never_change() {
        assert_eq!(hash(&[1, 2, 3, 4]), hash(&[1, 2, 3, 4]));
        assert_eq!([hash(&[0]), hash(&[7, 9]), hash(&[1, 2, 3])], PINNED);
    }
    const PINNED: [u64; 3] =
        [14_544_503_408_999_129_173, 8_746_169_466_331_606_119, 12_144_581_023_175_207_211];
}
