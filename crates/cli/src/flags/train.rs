//! `seqoia train`: groups of options, those of one task among them.

use std::path::PathBuf;

use clap::Args;

use super::{LabelArgs, LearnArgs, RunArgs};

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia train -t template.crfpp --learner averaged-perceptron \\
      --dev dev.txt.gz -m chunk.seqoia train.txt.gz
  seqoia train --features pos --label xpos -m pos.seqoia en-train.conllu

Files may be plain, gzip, xz or zstd; - is standard input.")]
pub(crate) struct TrainArgs {
    /// Training data, in any format that --format names; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) label: LabelArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}
