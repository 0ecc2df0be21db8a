//! A training file, read once: attributes numbered, pairs counted, weights laid out.

use std::sync::Arc;

use seqoia_data::features::{Frozen, Growing, Indexer, Labels, Memory, NONE, Program};
use seqoia_data::format::{self, Block, Blocks, Format, Kind, Place};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Recogniser, Scheme};
use seqoia_structures::chain::Space;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::options::{DataOptions, PairChoice};

/// How labels of the file and labels of the model go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schemes {
    /// The file's; none if its labels are no chunks.
    pub file: Option<Scheme>,
    /// The one trained in.
    pub model: Option<Scheme>,
}

/// Everything that training needs to know about its data.
pub struct TrainingSet {
    /// The name of the file, for messages.
    pub file: String,
    /// Sequences in numbers.
    pub corpus: Arc<Memory>,
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
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// XXH3 of the text that was read, 128 bits, in hexadecimal.
    pub digest: String,
    /// The options it was read with.
    pub cutoff: u32,
    /// The options it was read with.
    pub pairs: PairChoice,
}

/// The most weights: they are numbered with 32 bits.
const MOST: u64 = u32::MAX as u64;

impl TrainingSet {
    /// Reads a file.
    ///
    /// # Errors
    /// Data that cannot be read, templates that do not fit it, no sentence at all.
    pub fn read(input: Input, options: &DataOptions) -> Result<TrainingSet> {
        let file = input.name.clone();
        let (mut blocks, mut block) = (Blocks::new(input), Block::default());
        let format = format::first(&mut blocks, &mut block, options.format)?;
        let (kind, columns) = (format.kind(), format.columns());
        let label = options.label.resolve(&file, &*format)?;
        let features = options.features.resolve(&*format)?;
        let program = Arc::new(features.compile(&file, columns, label)?);
        let mut indexer = Indexer::new(Arc::clone(&program), Arc::clone(&options.features.lexica));
        let mut digest = Xxh3::new();
        loop {
            digest.update(block.text().as_bytes());
            format.parse(&file, &mut block)?;
            for sentence in block.sentences() {
                let gold = sentence.tokens.clone().map(|i| block.field(i, label));
                indexer.push(&file, &block, sentence.tokens.clone(), gold)?;
            }
            if !blocks.fill(&mut block)? {
                break;
            }
        }
        if indexer.is_empty() {
            return Err(Error::Mismatch(format!("{file} has no sentence to learn from")));
        }
        let mut schemes = Schemes { file: Some(format::WORDS_SCHEME), model: None };
        if kind != Kind::Words {
            let mut recogniser = Recogniser::default();
            indexer.for_each_gold(|labels| recogniser.sentence(labels));
            schemes.file = recogniser.finish();
        }
        schemes.model = options.scheme.or(schemes.file);
        if let (Some(from), Some(to)) = (schemes.file, schemes.model) {
            if from != to {
                indexer.relabel(|labels, out| scheme::convert(from, to, labels, out));
            }
        } else if let Some(wanted) = options.scheme {
            return Err(Error::Option(format!(
                "--scheme {}: the labels of {file} are no chunk labels (B-X, I-X, O and the like)",
                wanted.name()
            )));
        }
        let indexed = indexer.finish(options.cutoff);
        let transitions = features.transitions.then_some(indexed.transitions.as_slice());
        let all = options.pairs == PairChoice::All;
        let too_many =
            || Error::Option("more than four billion weights; try --cutoff 2 or --pairs observed".to_owned());
        if all
            && Space::weights_of_all(indexed.labels.len(), indexed.kept_nodes.len(), indexed.kept_edges.len())
                > MOST
        {
            return Err(too_many()); // before any of it is laid out
        }
        let (space, new) = Space::new(indexed.labels.len(), &indexed.nodes, &indexed.edges, transitions, all);
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
        corpus.renumber(&node_numbers, &edge_numbers);
        let weight = corpus.normalise_weights();
        if weight <= 0.0 {
            return Err(Error::Mismatch(format!("all weights of {file} are 0: nothing to learn from")));
        }
        Ok(TrainingSet {
            node_numbers,
            edge_numbers,
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
            transitions: features.transitions,
            digest: format!("{:032x}", digest.digest128()),
            cutoff: options.cutoff.max(1),
            pairs: options.pairs,
            file,
        })
    }

    /// A file with labels and attributes as this one has.
    pub(crate) fn check_dev(&self, file: &str, format: &dyn Format) -> Result<()> {
        if format.label() == Place::Missing {
            return Err(Error::Mismatch(format!("{file} has no labels to compare with")));
        }
        if self.program.given().is_some() && !format.ready() {
            return Err(Error::Mismatch(format!("{file} has no attributes, {} has", self.file)));
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
