//! The fastest way to a good labeller: ours from raw columns, theirs from ready attributes,
//! everything from the start to the written model included.
//!
//! Our learner is chosen on held-out training data; our scores are means over five seeds. Vowpal Wabbit runs inside Python, whose start is
//! subtracted.

use anyhow::Result;
use seqoia_report::grouped;

use super::choice::{CANDIDATES, choose, name};
use super::times;
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, Usage, cpu, median, peak};
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};
use crate::tools::Tools;

const SEEDS: [&str; 5] = ["1", "2", "3", "4", "5"];
const OUR_MODEL: &str = "fastest.seqoia";
const THEIR_MODEL: &str = "fastest.theirs";

/// Whose model it is.
#[derive(Clone, Copy, PartialEq)]
enum Tool {
    Seqoia,
    Compliant,
    Vowpal,
}

/// One row of the table while it is measured.
struct Row {
    tool: Tool,
    name: String,
    calls: Vec<Call>, // one for each seed, or only one
    runs: Vec<Usage>,
    scores: Vec<f64>,
}

impl Row {
    fn new(tool: Tool, name: impl Into<String>, calls: Vec<Call>) -> Row {
        Row { tool, name: name.into(), calls, runs: vec![], scores: vec![] }
    }
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let Some(task) = bench.task(TaskName::Chunking)? else { return Ok(()) };
    let chosen = choose(bench, &task)?;
    let tools = &bench.tools;
    let mut rows = rows(tools, &task, chosen);
    let start = tools.vowpal(&task, &["--version"]);
    let mut starts = vec![];
    for round in 0..bench.repeat.max(SEEDS.len()) {
        for row in &mut rows {
            let again = row.calls.first().filter(|_| round < bench.repeat);
            let Some(call) = row.calls.get(round).or(again) else { continue };
            let usage = call.run()?;
            screen::note(&format!("  {:8.2} CPU s  {}", usage.cpu, call.line()));
            row.runs.push(usage);
            if round < row.calls.len() {
                row.scores.push(score(tools, &task, row.tool)?); // a repeat of the first seed says nothing new
            }
        }
        starts.push(start.run()?.cpu);
    }
    let start = median(starts);
    let seconds = |row: &Row| cpu(&row.runs) - if row.tool == Tool::Vowpal { start } else { 0.0 };
    let (one_pass, all_passes) = (seconds(&rows[0]), seconds(&rows[1]));
    let mut table = Table::new(
        "fastest",
        task.title.clone(),
        &["CPU s", "to first row", "to second", "F1", "lowest", "highest", "peak"],
    );
    for row in &rows {
        table.command(row.name.clone(), row.calls[0].line());
        table.row(
            row.name.clone(),
            [
                Cell::Seconds(seconds(row)),
                times(seconds(row), one_pass),
                times(seconds(row), all_passes),
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

/// What is compared: ours after one pass, the one that was chosen, the averaged perceptron with the passes
/// that it has by default; then the rivals.
fn rows(tools: &Tools, task: &Task, chosen: &[&str]) -> Vec<Row> {
    let ours = |candidate: &[&str]| {
        let call = |seed| tools.train(task, &[candidate, &["--seed", seed]].concat(), OUR_MODEL);
        Row::new(Tool::Seqoia, name(candidate), SEEDS.map(call).to_vec())
    };
    let compliant = tools.compliant_learn(task, "ap", &["max_iterations=10"], THEIR_MODEL);
    let vowpal = |name: &str, flags: &[&str]| {
        let call = tools.vowpal_learn(task, flags, THEIR_MODEL);
        Row::new(Tool::Vowpal, format!("vowpalwabbit search, {name}"), vec![call])
    };
    let mut known = vec![CANDIDATES[0], chosen];
    known.extend(CANDIDATES.last().filter(|&&usual| usual != chosen));
    let mut rows: Vec<Row> = known.into_iter().map(ours).collect();
    rows.extend([
        Row::new(Tool::Compliant, "crfsuite-compliant-rs ap, 10 epochs", vec![compliant]),
        vowpal("1 pass, fast", &["-b", "22", "--search_alpha", "1e-6"]),
        vowpal("1 pass", &["-b", "24"]),
        vowpal("2 passes", &["-b", "24", "-l", "0.25", "--passes", "2"]),
    ]);
    rows
}

/// F1 of the model that a tool has just written.
fn score(tools: &Tools, task: &Task, tool: Tool) -> Result<f64> {
    match tool {
        Tool::Seqoia => score::ours(tools, task, OUR_MODEL, task.test),
        Tool::Compliant => {
            let args = ["tag", "-m", THEIR_MODEL, "test.crfsuite"];
            tools.compliant(task, &args).into_file("predicted").run()?;
            score::predicted(tools, task, task.test)
        }
        Tool::Vowpal => score::vowpal(tools, task, THEIR_MODEL, task.test),
    }
}

#[allow(clippy::cast_precision_loss)] // a handful of seeds
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
