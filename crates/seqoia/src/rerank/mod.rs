//! Re-ranking: choosing from lists of candidates that another program made.
//!
//! | file | its job |
//! |---|---|
//! | `training` | the short way from lists to a model, for programs |
//! | `data` | lists with costs, read and numbered |
//! | `task` | them as a [`Task`](crate::run::Task), and the dev score |
//! | `model` | the model file, and the scores of candidates |
//! | `file` | a file of lists, chosen from |
//! | `costs` | what choices cost beside the first, the best and the worst ones |

mod costs;
mod data;
mod file;
mod model;
mod task;
mod training;

pub use costs::{Costs, chosen_costs};
pub use data::CandidateSet;
pub use file::{Choices, Chosen, choose};
pub use model::{Reranker, Strength, Summary};
pub use task::RerankTask;
pub use training::{DEFAULT_LEARNER, RerankTraining};
