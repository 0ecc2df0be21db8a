//! Opens any model file and says what it is.

use std::path::Path;
use std::sync::Arc;

use seqoia_model::{Container, Error as ModelError};

use crate::error::Result;
use crate::label::Labeller;
use crate::rerank::Reranker;
use crate::run::Head;

/// A model of any kind.
pub enum Model {
    /// Labels sequences.
    Labeller(Labeller),
    /// Chooses from lists of candidates.
    Reranker(Arc<Reranker>),
}

impl Model {
    /// Maps a model file.
    ///
    /// # Errors
    /// When it cannot be read, is not a model, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        Self::read(Container::open(path.as_ref())?)
    }

    /// A model that is in memory; `name` is for errors.
    ///
    /// # Errors
    /// When it is not a model or is damaged.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Model> {
        Self::read(Container::from_bytes(name, bytes)?)
    }

    fn read(container: Container) -> Result<Model> {
        let head = Head::read(&container)?;
        match head.kind.as_str() {
            Labeller::KIND => Ok(Model::Labeller(Labeller::read(container)?)),
            Reranker::KIND => Ok(Model::Reranker(Arc::new(Reranker::read(container)?))),
            other => {
                let what = format!("the model is a '{other}', which this program does not know");
                let help = format!("it was made by {}; use that version", head.made_by);
                Err(ModelError::new(container.file(), what, help).into())
            }
        }
    }

    /// How it was trained.
    #[must_use]
    pub fn head(&self) -> &Head {
        match self {
            Model::Labeller(labeller) => labeller.head(),
            Model::Reranker(reranker) => reranker.head(),
        }
    }
}
