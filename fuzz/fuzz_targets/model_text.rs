//! Models as text: any text is refused, or makes a model that comes back from its text to the byte.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seqoia::Labeller;
use seqoia::data::open::Input;
use seqoia::label::{model_from_text, model_to_text};

fuzz_target!(|bytes: &[u8]| {
    let back = |bytes: Vec<u8>| Input::from_bytes("fuzz", bytes).ok().and_then(|i| model_from_text(i).ok());
    let Some(made) = back(bytes.to_vec()) else { return };
    let Ok(model) = Labeller::from_bytes("fuzz", &made.bytes) else { panic!("no model was made") };
    let mut text = vec![];
    if model_to_text(&model, &mut text).is_ok() {
        assert!(back(text).is_some_and(|again| again.bytes == made.bytes));
    }
});
