//! What the processor can do: vector instructions, found out once, and prefetching.

#![allow(unsafe_code)] // the prefetch instruction

/// Which instructions inner loops use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// What the build was made for.
    Portable,
    /// Vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2(Seen),
}

/// Proof that this processor has what it stands beside: only [`Isa::detect`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(());

impl Isa {
    /// The best one that this processor has.
    #[must_use]
    pub fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Isa::Avx2(Seen(()));
        }
        Isa::Portable
    }

    /// As printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => "avx2",
        }
    }
}

/// Asks for the cache line of `values[index]`; a hint, without effect outside the slice.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < values.len() {
        // SAFETY: prefetching has no effect on memory, and the address lies inside the slice.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().add(index).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// Calls `body`, an `#[inline(always)]` function, compiled for the best instructions there are.
macro_rules! for_this_processor {
    ($body:ident::<$($g:ident: $bound:path),*>($($arg:ident: $type:ty),*) $(-> $out:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn avx2<$($g: Copy + $bound),*>($($arg: $type),*) $(-> $out)? {
                $body($($arg),*)
            }
            if let Isa::Avx2(_) = Isa::detect() {
                // SAFETY: AVX2 was just seen on this processor.
                return unsafe { avx2($($arg),*) };
            }
        }
        $body($($arg),*)
    }};
}
pub(crate) use for_this_processor;
