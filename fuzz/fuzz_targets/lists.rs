//! Files that stand beside the data: word clusters, lists of names, dictionaries, rules of labels.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seqoia::data::features::{Clusters, Names, RawText, Thesaurus, WordList};
use seqoia::data::rules::RuleTable;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Clusters::read("fuzz", text);
    let _ = Names::default().read("list", "fuzz", text);
    let _ = WordList::default().read("fuzz", text);
    let _ = Names::of_characters().read("list", "fuzz", text);
    let _ = Thesaurus::read("fuzz", text);
    let mut raw = RawText::default();
    if raw.read("fuzz", text).is_ok() {
        let _ = raw.count();
    }
    if let Ok(rules) = RuleTable::parse("fuzz", text) {
        let _ = rules.check(["O", "B-X", "I-X"].into_iter());
        let _ = rules.allowed(["O", "B-X"].into_iter());
    }
});
