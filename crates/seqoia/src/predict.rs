//! Labels a file: blocks are read in order, labelled by any number of threads, written in order.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use seqoia_data::format::{self, Block, Blocks, Format, Kind, Span};
use seqoia_data::open::Input;
use seqoia_data::scheme::Scheme;
use seqoia_strategies::{Crew, lock};
use serde::Serialize;

use crate::error::{Error, Result, counted};
use crate::labeller::{Labeller, Predictor};

/// What is written for each sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The text with the label: as a further column, or in its column of CoNLL-U.
    Text,
    /// The text with the label and its probability in further columns.
    Marginals,
    /// The k best labellings one after another, each under a line `# rank probability`.
    NBest(usize),
    /// One JSON object a line: tokens, labels, and probabilities or the k best if wanted.
    Json {
        /// With probabilities.
        marginals: bool,
        /// How many labellings; 1 is the best alone.
        nbest: usize,
    },
}

/// How to label.
#[derive(Clone, Copy, Debug)]
pub struct PredictOptions {
    /// What is written.
    pub output: Output,
    /// At most this many threads.
    pub threads: usize,
    /// Write each sentence as soon as it can be: for a reader that waits.
    pub eager: bool,
}

/// What was labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labelled {
    /// Sentences.
    pub sentences: u64,
    /// Tokens.
    pub tokens: u64,
}

struct Job {
    block: Block,
    out: Vec<u8>,
    result: Result<()>,
}

/// Labels `input` and writes to `out`.
///
/// # Errors
/// Data that cannot be read or does not fit the model; output that cannot be written.
pub fn predict(
    labeller: &Arc<Labeller>,
    input: Input,
    options: PredictOptions,
    out: &mut dyn Write,
) -> Result<Labelled> {
    let file = input.name.clone();
    let mut blocks = Blocks::new(input).eager(options.eager);
    let mut first = Block::default();
    let format = format::first(&mut blocks, &mut first, Some(labeller.kind()))?;
    check_columns(labeller, &file, &*format)?;
    let crew = Crew::new(options.threads.max(1));
    let workers: Vec<Mutex<Predictor>> =
        (0..crew.len()).map(|_| Mutex::new(Predictor::new(Arc::clone(labeller)))).collect();
    // A few blocks a worker even out what blocks differ in work.
    let at_once = if options.eager { 1 } else { crew.len() * 4 };
    let jobs: Vec<Mutex<Job>> = (0..at_once)
        .map(|_| Mutex::new(Job { block: Block::default(), out: vec![], result: Ok(()) }))
        .collect();
    std::mem::swap(&mut lock(&jobs[0]).block, &mut first);
    let (mut filled, mut done) = (1, Labelled::default());
    loop {
        let mut broken = None; // what was read before is labelled first
        while broken.is_none() && filled < jobs.len() {
            match blocks.fill(&mut lock(&jobs[filled]).block) {
                Ok(true) => filled += 1,
                Ok(false) => break,
                Err(e) => broken = Some(e),
            }
        }
        if filled == 0 && broken.is_none() {
            out.flush()?;
            return Ok(done);
        }
        let next = AtomicUsize::new(0);
        crew.run(&|worker| {
            let mut predictor = lock(&workers[worker]);
            while let Some(job) = jobs[..filled].get(next.fetch_add(1, Ordering::Relaxed)) {
                let Job { block, out, result } = &mut *lock(job);
                out.clear();
                *result = label_block(&mut predictor, &file, &*format, block, options.output, out);
            }
        })?;
        for job in &jobs[..filled] {
            let mut job = lock(job);
            // What came before an error is written, so that nothing is lost.
            out.write_all(&job.out)?;
            std::mem::replace(&mut job.result, Ok(()))?;
            done.sentences += job.block.len() as u64;
            done.tokens += job.block.tokens().len() as u64;
        }
        if options.eager {
            out.flush()?;
        }
        if let Some(e) = broken {
            out.flush()?;
            return Err(e.into());
        }
        filled = 0;
    }
}

/// The file has the columns of the training data, with or without the label if that was the last.
fn check_columns(labeller: &Labeller, file: &str, format: &dyn Format) -> Result<()> {
    let meta = labeller.meta();
    let (have, trained) = (format.columns(), meta.columns);
    let without_label = meta.label_column + 1 == trained && have + 1 == trained;
    if have == trained || (without_label && format.kind() == Kind::Columns) {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "{file} has {}; the model was trained on {trained}, the label in column {}",
        counted(have, "column"),
        meta.label_column
    )))
}

fn label_block(
    predictor: &mut Predictor,
    file: &str,
    format: &dyn Format,
    block: &mut Block,
    output: Output,
    out: &mut Vec<u8>,
) -> Result<()> {
    format.parse(file, block)?;
    let mut names = vec![];
    let mut copy = Copy { block, format, label: predictor.labeller().meta().label_column, at: 0, mark: 0 };
    for sentence in block.sentences() {
        predictor.read(file, block, sentence.tokens.clone())?;
        match output {
            Output::Text => {
                let best = predictor.best_labels()?.to_vec();
                predictor.names(&best, &mut names);
                copy.sentence(sentence.tokens, &names, None, out);
            }
            Output::Marginals => {
                let best = predictor.best_labels()?.to_vec();
                let p = predictor.probabilities(&best)?;
                predictor.names(&best, &mut names);
                let of_best: Vec<f64> =
                    best.iter().zip(&p.marginals).map(|(y, row)| row[usize::from(*y)]).collect();
                copy.sentence(sentence.tokens, &names, Some(&of_best), out);
            }
            Output::NBest(k) => nbest(predictor, &mut copy, sentence.tokens, k, out)?,
            Output::Json { marginals, nbest } => {
                json(predictor, block, sentence.tokens, marginals, nbest, out)?;
            }
        }
    }
    if matches!(output, Output::Text | Output::Marginals) {
        copy.rest(out);
    }
    Ok(())
}

/// Copies the text of a block and puts labels in.
struct Copy<'a> {
    block: &'a Block,
    format: &'a dyn Format,
    label: usize,
    at: usize,
    mark: usize,
}

impl Copy<'_> {
    /// Up to the end of the sentence's last token.
    fn sentence(
        &mut self,
        tokens: std::ops::Range<usize>,
        names: &[String],
        probabilities: Option<&[f64]>,
        out: &mut Vec<u8>,
    ) {
        for (i, name) in tokens.clone().zip(names) {
            self.marks_before(i, out);
            match self.format.kind() {
                Kind::Columns => {
                    self.upto(self.block.tokens()[i].span.end, out);
                    let separator = self.format.separator();
                    out.extend_from_slice(format!("{separator}{name}").as_bytes());
                    if let Some(p) = probabilities {
                        out.extend_from_slice(format!("{separator}{:.6}", p[i - tokens.start]).as_bytes());
                    }
                }
                Kind::Conllu => {
                    let spans = self.block.spans(i);
                    let field = spans.get(self.label).copied().unwrap_or(Span::new(0, 0));
                    self.upto(field.start, out);
                    out.extend_from_slice(name.as_bytes());
                    self.at = field.end as usize;
                    if let (Some(p), Some(misc)) = (probabilities, spans.last()) {
                        self.upto(misc.start, out);
                        let text = self.block.slice(*misc);
                        let rest = if text == "_" { String::new() } else { format!("{text}|") };
                        out.extend_from_slice(
                            format!("{rest}Probability={:.6}", p[i - tokens.start]).as_bytes(),
                        );
                        self.at = misc.end as usize;
                    }
                }
            }
        }
    }

    /// Rows such as `-DOCSTART-` get a column too, so that all rows have as many.
    fn marks_before(&mut self, token: usize, out: &mut Vec<u8>) {
        while let Some(mark) = self.block.marks().get(self.mark).filter(|m| m.before as usize <= token) {
            self.mark += 1;
            self.upto(mark.span.end, out);
            out.extend_from_slice(format!("{}O", self.format.separator()).as_bytes());
        }
    }

    fn upto(&mut self, end: u32, out: &mut Vec<u8>) {
        let end = end as usize;
        out.extend_from_slice(&self.block.text().as_bytes()[self.at.min(end)..end]);
        self.at = end;
    }

    fn rest(&mut self, out: &mut Vec<u8>) {
        self.marks_before(usize::MAX, out);
        out.extend_from_slice(&self.block.text().as_bytes()[self.at..]);
    }
}

fn nbest(
    predictor: &mut Predictor,
    copy: &mut Copy<'_>,
    tokens: std::ops::Range<usize>,
    k: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let found = predictor.nbest(k)?;
    let Some(best) = found.first() else { return Ok(()) };
    let log_z = predictor.probabilities(&best.labels.clone())?.log_z;
    let mut names = vec![];
    let first = copy.block.tokens()[tokens.start].span.start as usize;
    let from = match copy.format.kind() {
        Kind::Columns => first,
        // Comments and words of several tokens stand before the first one.
        Kind::Conllu => {
            let head = &copy.block.text()[copy.at..first];
            first - head.trim_start_matches(['\n', '\r']).len()
        }
    };
    for (rank, labelling) in found.iter().enumerate() {
        predictor.names(&labelling.labels, &mut names);
        let probability = predictor.probability(&labelling.labels, log_z)?;
        out.extend_from_slice(format!("# {rank} {probability:.6}\n").as_bytes());
        copy.at = from;
        copy.mark = usize::MAX;
        copy.sentence(tokens.clone(), &names, None, out);
        let end = copy.block.tokens()[tokens.end - 1].span.end;
        copy.upto(end.max(u32::try_from(copy.at).unwrap_or(end)), out);
        out.extend_from_slice(b"\n\n");
    }
    Ok(())
}

/// A sentence as JSON.
#[derive(Serialize)]
struct Record<'a> {
    tokens: Vec<&'a str>,
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    /// That of the labels in `marginals`, where it is another than in `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbest: Option<Vec<Ranked>>,
}

/// One of several labellings.
#[derive(Serialize)]
struct Ranked {
    labels: Vec<String>,
    score: f64,
    probability: f64,
}

fn json(
    predictor: &mut Predictor,
    block: &Block,
    tokens: std::ops::Range<usize>,
    marginals: bool,
    k: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let best = predictor.best_labels()?.to_vec();
    let word = match predictor.labeller().kind() {
        Kind::Columns => usize::from(predictor.labeller().meta().label_column == 0),
        Kind::Conllu => format::Field::Form.column(),
    };
    let mut labels = vec![];
    predictor.names(&best, &mut labels);
    let mut record = Record {
        tokens: tokens.map(|i| block.field(i, word)).collect(),
        labels,
        probability: None,
        scheme: None,
        marginals: None,
        nbest: None,
    };
    let log_z = if marginals || k > 1 {
        let p = predictor.probabilities(&best)?;
        record.probability = Some(p.sequence);
        if marginals {
            let (names, scheme) = predictor.labeller().single_names();
            record.scheme = scheme.map(Scheme::name);
            let row = |row: &Vec<f64>| names.iter().cloned().zip(row.iter().map(|p| (*p).into())).collect();
            record.marginals = Some(p.marginals.iter().map(row).collect());
        }
        p.log_z
    } else {
        0.0
    };
    if k > 1 {
        let found = predictor.nbest(k)?;
        let ranked = found.into_iter().map(|l| {
            let mut labels = vec![];
            predictor.names(&l.labels, &mut labels);
            let probability = predictor.probability(&l.labels, log_z)?;
            Ok(Ranked { labels, score: l.score, probability })
        });
        record.nbest = Some(ranked.collect::<Result<_>>()?);
    }
    serde_json::to_writer(&mut *out, &record).map_err(|e| Error::Output(e.to_string()))?;
    out.push(b'\n');
    Ok(())
}
