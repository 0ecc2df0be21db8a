//! Runs Seqoia and its rivals side by side, on the same attributes, and prints ratios of CPU time
//! and peak memory.
//!
//! The rivals are those that install by name: `python-crfsuite` and `vowpalwabbit` (pip) and
//! `crfsuite-compliant-rs` (cargo). They go into the cache on first use. Calls are interleaved and
//! repeated, and medians are shown: machines have slow and fast stretches, ratios hold.

mod bench;
mod data;
mod expand;
mod measure;
mod runs;
mod score;
mod screen;
mod sections;
mod table;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::bench::Bench;
use crate::data::TaskName;
use crate::sections::{SECTIONS, shapes};

/// Runs Seqoia and its rivals side by side and prints ratios
#[derive(Parser)]
#[command(
    name = "peers",
    version,
    max_term_width = 80,
    after_help = "\
Example:
  SEQOIA_DATA=corpora cargo run --release -p seqoia-peers -- reading predict

The variable SEQOIA_DATA names a folder with the corpora conll2000,
ud-english-ewt, brown-pos and conll2003 with brown-clusters-en and
gazetteers-en, for section shapes also msra-ner, ocr-letters and
conll2002-ned; without it a generated corpus is used where that will do."
)]
struct Args {
    /// Sections to run [default: all]
    #[arg(value_parser = SECTIONS.map(|section| section.name))]
    sections: Vec<String>,
    /// Run everything N times and take medians [default: 3; --quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repeat: Option<u64>,
    /// Where rivals and expanded data go [default: target/peers]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// The program to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    seqoia: Option<PathBuf>,
    /// Write every figure to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Section lbfgs: another way to the objective: flags of `seqoia train`; several steps are
    /// separated by `;`, and step N leaves the model stepN.seqoia. May be given again
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    path: Vec<String>,
    #[command(flatten)]
    shapes: shapes::Options,
    /// Prepares the files of a task in the cache folder: what the program starts itself for
    #[arg(long, value_enum, hide = true)]
    prepare: Option<TaskName>,
}

impl Args {
    /// How often everything is run.
    fn repeat(&self) -> u64 {
        self.repeat.unwrap_or(if self.shapes.quick { 1 } else { 3 })
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            screen::note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let cache = match &args.cache {
        Some(cache) => cache.clone(),
        None => tools::target()?.join("peers"),
    };
    if let Some(task) = args.prepare {
        return Ok(screen::result(&serde_json::to_string(&data::prepare(task, &cache)?)?)?);
    }
    let shapes = args.sections.iter().any(|name| name == "shapes");
    ensure!(
        shapes || !args.shapes.given(),
        "--quick, --only, --rows and --picture are options of section shapes: name it"
    );
    if data::corpora().is_none() {
        screen::note(&format!(
            "{} is not set: a generated corpus is used, whose figures are not those of real text",
            data::VARIABLE
        ));
    }
    let mut bench = Bench::new(args, &cache)?;
    for section in SECTIONS {
        if args.sections.is_empty() || args.sections.iter().any(|name| name == section.name) {
            screen::note(&format!("{}: {}", section.name, section.about));
            (section.run)(&mut bench).with_context(|| format!("section {}", section.name))?;
        }
    }
    Ok(())
}
