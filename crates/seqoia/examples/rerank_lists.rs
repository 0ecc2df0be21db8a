//! Learns to choose from lists of candidates that another program made, and chooses.
//!
//! ```text
//! cargo run --release -p seqoia --example rerank_lists
//! ```

use seqoia::rerank::{Choices, choose};
use seqoia::{CandidateSet, LearnOptions, RerankTask, Reranker, Run, input_from_text, learners};

/// A list per line: what each candidate is, what is known of it, and what it costs to choose it.
const LISTS: &str = r#"
{"id": 1, "candidates": [{"text": "he go", "features": {"lm": -4.1, "length": 2}, "cost": 1},
{"text": "he goes", "features": {"lm": -3.2, "length": 2}, "cost": 0}]}
{"id": 2, "candidates": [{"text": "they sing", "features": {"lm": -3.0, "length": 2}, "cost": 0},
{"text": "they sings loud", "features": {"lm": -6.5, "length": 3}, "cost": 2}]}
"#;

pub(crate) fn main() -> seqoia::Result<()> {
    let lists = LISTS.replace(",\n", ", ");
    let set = CandidateSet::read(input_from_text("lists", &lists)?)?;
    let learner = learners::find("lbfgs")?;
    let (task, options) = (RerankTask::new(&set, None), LearnOptions::new(learner, learner.defaults()));
    let run = Run::new(&task, &options)?;
    let trained = run.run(&mut (), &std::sync::Arc::default())?;

    let model = Reranker::from_bytes("model", &run.model(&trained)?)?;
    let how = Choices { marginals: true, ..Choices::default() };
    choose(&model, input_from_text("lists", &lists)?, how, &mut std::io::stdout())?;
    Ok(())
}
