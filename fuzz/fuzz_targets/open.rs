//! Files as they come, packed or not, in a format that is recognised: read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "reading.rs"]
mod reading;

fuzz_target!(|bytes: &[u8]| reading::read(bytes, None));
