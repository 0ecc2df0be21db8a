//! Linear chains: label y at each position t, scored by attributes of the position and by the pair
//! of neighbouring labels (Lafferty et al. 2001; Collins 2002).
//!
//! ```text
//! score(x, y) = sum_t  s_t(y_t)  +  sum_{t>0} a_t(y_{t-1}, y_t)
//! s_t(y)      = sum of w[attribute, y] * value over the attributes of position t
//! a_t(y', y)  = w[y', y]  +  sum of w[attribute, y', y] over the attributes of the edge into t
//! ```
//!
//! [`Space`] says where each weight lies, [`Decoder`] finds labellings, [`Limits`] says which of them
//! may be, [`Chain`] is the structure that learners are given. Letters used throughout: T positions, K
//! labels, W = K padded to the width of a row.

mod beam;
mod decoder;
mod kbest;
mod kernel;
mod lane;
mod limits;
mod pieces;
mod rules;
mod search;
mod space;
mod structure;
mod sums;

pub use decoder::{Decoder, Labelling};
pub use kernel::Real;
#[doc(hidden)] // not for programs: `experiments/seams` holds the seams against the bare kernel
pub use kernel::{Batch, Plane, SumLimits};
pub use limits::{Known, Limits, Sets, Steps};
pub use rules::Rules;
pub use seqoia_core::Isa;
pub use space::{Layout, Renumbering, Space, SpaceView};
pub use structure::{Chain, Precision, Shelves};
