//! Learns to choose from lists of candidates that another program made, and chooses.
//!
//! ```text
//! cargo run --release -p seqoia --example rerank_lists
//! ```

use seqoia::rerank::{Choices, choose};
use seqoia::{Reranker, input_from_text};

/// A list per line: what each candidate is, what is known of it, and what it costs to choose it.
const LISTS: &str = r#"
{"id": 1, "candidates": [{"text": "he go", "features": {"lm": -4.1, "length": 2}, "cost": 1},
{"text": "he goes", "features": {"lm": -3.2, "length": 2}, "cost": 0}]}
{"id": 2, "candidates": [{"text": "they sing", "features": {"lm": -3.0, "length": 2}, "cost": 0},
{"text": "they sings loud", "features": {"lm": -6.5, "length": 3}, "cost": 2}]}
"#;

pub(crate) fn main() -> seqoia::Result<()> {
    let lists = LISTS.replace(",\n", ", ");
    let model = Reranker::train(input_from_text("lists", &lists)?).fit()?;
    let how = Choices { marginals: true, ..Choices::default() };
    choose(&model, input_from_text("lists", &lists)?, how, &mut std::io::stdout())?;
    Ok(())
}
