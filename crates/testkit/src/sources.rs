//! The source texts of the library, for tests of what they say.

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
#[must_use]
pub fn literals(text: &str) -> Vec<(usize, String)> {
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

/// All source files of the library crates, by their place among the crates, and their texts.
#[must_use]
pub fn library() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = vec![];
    LIBRARY.iter().for_each(|name| files(&crates.join(name).join("src"), &mut all));
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    all.iter().map(|path| (path.strip_prefix(crates).unwrap().to_owned(), read(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[test]
    fn literals_are_found() {
        let text = "// \"a --b\"\nlet x = \"c \\\" --d\"; let q = '\"'; /* \"e\" */\nlet y = r#\"f \" g\"#;\n\"h\\\n  i\"\n\
                    #[cfg(test)]\nmod tests {\nlet z = \"j\";";
        let found = literals(text);
        let found: Vec<_> = found.iter().map(|(line, literal)| (*line, literal.as_str())).collect();
        assert_eq!(found, [(2, "\"c \\\" --d\""), (3, "r#\"f \" g\"#"), (4, "\"h\\\n  i\"")]);
    }
}
