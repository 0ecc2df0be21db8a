//! k-fold cross-validation: every sentence is scored once by a model that never saw it.
//!
//! Folds are stretches of the file, so that sentences of one document stay together as far as possible:
//! drawn at random, a model would be tested on documents that it knows in part. A fold's model is trained
//! for all its passes and then scored once; nothing is chosen on the fold that is scored.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seqoia_core::{Judge, Score};
use seqoia_data::format::{Blocks, Kind, Reader};
use seqoia_data::open::Input;
use seqoia_strategies::Crew;

use super::{ChainOptions, DataOptions, DevJudge, DevSet, LabelTask, TrainingSet};
use crate::error::{BadOption, Result, counted};
use crate::run::{Ended, LearnOptions, Run};

/// One fold, scored by a model of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// From 1.
    pub number: usize,
    /// Sentences that were scored.
    pub sentences: usize,
    /// Their tokens.
    pub tokens: usize,
    /// Their scores; the first is the main one.
    pub scores: Vec<Score>,
    /// Passes that training took.
    pub passes: u64,
}

/// Trains and scores `folds` times; `each` is told of every fold as it is done.
///
/// # Errors
/// Data that cannot be read, fewer sentences than folds, options that do not go together, a stop by the
/// user.
pub fn cross_validate(
    input: Input,
    data: &DataOptions,
    options: &LearnOptions,
    chain: ChainOptions,
    folds: usize,
    stop: &Arc<AtomicBool>,
    each: &mut dyn FnMut(&Fold),
) -> Result<Vec<Fold>> {
    if folds < 2 {
        return Err(BadOption::of("folds", folds, "at least two folds are needed").into());
    }
    let name = input.name.clone();
    let (kind, sentences) = sentences(Blocks::new(input), data.format_of_text())?;
    if sentences.len() < folds {
        let have = counted(sentences.len(), "sentence");
        return Err(BadOption::of("folds", folds, format!("{name} has only {have}")).into());
    }
    if data.partial.is_some() {
        let what = "all labels are scored, and with `partial` some are not known";
        return Err(BadOption::of("folds", folds, what).into());
    }
    let read = |text: String| Input::from_bytes(&name, text);
    // Mistakes in the options are told before an hour of training, and what is right for the whole file is
    // right for its parts: so is its scheme, of which a part may show nothing.
    let data = DataOptions { format: Some(kind), ..data.clone() };
    let whole = TrainingSet::read(read(sentences.concat())?, &data)?;
    Run::new(&LabelTask::new(&whole, None).with_chain(chain), options)?;
    let data = DataOptions { part_of: Some(whole.schemes), ..data };
    drop(whole);
    let mut done = vec![];
    for number in 1..=folds {
        let (from, to) = ((number - 1) * sentences.len() / folds, number * sentences.len() / folds);
        let others = [&sentences[..from], &sentences[to..]].concat().concat();
        let set = TrainingSet::read(read(others)?, &data)?;
        let held_out = DevSet::read(read(sentences[from..to].concat())?, &set)?;
        let task = LabelTask::new(&set, None).with_chain(chain);
        let trained = Run::new(&task, options)?.run(&mut (), stop)?;
        if trained.ended == Ended::Interrupted {
            return Err(BadOption::new(format!("stopped by the user in fold {number}")).into());
        }
        let crew = Arc::new(Crew::new(options.threads.max(1)));
        let scores = DevJudge::new(&held_out, &set, crew).scores(&trained.weights)?;
        let (sentences, tokens) = (held_out.len(), held_out.tokens());
        let fold = Fold { number, sentences, tokens, scores, passes: trained.passes };
        each(&fold);
        done.push(fold);
    }
    Ok(done)
}

/// Mean and standard deviation (n - 1) of the scores, by name.
#[must_use]
pub fn mean_and_deviation(folds: &[Fold]) -> Vec<(&'static str, f64, f64)> {
    let names: Vec<&'static str> =
        folds.first().map(|fold| fold.scores.iter().map(|s| s.name).collect()).unwrap_or_default();
    let of = |name: &'static str| {
        let values: Vec<f64> =
            folds.iter().flat_map(|f| &f.scores).filter(|s| s.name == name).map(|s| s.value).collect();
        let n = seqoia_core::cast::real(values.len());
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        (name, mean, (squares / (n - 1.0).max(1.0)).sqrt())
    };
    names.into_iter().map(of).collect()
}

/// The text of each sentence, with what stands before it, and ended as its format ends sentences: any of them
/// may come to stand before any other.
fn sentences(blocks: Blocks, kind: Option<Kind>) -> Result<(Kind, Vec<String>)> {
    let mut reader = Reader::new(blocks, kind)?;
    let (format, mut all) = (reader.format(), vec![]);
    while let Some(block) = reader.next()? {
        let (text, mut from) = (block.text(), 0);
        for sentence in block.sentences() {
            let last = block.tokens()[sentence.tokens.end - 1].span.end as usize;
            let end = text[last..].find('\n').map_or(text.len(), |at| last + at + 1);
            all.push(text[from..end].to_owned());
            from = end;
        }
        if let (Some(last), rest) = (all.last_mut(), &text[from..]) {
            last.push_str(rest);
        }
    }
    for sentence in &mut all {
        if !sentence.ends_with('\n') {
            sentence.push('\n'); // as the last line of a file may lack it
        }
        if !format.kind().by_line() {
            sentence.push('\n');
        }
    }
    Ok((format.kind(), all))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    /// The fields of the tokens of each sentence.
    fn parsed(text: &str, kind: Kind) -> Vec<Vec<Vec<String>>> {
        let mut reader = Reader::new(Blocks::new(Input::from_bytes("x", text).unwrap()), Some(kind)).unwrap();
        let block = reader.next().unwrap().unwrap();
        let token = |i| block.columns(i).map(str::to_owned).collect();
        block.sentences().map(|s| s.tokens.map(token).collect()).collect()
    }

    #[test]
    fn any_sentences_put_together_are_these_sentences() {
        let row = |id: usize| format!("{id}\tw{id}\t_\tX\t_\t_\t0\t_\t_\t_\n");
        let conllu: String = (1..9)
            .map(|n| format!("# n = {n}\n{}\n", (1..n).map(row).collect::<String>() + &row(n)))
            .collect();
        for (text, kind) in [
            ("a 1\nb 2\n\nc 3\n\n\nd 4\n\ne 5", Kind::Columns),
            ("a 1\r\nb 2\r\n\r\nc 3\r\n\r\nd 4\r\n", Kind::Columns),
            ("-DOCSTART- O\n\na 1\n\n-DOCSTART- O\n\nb 2\n-DOCSTART- O\nc 3", Kind::Columns),
            (&conllu, Kind::Conllu),
            ("X\ta\nY\tb\n\nX\tc\n", Kind::Crfsuite),
            ("a/1 b/2\nc/3\n\nd/4", Kind::Tagged),
            ("ab c\nd\nef", Kind::Words),
        ] {
            let all = parsed(text, kind);
            for size in [1, 2, 3, 5, 8, 13, 21, 34, 55, 1000] {
                let blocks = Blocks::with_size(Input::from_bytes("x", text).unwrap(), size);
                let (_, pieces) = sentences(blocks, Some(kind)).unwrap();
                assert_eq!(pieces.len(), all.len(), "{text:?} in blocks of {size}");
                for from in 0..pieces.len() {
                    for to in from..pieces.len() {
                        let rest = [&pieces[..from], &pieces[to..]].concat().concat();
                        let expected = [&all[..from], &all[to..]].concat();
                        assert_eq!(parsed(&rest, kind), expected, "{rest:?} from blocks of {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_fold_without_chunks_is_scored_like_the_others() {
        // All chunks are in the first half, so the second half knows of no scheme.
        let text = "a B-X\nb I-X\nc O\n\n".repeat(6) + &"d O\ne O\n\n".repeat(6);
        let mut data = DataOptions::default();
        data.features.templates.push(("t".to_owned(), "U:%x[0,0]\nB\n".to_owned()));
        let entry = seqoia_learners::registry::find("averaged-perceptron").unwrap();
        let (options, chain) = (LearnOptions::new(entry, entry.defaults()), ChainOptions::default());
        for scheme in [None, Some(seqoia_data::scheme::Scheme::Iobes)] {
            data.scheme = scheme;
            let input = Input::from_bytes("x", text.as_str()).unwrap();
            let stop = Arc::default();
            let folds = cross_validate(input, &data, &options, chain, 2, &stop, &mut |_| ()).unwrap();
            let names = |fold: &Fold| fold.scores.iter().map(|s| s.name).collect::<Vec<_>>();
            assert_eq!(folds.iter().map(names).collect::<Vec<_>>(), [["f1", "accuracy"]; 2]);
        }
    }

    #[test]
    fn means_are_means() {
        let fold =
            |x| Fold { number: 1, sentences: 1, tokens: 1, scores: vec![Score::gain("f1", x)], passes: 1 };
        let all = mean_and_deviation(&[fold(1.0), fold(2.0), fold(6.0)]);
        assert_eq!(all[0].0, "f1");
        assert!((all[0].1 - 3.0).abs() < 1e-12 && (all[0].2 - 7f64.sqrt()).abs() < 1e-12);
    }
}
