//! A training file, read: attributes numbered, pairs counted, weights laid out.

use std::sync::Arc;

use seqoia_core::{Corpus, Pairs, Sequence};
use seqoia_data::features::{Frozen, Growing, Labels, Memory, NONE, Program};
use seqoia_data::format::{Format, Kind, Place};
use seqoia_structures::chain::{Chain, Layout, Renumbering, Rules, Sets, Space};

use super::classes::Class;
use super::options::{DataOptions, PairChoice, Recipe, RuleChoice, Schemes};
use super::reading::Reading;
use super::roles;
use super::rules::{self, Broken};
use super::schemes;
use super::suspects::{self, Met};
use super::{Source, Within, weights};
use crate::error::{BadOption, Result};

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
    /// Where the examples lie, if memory was limited.
    pub within: Option<Within>,
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

impl TrainingSet {
    /// Reads a file, an open text or sentences in memory.
    ///
    /// # Errors
    /// Data that cannot be read, templates that do not fit it, no sentence at all.
    pub fn read(source: impl Into<Source>, options: &DataOptions) -> Result<TrainingSet> {
        Self::index(Reading::new(source.into(), options)?, options)
    }

    /// In memory, from what was read.
    pub(super) fn index(reading: Reading, options: &DataOptions) -> Result<TrainingSet> {
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
        } = reading;
        raw.check(&file)?;
        let (kind, columns) = (format.kind(), format.columns());
        let guess = format.guess().and_then(|guess| guess.doubt());
        doubts.splice(0..0, guess.map(|doubt| format!("{file}: {doubt}")));
        let indexed = indexer.finish(options.cutoff, options.threads());
        check_features(&program, indexed.corpus.nodes.items.len(), kind, &file)?;
        schemes::check_names(&indexed.labels, &indexed.corpus, &indexed.lines, &file)?;
        if schemes.file.is_none()
            && let Some(what) = roles::nearly_chunks(indexed.labels.iter())
        {
            doubts.push(format!("{file}: {what}; {}", roles::MEND));
        }
        if kind == Kind::Columns {
            let mut tally = Tally::new(&indexed.labels);
            tally.add(&indexed.corpus, &indexed.lines);
            doubts.extend(tally.suspects(&indexed.labels, &file)?);
        }
        let transitions = features.transitions.then_some(indexed.transitions.as_slice());
        let (space, new) =
            lay_out(indexed.labels.len(), &indexed.nodes, &indexed.edges, transitions, options)?;
        let d = &indexed.dictionary;
        let node_numbers = numbers(&indexed.kept_nodes, &new.nodes, d.nodes.view().len());
        let edge_numbers = numbers(&indexed.kept_edges, &new.edges, d.edges.view().len());
        let mut corpus = indexed.corpus;
        corpus.renumber(&node_numbers, &edge_numbers, options.threads());
        let (names, absent) = (&indexed.labels, options.part_of.is_some());
        let sets = sets_of(names.len(), &indexed.sets);
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
        check_weights(weight, &corpus.weights, &file)?;
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
            within: None,
        })
    }

    /// The structure that learners are given.
    ///
    /// # Errors
    /// Examples on disk that cannot be read.
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

/// What is counted of the labels, to find rows that are not what they seem.
pub(super) struct Tally {
    met: Vec<(u64, u64)>, // [labels] how often, and the line of the first
    sentences: usize,
    tokens: usize,
}

impl Tally {
    pub(super) fn new(labels: &Labels) -> Self {
        Tally { met: vec![(0, 0); labels.len()], sentences: 0, tokens: 0 }
    }

    /// Counts some sentences.
    pub(super) fn add(&mut self, corpus: &Memory, lines: &[u32]) {
        for (token, &y) in corpus.labels.iter().enumerate() {
            // Labels known in part have numbers behind the others.
            if let Some((count, line)) = self.met.get_mut(usize::from(y)) {
                *count += 1;
                if *count == 1 {
                    *line = lines.get(token).copied().map_or(0, u64::from);
                }
            }
        }
        self.sentences += corpus.ends.len();
        self.tokens += corpus.tokens();
    }

    /// Refuses rows that must not be learned from, and tells those that may not be meant so.
    pub(super) fn suspects(self, labels: &Labels, file: &str) -> Result<Vec<String>> {
        let met = labels.iter().zip(self.met).map(|(name, (count, line))| Met { name, count, line });
        let mut doubts = vec![];
        for suspect in suspects::find(&met.collect::<Vec<_>>(), self.sentences, self.tokens) {
            if suspect.fatal {
                return Err(suspect.error(file));
            }
            doubts.push(format!("{file}: {}; {}", suspect.what, suspect.help));
        }
        Ok(doubts)
    }
}

/// Refuses a file of ready attributes that has none.
pub(super) fn check_features(program: &Program, items: usize, kind: Kind, file: &str) -> Result<()> {
    if !program.is_given_alone() || items > 0 {
        return Ok(());
    }
    let what = "no token has a feature";
    let help = match kind {
        Kind::Crfsuite => "a row is a label and features, with a tab before each feature",
        _ => "features are expected beside the labels",
    };
    Err(seqoia_data::Error::new(file, what).help(help).into())
}

/// Refuses weights of sentences that cannot be used; `sum` is theirs.
pub(super) fn check_weights(sum: f64, weights: &[f64], file: &str) -> Result<()> {
    if sum <= 0.0 {
        let what = "all weights are 0: there is nothing to learn from";
        return Err(seqoia_data::Error::new(file, what).into());
    }
    if !sum.is_finite() || weights.iter().any(|weight| !weight.is_finite()) {
        let what = "the weights of sentences are too large or too small to be added up";
        return Err(seqoia_data::Error::new(file, what).help("scale them: only their ratios matter").into());
    }
    Ok(())
}

/// Lays out the weights of the attributes that were kept.
pub(super) fn lay_out(
    labels: usize,
    nodes: &Pairs,
    edges: &Pairs,
    transitions: Option<&[u32]>,
    options: &DataOptions,
) -> Result<(Space, Renumbering)> {
    let all = options.pairs_or_default() == PairChoice::All;
    let too_many =
        || BadOption::new("more than four billion weights; try `cutoff 2` or `pairs observed`").into();
    if all && Space::weights_of_all(labels, nodes.len(), edges.len()) > MOST {
        return Err(too_many()); // before any of it is laid out
    }
    let layout = if all { Layout::All } else { Layout::Observed };
    let (space, new) = Space::new(labels, nodes, edges, transitions, layout);
    if space.view().weights() as u64 > MOST {
        return Err(too_many());
    }
    Ok((space, new))
}

/// Numbers in the model of all attributes of a table, given those of which were kept.
pub(super) fn numbers(kept: &[u32], new: &[u32], all: usize) -> Vec<u32> {
    let mut numbers = vec![NONE; all];
    kept.iter().zip(new).for_each(|(&old, &new)| numbers[old as usize] = new);
    numbers
}

/// Sets of so many labels.
pub(super) fn sets_of(labels: usize, lists: &[Vec<u16>]) -> Sets {
    let mut sets = Sets::new(labels);
    lists.iter().for_each(|set| {
        sets.add(set.iter().copied());
    });
    sets
}

/// What the user asked for about labels, as text.
pub(super) fn terms(options: &DataOptions, rules: Option<&Rules>) -> Vec<(&'static str, String)> {
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
