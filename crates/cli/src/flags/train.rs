//! `seqoia train`: groups of options, those of one task among them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LabelArgs, LearnArgs, RunArgs};

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia train -t template.crfpp --learner averaged-perceptron \\
      --dev dev.txt.gz -m chunk.seqoia train.txt.gz
  seqoia train --features pos --label xpos -m pos.seqoia en-train.conllu
  seqoia train --task rerank -m best.seqoia lists.jsonl

Files may be plain, gzip, xz or zstd; - is standard input.")]
pub(crate) struct TrainArgs {
    /// Training data, in any format that --format names; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// What to learn: labels of sequences, or which candidate of a list to choose
    #[arg(long, value_enum, default_value_t = TaskName::Label)]
    pub(crate) task: TaskName,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) label: LabelArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum TaskName {
    Label,
    Rerank,
}
