//! What a file holds, gathered in one pass: counts, and the lines where things were first seen. Memory grows
//! with different words and with sentences, of which only hashes are kept; labels are counted up to the number
//! that can be learned.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use seqoia_data::features::{MOST_LABELS, Strings, UNKNOWN};
use seqoia_data::format::{Block, Blocks, Format, Guess, Kind, Reader, Sentence};
use seqoia_data::open::Input;
use seqoia_data::scheme::{Recogniser, Scheme};
use xxhash_rust::xxh3::Xxh3;

use super::CheckOptions;
use crate::error::Result;
use crate::label::options::LabelColumn;
use crate::label::roles;
use crate::label::suspects::Suspect;

/// Sentences that are not longer occur everywhere (`Yes .`): they tell nothing about copies.
pub(super) const SHORT: usize = 2;

/// Sentences that are longer have probably lost the empty lines between them.
pub(super) const LONG: usize = 1000;

/// How many lines are named.
const LINES: usize = 3;

/// Things of one kind: how many, and the lines of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) lines: Vec<u64>,
    /// There are others on further lines.
    pub(super) more_lines: bool,
    /// Of what the first is a copy, if it is one.
    pub(super) original: Option<u64>,
}

impl Tally {
    fn copy(&mut self, line: u64, original: u64) {
        self.original = self.original.or(Some(original));
        self.add(line);
    }

    fn add(&mut self, line: u64) {
        self.count += 1;
        // A line may hold a whole sentence, and so several of them.
        match self.lines.last() {
            Some(last) if *last == line => (),
            _ if self.lines.len() < LINES => self.lines.push(line),
            _ => self.more_lines = true,
        }
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.lines.first().copied()
    }
}

/// A column beside the label.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// The value of the first token.
    pub(super) value: String,
    pub(super) varies: bool,
    /// How often it is the same text as the label, by label.
    pub(super) same: Vec<u64>,
}

/// A label.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) count: u64,
    /// Of its first token.
    pub(super) line: u64,
}

/// All that is known of a file.
pub(super) struct Facts {
    pub(super) file: String,
    pub(super) kind: Kind,
    /// A column that is not what it is taken for.
    pub(super) mistaken: Option<Suspect>,
    /// What it may be instead.
    pub(super) guess: Option<Guess>,
    /// The column of the label.
    pub(super) label: usize,
    pub(super) sentences: u64,
    pub(super) tokens: u64,
    words: Strings,
    /// Tokens whose word the training file does not have, if it is compared with one.
    pub(super) unknown: Option<u64>,
    label_names: Strings,
    pub(super) labels: Vec<Label>,
    /// Where there was one label more than can be learned; later ones that are new are not counted.
    pub(super) too_many_labels: Option<u64>,
    pub(super) columns: Vec<Column>,
    /// The line of each sentence that is not short, by the hash of its words.
    seen: HashMap<u64, u64>,
    short_seen: HashSet<u64>,
    /// Sentences that occur before in this file, without the short ones.
    pub(super) repeated: Tally,
    /// Sentences that the other file has; those that are short.
    pub(super) shared: Tally,
    pub(super) short_shared: u64,
    pub(super) long: Tally,
    /// Sentences of one token.
    pub(super) single: u64,
    pub(super) recogniser: Recogniser,
    breaks: [Tally; Scheme::ALL.len()],
}

impl Facts {
    /// Reads a file; `train` is what it is compared with.
    pub(super) fn read(input: Input, options: &CheckOptions, train: Option<&Facts>) -> Result<Facts> {
        let mut reader = Reader::new(Blocks::new(input), options.format.or(train.map(|t| t.kind)))?;
        let (file, format) = (reader.name().to_owned(), reader.format());
        let label = options.label.resolve(&file, &*format)?;
        let mut facts = Facts::new(file, &*format, label);
        if let Some(first) = reader.peek()? {
            let guessed = options.label == LabelColumn::Last;
            facts.mistaken = guessed.then(|| roles::label_first(&*format, first)).flatten();
            let numbers = facts.word().and_then(|word| roles::numbers(&*format, first, word));
            facts.mistaken = facts.mistaken.take().or(numbers);
        }
        facts.unknown = train.map(|_| 0);
        while let Some(block) = reader.next()? {
            for sentence in block.sentences() {
                facts.sentence(block, &sentence, train);
            }
        }
        Ok(facts)
    }

    fn new(file: String, format: &dyn Format, label: usize) -> Facts {
        Facts {
            file,
            kind: format.kind(),
            mistaken: None,
            guess: format.guess(),
            label,
            sentences: 0,
            tokens: 0,
            words: Strings::default(),
            unknown: None,
            label_names: Strings::default(),
            labels: vec![],
            too_many_labels: None,
            columns: vec![Column::default(); format.columns()],
            seen: HashMap::new(),
            short_seen: HashSet::new(),
            repeated: Tally::default(),
            shared: Tally::default(),
            short_shared: 0,
            long: Tally::default(),
            single: 0,
            recogniser: Recogniser::default(),
            breaks: Default::default(),
        }
    }

    /// The column of the word; none where tokens are attributes.
    pub(super) fn word(&self) -> Option<usize> {
        self.kind.word(self.columns.len(), Some(self.label))
    }

    /// Different words.
    pub(super) fn words(&self) -> u64 {
        self.words.view().len() as u64
    }

    pub(super) fn find_label(&self, name: &str) -> Option<&Label> {
        self.labels.get(self.label_names.view().find(name.as_bytes()) as usize)
    }

    /// Tokens that break a scheme.
    pub(super) fn breaks(&self, scheme: Scheme) -> &Tally {
        let number = Scheme::ALL.iter().position(|s| *s == scheme).unwrap_or(0);
        &self.breaks[number]
    }

    fn sentence(&mut self, block: &Block, sentence: &Sentence, train: Option<&Facts>) {
        let (tokens, line) = (sentence.tokens.clone(), sentence.line);
        self.sentences += 1;
        self.tokens += tokens.len() as u64;
        self.single += u64::from(tokens.len() == 1);
        if tokens.len() > LONG {
            self.long.add(line);
        }
        let word = self.word();
        let mut hash = Xxh3::new();
        for i in tokens.clone() {
            match word {
                Some(word) => self.take_word(block.field(i, word), &mut hash, train),
                None => block.attributes(i).for_each(|(name, value)| {
                    hash.update(name.as_bytes());
                    hash.update(b"\t"); // no name has one
                    hash.update(&value.to_le_bytes());
                }),
            }
            hash.update(b"\n"); // no word has one
            self.take_label(block, i);
        }
        self.compare(hash.digest(), tokens.len(), line, train);
        let labels: Vec<&str> = tokens.clone().map(|i| block.field(i, self.label)).collect();
        self.recogniser.sentence(&labels);
        for (scheme, tally) in Scheme::ALL.iter().zip(&mut self.breaks) {
            scheme.breaks(&labels).into_iter().for_each(|i| tally.add(block.line(tokens.start + i)));
        }
    }

    fn take_word(&mut self, word: &str, hash: &mut Xxh3, train: Option<&Facts>) {
        hash.update(word.as_bytes());
        self.words.intern(word.as_bytes()); // none is new when four billion bytes are full
        if let (Some(unknown), Some(train)) = (&mut self.unknown, train) {
            *unknown += u64::from(train.words.view().find(word.as_bytes()) == UNKNOWN);
        }
    }

    /// Counts the label of a token, and looks at the columns beside it.
    fn take_label(&mut self, block: &Block, i: usize) {
        let name = block.field(i, self.label);
        if self.labels.len() == MOST_LABELS && self.label_names.view().find(name.as_bytes()) == UNKNOWN {
            self.too_many_labels.get_or_insert(block.line(i));
            return;
        }
        let Some(id) = self.label_names.intern(name.as_bytes()) else { return };
        let id = id as usize;
        if id == self.labels.len() {
            self.labels.push(Label { name: name.to_owned(), count: 0, line: block.line(i) });
        }
        self.labels[id].count += 1;
        let first = self.labels.len() == 1 && self.labels[0].count == 1;
        for (number, (field, column)) in block.columns(i).zip(&mut self.columns).enumerate() {
            if number == self.label {
                continue;
            }
            if first {
                field.clone_into(&mut column.value);
            }
            column.varies |= field != column.value;
            if field == name {
                column.same.resize(column.same.len().max(id + 1), 0);
                column.same[id] += 1;
            }
        }
    }

    fn compare(&mut self, hash: u64, tokens: usize, line: u64, train: Option<&Facts>) {
        if tokens <= SHORT {
            self.short_shared += u64::from(train.is_some_and(|train| train.short_seen.contains(&hash)));
            self.short_seen.insert(hash);
            return;
        }
        if let Some(&original) = train.and_then(|train| train.seen.get(&hash)) {
            self.shared.copy(line, original);
        }
        match self.seen.entry(hash) {
            Entry::Occupied(known) => self.repeated.copy(line, *known.get()),
            Entry::Vacant(new) => drop(new.insert(line)),
        }
    }
}
