//! Sums and scaled sums of whole planes, in an order that does not depend on threads or on vector
//! width: eight running sums, added pairwise at the end, so that the compiler may use vectors of two,
//! four or eight numbers and gives the same bits with each.

#![allow(unsafe_code)] // the call into a function compiled for an instruction set that was detected

use crate::Isa;

const LANES: usize = 8;

/// `sum_j a_j b_j`, in double precision whatever the planes are kept in.
#[must_use]
pub fn dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
            dot_body(a, b)
        }
        if Isa::detect() == Isa::Avx2 {
            // SAFETY: AVX2 was just seen on this processor.
            return unsafe { avx2(a, b) };
        }
    }
    dot_body(a, b)
}

#[inline(always)]
fn dot_body<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    let n = a.len().min(b.len());
    let (a8, ra) = a[..n].as_chunks::<LANES>();
    let (b8, rb) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a8.iter().zip(b8) {
        for j in 0..LANES {
            sums[j] += a[j].into() * b[j].into();
        }
    }
    for (j, (a, b)) in ra.iter().zip(rb).enumerate() {
        sums[j] += (*a).into() * (*b).into();
    }
    let four: [f64; 4] = std::array::from_fn(|j| sums[j] + sums[j + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// `to += step * x`.
pub fn add_scaled<X: Copy + Into<f64>>(step: f64, x: &[X], to: &mut [f64]) {
    #[inline(always)]
    fn body<X: Copy + Into<f64>>(step: f64, x: &[X], to: &mut [f64]) {
        to.iter_mut().zip(x).for_each(|(to, x)| *to += step * (*x).into());
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<X: Copy + Into<f64>>(step: f64, x: &[X], to: &mut [f64]) {
            body(step, x, to);
        }
        if Isa::detect() == Isa::Avx2 {
            // SAFETY: AVX2 was just seen on this processor.
            return unsafe { avx2(step, x, to) };
        }
    }
    body(step, x, to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::real;

    #[test]
    fn vectors_of_any_width_give_the_same_bits() {
        let a: Vec<f32> = (0..4099u16).map(|i| f32::from(i).sin()).collect();
        let b: Vec<f64> = (0..4099).map(|i| (real(i) * 0.37).cos()).collect();
        assert_eq!(dot(&a, &b).to_bits(), dot_body(&a, &b).to_bits());
    }

    #[test]
    fn dot_equals_the_plain_sum() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(|i| real(i) * 0.5 - 3.0).collect();
            let b: Vec<f64> = (0..n).map(|i| 7.0 - real(i)).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-9);
        }
    }
}
