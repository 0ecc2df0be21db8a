//! Trains on sentences in memory, labels another one, and tells how sure it is.
//!
//! ```text
//! cargo run --release -p seqoia --example label_sentences
//! ```

#![allow(clippy::print_stdout)] // it is a program

use seqoia::{Labeller, Sentences};

/// Words at the token and beside it, their first letters, and label pairs.
const TEMPLATE: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%m[0,0,\"^.\"]\nB\n";

pub(crate) fn main() -> seqoia::Result<()> {
    let mut sentences = Sentences::new("examples");
    sentences.add(&["Ada", "lives", "in", "London"], &["B-PER", "O", "O", "B-LOC"])?;
    sentences.add(
        &["Grace", "Hopper", "moved", "to", "New", "York"],
        &["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC"],
    )?;
    sentences.add(&["Alan", "works", "in", "Manchester"], &["B-PER", "O", "O", "B-LOC"])?;

    let model = Labeller::train(sentences).patterns(TEMPLATE).learner("lbfgs").fit()?;

    let words = ["Emmy", "lives", "in", "York"];
    let mut predictor = model.predictor();
    let found = predictor.marginals(&words)?;
    println!("{:.0} % sure of the whole sentence", 100.0 * found.probability);
    for ((word, label), row) in words.iter().zip(&found.labels).zip(&found.rows) {
        let certainty = row.iter().copied().fold(0.0, f64::max);
        println!("{word:>8}  {label:<6} {certainty:.2}");
    }
    for ranked in predictor.nbest(&words, 3)? {
        println!("{:.3}  {}", ranked.probability, ranked.labels.join(" "));
    }
    Ok(())
}
