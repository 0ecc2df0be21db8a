//! Reading: ours from raw columns to numbered attributes, the rival's from ready attributes.
//!
//! Neither tells how long it takes, so it is a difference: a run of one pass of the averaged
//! perceptron less one pass, where a run of two passes less a run of one gives the pass. Writing the
//! model is in it on both sides.

use anyhow::Result;

use super::times;
use crate::bench::Bench;
use crate::data::TaskName;
use crate::measure::{Usage, interleaved, median, peak};
use crate::table::{Cell, Table};

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(()) };
    let tools = &bench.tools;
    let ours = |passes| {
        tools.train(&task, &["--learner", "averaged-perceptron", "--passes", passes], "reading.seqoia")
    };
    let theirs = |epochs: &str| {
        tools.compliant_learn(&task, "ap", &[&format!("max_iterations={epochs}")], "reading.crfsuite-model")
    };
    let calls = [ours("1"), ours("2"), theirs("1"), theirs("2")];
    let runs = interleaved(bench.repeat, &calls)?;
    let ([reading, pass], [their_reading, their_pass]) =
        (split(&runs[0], &runs[1]), split(&runs[2], &runs[3]));
    let mut table = Table::new(
        "reading",
        format!("training file of {}", task.title),
        &["reading CPU s", "ratio", "pass CPU s", "ratio of passes", "peak"],
    );
    table.command("seqoia", calls[0].line());
    table.command("crfsuite-compliant-rs", calls[2].line());
    table.row(
        "seqoia, raw columns",
        [
            Cell::Seconds(reading),
            Cell::Times(1.0),
            Cell::Seconds(pass),
            Cell::Times(1.0),
            Cell::Bytes(peak(&runs[0])),
        ],
    );
    table.row(
        "crfsuite-compliant-rs, ready attributes",
        [
            Cell::Seconds(their_reading),
            times(their_reading, reading),
            Cell::Seconds(their_pass),
            times(their_pass, pass),
            Cell::Bytes(peak(&runs[2])),
        ],
    );
    table.note("reading = run of one pass - (run of two - run of one); the model's writing included");
    bench.show(&table)
}

/// Reading and one pass, from runs of one pass and of two that were made in turns.
fn split(one: &[Usage], two: &[Usage]) -> [f64; 2] {
    let pairs = || one.iter().zip(two).map(|(one, two)| (one.cpu, two.cpu));
    [median(pairs().map(|(one, two)| one - (two - one))), median(pairs().map(|(one, two)| two - one))]
}
