//! Runs the commands of a document and compares what they print, to the letter.
//!
//! A `console` block, or one without a name, has commands behind `$ `, continued behind `> `; then `? CODE` if the
//! command is to fail; then its output, errors included. A `sh` block is run as it stands and must succeed, and so
//! must a `python` block; where there is no Python, a document with such blocks is not run. In an output, `[..]`
//! stands for anything within a line, with as many blanks before it as a wide number leaves, and a line `...` for
//! any lines: for times, threads and memory. `OVERWRITE=1` puts what was printed into the document and keeps the
//! lines that still fit.
//!
//! By hand, since trycmd takes backslashes for slashes and starts programs without a shell.

#![allow(dead_code)] // each test program uses some of it
#![allow(clippy::print_stderr)] // a document that is not run is named

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The fenced blocks of a document: kind, and lines between the fences.
pub(crate) fn blocks<'a>(lines: &[&'a str]) -> Vec<(&'a str, Range<usize>)> {
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

/// A command of a document.
struct Step {
    line: usize, // of the document, from 1
    script: String,
    code: i32,
    code_at: Option<usize>,       // line that has it
    output: Option<Range<usize>>, // lines of the document; none if it is not looked at
    last: bool,                   // of its block
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps = vec![];
    for (kind, range) in blocks(lines) {
        let mut i = range.start;
        match kind {
            "console" | "" => {
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
                    let (mut code, mut code_at) = (0, None);
                    if let Some(given) = lines[i].strip_prefix("? ") {
                        (code, code_at) = (given.parse().unwrap(), Some(i));
                        i += 1;
                    }
                    let start = i;
                    while i < range.end && !lines[i].starts_with("$ ") {
                        i += 1;
                    }
                    let output = Some(start..i);
                    steps.push(Step { line, script, code, code_at, output, last: i == range.end });
                }
            }
            "sh" => {
                let script = format!("set -e\n{}", lines[range].join("\n"));
                steps.push(Step { line: i, script, code: 0, code_at: None, output: None, last: true });
            }
            "python" => {
                let script =
                    format!("python3 - <<'END_OF_PROGRAM'\n{}\nEND_OF_PROGRAM", lines[range].join("\n"));
                steps.push(Step { line: i, script, code: 0, code_at: None, output: None, last: true });
            }
            "rust" | "text" => (), // the first is compared elsewhere, the second holds no commands
            other => panic!("line {i}: blocks are console, sh, python, rust or text, not '{other}'"),
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
pub(crate) fn like(pattern: &str, line: &str) -> bool {
    let Some((head, tail)) = pattern.split_once("[..]") else { return pattern == line };
    let word = head.trim_end_matches(' ');
    let Some(rest) = line.strip_prefix(word) else { return false };
    if word.len() < head.len() && !rest.starts_with(' ') {
        return false;
    }
    (0..=rest.len()).filter(|&i| rest.is_char_boundary(i)).any(|i| like(tail, &rest[i..]))
}

/// Whether all lines are as the patterns say.
pub(crate) fn same(patterns: &[&str], lines: &[&str]) -> bool {
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

/// Runs a document's commands in a folder.
pub(crate) fn check(document: &Path, folder: &Path) {
    let text = std::fs::read_to_string(document).unwrap_or_else(|e| panic!("{}: {e}", document.display()));
    let name = document.strip_prefix(root()).unwrap_or(document).to_string_lossy().into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let mut new: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    if blocks(&lines).iter().any(|block| block.0 == "python") && run("python3 --version", folder).0 != 0 {
        eprintln!("{name} is not run: there is no python3");
        return;
    }
    let (mut wrong, mut changed) = (vec![], vec![]);
    for step in steps(&lines) {
        let (code, printed) = run(&step.script, folder);
        let place = format!("{name}:{}: {}", step.line, step.script);
        if code != step.code {
            wrong.push(format!("{place}\nexit code {code}, expected {}\n{printed}", step.code));
            step.code_at.into_iter().for_each(|at| new[at] = format!("? {code}"));
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
    if overwrite() {
        changed.into_iter().rev().for_each(|(range, lines)| drop(new.splice(range, lines)));
        std::fs::write(document, new.join("\n") + "\n").unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Whether documents are to be written anew.
pub(crate) fn overwrite() -> bool {
    std::env::var_os("OVERWRITE").is_some()
}
