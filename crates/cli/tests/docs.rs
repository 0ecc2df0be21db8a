//! Runs every command of every page below `docs`, each page in an empty folder of its own, and compares what it
//! prints; see `runs`. Also: pages are listed, links lead somewhere, and files that documents name exist.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

mod runs;

use std::ops::Range;
use std::path::{Path, PathBuf};

use runs::{blocks, like, root, same};

/// One test per page, so that pages run in parallel and a failure names its page.
macro_rules! pages {
    ($($test:ident: $path:literal,)+) => {
        const PAGES: &[&str] = &[$($path),+];

        mod page {
            $(
                #[test]
                fn $test() {
                    let folder = tempfile::tempdir().unwrap();
                    super::runs::check(&super::root().join("docs").join($path), folder.path());
                }
            )+
        }
    };
}

pages! {
    map: "README.md",
    cheat_sheet: "cheat-sheet.md",
    how_to_check_data: "how-to/check-data.md",
    how_to_compare: "how-to/compare.md",
    how_to_constrain: "how-to/constrain.md",
    how_to_convert: "how-to/convert.md",
    how_to_errors: "how-to/errors.md",
    how_to_inspect: "how-to/inspect.md",
    how_to_large_data: "how-to/large-data.md",
    how_to_probabilities: "how-to/probabilities.md",
    how_to_rust: "how-to/rust.md",
    how_to_scripts: "how-to/scripts.md",
    how_to_smaller: "how-to/smaller.md",
    how_to_train: "how-to/train.md",
    how_to_try: "how-to/try.md",
    migrate_crfpp: "migrate/crfpp.md",
    migrate_crfsuite: "migrate/crfsuite.md",
    migrate_sklearn_crfsuite: "migrate/sklearn-crfsuite.md",
    migrate_wapiti: "migrate/wapiti.md",
    reference_features: "reference/features.md",
    reference_formats: "reference/formats.md",
    reference_how_it_decides: "reference/how-it-decides.md",
    reference_learners: "reference/learners.md",
    reference_limits: "reference/limits.md",
    reference_model_file: "reference/model-file.md",
    reference_schemes: "reference/schemes.md",
    reference_speed: "reference/speed.md",
    start: "start.md",
    tasks_chunks: "tasks/chunks.md",
    tasks_names: "tasks/names.md",
    tasks_pos: "tasks/pos.md",
    tasks_rerank: "tasks/rerank.md",
    tasks_segmentation: "tasks/segmentation.md",
}

/// Documents outside `docs`.
const OTHERS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// All documents, by their paths from the root.
fn documents() -> Vec<String> {
    let pages = PAGES.iter().map(|page| format!("docs/{page}"));
    pages.chain(OTHERS.iter().map(|&file| file.to_owned())).collect()
}

/// The files below a folder whose names end so.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

#[test]
fn every_page_is_run() {
    let (folder, mut found) = (root().join("docs"), vec![]);
    files(&folder, "md", &mut found);
    let mut found: Vec<String> =
        found.iter().map(|path| path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned()).collect();
    found.sort();
    let mut listed = PAGES.to_vec();
    listed.sort_unstable();
    assert_eq!(listed, found, "the list of `pages!` and the files below docs");
}

/// The lines of a document that are not in a fenced block.
fn prose(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let fenced: Vec<Range<usize>> = blocks(&lines).into_iter().map(|(_, r)| r.start - 1..r.end + 1).collect();
    let outside = |i: &usize| !fenced.iter().any(|range| range.contains(i));
    (0..lines.len()).filter(outside).map(|i| lines[i]).collect()
}

/// What the links of a document point to, web pages left out.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let here = targets.map(|(target, _)| target.to_owned());
    here.filter(|target| !target.contains("://")).collect()
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        words.replace(' ', "-").chars().filter(|&c| kept(c)).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut wrong = vec![];
    for document in documents() {
        let (text, path) = (read(&document), root().join(&document));
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            if !target.exists() {
                wrong.push(format!("{document}: {link}: no such file"));
            } else if !anchor.is_empty()
                && !anchors(&std::fs::read_to_string(&target).unwrap()).iter().any(|a| a == anchor)
            {
                wrong.push(format!("{document}: {link}: no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_on_the_map() {
    let links = links(&read("docs/README.md"));
    let missing: Vec<_> = PAGES
        .iter()
        .filter(|page| **page != "README.md" && !links.iter().any(|link| link == *page))
        .collect();
    assert!(missing.is_empty(), "docs/README.md has no link to {missing:?}");
}

#[test]
fn the_program_of_the_page_is_the_one_that_the_library_tests() {
    let (page, library) = (read("docs/how-to/rust.md"), read("crates/seqoia/src/lib.rs"));
    let lines: Vec<&str> = page.lines().collect();
    let docs = library.lines().map_while(|line| line.strip_prefix("//!"));
    let docs: Vec<&str> = docs.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let programs = |lines: &[&str], kinds: &[&str]| -> Vec<String> {
        let blocks = blocks(lines).into_iter().filter(|block| kinds.contains(&block.0));
        // rustdoc hides the lines that start with `# `.
        let shown = |range: Range<usize>| lines[range].iter().copied().filter(|line| !line.starts_with("# "));
        blocks.map(|(_, range)| shown(range).collect::<Vec<_>>().join("\n")).collect()
    };
    assert_eq!(programs(&lines, &["rust"]), programs(&docs, &["", "rust", "no_run"]));
}

#[test]
fn files_and_targets_that_documents_name_exist() {
    let (makefile, mut sources) = (read("Makefile"), vec![]);
    ["crates", "experiments"].iter().for_each(|folder| files(&root().join(folder), "rs", &mut sources));
    for document in documents() {
        for name in read(&document).split('`').skip(1).step_by(2).filter(|name| !name.contains("NAME")) {
            let is_path =
                ["crates/", "experiments/", "tests/", "docs/", ".ci/"].iter().any(|f| name.starts_with(f));
            if name.contains([' ', '*', '\n']) {
                if let Some(target) = name.strip_prefix("make ") {
                    assert!(makefile.contains(&format!("\n{target}:")), "{document} names {name}");
                }
            } else if is_path {
                assert!(root().join(name).exists(), "{document} names {name}");
            } else if name.ends_with(".rs") {
                // Shortened where the place is clear: `chain/beam.rs`.
                assert!(sources.iter().any(|file| file.ends_with(name)), "{document} names {name}");
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
