//! How Seqoia's weights change: one file a learner, all of the same shape. Structures, threads,
//! files and terminals are not known here.
//!
//! [`registry::LEARNERS`] is the one list: a new learner is one file and one line there, and appears
//! by itself on the command line, in the documents and in the tests that hold for every learner.
//!
//! ```
//! use seqoia_learners::registry;
//!
//! let entry = registry::find("averaged-perceptron").unwrap();
//! let settings = entry.check(&[]).unwrap();
//! let _learner = entry.build(&settings, registry::Objective::default());
//! assert!(registry::find("perceptrn").unwrap_err().what.contains("did you mean perceptron?"));
//! ```

mod adagrad;
#[cfg(test)]
mod alone;
mod averaged_perceptron;
mod averaging;
mod calibrate;
mod descent;
mod lbfgs;
mod objective;
mod owl_qn;
mod perceptron;
mod planes;
mod quasi_newton;
pub mod registry;
mod search;
mod sgd;

pub use adagrad::AdaGrad;
pub use averaged_perceptron::AveragedPerceptron;
pub use lbfgs::Lbfgs;
pub use owl_qn::OwlQn;
pub use perceptron::Perceptron;
pub use sgd::Sgd;
