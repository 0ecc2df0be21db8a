//! What Seqoia decodes: one folder or file per structure. Learners are not known here, nor files, nor threads.
//!
//! [`chain`] labels sequences; [`list`] chooses from candidates; [`brute`] answers the same questions by enumeration and is what every
//! kernel is tested against.

pub mod brute;
pub mod chain;
mod exp;
pub mod list;
