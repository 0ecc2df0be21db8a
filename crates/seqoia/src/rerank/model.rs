//! A model that chooses: names of features, and a weight for each.
//!
//! Sections beside `meta`: `features.text`, `features.starts`, `features.slots` (names, see
//! [`StringsView`]) and `weights`, one for each name. Features whose weight is 0 are left out.

use std::path::Path;

use seqoia_core::cast::single;
use seqoia_data::candidates::Candidate;
use seqoia_data::features::{Strings, StringsView, UNKNOWN};
use seqoia_model::{Container, Error as ModelError, Writer, write_atomically};
use serde::{Deserialize, Serialize};

use super::CandidateSet;
use crate::error::Result;
use crate::run::{Head, Trained};

/// The kind of model in the head, and the name of [`Meta`] beside it.
pub(crate) const KIND: &str = "reranker";

const NAMES: [&str; 3] = ["features.text", "features.starts", "features.slots"];

#[derive(Serialize, Deserialize)]
struct Description {
    #[serde(flatten)]
    head: Head,
    reranker: Meta,
}

/// What a re-ranker says about itself, beside the [`Head`] that all models have.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Meta {
    /// Candidates of the training data.
    candidates: usize,
}

/// The bytes of the model file.
pub(super) fn bytes(set: &CandidateSet, trained: &Trained, head: Head) -> Result<Vec<u8>> {
    let (mut names, mut weights) = (Strings::default(), vec![]);
    for (id, weight) in (0..).zip(trained.weights.iter().map(|w| single(*w))) {
        if weight != 0.0 {
            // A part of a table that fitted fits.
            names.intern(set.features().get(id).unwrap_or_default());
            weights.push(weight);
        }
    }
    let meta = Description { head, reranker: Meta { candidates: set.candidates } };
    let meta = serde_json::to_vec(&meta).unwrap_or_default(); // plain strings and numbers cannot fail
    let (mut writer, view) = (Writer::default(), names.view());
    writer.add("meta", &meta);
    writer.add(NAMES[0], view.text);
    writer.add(NAMES[1], view.starts);
    writer.add(NAMES[2], view.slots);
    writer.add("weights", &weights);
    Ok(writer.to_bytes())
}

/// An immutable model.
pub struct Reranker {
    container: Container,
    head: Head,
    meta: Meta,
}

/// What a model is, in figures.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How it was trained.
    #[serde(flatten)]
    pub head: Head,
    /// Candidates of the training data.
    pub candidates: usize,
    /// Features with a weight.
    pub features: usize,
    /// Size of the file.
    pub bytes: usize,
}

/// A feature and its weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strength {
    /// Its name.
    pub feature: String,
    /// What one unit of it adds to a score.
    pub weight: f32,
}

impl Reranker {
    pub(crate) const KIND: &'static str = KIND;

    /// Maps a model file.
    ///
    /// # Errors
    /// When it cannot be read, is not a re-ranker, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Reranker> {
        Self::read(Container::open(path.as_ref())?)
    }

    /// A model that is in memory; `name` is for errors.
    ///
    /// # Errors
    /// When it is not a re-ranker or is damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Reranker> {
        Self::read(Container::from_bytes(name, bytes)?)
    }

    /// Writes the model file: whole, or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), self.container.as_bytes())?)
    }

    /// Everything that scoring relies on is looked at here, once.
    pub(crate) fn read(container: Container) -> Result<Reranker> {
        let damaged = |what: &str| ModelError::damaged(container.file(), what);
        let head = Head::read(&container)?;
        if head.kind != KIND {
            let what = format!("the model is a {}, not a {KIND}", head.kind);
            return Err(
                ModelError::new(container.file(), what, "use a model that was trained on lists").into()
            );
        }
        let Description { head, reranker: meta } = serde_json::from_slice(container.get("meta")?)
            .map_err(|e| damaged(&format!("its description cannot be read: {e}")))?;
        let model = Reranker { container, head, meta };
        let (names, weights) = (model.names()?, model.weights()?);
        let fits = names.len() == weights.len() && weights.iter().all(|w| w.is_finite());
        if !fits || !names.is_sound() {
            return Err(ModelError::damaged(model.container.file(), "its parts do not fit together").into());
        }
        Ok(model)
    }

    /// How it was trained.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    fn names(&self) -> Result<StringsView<'_>> {
        let [text, starts, slots] = NAMES;
        Ok(StringsView {
            text: self.container.get(text)?,
            starts: self.container.get(starts)?,
            slots: self.container.get(slots)?,
        })
    }

    fn weights(&self) -> Result<&[f32]> {
        Ok(self.container.get("weights")?)
    }

    /// The score of each candidate; a feature that training has never seen counts 0.
    ///
    /// # Errors
    /// None for a model that was opened.
    pub fn scores(&self, candidates: &[Candidate<'_>], scores: &mut Vec<f64>) -> Result<()> {
        let (names, weights) = (self.names()?, self.weights()?);
        let weight = |name: &str| weights.get(names.find(name.as_bytes()) as usize).copied().unwrap_or(0.0);
        scores.clear();
        scores.extend(candidates.iter().map(|candidate| {
            let parts = candidate.features.iter();
            // An empty sum is -0.
            0.0 + parts.map(|(name, value)| f64::from(weight(name)) * f64::from(*value)).sum::<f64>()
        }));
        Ok(())
    }

    /// Whether training has seen a feature.
    #[must_use]
    pub fn knows(&self, feature: &str) -> bool {
        self.names().is_ok_and(|names| names.find(feature.as_bytes()) != UNKNOWN)
    }

    /// Its weights for the features of other training data, to start from, and how many of those it knows.
    ///
    /// # Errors
    /// None for a model that was opened.
    pub fn weights_for(&self, set: &CandidateSet) -> Result<(Vec<f64>, usize)> {
        let (names, weights, features) = (self.names()?, self.weights()?, set.features());
        let of = |id| weights.get(names.find(features.get(id).unwrap_or_default()) as usize);
        let known: Vec<Option<&f32>> = (0..).map(of).take(features.len()).collect();
        let found = known.iter().flatten().count();
        Ok((known.into_iter().map(|w| w.map_or(0.0, |w| f64::from(*w))).collect(), found))
    }

    /// What it is.
    ///
    /// # Errors
    /// None for a model that was opened.
    pub fn summary(&self) -> Result<Summary> {
        Ok(Summary {
            head: self.head.clone(),
            candidates: self.meta.candidates,
            features: self.names()?.len(),
            bytes: self.container.len(),
        })
    }

    /// Its features and their weights, the strongest first; equal ones in the order of training data.
    ///
    /// # Errors
    /// None for a model that was opened.
    pub fn strongest(&self) -> Result<Vec<Strength>> {
        let names = self.names()?;
        let name = |id| String::from_utf8_lossy(names.get(id).unwrap_or_default()).into_owned();
        let weights = (0..).zip(self.weights()?);
        let mut all: Vec<Strength> =
            weights.map(|(id, &weight)| Strength { feature: name(id), weight }).collect();
        all.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        Ok(all)
    }
}
