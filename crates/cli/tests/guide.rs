//! Runs every command of GUIDE.md, in order, in one empty folder, and compares what it prints; see `runs`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

mod runs;

use std::ops::Range;
use std::path::{Path, PathBuf};

use runs::{blocks, like, root, same};

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn every_command_of_the_guide_prints_what_the_guide_says() {
    let folder = tempfile::tempdir().unwrap();
    runs::check(&root().join("GUIDE.md"), folder.path());
}

#[test]
fn the_program_of_the_guide_is_the_one_that_the_library_tests() {
    let (guide, library) = (read("GUIDE.md"), read("crates/seqoia/src/lib.rs"));
    let lines: Vec<&str> = guide.lines().collect();
    let docs = library.lines().map_while(|line| line.strip_prefix("//!"));
    let docs: Vec<&str> = docs.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let programs = |lines: &[&str], kind: &str| -> Vec<String> {
        let blocks = blocks(lines).into_iter().filter(|block| block.0 == kind);
        // rustdoc hides the lines that start with `# `.
        let shown = |range: Range<usize>| lines[range].iter().copied().filter(|line| !line.starts_with("# "));
        blocks.map(|(_, range)| shown(range).collect::<Vec<_>>().join("\n")).collect()
    };
    assert_eq!(programs(&lines, "rust"), programs(&docs, ""));
}

/// The Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn files_and_targets_that_documents_name_exist() {
    let (makefile, mut files) = (read("Makefile"), vec![]);
    ["crates", "experiments"].iter().for_each(|folder| sources(&root().join(folder), &mut files));
    for document in ["GUIDE.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        for name in read(document).split('`').skip(1).step_by(2).filter(|name| !name.contains("NAME")) {
            let is_path = ["crates/", "experiments/", "tests/", ".ci/"].iter().any(|f| name.starts_with(f));
            if name.contains([' ', '*', '\n']) {
                if let Some(target) = name.strip_prefix("make ") {
                    assert!(makefile.contains(&format!("\n{target}:")), "{document} names {name}");
                }
            } else if is_path {
                assert!(root().join(name).exists(), "{document} names {name}");
            } else if name.ends_with(".rs") {
                // Shortened where the place is clear: `chain/beam.rs`.
                assert!(files.iter().any(|file| file.ends_with(name)), "{document} names {name}");
            }
        }
    }
}

#[test]
fn wildcards_match_what_they_should() {
    assert!(like("a [..] c", "a b c") && like("[..]", "") && like("a[..]", "a") && like("é[..]é", "éxé"));
    assert!(!like("a [..] c", "a b d") && !like("a", "ab"));
    assert!(like("a    [..]", "a  1,000") && !like("a    [..]", "ab"));
    assert!(same(&["a", "...", "z"], &["a", "b", "c", "z"]) && same(&["..."], &[]));
    assert!(!same(&["a"], &["a", "b"]) && !same(&["a", "b"], &["a"]));
}
