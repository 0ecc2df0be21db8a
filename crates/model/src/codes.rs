//! Weights in fewer bits, for smaller files.
//!
//! ```text
//! f16: IEEE 754 half precision, to the nearest, ties to even
//! i8:  w = most * sign(q) (q / 127)^2,  q from -127 to 127, most = the largest |w|
//! ```
//!
//! The square puts half of the codes below a quarter of the largest weight, where nearly all weights are.
//! A model is decoded when it is opened, in a pass over its weights, and is then as fast as any other:
//! prediction waits for the tables of attributes, not for weights.

use crate::{Container, Result, Writer};

/// How weights are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// Single precision.
    #[default]
    F32,
    /// Half precision.
    F16,
    /// Eight bits.
    I8,
}

const PLAIN: &str = "weights";
const HALVES: &str = "weights.f16";
const BYTES: &str = "weights.i8";
const MOST: &str = "weights.most";

impl Bits {
    /// All of them.
    pub const ALL: [Bits; 3] = [Bits::F32, Bits::F16, Bits::I8];

    /// The name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bits::F32 => "f32",
            Bits::F16 => "f16",
            Bits::I8 => "i8",
        }
    }

    /// Those of a model.
    #[must_use]
    pub fn of(container: &Container) -> Bits {
        let has = |bits: &Bits| container.has(bits.sections()[0]);
        Bits::ALL.into_iter().find(has).unwrap_or_default()
    }

    /// The parts of a model file that hold weights of this kind.
    #[must_use]
    pub fn sections(self) -> &'static [&'static str] {
        match self {
            Bits::F32 => &[PLAIN],
            Bits::F16 => &[HALVES],
            Bits::I8 => &[BYTES, MOST],
        }
    }
}

/// Weights as a model file has them.
#[derive(Clone, Debug)]
pub enum Coded {
    /// As they are.
    F32(Vec<f32>),
    /// Half precision.
    F16(Vec<u16>),
    /// One byte each.
    I8 {
        /// q, in two's complement.
        codes: Vec<u8>,
        /// The largest weight.
        most: [f32; 1],
    },
}

impl Coded {
    /// Weights in these bits.
    ///
    /// # Errors
    /// A weight that does not fit, or is not a finite number: a model that has one is not opened.
    pub fn new(weights: Vec<f32>, bits: Bits) -> std::result::Result<Coded, f32> {
        if let Some(w) = weights.iter().find(|w| !w.is_finite()) {
            return Err(*w);
        }
        Ok(match bits {
            Bits::F32 => Coded::F32(weights),
            Bits::F16 => {
                let halves = weights.iter().map(|w| to_half(*w).ok_or(*w));
                Coded::F16(halves.collect::<std::result::Result<_, _>>()?)
            }
            Bits::I8 => {
                let most = weights.iter().fold(0.0f32, |most, w| most.max(w.abs()));
                Coded::I8 { codes: weights.iter().map(|w| to_code(*w, most)).collect(), most: [most] }
            }
        })
    }

    /// The weights that the codes stand for.
    #[must_use]
    pub fn decoded(&self) -> Vec<f32> {
        match self {
            Coded::F32(weights) => weights.clone(),
            Coded::F16(halves) => halves.iter().copied().map(from_half).collect(),
            Coded::I8 { codes, most } => decode(codes, most[0]),
        }
    }

    /// Their kind.
    #[must_use]
    pub fn bits(&self) -> Bits {
        match self {
            Coded::F32(_) => Bits::F32,
            Coded::F16(_) => Bits::F16,
            Coded::I8 { .. } => Bits::I8,
        }
    }

    /// Adds a part of the file, one of [`Bits::sections`]; false if it is none of them.
    pub fn add<'a>(&'a self, section: &str, writer: &mut Writer<'a>) -> bool {
        if !self.bits().sections().contains(&section) {
            return false;
        }
        match self {
            Coded::F32(weights) => writer.add(section, weights),
            Coded::F16(halves) => writer.add(section, halves),
            Coded::I8 { most, .. } if section == MOST => writer.add(section, most),
            Coded::I8 { codes, .. } => writer.add(section, codes),
        }
        true
    }
}

/// The weights of a model that are not stored in single precision.
///
/// # Errors
/// A part that is missing or holds other numbers.
pub fn decoded(container: &Container) -> Result<Option<Vec<f32>>> {
    Ok(match Bits::of(container) {
        Bits::F32 => None,
        Bits::F16 => Some(container.get::<u16>(HALVES)?.iter().copied().map(from_half).collect()),
        Bits::I8 => {
            let most = container.get::<f32>(MOST)?.first().copied().unwrap_or(f32::NAN);
            Some(decode(container.get::<u8>(BYTES)?, most))
        }
    })
}

/// The weights of a model in single precision, in place.
///
/// # Errors
/// A part that is missing or holds other numbers.
pub fn plain(container: &Container) -> Result<&[f32]> {
    container.get(PLAIN)
}

const INFINITE: u16 = 0x7c00;
/// The bits of 65520, from where on the nearest half is infinite; those of what is no number lie above.
const TOO_LARGE: u32 = 0x477f_f000;

/// Half precision; none if the number is too large or none at all.
fn to_half(x: f32) -> Option<u16> {
    let (sign, size) = (x.to_bits() >> 16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    if size >= TOO_LARGE {
        return None;
    }
    let bits = if size < 0x3880_0000 {
        // Below 2^-14 the last bit stands for 2^-24.
        whole(f32::from_bits(size) * 16_777_216.0)
    } else {
        ((size + 0x0fff + (size >> 13 & 1)) >> 13).wrapping_sub(112 << 10)
    };
    u16::try_from(sign | bits).ok()
}

/// The nearest whole number of one up to 1024.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(x: f32) -> u32 {
    x.round_ties_even() as u32
}

fn from_half(half: u16) -> f32 {
    if half & INFINITE == INFINITE {
        return f32::NAN; // no weight
    }
    let size = f32::from_bits(u32::from(half & 0x7fff) << 13) * f32::from_bits(0x7780_0000); // 2^112
    if half & 0x8000 == 0 { size } else { -size }
}

#[allow(clippy::cast_possible_truncation)] // from -127 to 127
fn to_code(w: f32, most: f32) -> u8 {
    if most == 0.0 {
        return 0;
    }
    let code = (127.0 * (f64::from(w.abs()) / f64::from(most)).sqrt()).round().copysign(f64::from(w));
    (code as i8).cast_unsigned()
}

fn decode(codes: &[u8], most: f32) -> Vec<f32> {
    #[allow(clippy::cast_possible_truncation)] // to the nearest
    let value = |code: u8| {
        let part = f64::from(code.cast_signed()) / 127.0;
        (f64::from(most) * part * part.abs()) as f32
    };
    let table: Vec<f32> = (0..=u8::MAX).map(value).collect();
    codes.iter().map(|code| table[usize::from(*code)]).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn halves_come_back_and_are_the_nearest() {
        for half in 0..=u16::MAX {
            let x = from_half(half);
            if half & INFINITE == INFINITE {
                assert!(x.is_nan());
                continue;
            }
            assert_eq!(to_half(x), Some(half));
            // Half way to the next one goes to the even one, a little beside it to the nearer one.
            if half & 0x7fff < INFINITE - 1 {
                let middle = f32::midpoint(x, from_half(half + 1));
                assert_eq!(to_half(middle).unwrap(), half + (half & 1), "{half}");
                assert_eq!(to_half(middle * 0.9999), Some(half));
            }
        }
        assert_eq!((to_half(65519.0), to_half(65520.0), to_half(f32::INFINITY)), (Some(0x7bff), None, None));
    }

    /// By definition: of all halves the nearest, of two equally near ones the even one. Beyond the largest stands
    /// 2^16, whose place infinity takes.
    fn slowly(x: f32) -> Option<u16> {
        let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
        let value = |half: u16| if half == INFINITE { 65536.0 } else { f64::from(from_half(half)) };
        let far = |half: &u16| (f64::from(x.abs()).min(131_072.0) - value(*half)).abs();
        let nearest = (0..=INFINITE).min_by(|a, b| far(a).total_cmp(&far(b)).then((a & 1).cmp(&(b & 1))));
        nearest.filter(|half| *half != INFINITE && x.is_finite()).map(|half| half | sign)
    }

    #[test]
    fn a_half_is_the_nearest_one_or_none_whatever_the_size() {
        let powers = (0..=254u32).map(|exponent| f32::from_bits(exponent << 23));
        let edges = [65504.0, 65519.0, 65520.0, 65536.0, 1e5, 1e6, 1e9, f32::MAX, f32::INFINITY, f32::NAN];
        for x in powers.chain(edges).chain([0.5f32.powi(24), 0.5f32.powi(25) * 3.0, 0.5f32.powi(14)]) {
            for x in [x.next_down(), x, x.next_up(), x * 1.5] {
                assert_eq!([to_half(x), to_half(-x)], [slowly(x), slowly(-x)], "{x:e}");
            }
        }
    }

    #[test]
    fn codes_come_back_and_are_near() {
        let weights: Vec<f32> = (-1000..=1000i16).map(|i| f32::from(i) / 100.0).collect();
        let coded = Coded::new(weights.clone(), Bits::I8).unwrap();
        let decoded = coded.decoded();
        for (w, d) in weights.iter().zip(&decoded) {
            // Half a step: the codes are 2 sqrt(w most) / 127 apart.
            assert!((w - d).abs() <= (w.abs() * 10.0).sqrt() / 127.0 + 10.0 / (127.0 * 127.0), "{w} {d}");
            assert!(w * d >= 0.0);
        }
        let again = Coded::new(decoded.clone(), Bits::I8).unwrap();
        assert_eq!(again.decoded(), decoded);
        assert_eq!(Coded::new(vec![0.0], Bits::I8).unwrap().decoded(), [0.0]);
    }
}
