//! `seqoia completions` and `seqoia man`: for shells and readers of manuals, from the declarations that
//! the parser itself uses.

use std::process::ExitCode;

use anyhow::Context;
use seqoia::Error;

use crate::flags::{CompletionsArgs, ManArgs};
use crate::screen;

pub(crate) fn completions(mut command: clap::Command, args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut command, "seqoia", &mut script);
    screen::result(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// A page for the program and one for each command.
pub(crate) fn man(mut command: clap::Command, args: &ManArgs) -> anyhow::Result<ExitCode> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    command.build();
    for command in std::iter::once(&command).chain(command.get_subcommands()) {
        let mut page = vec![];
        // Subcommands are called `seqoia train` once they are built.
        let name = command.get_display_name().unwrap_or(command.get_name()).replace(' ', "-");
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        let path = folder.join(format!("{name}.1"));
        seqoia::write_atomically(&path, &page).map_err(Error::from)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_flags() {
        let folder = tempfile::tempdir().unwrap();
        let args = ManArgs { folder: folder.path().join("man1") };
        man(crate::whole(), &args).unwrap();
        let page = |name: &str| std::fs::read_to_string(args.folder.join(name)).unwrap();
        assert!(page("seqoia.1").contains("seqoia\\-train(1)"));
        for command in crate::whole().get_subcommands() {
            assert!(page(&format!("seqoia-{}.1", command.get_name())).contains(".SH"));
        }
        // Flags of single learners, too.
        assert!(page("seqoia-train.1").contains("\\-\\-tolerance"));
    }
}
