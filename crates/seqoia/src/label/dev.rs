//! Scores weights on held-out data: decodes it on all threads, counts on one.
//!
//! Weights are rounded to single precision, as they are when they are saved: what is said of them is what
//! `predict` and `eval` will say of the model.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use seqoia_core::{Corpus, Judge, Score};
use seqoia_data::features::{Extractor, Labels, Memory};
use seqoia_data::scheme;
use seqoia_strategies::Crew;
use seqoia_structures::chain::{Decoder, Limits, Rules, Space};

use super::options::Schemes;
use super::raw;
use super::rules;
use super::scorer::Scorer;
use super::{Source, TrainingSet};
use crate::error::{Result, counted};

/// Sentences that a worker takes at a time.
const PORTION: usize = 32;

/// Held-out data in the numbers of a training set.
pub struct DevSet {
    /// The name of the file.
    pub file: String,
    /// XXH3 of the text that was read, 128 bits, in hexadecimal.
    pub digest: String,
    corpus: Memory,
    gold: Labels,
    schemes: Schemes,
    text: usize, // bytes of the largest stretch of text that was in memory
}

impl DevSet {
    /// Reads data that must be like the training data.
    ///
    /// # Errors
    /// Data that cannot be read or has other columns.
    pub fn read(source: impl Into<Source>, set: &TrainingSet) -> Result<DevSet> {
        let mut reader = source.into().reader(Some(set.kind), set.program.reads_mentions())?;
        let (file, format) = (reader.name().to_owned(), reader.format());
        set.check_dev(&file, &*format)?;
        if format.columns() != set.columns {
            let have = counted(format.columns(), "column");
            let what = format!("{have}, where {} has {}", set.file, set.columns);
            return Err(seqoia_data::Error::new(file, what).into());
        }
        let mut frozen = set.frozen();
        let mut extractor = Extractor::new(Arc::clone(&set.program), &mut frozen);
        let (mut corpus, mut gold) = (Memory::default(), Labels::default());
        let mut raw = raw::Watch::default();
        while let Some(block) = reader.next()? {
            raw.look(&*format, block);
            for s in block.sentences() {
                let Memory { nodes, edges, .. } = &mut corpus;
                extractor.extract(&mut frozen, &file, block, s.tokens.clone(), nodes, edges)?;
                for i in s.tokens.clone() {
                    if set.partial.as_deref() == Some(block.field(i, set.label)) {
                        return Err(seqoia_data::Error::at(&file, block.line(i), "this label is not known")
                            .help("what is scored must be labelled in full, also with `partial`")
                            .into());
                    }
                    let name = gold.intern(block.field(i, set.label)).ok_or_else(|| {
                        seqoia_data::Error::at(
                            &file,
                            block.line(i),
                            "there are more than 65535 different labels",
                        )
                        .help("is the label in another column? `label` says which")
                    })?;
                    corpus.labels.push(name);
                }
                corpus.ends.push(seqoia_core::cast::narrow(corpus.labels.len()));
            }
        }
        if corpus.is_empty() {
            return Err(seqoia_data::Error::new(file, "there is no sentence to score").into());
        }
        raw.check(&file)?;
        corpus.shrink();
        let (digest, text) = (reader.digest(), reader.largest());
        Ok(DevSet { file, digest, corpus, gold, schemes: set.schemes, text })
    }

    /// Labels that the training set does not have: nothing can find them.
    #[must_use]
    pub fn unseen(&self, set: &TrainingSet) -> Vec<&str> {
        let known = |name: &&str| {
            let names = match self.schemes {
                Schemes { file: Some(file), model: Some(model) } => scheme::possible(file, model, name),
                _ => vec![(*name).to_owned()],
            };
            set.labels.iter().any(|label| names.iter().any(|name| name == label))
        };
        self.gold.iter().filter(|name| !known(name)).collect()
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corpus.len()
    }

    /// Never: that is an error when reading.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corpus.is_empty()
    }

    /// Number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.corpus.tokens()
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.corpus.bytes()
    }

    /// Bytes beside it while it was read: the text, and buffers that grew in steps.
    pub(crate) fn reading(&self) -> usize {
        self.text + self.bytes()
    }

    /// Bytes that scoring takes, which grow with the longest sentence.
    pub(crate) fn scoring(&self, set: &TrainingSet, threads: usize) -> usize {
        /// Labels of a token as text: gold and found.
        const NAMES: usize = 40;
        /// The same in the schemes of the file and of the count.
        const CONVERTED: usize = 160;
        let mut lengths: Vec<usize> = (0..self.corpus.len()).map(|id| self.corpus.size(id)).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let (space, longest) = (set.space.view(), lengths.first().copied().unwrap_or(0));
        let at_once: usize = lengths.iter().take(threads).sum();
        let names = if self.schemes.file.is_some() { NAMES + CONVERTED } else { NAMES };
        // Scores and the best prefixes in single precision, and the labels; edges of their own where they differ.
        let edges = if set.counts.edge_items > 0 { 8 * space.labels * space.width } else { 0 };
        let workers = at_once * (8 * space.width + edges + 2);
        workers + workers / 2 + longest * names + 2 * self.tokens() // buffers grow in steps
    }
}

/// Scores weights on a [`DevSet`].
pub struct DevJudge<'a> {
    dev: &'a DevSet,
    space: &'a Space,
    labels: &'a Labels,
    rules: Option<&'a Rules>,
    well_formed: Option<Rules>,
    crew: Arc<Crew>,
    decoders: Vec<Mutex<Decoder<f32>>>,
    rounded: Vec<f32>,
    found: Vec<u16>,
}

impl<'a> DevJudge<'a> {
    /// With the threads of a crew.
    #[must_use]
    pub fn new(dev: &'a DevSet, set: &'a TrainingSet, crew: Arc<Crew>) -> Self {
        let decoders = (0..crew.len()).map(|_| Mutex::new(Decoder::default())).collect();
        let (space, labels, rules) = (&*set.space, &set.labels, set.rules.as_deref());
        let well_formed = rules::well_formed(set.schemes, set.kind, rules, labels.len(), |y| labels.name(y));
        DevJudge { dev, space, labels, rules, well_formed, crew, decoders, rounded: vec![], found: vec![] }
    }

    fn decode(&mut self, w: &[f64]) -> seqoia_core::Result<()> {
        let corpus = &self.dev.corpus;
        self.rounded.clear();
        self.rounded.extend(w.iter().map(|w| seqoia_core::cast::single(*w)));
        self.found.resize(corpus.tokens(), 0);
        let mut portions: Vec<Mutex<&mut [u16]>> = vec![];
        let (mut rest, mut done) = (self.found.as_mut_slice(), 0);
        for ends in corpus.ends.chunks(PORTION) {
            let end = ends.last().map_or(done, |e| *e as usize);
            let (portion, after) = rest.split_at_mut(end - done);
            portions.push(Mutex::new(portion));
            (rest, done) = (after, end);
        }
        let (next, stuck) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (space, decoders, rules) = (self.space.view(), &self.decoders, self.rules);
        let (w, well_formed) = (self.rounded.as_slice(), self.well_formed.as_ref());
        self.crew.run(&|worker| {
            let mut decoder = decoders[worker].lock().unwrap_or_else(PoisonError::into_inner);
            let mut labels = vec![];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(portion) = portions.get(number) else { break };
                let mut portion = portion.lock().unwrap_or_else(PoisonError::into_inner);
                let mut at = 0;
                for id in number * PORTION..((number + 1) * PORTION).min(corpus.len()) {
                    let Some(x) = corpus.view(id) else { continue };
                    let mut best = |rules| decoder.best(space, w, x, Limits::rules(rules), &mut labels);
                    let mut score = best(well_formed.or(rules));
                    if !score.is_finite() && well_formed.is_some() {
                        score = best(rules);
                    }
                    stuck.fetch_or(!score.is_finite(), Ordering::Relaxed);
                    portion[at..at + labels.len()].copy_from_slice(&labels);
                    at += labels.len();
                }
            }
        })?;
        match stuck.into_inner() {
            false => Ok(()),
            true if self.rules.is_some() => Err(seqoia_core::Error::Mismatch(format!(
                "{} has a sentence for which the rules allow no labelling",
                self.dev.file
            ))),
            true => Err(seqoia_core::Error::Learner(format!(
                "a sentence of {} scores beyond all numbers; try a stronger penalty or another learner",
                self.dev.file
            ))),
        }
    }
}

impl Judge for DevJudge<'_> {
    fn scores(&mut self, w: &[f64]) -> seqoia_core::Result<Vec<Score>> {
        self.decode(w)?;
        let corpus = &self.dev.corpus;
        let schemes = self.dev.schemes;
        let mut scorer = Scorer::new(schemes.file.map(|file| [file; 2]));
        let (mut from, mut gold, mut found, mut text) = (0, vec![], vec![], vec![]);
        for &end in &corpus.ends {
            let range = from..end as usize;
            from = end as usize;
            gold.clear();
            gold.extend(corpus.labels[range.clone()].iter().map(|&y| self.dev.gold.name(y)));
            found.clear();
            found.extend(self.found[range].iter().map(|&y| self.labels.name(y)));
            match schemes.change() {
                None => scorer.sentence(&gold, &found),
                Some((model, file)) => {
                    scheme::convert(model, file, &found, &mut text);
                    let text: Vec<&str> = text.iter().map(String::as_str).collect();
                    scorer.sentence(&gold, &text);
                }
            }
        }
        Ok(scorer.scores())
    }
}
