//! Lists of candidates: one is to be chosen, and each has a cost (re-ranking; Collins & Koo 2005).
//!
//! ```text
//! s_j = w . f_j                      score of candidate j
//! G   = those of least cost          any of them is right
//! loss = log sum_j exp s_j - log sum_{j in G} exp s_j
//! violation: a candidate j outside G among the k with the highest s_j + cost (cost_j - least cost); it beats
//!            gold if that is at least the highest s in G
//! ```
//!
//! A part is a candidate, so part scores are the scores themselves. With one candidate in G the loss is that of their
//! log-linear model; with several it is the marginal likelihood of the set. The difference of a violation is taken to
//! the best candidate of G. Weights are numbered like features: there is nothing else in the space.

use std::sync::Arc;

use crate::exp::{exp64, ln};
use seqoia_core::{
    Corpus, Delta, Error, Example, Lane, List, ListView, Note, Question, Result, Row, Search, Structure,
    Violation, Weights,
};

/// Lists to learn from, in one space of weights.
pub struct Lists {
    corpus: Arc<dyn Corpus<List>>,
    features: usize,
}

impl Lists {
    /// Lists whose features are numbered below `features`.
    #[must_use]
    pub fn new(corpus: Arc<dyn Corpus<List>>, features: usize) -> Self {
        Lists { corpus, features }
    }
}

impl Structure for Lists {
    fn name(&self) -> &'static str {
        "list of candidates"
    }

    fn examples(&self) -> usize {
        self.corpus.len()
    }

    fn weights(&self) -> usize {
        self.features
    }

    fn offers(&self) -> &'static [Question] {
        &[Question::Expectations, Question::Violations, Question::Rows, Question::Costs]
    }

    fn size(&self, id: usize) -> usize {
        self.corpus.size(id)
    }

    fn lane(self: Arc<Self>, _number: usize) -> Result<Box<dyn Lane>> {
        Ok(Box::new(ListLane {
            lists: self,
            id: 0,
            copy: List::default(),
            scores: vec![],
            ranked: vec![],
            gold: vec![],
        }))
    }
}

/// The score of each candidate.
pub fn scores(x: ListView<'_>, w: Weights<'_>, scores: &mut [f64]) {
    for (j, score) in scores.iter_mut().enumerate().take(x.candidates.len()) {
        let (features, values) = (x.candidates.at(j), x.candidates.values_at(j));
        let weight = |a: &u32| w.values.get(*a as usize).copied().unwrap_or(0.0);
        *score = w.scale
            * match values {
                None => features.iter().map(weight).sum::<f64>(),
                Some(values) => features.iter().zip(values).map(|(a, v)| weight(a) * f64::from(*v)).sum(),
            };
    }
}

/// The number of the best candidate: that of the highest score, the first of several.
#[must_use]
pub fn best(scores: &[f64]) -> usize {
    (1..scores.len()).fold(0, |best, j| if scores[j] > scores[best] { j } else { best })
}

/// log sum_j exp s_j over the candidates that count, and their shares in it.
pub fn log_sum(scores: &[f64], counts: impl Fn(usize) -> bool, mut shares: Option<&mut [f64]>) -> f64 {
    let most = (0..scores.len()).filter(|&j| counts(j)).fold(f64::NEG_INFINITY, |m, j| m.max(scores[j]));
    let mut sum = 0.0;
    for (j, score) in scores.iter().enumerate() {
        let part = if counts(j) { exp64(score - most) } else { 0.0 };
        sum += part;
        if let Some(shares) = &mut shares {
            shares[j] = part;
        }
    }
    if let Some(shares) = shares {
        shares[..scores.len()].iter_mut().for_each(|share| *share /= sum);
    }
    most + ln(sum)
}

/// The least cost of a list.
#[must_use]
pub fn least(costs: &[f64]) -> f64 {
    costs.iter().copied().fold(f64::INFINITY, f64::min)
}

struct ListLane {
    lists: Arc<Lists>,
    id: usize,
    copy: List,         // of the open example, if it does not lie in memory
    scores: Vec<f64>,   // [C] of a search
    ranked: Vec<usize>, // [C] candidates, the highest first
    gold: Vec<f64>,     // [C] shares of the candidates of least cost, after `gold_score`
}

/// The open example. A function instead of a method where a buffer is borrowed at the same time.
fn view<'a>(lists: &'a Lists, id: usize, copy: &'a List) -> ListView<'a> {
    lists.corpus.view(id).unwrap_or_else(|| copy.view())
}

impl ListLane {
    fn open_view(&self) -> ListView<'_> {
        view(&self.lists, self.id, &self.copy)
    }
}

impl Lane for ListLane {
    fn open(&mut self, id: usize) -> Result<f64> {
        self.id = id;
        self.gold.clear();
        if self.lists.corpus.view(id).is_none() {
            self.lists.corpus.read(id, &mut self.copy)?;
        }
        Ok(self.open_view().weight)
    }

    fn violations(&mut self, w: Weights<'_>, search: &Search, note: &mut Note) -> Result<()> {
        let ListLane { lists, id, copy, scores: s, ranked, .. } = self;
        let x = view(lists, *id, copy);
        s.clear();
        s.resize(x.costs.len(), 0.0);
        scores(x, w, s);
        if s.iter().any(|score| !score.is_finite()) {
            return Err(Error::NotFinite { id: *id, what: "a candidate's score is not finite".to_owned() });
        }
        let least = least(x.costs);
        let is_gold = |j: usize| x.costs[j] == least;
        let Some(gold) = (0..s.len()).filter(|&j| is_gold(j)).reduce(|a, b| if s[b] > s[a] { b } else { a })
        else {
            return Ok(());
        };
        let raised = |j: usize| s[j] + search.cost * (x.costs[j] - least);
        ranked.clear();
        ranked.extend(0..s.len());
        // As high as gold is a violation, so the others come first among equals.
        ranked.sort_by(|&a, &b| {
            raised(b).total_cmp(&raised(a)).then(is_gold(a).cmp(&is_gold(b))).then(a.cmp(&b))
        });
        note.wrong = (0..s.len()).any(|j| !is_gold(j) && s[j] >= s[gold]);
        for &j in ranked.iter().take(search.k).filter(|&&j| !is_gold(j)) {
            let v = note.violation();
            (v.cost, v.margin) = (x.costs[j] - least, s[gold] - s[j]);
            add_features(x, gold, 1.0, v);
            add_features(x, j, -1.0, v);
        }
        Ok(())
    }

    fn parts(&self) -> usize {
        self.open_view().costs.len()
    }

    fn rows(&self, out: &mut Vec<Row>) {
        let x = self.open_view();
        let features = (0..x.candidates.len()).flat_map(|j| x.candidates.at(j));
        out.extend(features.map(|&at| Row { at, from: 0, len: 1, holes: 0 }));
    }

    fn scores(&mut self, w: Weights<'_>, out: &mut [f64]) {
        scores(self.open_view(), w, out);
    }

    fn costs(&self, c: f64, scores: &mut [f64]) {
        let x = self.open_view();
        let least = least(x.costs);
        scores.iter_mut().zip(x.costs).for_each(|(score, cost)| *score += c * (cost - least));
    }

    fn infer(&mut self, scores: &[f64], marginals: Option<&mut [f64]>) -> f64 {
        log_sum(scores, |_| true, marginals)
    }

    fn gold_score(&mut self, scores: &[f64]) -> f64 {
        let ListLane { lists, id, copy, gold, .. } = self;
        let x = view(lists, *id, copy);
        let least = least(x.costs);
        gold.resize(scores.len(), 0.0);
        log_sum(scores, |j| x.costs[j] == least, Some(gold))
    }

    fn gold(&mut self, c: f64, parts: &mut [f64]) {
        debug_assert_eq!(self.gold.len(), parts.len(), "gold_score comes first");
        parts.iter_mut().zip(&self.gold).for_each(|(part, gold)| *part += c * gold);
    }

    fn scatter(&self, parts: &[f64], least: f64, out: &mut Delta) {
        // A list is one group: its parts add up to 0, and without the small ones they would lean to one side.
        if parts.iter().all(|part| part.abs() <= least) {
            return;
        }
        let (x, first) = (self.open_view(), out.rows.len());
        for (j, part) in parts.iter().enumerate().filter(|(_, part)| **part != 0.0) {
            each_feature(x, j, |at, value| {
                let from = out.share(&[part * value]);
                out.rows.push(Row { at, from, len: 1, holes: 0 });
            });
        }
        merge(out, first);
    }

    fn spread(&mut self, parts: &[f64], step: f64, at: usize, to: &mut [f64]) {
        let x = self.open_view();
        for (j, part) in parts.iter().enumerate().filter(|(_, part)| **part != 0.0) {
            each_feature(x, j, |index, value| {
                if let Some(to) = (index as usize).checked_sub(at).and_then(|i| to.get_mut(i)) {
                    *to += step * (part * value);
                }
            });
        }
    }
}

/// Adds up what the rows from `first` on have for the same feature, in the order of the candidates. A feature of all
/// candidates, whose parts cancel, must not become a step for each of them.
fn merge(delta: &mut Delta, first: usize) {
    let Delta { rows, pool } = delta;
    rows[first..].sort_unstable_by_key(|row| (row.at, row.from));
    let mut end = first;
    for i in first..rows.len() {
        let row = rows[i];
        match end.checked_sub(1).filter(|&last| last >= first && rows[last].at == row.at) {
            Some(last) => pool[rows[last].from as usize] += pool[row.from as usize],
            None => {
                rows[end] = row;
                end += 1;
            }
        }
    }
    rows.truncate(end);
}

fn each_feature(x: ListView<'_>, candidate: usize, mut each: impl FnMut(u32, f64)) {
    let values = x.candidates.values_at(candidate);
    for (i, &at) in x.candidates.at(candidate).iter().enumerate() {
        each(at, values.map_or(1.0, |values| f64::from(values[i])));
    }
}

/// Adds `c` times the features of a candidate to the difference of a violation.
fn add_features(x: ListView<'_>, candidate: usize, c: f64, v: &mut Violation) {
    each_feature(x, candidate, |at, value| {
        let from = v.delta.share(&[c * value]);
        v.delta.rows.push(Row { at, from, len: 1, holes: 0 });
    });
}
