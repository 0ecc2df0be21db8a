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
mod adf;
#[cfg(test)]
mod alone;
mod asg;
mod asgd;
mod averaged_perceptron;
mod averaging;
mod calibrate;
mod dca;
mod descent;
mod dual;
mod gradients;
mod hybrid;
mod lazy;
mod lbfgs;
mod madf;
mod objective;
mod oeg;
mod owl_qn;
mod pa;
mod pegasos;
mod perceptron;
mod planes;
mod proximal;
mod quasi_newton;
pub mod registry;
mod running;
mod sag;
mod sag_nus;
mod sag_nus_star;
mod saga;
mod sampling;
mod scaled;
mod sdca;
mod search;
mod sg;
mod sgd;
mod shrink;
mod smd;
mod svrg;
mod sweep;
mod table;
mod trees;

pub use adagrad::AdaGrad;
pub use adf::Adf;
pub use asg::Asg;
pub use asgd::Asgd;
pub use averaged_perceptron::AveragedPerceptron;
pub use dca::Dca;
pub use hybrid::Hybrid;
pub use lbfgs::Lbfgs;
pub use madf::Madf;
pub use oeg::Oeg;
pub use owl_qn::OwlQn;
pub use pa::Pa;
pub use pegasos::Pegasos;
pub use perceptron::Perceptron;
pub use saga::Saga;
pub use sdca::Sdca;
pub use sg::Sg;
pub use sgd::Sgd;
pub use smd::Smd;
pub use svrg::Svrg;
