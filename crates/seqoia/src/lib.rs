//! Seqoia trains and runs structured linear models. This crate is what programs import: it puts
//! readers, features, structures, learners and strategies together.
//!
//! ```
//! use std::sync::Arc;
//! use seqoia::{DataOptions, LabelTask, Labeller, LearnOptions, Predictor, Run, TrainingSet};
//!
//! # fn main() -> seqoia::Result<()> {
//! // Words with a label each; an empty line ends a sentence.
//! let text = "the D\ndog N\nbarks V\n\na D\ncat N\nsleeps V\n\n";
//! let mut data = DataOptions::default();
//! data.features.templates.push(("example".into(), "U0:%x[0,0]\nU1:%x[-1,0]\nB\n".into()));
//! let set = TrainingSet::read(seqoia::input_from_text("train", text)?, &data)?;
//!
//! let learner = seqoia::learners::find("averaged-perceptron").map_err(seqoia::Error::Option)?;
//! let (task, options) = (LabelTask::new(&set, None), LearnOptions::new(learner, learner.defaults()));
//! let run = Run::new(&task, &options)?;
//! let trained = run.run(&mut (), &Arc::default())?;
//!
//! let model = Arc::new(Labeller::from_bytes("model", &run.model(&trained)?)?);
//! assert_eq!(Predictor::new(model).label(&[&["the"], &["cat"], &["barks"]])?, ["D", "N", "V"]);
//! # Ok(())
//! # }
//! ```

mod error;
pub mod label;
mod model;
pub mod run;
pub mod score;
pub mod tools;

pub use error::{Error, Result};
pub use label::{
    ChainOptions, DataOptions, DevSet, FeatureChoice, LabelColumn, LabelTask, Labeller, PairChoice,
    Predictor, RuleChoice, TrainingSet,
};
pub use model::Model;
pub use run::{Checkpoint, Ended, Head, LearnOptions, PassRow, Passes, Run, Strength, Task, Trained, Watch};
pub use seqoia_core as core;
pub use seqoia_data as data;
pub use seqoia_eval as eval;
pub use seqoia_learners::registry as learners;
pub use seqoia_model::{check_target, write_atomically};
pub use seqoia_strategies::registry as strategies;
pub use seqoia_structures as structures;

/// A text as an input, for programs that have no file; `name` is for errors.
///
/// # Errors
/// None for plain text.
pub fn input_from_text(name: &str, text: &str) -> Result<data::open::Input> {
    Ok(data::open::Input::from_bytes(name, text.as_bytes())?)
}
