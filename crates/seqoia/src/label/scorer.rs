//! Scores a labelling against the gold: dev scores, trials of models and `eval` count here and nowhere else.
//!
//! Both labellings are in schemes of files, and a token is right if its labels are the same to the byte.
//! Chunks are counted in IOB2, since the counter of chunks knows IOB1 and IOB2 alone in full; labels that are
//! in one of these are taken as they are, as conlleval does.

use seqoia_core::Score;
use seqoia_data::scheme::{self, Scheme};
use seqoia_eval::{Counter, Scored, Unit};

/// Counts sentences, one after another.
pub(crate) struct Scorer {
    /// Of the gold labels and of those found; none if labels are no chunks.
    schemes: Option<[Scheme; 2]>,
    counter: Counter,
    /// The sentence at hand in IOB2, gold and found; empty if that is how it came.
    converted: [Vec<String>; 2],
}

impl Scorer {
    pub(crate) fn new(schemes: Option<[Scheme; 2]>) -> Self {
        let unit = if schemes.is_some() { Unit::Chunks } else { Unit::Tokens };
        Scorer { schemes, counter: Counter::new(unit), converted: Default::default() }
    }

    /// Counts a sentence.
    pub(crate) fn sentence(&mut self, gold: &[&str], found: &[&str]) {
        let labels = || gold.iter().copied().zip(found.iter().copied());
        let known = |scheme: &Scheme| matches!(scheme, Scheme::Iob1 | Scheme::Iob2);
        match self.schemes {
            None => self.counter.sentence(labels(), []),
            Some(schemes) if schemes.iter().all(known) => self.counter.sentence(labels(), labels()),
            Some([of_gold, of_found]) => {
                let [golds, founds] = &mut self.converted;
                scheme::convert(of_gold, Scheme::Iob2, gold, golds);
                scheme::convert(of_found, Scheme::Iob2, found, founds);
                let chunks = golds.iter().map(String::as_str).zip(founds.iter().map(String::as_str));
                self.counter.sentence(labels(), chunks);
            }
        }
    }

    /// Gold and found labels that the chunks of the last sentence were counted by, if they had to be converted.
    pub(crate) fn converted(&self) -> Vec<[String; 2]> {
        let [golds, founds] = &self.converted;
        golds.iter().zip(founds).map(|(gold, found)| [gold.clone(), found.clone()]).collect()
    }

    /// Counts and figures.
    pub(crate) fn finish(self) -> Scored {
        self.counter.finish()
    }

    /// The main score, then the others.
    pub(crate) fn scores(self) -> Vec<Score> {
        let chunks = self.schemes.is_some();
        let Scored { spans, accuracy } = self.finish();
        let f1 = chunks.then(|| Score::gain("f1", spans.f1()));
        f1.into_iter().chain([Score::gain("accuracy", accuracy.tokens())]).collect()
    }
}
