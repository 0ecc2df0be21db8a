//! Cases that run the program `seqoia` as a whole, on one thread and a generated corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use seqoia_data::generate;
use serde_json::json;
use tempfile::TempDir;

/// Name and arguments. One pass of the perceptron is short: those cases are about reading and writing.
pub(crate) const PROGRAMS: &[(&str, &str)] = &[
    ("train-lbfgs", "train train.txt -t words.txt --learner lbfgs --passes 4 -m out.seqoia"),
    ("train-adagrad", "train train.txt -t words.txt --learner adagrad --passes 1 -m out.seqoia"),
    ("train-sag", "train train.txt -t words.txt --learner sag-nus-star --passes 2 -m out.seqoia"),
    ("train-adf", "train train.txt -t words.txt --learner adf --rate 0.1 --passes 2 -m out.seqoia"),
    ("train-madf", "train train.txt -t words.txt --learner madf --rate 0.5 --passes 2 -m out.seqoia"),
    ("train-sdca", "train train.txt -t words.txt --learner sdca --passes 1 -m out.seqoia"),
    ("train-shrink", "train train.txt -t words.txt --learner adagrad --l1 0.5/n --passes 1 -m out.seqoia"),
    ("train-averaged", "train train.txt -t words.txt --learner averaged-perceptron --passes 3 -m out.seqoia"),
    (
        "train-averaged-all",
        "train test.txt -t words.txt --learner averaged-perceptron --pairs all --passes 3 -m out.seqoia",
    ),
    ("train-dev", "train train.txt -t words.txt --learner adagrad --passes 2 --dev test.txt -m out.seqoia"),
    ("train-edges", "train train.txt -t edges.txt --learner lbfgs --passes 2 -m out.seqoia"),
    (
        "train-ner",
        "train train.txt --features ner --scheme iob2 --pairs observed --learner perceptron --passes 1 -m out.seqoia",
    ),
    (
        "train-crfsuite",
        "train train.crfsuite --format crfsuite --learner perceptron --passes 1 -m out.seqoia",
    ),
    ("train-dicts", "train train.jsonl --format jsonl --learner perceptron --passes 1 -m out.seqoia"),
    ("check", "check train.txt"),
    ("convert", "convert --to crfsuite -t words.txt test.txt"),
    ("predict", "predict -m words.seqoia test.txt"),
    ("predict-marginals", "predict -m words.seqoia test.txt --marginals"),
    ("predict-nbest", "predict -m words.seqoia test.txt --nbest 5"),
    ("predict-ner", "predict -m ner.seqoia test.txt"),
    ("predict-crfsuite", "predict -m crfsuite.seqoia test.crfsuite"),
    ("predict-dicts", "predict -m dicts.seqoia test.jsonl"),
    ("eval", "eval labelled.txt"),
];

/// Words in a window and parts of speech.
const WORDS: &str = "U0:%x[-1,0]\nU1:%x[0,0]\nU2:%x[1,0]\nU3:%x[-1,0]/%x[0,0]\nU4:%x[0,0]/%x[1,0]\n\
                     U5:%x[-1,1]\nU6:%x[0,1]\nU7:%x[1,1]\nU8:%x[-1,1]/%x[0,1]\nU9:%x[0,1]/%x[1,1]\nB\n";
/// Label pairs that see the input.
const EDGES: &str = "U0:%x[0,0]\nU1:%x[-1,1]\nU2:%x[0,1]\nB0:%x[0,1]\nB\n";

/// How the files are made that cases read: arguments, and where their output goes unless they name a model.
const STEPS: &[(&str, &str)] = &[
    ("convert --to crfsuite -t words.txt train.txt", "train.crfsuite"),
    ("convert --to crfsuite -t words.txt test.txt", "test.crfsuite"),
    ("train train.txt -t words.txt --learner adagrad --passes 2 -m words.seqoia", ""),
    (
        "train train.txt --features ner --scheme iob2 --pairs observed --learner adagrad --rate 0.2 --passes 1 -m ner.seqoia",
        "",
    ),
    ("train train.crfsuite --format crfsuite --learner adagrad --passes 1 -m crfsuite.seqoia", ""),
    ("train train.jsonl --format jsonl --learner adagrad --passes 1 -m dicts.seqoia", ""),
    ("predict -m words.seqoia test.txt", "labelled.txt"),
];

/// Sentences of columns as JSON lines, the features of a token as a dict of strings, tests and a number.
fn dicts(columns: &str) -> String {
    let mut lines = String::new();
    for sentence in columns.split("\n\n").filter(|sentence| !sentence.trim().is_empty()) {
        let rows: Vec<Vec<&str>> =
            sentence.trim().lines().map(|row| row.split_whitespace().collect()).collect();
        let field = |at: Option<usize>, column: usize| {
            at.and_then(|at| rows.get(at)).and_then(|row| row.get(column)).copied().unwrap_or("")
        };
        let features = (0..rows.len()).map(|t| {
            let (word, before, behind) = (field(Some(t), 0), t.checked_sub(1), Some(t + 1));
            json!({
                "bias": 1.0, "word.lower()": word.to_lowercase(), "word.istitle()": word.starts_with(char::is_uppercase),
                "word.isdigit()": word.bytes().all(|byte| byte.is_ascii_digit()), "postag": field(Some(t), 1),
                "-1:word.lower()": field(before, 0).to_lowercase(), "-1:postag": field(before, 1), "BOS": t == 0,
                "+1:word.lower()": field(behind, 0).to_lowercase(), "+1:postag": field(behind, 1),
            })
        });
        let features: Vec<_> = features.collect();
        let labels: Vec<_> = rows.iter().map(|row| row.last().copied().unwrap_or("O")).collect();
        lines.push_str(&format!("{}\n", json!({ "features": features, "labels": labels })));
    }
    lines
}

/// The program and the folder with its files.
pub(crate) struct Programs {
    program: PathBuf,
    folder: TempDir,
}

impl Programs {
    /// Makes the files.
    ///
    /// # Errors
    /// There is no `seqoia` beside this program, or a step fails.
    pub(crate) fn new(own: &Path) -> Result<Programs> {
        let program = own.with_file_name("seqoia");
        ensure!(program.is_file(), "{} is missing: run `make guard`, which builds it", program.display());
        let folder = tempfile::tempdir().context("no temporary folder")?;
        for (name, text) in [
            ("train.txt", generate::columns(1, 800).as_str()),
            ("test.txt", generate::columns(2, 400).as_str()),
            ("train.jsonl", dicts(&generate::columns(1, 800)).as_str()),
            ("test.jsonl", dicts(&generate::columns(2, 400)).as_str()),
            ("words.txt", WORDS),
            ("edges.txt", EDGES),
        ] {
            fs::write(folder.path().join(name), text).context(name)?;
        }
        let programs = Programs { program, folder };
        for (line, to) in STEPS {
            let out = programs.command(line).stdin(Stdio::null()).output().context(*line)?;
            let said = String::from_utf8_lossy(&out.stderr);
            ensure!(out.status.success(), "seqoia {line}: {}\n{said}", out.status);
            if !to.is_empty() {
                fs::write(programs.folder.path().join(to), out.stdout).context(*to)?;
            }
        }
        Ok(programs)
    }

    /// `seqoia` with these arguments, in the folder; on one thread, so that no worker spins while it waits.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(line.split(' ')).current_dir(self.folder.path());
        if line.starts_with("train") || line.starts_with("predict") {
            command.args(["-q", "--threads", "1"]);
        }
        command
    }
}
