//! `seqoia completions` and `seqoia man`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia completions bash > ~/.local/share/bash-completion/completions/seqoia")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia man ~/.local/share/man/man1 && man seqoia-train")]
pub(crate) struct ManArgs {
    /// Where the pages go
    pub(crate) folder: PathBuf,
}
