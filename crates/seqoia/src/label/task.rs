//! Sequence labelling as a [`Task`]: a training set, a dev set and the options of the chain.

use std::path::Path;
use std::sync::Arc;

use seqoia_core::{Items, Judge, Row, Sequence, SequenceView, Structure};
use seqoia_data::format::Kind;
use seqoia_learners::registry::LEARNERS;
use seqoia_report::counted;
use seqoia_strategies::Crew;
use seqoia_structures::chain::{Precision, SpaceView};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_128;

use super::dev::{DevJudge, DevSet};
use super::meta::KIND;
use super::{Recipe, TrainingSet, Within, save};
use crate::error::{BadOption, Result};
use crate::run::{Description, Head, LearnOptions, Load, Need, Passes, Task, Terms, Trained};

/// How a chain is searched and summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainOptions {
    /// Labels that search keeps per position; exact search if none.
    pub beam: Option<usize>,
    /// Arithmetic of sums over whole passes.
    pub precision: Precision,
}

impl ChainOptions {
    /// Whether they and the learner go together, as far as can be said before data is read.
    ///
    /// # Errors
    /// A sentence about what does not.
    pub fn check(&self, learn: &LearnOptions) -> Result<()> {
        let (name, profile) = (learn.learner.name, learn.profile());
        if self.precision == Precision::F32 && !profile.whole {
            let what = format!("{name} does not use this option: it makes no sums over whole passes");
            return Err(BadOption::of("precision", "f32", what).into());
        }
        if let Some(beam) = self.beam.filter(|_| !profile.searches()) {
            let others = LEARNERS.iter().filter(|l| l.profile(&l.defaults()).searches());
            let what = format!(
                "{name} does not search, so it does not use this option; these do: {}",
                others.map(|l| l.name).collect::<Vec<_>>().join(", ")
            );
            return Err(BadOption::of("beam", beam, what).into());
        }
        if let (None, Some(update)) = (self.beam, update(learn).filter(|u| *u != "full")) {
            let what = "it goes with `beam N`; without a beam the search is exact, and whole labellings are compared";
            return Err(BadOption::of("update", update, what).into());
        }
        Ok(())
    }
}

/// The update for inexact search, if the user chose one.
fn update(learn: &LearnOptions) -> Option<&'static str> {
    learn.settings.word("update")
}

/// A labeller to be trained.
pub struct LabelTask<'a> {
    set: &'a TrainingSet,
    dev: Option<&'a DevSet>,
    chain: ChainOptions,
}

impl<'a> LabelTask<'a> {
    /// With exact search in double precision.
    #[must_use]
    pub fn new(set: &'a TrainingSet, dev: Option<&'a DevSet>) -> Self {
        LabelTask { set, dev, chain: ChainOptions::default() }
    }

    /// With other options of the chain.
    #[must_use]
    pub fn with_chain(self, chain: ChainOptions) -> Self {
        LabelTask { chain, ..self }
    }

    /// Labels that search keeps per position; none if it is exact. A beam that has room for every label is exact,
    /// unless prefixes are to be compared all the same.
    fn beam(&self, learn: &LearnOptions) -> Option<usize> {
        self.chain.beam.filter(|&size| size < self.set.labels.len() || update(learn).is_some())
    }

    /// The arithmetic of sums over whole passes, which many labels with few pairs decide.
    fn precision(&self) -> Precision {
        if self.set.space.sums_by_pairs() { Precision::F64 } else { self.chain.precision }
    }
}

impl Task for LabelTask<'_> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self, learn: &LearnOptions) -> Result<()> {
        use seqoia_core::Question::Costs;
        self.chain.check(learn)?;
        if !self.set.costs.is_empty() && !learn.profile().needs.contains(&Costs) {
            let costly = [("cost".to_owned(), "1".to_owned())];
            let those = LEARNERS.iter().filter(|l| {
                l.check(&costly).is_ok_and(|settings| l.profile(&settings).needs.contains(&Costs))
            });
            let what = format!(
                "it goes with `cost X`, X above 0, and a learner that looks at costs: {}",
                those.map(|l| l.name).collect::<Vec<_>>().join(", ")
            );
            return Err(BadOption::of("label-cost", "", what).into());
        }
        Ok(())
    }

    fn structure(&self, learn: &LearnOptions) -> Result<Arc<dyn Structure>> {
        let mut chain = self.set.chain()?.with_precision(self.precision());
        if let Some(within) = self.set.within.as_ref().filter(|_| learn.shelves) {
            chain = chain.with_shelves(within.shelves());
        }
        Ok(match self.beam(learn) {
            Some(size) => Arc::new(chain.with_beam(size)),
            None => Arc::new(chain),
        })
    }

    fn judge<'a>(&'a self, crew: &Arc<Crew>, _: &Arc<dyn Structure>) -> Option<Box<dyn Judge + 'a>> {
        let dev = self.dev?;
        Some(Box::new(DevJudge::new(dev, self.set, Arc::clone(crew))))
    }

    fn weight(&self) -> f64 {
        self.set.weight
    }

    fn examples(&self) -> usize {
        self.set.corpus.len()
    }

    fn size(&self) -> usize {
        self.set.counts.tokens
    }

    fn terms(&self, learn: &LearnOptions) -> Terms {
        let set = self.set;
        let mut terms = set.terms.clone();
        for (name, value) in [
            ("precision", self.precision().name().to_owned()),
            ("cutoff", set.cutoff.to_string()),
            ("pairs", set.pairs.name().to_owned()),
        ] {
            terms.push((name, value));
        }
        terms.extend(set.dictionary.lexica.digest().map(|digest| ("lexica", format!("{digest:016x}"))));
        terms.extend(self.beam(learn).map(|size| ("beam", size.to_string())));
        terms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn inputs(&self) -> Terms {
        // Serialising plain strings and numbers cannot fail.
        let templates = serde_json::to_vec(self.set.program.templates()).unwrap_or_default();
        let inputs = [
            ("training data", self.set.digest.clone()),
            ("dev data", self.dev.map_or("none".to_owned(), |dev| dev.digest.clone())),
            ("templates", format!("{:032x} {}", xxh3_128(&templates), self.set.transitions)),
            ("format", self.set.kind.name().to_owned()),
            ("label column", self.set.label.to_string()),
            ("scheme", self.set.schemes.model.map_or("none", |s| s.name()).to_owned()),
        ];
        inputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn memory(&self, load: &Load) -> Need {
        let (set, dictionary) = (self.set, &self.set.dictionary);
        let (weights, dev) =
            (set.space.view().weights(), |of: &dyn Fn(&DevSet) -> usize| self.dev.map_or(0, of));
        // Indexing sorted all occurrences by attribute.
        // On disk they are not, and reading kept within the limit by itself.
        let outside = set.within.as_ref().is_some_and(Within::is_on_disk);
        let indexing = if outside { 0 } else { 8 * set.counts.items + 24 * set.node_numbers.len() };
        // Weights without zeros are counted and laid out anew; then a model's tables are built beside those of the data.
        let tables = dictionary.strings.bytes() + dictionary.nodes.bytes() + dictionary.edges.bytes();
        let attributes = set.space.attributes() + set.space.view().edge_attributes();
        let saving = (20 * weights + 18 * attributes).max(12 * weights + 12 * attributes + tables);
        let space = set.space.view();
        let (nodes, matrix) = (set.counts.tokens * space.width, space.labels * space.width);
        let pairs = set.counts.tokens * matrix;
        let shared = set.corpus.len() * matrix;
        Need {
            weights,
            parts: nodes + if space.edge_attributes() > 0 { pairs } else { shared.min(pairs) },
            pieces: nodes + pairs,
            entries: if load.entries { entries(set) } else { 0 },
            features: set.space.existing(),
            data: set.bytes() + dev(&DevSet::bytes),
            workers: workers(set, load) + dev(&|dev| dev.scoring(set, load.threads)),
            reading: (set.text + indexing)
                .max(dev(&DevSet::reading))
                .max(saving)
                .max(dictionary.lexica.varieties.counted()),
            judged: self.dev.is_some(),
        }
    }

    fn describe(&self, learn: &LearnOptions) -> Description {
        let (set, n) = (self.set, |x: usize, thing: &str| counted(x as u64, thing));
        let attributes = set.space.attributes() + set.space.view().edge_attributes();
        let (sequences, tokens, weights) = (set.corpus.len(), set.counts.tokens, set.space.existing());
        let labels = n(set.labels.len(), "label");
        let mut blocks =
            vec![("data", vec![set.file.clone(), n(sequences, "sequence"), n(tokens, "token"), labels])];
        if let Some(dev) = self.dev {
            blocks.push(("dev", vec![dev.file.clone(), n(dev.len(), "sequence"), n(dev.tokens(), "token")]));
        }
        let templates = match (set.program.given(), set.program.templates().len()) {
            (Some(_), 1) => "those of the file".to_owned(),
            (given, templates) => n(templates - usize::from(given.is_some()), "template"),
        };
        let mut features = vec![templates, n(attributes, "attribute"), n(weights, "weight")];
        features.extend(match (set.schemes.file, set.schemes.model) {
            (Some(file), Some(model)) if file != model => {
                Some(format!("{} read as {}", file.name(), model.name()))
            }
            (file, _) => file.map(|scheme| scheme.name().to_owned()),
        });
        features.extend(set.without_pos.then(|| "no column for parts of speech".to_owned()));
        blocks.push(("features", features));
        blocks.extend(set.recipe.map(|recipe| ("recipe", told(recipe, set, learn))));
        if !set.terms.is_empty() {
            blocks
                .push(("labels", set.terms.iter().map(|(name, value)| format!("{name} {value}")).collect()));
        }
        let mut remarks = vec![];
        if self.precision() != self.chain.precision {
            remarks.push((
                "precision",
                vec!["f64: many labels with few pairs are always summed in it".to_owned()],
            ));
        }
        remarks.extend(set.within.as_ref().map(|within| ("limit", within.told(learn.shelves))));
        let beam = self.beam(learn);
        let record = json!({
            "data": set.file,
            "digest": set.digest,
            "sequences": sequences,
            "tokens": tokens,
            "labels": set.labels.len(),
            "attributes": attributes,
            "weights": weights,
            "beam": beam,
            "recipe": set.recipe.map(|recipe| recipe.set),
        });
        Description {
            blocks,
            warnings: warnings(set, self.dev),
            training: beam.map(|size| format!("beam {size}")).into_iter().collect(),
            remarks,
            record: match record {
                serde_json::Value::Object(record) => record,
                _ => serde_json::Map::new(),
            },
            feature: "attribute",
            strange_start: "that model has none of these attributes; are its templates others?",
            nothing_learned: "is `cutoff` too high, or a penalty?",
            example_file: match set.kind {
                Kind::Columns | Kind::Words | Kind::Tagged => "test.txt",
                Kind::Conllu | Kind::Conllx => "test.conllu",
                Kind::Crfsuite => "test.crfsuite",
                Kind::Jsonl => "test.jsonl",
                Kind::Ocr => "test.data",
            },
        }
    }

    fn model(&self, trained: &Trained, head: Head) -> Result<Vec<u8>> {
        save::model(self.set, trained, head, |writer| Ok(writer.to_bytes()))
    }

    fn save(&self, trained: &Trained, head: Head, path: &Path) -> Result<usize> {
        save::model(self.set, trained, head, |writer| Ok(writer.write(path)?))
    }
}

/// Bytes that grow with the longest sentence and with a batch.
fn workers(set: &TrainingSet, load: &Load) -> usize {
    /// A token of a block of text, with its columns.
    const TOKEN: usize = 150;
    /// Arrays of doubles [T][W] of a worker: scores, exponentials, forward and backward sums, and so on.
    const ARRAYS: usize = 10;
    let space = set.space.view();
    let longest = (0..set.corpus.len()).map(|id| set.corpus.size(id)).max().unwrap_or(0);
    let matrix = 8 * space.labels * space.width;
    let edges = if set.counts.edge_items == 0 { matrix } else { longest * matrix };
    // Scores and marginals of all pairs apart.
    let apart = if load.pieces { 3 * longest * matrix } else { 0 };
    let worker = ARRAYS * longest * 8 * space.width + 4 * edges + apart;
    // Buffers serve one batch after another, so in the end they hold the largest sentences; they grow in steps.
    let mut notes: Vec<usize> = match load.batch {
        0 => vec![],
        _ if set.within.as_ref().is_some_and(Within::is_on_disk) => longest_notes(set, load.batch),
        _ => (0..set.corpus.len()).filter_map(|id| Some(note(space, set.corpus.view(id)?))).collect(),
    };
    if load.pieces {
        let all = notes.len() == set.corpus.len(); // else they are those of the longest
        let size = |id| if all { set.corpus.size(id) } else { longest };
        notes.iter_mut().enumerate().for_each(|(id, note)| *note += size(id) * (matrix + 8 * space.width));
    }
    notes.sort_unstable_by(|a, b| b.cmp(a));
    let notes: usize = notes.iter().take(load.batch).sum();
    longest * TOKEN + load.threads * worker + notes + notes / 2
}

/// Weights of the features of each sentence, each once, added up.
fn entries(set: &TrainingSet) -> usize {
    let (space, mut seen, mut all) = (set.space.view(), vec![], 0);
    let transitions: usize = (0..space.labels).map(|y| set.space.weights_in_row(y)).sum();
    let mut copy = Sequence::default();
    for id in 0..set.corpus.len() {
        let Ok(x) = set.corpus.view_or_read(id, &mut copy) else { continue }; // told when it is learned from
        all += if x.len() > 1 { transitions } else { 0 };
        for (items, of) in [(x.nodes, true), (x.edges, false)] {
            seen.clear();
            (0..items.len()).for_each(|t| seen.extend_from_slice(items.at(t)));
            seen.sort_unstable();
            seen.dedup();
            all += seen
                .iter()
                .map(|&a| match of {
                    true if (a as usize) < space.dense => set.space.weights_in_row(space.labels + a as usize),
                    true => space.singles_of(a),
                    false => (space.edge_starts[a as usize + 1] - space.edge_starts[a as usize]) as usize,
                })
                .sum::<usize>();
        }
    }
    all
}

/// The same of the longest sentences only, which are read: more attributes than they have few others have.
fn longest_notes(set: &TrainingSet, batch: usize) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..set.corpus.len()).collect();
    let count = batch.max(8).min(ids.len());
    ids.select_nth_unstable_by_key(count.saturating_sub(1), |id| std::cmp::Reverse(set.corpus.size(*id)));
    let mut copy = Sequence::default();
    let of = |id: &usize| Some(note(set.space.view(), set.corpus.view_or_read(*id, &mut copy).ok()?));
    ids[..count].iter().filter_map(of).collect()
}

/// Bytes of what is found out about a sentence: its parts, and their gradient as rows of weights. Rows of a position
/// share their values, unless the attributes have values of their own.
fn note(space: SpaceView<'_>, x: SequenceView<'_>) -> usize {
    let (row, matrix) = (space.width, space.labels * space.width);
    let steps = if x.edges.is_empty() { 1 } else { x.len().saturating_sub(1) };
    let copies = |items: Items<'_>, places: usize| {
        let count = (0..items.len()).map(|t| items.at(t).len()).sum::<usize>();
        if items.values.is_empty() { places } else { count }
    };
    let blocks = row.div_ceil(32);
    let of_node = |a: &u32| match (*a as usize) < space.dense {
        true => blocks,
        false => space.singles_of(*a),
    };
    let of_edge = |e: &u32| (space.edge_starts[*e as usize + 1] - space.edge_starts[*e as usize]) as usize;
    let nodes = (0..x.nodes.len()).flat_map(|t| x.nodes.at(t)).map(of_node).sum::<usize>();
    let edges = (0..x.edges.len()).flat_map(|t| x.edges.at(t)).map(of_edge).sum::<usize>();
    let parts = x.len() * row + steps * matrix;
    let pool = copies(x.nodes, x.len()) * row + copies(x.edges, steps) * matrix + matrix;
    size_of::<f64>() * (parts + pool) + size_of::<Row>() * (nodes + edges + space.labels * blocks)
}

/// What of a recipe a run has, or has instead: for the person who starts it.
fn told(recipe: &Recipe, set: &TrainingSet, learn: &LearnOptions) -> Vec<String> {
    let mut told = vec![recipe.set.to_owned()];
    if learn.learner.name == recipe.learn.learner {
        let value = |name: &str| learn.settings.iter().find(|(given, _)| *given == name);
        let parameters = recipe.learn.parameters.iter().filter_map(|(name, _)| value(name));
        told.push(learn.learner.name.to_owned());
        told.extend(parameters.map(|(name, value)| format!("{name} {value}")));
        if let Some(Passes::Exactly(passes)) = learn.passes {
            told.push(format!("{passes} passes"));
        }
    }
    told.extend(set.schemes.model.map(|scheme| format!("scheme {}", scheme.name())));
    told.push(format!("pairs {}", set.pairs.name()));
    told
}

/// What may not be meant so.
fn warnings(set: &TrainingSet, dev: Option<&DevSet>) -> Vec<String> {
    let mut warnings = vec![];
    if let Some(broken) = &set.broken {
        warnings.push(format!(
            "{}:{}: {} against the rules; the rules do not hold in {}",
            set.file,
            broken.line,
            if broken.what.is_empty() { "the labels are" } else { &broken.what },
            counted(broken.sentences as u64, "such sentence")
        ));
    }
    if let (Some(mark), true) = (&set.partial, set.sets.is_empty()) {
        warnings.push(format!("`partial`: no label of {} is {mark}", set.file));
    }
    let mark = set.labels.iter().find(|label| set.partial.is_none() && matches!(*label, "_" | "?"));
    if let Some(mark) = mark {
        warnings.push(format!(
            "{mark} is learned as a label; `partial {mark}` takes it for one that is not known"
        ));
    }
    warnings.extend(set.doubts.iter().cloned());
    if set.labels.len() == 1 {
        let only = set.labels.name(0);
        warnings.push(format!("every token has the label {only}; is `label` the right column?"));
    }
    if let Some(dev) = dev.filter(|dev| dev.digest == set.digest) {
        let what = "is the training data again: dev scores say nothing about other text";
        warnings.push(format!("`dev` {} {what}", dev.file));
    }
    let unseen = dev.map(|dev| dev.unseen(set)).unwrap_or_default();
    if let (Some(dev), [first, ..]) = (dev, &unseen[..]) {
        let labels = counted(unseen.len() as u64, "label");
        warnings.push(format!("{} has {labels} that {} never has, such as {first}", dev.file, set.file));
    }
    warnings
}
