//! Real rows: corpora in the folder that `SEQOIA_DATA` names, each as its users have it.
//!
//! Ours reads raw columns, pixels or dicts; what it makes of them (`--dump-features`) is written out for the rivals, so
//! that all learn from the same attributes. Dicts go to python-crfsuite as they are: there a `false` is an attribute
//! with the value 0, for ours an attribute that is not there.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use seqoia::data::open;

use super::dicts;
use super::row::{READY, Row, create, folder_name, lines};
use crate::bench::Bench;
use crate::data::{self, VARIABLE};

/// Templates of characters, as users of CRF++ write them.
const CHARACTERS: &str = "\
U00:%x[-2,0]\nU01:%x[-1,0]\nU02:%x[0,0]\nU03:%x[1,0]\nU04:%x[2,0]
U05:%x[-2,0]/%x[-1,0]\nU06:%x[-1,0]/%x[0,0]\nU07:%x[0,0]/%x[1,0]\nU08:%x[1,0]/%x[2,0]\nB\n";
/// Training and test sentences of Chinese: the whole would take python-crfsuite a quarter of an hour.
const SENTENCES: [usize; 2] = [5000, 500];
/// The fold of the letters that is the test data.
const FOLD: &str = "0";

/// How the files of a corpus are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    /// Unpacked.
    Same,
    /// Unpacked, and a template beside them.
    Template(&'static str),
    /// The first sentences, and a template of characters.
    Characters,
    /// One file, cut by folds.
    Letters,
    /// Feature dicts of each token.
    Dicts,
}

/// A corpus and how it is read.
#[derive(Debug)]
pub(super) struct Corpus {
    /// Name of the row.
    pub(super) name: &'static str,
    sources: [&'static str; 2],
    files: [&'static str; 2],
    flags: &'static [&'static str],
    /// Flags of whole training: what a user says about the features, and nothing about learning.
    whole: Option<&'static [&'static str]>,
    /// The column that `predict` writes labels into, where it does not add one.
    replaced: Option<&'static str>,
    raw: Raw,
}

const NAMES: [&str; 2] = ["conll2003/eng.train.gz", "conll2003/eng.testb.gz"];
const COLUMNS: [&str; 2] = ["train.txt", "test.txt"];

const CORPORA: [Corpus; 8] = [
    Corpus {
        name: "CoNLL-2000 chunks",
        sources: ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
        files: COLUMNS,
        flags: &["-t", "template.crfpp"],
        whole: Some(&["--features", "chunking"]),
        replaced: None,
        raw: Raw::Template("conll2000/template.crfpp"),
    },
    names("CoNLL-2003 names, IOB1", None, &["--features", "ner", "--pairs", "observed", "--scheme", "iob1"]),
    // The recipe chooses its own scheme, so one of the three rows has it.
    names(
        "CoNLL-2003 names, IOB2",
        Some(&["--features", "ner"]),
        &["--features", "ner", "--pairs", "observed", "--scheme", "iob2"],
    ),
    names(
        "CoNLL-2003 names, IOBES",
        None,
        &["--features", "ner", "--pairs", "observed", "--scheme", "iobes"],
    ),
    Corpus {
        name: "EWT parts of speech",
        sources: ["ud-english-ewt/en_ewt-ud-train.conllu.gz", "ud-english-ewt/en_ewt-ud-test.conllu.gz"],
        files: ["train.conllu", "test.conllu"],
        flags: &["--features", "pos", "--label", "xpos"],
        whole: Some(&["--features", "pos", "--label", "xpos"]),
        replaced: Some("xpos"),
        raw: Raw::Same,
    },
    Corpus {
        name: "MSRA characters",
        sources: ["msra-ner/train.bio.xz", "msra-ner/test.bio.xz"],
        files: COLUMNS,
        flags: &["-t", "template.crfpp"],
        whole: Some(&["-t", "template.crfpp"]),
        replaced: None,
        raw: Raw::Characters,
    },
    Corpus {
        name: "OCR letters",
        sources: ["ocr-letters/letter.data.gz"; 2],
        files: ["train.data", "test.data"],
        flags: &["--format", "ocr"],
        whole: Some(&["--format", "ocr"]),
        replaced: None,
        raw: Raw::Letters,
    },
    Corpus {
        name: "CoNLL-2002 Dutch dicts",
        sources: ["conll2002-ned/ned.train.gz", "conll2002-ned/ned.testb.gz"],
        files: ["train.jsonl", "test.jsonl"],
        flags: &["--format", "jsonl"],
        whole: Some(&["--format", "jsonl"]),
        replaced: None,
        raw: Raw::Dicts,
    },
];

const fn names(
    name: &'static str,
    whole: Option<&'static [&'static str]>,
    flags: &'static [&'static str],
) -> Corpus {
    Corpus { name, sources: NAMES, files: COLUMNS, flags, whole, replaced: None, raw: Raw::Same }
}

/// The corpora that are there; notes say which are not.
pub(super) fn corpora(notes: &mut Vec<String>) -> Vec<Corpus> {
    let Some(folder) = data::corpora() else {
        notes.push(format!("no real rows, since {VARIABLE} does not name a folder of corpora"));
        return vec![];
    };
    let mut found = vec![];
    for corpus in CORPORA {
        match corpus.sources.iter().find(|source| !folder.join(source).exists()) {
            Some(source) => notes.push(format!("left out: {}, since there is no {source}", corpus.name)),
            None => found.push(corpus),
        }
    }
    found
}

impl Corpus {
    /// Makes the files that all tools read.
    ///
    /// # Errors
    /// Data that cannot be read, files that cannot be written.
    pub(super) fn prepare(&self, bench: &Bench) -> Result<Row> {
        let folder = bench.folder(&folder_name(self.name))?;
        match self.raw {
            Raw::Template(source) => {
                let mut out = create(&folder.join("template.crfpp"))?;
                copy(source, &mut out, |_| true)?;
            }
            Raw::Characters => fs::write(folder.join("template.crfpp"), CHARACTERS)?,
            Raw::Same | Raw::Letters | Raw::Dicts => (),
        }
        for (part, ready) in READY.into_iter().enumerate() {
            let (source, path) = (self.sources[part], folder.join(self.files[part]));
            match self.raw {
                Raw::Same | Raw::Template(_) => copy(source, &mut create(&path)?, |_| true)?,
                Raw::Characters => self.characters(bench, &folder, part)?,
                Raw::Letters => {
                    copy(source, &mut create(&path)?, |line| {
                        (line.split('\t').nth(5) == Some(FOLD)) == (part == 1)
                    })?;
                }
                Raw::Dicts => dicts::write(&mut input(source)?, &mut create(&path)?)
                    .with_context(|| format!("{source}: features cannot be made"))?,
            }
            let dump = bench.tools.seqoia_in(&folder, &["train", "--dump-features", "--quiet"]);
            dump.with(self.flags).with(&[self.files[part]]).into_file(ready).run()?;
        }
        let mut row = Row::ready(self.name, &folder, self.files, self.flags)?;
        (row.whole, row.task.replaced) = (self.whole, self.replaced);
        Ok(row)
    }

    /// The first sentences. A child unpacks them: what xz needs would count for all tools that are started later.
    fn characters(&self, bench: &Bench, folder: &Path, part: usize) -> Result<()> {
        let source = data::corpora().unwrap_or_default().join(self.sources[part]).canonicalize()?;
        let call = bench.tools.seqoia_in(folder, &["convert", "--quiet", &source.to_string_lossy()]);
        call.into_file("all.txt").run()?;
        let mut out = create(&folder.join(self.files[part]))?;
        let mut sentences = 0;
        for line in lines(&folder.join("all.txt"))? {
            let line = line?;
            writeln!(out, "{line}")?;
            sentences += usize::from(line.is_empty());
            if sentences == SENTENCES[part] {
                break;
            }
        }
        fs::remove_file(folder.join("all.txt"))?;
        Ok(out.flush()?)
    }
}

/// A file of the corpora, unpacked.
fn input(name: &str) -> Result<impl BufRead> {
    let path = data::corpora().unwrap_or_default().join(name);
    let input = open::open(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(BufReader::new(input))
}

/// Writes the lines of a file of the corpora that are wanted.
fn copy(name: &str, out: &mut impl Write, wanted: impl Fn(&str) -> bool) -> Result<()> {
    for line in input(name)?.lines() {
        let line = line.with_context(|| format!("{name}: cannot be read"))?;
        if wanted(&line) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(out.flush()?)
}
