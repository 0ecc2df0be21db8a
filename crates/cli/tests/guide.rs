//! Runs every command of GUIDE.md, in order, in one empty folder, and compares what it prints.
//!
//! A `console` block has commands behind `$ `, continued behind `> `; then `? CODE` if the command is to fail;
//! then its output, errors included. A `sh` block is run as it stands and must succeed. In an output, `[..]`
//! stands for anything within a line, with as many blanks before it as a wide number leaves, and a line `...`
//! for any lines: for times, threads and memory.
//!
//! trycmd, which runs `tests/golden`, starts programs without a shell, and the guide has pipes and
//! here-documents; hence this file. As there, `TRYCMD=overwrite` puts what was printed into the guide and
//! keeps the lines that still fit.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The fenced blocks of a document: kind, and lines between the fences.
fn blocks<'a>(lines: &[&'a str]) -> Vec<(&'a str, Range<usize>)> {
    let mut blocks = vec![];
    let mut open = None;
    for (i, line) in lines.iter().enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            match open.take() {
                None => open = Some((kind, i + 1)),
                Some((kind, start)) => blocks.push((kind, start..i)),
            }
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A command of the guide.
struct Step {
    line: usize, // of the guide, from 1
    script: String,
    code: i32,
    output: Option<Range<usize>>, // lines of the guide; none if it is not looked at
    last: bool,                   // of its block
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps = vec![];
    for (kind, range) in blocks(lines) {
        let mut i = range.start;
        match kind {
            "console" => {
                while i < range.end {
                    let line = i + 1;
                    let command = lines[i].strip_prefix("$ ");
                    let mut script = command.unwrap_or_else(|| panic!("line {line}: no command")).to_owned();
                    i += 1;
                    while let Some(more) = lines[i].strip_prefix("> ") {
                        script.push('\n');
                        script.push_str(more);
                        i += 1;
                    }
                    let mut code = 0;
                    if let Some(given) = lines[i].strip_prefix("? ") {
                        code = given.parse().unwrap();
                        i += 1;
                    }
                    let start = i;
                    while i < range.end && !lines[i].starts_with("$ ") {
                        i += 1;
                    }
                    steps.push(Step { line, script, code, output: Some(start..i), last: i == range.end });
                }
            }
            "sh" => {
                let script = format!("set -e\n{}", lines[range].join("\n"));
                steps.push(Step { line: i, script, code: 0, output: None, last: true });
            }
            "rust" | "text" => (), // the first is compared below, the second holds no commands
            other => panic!("line {i}: blocks are console, sh, rust or text, not '{other}'"),
        }
    }
    steps
}

/// Exit code and output of a script.
fn run(script: &str, folder: &Path) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_seqoia"));
    let mut path = vec![program.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let done = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{script}"))
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (done.status.code().unwrap_or(-1), String::from_utf8(done.stdout).unwrap())
}

/// Whether a line is as the pattern says.
fn like(pattern: &str, line: &str) -> bool {
    let Some((head, tail)) = pattern.split_once("[..]") else { return pattern == line };
    let word = head.trim_end_matches(' ');
    let Some(rest) = line.strip_prefix(word) else { return false };
    if word.len() < head.len() && !rest.starts_with(' ') {
        return false;
    }
    (0..=rest.len()).filter(|&i| rest.is_char_boundary(i)).any(|i| like(tail, &rest[i..]))
}

/// Whether all lines are as the patterns say.
fn same(patterns: &[&str], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((&"...", patterns)) => (0..=lines.len()).any(|i| same(patterns, &lines[i..])),
        Some((pattern, patterns)) => {
            lines.split_first().is_some_and(|(line, lines)| like(pattern, line) && same(patterns, lines))
        }
    }
}

/// Without the empty lines at the end.
fn trimmed(mut lines: Vec<&str>) -> Vec<&str> {
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |i| i + 1));
    lines
}

#[test]
fn every_command_of_the_guide_prints_what_the_guide_says() {
    let guide = read("GUIDE.md");
    let lines: Vec<&str> = guide.lines().collect();
    let mut new: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut changed) = (vec![], vec![]);
    for step in steps(&lines) {
        let (code, printed) = run(&step.script, folder.path());
        let place = format!("GUIDE.md:{}: {}", step.line, step.script);
        if code != step.code {
            wrong.push(format!("{place}\nexit code {code}, expected {}\n{printed}", step.code));
        }
        let Some(range) = step.output else { continue };
        let (expected, got) = (trimmed(lines[range.clone()].to_vec()), trimmed(printed.lines().collect()));
        if !same(&expected, &got) {
            wrong.push(format!("{place}\n--- expected\n{}\n--- printed\n{printed}", expected.join("\n")));
            let kept = |line| expected.iter().find(|pattern| like(pattern, line)).copied().unwrap_or(line);
            let mut lines: Vec<String> = got.into_iter().map(|line| kept(line).to_owned()).collect();
            lines.extend((!step.last).then(String::new));
            changed.push((range, lines));
        }
    }
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        changed.into_iter().rev().for_each(|(range, lines)| drop(new.splice(range, lines)));
        std::fs::write(root().join("GUIDE.md"), new.join("\n") + "\n").unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
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
