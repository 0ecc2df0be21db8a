//! A long list of single numbers in a file: what learners remember of each example.

use super::{Place, Scratch};
use crate::error::Result;
use seqoia_core::Shelf;

/// Numbers that are converted at a time.
const AT_ONCE: usize = 1024;

/// A list of numbers, all 0 at first.
#[derive(Debug)]
pub struct Numbers {
    place: Place,
}

impl Numbers {
    /// Room for so many.
    ///
    /// # Errors
    /// When no file can be made.
    pub fn new(scratch: &Scratch, length: usize) -> Result<Numbers> {
        let place = scratch.place()?;
        place.resize(4 * length as u64)?;
        Ok(Numbers { place })
    }
}

/// What a learner is told: an error of a disk is none of an example.
pub(super) fn told(error: crate::error::Error) -> seqoia_core::Error {
    seqoia_core::Error::Learner(error.to_string())
}

impl Shelf for Numbers {
    fn get(&self, at: usize, to: &mut [f32]) -> seqoia_core::Result<()> {
        let mut bytes = [0; 4 * AT_ONCE];
        for (i, to) in to.chunks_mut(AT_ONCE).enumerate() {
            let bytes = &mut bytes[..4 * to.len()];
            self.place.read(4 * (at + i * AT_ONCE) as u64, bytes).map_err(told)?;
            to.iter_mut().zip(bytes.as_chunks::<4>().0).for_each(|(x, b)| *x = f32::from_le_bytes(*b));
        }
        Ok(())
    }

    fn put(&self, at: usize, from: &[f32]) -> seqoia_core::Result<()> {
        let mut bytes = [0; 4 * AT_ONCE];
        for (i, from) in from.chunks(AT_ONCE).enumerate() {
            let bytes = &mut bytes[..4 * from.len()];
            bytes.as_chunks_mut::<4>().0.iter_mut().zip(from).for_each(|(b, x)| *b = x.to_le_bytes());
            self.place.write(4 * (at + i * AT_ONCE) as u64, bytes).map_err(told)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_where_they_are_put() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = Numbers::new(&Scratch::new(folder.path()), 5000).unwrap();
        let new: Vec<f32> = (0..3000_u16).map(f32::from).collect();
        numbers.put(1500, &new).unwrap();
        let mut all = vec![1.0; 5000];
        numbers.get(0, &mut all).unwrap();
        assert!(all[..1500].iter().chain(&all[4500..]).all(|x| *x == 0.0));
        assert_eq!(all[1500..4500], new);
        assert!(numbers.get(4999, &mut [0.0; 2]).is_err());
    }
}
