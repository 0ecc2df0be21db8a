//! Labelling: ours from raw columns to written columns, CRFsuite's from ready Python lists, which is
//! the part of its work that is not Python's. And the time to load a model.
//!
//! Ours is the CPU time of a process on the test data many times over, less that of a process that
//! labels one sentence; that one, less the start of the program, is the loading.

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::times;
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, cpu, interleaved, median, wall};
use crate::table::{Cell, Table};

/// The test data so many times in one file.
const COPIES: usize = 20;
/// Runs of milliseconds, so more of them.
const SHORT_RUNS: usize = 21;
const OUR_MODEL: &str = "predict.seqoia";
const THEIR_MODEL: &str = "predict.crfsuite-model";

/// What the script tells.
#[derive(Deserialize)]
struct Speed {
    load: f64,
    tokens: f64,
    seconds: f64,
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(()) };
    let tools = &bench.tools;
    let few_tokens = write_inputs(&task)?;
    // Ten iterations: weights that are not the best take the same time.
    let learner: &[&str] = match tools.has_learner("lbfgs") {
        true => &["--learner", "lbfgs", "--c2", "1", "--passes", "10"],
        false => &["--learner", "averaged-perceptron", "--passes", "10"],
    };
    let ours_trained = tools.train(&task, learner, OUR_MODEL);
    ours_trained.run()?;
    let settings = ["train", "train.crfsuite", THEIR_MODEL, "lbfgs", "c2=1", "max_iterations=10"];
    let theirs_trained = tools.crfsuite(&task, &settings);
    theirs_trained.run()?;

    let ours = |threads, file| {
        let args = ["predict", "--quiet", "--threads", threads, "-m", OUR_MODEL, file];
        tools.seqoia(&task, &args).into_file("predicted")
    };
    let compliant = |data| {
        let args = ["tag", "-m", THEIR_MODEL, data];
        tools.compliant(&task, &args).into_file("predicted")
    };
    let calls = [
        ours("1", "many.txt"),
        ours("2", "many.txt"),
        tools.crfsuite(&task, &["speed", "test.crfsuite", THEIR_MODEL]),
        compliant("test.crfsuite"),
    ];
    let short: [Call; 3] =
        [ours("1", "few.txt"), tools.seqoia(&task, &["--version"]), compliant("few.crfsuite")];
    let long_runs = interleaved(bench.repeat, &calls)?;
    let short_runs = interleaved(SHORT_RUNS, &short)?;
    let mut speeds = vec![];
    for run in &long_runs[2] {
        speeds.push(serde_json::from_str::<Speed>(&run.output).context("the script did not tell its speed")?);
    }
    let test_tokens = real(task.counts.test_tokens);
    let our_tokens = test_tokens * real(COPIES as u64) - few_tokens;
    let few = cpu(&short_runs[0]);
    let one = our_tokens / (cpu(&long_runs[0]) - few);
    let two = our_tokens / (wall(&long_runs[1]) - wall(&short_runs[0]));
    let one_by_clock = our_tokens / (wall(&long_runs[0]) - wall(&short_runs[0]));
    let python = median(speeds.iter().map(|speed| speed.tokens / speed.seconds));
    let port = (test_tokens - few_tokens) / (cpu(&long_runs[3]) - cpu(&short_runs[2]));
    let load = few - cpu(&short_runs[1]);
    let their_load = median(speeds.iter().map(|speed| speed.load));

    let mut table = Table::new(
        "predict",
        format!("test data of {}", task.title),
        &["tokens/s", "ours to it", "load CPU s", "it to ours"],
    );
    table.command("seqoia, model", ours_trained.line());
    table.command("seqoia", calls[0].line());
    table.command("python-crfsuite, model", theirs_trained.line());
    table.command("python-crfsuite", calls[2].line());
    table.command("crfsuite-compliant-rs", calls[3].line());
    let rate = |tokens: f64| [Cell::Rate(tokens), times(one, tokens)];
    let rows = [
        ("seqoia, raw columns, per core", rate(one), [Cell::Seconds(load), Cell::Times(1.0)]),
        ("python-crfsuite, ready lists", rate(python), [Cell::Seconds(their_load), times(their_load, load)]),
        ("crfsuite-compliant-rs, reading included", rate(port), [Cell::Empty, Cell::Empty]),
    ];
    for (name, rate, load) in rows {
        table.row(name, rate.into_iter().chain(load));
    }
    table.note(format!(
        "by the clock: {one_by_clock:.0} tokens/s with one thread, {two:.0} with two ({:.2} times)",
        two / one_by_clock
    ));
    table.note(format!(
        "ours: many.txt is the test data {COPIES} times; loading is a one-sentence run less --version"
    ));
    bench.show(&table)
}

/// Writes the long and the short input; the tokens of the short one.
fn write_inputs(task: &Task) -> Result<f64> {
    let path = |name: &str| task.folder.join(name);
    let text = fs::read_to_string(path(task.test)).context("the test data cannot be read")?;
    let many = File::create(path("many.txt")).context("many.txt cannot be written")?;
    let mut many = BufWriter::new(many);
    for _ in 0..COPIES {
        many.write_all(text.as_bytes())?;
    }
    many.flush()?;
    let first =
        |text: &str| text.split_once("\n\n").map_or(text.to_owned(), |(first, _)| format!("{first}\n\n"));
    let few = first(&text);
    fs::write(path("few.txt"), &few)?;
    fs::write(path("few.crfsuite"), first(&fs::read_to_string(path("test.crfsuite"))?))?;
    Ok(real(few.lines().filter(|line| !line.is_empty()).count() as u64))
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn real(n: u64) -> f64 {
    n as f64
}
