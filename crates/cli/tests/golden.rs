//! Command runs with their exact output: one document a file in `tests/golden`, run in a copy of the folder
//! `NAME.in`; the files of `NAME.out` must then stand in it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

mod runs;

use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn check(name: &str) {
    let (golden, folder) = (runs::root().join("tests/golden"), tempfile::tempdir().unwrap());
    for file in files(&golden.join(format!("{name}.in"))) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    runs::check(&golden.join(format!("{name}.runs")), folder.path());
    for wanted in files(&golden.join(format!("{name}.out"))) {
        let found = folder.path().join(wanted.file_name().unwrap());
        if runs::overwrite() {
            std::fs::copy(&found, &wanted).unwrap();
        }
        let read = |path: &Path| std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(read(&found) == read(&wanted), "{} is another one now", wanted.display());
    }
}

macro_rules! documents {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_document_is_run() {
            let mut names: Vec<String> = files(&runs::root().join("tests/golden"))
                .iter()
                .filter(|file| file.extension().is_some_and(|e| e == "runs"))
                .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            names.sort();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

documents!(chinese errors eval first formats help labels look patterns recipes rerank sabotage settings work wrong);
