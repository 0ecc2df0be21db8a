//! What the readers' targets share: every block is parsed, every token has its fields, and labels are put
//! in.

use seqoia::data::format::{Block, Blocks, Copy, Kind, Labelled, Place, Reader};
use seqoia::data::open::Input;

/// Small, so that sentences are cut in many places.
const BLOCK: usize = 64;

pub fn read(bytes: &[u8], kind: Option<Kind>) {
    let Ok(input) = Input::from_bytes("fuzz", bytes) else { return };
    let Ok(mut reader) = Reader::new(Blocks::with_size(input, BLOCK), kind) else { return };
    let (format, mut block) = (reader.format(), Block::default());
    // A few bytes can unpack to very many.
    for _ in 0..10_000 {
        // A broken block is followed by others.
        if !matches!(reader.fill(&mut block), Ok(true)) {
            return;
        }
        if format.parse("fuzz", &mut block).is_ok() {
            for i in 0..block.tokens().len() {
                assert_eq!(block.columns(i).len(), format.columns());
                assert!(block.attributes(i).all(|(name, value)| !name.is_empty() && value.is_finite()));
            }
            let label = match format.label() {
                Place::Fixed(column) => column,
                _ => format.columns().saturating_sub(1),
            };
            let (mut copy, mut out) = (Copy::new(&block, label, 1), vec![]);
            for s in block.sentences() {
                let names = vec!["B".to_owned(); s.tokens.len()];
                let labelled = Labelled { tokens: s.tokens, names: &names, probabilities: None, beside: &[] };
                format.put(&mut copy, &labelled, &mut out);
            }
            copy.rest(&*format, &mut out);
        }
    }
}
