//! What Seqoia decodes: one folder a structure. Learners are not known here, nor files, nor threads.
//!
//! [`chain`] labels sequences; [`brute`] answers the same questions by enumeration and is what every
//! kernel is tested against.

pub mod brute;
pub mod chain;
