//! What any run reads and writes beside its data, and what it shows.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Where to write the model
    #[arg(short, long, value_name = "FILE", help_heading = "Files")]
    pub(crate) model: Option<PathBuf>,
    /// Held-out data, scored after every pass
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) dev: Option<PathBuf>,
    /// Start from this model's weights, matched by the names of features and labels
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Write a checkpoint here after every pass
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write it after every N passes, and at the end
    #[arg(long, value_name = "N", default_value_t = 1, requires = "checkpoint", help_heading = "Files")]
    pub(crate) checkpoint_every: u64,
    /// Go on from this checkpoint, with the same data and options
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) resume: Option<PathBuf>,
    /// Write records of the run here, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) log: Option<PathBuf>,
    /// Records to standard output, as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
