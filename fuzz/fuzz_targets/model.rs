//! Model files and checkpoints: any bytes are refused, or label a sentence. The header is made right, so
//! that what lies behind the checksum is reached; seed the corpus with models and checkpoints.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seqoia::label::{model_to_text, why_text};
use seqoia::{Checkpoint, Labeller, Predictor};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|bytes: &[u8]| {
    open(bytes);
    if bytes.len() >= 32 {
        let mut bytes = bytes.to_vec();
        let length = bytes.len() as u64;
        bytes[..8].copy_from_slice(b"SEQOIA\r\n");
        bytes[16..20].copy_from_slice(&seqoia_model::VERSION.to_le_bytes());
        bytes[24..32].copy_from_slice(&length.to_le_bytes());
        let checksum = xxh3_64(&bytes[16..]);
        bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
        open(&bytes);
    }
});

fn open(bytes: &[u8]) {
    let _ = Checkpoint::from_bytes("fuzz", bytes);
    if let Ok(model) = Labeller::from_bytes("fuzz", bytes) {
        let _ = Predictor::new(&model).label(&[&["The", "DT", "O"], &["cat", "NN", "O"]]);
        let _ = model_to_text(&model, &mut std::io::sink());
        let _ = why_text(&model, "The/DT/O cat/NN/O", None);
    }
}
