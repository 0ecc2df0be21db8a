//! A training file, opened, and read into memory as it is: attributes in the order of their arrival.

use std::sync::Arc;

use seqoia_data::features::{Indexer, Lexica, Matched, Program, Room};
use seqoia_data::format::{Format, Kind, Reader};

use super::classes::{Class, Collector};
use super::options::{DataOptions, Features, LabelColumn, Schemes};
use super::{Source, own_words, raw, roles, schemes};
use crate::error::{Result, counted};

/// A file with all its attributes and with the labels to train on, before anything is dropped.
pub(crate) struct Reading {
    pub(crate) file: String,
    pub(crate) format: Arc<dyn Format>,
    pub(crate) label: usize,
    pub(crate) features: Features,
    pub(crate) program: Arc<Program>,
    pub(crate) indexer: Indexer,
    pub(crate) schemes: Schemes,
    pub(crate) digest: String,
    pub(super) classes: Vec<Class>,
    pub(super) raw: raw::Watch,
    pub(crate) text: usize,
    pub(super) doubts: Vec<String>,
}

/// A file that was opened: what is known before it is read.
pub(super) struct Opened {
    pub(super) file: String,
    pub(super) reader: Reader,
    pub(super) format: Arc<dyn Format>,
    pub(super) label: usize,
    pub(super) features: Features,
    pub(super) program: Arc<Program>,
    pub(super) indexer: Indexer,
    pub(super) classes: Collector,
    pub(super) doubts: Vec<String>,
}

impl Opened {
    pub(super) fn new(
        source: Source,
        kind: Option<Kind>,
        lexica: Arc<Lexica>,
        options: &DataOptions,
    ) -> Result<Opened> {
        let (file, in_memory) = (source.name(), matches!(source, Source::Sentences(_)));
        let mut reader = source.reader(kind, options.features.reads_mentions())?;
        let format = reader.format();
        if let (None, Some(guess)) = (kind, format.guess().filter(|guess| guess.is_fatal())) {
            let what = guess.doubt().unwrap_or_default();
            return Err(seqoia_data::Error::new(file, what).help(guess.help()).into());
        }
        let label = options.label.resolve(&file, &*format)?;
        let guessed = options.label == LabelColumn::Last && !in_memory;
        if let Some(first) = reader.peek()?.filter(|_| guessed)
            && let Some(suspect) = roles::label_first(&*format, first)
        {
            return Err(suspect.error(&file));
        }
        let features = options.features.resolve(&*format, Some(label))?;
        let program = Arc::new(features.compile(&file, format.columns(), label)?);
        let indexer = Indexer::new(Arc::clone(&program), lexica).with_lines();
        let word = format.kind().word(format.columns(), Some(label));
        let mut doubts = Vec::from_iter(features.doubt(format.kind()));
        if let Some(word) = word
            && let Some(first) = reader.peek()?.filter(|_| !in_memory)
            && let Some(suspect) = roles::numbers(&*format, first, word)
            && program.templates().iter().any(|t| u16::try_from(word).is_ok_and(|word| t.reads(word)))
        {
            if options.features.names_word() {
                return Err(suspect.error(&file));
            }
            doubts.push(format!("{file}: {}", suspect.what));
        }
        let classes = Collector::new(&program, word);
        Ok(Opened { file, reader, format, label, features, program, indexer, classes, doubts })
    }
}

impl Reading {
    pub(crate) fn new(source: Source, options: &DataOptions) -> Result<Reading> {
        let kind = source.format(options);
        let (source, lexica) = own_words::collect(source, &options.features, kind)?;
        Self::with_room(source, kind, lexica, options, None)
    }

    /// With these lists, in a bounded room.
    pub(super) fn with_room(
        source: Source,
        kind: Option<Kind>,
        lexica: Arc<Lexica>,
        options: &DataOptions,
        room: Option<Arc<Room>>,
    ) -> Result<Reading> {
        let Opened {
            file,
            mut reader,
            format,
            label,
            features,
            program,
            mut indexer,
            mut classes,
            mut doubts,
        } = Opened::new(source, kind, lexica, options)?;
        if let Some(room) = room {
            indexer = indexer.with_room(room);
        }
        let mut raw = raw::Watch::default();
        let threads = options.threads();
        let taken = indexer.read(&mut reader, label, threads, |block| {
            classes.add(block);
            raw.look(&*format, block);
        })?;
        if indexer.is_empty() {
            return Err(seqoia_data::Error::new(file, "there is no sentence to learn from").into());
        }
        doubts.extend(unmatched(&options.features.lexica, indexer.matched(), &file));
        let schemes = schemes::recognise(&mut indexer, format.kind(), &file, options)?;
        let (digest, text, classes) = (reader.digest(), reader.largest().max(taken), classes.finish());
        Ok(Reading {
            file,
            format,
            label,
            features,
            program,
            indexer,
            schemes,
            digest,
            text,
            classes,
            raw,
            doubts,
        })
    }
}

/// Lists that say nothing about the data, with how much is in them.
pub(super) fn unmatched(lexica: &Lexica, matched: &Matched, file: &str) -> Vec<String> {
    let mut doubts = vec![];
    if let Some(words) = lexica.clusters.entries().filter(|_| matched.clusters == 0) {
        let words = counted(words, "word");
        doubts.push(format!(
            "`clusters`: {words} read, and 0 tokens of {file} are among them: is this the language of the data?"
        ));
    }
    if !lexica.thesaurus.is_empty() && matched.lexicon == 0 {
        let words = counted(lexica.thesaurus.words(), "word");
        doubts.push(format!(
            "`lexicon`: {words} read, and 0 tokens of {file} are in one of them: is this the language of the data, and \
             are its tokens characters?"
        ));
    }
    if !lexica.varieties.is_empty() && matched.raw_text == 0 {
        let strings = counted(lexica.varieties.len(), "string");
        doubts.push(format!(
            "`raw-text`: {strings} seen twice, and none of them in {file}: is this the language of the data?"
        ));
    }
    let names = &lexica.names;
    for ((list, entries), tokens) in names.lists().iter().zip(names.entries()).zip(&matched.names) {
        if *tokens == 0 {
            doubts.push(format!(
                "`gazetteer` {list}: {} read, and 0 tokens of {file} are in one of them; a line is a name, its words \
                 between blanks, and nothing else",
                counted(*entries, "name")
            ));
        }
    }
    doubts
}
