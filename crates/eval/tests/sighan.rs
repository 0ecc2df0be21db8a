//! Equal to the scorer of the SIGHAN bakeoffs, and to a count of spans, on real segmentations.
//!
//! The cases are data from outside, found through `SEQOIA_DATA`; `src/sighan.rs` has the rules without them.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use seqoia_eval::{Segmentation, Vocabulary};
use seqoia_testkit::outside::folder;

/// Case, gold, then by spans: words of the gold, found and right, out of vocabulary right and all, and in it.
/// `perfect200` is the gold itself.
const CASES: [(&str, &str, &str, [u64; 7]); 5] = [
    ("fmm200", "fmm200", "gold200", [10_877, 11_601, 9_876, 21, 565, 9_855, 10_312]),
    ("bmm200", "bmm200", "gold200", [10_877, 11_606, 9_867, 22, 565, 9_845, 10_312]),
    ("char200", "char200", "gold200", [10_877, 18_125, 4_962, 22, 565, 4_940, 10_312]),
    ("perfect200", "gold200", "gold200", [10_877, 10_877, 10_877, 565, 565, 10_312, 10_312]),
    ("fmm-full", "fmm-full", "test_gold", [104_372, 112_281, 94_641, 412, 6_006, 94_229, 98_366]),
];

fn unpacked(path: PathBuf) -> Vec<u8> {
    let mut text = vec![];
    MultiGzDecoder::new(File::open(path).unwrap()).read_to_end(&mut text).unwrap();
    text
}

fn scored(data: &std::path::Path, found: &str, gold: &str) -> Segmentation {
    let cases = data.join("sighan-score-cases");
    let pku = data.join("sighan2005-pku");
    let gold_folder = if gold == "test_gold" { &pku } else { &cases };
    let words = String::from_utf8(unpacked(pku.join("train_words.txt.gz"))).unwrap();
    let words: HashSet<String> = words.split_whitespace().map(str::to_owned).collect();
    let gold = unpacked(gold_folder.join(format!("{gold}.txt.gz")));
    let found = unpacked(cases.join(format!("{found}.txt.gz")));
    Segmentation::score(("gold", &gold), ("found", &found), Some(&words)).unwrap()
}

#[test]
fn counts_the_spans() {
    let Some(data) = folder() else { return };
    for (case, found, gold, expected) in CASES {
        let scores = scored(&data, found, gold);
        let words = scores.words();
        let Vocabulary { oov, oov_correct, iv, iv_correct } = scores.vocabulary.unwrap();
        let ours = [words.gold, words.found, words.correct, oov_correct, oov, iv_correct, iv];
        assert_eq!(ours, expected, "{case}");
    }
}

#[test]
fn prints_the_figures_of_the_script() {
    let Some(data) = folder() else { return };
    for (case, found, gold, _) in CASES {
        let path = data.join("sighan-score-cases").join(format!("{case}.score"));
        let print = fs::read_to_string(path).unwrap();
        let last = print.lines().last().unwrap();
        let theirs: Vec<&str> = last.split('\t').collect();
        let scores = scored(&data, found, gold);
        let (words, seen) = (scores.words(), scores.vocabulary.unwrap());
        assert_eq!(theirs[6..8], [words.gold.to_string(), words.found.to_string()], "{case}");
        let (recall, precision, f1) = scores.figures();
        let (oov, iv) = (seen.oov_recall().unwrap(), seen.iv_recall().unwrap());
        let ours = [recall, precision, f1, seen.oov_rate(), oov, iv].map(|x| format!("{x:.3}"));
        if case == "char200" {
            // Far from the gold, the alignment of the script misses right words.
            assert_ne!(theirs[8], ours[0]);
            assert_eq!(theirs[11..13], ours[3..5], "{case}");
        } else {
            assert_eq!(theirs[8..14], ours, "{case}");
        }
    }
}

#[test]
fn no_case_is_forgotten() {
    let Some(data) = folder() else { return };
    let mut found: Vec<String> = fs::read_dir(data.join("sighan-score-cases"))
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".score")?.to_owned()))
        .collect();
    found.sort();
    let mut cases = CASES.map(|case| case.0);
    cases.sort_unstable();
    assert_eq!(found, cases);
}
