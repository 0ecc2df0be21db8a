//! Sequence labelling: one task among siblings. From a file with labels to a model, and from a model to labels.
//!
//! | file | its job |
//! |---|---|
//! | `training` | the short way from data to a model, for programs |
//! | `options/` | what a user can choose about data and features, and what goes with a feature set |
//! | `source`, `reading`, `data`, `own_words` | training data, read |
//! | `limit`, `within`, `outside` | the same where memory is limited |
//! | `schemes`, `rules`, `weights`, `suspects`, `roles`, `raw` | what its labels are taken for, and what is not |
//! | `dev`, `scorer` | dev scores |
//! | `task` | all of it as a [`Task`](crate::run::Task) |
//! | `save`, `meta`, `model`, `text` | the model file, and the model as text |
//! | `worker`, `file`, `empty`, `columns`, `classes`, `strangers`, `unlike`, `known`, `page`, `records`, `trial` | labelling: a sentence, a file |
//! | `inspect`, `why`, `shrink`, `warm` | models looked into, made smaller, started from |
//! | `folds` | cross-validation |

mod answers;
mod classes;
pub(crate) mod columns;
pub(crate) mod data;
mod dev;
mod empty;
mod file;
pub mod folds;
mod inspect;
mod known;
mod leading;
mod limit;
mod meta;
mod model;
pub(crate) mod options;
mod outside;
pub(crate) mod own_words;
mod page;
mod raw;
pub(crate) mod reading;
mod records;
pub(crate) mod roles;
mod rules;
mod save;
mod schemes;
pub(crate) mod scorer;
mod shrink;
mod source;
mod strangers;
pub(crate) mod suspects;
mod task;
pub(crate) mod text;
mod training;
mod trial;
mod unlike;
pub mod warm;
mod weights;
mod why;
mod within;
mod worker;

pub use classes::Class;
pub use data::{Counts, TrainingSet};
pub use dev::{DevJudge, DevSet};
pub use file::{Labelled, PredictOptions, predict};
pub use inspect::{Inspector, ModelSummary, Section, Strongest, Transition, Weight};
pub use limit::{Limit, Within};
pub use meta::Meta;
pub use model::Labeller;
pub use options::recipes;
pub use options::{
    DataOptions, FeatureChoice, Features, LabelColumn, Output, PairChoice, Recipe, RuleChoice, Schemes,
};
pub use page::{Against, Seen};
pub use rules::Broken;
pub use seqoia_model::codes::Bits;
pub use shrink::{ShrinkOptions, shrink};
pub use source::{Again, Source};
pub use task::{ChainOptions, LabelTask};
pub use text::{FromText, model_from_text, model_to_text};
pub use training::Training;
pub use trial::{Trial, try_out};
pub use why::{Contribution, Rival, SecondBest, Why, WhyToken, why_input, why_line, why_text};
pub use within::read_within;
pub use worker::{Marginals, Predictor, Ranked};
