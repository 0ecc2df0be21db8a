//! The data: where it comes from, and what each tool reads of it.
//!
//! Corpora are looked for in the folder that the variable `SEQOIA_DATA` names; without it, a corpus
//! that Seqoia generates takes their place (figures then say little about real text). They are
//! unpacked and expanded into the cache, one folder a task, in which all tools are started.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use seqoia::data::features::{Clusters, Lexica};
use seqoia::data::format::Field;
use seqoia::data::scheme::{self, Scheme};
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
    /// Names of CoNLL-2003 with the set `ner-003`.
    Names003,
    /// With `ner-001`.
    Names001,
    /// With `ner`.
    Names,
    /// With `ner`, word clusters and all lists of names.
    NamesListed,
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
/// Word clusters, in the folder of a task.
const CLUSTERS: &str = "clusters.tsv";
/// Lists of names: files of `gazetteers-en` before their endings.
const LISTS: [&str; 19] = [
    "loc.cities.txt",
    "loc.cities_alt.txt",
    "loc.countries.txt",
    "loc.us_ca_mx_states.txt",
    "misc.awards.txt",
    "misc.holidays.txt",
    "misc.nationalities.txt",
    "misc.products.txt",
    "org.companies.txt",
    "org.government_agencies.txt",
    "org.newspapers.txt",
    "org.sports_leagues.txt",
    "org.sports_teams.txt",
    "org.tv_networks.txt",
    "org.universities_lower.txt",
    "per.athletes.txt",
    "per.first_names.txt",
    "per.last_names.txt",
    "per.politicians.txt",
];
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
        if !real && !matches!(name, TaskName::Chunking | TaskName::Xpos) {
            let corpus = if name == TaskName::Brown { "brown-pos" } else { "conll2003" };
            screen::note(&format!("skipped: {corpus}, since {VARIABLE} does not name a folder of corpora"));
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
            (true, TaskName::Names003) => "CoNLL-2003 English, ner-003",
            (true, TaskName::Names001) => "CoNLL-2003 English, ner-001",
            (true, TaskName::Names) => "CoNLL-2003 English, ner",
            (true, TaskName::NamesListed) => "CoNLL-2003 English, ner with clusters and 19 lists",
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
            _ if self.set_of_names().is_some() => ["train.txt", "testa.txt", "testb.txt"],
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
            TaskName::NamesListed => {
                let lists = ["--features", "ner", "--clusters", CLUSTERS, "--gazetteer"];
                lists.into_iter().chain(LISTS).collect()
            }
            TaskName::Names003 | TaskName::Names001 | TaskName::Names => {
                vec!["--features", self.set_of_names().unwrap_or_default()]
            }
        }
    }

    /// The feature set of a task of names.
    fn set_of_names(self) -> Option<&'static str> {
        match self {
            TaskName::Names003 => Some("ner-003"),
            TaskName::Names001 => Some("ner-001"),
            TaskName::Names | TaskName::NamesListed => Some("ner"),
            TaskName::Chunking | TaskName::Xpos | TaskName::Brown => None,
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
        _ if name.set_of_names().is_some() => {
            for (part, file) in ["train", "testa", "testb"].into_iter().zip(name.files(true)) {
                save(&folder.join(file), &iob2(&read(&format!("conll2003/eng.{part}.gz"))?)?)?;
            }
            features.sets.extend(name.set_of_names().map(str::to_owned));
            if name == TaskName::NamesListed {
                features.lexica = Arc::new(lexica(folder)?);
            }
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
    let mut expander =
        Expander::new(features, label, name == TaskName::Chunking || name.set_of_names().is_some());
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

/// The text with the labels of its last column in IOB2, so that all tools learn the same labels.
fn iob2(text: &str) -> Result<String> {
    let (mut out, mut labels) = (String::new(), vec![]);
    for sentence in text.split_inclusive("\n\n") {
        let rows: Vec<(&str, &str)> = sentence.lines().filter_map(|row| row.rsplit_once(' ')).collect();
        let known: Vec<&str> = rows.iter().map(|row| row.1).collect();
        scheme::convert(Scheme::Iob1, Scheme::Iob2, &known, &mut labels);
        for (row, label) in rows.iter().zip(&labels) {
            writeln!(out, "{} {label}", row.0)?;
        }
        out.push('\n');
    }
    Ok(out)
}

/// Clusters and lists of names; they are unpacked, too, for Seqoia to read.
fn lexica(folder: &Path) -> Result<Lexica> {
    let mut lexica = Lexica::default();
    let text = unpack("brown-clusters-en/bllip-clusters.tsv.gz", &folder.join(CLUSTERS))?;
    lexica.clusters = Clusters::read(CLUSTERS, &text)?;
    for file in LISTS {
        let text = unpack(&format!("gazetteers-en/{file}.gz"), &folder.join(file))?;
        lexica.names.read(file.trim_end_matches(".txt"), file, &text)?;
    }
    Ok(lexica)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_brought_to_one_scheme_and_nothing_else_changes() {
        let text = "-DOCSTART- -X- O O\n\nA N I-NP I-ORG\nB N I-NP I-ORG\n\nC N I-NP I-ORG\nD N I-NP B-ORG\n";
        let expected =
            "-DOCSTART- -X- O O\n\nA N I-NP B-ORG\nB N I-NP I-ORG\n\nC N I-NP B-ORG\nD N I-NP B-ORG\n\n";
        assert_eq!(iob2(text).unwrap(), expected);
    }
}
