//! What a kind of model gives a run: labelling here, parsing or re-ranking beside it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seqoia_core::{Judge, Structure};
use seqoia_strategies::Crew;

use super::{Head, LearnOptions, Trained};
use crate::error::Result;

/// Names and values of what fixes the result of a run.
pub type Terms = BTreeMap<String, String>;

/// Training data of one kind, with its dev data and the options of its structure.
pub trait Task: Sync {
    /// The kind of model, such as `labeller`: its name in model files, and of its object there.
    fn kind(&self) -> &'static str;

    /// Whether its structure and this learner go together, as far as the options say.
    ///
    /// # Errors
    /// A sentence about what does not.
    fn check(&self, learn: &LearnOptions) -> Result<()>;

    /// The structure, made once per run.
    ///
    /// # Errors
    /// When the examples cannot be read.
    fn structure(&self, learn: &LearnOptions) -> Result<Arc<dyn Structure>>;

    /// Scores weights of that structure on dev data, if there is any.
    fn judge<'a>(&'a self, crew: &Arc<Crew>, structure: &Arc<dyn Structure>) -> Option<Box<dyn Judge + 'a>>;

    /// The n of the objective: the sum of the examples' weights.
    fn weight(&self) -> f64;

    /// Number of examples.
    fn examples(&self) -> usize;

    /// Size of all examples in the unit of [`Structure::size`], which cuts sums into chunks.
    fn size(&self) -> usize;

    /// Options that fix the result beside the learner's: recorded in models and checkpoints.
    fn terms(&self, learn: &LearnOptions) -> Terms;

    /// What was read, and as what: a checkpoint goes on with the same only. Digests for what is long; that of the
    /// `training data` stands in models, too.
    fn inputs(&self) -> Terms;

    /// Bytes that it takes beside what the learner keeps per weight and per example.
    fn memory(&self, load: &Load) -> Need;

    /// For the person who starts the run.
    fn describe(&self, learn: &LearnOptions) -> Description;

    /// The bytes of a model file with these weights and this head.
    ///
    /// # Errors
    /// Weights that a file cannot hold.
    fn model(&self, trained: &Trained, head: Head) -> Result<Vec<u8>>;

    /// Writes the same to a file, and tells its size.
    ///
    /// # Errors
    /// As [`model`](Self::model); a file that cannot be written, which then is what it was.
    fn save(&self, trained: &Trained, head: Head, path: &Path) -> Result<usize> {
        let file = self.model(trained, head)?;
        seqoia_model::write_atomically(path, &file)?;
        Ok(file.len())
    }
}

/// What a run asks of a task's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Workers.
    pub threads: usize,
    /// Examples whose notes are in memory at a time; 0 if the learner keeps none.
    pub batch: usize,
    /// Notes, and workers, have all pieces apart.
    pub pieces: bool,
    /// [`Need::entries`] is asked for: they take a sweep over the data.
    pub entries: bool,
}

/// What takes how many bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Things with their bytes.
    pub items: Vec<(&'static str, usize)>,
}

impl Bill {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> usize {
        self.items.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Bytes that a task takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Weights of the structure.
    pub weights: usize,
    /// Parts of all examples, at most.
    pub parts: usize,
    /// The same with all pairs of neighbours apart.
    pub pieces: usize,
    /// Weights of the features of each example, added up, if they were asked for.
    pub entries: usize,
    /// Weights that exist: those of the structure without padding.
    pub features: usize,
    /// Bytes of training and dev data, held all the time.
    pub data: usize,
    /// Bytes that workers and a batch take while learning.
    pub workers: usize,
    /// Bytes beside the data while it is read or a model is written, when nothing is learned.
    pub reading: usize,
    /// Weights are scored after each pass, so that the best ones are kept beside those of the moment.
    pub judged: bool,
}

/// What a run is about, in words and as a record.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Lines of the opening block: a name, and what belongs to it.
    pub blocks: Vec<(&'static str, Vec<String>)>,
    /// What may not be meant so, a sentence each.
    pub warnings: Vec<String>,
    /// What belongs to the line about training, beside learner and strategy.
    pub training: Vec<String>,
    /// Lines behind that one.
    pub remarks: Vec<(&'static str, Vec<String>)>,
    /// Figures for the record of the start.
    pub record: serde_json::Map<String, serde_json::Value>,
    /// What has a weight, in one word.
    pub feature: &'static str,
    /// Said of a model to start from that knows no feature of the data.
    pub strange_start: &'static str,
    /// What to look at if all weights are 0 in the end.
    pub nothing_learned: &'static str,
    /// What a file to predict may be called.
    pub example_file: &'static str,
}
