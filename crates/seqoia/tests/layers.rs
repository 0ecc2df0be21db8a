//! The modules of this crate use each other one way, so that a new kind of model is a sibling of `label`: it needs
//! nothing of it, and nothing of `run` needs it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each module and the others that it may use. All of these stand above it, so there can be no cycle between them.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("run", &["error"]),
    ("label", &["error", "run"]),
    ("rerank", &["error", "run"]),
    ("score", &["error", "label"]),
    ("tools", &["error", "label"]),
    ("model", &["error", "label", "rerank", "run"]),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The first names behind a start of paths, such as `crate::`, in a source text, in paths and in braces; not in
/// comments, nor in tests.
fn used(text: &str, start: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let name = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let mut found = BTreeSet::new();
    for rest in code.split(start).skip(1) {
        match rest.strip_prefix('{') {
            None => drop(found.insert(name(rest))),
            Some(group) => {
                // Names in braces within are those of the modules' own items.
                let mut depth = 0;
                let end = group.find(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth < 0
                });
                let group = &group[..end.unwrap()];
                depth = 0;
                let outer = group.split(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    c == ',' && depth == 0
                });
                found.extend(outer.map(name).filter(|name: &String| !name.is_empty()));
            }
        }
    }
    found
}

#[test]
fn modules_use_each_other_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = vec![];
    files(&source, &mut all);
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in &all {
        let place = path.strip_prefix(&source).unwrap().with_extension("");
        let module = place.iter().next().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let above = "super::".repeat(place.iter().filter(|part| *part != "mod").count());
        assert!(module == "lib" || !text.contains(&above), "{}: say crate::", place.display());
        if module != "lib" {
            uses.entry(module).or_default().extend(used(&text, "crate::"));
        }
    }
    let modules: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(uses.keys().map(String::as_str).collect::<BTreeSet<_>>(), modules.iter().copied().collect());
    for (i, (module, may)) in LAYERS.iter().enumerate() {
        assert!(may.iter().all(|other| modules[..i].contains(other)), "{module} must stand below {may:?}");
        for other in uses[*module].iter().filter(|other| other != module) {
            assert!(may.contains(&other.as_str()), "{module} uses {other}, and may use {may:?} only");
        }
    }
    // The search finds what there is.
    assert!(uses["model"].contains("label") && uses["label"].contains("run"));
}

#[test]
fn names_are_found_in_paths_and_braces() {
    let text = "use crate::a::b;\nuse crate::{c::{d, e}, f, g::h};\n// crate::i\nfn j() -> crate::k::L {}\n\
                #[cfg(test)]\nmod tests { use crate::m; }";
    assert_eq!(used(text, "crate::"), ["a", "c", "f", "g", "k"].map(str::to_owned).into());
}

/// Which modules of a room use which others of it; items that `mod.rs` gives out belong to the module they are from.
fn within(room: &Path, name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let outer = std::fs::read_to_string(room.join("mod.rs")).unwrap();
    let mut modules: BTreeMap<String, String> = BTreeMap::new(); // of each name
    for line in outer.lines().filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';')) {
        modules.insert(line.to_owned(), line.to_owned());
    }
    for statement in outer.split("pub use ").skip(1) {
        let (path, _) = statement.split_once(';').unwrap();
        let (module, items) = path.split_once("::").unwrap();
        for item in items.split([',', '{', '}', ' ', '\n']).filter(|item| !item.is_empty()) {
            modules.insert(item.rsplit("::").next().unwrap().to_owned(), module.to_owned());
        }
    }
    let (mut all, mut uses) = (vec![], BTreeMap::<String, BTreeSet<String>>::new());
    files(room, &mut all);
    for path in all {
        let place = path.strip_prefix(room).unwrap().with_extension("");
        let module = place.iter().next().unwrap().to_str().unwrap().to_owned();
        if module == "mod" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut found = used(&text, &format!("crate::{name}::"));
        if place.iter().count() == 1 {
            found.extend(used(&text.replace("super::super::", ""), "super::"));
        }
        let found = found.iter().filter_map(|name| modules.get(name)).filter(|other| **other != module);
        uses.entry(module.clone()).or_default().extend(found.cloned());
    }
    uses
}

/// A room can be read from its lowest module on.
#[test]
fn modules_of_a_room_use_each_other_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for room in ["label", "rerank"] {
        let mut left = within(&source.join(room), room);
        assert!(left.values().map(BTreeSet::len).sum::<usize>() >= left.len(), "{room}: too few to be all");
        // Those that use none of the others that are left.
        while let Some(lowest) =
            left.iter().find(|(_, uses)| !uses.iter().any(|m| left.contains_key(m))).map(|(m, _)| m.clone())
        {
            left.remove(&lowest);
        }
        assert!(left.is_empty(), "{room}: in a circle, or above one: {left:#?}");
    }
}
