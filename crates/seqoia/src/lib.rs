//! Seqoia trains and runs structured linear models. This crate is what programs import: it puts
//! readers, features, structures, learners and strategies together.
//!
//! ```
//! use seqoia::{Labeller, Sentences};
//!
//! # fn main() -> seqoia::Result<()> {
//! let mut sentences = Sentences::new("mine");
//! sentences.add(&["the", "dog", "barks"], &["D", "N", "V"])?;
//! sentences.add(&["a", "cat", "sleeps"], &["D", "N", "V"])?;
//!
//! let model = Labeller::train(sentences).template("U0:%x[0,0]\nU1:%x[-1,0]\nB\n").fit()?;
//! # let folder = std::env::temp_dir().join(format!("seqoia-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let folder = folder.as_path();
//! model.save(folder.join("pos.seqoia"))?;
//!
//! let model = Labeller::open(folder.join("pos.seqoia"))?;
//! let mut predictor = model.predictor(); // one for each thread
//! assert_eq!(predictor.label(&["the", "cat", "barks"])?, ["D", "N", "V"]);
//! let best = predictor.nbest(&["the", "cat", "barks"], 2)?;
//! assert!(best[0].score > best[1].score);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Labeller::train`] also takes the name of a file, and [`Training`] what goes with it: features, a dev set, the
//! learner. [`Predictor`] labels, and gives probabilities and the best few labellings; [`Labeller::score`] says how good
//! a model is on labelled data. Beside it stands the [`Reranker`], which learns to choose from lists of candidates:
//!
//! ```
//! # fn main() -> seqoia::Result<()> {
//! use seqoia::rerank::{Choices, choose};
//! use seqoia::{Reranker, input_from_text};
//!
//! let lists = r#"{"candidates": [
//!   {"text": "a dog bark", "features": {"lm": -7.5}, "cost": 1},
//!   {"text": "a dog barks", "features": {"lm": -4.5}, "cost": 0}]}"#
//!     .replace('\n', ""); // a list per line
//!
//! let model = Reranker::train(input_from_text("lists", &lists)?).fit()?;
//! let mut chosen = vec![];
//! choose(&model, input_from_text("lists", &lists)?, Choices::default(), &mut chosen)?;
//! assert_eq!(chosen, b"a dog barks\n");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/` has three programs. Below that lie [`TrainingSet`], [`LabelTask`] and [`Run`], which the command line is
//! made of, and [`rerank`] beside them.

mod error;
pub mod label;
mod model;
pub mod rerank;
pub mod run;
pub mod score;
pub mod tools;

pub use error::{BadOption, Error, Result};
pub use label::{
    ChainOptions, DataOptions, DevSet, FeatureChoice, LabelColumn, LabelTask, Labeller, Marginals,
    PairChoice, Predictor, Ranked, Recipe, RuleChoice, Source, Training, TrainingSet,
};
pub use model::Model;
pub use rerank::{CandidateSet, RerankTask, RerankTraining, Reranker};
pub use run::{
    Checkpoint, Ended, Head, LearnOptions, PassRow, Passes, Run, Strength, Task, Trained, Watch, Wish,
};
pub use seqoia_core as core;
pub use seqoia_data as data;
pub use seqoia_data::format::{AsToken, Ready, Sentences};
pub use seqoia_data::scheme::Scheme;
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
