//! Re-ranking as a [`Task`]: lists to learn from and lists to be judged by.

use std::sync::Arc;

use seqoia_core::cast::{real, single};
use seqoia_core::{Example, Judge, List, Row, Score, Structure, Weights};
use seqoia_report::counted;
use seqoia_strategies::Crew;
use seqoia_structures::list::{self, Lists};
use serde_json::json;

use super::CandidateSet;
use super::model::{self, KIND};
use crate::error::Result;
use crate::run::{Description, Head, LearnOptions, Load, Need, Task, Terms, Trained};

/// A re-ranker to be trained.
pub struct RerankTask<'a> {
    set: &'a CandidateSet,
    dev: Option<&'a CandidateSet>,
}

impl<'a> RerankTask<'a> {
    /// From training data, and dev data that was [read for it](CandidateSet::read_dev).
    #[must_use]
    pub fn new(set: &'a CandidateSet, dev: Option<&'a CandidateSet>) -> Self {
        RerankTask { set, dev }
    }
}

impl Task for RerankTask<'_> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self, _: &LearnOptions) -> Result<()> {
        Ok(())
    }

    fn structure(&self, _: &LearnOptions) -> Result<Arc<dyn Structure>> {
        Ok(Arc::new(Lists::new(Arc::clone(&self.set.lists) as _, self.set.features().len())))
    }

    fn judge<'a>(&'a self, _: &Arc<Crew>, _: &Arc<dyn Structure>) -> Option<Box<dyn Judge + 'a>> {
        let set = self.dev?;
        Some(Box::new(DevCosts { set, rounded: vec![], scores: vec![] }))
    }

    fn weight(&self) -> f64 {
        real(self.set.len())
    }

    fn examples(&self) -> usize {
        self.set.len()
    }

    fn size(&self) -> usize {
        self.set.candidates
    }

    fn terms(&self, _: &LearnOptions) -> Terms {
        Terms::new()
    }

    fn inputs(&self) -> Terms {
        let dev = self.dev.map_or("none".to_owned(), |dev| dev.digest.clone());
        [("training data", self.set.digest.clone()), ("dev data", dev)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    fn memory(&self, load: &Load) -> Need {
        let (sets, names) = ([Some(self.set), self.dev].into_iter().flatten(), self.set.name_bytes());
        let weights = self.set.features().len();
        // Differences to gold have the features of two candidates; a gradient those of all.
        let note = (size_of::<Row>() + size_of::<f64>()) * self.set.largest();
        Need {
            weights,
            parts: self.set.candidates,
            pieces: 0,
            entries: if load.entries { self.set.entries() } else { 0 },
            features: weights,
            data: names + sets.clone().map(CandidateSet::bytes).sum::<usize>(),
            workers: (load.threads + load.batch) * note,
            // Text and lists, while the table of names grows; then names and weights once more in a table, in parts
            // and in the bytes of a model.
            reading: (sets.map(|set| set.text).max().unwrap_or(0) + names / 2).max(3 * names + 12 * weights),
            judged: self.dev.is_some(),
        }
    }

    fn describe(&self, _: &LearnOptions) -> Description {
        let (set, n) = (self.set, |x: usize, thing: &str| counted(x as u64, thing));
        let block =
            |set: &CandidateSet| vec![set.file.clone(), n(set.len(), "list"), n(set.candidates, "candidate")];
        let mut blocks = vec![("data", block(set))];
        blocks.extend(self.dev.map(|dev| ("dev", block(dev))));
        blocks.push(("features", vec![n(set.features().len(), "feature")]));
        let mut warnings = vec![];
        if set.decided == 0 {
            warnings.push(format!(
                "in every list of {} all candidates cost the same: there is nothing to learn",
                set.file
            ));
        }
        let record = [
            ("data", json!(set.file)),
            ("digest", json!(set.digest)),
            ("lists", json!(set.len())),
            ("candidates", json!(set.candidates)),
            ("weights", json!(set.features().len())),
        ];
        let record = record.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Description {
            blocks,
            warnings,
            record,
            feature: "feature",
            strange_start: "that model has none of these features; does it belong to other lists?",
            nothing_learned: "do the candidates of the lists cost the same, or is a penalty too high?",
            example_file: "lists.jsonl",
            ..Description::default()
        }
    }

    fn model(&self, trained: &Trained, head: Head) -> Result<Vec<u8>> {
        model::bytes(self.set, trained, head)
    }
}

/// Mean cost of what the weights choose, rounded as a model has them.
struct DevCosts<'a> {
    set: &'a CandidateSet,
    rounded: Vec<f64>,
    scores: Vec<f64>,
}

impl Judge for DevCosts<'_> {
    fn scores(&mut self, w: &[f64]) -> seqoia_core::Result<Vec<Score>> {
        self.rounded.clear();
        self.rounded.extend(w.iter().map(|w| f64::from(single(*w))));
        let weights = Weights { values: &self.rounded, scale: 1.0 };
        let mut cost = 0.0;
        for list in self.set.lists.iter().map(List::view) {
            self.scores.clear();
            self.scores.resize(list.costs.len(), 0.0);
            list::scores(list, weights, &mut self.scores);
            cost += list.costs[list::best(&self.scores)];
        }
        Ok(vec![Score::cost("cost", cost / real(self.set.len()))])
    }
}
