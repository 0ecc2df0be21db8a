//! Trains on a file, keeps the best pass on a dev file, saves the model, opens it again and scores it.
//!
//! ```text
//! cargo run --release -p seqoia --example train_file
//! cargo run --release -p seqoia --example train_file -- train.txt dev.txt test.txt
//! ```

#![allow(clippy::print_stdout)] // it is a program

use std::path::PathBuf;

use seqoia::Labeller;
use seqoia::data::generate;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("seqoia-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [train, dev, test] = match <[PathBuf; 3]>::try_from(given) {
        Ok(files) => files,
        // No files: news that never happened.
        Err(_) => {
            let files = ["train.txt", "dev.txt", "test.txt"].map(|name| folder.join(name));
            for (seed, file) in (1..).zip(&files) {
                std::fs::write(file, generate::columns(seed, 500))?;
            }
            files
        }
    };

    let model = Labeller::train(train).features("chunking").dev(dev).fit()?;
    let file = folder.join("chunks.seqoia");
    model.save(&file)?;

    let model = Labeller::open(&file)?;
    for score in model.score(test)? {
        println!("{:<10}{:.2}", score.name, score.value);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
