//! Lists with costs, from a file: features by number, in the order in which training data first has them.

use std::sync::Arc;

use seqoia_core::{Corpus, Example, List, Ragged};
use seqoia_data::Error as DataError;
use seqoia_data::candidates::{CandidateList, CandidateLists};
use seqoia_data::features::{Strings, StringsView, UNKNOWN};
use seqoia_data::open::Input;
use seqoia_structures::list::least;

use crate::error::{Error, Result};

/// A file of lists, read.
pub struct CandidateSet {
    /// Its name.
    pub file: String,
    /// XXH3 of its text.
    pub digest: String,
    /// Candidates of all lists.
    pub candidates: usize,
    /// Lists whose candidates do not all cost the same: those that teach something.
    pub decided: usize,
    /// Bytes of the largest stretch of text that was in memory, with the largest list.
    pub(crate) text: usize,
    pub(crate) lists: Arc<Vec<List>>,
    features: Arc<Strings>,
}

impl CandidateSet {
    /// Training data: all of its features are known.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is not a list, a candidate without a cost, no lists at all.
    pub fn read(input: Input) -> Result<CandidateSet> {
        let mut features = Strings::default();
        let mut set = Self::numbered(input, |name| features.intern(name.as_bytes()))?;
        set.features = Arc::new(features);
        Ok(set)
    }

    /// Dev data for this training data: features that it does not know count nothing.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_dev(&self, input: Input) -> Result<CandidateSet> {
        let known = self.features.view();
        let mut set = Self::numbered(input, |name| Some(known.find(name.as_bytes())))?;
        set.features = Arc::clone(&self.features);
        Ok(set)
    }

    fn numbered(input: Input, mut number: impl FnMut(&str) -> Option<u32>) -> Result<CandidateSet> {
        let mut reader = CandidateLists::new(input);
        let file = reader.name().to_owned();
        let (mut lists, mut candidates, mut decided) = (vec![], 0, 0);
        while let Some(found) = reader.next()? {
            let costs = costs(&found, &file)?;
            let lowest = least(&costs);
            let list = List { candidates: ragged(&found, &mut number, &file)?, costs, weight: 1.0 };
            candidates += list.costs.len();
            decided += usize::from(list.costs.iter().any(|cost| *cost > lowest));
            lists.push(list);
        }
        if lists.is_empty() {
            return Err(DataError::new(file, "the file has no list of candidates").into());
        }
        let (digest, text) = (reader.digest(), reader.largest());
        let (lists, features) = (Arc::new(lists), Arc::default());
        Ok(CandidateSet { file, digest, candidates, decided, text, lists, features })
    }

    /// Number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Never: that is an error when reading.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The features of the training data; a feature's number is its place here.
    #[must_use]
    pub fn features(&self) -> StringsView<'_> {
        self.features.view()
    }

    /// Bytes that it takes, without the names of its features.
    pub(crate) fn bytes(&self) -> usize {
        Corpus::bytes(&*self.lists)
    }

    /// Bytes of the names of its features.
    pub(crate) fn name_bytes(&self) -> usize {
        self.features.bytes()
    }

    /// Features of each list, each once, added up.
    pub(crate) fn entries(&self) -> usize {
        let mut seen: Vec<u32> = vec![];
        let distinct = |list: &List| {
            seen.clear();
            seen.extend_from_slice(list.view().candidates.items);
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        self.lists.iter().map(distinct).sum()
    }

    /// Features of the candidates of the largest list.
    pub(crate) fn largest(&self) -> usize {
        self.lists.iter().map(|list| list.view().candidates.items.len()).max().unwrap_or(0)
    }
}

/// What each candidate costs.
///
/// # Errors
/// One that does not say.
pub(super) fn costs(list: &CandidateList<'_>, file: &str) -> Result<Vec<f64>> {
    let cost = |(i, cost): (usize, Option<f64>)| {
        cost.ok_or_else(|| {
            let what = format!("candidate {i} (from 0) has no cost");
            DataError::at(file, list.line, what)
                .help("give every candidate a cost; the lower, the better")
                .into()
        })
    };
    list.candidates.iter().map(|candidate| candidate.cost).enumerate().map(cost).collect()
}

/// Features by number, those left out that have none.
fn ragged(
    list: &CandidateList<'_>,
    number: &mut impl FnMut(&str) -> Option<u32>,
    file: &str,
) -> Result<Ragged> {
    let mut ragged = Ragged { starts: vec![0], ..Ragged::default() };
    let full = || Error::from(DataError::at(file, list.line, "more than four billion features"));
    for candidate in &list.candidates {
        for (name, value) in &candidate.features {
            let number = number(name).ok_or_else(full)?;
            if number != UNKNOWN {
                ragged.items.push(number);
                ragged.values.push(*value);
            }
        }
        ragged.starts.push(u32::try_from(ragged.items.len()).map_err(|_| full())?);
    }
    if ragged.values.iter().all(|value| *value == 1.0) {
        ragged.values = vec![];
    }
    Ok(ragged)
}
