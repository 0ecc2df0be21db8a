//! Seqoia trains and runs structured linear models. This crate is what programs import: it puts
//! readers, features, structures, learners and strategies together.
//!
//! ```
//! use std::sync::Arc;
//! use seqoia::{DataOptions, Labeller, Predictor, TrainOptions, Trainer, TrainingSet};
//!
//! # fn main() -> seqoia::Result<()> {
//! // Words with a label each; an empty line ends a sentence.
//! let text = "the D\ndog N\nbarks V\n\na D\ncat N\nsleeps V\n\n";
//! let mut data = DataOptions::default();
//! data.features.templates.push(("example".into(), "U0:%x[0,0]\nU1:%x[-1,0]\nB\n".into()));
//! let set = TrainingSet::read(seqoia::input_from_text("train", text)?, &data)?;
//!
//! let learner = seqoia::learners::find("averaged-perceptron").map_err(seqoia::Error::Option)?;
//! let options = TrainOptions::new(learner, learner.check(&[]).map_err(seqoia::Error::Option)?);
//! let trained = Trainer::new(&set, &options)?.run(None, &mut (), &Arc::default())?;
//!
//! let model = Arc::new(Labeller::from_bytes("model", &seqoia::model_bytes(&set, &options, &trained)?)?);
//! assert_eq!(Predictor::new(model).label(&[&["the"], &["cat"], &["barks"]])?, ["D", "N", "V"]);
//! # Ok(())
//! # }
//! ```

mod check;
mod checkpoint;
mod coded;
mod convert;
mod dump;
mod error;
pub mod evaluate;
mod expand;
mod fit;
pub mod folds;
mod inspect;
mod judge;
mod known;
mod labeller;
mod labels;
mod meta;
mod model_text;
mod options;
mod own_words;
mod predict;
mod predictor;
mod save;
mod scorer;
mod seen;
mod shrink;
mod trainer;
mod training_set;
pub mod warm;
mod why;

pub use check::{CheckOptions, Checked, Figures, Finding, Level, check};
pub use checkpoint::Checkpoint;
pub use coded::Bits;
pub use convert::{ConvertOptions, Converted, convert};
pub use dump::dump_features;
pub use error::{Error, Result};
pub use inspect::{Inspector, ModelSummary, Section, Strongest, Transition, Weight};
pub use judge::{DevJudge, DevSet};
pub use labeller::Labeller;
pub use labels::{Broken, Schemes};
pub use meta::Meta;
pub use model_text::{FromText, model_from_text, model_to_text};
pub use options::{
    DataOptions, FeatureChoice, Features, LabelColumn, PairChoice, Passes, RuleChoice, StrategyChoice,
    Strength, TrainOptions,
};
pub use predict::{Labelled, Output, PredictOptions, predict};
pub use predictor::Predictor;
pub use save::model_bytes;
pub use seen::Seen;
pub use seqoia_core as core;
pub use seqoia_data as data;
pub use seqoia_eval as eval;
pub use seqoia_learners::registry as learners;
pub use seqoia_model::{check_folder, write_atomically};
pub use seqoia_structures as structures;
pub use shrink::{ShrinkOptions, Trial, shrink, try_out};
pub use trainer::{Ended, PassRow, Trained, Trainer, Watch};
pub use training_set::TrainingSet;
pub use why::{Contribution, Rival, SecondBest, Why, WhyToken, why_input, why_text};

/// A text as an input, for programs that have no file; `name` is for errors.
///
/// # Errors
/// None for plain text.
pub fn input_from_text(name: &str, text: &str) -> Result<data::open::Input> {
    Ok(data::open::Input::from_bytes(name, text.as_bytes())?)
}
