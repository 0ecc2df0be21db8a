//! Names of CoNLL-2003 and chunks of CoNLL-2000: how good, and how fast, on the same attributes.
//!
//! Section `names`: the feature sets of papers. Section `recipes`: the sets that carry their own settings, so that
//! `seqoia train --features SET` is all that is typed; no seed, pass or rate is chosen here.
//!
//! All tools have weights for every pair of attribute and label; the rivals learn IOB2. Ours reads raw columns and
//! is scored with three seeds; the rivals read ready attributes. python-crfsuite's time is what it takes inside
//! the library, from Vowpal Wabbit's the start of Python is subtracted. Options of ours were chosen on testa;
//! those of the rivals are the best known for them.

use anyhow::Result;

use super::fastest::mean;
use super::times;
use crate::bench::Bench;
use crate::data::{Task, TaskName};
use crate::measure::{Call, Usage, cpu, interleaved, median, peak};
use crate::runs::Fit;
use crate::score;
use crate::screen;
use crate::table::{Cell, Table};
use crate::tools::Tools;

const PAPERS: [TaskName; 2] = [TaskName::Names003, TaskName::Names001];
const RECIPES: [(TaskName, usize); 3] =
    [(TaskName::Chunking, 5), (TaskName::Names, 3), (TaskName::NamesListed, 3)];
const SEEDS: [&str; 5] = ["1", "2", "3", "4", "5"];
const OURS: [&str; 8] = ["--learner", "adagrad", "--pairs", "all", "--rate", "0.1", "--passes", "12"];
const OUR_MODEL: &str = "names.seqoia";
const THEIR_MODEL: &str = "names.theirs";

/// Whose model it is.
#[derive(Clone, Copy, PartialEq)]
enum Tool {
    Seqoia,
    Crfsuite,
    Vowpal,
}

/// One row of the table: calls that differ in the seed at most.
struct Row {
    tool: Tool,
    name: &'static str,
    calls: Vec<Call>,
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for name in PAPERS {
        let Some(task) = bench.task(name)? else { return Ok(()) };
        compare(
            bench,
            &task,
            &Ours { section: "names", name: "seqoia adagrad, 12 passes", flags: &OURS, seeds: 3 },
        )?;
    }
    Ok(())
}

/// The same with what feature sets bring along.
pub(crate) fn recipes(bench: &mut Bench) -> Result<()> {
    for (name, seeds) in RECIPES {
        let Some(mut task) = bench.task(name)? else { return Ok(()) };
        if name == TaskName::Chunking {
            task.flags = vec!["--features", "chunking"]; // the templates of the file, by name
        }
        compare(bench, &task, &Ours { section: "recipes", name: "seqoia, the recipe", flags: &[], seeds })?;
    }
    Ok(())
}

/// What of ours is compared.
struct Ours {
    section: &'static str,
    name: &'static str,
    flags: &'static [&'static str],
    seeds: usize,
}

fn compare(bench: &mut Bench, task: &Task, ours: &Ours) -> Result<()> {
    let tools = &bench.tools;
    let starts: Vec<Usage> = interleaved(3, &[tools.vowpal(task, &["--version"])])?.concat();
    let start = cpu(&starts);
    let columns = &["CPU s", "ratio", "dev F1", "test F1", "peak"];
    let mut table = Table::new(ours.section, task.title.clone(), columns);
    let mut first = None;
    for row in rows(tools, task, ours) {
        let (mut seconds, mut runs, mut scores) = (vec![], vec![], [vec![], vec![]]);
        for call in &row.calls {
            let run = call.run()?;
            seconds.push(match row.tool {
                Tool::Seqoia => run.cpu,
                Tool::Crfsuite => Fit::parse(&run.output)?.cpu(),
                Tool::Vowpal => run.cpu - start,
            });
            for (scores, file) in scores.iter_mut().zip([task.dev, task.test]) {
                scores.push(score(tools, task, row.tool, file)?);
            }
            screen::note(&format!("  {:8.2} CPU s  {}", cpu(std::slice::from_ref(&run)), call.line()));
            runs.push(run);
        }
        let seconds = median(seconds);
        let least = *first.get_or_insert(seconds);
        let [mut dev, test] = scores.map(|scores| Cell::Percent(mean(&scores)));
        if task.dev == task.test {
            dev = Cell::Empty;
        }
        table.command(row.name, row.calls[0].line());
        let peak = Cell::Bytes(peak(&runs));
        table.row(row.name, [Cell::Seconds(seconds), times(seconds, least), dev, test, peak]);
    }
    table.note(format!("ours: means over seeds 1 to {}; {start:.2} s for the start of Python", ours.seeds));
    bench.show(&table)
}

fn rows(tools: &Tools, task: &Task, ours: &Ours) -> Vec<Row> {
    let call = |seed| tools.train(task, &[ours.flags, &["--seed", seed]].concat(), OUR_MODEL);
    let calls = SEEDS[..ours.seeds].iter().map(|seed| call(*seed)).collect();
    let crfsuite = ["train", "train.crfsuite", THEIR_MODEL, "ap", "max_iterations=20"];
    let all_pairs = ["feature.possible_states=1", "feature.possible_transitions=1"];
    let vowpal =
        |passes| tools.vowpal_learn(task, &["-b", "24", "-l", "0.25", "--passes", passes], THEIR_MODEL);
    vec![
        Row { tool: Tool::Seqoia, name: ours.name, calls },
        Row {
            tool: Tool::Crfsuite,
            name: "python-crfsuite ap, 20 epochs",
            calls: vec![tools.crfsuite(task, &crfsuite).with(&all_pairs)],
        },
        Row { tool: Tool::Vowpal, name: "vowpalwabbit search, 2 passes", calls: vec![vowpal("2")] },
        Row { tool: Tool::Vowpal, name: "vowpalwabbit search, 5 passes", calls: vec![vowpal("5")] },
    ]
}

/// F1 on `file` of the model that a tool has just written.
fn score(tools: &Tools, task: &Task, tool: Tool, file: &str) -> Result<f64> {
    match tool {
        Tool::Seqoia => score::ours(tools, task, OUR_MODEL, file),
        Tool::Crfsuite => {
            let data = std::path::Path::new(file).with_extension("crfsuite");
            let args = ["tag", &data.to_string_lossy(), THEIR_MODEL];
            tools.crfsuite(task, &args).into_file("predicted").run()?;
            score::predicted(tools, task, file)
        }
        Tool::Vowpal => score::vowpal(tools, task, THEIR_MODEL, file),
    }
}
