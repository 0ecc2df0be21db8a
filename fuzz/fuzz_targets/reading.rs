//! What the readers' targets share: every block is parsed, every token has its fields.

use seqoia::data::format::{self, Block, Blocks, Kind};
use seqoia::data::open::Input;

/// Small, so that sentences are cut in many places.
const BLOCK: usize = 64;

pub fn read(bytes: &[u8], kind: Option<Kind>) {
    let Ok(input) = Input::from_bytes("fuzz", bytes) else { return };
    let (mut blocks, mut block) = (Blocks::with_size(input, BLOCK), Block::default());
    let Ok(format) = format::first(&mut blocks, &mut block, kind) else { return };
    // A few bytes can unpack to very many.
    for _ in 0..10_000 {
        if format.parse("fuzz", &mut block).is_ok() {
            for i in 0..block.tokens().len() {
                assert_eq!(block.columns(i).len(), format.columns());
            }
        }
        if !matches!(blocks.fill(&mut block), Ok(true)) {
            return;
        }
    }
}
