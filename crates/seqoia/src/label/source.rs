//! Where labelled data comes from: a file, an open text, or sentences that a program has in memory.

use std::path::{Path, PathBuf};

use seqoia_data::format::{Blocks, Kind, Reader, Sentences};
use seqoia_data::open::{Input, STANDARD_INPUT, open};

use super::options::DataOptions;
use crate::error::{Error, Result};

/// Labelled data, not read yet.
pub enum Source {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// An open text.
    Input(Input),
    /// Sentences in memory.
    Sentences(Box<Sentences>),
}

/// A text that can be read more than once: a file.
pub struct Again {
    name: String,
    bytes: u64, // at least, unpacked
    open: Box<dyn Fn() -> Result<Input>>,
}

impl Again {
    /// A file by its path. Standard input and pipes can be read once.
    ///
    /// # Errors
    /// A path that is not that of a file.
    pub fn file(path: &Path) -> Result<Again> {
        let (name, own) = (path.display().to_string(), path.to_owned());
        if path.as_os_str() == "-" || path.metadata().is_ok_and(|about| !about.is_file()) {
            let what = "it can be read once, and within a memory limit data may be read twice";
            let name = if name == "-" { STANDARD_INPUT.to_owned() } else { name };
            return Err(seqoia_data::Error::new(name, what).help("put it into a file").into());
        }
        let bytes = path.metadata().map_or(0, |about| about.len());
        Ok(Again { bytes, ..Again::new(name, move || Ok(open(&own)?)) })
    }

    /// The same, opened in another way.
    #[must_use]
    pub fn opened_by(self, open: impl Fn() -> Result<Input> + 'static) -> Again {
        Again { open: Box::new(open), ..self }
    }

    /// Whatever gives the same text each time.
    pub fn new(name: impl Into<String>, open: impl Fn() -> Result<Input> + 'static) -> Again {
        Again { name: name.into(), bytes: 0, open: Box::new(open) }
    }

    /// Its name for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// At least so many bytes of text.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn open(&self) -> Result<Input> {
        (self.open)()
    }
}

impl From<&str> for Source {
    /// The name of a file.
    fn from(path: &str) -> Self {
        Source::File(path.into())
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Source::File(path.into())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Source::File(path)
    }
}

impl From<Input> for Source {
    fn from(input: Input) -> Self {
        Source::Input(input)
    }
}

impl From<Sentences> for Source {
    fn from(sentences: Sentences) -> Self {
        Source::Sentences(Box::new(sentences))
    }
}

impl Source {
    /// Its name for errors.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Input(input) => input.name.clone(),
            Source::Sentences(sentences) => sentences.name().to_owned(),
        }
    }

    /// The format that it is to be read in, if that is not to be recognised.
    pub(crate) fn format(&self, options: &DataOptions) -> Option<Kind> {
        match self {
            Source::File(_) | Source::Input(_) => options.format_of_text(),
            Source::Sentences(_) => options.format,
        }
    }

    /// Opens it: in the format `kind` if that is not to be recognised, with whole documents if features look there.
    pub(crate) fn reader(self, kind: Option<Kind>, documents: bool) -> Result<Reader> {
        let text = |input| Reader::new(Blocks::new(input).whole_documents(documents), kind);
        match self {
            Source::File(path) => Ok(text(open(&path)?)?),
            Source::Input(input) => Ok(text(input)?),
            Source::Sentences(sentences) => {
                let reader = Reader::of_sentences(*sentences)?;
                let own = reader.format().kind();
                match kind.filter(|kind| *kind != own) {
                    None => Ok(reader),
                    Some(kind) => Err(Error::Mismatch(format!(
                        "{}: sentences in memory are like {}, and the data is to be {}",
                        reader.name(),
                        own.name(),
                        kind.name()
                    ))),
                }
            }
        }
    }
}
