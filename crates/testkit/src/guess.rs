//! A structure that only searches, in an open space of weights: the answer to "which of three words", each question
//! and word a feature that gets its number when it is first met.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use seqoia_core::cast::narrow;
use seqoia_core::{Lane, Note, Question, Result, Row, Search, Structure, Weights};

/// Questions: example i asks number i modulo this.
pub const QUESTIONS: usize = 4;

/// The examples, and the features met.
pub struct Guess {
    answers: Vec<usize>,
    settled: AtomicBool,
    numbers: Mutex<Vec<u8>>, // the features met, by number
}

impl Guess {
    /// Every question always has the same answer.
    #[must_use]
    pub fn new(examples: usize) -> Guess {
        Guess::with((0..examples).map(|i| i % QUESTIONS % 3).collect())
    }

    /// These answers, 0 to 2.
    #[must_use]
    pub fn with(answers: Vec<usize>) -> Guess {
        Guess { answers, settled: AtomicBool::new(false), numbers: Mutex::default() }
    }

    /// Whether it was told what a learner will see.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    fn number(&self, feature: usize) -> usize {
        let (mut numbers, feature) = (self.numbers.lock().unwrap(), u8::try_from(feature).unwrap());
        numbers.iter().position(|f| *f == feature).unwrap_or_else(|| {
            numbers.push(feature);
            numbers.len() - 1
        })
    }
}

impl Structure for Guess {
    fn name(&self) -> &'static str {
        "guess"
    }
    fn examples(&self) -> usize {
        self.answers.len()
    }
    fn weights(&self) -> usize {
        self.numbers.lock().unwrap().len()
    }
    fn offers(&self) -> &'static [Question] {
        &[Question::Violations]
    }
    fn lane(self: Arc<Self>, _: usize) -> Result<Box<dyn Lane>> {
        Ok(Box::new(GuessLane(self, 0)))
    }
    fn sticky(&self) -> bool {
        true
    }
    fn settle(&self, _: &[Note]) {
        self.settled.store(true, Ordering::Relaxed);
    }
    fn memo(&self) -> Option<Vec<u8>> {
        Some(self.numbers.lock().unwrap().clone())
    }
    fn recall(&self, memo: &[u8]) -> Result<()> {
        *self.numbers.lock().unwrap() = memo.to_vec();
        Ok(())
    }
}

struct GuessLane(Arc<Guess>, usize);

impl Lane for GuessLane {
    fn open(&mut self, id: usize) -> Result<f64> {
        self.1 = id;
        Ok(1.0)
    }
    fn violations(&mut self, w: Weights<'_>, _: &Search, note: &mut Note) -> Result<()> {
        let at = |y: usize| self.0.number(3 * (self.1 % QUESTIONS) + y);
        let score = |y: usize| w.values.get(at(y)).copied().unwrap_or(0.0);
        let (gold, mut best) = (self.0.answers[self.1], 0);
        for y in 1..3 {
            best = if score(y) > score(best) { y } else { best };
        }
        if best != gold {
            note.wrong = true;
            let v = note.violation();
            (v.cost, v.margin) = (1.0, score(gold) - score(best));
            let from = v.delta.share(&[1.0, -1.0]);
            for (y, from) in [(gold, from), (best, from + 1)] {
                v.delta.rows.push(Row { at: narrow(at(y)), from, len: 1, holes: 0 });
            }
        }
        Ok(())
    }
}

/// Weights that are not zero by feature, to compare exactly: workers number features as they meet them.
#[must_use]
pub fn by_feature(weights: &[f64], memo: &[u8]) -> BTreeMap<u8, u64> {
    assert!(weights.len() <= memo.len());
    let known = memo.iter().zip(weights).filter(|(_, w)| **w != 0.0);
    known.map(|(feature, w)| (*feature, w.to_bits())).collect()
}
