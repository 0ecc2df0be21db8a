//! e^x and ln x, the same bits on every machine and fit for vector loops: no branch, no table, no
//! call.
//!
//! ```text
//! e^x = 2^k e^r,  k = round(x / ln 2),  r = x - k ln 2 in two pieces (Cody & Waite 1980)
//! ln x = k ln 2 + 2 atanh(s),  x = 2^k m,  sqrt(1/2) <= m < sqrt(2),  s = (m - 1) / (m + 1)
//! ```
//!
//! Both use the plain series: |r| <= 0.347 and |s| <= 0.172 make it short enough.

/// ln 2 with the last 21 bits zero, so that k times it is exact, and the rest.
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 * 2^52: adding it rounds to a whole number, which then stands in the low bits.
const ROUND64: f64 = 6_755_399_441_055_744.0;
/// 1.5 * 2^23, for single precision.
const ROUND32: f32 = 12_582_912.0;

/// e^x for x <= 709; relative error below 1e-15; 0 below -708.
#[inline(always)]
pub(crate) fn exp64(x: f64) -> f64 {
    exp64_each([x])[0]
}

/// The same for several. Written step by step over all of them, since a loop over whole exponentials is unrolled into
/// single numbers where it is short.
#[inline(always)]
pub(crate) fn exp64_each<const N: usize>(x: [f64; N]) -> [f64; N] {
    let each = |f: &dyn Fn(usize) -> f64| -> [f64; N] { std::array::from_fn(f) };
    let shifted = each(&|j| x[j] * std::f64::consts::LOG2_E + ROUND64);
    let k = each(&|j| shifted[j] - ROUND64);
    let r = each(&|j| (x[j] - k[j] * LN2_HIGH) - k[j] * LN2_LOW);
    // Series up to r^13 / 13!, in pairs that do not wait for each other.
    let r2 = each(&|j| r[j] * r[j]);
    let r4 = each(&|j| r2[j] * r2[j]);
    let a = each(&|j| (1.0 + r[j]) + r2[j] * (1.0 / 2.0 + r[j] * (1.0 / 6.0)));
    let b = each(&|j| (1.0 / 24.0 + r[j] * (1.0 / 120.0)) + r2[j] * (1.0 / 720.0 + r[j] * (1.0 / 5040.0)));
    let c = each(&|j| {
        (1.0 / 40_320.0 + r[j] * (1.0 / 362_880.0))
            + r2[j] * (1.0 / 3_628_800.0 + r[j] * (1.0 / 39_916_800.0))
    });
    let d = each(&|j| 1.0 / 479_001_600.0 + r[j] * (1.0 / 6_227_020_800.0));
    let y = each(&|j| a[j] + r4[j] * (b[j] + r4[j] * (c[j] + r4[j] * d[j])));
    let two_k = each(&|j| f64::from_bits((shifted[j].to_bits() << 52).wrapping_add(1.0f64.to_bits())));
    each(&|j| if x[j] < -708.0 { 0.0 } else { y[j] * two_k[j] })
}

/// e^x for several x <= 88; relative error below 3e-7; 0 below -87.
#[inline(always)]
pub(crate) fn exp32_each<const N: usize>(x: [f32; N]) -> [f32; N] {
    let each = |f: &dyn Fn(usize) -> f32| -> [f32; N] { std::array::from_fn(f) };
    let shifted = each(&|j| x[j] * std::f32::consts::LOG2_E + ROUND32);
    let k = each(&|j| shifted[j] - ROUND32);
    let r = each(&|j| (x[j] - k[j] * 0.693_359_4) - k[j] * -2.121_944_4e-4);
    let r2 = each(&|j| r[j] * r[j]);
    let a = each(&|j| (1.0 + r[j]) + r2[j] * (1.0 / 2.0 + r[j] * (1.0 / 6.0)));
    let b = each(&|j| (1.0 / 24.0 + r[j] * (1.0 / 120.0)) + r2[j] * (1.0 / 720.0 + r[j] * (1.0 / 5040.0)));
    let y = each(&|j| a[j] + (r2[j] * r2[j]) * b[j]);
    let two_k = each(&|j| f32::from_bits((shifted[j].to_bits() << 23).wrapping_add(1.0f32.to_bits())));
    each(&|j| if x[j] < -87.0 { 0.0 } else { y[j] * two_k[j] })
}

/// ln x for normal x; error below 2 units in the last place. What is no positive, finite, normal number
/// gives none either, so that a broken sum is seen.
pub(crate) fn ln(x: f64) -> f64 {
    if !(f64::MIN_POSITIVE..=f64::MAX).contains(&x) {
        return f64::NAN;
    }
    let bits = x.to_bits();
    // The exponent of x / sqrt(1/2), so that m lies around 1.
    let k = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd).cast_signed() >> 52;
    let m = f64::from_bits(bits.wrapping_sub((k << 52).cast_unsigned()));
    #[allow(clippy::cast_precision_loss)] // |k| <= 1100
    let k = k as f64;
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut sum = 0.0;
    for n in (1..=10).rev() {
        sum = (sum + 1.0 / f64::from(2 * n + 1)) * z;
    }
    // 2 atanh(s) = f - s (f - 2 sum), which keeps the digits of f for x near 1.
    k * LN2_HIGH + (f - (s * (f - 2.0 * sum) - k * LN2_LOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_to_the_system_one() {
        let mut x = -708.0;
        while x <= 709.0 {
            let (ours, theirs) = (exp64(x), x.exp());
            assert!((ours - theirs).abs() <= 4e-16 * theirs * 2.5, "exp({x}) = {ours}, not {theirs}");
            x += 0.001_37;
        }
        assert_eq!((exp64(0.0), exp64(-1e4), exp64(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn single_exp_is_close() {
        let mut x = -87.0f32;
        while x <= 88.0 {
            let (ours, theirs) = (f64::from(exp32_each([x])[0]), f64::from(x).exp());
            assert!((ours - theirs).abs() <= 3e-7 * theirs, "exp({x}) = {ours}, not {theirs}");
            x += 0.001_3;
        }
        assert_eq!(exp32_each([0.0, -1e4, f32::NEG_INFINITY]), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn ln_is_close_and_undoes_exp() {
        let mut x = 1e-300;
        while x < 1e300 {
            let (ours, theirs) = (ln(x), x.ln());
            assert!(
                (ours - theirs).abs() <= 4.5e-16 * theirs.abs().max(1e-300),
                "ln({x}) = {ours}, not {theirs}"
            );
            x *= 1.000_91;
        }
        for i in 1..1000 {
            let x = 1.0 + f64::from(i) * 1e-9;
            assert!((ln(x) - (x - 1.0).ln_1p()).abs() < 1e-24 + 4e-16 * (x - 1.0));
        }
        assert_eq!(ln(1.0), 0.0);
    }
}
