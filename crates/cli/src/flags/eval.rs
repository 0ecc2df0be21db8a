//! `seqoia eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seqoia::data::format::Kind;

use super::formats;

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia eval out.txt
  seqoia eval --errors --bootstrap --train train.txt --html out.html out.txt
  seqoia eval --gold en-test.conllu --label xpos out.conllu
  seqoia eval --compare old.txt new.txt
  seqoia eval --metric sighan --gold gold.txt --words train.txt out.txt
  seqoia eval --gold lists.jsonl chosen.txt")]
pub(crate) struct EvalArgs {
    /// Predictions: the last two columns are gold and predicted; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// A file with the gold labels, if they do not stand beside the predicted ones
    #[arg(long, value_name = "FILE")]
    pub(crate) gold: Option<PathBuf>,
    /// Format of all files, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats(), conflicts_with = "metric")]
    pub(crate) format: Option<Kind>,
    /// Column of the label in all files, with --gold: a number from 0, or upos, xpos, ...
    #[arg(long, value_name = "COLUMN", requires = "gold")]
    pub(crate) label: Option<String>,
    /// The exact output of conlleval
    #[arg(long, conflicts_with = "json")]
    pub(crate) conlleval: bool,
    /// Labels have no prefixes: every token is a chunk (conlleval -r)
    #[arg(long)]
    pub(crate) raw: bool,
    /// Figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Scores of all labels that are no chunks, not of the 20 most frequent alone
    #[arg(long, conflicts_with_all = ["conlleval", "compare", "metric"])]
    pub(crate) all: bool,

    /// The N most frequent confusions [10], with lines
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", conflicts_with = "conlleval",
        help_heading = "A closer look")]
    pub(crate) errors: Option<CountOrFile>,
    /// Training data: scores of words that it has, and of others
    #[arg(long, value_name = "FILE", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) train: Option<PathBuf>,
    /// The 95 % interval of the score, from N bootstrap samples of the sentences [1000]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", conflicts_with = "conlleval",
        help_heading = "A closer look")]
    pub(crate) bootstrap: Option<CountOrFile>,
    /// Random seed of the samples [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) seed: Option<u64>,
    /// A page with tables and all sentences, those with errors first
    #[arg(long, value_name = "PAGE", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) html: Option<PathBuf>,

    /// Two prediction files of the same data, with --gold where it is not beside: is the second better?
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], help_heading = "Other questions",
        conflicts_with_all = ["data", "conlleval", "errors", "train", "html"])]
    pub(crate) compare: Vec<PathBuf>,
    /// Random swaps that the test of --compare makes [default: 9999]
    #[arg(long, value_name = "N", requires = "compare", help_heading = "Other questions")]
    pub(crate) shuffles: Option<usize>,
    /// Another metric; sighan: words of segmented text against those of --gold; cost: what was chosen from the
    /// lists of candidates of --gold
    #[arg(long, value_name = "NAME", help_heading = "Other questions",
        conflicts_with_all = ["compare", "label", "format", "conlleval", "raw", "errors", "train", "html"])]
    pub(crate) metric: Option<MetricName>,
    /// The words of the training text, a list or the text: scores of known and unknown words
    #[arg(long, value_name = "FILE", requires = "metric", help_heading = "Other questions")]
    pub(crate) words: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MetricName {
    Sighan,
    Cost,
}

/// What stands behind an option whose number may be left out: the number, or already the data.
#[derive(Clone, Debug)]
pub(crate) enum CountOrFile {
    Count(usize),
    File(PathBuf),
}

impl From<std::ffi::OsString> for CountOrFile {
    fn from(text: std::ffi::OsString) -> Self {
        match text.to_str().and_then(|text| text.parse().ok()) {
            Some(count) => CountOrFile::Count(count),
            None => CountOrFile::File(text.into()),
        }
    }
}
