//! Flags and commands of CRF++, CRFsuite and Wapiti that a hand still types: what they are called here.

use std::borrow::Cow;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use seqoia_report::visible;

use crate::screen;

/// Flag elsewhere, and its name here.
const FLAGS: &[(&str, &str)] = &[
    ("-c", "CRF++'s -c is -C here, CRFsuite's -p c2=X is --c2 X"),
    ("-f", "CRF++'s -f is --cutoff here"),
    ("-p", "CRFsuite's and Wapiti's -p is --marginals here"),
    ("-a", "-a is --learner here; --learner list shows all"),
    ("-e", "CRF++'s -e is --tolerance here"),
    ("-v", "CRF++'s -v1 is --marginals here"),
    ("-n", "CRF++'s -n is --nbest here"),
    ("-i", "CRFsuite's -i is --marginals here, Wapiti's --max-passes"),
    ("-d", "Wapiti's -d is --dev here"),
    ("-o", "output goes to standard output: write > FILE"),
    ("-l", "labels are always in the output; eval scores them"),
];

/// Command elsewhere, and its name here.
const COMMANDS: &[(&str, &str)] = &[
    ("learn", "train"),
    ("crf_learn", "train"),
    ("tag", "predict"),
    ("label", "predict"),
    ("test", "predict"),
    ("crf_test", "predict"),
    ("dump", "inspect"),
];

/// Refuses what other tools mean by `-t` and `-p` of `train`: numbers of threads, parameters.
///
/// # Errors
/// A sentence with what it is called here.
pub(crate) fn check_file(flag: &str, path: &Path) -> seqoia::Result<()> {
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return Ok(()) };
    let here = match (flag, text.parse::<u32>()) {
        ("-t", Ok(_)) => "Wapiti's -t is --threads here",
        (_, Ok(_)) => "CRF++'s -p is --threads here",
        _ if flag == "-p" && text.contains('=') => {
            "CRFsuite's parameters are options here, see \"Replace CRFsuite\" in GUIDE.md"
        }
        _ => return Ok(()),
    };
    Err(seqoia::Error::Option(format!("{flag} {text}: there is no such file; {here}")))
}

/// Tells the error, with a word about old habits, and ends the program as clap does.
pub(crate) fn exit(error: &clap::Error) -> ! {
    if let Some(hint) = hint(error) {
        screen::error(&hint);
        std::process::exit(2);
    }
    // What was typed is part of the text, which is coloured; without colours, all that is left of them is foreign.
    let odd = |typed: std::ffi::OsString| matches!(visible(&typed.to_string_lossy()), Cow::Owned(_));
    if error.use_stderr() && std::env::args_os().any(odd) {
        screen::note(&error.render().to_string());
        std::process::exit(2);
    }
    error.exit()
}

fn hint(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = text(ContextKind::InvalidArg)?;
            let (flag, here) =
                FLAGS.iter().find(|(flag, _)| typed.starts_with(flag) && !typed.starts_with("--"))?;
            Some(format!("there is no {flag}: {here}; \"Replace CRF++\" in GUIDE.md has all of them"))
        }
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand)?;
            let (command, here) = COMMANDS.iter().find(|(command, _)| *command == typed)?;
            Some(format!(
                "there is no command {command}: it is `seqoia {here}` here; see seqoia {here} --help"
            ))
        }
        _ => None,
    }
}
