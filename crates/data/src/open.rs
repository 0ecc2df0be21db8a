//! Opens a file or standard input and unpacks it on the way.
//!
//! What a file is packed with is seen from its first bytes, never from its name: names lie, and
//! standard input has none. Several archives in a row (`cat a.gz b.gz`) read as one text, for gzip,
//! xz and zstd alike. The memory an archive may ask for is bounded, whatever its header says.
//!
//! Reading fails with an [`io::Error`] that carries an [`Error`] of ours, so a caller
//! that gets it back with [`Error::from_io`] can name the file and say what to do.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use crate::error::{Error, Result};

/// Name of standard input in errors.
pub const STANDARD_INPUT: &str = "standard input";

/// Most bytes an xz archive may want for its dictionary; `xz -9` wants 65 MiB. Without a bound a
/// file of 30 bytes could ask for 4 GiB. zstd has its own bound, a window of 128 MiB.
const XZ_MEMORY: u64 = 1 << 30;

/// Most bytes that a single thing in an input may take: the longest sentence; a quarter of it for files that are read as
/// a whole. A file without line ends or a small archive could else take all memory.
pub const LIMIT: usize = 1 << 30;

/// What errors about it say: see [`Input::with_limit`].
pub const RAISE_LIMIT: &str = "`limit` raises this bound, such as `limit 4G`";

/// Bytes asked of the system at a time for packed files.
const BUFFER: usize = 128 << 10;

/// An open text: a file, standard input or bytes in memory, unpacked while it is read.
pub struct Input {
    /// What errors call it.
    pub name: String,
    /// What it is packed with, for errors.
    packed: Packing,
    limit: usize,
    reader: Box<dyn Read + Send>,
}

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Xz,
    Zstd,
    /// An archive that people try, and that would else only give an error about UTF-8.
    Other(&'static str),
}

/// As many bytes as the longest signature has.
const HEAD: usize = 10;

/// First bytes of archives, each from the lowest to the highest that it can be.
const SIGNATURES: [(&[(u8, u8)], Packing); 8] = [
    (&[(0x1f, 0x1f), (0x8b, 0x8b)], Packing::Gzip),
    (&[(0xfd, 0xfd), (b'7', b'7'), (b'z', b'z'), (b'X', b'X'), (b'Z', b'Z'), (0, 0)], Packing::Xz),
    (&[(0x28, 0x28), (0xb5, 0xb5), (0x2f, 0x2f), (0xfd, 0xfd)], Packing::Zstd),
    // A frame to be skipped, with which `pzstd` begins.
    (&[(0x50, 0x5f), (0x2a, 0x2a), (0x4d, 0x4d), (0x18, 0x18)], Packing::Zstd),
    // With the signature of the first block, the digits of pi: `BZh9` alone may be a word.
    (
        &[
            (b'B', b'B'),
            (b'Z', b'Z'),
            (b'h', b'h'),
            (b'1', b'9'),
            (0x31, 0x31),
            (0x41, 0x41),
            (0x59, 0x59),
            (0x26, 0x26),
            (0x53, 0x53),
            (0x59, 0x59),
        ],
        Packing::Other("bzip2"),
    ),
    (&[(b'P', b'P'), (b'K', b'K'), (3, 3), (4, 4)], Packing::Other("zip")),
    (&[(b'7', b'7'), (b'z', b'z'), (0xbc, 0xbc), (0xaf, 0xaf)], Packing::Other("7z")),
    (&[(0x04, 0x04), (0x22, 0x22), (0x4d, 0x4d), (0x18, 0x18)], Packing::Other("lz4")),
];

/// Opens `path`; `-` is standard input.
///
/// # Errors
///
/// There is no such file, it may not be read, it is a directory, or it is packed with something
/// that is not unpacked here.
pub fn open(path: &Path) -> Result<Input> {
    if path.as_os_str() == "-" {
        return Input::from_reader(STANDARD_INPUT, io::stdin());
    }
    let name = path.display().to_string();
    // Asked first, since to open a directory works on some systems and is "denied" on others.
    if path.is_dir() {
        return Err(directory(&name));
    }
    match File::open(path) {
        Ok(file) => Input::from_reader(name, file),
        Err(error) => Err(cannot_open(&name, &error)),
    }
}

impl Input {
    /// Any reader; packed text is unpacked as in [`open`].
    ///
    /// # Errors
    ///
    /// The first bytes cannot be read, or belong to an archive that is not unpacked here.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Result<Self> {
        let name = name.into();
        let mut reader = reader;
        let (head, packed) = head(&mut reader).map_err(|error| cannot_read(&name, Packing::None, &error))?;
        let whole = Cursor::new(head).chain(reader);
        let reader: Box<dyn Read + Send> = match packed {
            Packing::None => Box::new(whole),
            Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))),
            Packing::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)
                    .map_err(|error| Error::new(name.as_str(), format!("cannot be unpacked: {error}")))?;
                Box::new(XzDecoder::new_stream(BufReader::with_capacity(BUFFER, whole), stream))
            }
            Packing::Zstd => Box::new(
                zstd::Decoder::with_buffer(BufReader::with_capacity(BUFFER, whole))
                    .map_err(|error| cannot_read(&name, packed, &error))?,
            ),
            Packing::Other(what) => {
                return Err(Error::new(name, format!("is packed with {what}, which is not read here"))
                    .help("unpack it first, or pack it with gzip, xz or zstd"));
            }
        };
        Ok(Self { name, packed, limit: LIMIT, reader })
    }

    /// With another bound than [`LIMIT`].
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Most bytes that a single thing in it may take.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes in memory, packed or not.
    ///
    /// # Errors
    ///
    /// The first bytes belong to an archive that is not unpacked here.
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Self::from_reader(name, Cursor::new(bytes.into()))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| match error.kind() {
            // Not an error: whoever reads tries again.
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, cannot_read(&self.name, self.packed, &error)),
        })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("packed", &self.packed)
            .finish_non_exhaustive()
    }
}

impl Packing {
    fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Other(name) => name,
        }
    }
}

/// Reads as many first bytes as it takes to know the packing, and no more: at the other end of a pipe
/// someone may wait for an answer to a sentence of three bytes.
fn head(reader: &mut impl Read) -> io::Result<(Vec<u8>, Packing)> {
    let mut bytes = [0; HEAD];
    let mut read = 0;
    let like = |signature: &[(u8, u8)], head: &[u8]| {
        signature.iter().zip(head).all(|(&(low, high), byte)| (low..=high).contains(byte))
    };
    while SIGNATURES.iter().any(|(signature, _)| signature.len() > read && like(signature, &bytes[..read])) {
        match reader.read(&mut bytes[read..]) {
            Ok(0) => break,
            Ok(n) => read = (read + n).min(HEAD),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let head = &bytes[..read];
    let found = SIGNATURES.iter().find(|(signature, _)| signature.len() <= read && like(signature, head));
    Ok((head.to_vec(), found.map_or(Packing::None, |&(_, packing)| packing)))
}

fn directory(name: &str) -> Error {
    Error::new(name, "is a directory, a file is wanted").help("name a file in it")
}

fn cannot_open(name: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(name, "no such file").help("check the path; - reads standard input")
        }
        io::ErrorKind::PermissionDenied => {
            Error::new(name, "permission denied").help("you may not read this file: see its owner and mode")
        }
        _ => Error::new(name, format!("cannot be opened: {error}")),
    }
}

/// The system speaks with a number, the unpackers without: theirs are errors of the archive.
fn cannot_read(name: &str, packed: Packing, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::IsADirectory {
        return directory(name);
    }
    if packed == Packing::None || error.raw_os_error().is_some() {
        return Error::new(name, format!("cannot be read: {error}"));
    }
    let kind = packed.name();
    let text = error.to_string();
    if text.contains("memory") {
        return Error::new(name, format!("the {kind} archive wants too much memory to unpack"))
            .help(format!("unpack it with the program {kind}, or pack it again without a long window"));
    }
    let how = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early",
        _ => text.as_str(),
    };
    Error::new(name, format!("the {kind} archive is damaged: {how}"))
        .help(format!("fetch the file again; {kind} -t checks it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const TEXT: &str = "The DT\ncat NN\n\nSleep VB\n\n";

    fn gzip(text: &str) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    fn xz(text: &str) -> Vec<u8> {
        let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 6);
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        let mut packer = zstd::Encoder::new(Vec::new(), 3).unwrap();
        packer.include_checksum(true).unwrap();
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    /// One byte at a time, with an interruption before each.
    struct Slow(Vec<u8>, usize, bool);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.2 = !self.2;
            if self.2 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let Some(&byte) = self.0.get(self.1) else { return Ok(0) };
            buffer[0] = byte;
            self.1 += 1;
            Ok(1)
        }
    }

    fn read(input: Result<Input>) -> Result<String> {
        let mut input = input?;
        let name = input.name.clone();
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| Error::from_io(&name, &error))?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn every_packing_by_its_bytes() {
        for pack in [|text: &str| text.as_bytes().to_vec(), gzip, xz, zstd] {
            let bytes = pack(TEXT);
            assert_eq!(read(Input::from_bytes("a.txt", bytes.clone())).unwrap(), TEXT);
            assert_eq!(read(Input::from_reader("a.txt", Slow(bytes, 0, false))).unwrap(), TEXT);
            // Several archives in a row, one of them empty.
            let many = [pack(TEXT), pack(""), pack("x y\n")].concat();
            assert_eq!(read(Input::from_bytes("a.txt", many)).unwrap(), format!("{TEXT}x y\n"));
            let empty = pack("");
            assert_eq!(read(Input::from_bytes("a.txt", empty)).unwrap(), "");
        }
        let skipped = [b"\x50\x2a\x4d\x18\x02\0\0\0ab".to_vec(), zstd(TEXT)].concat();
        assert_eq!(read(Input::from_bytes("a.txt", skipped)).unwrap(), TEXT);
    }

    #[test]
    fn names_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in
            [("a.txt", gzip(TEXT)), ("b.gz", TEXT.as_bytes().to_vec()), ("c.gz", xz(TEXT)), ("d", zstd(TEXT))]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let input = open(&path);
            assert_eq!(input.as_ref().unwrap().name, path.display().to_string());
            assert_eq!(read(input).unwrap(), TEXT);
        }
    }

    #[test]
    fn cut_archives() {
        // The text is larger than what any unpacker holds back, and hard to pack.
        let text: String = (0..20_000u32).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761))).collect();
        for (pack, kind) in [(gzip as fn(&str) -> Vec<u8>, "gzip"), (xz, "xz"), (zstd, "zstd")] {
            let bytes = pack(&text);
            let cuts = (6..40).chain((40..bytes.len()).step_by(997)).chain(bytes.len() - 40..bytes.len());
            for cut in cuts {
                let error = read(Input::from_bytes("a.txt", &bytes[..cut])).unwrap_err().to_string();
                assert_eq!(
                    error,
                    format!(
                        "a.txt: the {kind} archive is damaged: it ends too early\n  \
                         help: fetch the file again; {kind} -t checks it"
                    ),
                    "{kind} cut at {cut} of {}",
                    bytes.len()
                );
            }
        }
    }

    #[test]
    fn flipped_archives() {
        let text: String = (0..300u32).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761))).collect();
        for (pack, kind) in [(gzip as fn(&str) -> Vec<u8>, "gzip"), (xz, "xz"), (zstd, "zstd")] {
            let bytes = pack(&text);
            let mut unharmed = 0;
            for at in 8..bytes.len() {
                let mut broken = bytes.clone();
                broken[at] ^= 0x10;
                match read(Input::from_bytes("a.txt", broken)) {
                    Err(error) => {
                        assert!(error.what.starts_with(&format!("the {kind} archive")), "{at}: {error}");
                    }
                    // Notes in a header and bits that fill a byte are protected by nothing.
                    Ok(same) => {
                        assert!(same == text, "{kind} flipped at {at}");
                        unharmed += 1;
                    }
                }
            }
            assert!(unharmed < 5, "{kind}: {unharmed}");
        }
    }

    #[test]
    fn garbage_behind_an_archive() {
        let bytes = [gzip(TEXT), b"rubbish, rubbish".to_vec()].concat();
        let error = read(Input::from_bytes("a.gz", bytes)).unwrap_err();
        assert_eq!(error.what, "the gzip archive is damaged: invalid gzip header");
    }

    #[test]
    fn greedy_archives() {
        // A frame that wants a window of 2 GiB.
        let zstd = b"\x28\xb5\x2f\xfd\x04\xa8\x01\0\0aaaa".to_vec();
        let error = read(Input::from_bytes("a.zst", zstd)).unwrap_err();
        assert_eq!(error.what, "the zstd archive wants too much memory to unpack");
        // The same for xz, made by hand: to pack with such a dictionary would want the memory too.
        let mut bytes = xz(TEXT);
        let header = 12;
        assert_eq!(bytes[header + 2], 0x21, "the filter LZMA2");
        bytes[header + 4] = 40;
        let crc = crc32(&bytes[header..header + 8]);
        bytes[header + 8..header + 12].copy_from_slice(&crc.to_le_bytes());
        let error = read(Input::from_bytes("a.xz", bytes)).unwrap_err();
        assert_eq!(error.what, "the xz archive wants too much memory to unpack");
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        })
    }

    #[test]
    fn other_archives() {
        for (head, what) in [
            (&b"BZh91AY&SY...."[..], "bzip2"),
            (b"PK\x03\x04....", "zip"),
            (b"7z\xbc\xaf\x27\x1c", "7z"),
            (b"\x04\x22\x4d\x18", "lz4"),
        ] {
            let error = Input::from_bytes("a.x", head).unwrap_err().to_string();
            let help = "help: unpack it first, or pack it with gzip, xz or zstd";
            assert_eq!(error, format!("a.x: is packed with {what}, which is not read here\n  {help}"));
        }
        for word in ["BZh91AY O\n", "PK\n", "P", "(", "7z\n", "B", ""] {
            assert_eq!(read(Input::from_bytes("a.txt", word)).unwrap(), word);
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        /// Gives what it has and then must not be asked again.
        struct Pipe(&'static [u8]);
        impl Read for Pipe {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                assert!(!self.0.is_empty(), "asked for more than there is");
                self.0.read(buffer)
            }
        }
        for text in [&b"a\n\n"[..], b"P\n\n", b"7z\n"] {
            let mut input = Input::from_reader("a", Pipe(text)).unwrap();
            let mut buffer = [0; 20];
            let n = input.read(&mut buffer).unwrap();
            assert_eq!(&buffer[..n], text);
        }
    }

    #[test]
    fn errors_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().display().to_string();
        assert_eq!(
            open(folder.path()).unwrap_err().to_string(),
            format!("{name}: is a directory, a file is wanted\n  help: name a file in it")
        );
        let missing = folder.path().join("no.txt");
        assert_eq!(
            open(&missing).unwrap_err().to_string(),
            format!("{}: no such file\n  help: check the path; - reads standard input", missing.display())
        );
        let denied = cannot_open("a.txt", &io::ErrorKind::PermissionDenied.into());
        assert_eq!(
            denied.to_string(),
            "a.txt: permission denied\n  help: you may not read this file: see its owner and mode"
        );
        let other = cannot_open("a.txt", &io::Error::other("too many links"));
        assert_eq!(other.to_string(), "a.txt: cannot be opened: too many links");
        // An error of the disk while unpacking is none of the archive.
        let disk = io::Error::from_raw_os_error(5);
        let error = cannot_read("a.gz", Packing::Gzip, &disk);
        assert_eq!(error.what, format!("cannot be read: {disk}"));
    }
}
