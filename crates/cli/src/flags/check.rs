//! `seqoia check`.

use std::path::PathBuf;

use clap::Args;
use seqoia::data::format::Kind;

use super::formats;

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia check train.txt.gz --dev dev.txt.gz
  seqoia check --label xpos en-train.conllu --dev en-dev.conllu

The exit code is 1 if there is an error; warnings are for a person to judge.")]
pub(crate) struct CheckArgs {
    /// Training data; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// Held-out data, to compare with
    #[arg(long, value_name = "FILE")]
    pub(crate) dev: Option<PathBuf>,
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Kind>,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Label scheme of the data, if it is not to be recognised: iob1, iob2, iobes, bmes, bie
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    /// Figures and findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
