//! `seqoia compare`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia compare experiments/recipes/demo.toml -o report

A recipe is TOML; its options are those of `seqoia train` without dashes.
Run the same command again to go on where it stopped.")]
pub(crate) struct CompareArgs {
    /// What to run: data sets, learners, seeds, plots
    pub(crate) recipe: PathBuf,
    /// Folder for index.html, plots and runs.jsonl
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Runs side by side [default: the recipe's, else one per core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// At most N threads in all [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Also run other programs: shell commands that stand in the recipe
    #[arg(long)]
    pub(crate) rivals: bool,
    /// Make the report of what has been run, and run nothing
    #[arg(long)]
    pub(crate) report_only: bool,
    /// Take runs of other builds of this program as they are
    #[arg(long)]
    pub(crate) keep_old: bool,
    /// Only the table and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
