//! Wapiti's patterns: any text is refused, or makes attributes that a model can be trained and used with.

#![no_main]

mod training;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut data = seqoia::DataOptions::default();
    data.features.patterns.push(("fuzz".to_owned(), text.to_owned()));
    let _ = training::train(&data);
});
