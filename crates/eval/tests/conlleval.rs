//! Equal to the outside tools on their own output: `conlleval` to the byte, seqeval to ten digits.
//!
//! The cases are data from outside, found through `SEQOIA_DATA`; `tests/spans.rs` has the rules without them.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::path::PathBuf;

use seqoia_eval::{Options, Scored, TypeScores, score};
use seqoia_testkit::outside;

const CASES: [&str; 7] = [
    "all-outside",
    "edge-cases",
    "invalid-transitions",
    "iob1-ner",
    "iob2-chunking",
    "mixed-gold-iob1-guess-iob2",
    "raw-pos",
];

fn folder() -> Option<PathBuf> {
    Some(outside::folder()?.join("conlleval-cases"))
}

fn scored(text: &[u8], case: &str) -> Scored {
    let options = Options { raw: case.starts_with("raw"), ..Options::default() };
    score(text, case, &options).unwrap()
}

#[test]
fn prints_what_conlleval_prints() {
    let Some(folder) = folder() else { return };
    for case in CASES {
        let text = fs::read(folder.join(format!("{case}.txt"))).unwrap();
        let expected = fs::read_to_string(folder.join(format!("{case}.conlleval"))).unwrap();
        assert_eq!(scored(&text, case).spans.conlleval(), expected, "{case}");
    }
}

#[test]
fn no_case_is_forgotten() {
    let Some(folder) = folder() else { return };
    let mut found: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".conlleval")?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, CASES);
}

#[test]
fn line_ends_and_separators_change_nothing() {
    let Some(folder) = folder() else { return };
    for case in CASES {
        let text = fs::read_to_string(folder.join(format!("{case}.txt"))).unwrap();
        let windows = text.replace('\n', "\r\n");
        assert_eq!(scored(windows.as_bytes(), case), scored(text.as_bytes(), case), "{case}");
        let tabs = text.replace(' ', "\t");
        assert_eq!(scored(tabs.as_bytes(), case), scored(text.as_bytes(), case), "{case} with tabs");
    }
}

#[test]
fn agrees_with_seqeval() {
    let Some(folder) = folder() else { return };
    let json = fs::read(folder.join("seqeval.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let cases = json["cases"].as_object().unwrap();
    assert!(cases.len() >= 6, "only {} cases", cases.len());
    for (case, expected) in cases {
        let text = fs::read(folder.join(format!("{case}.txt"))).unwrap();
        let Scored { spans, accuracy } = scored(&text, case);
        let macro_f1 = spans.types.iter().map(TypeScores::f1).sum::<f64>()
            / f64::from(u32::try_from(spans.types.len()).unwrap());
        for (name, ours) in [
            ("accuracy", spans.accuracy()),
            ("accuracy", accuracy.tokens()),
            ("precision", spans.precision()),
            ("recall", spans.recall()),
            ("f1", spans.f1()),
            ("macro_f1", macro_f1),
        ] {
            let theirs = 100.0 * expected["default"][name].as_f64().unwrap();
            assert!((ours - theirs).abs() < 1e-8, "{case}: {name} {ours}, seqeval {theirs}");
        }
        assert_eq!(accuracy.sentence_counts().0, expected["sentences"].as_u64().unwrap(), "{case}");
    }
}
