//! The bytes of a model: mapped, or copied to memory that numbers may be read from in place.

#![allow(unsafe_code)] // memory maps

use std::fs::File;

pub(crate) enum Bytes {
    Mapped(memmap2::Mmap),
    /// Eight-byte words, so that every number type is aligned; and the length in bytes.
    Copied(Vec<u64>, usize),
}

impl Bytes {
    pub(crate) fn map(file: &File) -> std::io::Result<Bytes> {
        // SAFETY: the map is read only and private to this value. The one promise that nobody can
        // give is that no other program shortens or rewrites the file in place while it is mapped;
        // Seqoia itself never does (it writes beside and renames), and the checksum is tested right
        // after mapping, so what is left is a program that damages a model in use.
        Ok(Bytes::Mapped(unsafe { memmap2::Mmap::map(file)? }))
    }

    pub(crate) fn copy(bytes: &[u8]) -> Bytes {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Bytes::Copied(words, bytes.len())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Copied(words, length) => &bytemuck::cast_slice(words)[..*length],
        }
    }
}
