//! Flags and commands of CRF++, CRFsuite and Wapiti that a hand still types: what they are called here.

use std::borrow::Cow;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use seqoia_report::visible;

use crate::flags::refused;
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
    ("--epochs", "epochs are --passes here"),
    ("--iterations", "iterations are --passes here, or --max-passes"),
    ("--max-iterations", "iterations are --passes here, or --max-passes"),
    ("--max_iterations", "iterations are --passes here, or --max-passes"),
    ("--algorithm", "the algorithm is --learner here; --learner list shows all"),
    ("--lr", "the learning rate is --rate here"),
    ("--learning-rate", "the learning rate is --rate here"),
    ("--output", "train writes to -m FILE, all else to standard output"),
    ("--test", "test data is for predict and eval; dev data is --dev here"),
    ("--all-possible-transitions", "label pairs that do not occur have weights with --pairs all"),
    ("--all_possible_transitions", "label pairs that do not occur have weights with --pairs all"),
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
pub(crate) fn check_file(flag: &str, path: &Path) -> anyhow::Result<()> {
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return Ok(()) };
    let here = match (flag, text.parse::<u32>()) {
        ("-t", Ok(_)) => "Wapiti's -t is --threads here",
        (_, Ok(_)) => "CRF++'s -p is --threads here",
        _ if flag == "-p" && text.contains('=') => {
            "CRFsuite's parameters are options here, see docs/migrate/crfsuite.md"
        }
        _ => return Ok(()),
    };
    Err(refused(format!("{flag} {text}: there is no such file; {here}")))
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
            let meant = |flag: &str| match flag.starts_with("--") {
                true => typed == flag,
                false => typed.starts_with(flag) && !typed.starts_with("--"),
            };
            let (flag, here) = FLAGS.iter().find(|(flag, _)| meant(flag))?;
            Some(format!("there is no {flag}: {here}; docs/migrate has all of them"))
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
