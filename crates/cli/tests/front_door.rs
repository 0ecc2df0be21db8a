//! What a program gets from the library is what a person gets from the command line: the same bytes.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::path::Path;
use std::process::Command;

use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::data::open::open;
use seqoia::label::recipes::RECIPES;
use seqoia::{Labeller, Reranker};

/// The model that the command line writes.
fn trained(folder: &Path, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqoia"));
    let model = folder.join("typed.seqoia");
    let output = command.args(["train", "-q", "-m"]).arg(&model).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(model).unwrap()
}

/// Text of the kind that a set is for.
fn text(format: Option<Kind>, seed: u64) -> String {
    let columns = generate::columns(seed, 30);
    match format {
        Some(Kind::Words) => {
            let words = |sentence: &str| {
                let words: Vec<&str> =
                    sentence.lines().filter_map(|line| line.split_whitespace().next()).collect();
                words.join(" ") + "\n"
            };
            columns.split_terminator("\n\n").map(words).collect()
        }
        _ => columns,
    }
}

#[test]
fn every_recipe_gives_the_same_model_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for recipe in RECIPES {
        let (train, dev) = (path("train.txt"), path("dev.txt"));
        std::fs::write(&train, text(recipe.format, 1)).unwrap();
        std::fs::write(&dev, text(recipe.format, 2)).unwrap();
        let program = path("program.seqoia");
        let training = Labeller::train(train.as_str()).features(recipe.set).dev(dev.as_str());
        training.fit().unwrap().save(&program).unwrap();
        let typed = trained(folder.path(), &["--features", recipe.set, "--dev", &dev, &train]);
        assert!(std::fs::read(&program).unwrap() == typed, "{}", recipe.set);
    }
}

#[test]
fn a_reranker_is_the_same_model_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let lists = folder.path().join("lists.jsonl");
    let candidate = |i: usize, j: usize| {
        let features = format!("{{\"a\": {}, \"b\": {j}}}", (i * 7 + j * 5) % 11);
        format!("{{\"text\": \"{j}\", \"features\": {features}, \"cost\": {}}}", (i + j * 3) % 5)
    };
    let list =
        |i| format!("{{\"candidates\": [{}, {}, {}]}}\n", candidate(i, 0), candidate(i, 1), candidate(i, 2));
    std::fs::write(&lists, (0..20).map(list).collect::<String>()).unwrap();
    let name = lists.to_str().unwrap();
    for args in [&[][..], &["--learner", "sgd", "--passes", "3", "--seed", "5", "--dev", name]] {
        let mut training = Reranker::train(open(&lists).unwrap());
        if !args.is_empty() {
            training = training.learner("sgd").passes(3).seed(5).dev(open(&lists).unwrap());
        }
        let program = folder.path().join("program.seqoia");
        training.fit().unwrap().save(&program).unwrap();
        let typed = trained(folder.path(), &[&["--task", "rerank"], args, &[name]].concat());
        assert!(std::fs::read(&program).unwrap() == typed, "{args:?}");
    }
}
