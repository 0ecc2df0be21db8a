//! `seqoia inspect`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia inspect chunk.seqoia
  seqoia inspect -m chunk.seqoia --weights --label B-NP
  seqoia inspect -m pos.seqoia --why \"The quick brown fox jumps\"
  seqoia inspect -m ner.seqoia --why test.txt:17
  seqoia inspect -m chunk.seqoia --text > chunk.txt")]
pub(crate) struct InspectArgs {
    /// The model, with or without -m
    #[arg(value_name = "MODEL", required_unless_present = "model", conflicts_with = "model")]
    pub(crate) named: Option<PathBuf>,
    /// The model
    #[arg(short, long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// The N strongest weights for and against each label [10]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10")]
    pub(crate) weights: Option<usize>,
    /// The N strongest weights of label pairs [20]; all, as a matrix, if there are few labels
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    pub(crate) transitions: Option<usize>,
    /// This label only; with --why, what speaks for the label given and against this one
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Why a sentence is labelled as it is: its words between blanks (The/DT if the model reads more than the
    /// word), FILE:LINE for the sentence of a file that has this line, or - for sentences like the
    /// training data from standard input
    #[arg(long, value_name = "SENTENCE", conflicts_with_all = ["weights", "transitions"])]
    pub(crate) why: Option<String>,
    /// The whole model as text, which `convert -m` reads
    #[arg(long, conflicts_with_all = ["weights", "transitions", "why", "label", "json"])]
    pub(crate) text: bool,
    /// All of it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
