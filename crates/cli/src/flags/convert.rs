//! `seqoia convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seqoia::data::format::Kind;

use super::{TemplateArgs, formats};

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia convert --to crfsuite -t template.crfpp train.txt.gz > train.crfsuite
  seqoia convert --scheme iobes train.txt > iobes.txt
  seqoia convert big.seqoia --prune 0.05 --weights f16 -m small.seqoia
  seqoia inspect big.seqoia --text > big.txt
  seqoia convert big.txt -m same.seqoia")]
pub(crate) struct ConvertArgs {
    /// Data to rewrite, a model, or the text of one; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// Where to write the model that is made of a model, or of what `inspect --text` wrote
    #[arg(short, long, value_name = "FILE",
        conflicts_with_all = ["from", "to", "scheme", "scheme_from", "template", "patterns", "features", "label"])]
    pub(crate) model: Option<PathBuf>,
    /// Leave out weights of attributes below X, and attributes that have no others
    #[arg(
        long,
        value_name = "X",
        requires = "model",
        allow_negative_numbers = true,
        help_heading = "Smaller models"
    )]
    pub(crate) prune: Option<f32>,
    /// How weights are stored: f32, f16, i8 [default: as before]
    #[arg(long, value_name = "BITS", requires = "model", help_heading = "Smaller models")]
    pub(crate) weights: Option<BitsName>,
    /// Labelled data: says what the score was and is
    #[arg(long, value_name = "FILE", requires = "model", help_heading = "Smaller models")]
    pub(crate) dev: Option<PathBuf>,
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) from: Option<Kind>,
    /// Format to write [default: that of the data]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) to: Option<Kind>,
    /// Label scheme of the data, if it is not to be recognised
    #[arg(long, value_name = "SCHEME", requires = "scheme")]
    pub(crate) scheme_from: Option<String>,
    /// Label scheme to write: iob1, iob2, iobes, bmes, bie [default: that of the data]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    #[command(flatten)]
    pub(crate) templates: TemplateArgs,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last; to
    /// CoNLL-U: upos]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum BitsName {
    F32,
    F16,
    I8,
}
