//! Reads a training file on some threads: blocks in parallel, numbers in the order of the file.
//!
//! See [`part`](super::part) for how. A round has a few blocks per thread, so memory is bounded, and they are taken in
//! while nobody looks.

use super::part::Part;
use super::{Indexer, MOST_LABELS, NONE};
use crate::error::{Error, Result};
use crate::format::{Block, Reader, Taken};
use crate::threads::each;
use seqoia_core::cast::narrow;

/// Blocks of a round for each thread: more of them even out what blocks differ in work, and find the same new things
/// more often.
const BLOCKS: usize = 2;

struct Job {
    block: Block,
    parsed: bool,
    before: usize, // sentences of the file before the block
    result: Result<()>,
    part: Part,
}

impl Indexer {
    /// Takes in all that is left of a file, on at most so many threads, to the same numbers with any number of them.
    /// `label` is the column of the gold labels; `see` is shown every block, in order. Tells how many bytes blocks took
    /// at most.
    ///
    /// # Errors
    /// The first line that is broken, as reading one sentence after another would find it.
    pub fn read(
        &mut self,
        reader: &mut Reader,
        label: usize,
        threads: usize,
        mut see: impl FnMut(&Block),
    ) -> Result<usize> {
        let (file, format) = (reader.name().to_owned(), reader.format());
        let mut jobs: Vec<Job> = vec![];
        let (mut most, mut first) = (0, true);
        loop {
            let (mut filled, mut broken) = (0, None);
            while filled < if threads > 1 { threads * BLOCKS } else { 1 } {
                if jobs.len() == filled {
                    let part = Part::new(self.extractor.clone(), self.dictionary.nodes.view().stride);
                    let block = Block::default();
                    jobs.push(Job { block, parsed: false, before: 0, result: Ok(()), part });
                }
                match reader.take(&mut jobs[filled].block) {
                    Ok(Taken::Nothing) => break,
                    Ok(taken) => jobs[filled].parsed = taken == Taken::Parsed,
                    Err(error) => {
                        broken = Some(error); // what was read before comes first
                        break;
                    }
                }
                filled += 1;
            }
            let round = &mut jobs[..filled];
            let parse = |job: &mut Job| {
                let parsed = job.parsed;
                job.result = if parsed { Ok(()) } else { format.parse(&file, &mut job.block) };
            };
            if threads <= 1 || first && filled == 1 {
                // No one else has anything to do.
                for job in round.iter_mut() {
                    parse(job);
                    std::mem::replace(&mut job.result, Ok(()))?;
                    see(&job.block);
                    for sentence in job.block.sentences() {
                        let gold = sentence.tokens.clone().map(|i| job.block.field(i, label));
                        self.push(&file, &job.block, sentence.tokens.clone(), gold)?;
                    }
                }
            } else {
                let (dictionary, kept) = (&self.dictionary, &self.kept);
                let read = |job: &mut Job| {
                    if job.result.is_ok() {
                        job.part.read(dictionary, kept, &file, &job.block, label, job.before);
                    }
                };
                if dictionary.lexica.words.is_empty() {
                    each(threads, round, |_, job| {
                        parse(job);
                        read(job);
                    });
                } else {
                    // A sentence does not look into its own words, so its number has to be known.
                    each(threads, round, |_, job| parse(job));
                    let mut before = self.corpus.ends.len();
                    for job in round.iter_mut() {
                        job.before = before;
                        before += job.block.len();
                    }
                    each(threads, round, |_, job| read(job));
                }
                for job in round.iter_mut() {
                    std::mem::replace(&mut job.result, Ok(()))?;
                    see(&job.block);
                    let part = &mut job.part;
                    part.number_values(&mut self.dictionary, &mut self.labels, |line| too_many(&file, line))?;
                }
                each(threads, round, |_, job| job.part.hash_tuples());
                round.iter_mut().for_each(|job| job.part.number_tuples(&mut self.dictionary));
                each(threads, round, |_, job| job.part.settle());
                for job in round.iter_mut() {
                    self.take(&file, &mut job.part)?;
                }
            }
            let bytes = |job: &Job| job.block.bytes(format.kind()) + job.part.bytes();
            most = most.max(round.iter().map(bytes).sum::<usize>() + self.kept.bytes());
            if let Some(error) = broken {
                return Err(error);
            }
            if filled == 0 {
                self.kept = Default::default();
                return Ok(most);
            }
            first = false;
        }
    }

    /// Takes in the sentences of a block.
    fn take(&mut self, file: &str, part: &mut Part) -> Result<()> {
        part.keep(&mut self.kept);
        self.extractor.add_matched(&mut part.extractor);
        let corpus = &mut self.corpus;
        let items = (corpus.nodes.items.len() + part.nodes.items.len())
            .max(corpus.edges.items.len() + part.edges.items.len());
        if self.dictionary.is_full() || items > NONE as usize - 64 {
            let line = part.lines.first().copied().unwrap_or(0);
            return Err(Error::at(file, line.into(), "the data has more than four billion attributes")
                .help("split the data, or use fewer templates"));
        }
        for (all, new) in [(&mut corpus.nodes, &part.nodes), (&mut corpus.edges, &part.edges)] {
            let before = all.items.len();
            if all.starts.is_empty() {
                all.starts.push(0);
            }
            all.starts.extend(new.starts.iter().skip(1).map(|start| start + narrow(before)));
            all.items.extend_from_slice(&new.items);
            // Values are stored from the first on that is not 1.
            if !(all.values.is_empty() && new.values.is_empty()) {
                all.values.resize(before, 1.0);
                all.values.extend_from_slice(&new.values);
                all.values.resize(all.items.len(), 1.0);
            }
        }
        if !(corpus.weights.is_empty() && part.weights.is_empty()) {
            corpus.weights.resize(corpus.ends.len(), 1.0);
            corpus.weights.extend_from_slice(&part.weights);
            corpus.weights.resize(corpus.ends.len() + part.ends.len(), 1.0);
        }
        let tokens = narrow(corpus.labels.len());
        corpus.ends.extend(part.ends.iter().map(|end| end + tokens));
        corpus.labels.extend_from_slice(&part.gold);
        if let Some(lines) = &mut self.lines {
            lines.extend_from_slice(&part.lines);
        }
        Ok(())
    }
}

/// A label too many, in this line.
fn too_many(file: &str, line: u32) -> Error {
    Error::at(file, line.into(), format!("there are more than {MOST_LABELS} different labels"))
        .help("is `label` the right column?")
}
