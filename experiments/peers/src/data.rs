//! The data: where it comes from, and what each tool reads of it.
//!
//! Corpora are looked for in the folder that the variable `SEQOIA_DATA` names; without it, a corpus
//! that Seqoia generates takes their place (figures then say little about real text). They are
//! unpacked and expanded into the cache, one folder a task, in which all tools are started.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use seqoia::data::format::Field;
use seqoia::data::{generate, open};
use seqoia::{FeatureChoice, LabelColumn};
use seqoia_report::grouped;
use serde::{Deserialize, Serialize};

use crate::expand::Expander;
use crate::measure::Call;
use crate::screen;

/// The variable that names the folder of corpora.
pub(crate) const VARIABLE: &str = "SEQOIA_DATA";

/// What is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskName {
    /// Chunks of CoNLL-2000 with the CRF++ template.
    Chunking,
    /// The 49 tags of UD English EWT.
    Xpos,
    /// The 472 tags of the Brown corpus, of which 1,500 sentences are enough.
    Brown,
}

/// A task whose files are ready.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// For titles.
    pub(crate) title: String,
    /// Where its files are; all tools are started here.
    pub(crate) folder: PathBuf,
    /// What Seqoia reads: training, development and test data, by name in the folder.
    pub(crate) train: &'static str,
    /// The same as `train` if there is none.
    pub(crate) dev: &'static str,
    /// The same as `train` if there is none.
    pub(crate) test: &'static str,
    /// Flags of `seqoia train` that say what is learned.
    pub(crate) flags: Vec<&'static str>,
    /// `--label` of `seqoia eval` where predictions replace a column.
    pub(crate) replaced: Option<&'static str>,
    /// What is in the files.
    pub(crate) counts: Counts,
    /// Weights that every tool must see; none if that is not known.
    pub(crate) weights: Option<u64>,
}

/// What the preparation counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Training sentences.
    pub(crate) sentences: u64,
    /// Training tokens.
    pub(crate) tokens: u64,
    /// Tokens to test on.
    pub(crate) test_tokens: u64,
    /// Different attributes of the training data.
    pub(crate) attributes: u64,
    /// Labels of the training data, in Vowpal Wabbit's order.
    pub(crate) labels: Vec<String>,
}

/// Attributes and weights of CoNLL-2000 with its template, by which published figures are known.
const CONLL2000: (u64, u64) = (338_551, 456_468);
/// Sentences of the Brown corpus: training with all tags is slow, not long.
const BROWN_SENTENCES: usize = 1500;
/// Training and test sentences where no corpus is at hand.
const GENERATED: (usize, usize) = (8000, 2000);

/// The folder of corpora, if there is one.
pub(crate) fn corpora() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

impl Task {
    /// Prepares the files of a task, in a child process: this one must stay small (`measure.rs`).
    /// `None` if there are no corpora and none can be generated for it.
    ///
    /// # Errors
    /// Data that cannot be read, or that has not the attributes that it should have.
    pub(crate) fn prepare(name: TaskName, cache: &Path) -> Result<Option<Task>> {
        let real = corpora().is_some();
        if !real && name == TaskName::Brown {
            screen::note(&format!("skipped: brown-pos, since {VARIABLE} does not name a folder of corpora"));
            return Ok(None);
        }
        let value = name.to_possible_value().context("every task has a name")?;
        let folder = cache.join(format!("{}{}", value.get_name(), if real { "" } else { "-generated" }));
        fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
        screen::note(&format!("preparing {}", folder.display()));
        let own = std::env::current_exe().context("cannot find the program itself")?;
        // The folder of corpora may be a relative path, so the child starts where this process did.
        let args = ["--prepare", value.get_name(), "--cache", &folder.to_string_lossy()];
        let counts = Call::new(&own, Path::new("."), &args).run()?.output;
        let counts: Counts = serde_json::from_str(&counts).context("the preparation gave no counts")?;
        if real && name == TaskName::Chunking {
            ensure!(
                counts.attributes == CONLL2000.0,
                "conll2000 has {} attributes, not {}: is it the original file with its template?",
                counts.attributes,
                CONLL2000.0
            );
        }
        let corpus = match (real, name) {
            (false, _) => "generated corpus",
            (true, TaskName::Chunking) => "CoNLL-2000",
            (true, TaskName::Xpos) => "UD English EWT",
            (true, TaskName::Brown) => "Brown, 1,500 sentences and one with every tag",
        };
        let title = format!(
            "{corpus} ({} tokens, {} labels, {} attributes)",
            grouped(counts.tokens),
            counts.labels.len(),
            grouped(counts.attributes)
        );
        let (flags, replaced) = (name.flags(real), if is_conllu(name, real) { Some("xpos") } else { None });
        let [train, dev, test] = name.files(real);
        let weights = (real && name == TaskName::Chunking).then_some(CONLL2000.1);
        Ok(Some(Task { title, folder, train, dev, test, flags, replaced, counts, weights }))
    }
}

impl TaskName {
    /// Training, development and test files of a task.
    fn files(self, real: bool) -> [&'static str; 3] {
        match self {
            TaskName::Xpos if real => ["train.conllu", "dev.conllu", "test.conllu"],
            TaskName::Brown => ["train.txt"; 3],
            _ => ["train.txt", "test.txt", "test.txt"],
        }
    }

    /// Flags of `seqoia train`.
    fn flags(self, real: bool) -> Vec<&'static str> {
        match self {
            TaskName::Chunking if real => vec!["-t", "template.crfpp"],
            TaskName::Chunking => vec!["--features", "chunking"],
            TaskName::Xpos if real => vec!["--features", "pos", "--label", "xpos"],
            TaskName::Xpos => vec!["--features", "pos", "--label", "1"],
            TaskName::Brown => vec!["--features", "pos"],
        }
    }
}

fn is_conllu(name: TaskName, real: bool) -> bool {
    real && name == TaskName::Xpos
}

/// What the child does: unpacks, expands and counts. The files go to `folder`.
///
/// # Errors
/// Data that cannot be read, files that cannot be written.
pub(crate) fn prepare(name: TaskName, folder: &Path) -> Result<Counts> {
    let corpora = corpora();
    let mut features = FeatureChoice::default();
    match name {
        TaskName::Chunking if corpora.is_some() => {
            unpack("conll2000/train.txt.gz", &folder.join("train.txt"))?;
            unpack("conll2000/test.txt.gz", &folder.join("test.txt"))?;
            let template = unpack("conll2000/template.crfpp", &folder.join("template.crfpp"))?;
            features.templates.push(("template.crfpp".to_owned(), template));
        }
        TaskName::Xpos if corpora.is_some() => {
            for part in ["train", "dev", "test"] {
                let name = format!("ud-english-ewt/en_ewt-ud-{part}.conllu.gz");
                unpack(&name, &folder.join(format!("{part}.conllu")))?;
            }
            features.sets.push("pos".to_owned());
        }
        TaskName::Brown => {
            save(&folder.join("train.txt"), &brown()?)?;
            features.sets.push("pos".to_owned());
        }
        _ => {
            save(&folder.join("train.txt"), &generate::columns(1, GENERATED.0))?;
            save(&folder.join("test.txt"), &generate::columns(2, GENERATED.1))?;
            features.sets.push(if name == TaskName::Chunking { "chunking" } else { "pos" }.to_owned());
        }
    }
    let label = match (name, &corpora) {
        (TaskName::Xpos, Some(_)) => LabelColumn::Field(Field::Xpos),
        (TaskName::Xpos, None) => LabelColumn::Number(1),
        _ => LabelColumn::Last,
    };
    let mut expander = Expander::new(features, label, name == TaskName::Chunking);
    let [train, dev, test] = name.files(corpora.is_some());
    let size = expander.expand(&folder.join(train))?;
    let attributes = expander.attributes() as u64;
    let labels = expander.labels.iter().map(str::to_owned).collect();
    let mut test_tokens = size.tokens;
    let mut files = vec![dev, test];
    files.dedup();
    for file in files.into_iter().filter(|&file| file != train) {
        test_tokens = expander.expand(&folder.join(file))?.tokens;
    }
    Ok(Counts { sentences: size.sentences, tokens: size.tokens, test_tokens, attributes, labels })
}

/// The first sentences of the Brown corpus and a made one with a token for each tag.
fn brown() -> Result<String> {
    let mut tags = BTreeSet::new();
    let mut text = String::new();
    for part in ["train", "dev", "test"] {
        let whole = read(&format!("brown-pos/brown.{part}.txt.gz"))?;
        tags.extend(whole.lines().filter_map(|row| row.split_once('\t')).map(|row| row.1.to_owned()));
        if part == "train" {
            let end = whole.match_indices("\n\n").nth(BROWN_SENTENCES - 1);
            text.push_str(&whole[..end.map_or(whole.len(), |(at, _)| at + 2)]);
        }
    }
    for (number, tag) in tags.iter().enumerate() {
        writeln!(text, "made{number}\t{tag}")?;
    }
    text.push('\n');
    Ok(text)
}

/// A file of the corpora as text.
fn read(name: &str) -> Result<String> {
    let Some(folder) = corpora() else { bail!("{VARIABLE} names no folder") };
    let path = folder.join(name);
    let mut text = String::new();
    let help = || format!("{}: cannot be read; {VARIABLE} must name the folder it is in", path.display());
    let mut input = open::open(&path).with_context(help)?;
    std::io::Read::read_to_string(&mut input, &mut text).with_context(help)?;
    Ok(text)
}

fn unpack(from: &str, to: &Path) -> Result<String> {
    let text = read(from)?;
    save(to, &text)?;
    Ok(text)
}

fn save(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("{}: cannot be written", path.display()))
}
