//! Writing: the whole file or nothing.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::leftovers;
use crate::{ALIGN, CHECKED, ENTRY, HEADER, MAGIC, Number, VERSION};
use xxhash_rust::xxh3::Xxh3;

/// Collects the sections of a file; they are borrowed, so that the file is the only copy.
#[derive(Default)]
pub struct Writer<'a> {
    sections: Vec<(String, u32, &'a [u8])>,
}

impl<'a> Writer<'a> {
    /// Adds a section; the name has at most 16 bytes.
    pub fn add<T: Number>(&mut self, name: &str, numbers: &'a [T]) {
        debug_assert!(name.len() <= 16);
        self.sections.push((name.to_owned(), T::KIND, bytemuck::cast_slice(numbers)));
    }

    /// Adds a section whose numbers are bytes already, as [`Container::sections`](crate::Container::sections)
    /// has them.
    pub fn add_bytes(&mut self, name: &str, kind: u32, bytes: &'a [u8]) {
        debug_assert!(name.len() <= 16);
        self.sections.push((name.to_owned(), kind, bytes));
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = self.head();
        let mut out = Vec::with_capacity(self.end()); // growing would make a second copy, of twice the size
        out.extend_from_slice(&head);
        for (_, _, bytes) in &self.sections {
            out.resize(out.len().next_multiple_of(ALIGN), 0);
            out.extend_from_slice(bytes);
        }
        out
    }

    /// Writes the file as [`write_atomically`] does, without a copy of it in memory; its size.
    ///
    /// # Errors
    /// As there.
    pub fn write(&self, path: &Path) -> Result<usize> {
        write_with(path, |file| {
            let head = self.head();
            file.write_all(&head)?;
            let mut at = head.len();
            for (_, _, bytes) in &self.sections {
                let to = at.next_multiple_of(ALIGN);
                file.write_all(&[0; ALIGN][..to - at])?;
                file.write_all(bytes)?;
                at = to + bytes.len();
            }
            Ok(())
        })?;
        Ok(self.end())
    }

    /// Where the last section ends.
    fn end(&self) -> usize {
        let head = HEADER + ENTRY * self.sections.len();
        self.sections.iter().fold(head, |at, section| at.next_multiple_of(ALIGN) + section.2.len())
    }

    /// What stands before the sections, with the checksum of all that follows it.
    fn head(&self) -> Vec<u8> {
        let mut head = vec![0; HEADER + ENTRY * self.sections.len()];
        let mut at = head.len();
        for (i, (name, kind, bytes)) in self.sections.iter().enumerate() {
            at = at.next_multiple_of(ALIGN);
            let entry = HEADER + i * ENTRY;
            let used = name.len().min(16);
            head[entry..entry + used].copy_from_slice(&name.as_bytes()[..used]);
            head[entry + 16..entry + 20].copy_from_slice(&kind.to_le_bytes());
            head[entry + 24..entry + 32].copy_from_slice(&(at as u64).to_le_bytes());
            head[entry + 32..entry + 40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            at += bytes.len();
        }
        head[..8].copy_from_slice(&MAGIC);
        head[16..20].copy_from_slice(&VERSION.to_le_bytes());
        let count = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        head[20..24].copy_from_slice(&count.to_le_bytes());
        head[24..32].copy_from_slice(&(at as u64).to_le_bytes());
        let (mut checksum, mut at) = (Xxh3::new(), head.len());
        checksum.update(&head[CHECKED..]);
        for (_, _, bytes) in &self.sections {
            let to = at.next_multiple_of(ALIGN);
            checksum.update(&[0; ALIGN][..to - at]);
            checksum.update(bytes);
            at = to + bytes.len();
        }
        head[8..16].copy_from_slice(&checksum.digest().to_le_bytes());
        head
    }
}

/// Whether a file can be written under this name: the name is one, and a file can be made in its folder.
///
/// # Errors
/// What stands against it: no such folder, one that cannot be written to, a name that is too long, links in a circle.
pub fn check_target(path: &Path) -> Result<()> {
    let name = path.display().to_string();
    let target = destination(path)?;
    match target.symlink_metadata() {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(Error::io(&name, "be written", &e)),
        _ => (),
    }
    let folder = folder(&target);
    let failed = |e: std::io::Error| Error::io(&folder.display().to_string(), "write to this folder", &e);
    let made = temporary().tempfile_in(folder).map_err(failed)?;
    leftovers::remove_once(folder, made.as_file());
    Ok(())
}

/// Writes a file beside its place and renames it: whoever looks sees the old one or the new one,
/// never half of it. What is no ordinary file (a pipe, `/dev/null`) is written in place.
///
/// # Errors
/// When the folder cannot be written or the disk is full; then the file has not changed, unless it is written in
/// place.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same with what `write` puts into the file.
fn write_with(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<()> {
    let name = path.display().to_string();
    let failed = |e: std::io::Error| Error::io(&name, "write", &e);
    if path.is_dir() {
        return Err(Error::new(&name, "this is a folder", "name the file to write"));
    }
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        let written =
            std::fs::OpenOptions::new().write(true).open(path).and_then(|mut file| write(&mut file));
        let help = "what is not an ordinary file is written in place: it may have got a part";
        return written.map_err(|e| Error { help: help.to_owned(), ..failed(e) });
    }
    let target = destination(path)?;
    let folder = folder(&target);
    let mut builder = temporary();
    #[cfg(unix)]
    {
        // As any new file: what the user's mask leaves of rw-rw-rw-.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        builder.permissions(mode);
    }
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    leftovers::remove_once(folder, file.as_file());
    if let Ok(before) = target.metadata() {
        file.as_file().set_permissions(before.permissions()).map_err(failed)?; // as the one that it replaces
    }
    write(file.as_file_mut()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}

/// Links that are followed, as many as Linux follows.
const MOST_LINKS: usize = 40;

/// Where a file of this name is or will be. A link keeps pointing where it points: what it points at is replaced.
fn destination(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match target.read_link() {
            Ok(to) => target = folder(&target).join(to),
            Err(_) => return Ok(target),
        }
    }
    let what = "the name is a link that leads back to itself";
    Err(Error::new(&path.display().to_string(), what, "remove the link, or name another file"))
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(leftovers::prefix());
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Container;
    use proptest::prelude::*;

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m");
        write_atomically(&file, b"one").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        write_atomically(&file, b"two").unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
    }

    fn sample() -> Vec<u8> {
        let mut writer = Writer::default();
        writer.add("meta", b"{}".as_slice());
        writer.add("weights", &[1.5f32, -2.0, 0.0]);
        writer.add("sixteen bytes ok", &[7u64, 8]);
        writer.add("empty", &[0u32; 0]);
        writer.to_bytes()
    }

    fn what(bytes: &[u8]) -> String {
        Container::from_bytes("m", bytes).err().map_or_else(String::new, |e| e.what)
    }

    #[test]
    fn what_was_written_is_read() {
        let model = Container::from_bytes("m", &sample()).unwrap();
        assert_eq!(model.get::<u8>("meta").unwrap(), b"{}");
        assert_eq!(model.get::<f32>("weights").unwrap(), [1.5, -2.0, 0.0]);
        assert_eq!(model.get::<u64>("sixteen bytes ok").unwrap(), [7, 8]);
        assert!(model.get::<u32>("empty").unwrap().is_empty());
        assert!(model.get::<u32>("weights").unwrap_err().what.contains("does not hold u32"));
        assert!(model.get::<u32>("nothing").unwrap_err().what.contains("no section 'nothing'"));
        assert_eq!(sample(), sample());
    }

    #[test]
    fn files_are_replaced_whole_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.seqoia");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, &sample()).unwrap();
        assert!(Container::open(&path).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        std::fs::remove_file(&path).unwrap();
        write_atomically(&link, b"again").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"again");
        let far = folder.path().join("far");
        std::os::unix::fs::symlink("link", &far).unwrap();
        std::fs::remove_file(&path).unwrap();
        write_atomically(&far, b"far").unwrap();
        assert!(far.is_symlink() && link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"far");
        write_atomically(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }

    #[test]
    fn errors_say_what_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(&folder.path().join("no/m"), b"x").unwrap_err();
        assert!(error.what.contains("cannot write") && error.help.contains("folder exist"));
        assert!(write_atomically(folder.path(), b"x").unwrap_err().what.contains("folder"));
        assert!(Container::open(folder.path()).err().unwrap().what.contains("folder"));
        assert!(Container::open(&folder.path().join("no")).err().unwrap().what.contains("cannot read"));
        assert_eq!(what(b""), "this is not a Seqoia model");
        assert_eq!(what(b"SEQOIA\nxx"), "a transfer in text mode broke the model");
        let mut other = sample();
        other[16] = 9;
        assert_eq!(
            what(&other),
            format!("the model has format 9, this program reads format {}", crate::VERSION)
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("b", &a).unwrap();
        std::os::unix::fs::symlink("a", &b).unwrap();
        assert!(check_target(&a).unwrap_err().what.contains("leads back"));
        assert!(write_atomically(&a, b"x").unwrap_err().what.contains("leads back"));
        assert!(a.is_symlink() && b.is_symlink());
    }

    #[test]
    fn names_that_no_file_can_have_are_told_before() {
        let folder = tempfile::tempdir().unwrap();
        check_target(&folder.path().join("m")).unwrap();
        let error = check_target(&folder.path().join("m".repeat(300))).unwrap_err();
        assert!(error.what.starts_with("cannot be written"), "{error}");
        assert!(check_target(&folder.path().join("no/m")).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_cut_or_flipped_file_is_refused() {
        let whole = sample();
        for length in 0..whole.len() {
            assert!(!what(&whole[..length]).is_empty(), "cut at {length}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(!what(&flipped).is_empty(), "flipped at {at}");
        }
    }

    proptest! {
        /// A hostile file has a right checksum: the section table may say anything.
        #[test]
        fn hostile_tables_give_errors(changes in prop::collection::vec((0usize..200, any::<u8>()), 1..20)) {
            let mut bytes = sample();
            for (at, value) in changes {
                let at = 16 + at % (bytes.len() - 16);
                bytes[at] = value;
            }
            let length = bytes.len() as u64;
            bytes[24..32].copy_from_slice(&length.to_le_bytes());
            let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[CHECKED..]);
            bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
            if let Ok(model) = Container::from_bytes("m", &bytes) {
                for name in ["meta", "weights", "empty"] {
                    let _ = (model.get::<u8>(name), model.get::<f32>(name), model.get::<u64>(name));
                }
            }
        }
    }
}
