//! The few conversions between number types that the rest of the project needs, in one place, so
//! that the cast lints can stay on everywhere else.

/// A count as a real number; exact below 2^53.
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub const fn real(n: usize) -> f64 {
    n as f64
}

/// A 64-bit count as a real number; exact below 2^53.
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub const fn real64(n: u64) -> f64 {
    n as f64
}

/// A number as 32 bits. Callers have checked their sizes where data enters (an indexer refuses more
/// than 2^32 - 1 of anything), so this only asserts it.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation)]
pub const fn narrow(n: usize) -> u32 {
    debug_assert!(n <= u32::MAX as usize);
    n as u32
}

/// A label number as 16 bits; far fewer labels are accepted where data enters.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation)]
pub const fn label(n: usize) -> u16 {
    debug_assert!(n <= u16::MAX as usize);
    n as u16
}

/// Rounds to single precision.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation)]
pub const fn single(x: f64) -> f32 {
    x as f32
}
