//! The fastest way to a good labeller: ours from raw columns, theirs from ready attributes,
//! everything from start to written model included.
//!
//! Our figures are means over five seeds. Vowpal Wabbit runs inside Python, whose start is
//! subtracted.

use std::fs;

use anyhow::{Context, Result};
use seqoia_report::grouped;

use super::{times, words};
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, Usage, cpu, median, peak};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};

const SEEDS: [&str; 5] = ["1", "2", "3", "4", "5"];

/// One row of the table while it is measured.
struct Row {
    name: String,
    calls: Vec<Call>, // one a seed; a single one if there are no seeds
    runs: Vec<Usage>,
    scores: Vec<f64>,
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(()) };
    let tools = &bench.tools;
    let learner = words(&bench.learner);
    let ours = |passes: u64| {
        let passes = passes.to_string();
        let call = |seed| {
            let flags = [learner.as_slice(), &["--passes", &passes, "--seed", seed]].concat();
            tools.train(&task, &flags, "fastest.seqoia")
        };
        Row {
            name: format!("seqoia {}, {passes} passes", learner[1]),
            calls: SEEDS.map(call).to_vec(),
            runs: vec![],
            scores: vec![],
        }
    };
    let theirs = |name: &str, call| Row { name: name.to_owned(), calls: vec![call], runs: vec![], scores: vec![] };
    let mut rows = [
        ours(1),
        ours(bench.passes),
        theirs(
            "crfsuite-compliant-rs ap, 10 epochs",
            tools.compliant_learn(&task, "ap", &["max_iterations=10"], "fastest.crfsuite-model"),
        ),
        theirs("vowpalwabbit search, 1 pass, small", vowpal(bench, &task, &["-b", "22", "--search_alpha", "1e-6"])),
        theirs("vowpalwabbit search, 1 pass", vowpal(bench, &task, &["-b", "24"])),
        theirs(
            "vowpalwabbit search, 2 passes",
            vowpal(
                bench,
                &task,
                &["-b", "24", "-l", "0.25", "--passes", "2", "--holdout_off", "-k", "--cache_file", "vw.cache"],
            ),
        ),
    ];
    let start = tools.vowpal(&task, &["--version"]);
    let mut starts = vec![];
    for round in 0..bench.repeat.max(SEEDS.len()) {
        for (number, row) in rows.iter_mut().enumerate() {
            let Some(call) = row.calls.get(round).or((round < bench.repeat).then_some(&row.calls[0])) else {
                continue;
            };
            row.runs.push(call.run()?);
            screen::note(&format!("  {:8.2} CPU s  {}", row.runs[row.runs.len() - 1].cpu, call.line()));
            row.scores.push(match number {
                0 | 1 => score::ours(tools, &task, "fastest.seqoia", task.test)?,
                2 => {
                    tools.compliant_tag(&task, "fastest.crfsuite-model", "predicted").run()?;
                    score::theirs(tools, &task, task.test, &labels(&task)?.lines().filter(|l| !l.is_empty()).collect::<Vec<_>>())?
                }
                _ => {
                    let args = ["-t", "-i", "fastest.vw", "-d", "test.vw", "-p", "predicted", "--quiet"];
                    tools.vowpal(&task, &args).run()?;
                    let text = labels(&task)?;
                    score::theirs(tools, &task, task.test, &named(&task, &text)?)?
                }
            });
        }
        starts.push(start.run()?.cpu);
    }
    let start = median(starts);
    let times_of: Vec<f64> = rows.iter().enumerate().map(|(i, row)| cpu(&row.runs) - if i > 2 { start } else { 0.0 }).collect();
    let mut table = Table::new(
        "fastest",
        task.title.clone(),
        &["CPU s", "to ours, 1 pass", "to ours", "F1", "lowest", "highest", "peak"],
    );
    for (row, &seconds) in rows.iter().zip(&times_of) {
        table.command(row.name.clone(), row.calls[0].line());
        table.row(
            row.name.clone(),
            [
                Cell::Seconds(seconds),
                times(seconds, times_of[0]),
                times(seconds, times_of[1]),
                Cell::Percent(mean(&row.scores)),
                Cell::Percent(row.scores.iter().copied().fold(f64::INFINITY, f64::min)),
                Cell::Percent(row.scores.iter().copied().fold(0.0, f64::max)),
                Cell::Bytes(peak(&row.runs)),
            ],
        );
    }
    table.note(format!(
        "ours: seeds 1 to {}; scored on {} tokens; {start:.2} s for the start of Python subtracted",
        SEEDS.len(),
        grouped(task.counts.test_tokens)
    ));
    bench.show(&table)
}

/// Vowpal Wabbit's learning to search, greedy from left to right.
fn vowpal(bench: &Bench, task: &Task, flags: &[&str]) -> Call {
    let labels = task.counts.labels.len().to_string();
    let args = ["-d", "train.vw", "-f", "fastest.vw", "--quiet", "--search_task", "sequence", "--search", &labels];
    bench.tools.vowpal(task, &args).with(&["--search_rollout", "none"]).with(flags)
}

/// What a rival predicted.
fn labels(task: &Task) -> Result<String> {
    fs::read_to_string(task.folder.join("predicted")).context("a rival's predictions cannot be read")
}

/// Vowpal Wabbit's numbers as labels.
fn named<'a>(task: &'a Task, text: &str) -> Result<Vec<&'a str>> {
    let name = |number: &str| {
        let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let label = index.and_then(|i| task.counts.labels.get(i));
        label.map(String::as_str).with_context(|| format!("Vowpal Wabbit predicted '{number}', which is no label"))
    };
    text.split_whitespace().map(name).collect()
}

#[allow(clippy::cast_precision_loss)] // a handful of seeds
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
