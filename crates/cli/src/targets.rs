//! Files that a run will write: found unfit before anything is read, and never one that it reads.

use std::path::{Path, PathBuf};

use seqoia::data::part::Part;

use crate::flags::{TrainArgs, refused};

/// Refuses files that cannot be written, that two options name, or that hold input.
///
/// # Errors
/// A sentence that names the options.
pub(crate) fn check(args: &TrainArgs) -> anyhow::Result<()> {
    let (run, label) = (&args.run, &args.label);
    let mut written = vec![];
    for (flag, file) in [("-m", &run.model), ("--checkpoint", &run.checkpoint), ("--log", &run.log)] {
        written.extend(file.iter().map(|f| (flag, f.as_path())));
    }
    let mut others = vec![];
    others.extend(args.data.iter().map(|f| ("the data", f.as_path())));
    others.extend(label.templates.template.iter().map(|f| ("-t", f.as_path())));
    others.extend(label.templates.patterns.iter().map(|f| ("-p", f.as_path())));
    others.extend(label.gazetteer.iter().map(|f| ("--gazetteer", f.as_path())));
    others.extend(label.raw_text.iter().map(|f| ("--raw-text", f.as_path())));
    others.extend(label.rules.iter().map(|f| ("--rules", Path::new(f))));
    for (flag, file) in [
        ("--dev", &run.dev),
        ("--warm-start", &run.warm_start),
        ("--resume", &run.resume),
        ("--clusters", &label.clusters),
        ("--dictionary", &label.dictionary),
        ("--lexicon", &label.lexicon),
    ] {
        others.extend(file.iter().map(|f| (flag, f.as_path())));
    }
    if args.data.is_none() {
        others.push(("the data", Path::new("-")));
    }
    one_reader(&others)?;
    apart(&written, &others)
}

/// Refuses standard input for two of the files that are read: each would get a part of it.
///
/// # Errors
/// A sentence that names the options.
pub(crate) fn one_reader(read: &[(&str, &Path)]) -> anyhow::Result<()> {
    let mut readers = read.iter().filter(|(_, file)| file.as_os_str() == "-").map(|(flag, _)| flag);
    match (readers.next(), readers.next()) {
        (Some(first), Some(second)) => Err(refused(format!(
            "{first} and {second} are both standard input, which can be read once; name a file"
        ))),
        _ => Ok(()),
    }
}

/// Refuses files to be written, each with its option, that cannot be, or that are another one or one of those
/// that are read.
///
/// # Errors
/// A sentence that names the options.
pub(crate) fn apart(written: &[(&str, &Path)], read: &[(&str, &Path)]) -> anyhow::Result<()> {
    for (flag, file) in written {
        writable(flag, file)?;
    }
    for (i, (flag, file)) in written.iter().enumerate() {
        for (other, theirs) in written[i + 1..].iter().chain(read) {
            // A checkpoint may follow the one that the run goes on from, a model the one it starts from.
            let follows = matches!((*flag, *other), ("--checkpoint", "--resume") | ("-m", "--warm-start"));
            if !follows && place(file).is_some_and(|place| Some(place) == self::place(theirs)) {
                let file = file.display();
                return Err(refused(format!(
                    "{flag} and {other} name the same file, {file}, which would be lost; name another"
                )));
            }
        }
    }
    Ok(())
}

fn writable(flag: &str, file: &Path) -> anyhow::Result<()> {
    let folder = folder(file);
    let slash = file.to_string_lossy().ends_with(std::path::is_separator);
    let what = if file.as_os_str() == "-" {
        "it cannot go to standard output; name a file".to_owned()
    } else if file.is_dir() || slash {
        "this is a folder; name the file".to_owned()
    } else if !folder.is_dir() {
        format!("there is no folder {}", folder.display())
    } else if file.metadata().is_ok_and(|m| !m.is_file()) {
        return Ok(()); // a pipe or a device
    } else {
        // To know after an hour of training would be late.
        return Ok(seqoia::check_target(file).map_err(seqoia::Error::from)?);
    };
    Err(refused(format!("{flag} {}: {what}", file.display())))
}

/// Where a file lies.
pub(crate) fn folder(file: &Path) -> &Path {
    file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a file is or will be, however it is spelled; none for pipes, devices and what cannot be found.
fn place(file: &Path) -> Option<PathBuf> {
    if file.metadata().is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let whole = Part::split(file).ok().flatten().map(|(whole, _)| whole);
    let file = whole.as_deref().unwrap_or(file);
    file.canonicalize().ok().or_else(|| Some(folder(file).canonicalize().ok()?.join(file.file_name()?)))
}
