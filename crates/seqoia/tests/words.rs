//! Programs get the texts of the library, too, and they have no command line: no text of a library crate names a flag or
//! a command. An option is a plain name in backquotes, see `seqoia_core::BadOption`.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::path::{Path, PathBuf};

/// The crates that are not a program.
const LIBRARY: [&str; 9] =
    ["core", "structures", "learners", "strategies", "data", "model", "eval", "report", "seqoia"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_name().unwrap() != "tests.rs" {
            found.push(path);
        }
    }
}

/// The string literals of a source text, each with its line; not those of comments, nor of the tests at its end.
fn literals(text: &str) -> Vec<(usize, String)> {
    let end = text.find("mod tests {").unwrap_or(text.len());
    let (mut found, mut rest) = (vec![], &text[..end]);
    let after = |rest: &str, end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
    while let Some(first) = rest.chars().next() {
        let raw = rest.strip_prefix('r').map(|r| (r.trim_start_matches('#'), r));
        let raw = raw.filter(|(quoted, _)| quoted.starts_with('"')).map(|(quoted, r)| r.len() - quoted.len());
        let taken = if rest.starts_with("//") {
            after(rest, "\n")
        } else if rest.starts_with("/*") {
            after(rest, "*/")
        } else if let Some(hashes) = raw {
            let start = hashes + 2;
            start + after(&rest[start..], &format!("\"{}", "#".repeat(hashes)))
        } else if first == '"' {
            let mut escaped = false;
            let close = rest[1..].find(|c| {
                let open = escaped || c != '"';
                escaped = c == '\\' && !escaped;
                !open
            });
            close.map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            after(&rest[1..], "'") + 1
        } else {
            rest = &rest[first.len_utf8()..];
            continue;
        };
        if first == '"' || raw.is_some() {
            let line = text[..end - rest.len()].matches('\n').count() + 1;
            found.push((line, rest[..taken].to_owned()));
        }
        rest = &rest[taken..];
    }
    found
}

/// What only the command line may say.
fn of_command_line(literal: &str) -> Option<&str> {
    let letter = |c: char| c.is_ascii_alphabetic();
    let flag = literal.match_indices("--").find(|(at, _)| literal[at + 2..].starts_with(letter));
    let command = literal.match_indices("seqoia ").find(|(at, _)| {
        let word = literal[at + 7..].split(|c| !letter(c)).next();
        matches!(word, Some("train" | "predict" | "eval" | "check" | "inspect" | "convert" | "demo"))
    });
    let variable = literal.match_indices("SEQOIA_").next();
    flag.or(command).or(variable).map(|(at, _)| &literal[at..])
}

#[test]
fn the_library_knows_no_flags_and_no_commands() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut all, mut seen, mut wrong) = (vec![], 0, vec![]);
    LIBRARY.iter().for_each(|name| files(&crates.join(name).join("src"), &mut all));
    for path in &all {
        for (line, literal) in literals(&std::fs::read_to_string(path).unwrap()) {
            seen += 1;
            if let Some(what) = of_command_line(&literal) {
                wrong.push(format!("{}:{line}: {what}", path.strip_prefix(crates).unwrap().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these are words of the command line:\n{}", wrong.join("\n"));
    assert!(seen > 1000, "{seen} literals are too few to be all");
}

#[test]
fn literals_are_found() {
    let text = "// \"a --b\"\nlet x = \"c \\\" --d\"; let q = '\"'; /* \"e\" */\nlet y = r#\"f \" g\"#;\n\"h\\\n  i\"\n\
                #[cfg(test)]\nmod tests {\nlet z = \"j\";";
    let found = literals(text);
    let found: Vec<_> = found.iter().map(|(line, literal)| (*line, literal.as_str())).collect();
    assert_eq!(found, [(2, "\"c \\\" --d\""), (3, "r#\"f \" g\"#"), (4, "\"h\\\n  i\"")]);
    for (literal, wanted) in [
        ("is --label right?", Some("--label right?")),
        ("by: seqoia train -m M", Some("seqoia train -m M")),
        ("SEQOIA_LIMIT=4G", Some("SEQOIA_LIMIT=4G")),
        ("`label` 7 -- or 8, a-b, --, ---", None),
        ("a seqoia model", None),
    ] {
        assert_eq!(of_command_line(literal), wanted);
    }
}
