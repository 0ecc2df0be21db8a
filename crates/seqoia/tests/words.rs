//! Programs get the texts of the library, too, and they have no command line: no text of a library crate names a flag or
//! a command. An option is a plain name in backquotes, see `seqoia_core::BadOption`.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use seqoia_testkit::sources::{library, literals};

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
    let (mut seen, mut wrong) = (0, vec![]);
    for (path, text) in library() {
        for (line, literal) in literals(&text) {
            seen += 1;
            if let Some(what) = of_command_line(&literal) {
                wrong.push(format!("{}:{line}: {what}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these are words of the command line:\n{}", wrong.join("\n"));
    assert!(seen > 1000, "{seen} literals are too few to be all");
}

#[test]
fn words_of_the_command_line_are_found() {
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
