//! Attributes have the names, and are those, that CRF++ and Wapiti make of the same template and data.
//!
//! `golden/wapiti.observations` is from Wapiti 1.5.0 (u: of tokens, b: of label pairs), in the C locale:
//!
//! ```text
//! wapiti train -a rprop -i 1 -1 0 -2 1 -p wapiti.patterns words.txt m && wapiti dump --all m m.txt
//! awk -F'\t' 'NF { print ($2 == "#" ? "u" : "b") "\t" $1 }' m.txt | sort -u > wapiti.observations
//! ```
//!
//! `golden/crfpp.features` is the list of features in the text model of CRF++ 0.59:
//!
//! ```text
//! crf_learn -m 1 -t crfpp.template words.txt m
//! awk 'BEGIN { RS = ""; FS = "\n" } NR == 4' m.txt | sed 's/^[0-9]* //' | sort -u > crfpp.features
//! ```
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::Arc;

use seqoia_data::features::crfpp::TemplateFile;
use seqoia_data::features::{Indexed, Indexer, KeysView, Program, crfpp, wapiti};
use seqoia_data::format::{self, Block, Blocks};
use seqoia_data::open::Input;

fn index(file: TemplateFile) -> (Arc<Program>, Indexed) {
    let text = include_str!("golden/words.txt");
    let mut blocks = Blocks::new(Input::from_bytes("words.txt", text).unwrap());
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, None).unwrap();
    format.parse("words.txt", &mut block).unwrap();
    let program = Arc::new(Program::new(file.templates));
    let mut indexer = Indexer::new(Arc::clone(&program), Arc::default());
    for s in block.sentences() {
        let gold = s.tokens.clone().map(|i| block.field(i, 3));
        indexer.push("words.txt", &block, s.tokens.clone(), gold).unwrap();
    }
    (program, indexer.finish(1, 1))
}

/// The names of all attributes, or of those that `wanted` likes.
fn names(
    program: &Program,
    indexed: &Indexed,
    keys: KeysView<'_>,
    wanted: impl Fn(u32) -> bool,
) -> Vec<String> {
    let name = |key| program.name(key, indexed.dictionary.strings.view());
    (0..)
        .map_while(|id| keys.get(id).map(|key| (id, key)))
        .filter(|k| wanted(k.0))
        .map(|k| name(k.1))
        .collect()
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn observations_are_those_of_wapiti() {
    let (program, indexed) =
        index(wapiti::parse("wapiti.patterns", include_str!("golden/wapiti.patterns")).unwrap());
    let mut wanted = lines(include_str!("golden/wapiti.observations"));
    // Patterns without commands: label pairs, which have no name here.
    assert!(wanted.remove("b\t*") && wanted.remove("b\tb:all"));
    let all = |keys, kind| {
        names(&program, &indexed, keys, |_| true).into_iter().map(move |name| format!("{kind}\t{name}"))
    };
    let d = &indexed.dictionary;
    let found: BTreeSet<String> = all(d.nodes.view(), "u").chain(all(d.edges.view(), "b")).collect();
    assert_eq!(found, wanted);
}

#[test]
fn features_are_those_of_crfpp() {
    let (program, indexed) =
        index(crfpp::parse("crfpp.template", include_str!("golden/crfpp.template")).unwrap());
    let mut wanted = lines(include_str!("golden/crfpp.features"));
    assert!(wanted.remove("B"));
    let d = &indexed.dictionary;
    let mut found: BTreeSet<String> =
        names(&program, &indexed, d.nodes.view(), |_| true).into_iter().collect();
    // CRF++ makes none for the edge into a first token, which has no label pair.
    found.extend(names(&program, &indexed, d.edges.view(), |id| !indexed.edges.of(id as usize).is_empty()));
    assert_eq!(found, wanted);
}
