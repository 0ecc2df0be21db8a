//! One worker with a model: reads a sentence, finds its labels, names them.

use std::collections::HashSet;
use std::sync::Arc;

use seqoia_core::{Example, Sequence, SequenceView};
use seqoia_data::features::{Extractor, Program};
use seqoia_data::format::{AsToken, Block, Reader, Sentences};
use seqoia_data::open::{LIMIT, RAISE_LIMIT};
use seqoia_data::scheme::{self, Scheme};
use seqoia_structures::chain::{Decoder, Known, Labelling, Limits};

use super::Labeller;
use super::columns::{column_name, read_columns};
use super::known::KnownLabels;
use super::model::Opened;
use crate::error::{Error, Result, counted};

/// What a token of one of many labellings takes at most: for each label, a prefix that may become part of it.
const PREFIX: usize = 12;
/// And its name, and the name in the output.
const NAME: usize = 100;

/// What errors call a sentence in memory.
const SENTENCE: &str = "sentence";

/// One worker with a model.
pub struct Predictor {
    labeller: Labeller,
    program: Arc<Program>, // the model's, or one that reads other columns
    extractor: Option<Extractor>,
    decoder: Decoder<f32>,
    sequence: Sequence, // its labels are those that are known
    known: Option<KnownLabels>,
    best: Vec<u16>,
    free: bool,                    // no labelling is well formed and has the labels that are known
    place: (String, u64),          // file and line of the sentence
    limit: usize,                  // bytes that the labellings of a sentence may take
    sentence: Sentences,           // in memory, the last
    fitted: Option<(usize, bool)>, // what the program reads: tokens of so many fields, with attributes
}

/// Probabilities of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// The best labels.
    pub labels: Vec<String>,
    /// The probability of the best labelling.
    pub probability: f64,
    /// The labels of the columns of `rows`.
    pub names: Vec<String>,
    /// The scheme of `names`, where it is another than that of `labels`.
    pub scheme: Option<&'static str>,
    /// Of each label at each token: `[T][K]`.
    pub rows: Vec<Vec<f64>>,
}

/// One of several labellings.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Ranked {
    /// Its labels.
    pub labels: Vec<String>,
    /// Its score.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

/// Probabilities of one sentence.
pub(crate) struct Probabilities {
    /// Of the best labelling.
    pub(crate) sequence: f64,
    /// Of each label at each token: `[T][K]`.
    pub(crate) marginals: Vec<Vec<f64>>,
}

impl Labeller {
    /// A worker that labels with this model; make one for each thread.
    #[must_use]
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self)
    }
}

impl Predictor {
    /// A worker.
    #[must_use]
    pub fn new(labeller: &Labeller) -> Self {
        Predictor {
            labeller: labeller.clone(),
            program: Arc::clone(labeller.program()),
            extractor: None,
            decoder: Decoder::default(),
            sequence: Sequence::default(),
            known: None,
            best: vec![],
            free: false,
            place: Default::default(),
            limit: LIMIT,
            sentence: Sentences::new(SENTENCE),
            fitted: None,
        }
    }

    /// With another bound on the memory for the best labellings of a sentence than
    /// [`LIMIT`](seqoia_data::open::LIMIT).
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Keeps to the labels that stand in the data; `mark` stands where none is known.
    #[must_use]
    pub fn with_known(self, mark: &str) -> Self {
        let known = KnownLabels::new(self.labeller.meta(), self.labeller.schemes(), mark);
        Predictor { known: Some(known), ..self }
    }

    /// Makes attributes in this way instead, see [`program_for`](crate::label::columns::program_for).
    #[must_use]
    pub(crate) fn with_program(self, program: Arc<Program>) -> Self {
        Predictor { program, extractor: None, ..self }
    }

    /// The model.
    #[must_use]
    pub fn labeller(&self) -> &Labeller {
        &self.labeller
    }

    /// Labels a sentence, in the scheme of the training data. A token has the fields that the model reads (a word, if
    /// that is all), or all columns of its training data, whatever stands in place of the label, which may be left out
    /// if it is the last; of a model that was trained on ready
    /// attributes it is [`Ready`](seqoia_data::format::Ready).
    ///
    /// # Errors
    /// Tokens that lack what the model reads, or have an empty field.
    pub fn label<T: AsToken>(&mut self, tokens: &[T]) -> Result<Vec<String>> {
        if tokens.is_empty() {
            return Ok(vec![]);
        }
        self.read_tokens(tokens)?;
        self.best_names()
    }

    /// Labels sentences, each with its document around it. There is an answer for every sentence in its place, an
    /// empty one for those without tokens.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    pub fn label_sentences(&mut self, sentences: Sentences) -> Result<Vec<Vec<String>>> {
        let mut all = vec![vec![]; sentences.len()];
        let Some(shape) = sentences.shape() else { return Ok(all) };
        self.fit(shape)?;
        let mut reader = Reader::of_sentences(sentences)?;
        let file = reader.name().to_owned();
        while let Some(block) = reader.next()? {
            for sentence in block.sentences() {
                self.forget();
                self.extract(&file, block, sentence.tokens)?;
                // Its number, from 1, stands as its line.
                let place = usize::try_from(sentence.line).unwrap_or(usize::MAX) - 1;
                all[place] = self.best_names()?;
            }
        }
        Ok(all)
    }

    /// The probability of every label at every token.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    pub fn marginals<T: AsToken>(&mut self, tokens: &[T]) -> Result<Marginals> {
        let (names, scheme) = self.labeller.single_names();
        let mut found = Marginals {
            labels: vec![],
            probability: 1.0,
            names,
            scheme: scheme.map(Scheme::name),
            rows: vec![],
        };
        if !tokens.is_empty() {
            self.read_tokens(tokens)?;
            let best = self.best_labels()?.to_vec();
            self.names(&best, &mut found.labels);
            let p = self.probabilities(&best)?;
            (found.probability, found.rows) = (p.sequence, p.marginals);
        }
        Ok(found)
    }

    /// The k best labellings, the best first.
    ///
    /// # Errors
    /// As [`label`](Self::label), and more labellings than memory should be taken for.
    pub fn nbest<T: AsToken>(&mut self, tokens: &[T], k: usize) -> Result<Vec<Ranked>> {
        if tokens.is_empty() || k == 0 {
            return Ok(vec![]);
        }
        self.read_tokens(tokens)?;
        self.ranked(k)
    }

    fn best_names(&mut self) -> Result<Vec<String>> {
        let (labeller, mut names) = (self.labeller.clone(), vec![]);
        self.name_best(&labeller.opened()?, &mut names)?;
        Ok(names)
    }

    /// The names of the best labelling of the sentence that was read.
    pub(crate) fn name_best(&mut self, opened: &Opened<'_>, names: &mut Vec<String>) -> Result<()> {
        self.best_with(opened)?;
        let best = std::mem::take(&mut self.best);
        self.names(&best, names);
        self.best = best;
        Ok(())
    }

    /// Nothing is known of the labels of a sentence in memory.
    fn forget(&mut self) {
        if let Some(known) = &mut self.known {
            known.forget();
        }
    }

    /// Extracts the attributes of a sentence in memory, which has at least one token.
    pub(crate) fn read_tokens<T: AsToken>(&mut self, tokens: &[T]) -> Result<()> {
        let mut sentence = std::mem::take(&mut self.sentence);
        sentence.clear();
        let read = self.read_sentence(&mut sentence, tokens);
        self.sentence = sentence;
        read
    }

    fn read_sentence<T: AsToken>(&mut self, sentence: &mut Sentences, tokens: &[T]) -> Result<()> {
        sentence.add_unlabelled(tokens)?;
        self.fit(sentence.shape().unwrap_or_default())?;
        self.forget();
        self.extract(SENTENCE, sentence.as_block(), 0..tokens.len())
    }

    /// Makes the templates read what tokens in memory have.
    fn fit(&mut self, (fields, ready): (usize, bool)) -> Result<()> {
        if self.fitted == Some((fields, ready)) {
            return Ok(());
        }
        let (program, read) = (self.labeller.program(), read_columns(&self.labeller));
        if program.given().is_some() && !ready {
            let what = "the model was trained on ready attributes, and the tokens have none";
            return Err(Error::Mismatch(what.to_owned()));
        }
        let meta = self.labeller.meta();
        let (all, last) = (meta.columns, meta.label_column + 1 == meta.columns);
        let program = if read.is_empty() || fields == all || last && fields + 1 == all {
            Arc::clone(program)
        } else if fields == read.len() {
            let place = |column: u16| read.iter().position(|c| *c == usize::from(column)).unwrap_or(0);
            let templates = meta.templates.iter();
            Arc::new(Program::new(
                templates.map(|t| t.moved(|column| u16::try_from(place(column)).unwrap_or(column))).collect(),
            ))
        } else {
            let names = read.iter().map(|column| column_name(self.labeller.kind(), *column));
            return Err(Error::Mismatch(format!(
                "a token has {}; give the model what it reads, {}, or all {all} columns of its training data, in \
                 their order{}",
                counted(fields, "field"),
                names.collect::<Vec<_>>().join(" and "),
                if last { ", with or without the label" } else { "" }
            )));
        };
        (self.program, self.extractor, self.fitted) = (program, None, Some((fields, ready)));
        Ok(())
    }

    /// The sentence that was read.
    pub(crate) fn sequence(&self) -> SequenceView<'_> {
        self.sequence.view()
    }

    /// Extracts the attributes of a sentence, and the labels that are known, which stand in column `label`.
    pub(crate) fn read(
        &mut self,
        file: &str,
        block: &Block,
        tokens: std::ops::Range<usize>,
        label: usize,
    ) -> Result<()> {
        let labeller = self.labeller.clone();
        self.read_with(&labeller.opened()?, file, block, tokens, label)
    }

    /// The same with the labeller's arrays at hand.
    pub(crate) fn read_with(
        &mut self,
        opened: &Opened<'_>,
        file: &str,
        block: &Block,
        tokens: std::ops::Range<usize>,
        label: usize,
    ) -> Result<()> {
        if let Some(known) = &mut self.known {
            let names = tokens.clone().map(|i| block.field(i, label));
            known.read(names, &mut self.sequence.labels).map_err(|t| {
                let (i, mark) = (tokens.start + t, known.mark());
                let what =
                    format!("the label '{}' is given, which the model does not know", block.field(i, label));
                let help = format!("write {mark} where no label is known, or train with it");
                seqoia_data::Error::at(file, block.line(i), what).help(help)
            })?;
        }
        self.extract_with(opened, file, block, tokens)
    }

    fn extract(&mut self, file: &str, block: &Block, tokens: std::ops::Range<usize>) -> Result<()> {
        let labeller = self.labeller.clone();
        self.extract_with(&labeller.opened()?, file, block, tokens)
    }

    fn extract_with(
        &mut self,
        opened: &Opened<'_>,
        file: &str,
        block: &Block,
        tokens: std::ops::Range<usize>,
    ) -> Result<()> {
        if self.place.0 != file {
            file.clone_into(&mut self.place.0);
        }
        self.place.1 = block.line(tokens.start);
        self.free = false;
        let mut frozen = opened.frozen;
        let extractor =
            self.extractor.get_or_insert_with(|| Extractor::new(Arc::clone(&self.program), &mut frozen));
        for lists in [&mut self.sequence.nodes, &mut self.sequence.edges] {
            lists.starts.clear();
            lists.items.clear();
            lists.values.clear();
        }
        let Sequence { nodes, edges, .. } = &mut self.sequence;
        Ok(extractor.extract(&mut frozen, file, block, tokens, nodes, edges)?)
    }

    /// The best labelling of the sentence that was read.
    ///
    /// In a model whose scheme is not the file's it is one that the file's scheme can say, if there is any.
    pub(crate) fn best_labels(&mut self) -> Result<&[u16]> {
        let labeller = self.labeller.clone();
        self.best_with(&labeller.opened()?)
    }

    fn best_with(&mut self, opened: &Opened<'_>) -> Result<&[u16]> {
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence, self.free);
        let Opened { space, weights, .. } = *opened;
        let score = self.decoder.best(space, weights, self.sequence.view(), limits, &mut self.best);
        if score.is_finite() {
            return Ok(&self.best);
        }
        self.set_free()?;
        self.best_with(opened)
    }

    /// Gives up well-formedness for the sentence at hand, or says that nothing is allowed.
    fn set_free(&mut self) -> Result<()> {
        if self.free || self.labeller.well_formed().is_none() {
            return Err(self.nothing_allowed());
        }
        self.free = true;
        Ok(())
    }

    fn nothing_allowed(&self) -> Error {
        let (file, line) = (&self.place.0, self.place.1);
        if self.labeller.rules().is_none() && !self.known.as_ref().is_some_and(|known| known.any) {
            let what = "the scores of the sentence are beyond all numbers";
            let help = "the weights or the values of attributes are too large: train with a stronger penalty";
            return seqoia_data::Error::at(file, line, what).help(help).into();
        }
        let help = "give fewer labels, or train with rules that leave a way";
        let what = "the sentence has no labelling that the rules and the given labels allow";
        seqoia_data::Error::at(file, line, what).help(help).into()
    }

    /// The k best labellings of the sentence that was read, with names and probabilities.
    pub(crate) fn ranked(&mut self, k: usize) -> Result<Vec<Ranked>> {
        let (found, log_z) = self.best_labellings(k)?;
        let ranked = found.into_iter().map(|labelling| {
            let probability = self.probability(&labelling.labels, log_z)?;
            let mut labels = vec![];
            self.names(&labelling.labels, &mut labels);
            Ok(Ranked { labels, score: labelling.score, probability })
        });
        ranked.collect()
    }

    /// The k best labellings of the sentence that was read, and log Z.
    ///
    /// Known labels that are no labelling in their own scheme are kept all the same; then, several labellings of
    /// the model may be one of the file, which is listed once.
    pub(crate) fn best_labellings(&mut self, k: usize) -> Result<(Vec<Labelling>, f64)> {
        let (mut found, log_z) = self.raw_nbest(k)?;
        if self.free {
            let mut met = HashSet::new();
            found.retain(|labelling| {
                let mut names = vec![];
                self.names(&labelling.labels, &mut names);
                met.insert(names)
            });
        }
        Ok((found, log_z))
    }

    /// The k best labellings in the scheme of the model, and log Z.
    pub(crate) fn raw_nbest(&mut self, k: usize) -> Result<(Vec<Labelling>, f64)> {
        self.check_nbest(k)?;
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence, self.free);
        let found = self.decoder.nbest_and_log_z(space, w, self.sequence.view(), limits, k);
        if !found.0.is_empty() || k == 0 || self.sequence.view().is_empty() {
            return Ok(found);
        }
        self.set_free()?;
        self.raw_nbest(k)
    }

    /// Refuses more labellings than memory should be taken for.
    fn check_nbest(&self, k: usize) -> Result<()> {
        let (tokens, labels) = (self.sequence.view().len(), self.labeller.meta().labels.len());
        let a_labelling = PREFIX.saturating_mul(labels).saturating_add(NAME).saturating_mul(tokens);
        let most = (self.limit / a_labelling.max(1)).min(Decoder::<f32>::most_labellings(tokens, labels));
        if k <= most.max(1) {
            return Ok(());
        }
        let what = format!("the {k} best labellings of a sentence of {tokens} tokens take too much memory");
        let help = format!("cut the sentence, or ask for at most {}; {RAISE_LIMIT}", most.max(1));
        Err(seqoia_data::Error::at(&self.place.0, self.place.1, what).help(help).into())
    }

    /// Probabilities in the sentence that was read; of the sequence, that of `labels`.
    pub(crate) fn probabilities(&mut self, labels: &[u16]) -> Result<Probabilities> {
        let (space, w) = (self.labeller.space()?, self.labeller.weights()?);
        let limits = limits(&self.labeller, self.known.as_ref(), &self.sequence, self.free);
        let log_z = self.decoder.marginals(space, w, self.sequence.view(), limits);
        let sequence = self.probability(labels, log_z)?;
        let row = |t: usize| {
            (0..space.labels).map(|y| self.decoder.marginal(space, t, seqoia_core::cast::label(y))).collect()
        };
        Ok(Probabilities { sequence, marginals: (0..labels.len()).map(row).collect() })
    }

    /// Probability of a labelling of the sentence that was scored last.
    pub(crate) fn probability(&self, labels: &[u16], log_z: f64) -> Result<f64> {
        if !log_z.is_finite() {
            return Err(self.nothing_allowed());
        }
        Ok((self.decoder.score_of(self.labeller.space()?, labels) - log_z).exp().min(1.0))
    }

    /// Names of labels, in the scheme of the training file.
    pub(crate) fn names(&self, labels: &[u16], out: &mut Vec<String>) {
        let names = &self.labeller.meta().labels;
        let name = |y: &u16| names[usize::from(*y)].as_str();
        if let Some((model, file)) = self.labeller.schemes().change() {
            let names: Vec<&str> = labels.iter().map(name).collect();
            scheme::convert(model, file, &names, out);
        } else {
            // Into the memory that it has.
            out.resize_with(labels.len(), String::new);
            out.iter_mut().zip(labels).for_each(|(out, y)| name(y).clone_into(out));
        }
        // What is known is written as it was, even if it is no labelling in its own scheme.
        if let Some(known) = &self.known {
            let given = out.iter_mut().zip(&known.names).filter(|(_, name)| !name.is_empty());
            given.for_each(|(out, name)| out.clone_from(name));
        }
    }
}

/// What labellings of a sentence are held to.
fn limits<'a>(
    labeller: &'a Labeller,
    known: Option<&'a KnownLabels>,
    sequence: &'a Sequence,
    free: bool,
) -> Limits<'a> {
    let known = known.filter(|known| known.any);
    let well_formed = labeller.well_formed().filter(|_| !free);
    Limits {
        rules: well_formed.or(labeller.rules()),
        known: known.map(|known| Known { labels: &sequence.labels, sets: &known.sets }),
        steps: known.and_then(|known| known.steps.as_ref()).filter(|_| !free),
        ..Limits::default()
    }
}
