//! `seqoia predict`.

use std::path::PathBuf;

use clap::Args;
use seqoia::data::format::Kind;

use super::formats;

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia predict -m chunk.seqoia test.txt.gz > out.txt && seqoia eval out.txt

Column files get the label as a further column; in CoNLL-U it stands in the
column that the model was trained on, in other formats in its own place.")]
pub(crate) struct PredictArgs {
    /// Data to label; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// The model
    #[arg(short, long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Format of the data [default: that of the training data]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Kind>,
    /// Keep to the labels that the data has; MARK [_] stands where none is known
    #[arg(long, value_name = "MARK", num_args = 0..=1, require_equals = true, default_missing_value = "_")]
    pub(crate) given: Option<String>,
    /// Which labels may follow each other, instead of the model's rules: bio, iobes or another scheme, or
    /// a file with lines such as `forbid O I-PER`
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<String>,
    /// With the probability of each label
    #[arg(long)]
    pub(crate) marginals: bool,
    /// The K best labellings, each under a line `# rank probability`
    #[arg(long, value_name = "K", conflicts_with = "marginals")]
    pub(crate) nbest: Option<usize>,
    /// One JSON object a sentence; goes with --marginals or --nbest. Where marginals are in another
    /// label scheme than the labels, `scheme` names it
    #[arg(long)]
    pub(crate) json: bool,
    /// A page with the text and its labels in colour, and probabilities under the pointer
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,
    /// Answer each sentence as soon as it has been read: for a program that waits at the other end of a pipe
    #[arg(long)]
    pub(crate) flush: bool,
    /// At most N threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
