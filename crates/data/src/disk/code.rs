//! Numbers in few bytes: seven bits each, low ones first, the high bit set in all bytes but the last.

/// The most bytes that a number takes.
pub(crate) const LONGEST: usize = 5;

/// Appends a number.
#[inline]
pub(crate) fn put(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        #[allow(clippy::cast_possible_truncation)] // the low seven bits
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[allow(clippy::cast_possible_truncation)] // less than 128
    bytes.push(number as u8);
}

/// Takes a number off the front; none if there is none.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(first.into());
    }
    let (mut number, mut shift) = (u32::from(first & 0x7f), 7);
    for (i, &byte) in rest.iter().enumerate().take(LONGEST - 1) {
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            *bytes = &rest[i + 1..];
            return Some(number);
        }
        shift += 7;
    }
    None
}

/// Appends a single number as it is.
pub(crate) fn put_single(x: f32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&x.to_le_bytes());
}

/// Takes one off the front.
pub(crate) fn take_single(bytes: &mut &[u8]) -> Option<f32> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(f32::from_le_bytes(*first))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_cut_ones_do_not() {
        let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 21, 1 << 28, u32::MAX - 1, u32::MAX];
        let mut bytes = vec![];
        numbers.iter().for_each(|&n| put(n, &mut bytes));
        put_single(-0.5, &mut bytes);
        let mut rest = bytes.as_slice();
        assert!(numbers.iter().all(|&n| take(&mut rest) == Some(n)));
        assert_eq!((take_single(&mut rest), rest.len()), (Some(-0.5), 0));
        assert_eq!((take(&mut rest), take_single(&mut rest)), (None, None));
        for n in numbers {
            let mut one = vec![];
            put(n, &mut one);
            assert!(one.len() <= LONGEST);
            assert_eq!(take(&mut &one[..one.len() - 1]), None);
        }
        assert_eq!(take(&mut &[0xff; 9][..]), None);
    }
}
