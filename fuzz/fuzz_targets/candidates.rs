//! Lists of candidates: any bytes are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seqoia::data::candidates::{CandidateLists, looks_like_lists};
use seqoia::data::open::Input;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(input) = Input::from_bytes("fuzz", bytes) {
        let _ = looks_like_lists(input);
    }
    let Ok(input) = Input::from_bytes("fuzz", bytes) else { return };
    let mut lists = CandidateLists::new(input);
    while let Ok(Some(list)) = lists.next() {
        assert!(!list.candidates.is_empty() && list.line > 0);
        for candidate in &list.candidates {
            assert!(candidate.cost.is_none_or(f64::is_finite));
            assert!(candidate.features.iter().all(|(_, value)| value.is_finite() && *value != 0.0));
        }
    }
});
