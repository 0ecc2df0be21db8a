//! CRFsuite's text: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seqoia::data::format::Kind;

#[path = "reading.rs"]
mod reading;

fuzz_target!(|bytes: &[u8]| reading::read(bytes, Some(Kind::Crfsuite)));
