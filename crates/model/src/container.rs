//! Reading: everything is checked before a number is handed out.

use std::fs::File;
use std::path::Path;

use crate::error::{Error, Result};
use crate::map::Bytes;
use crate::{ALIGN, CHECKED, ENTRY, HEADER, MAGIC, VERSION};
use xxhash_rust::xxh3::xxh3_64;

/// Number types that a section may hold.
pub trait Number: bytemuck::Pod {
    /// How the file marks it.
    const KIND: u32;
    /// For errors.
    const NAME: &'static str;
}

macro_rules! number {
    ($($type:ty = $kind:literal),*) => {
        $(impl Number for $type {
            const KIND: u32 = $kind;
            const NAME: &'static str = stringify!($type);
        })*
    };
}
number!(u8 = 1, u16 = 2, u32 = 3, u64 = 4, f32 = 5, f64 = 6);

struct Section {
    name: String,
    kind: u32,
    range: std::ops::Range<usize>,
}

/// A model file, open and checked.
pub struct Container {
    file: String,
    bytes: Bytes,
    sections: Vec<Section>,
}

impl Container {
    /// Maps a file.
    ///
    /// # Errors
    /// When it cannot be read, is no model, is of another version, or is damaged.
    pub fn open(path: &Path) -> Result<Container> {
        let name = path.display().to_string();
        let failed = |e: std::io::Error| Error::io(&name, "read the model", &e);
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?;
        if kind.is_dir() {
            return Err(Error::new(&name, "this is a folder, not a model", "name the .seqoia file in it"));
        }
        if kind.is_file() && kind.len() == 0 {
            return Err(Error::new(&name, "the file is empty", "train the model anew"));
        }
        let bytes = if kind.is_file() {
            Bytes::map(&file).map_err(failed)?
        } else {
            let mut bytes = vec![];
            std::io::Read::read_to_end(&mut &file, &mut bytes).map_err(failed)?;
            Bytes::copy(&bytes)
        };
        Self::check(name, bytes)
    }

    /// A model that is in memory already; `name` is for errors.
    ///
    /// # Errors
    /// When it is no model, of another version, or damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Container> {
        Self::check(name.to_owned(), Bytes::copy(bytes))
    }

    fn check(file: String, bytes: Bytes) -> Result<Container> {
        if cfg!(target_endian = "big") {
            return Err(Error::new(&file, "models are little endian", "this machine is not supported yet"));
        }
        let all = bytes.as_slice();
        if all.len() < HEADER || all[..8] != MAGIC {
            let text_mode = all.starts_with(b"SEQOIA\n");
            let what = if text_mode {
                "a transfer in text mode broke the model"
            } else {
                "this is not a Seqoia model"
            };
            return Err(Error::new(&file, what, "models are made by training, with `model FILE`"));
        }
        let version = u32_at(all, 16);
        if version != VERSION {
            let what = format!("the model has format {version}, this program reads format {VERSION}");
            return Err(Error::new(&file, what, "train it anew, or use the version of Seqoia that made it"));
        }
        if u64_at(all, 24) != all.len() as u64 {
            let what = format!("the model has {} bytes, its header says {}", all.len(), u64_at(all, 24));
            return Err(Error::damaged(&file, what));
        }
        if xxh3_64(&all[CHECKED..]) != u64_at(all, 8) {
            return Err(Error::damaged(&file, "the checksum is wrong"));
        }
        let count = u32_at(all, 20) as usize;
        if count > (all.len() - HEADER) / ENTRY {
            return Err(Error::damaged(&file, format!("{count} sections do not fit into the file")));
        }
        let mut sections = vec![];
        for i in 0..count {
            let entry = &all[HEADER + i * ENTRY..][..ENTRY];
            let name: Vec<u8> = entry[..16].iter().copied().take_while(|b| *b != 0).collect();
            let name = String::from_utf8(name).map_err(|_| Error::damaged(&file, "a section has no name"))?;
            let place = usize::try_from(u64_at(entry, 24)).ok().zip(usize::try_from(u64_at(entry, 32)).ok());
            let range = place.and_then(|(at, length)| Some(at..at.checked_add(length)?));
            let range = range.filter(|r| r.end <= all.len() && r.start % ALIGN == 0);
            let Some(range) = range else {
                return Err(Error::damaged(&file, format!("section '{name}' lies outside the file")));
            };
            sections.push(Section { name, kind: u32_at(entry, 16), range });
        }
        Ok(Container { file, bytes, sections })
    }

    /// Whether there is such a section.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|s| s.name == name)
    }

    /// All sections in order: name, kind of number as [`Number::KIND`], bytes.
    pub fn sections(&self) -> impl Iterator<Item = (&str, u32, &[u8])> {
        let bytes = self.bytes.as_slice();
        self.sections.iter().map(|s| (s.name.as_str(), s.kind, &bytes[s.range.clone()]))
    }

    /// The checksum in its header: equal models have equal ones.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        u64_at(self.bytes.as_slice(), 8)
    }

    /// The numbers of a section, in place.
    ///
    /// # Errors
    /// When there is no such section or it holds other numbers.
    pub fn get<T: Number>(&self, name: &str) -> Result<&[T]> {
        let Some(section) = self.sections.iter().find(|s| s.name == name) else {
            return Err(Error::damaged(&self.file, format!("the model has no section '{name}'")));
        };
        let bytes = &self.bytes.as_slice()[section.range.clone()];
        match bytemuck::try_cast_slice(bytes) {
            Ok(numbers) if section.kind == T::KIND => Ok(numbers),
            _ => Err(Error::damaged(&self.file, format!("section '{name}' does not hold {}", T::NAME))),
        }
    }

    /// The name it was opened by.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The whole file.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Its size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.as_slice().len()
    }

    /// Never: there is a header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b))
}
