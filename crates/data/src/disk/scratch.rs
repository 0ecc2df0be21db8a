//! The folder of temporary files, and what is said when it is full.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A folder for temporary files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// In this folder.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Scratch { folder: folder.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new file without a name.
    ///
    /// # Errors
    /// A folder that is not there or may not be written to.
    pub fn place(&self) -> Result<Place> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|e| {
            Error::new(self.folder.display().to_string(), format!("no temporary file can be made here: {e}"))
                .help("the environment variable TMPDIR names another folder")
        })?;
        Ok(Place { file, folder: self.folder.clone() })
    }
}

/// A temporary file.
#[derive(Debug)]
pub struct Place {
    file: File,
    folder: PathBuf,
}

impl Place {
    /// Reads bytes from `at` on.
    ///
    /// # Errors
    /// The file is shorter, or cannot be read.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        read_at(&self.file, at, bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(),
            _ => self.error(format!("a temporary file cannot be read: {e}")),
        })
    }

    /// Writes bytes from `at` on.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be written.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        write_at(&self.file, at, bytes).map_err(|e| {
            let so_far = at >> 20;
            self.error(format!("a temporary file cannot grow beyond {so_far} MB here: {e}"))
                .help("make room, or name a folder with more room in the environment variable TMPDIR")
        })
    }

    /// Makes it so long, with zeros.
    ///
    /// # Errors
    /// The disk is full.
    pub fn resize(&self, length: u64) -> Result<()> {
        self.file.set_len(length).map_err(|e| self.error(format!("no temporary file of {length} bytes: {e}")))
    }

    /// Its content is not what was written.
    pub(super) fn damaged(&self) -> Error {
        self.error("a temporary file does not hold what was written to it").help("is this disk damaged?")
    }

    fn error(&self, what: impl Into<String>) -> Error {
        Error::new(self.folder.display().to_string(), what)
    }
}

#[cfg(unix)]
fn read_at(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut at: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => (at, bytes) = (at + n as u64, &mut bytes[n..]),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => (at, bytes) = (at + n as u64, &bytes[n..]),
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn files_have_no_name_and_errors_say_where() {
        let folder = tempfile::tempdir().unwrap();
        let place = Scratch::new(folder.path()).place().unwrap();
        place.write(3, b"abc").unwrap();
        let mut bytes = [1; 6];
        place.read(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"\0\0\0abc");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = place.read(1, &mut bytes).unwrap_err().to_string();
        assert!(error.contains("does not hold what was written"), "{error}");
        let error = Scratch::new(folder.path().join("none")).place().unwrap_err().to_string();
        assert!(error.contains("TMPDIR"), "{error}");
    }
}
