//! Labels a file: blocks are read in order, labelled by any number of threads, written in order.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use seqoia_data::format::{self, Block, Format, Kind, Place, Reader};
use seqoia_data::open::Input;
use seqoia_data::scheme;
use seqoia_strategies::{Crew, lock};

use super::Labeller;
use super::Predictor;
use super::answers::label_block;
use super::columns::{as_written, check_classes, label_column, program_for, written_scheme};
use super::leading;
use super::options::Output;
use super::page::{self, Against, Comparing, Seen};
use super::strangers::{self, Odd, Slashes};
use super::unlike::Unlike;
use crate::error::{BadOption, Result};

/// How to label.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    /// What is written.
    pub output: Output,
    /// At most this many threads.
    pub threads: usize,
    /// Write each sentence as soon as it can be: for a reader that waits. Each sentence is then a document.
    pub eager: bool,
    /// The format of the input; that of the training file if none.
    pub format: Option<Kind>,
    /// Keep to the labels that the input has; this stands where one is not known.
    pub given: Option<String>,
    /// How many sentences to give back, for a page.
    pub look: usize,
}

impl PredictOptions {
    /// In the format of the training file, without given labels.
    #[must_use]
    pub fn new(output: Output, threads: usize) -> Self {
        PredictOptions { output, threads, eager: false, format: None, given: None, look: 0 }
    }
}

/// What was labelled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labelled {
    /// Sentences.
    pub sentences: u64,
    /// Tokens.
    pub tokens: u64,
    /// As many sentences as were wanted: those that differ from the labels of the file, if it has any, then the first;
    /// in the order of the file.
    pub seen: Vec<Vec<Seen>>,
    /// What was found against the labels that the file has, if sentences were wanted and it has any.
    pub against: Option<Against>,
    /// What may not be meant so, a sentence each.
    pub doubts: Vec<String>,
}

struct Job {
    block: Block,
    /// How parsing went, if that was done before.
    parsed: Option<Result<()>>,
    out: Vec<u8>,
    seen: Vec<Vec<Seen>>,
    comparing: Comparing,
    odd: Odd,
    result: Result<()>,
}

/// Labels `input` and writes to `out`.
///
/// # Errors
/// Data that cannot be read or does not fit the model; output that cannot be written.
pub fn predict(
    labeller: &Labeller,
    input: Input,
    options: &PredictOptions,
    out: &mut dyn Write,
) -> Result<Labelled> {
    let (file, limit) = (input.name.clone(), input.limit());
    let kind = options.format.unwrap_or_else(|| labeller.kind());
    check_output(kind, options.output)?;
    let Some(blocks) = leading::open(labeller, input, kind, options.eager, options.output, out)? else {
        return Ok(Labelled::default());
    };
    let mut reader = Reader::new(blocks, Some(kind))?;
    let (format, mut first) = (reader.format(), Block::default());
    let slashes = match options.given {
        None => strangers::check_slashes(labeller, &file, &*format, reader.start(), options.eager)?,
        Some(_) => None, // who keeps to labels says that there are some
    };
    let program = program_for(labeller, &file, &*format)?;
    if !matches!(options.output, Output::Json { .. }) {
        check_labels(labeller, &file, &*format)?;
    }
    reader.fill(&mut first)?;
    let parsed = parse(&file, &*format, &mut first);
    let mut doubts = Vec::from_iter(check_classes(labeller, &file, &*format, &first)?);
    doubts.extend(slashes);
    doubts.extend(strangers::check(labeller, &file, &*format, &first)?);
    if options.eager && kind == Kind::Jsonl && labeller.reads_documents() && names_document(&first) {
        doubts.push(format!("{file}: lines name their document, but with `flush` each of them stands alone"));
    }
    if let Some(guess) = format.guess().filter(|guess| guess.is_fatal()) {
        // A word alone may hold commas, so this is not refused.
        doubts.extend(guess.doubt().map(|doubt| format!("{file}: {doubt}")));
    }
    let label = label_column(labeller, &*format);
    if options.given.is_some() && (format.label() == Place::Missing || label >= format.columns()) {
        let what = format!("there is no column {label} with labels for `given` to keep to");
        return Err(seqoia_data::Error::new(file, what).into());
    }
    if options.given.is_some() && kind == Kind::Words && labeller.kind() != Kind::Words {
        let what = format!(
            "words are not labels of a model that was trained on {}; with `given`, give them as {0}",
            labeller.kind().name()
        );
        return Err(seqoia_data::Error::new(file, what).into());
    }
    let (slashes, mut odd) = (Slashes::of(labeller, &*format), Odd::default());
    // An answer that is waited for is one block: a thread would be woken for nothing.
    let threads = if options.eager { 1 } else { options.threads.max(1) };
    let (alone, mut crew) = (Crew::new(1), None);
    let worker = || {
        let predictor = Predictor::new(labeller).with_limit(limit).with_program(Arc::clone(&program));
        match &options.given {
            Some(mark) => predictor.with_known(mark),
            None => predictor,
        }
    };
    let workers: Vec<Mutex<Predictor>> = (0..threads).map(|_| Mutex::new(worker())).collect();
    // A few blocks a worker even out what blocks differ in work; one worker needs no more than one, which stays in
    // its cache.
    let at_once = if threads == 1 { 1 } else { threads * 4 };
    let jobs: Vec<Mutex<Job>> = (0..at_once)
        .map(|_| {
            Mutex::new(Job {
                block: Block::default(),
                parsed: None,
                out: vec![],
                seen: vec![],
                comparing: Comparing::default(),
                odd: Odd::default(),
                result: Ok(()),
            })
        })
        .collect();
    {
        let mut job = lock(&jobs[0]);
        std::mem::swap(&mut job.block, &mut first);
        job.parsed = Some(parsed);
    }
    let (mut filled, mut done) = (1, Labelled { doubts, ..Labelled::default() });
    let (mut comparing, mut unlike) = (Comparing::default(), Unlike::default());
    loop {
        let mut broken = None; // what was read before is labelled first
        while broken.is_none() && filled < jobs.len() {
            match reader.fill(&mut lock(&jobs[filled]).block) {
                Ok(true) => filled += 1,
                Ok(false) => break,
                Err(e) => broken = Some(e),
            }
        }
        if filled == 0 && broken.is_none() {
            out.flush()?;
            done.against = comparing.finish();
            page::choose(&mut done.seen, options.look, done.against.is_some());
            done.doubts.extend(unlike.doubt().map(|doubt| format!("{file}: {doubt}")));
            done.doubts.extend(slashes.and_then(|slashes| slashes.doubt(&file, &odd)));
            return Ok(done);
        }
        let next = AtomicUsize::new(0);
        let look = options.look.saturating_sub(done.seen.len());
        let wrong = options.look.saturating_sub(done.seen.iter().filter(|s| page::is_wrong(s)).count());
        // Threads are started for the second block of a file.
        let crew = if filled > 1 { &*crew.get_or_insert_with(|| Crew::new(threads)) } else { &alone };
        crew.run(&|worker| {
            let mut predictor = lock(&workers[worker]);
            while let Some(job) = jobs[..filled].get(next.fetch_add(1, Ordering::Relaxed)) {
                let Job { block, parsed, out, seen, comparing, odd, result } = &mut *lock(job);
                out.clear();
                let parsed = parsed.take().unwrap_or_else(|| parse(&file, &*format, block));
                let labelled = label_block(&mut predictor, &file, &*format, block, options.output, out);
                *result = labelled.and(parsed);
                if let Some(slashes) = &slashes {
                    *odd = slashes.count(block);
                }
                if result.is_ok() && options.look > 0 {
                    *result = look_at(&mut predictor, &file, &*format, block, [look, wrong], seen, comparing);
                }
            }
        })?;
        for job in &jobs[..filled] {
            let mut job = lock(job);
            // What came before an error is written, so that nothing is lost.
            out.write_all(&job.out)?;
            if job.result.is_err() {
                out.flush()?;
            }
            std::mem::replace(&mut job.result, Ok(()))?;
            done.seen.append(&mut job.seen);
            comparing.join(std::mem::take(&mut job.comparing));
            odd.join(std::mem::take(&mut job.odd));
            unlike.add(labeller, &job.block)?;
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

/// The format can hold what is to be written.
fn check_output(kind: Kind, output: Output) -> Result<()> {
    let name = kind.name();
    match output {
        Output::Marginals if !kind.holds_probabilities() => {
            let what = format!("{name} has no place for probabilities; use `json` with `marginals`");
            Err(BadOption::of("marginals", "", what).into())
        }
        Output::NBest(k) if kind == Kind::Jsonl => {
            let what = format!("a line of {name} has one labelling; use `json` with `nbest`");
            Err(BadOption::of("nbest", k, what).into())
        }
        _ => Ok(()),
    }
}

/// Every label that the model may find can be written into the file.
fn check_labels(labeller: &Labeller, file: &str, format: &dyn Format) -> Result<()> {
    let to = written_scheme(labeller, format.kind());
    for label in &labeller.meta().labels {
        let mut names = match labeller.schemes().change() {
            Some((model, file)) => scheme::possible(model, file, label),
            None => vec![label.clone()],
        };
        if let Some((from, to)) = to {
            names = names.iter().flat_map(|name| scheme::possible(from, to, name)).collect();
        }
        if let Some(why) = names.iter().find_map(|name| format.refuses_label(name)) {
            let kind = format.kind().name();
            let what = format!(
                "it is read as {kind}, which cannot hold what the model finds: the label {label:?} {why}; `json` \
                 writes every label"
            );
            return Err(seqoia_data::Error::new(file, what).into());
        }
    }
    Ok(())
}

/// Finds the rows of a block. A broken line takes none of the sentences before it along: they are left in the block.
///
/// # Errors
/// The broken line.
fn parse(file: &str, format: &dyn Format, block: &mut Block) -> Result<()> {
    let Err(error) = format.parse(file, block) else { return Ok(()) };
    block.cut_before(error.line, format.kind());
    if format.parse(file, block).is_err() {
        *block = Block::default();
    }
    Err(error.into())
}

/// Whether the first line says to which document it belongs.
fn names_document(block: &Block) -> bool {
    let mut lines = block.text().lines().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(|line| format::has_json_key(line, "document"))
}

/// The `first` sentences of a block that was labelled and so many that are `wrong`, for a page, and all of them against
/// the labels of the file.
fn look_at(
    predictor: &mut Predictor,
    file: &str,
    format: &dyn Format,
    block: &Block,
    [first, wrong]: [usize; 2],
    seen: &mut Vec<Vec<Seen>>,
    comparing: &mut Comparing,
) -> Result<()> {
    let (label, mut names, mut met) = (label_column(predictor.labeller(), format), vec![], 0);
    for (number, sentence) in block.sentences().enumerate() {
        predictor.read(file, block, sentence.tokens.clone(), label)?;
        let best = predictor.best_labels()?.to_vec();
        predictor.names(&best, &mut names);
        as_written(predictor.labeller(), format.kind(), &mut names);
        let differs = comparing.add(predictor.labeller(), format, block, sentence.tokens.clone(), &names);
        met += usize::from(differs);
        if number < first || differs && met <= wrong {
            seen.push(page::look(predictor, format, block, sentence.tokens)?);
        }
    }
    comparing.block(format, block);
    Ok(())
}
