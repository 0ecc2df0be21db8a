//! `seqoia demo`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia demo --save demo     # and then use the files with train and predict")]
pub(crate) struct DemoArgs {
    /// Sentences to train on
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) sentences: usize,
    /// Random seed of the sentences
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write train.txt, test.txt, template.crfpp and the model into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) save: Option<PathBuf>,
    /// At most N threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}
