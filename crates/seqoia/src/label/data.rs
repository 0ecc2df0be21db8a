//! A training file, read: attributes numbered, pairs counted, weights laid out.

use std::sync::Arc;

use seqoia_core::{Corpus, Sequence};
use seqoia_data::features::{Frozen, Growing, Indexer, Labels, Lexica, Matched, Memory, NONE, Program};
use seqoia_data::format::{Format, Kind, Place};
use seqoia_structures::chain::{Chain, Layout, Rules, Sets, Space};

use super::classes::{Class, Collector};
use super::options::{DataOptions, Features, LabelColumn, PairChoice, Recipe, RuleChoice, Schemes};
use super::roles;
use super::rules::{self, Broken};
use super::schemes;
use super::suspects::{self, Met};
use super::{Source, own_words, raw, weights};
use crate::error::{BadOption, Result, counted};

/// Everything that training needs to know about its data.
pub struct TrainingSet {
    /// The name of the file, for messages.
    pub file: String,
    /// Sequences in numbers, wherever they lie.
    pub corpus: Arc<dyn Corpus<Sequence>>,
    /// What they hold in all.
    pub counts: Counts,
    /// Sum of the instance weights: n, if the file has none.
    pub weight: f64,
    /// Where each weight lies.
    pub space: Arc<Space>,
    /// The compiled templates.
    pub program: Arc<Program>,
    /// Values and attributes.
    pub dictionary: Growing,
    /// Number in the model of each attribute of the dictionary.
    pub node_numbers: Vec<u32>,
    /// The same for attributes of edges.
    pub edge_numbers: Vec<u32>,
    /// Labels, as trained.
    pub labels: Labels,
    /// Label schemes.
    pub schemes: Schemes,
    /// Format of the file.
    pub kind: Kind,
    /// Its columns.
    pub columns: usize,
    /// Which of them is the label.
    pub label: usize,
    /// Columns with few different values.
    pub classes: Vec<Class>,
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// Feature sets do without parts of speech, which the file does not have.
    pub without_pos: bool,
    /// XXH3 of the text that was read, 128 bits, in hexadecimal.
    pub digest: String,
    /// The options it was read with.
    pub cutoff: u32,
    /// The options it was read with.
    pub pairs: PairChoice,
    /// What went where nothing was chosen.
    pub recipe: Option<&'static Recipe>,
    /// Which labels may follow each other.
    pub rules: Option<Arc<Rules>>,
    /// Bytes of the largest stretch of text that was in memory, with what was found in it.
    pub text: usize,
    /// Gold labels that break the rules.
    pub broken: Option<Broken>,
    /// What stands in the place of a label that is not known.
    pub partial: Option<String>,
    /// What gold labels that are known in part may be.
    pub sets: Sets,
    /// What it costs to miss each label; empty: 1 each.
    pub costs: Vec<f64>,
    /// What may not be meant so, a sentence each: the format of the file, columns that templates read.
    pub doubts: Vec<String>,
    /// What was asked for beside, as text: for the model and for checkpoints.
    pub terms: Vec<(&'static str, String)>,
}

/// What a corpus holds, counted while it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tokens.
    pub tokens: usize,
    /// Occurrences of attributes of tokens.
    pub items: usize,
    /// Occurrences of attributes of label pairs.
    pub edge_items: usize,
}

impl Counts {
    fn of(corpus: &Memory) -> Counts {
        Counts {
            tokens: corpus.tokens(),
            items: corpus.nodes.items.len(),
            edge_items: corpus.edges.items.len(),
        }
    }
}

/// The most weights: they are numbered with 32 bits.
const MOST: u64 = u32::MAX as u64;

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
    classes: Vec<Class>,
    raw: raw::Watch,
    pub(crate) text: usize,
    doubts: Vec<String>,
}

impl Reading {
    pub(crate) fn new(source: Source, options: &DataOptions) -> Result<Reading> {
        let (file, in_memory) = (source.name(), matches!(source, Source::Sentences(_)));
        let kind = source.format(options);
        let (source, lexica) = own_words::collect(source, &options.features, kind)?;
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
        let mut indexer = Indexer::new(Arc::clone(&program), lexica).with_lines();
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
        let mut raw = raw::Watch::default();
        let mut classes = Collector::new(&program, word);
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

impl TrainingSet {
    /// Reads a file, an open text or sentences in memory.
    ///
    /// # Errors
    /// Data that cannot be read, templates that do not fit it, no sentence at all.
    pub fn read(source: impl Into<Source>, options: &DataOptions) -> Result<TrainingSet> {
        let Reading {
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
            mut doubts,
        } = Reading::new(source.into(), options)?;
        raw.check(&file)?;
        let (kind, columns) = (format.kind(), format.columns());
        let guess = format.guess().and_then(|guess| guess.doubt());
        doubts.splice(0..0, guess.map(|doubt| format!("{file}: {doubt}")));
        let indexed = indexer.finish(options.cutoff, options.threads());
        if program.is_given_alone() && indexed.corpus.nodes.items.is_empty() {
            let what = "no token has a feature";
            let help = match kind {
                Kind::Crfsuite => "a row is a label and features, with a tab before each feature",
                _ => "features are expected beside the labels",
            };
            return Err(seqoia_data::Error::new(file, what).help(help).into());
        }
        schemes::check_names(&indexed.labels, &indexed.corpus, &indexed.lines, &file)?;
        if schemes.file.is_none()
            && let Some(what) = roles::nearly_chunks(indexed.labels.iter())
        {
            doubts.push(format!("{file}: {what}; {}", roles::MEND));
        }
        if kind == Kind::Columns {
            doubts.extend(suspects(&indexed.labels, &indexed.corpus, &indexed.lines, &file)?);
        }
        let transitions = features.transitions.then_some(indexed.transitions.as_slice());
        let all = options.pairs_or_default() == PairChoice::All;
        let too_many =
            || BadOption::new("more than four billion weights; try `cutoff 2` or `pairs observed`").into();
        if all
            && Space::weights_of_all(indexed.labels.len(), indexed.kept_nodes.len(), indexed.kept_edges.len())
                > MOST
        {
            return Err(too_many()); // before any of it is laid out
        }
        let layout = if all { Layout::All } else { Layout::Observed };
        let (space, new) =
            Space::new(indexed.labels.len(), &indexed.nodes, &indexed.edges, transitions, layout);
        if space.view().weights() as u64 > MOST {
            return Err(too_many());
        }
        let numbers = |kept: &[u32], new: &[u32], all: usize| {
            let mut numbers = vec![NONE; all];
            kept.iter().zip(new).for_each(|(&old, &new)| numbers[old as usize] = new);
            numbers
        };
        let d = &indexed.dictionary;
        let node_numbers = numbers(&indexed.kept_nodes, &new.nodes, d.nodes.view().len());
        let edge_numbers = numbers(&indexed.kept_edges, &new.edges, d.edges.view().len());
        let mut corpus = indexed.corpus;
        corpus.renumber(&node_numbers, &edge_numbers, options.threads());
        let (names, absent) = (&indexed.labels, options.part_of.is_some());
        let mut sets = Sets::new(names.len());
        indexed.sets.iter().for_each(|set| {
            sets.add(set.iter().copied());
        });
        let rules =
            options.rules.as_ref().map(|choice| rules::rules(choice, names, schemes.model, &file, absent));
        let rules = rules.transpose()?.map(Arc::new);
        let broken =
            rules.as_deref().and_then(|rules| rules::broken(rules, &sets, &corpus, names, &indexed.lines));
        if let Some((rules, file)) = rules.as_deref().map(|rules| (rules, &file)) {
            rules::can_be_met(rules, &corpus, &indexed.lines, file)?;
        }
        let table = |given: &[(String, f64)], option| weights::per_label(given, names, option, &file, absent);
        weights::weigh(&mut corpus, &table(&options.label_weights, "label-weight")?);
        let costs = table(&options.label_costs, "label-cost")?;
        let weight = corpus.normalise_weights();
        if weight <= 0.0 {
            let what = "all weights are 0: there is nothing to learn from";
            return Err(seqoia_data::Error::new(file, what).into());
        }
        if !weight.is_finite() || corpus.weights.iter().any(|weight| !weight.is_finite()) {
            let what = "the weights of sentences are too large or too small to be added up";
            return Err(seqoia_data::Error::new(file, what)
                .help("scale them: only their ratios matter")
                .into());
        }
        Ok(TrainingSet {
            node_numbers,
            edge_numbers,
            counts: Counts::of(&corpus),
            text,
            corpus: Arc::new(corpus),
            weight,
            space: Arc::new(space),
            program,
            dictionary: indexed.dictionary,
            labels: indexed.labels,
            schemes,
            kind,
            columns,
            label,
            classes,
            transitions: features.transitions,
            without_pos: features.without_pos,
            digest,
            cutoff: options.cutoff.max(1),
            pairs: options.pairs_or_default(),
            recipe: options.recipe(),
            terms: terms(options, rules.as_deref()),
            rules,
            broken,
            partial: options.partial.clone(),
            sets,
            costs,
            doubts,
            file,
        })
    }

    /// The structure that learners are given.
    ///
    /// # Errors
    /// None for data in memory.
    pub fn chain(&self) -> Result<Chain> {
        let chain = Chain::new(Arc::clone(&self.space), self.corpus.clone()).with_costs(self.costs.clone());
        Ok(chain.with_limits(self.rules.clone(), self.sets.clone())?)
    }

    /// A file with labels and attributes as this one has.
    pub(crate) fn check_dev(&self, file: &str, format: &dyn Format) -> Result<()> {
        if format.label() == Place::Missing {
            return Err(seqoia_data::Error::new(file, "there are no labels to compare with").into());
        }
        if self.program.given().is_some() && !format.ready() {
            let what = format!("there are no attributes, which {} has", self.file);
            return Err(seqoia_data::Error::new(file, what).into());
        }
        Ok(())
    }

    /// Looks attributes up as the model numbers them.
    #[must_use]
    pub fn frozen(&self) -> Frozen<'_> {
        Frozen {
            strings: self.dictionary.strings.view(),
            nodes: self.dictionary.nodes.view(),
            edges: self.dictionary.edges.view(),
            node_numbers: Some(&self.node_numbers),
            edge_numbers: Some(&self.edge_numbers),
            dense: seqoia_core::cast::narrow(self.space.view().dense),
            lexica: self.dictionary.lexica.view(),
        }
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let d = &self.dictionary;
        self.corpus.bytes()
            + self.space.bytes()
            + d.strings.bytes()
            + d.nodes.bytes()
            + d.edges.bytes()
            + d.lexica.bytes()
            + 4 * (self.node_numbers.capacity() + self.edge_numbers.capacity())
    }
}

/// Lists that say nothing about the data, with how much is in them.
fn unmatched(lexica: &Lexica, matched: &Matched, file: &str) -> Vec<String> {
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

/// Refuses rows that must not be learned from, and tells those that may not be meant so.
fn suspects(labels: &Labels, corpus: &Memory, lines: &[u32], file: &str) -> Result<Vec<String>> {
    let mut met: Vec<Met<'_>> = labels.iter().map(|name| Met { name, count: 0, line: 0 }).collect();
    for (token, &y) in corpus.labels.iter().enumerate() {
        // Labels known in part have numbers behind the others.
        if let Some(label) = met.get_mut(usize::from(y)) {
            label.count += 1;
            if label.count == 1 {
                label.line = lines.get(token).copied().map_or(0, u64::from);
            }
        }
    }
    let mut doubts = vec![];
    for suspect in suspects::find(&met, corpus.ends.len(), corpus.tokens()) {
        if suspect.fatal {
            return Err(suspect.error(file));
        }
        doubts.push(format!("{file}: {}; {}", suspect.what, suspect.help));
    }
    Ok(doubts)
}

/// What the user asked for about labels, as text.
fn terms(options: &DataOptions, rules: Option<&Rules>) -> Vec<(&'static str, String)> {
    let mut terms = vec![];
    if let Some(rules) = rules {
        let bytes: Vec<u8> = rules.bits().iter().flat_map(|bits| bits.to_le_bytes()).collect();
        terms.push((
            "rules",
            match options.rules {
                Some(RuleChoice::Scheme(scheme)) => scheme.name().to_owned(),
                _ => format!("table {:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)),
            },
        ));
    }
    terms.extend(options.partial.clone().map(|mark| ("partial", mark)));
    for (name, given) in [("label-weights", &options.label_weights), ("label-costs", &options.label_costs)] {
        if !given.is_empty() {
            let all: Vec<String> = given.iter().map(|(label, x)| format!("{label}={x}")).collect();
            terms.push((name, all.join(" ")));
        }
    }
    terms
}
