//! What has been run: `runs.jsonl`, one line per run, written when a run ends. A run is known by its *key*, a digest of its
//! command line, of what every file it names holds, and of the program, so a comparison goes on where it stopped and
//! never shows a curve of other data or of an older program.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::flags::refused;

/// A run that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) key: String,
    /// The same without the program.
    pub(super) work: String,
    /// As it would be typed.
    pub(super) command: String,
    pub(super) version: String,
    pub(super) machine: String,
    /// When it ended, in seconds since 1970.
    pub(super) ended: u64,
    /// Why there is no model.
    pub(super) failed: Option<String>,
    /// The records of `--log`, as they are.
    pub(super) start: Value,
    pub(super) passes: Vec<Value>,
    pub(super) end: Value,
    /// On test data.
    pub(super) scores: serde_json::Map<String, Value>,
    /// Weights that are not 0.
    pub(super) weights: Option<u64>,
    /// CPU seconds of training and of prediction, where another program did it.
    pub(super) rival_seconds: Option<(f64, f64)>,
}

/// The folder of a comparison.
pub(super) struct Store {
    pub(super) folder: PathBuf,
    lines: HashMap<String, Line>,
    /// By work alone: those of other builds.
    old: HashMap<String, Line>,
    keep_old: bool,
    /// Held while it lives.
    _lock: File,
    digests: HashMap<PathBuf, String>,
    /// This program.
    program: String,
}

const RUNS: &str = "runs.jsonl";
/// How folders of runs begin that are under way.
pub(super) const AT_WORK: &str = ".run-";

impl Store {
    /// Opens a folder, which is made if there is none.
    ///
    /// # Errors
    /// A folder that cannot be written, or that another comparison is at work in.
    pub(super) fn open(folder: &Path, keep_old: bool) -> anyhow::Result<Store> {
        let place = |path: &Path| format!("-o {}", path.display());
        if folder.exists() && !folder.is_dir() {
            return Err(refused(format!("{}: this is a file, and a folder is wanted", place(folder))));
        }
        for path in [folder.to_owned(), folder.join("predictions"), folder.join("logs")] {
            std::fs::create_dir_all(&path).with_context(|| place(&path))?;
        }
        let lock = File::create(folder.join(".lock")).with_context(|| place(folder))?;
        if lock.try_lock().is_err() {
            return Err(refused(format!("{}: another comparison is at work in this folder", place(folder))));
        }
        // What was at work when somebody ended the program left its files.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(AT_WORK) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let program = digest(&std::env::current_exe()?)?;
        let (mut lines, mut old) = (HashMap::new(), HashMap::new());
        // A last line that was cut short is a run that did not end.
        let text = std::fs::read_to_string(folder.join(RUNS)).unwrap_or_default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            old.insert(line.work.clone(), line.clone());
            lines.insert(line.key.clone(), line);
        }
        Ok(Store {
            folder: folder.to_owned(),
            lines,
            old,
            keep_old,
            _lock: lock,
            digests: HashMap::new(),
            program,
        })
    }

    /// The key of a run, and of its work, from its command line and the files that it reads.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn key(&mut self, command: &str, files: &[PathBuf]) -> anyhow::Result<(String, String)> {
        let mut text = command.to_owned();
        for file in files {
            if !self.digests.contains_key(file) {
                self.digests.insert(file.clone(), digest(file)?);
            }
            text.push('\n');
            text.push_str(&self.digests[file]);
        }
        let work = format!("{:032x}", xxh3_128(text.as_bytes()));
        Ok((format!("{:032x}", xxh3_128(format!("{work}{}", self.program).as_bytes())), work))
    }

    /// The run with this key, if it has ended.
    pub(super) fn get(&self, (key, work): &(String, String)) -> Option<&Line> {
        self.lines.get(key).or_else(|| self.old.get(work).filter(|_| self.keep_old))
    }

    /// Keeps a run, on disk too.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn add(&mut self, line: Line) -> anyhow::Result<()> {
        let path = self.folder.join(RUNS);
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        let mut file = File::options().create(true).append(true).read(true).open(&path)?;
        // Behind a line that was cut short a new one begins.
        let length = file.metadata()?.len();
        if length > 0 {
            let mut last = [0];
            std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(length - 1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                text.insert(0, '\n');
            }
        }
        file.write_all(text.as_bytes()).with_context(|| path.display().to_string())?;
        self.lines.insert(line.key.clone(), line);
        Ok(())
    }

    /// Where the labels that a run found are kept.
    pub(super) fn prediction(&self, key: &str) -> PathBuf {
        self.folder.join("predictions").join(format!("{key}.txt"))
    }
}

/// XXH3 of a file.
fn digest(path: &Path) -> anyhow::Result<String> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let (mut hash, mut bytes) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes).with_context(|| path.display().to_string())? {
            0 => return Ok(format!("{:032x}", hash.digest128())),
            n => hash.update(&bytes[..n]),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn line(key: &(String, String)) -> Line {
        Line {
            key: key.0.clone(),
            work: key.1.clone(),
            command: "c".to_owned(),
            version: String::new(),
            machine: String::new(),
            ended: 0,
            failed: None,
            start: Value::Null,
            passes: vec![],
            end: Value::Null,
            scores: serde_json::Map::new(),
            weights: None,
            rival_seconds: None,
        }
    }

    #[test]
    fn runs_are_found_again_and_a_line_cut_short_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.txt");
        std::fs::write(&file, "one").unwrap();
        let key = |store: &mut Store, command: &str| store.key(command, std::slice::from_ref(&file)).unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        assert!(Store::open(folder.path(), false).is_err(), "locked");
        let (a, b) = (key(&mut store, "a"), key(&mut store, "b"));
        assert_ne!(a.0, b.0);
        store.add(line(&a)).unwrap();
        store.add(line(&b)).unwrap();
        drop(store);
        let runs = folder.path().join(RUNS);
        let text = std::fs::read_to_string(&runs).unwrap();
        std::fs::write(&runs, &text[..text.len() - 5]).unwrap();
        let mut store = Store::open(folder.path(), false).unwrap();
        assert!(store.get(&a).is_some() && store.get(&b).is_none());
        store.add(line(&b)).unwrap();
        drop(store);
        let mut store = Store::open(folder.path(), false).unwrap();
        assert!(store.get(&a).is_some() && store.get(&b).is_some());
        // Other data, another key.
        std::fs::write(&file, "two").unwrap();
        store.digests.clear();
        assert_ne!(key(&mut store, "a"), a);
    }
}
