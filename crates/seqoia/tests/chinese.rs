//! Sets for Chinese with a lexicon, lists of names and raw text: attributes are those of the definition, a model has
//! all that prediction needs, and no number of threads changes it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use seqoia::data::features::{Lexica, Names, RawText, Thesaurus};
use seqoia::label::{model_from_text, model_to_text};
use seqoia::tools::dump_features;
use seqoia::{DataOptions, input_from_text};
use seqoia_testkit::labelling::{fit, label, passes, read, try_read};

const NAMES: &str = "江 B-PER\n泽 I-PER\n民 I-PER\n在 O\n北 B-LOC\n京 I-LOC\n见 O\n省 O\n长 O\n\n\
                     省 O\n长 O\nA O\n去 O\n北 B-LOC\n京 I-LOC\n市 I-LOC\n\n";
const LEXICON: &str = "Af10B05# 省长 市长 县长\nHg05A01= 北京 北京市\nAe13A10# 省长 长A\n";
const SEGMENTED: &str = "我 爱 北京\n北京 大学 很 大\n我 爱 大学\n大学 在 北京\n";

fn options(set: &str, lexica: Lexica) -> DataOptions {
    let mut options = DataOptions::default();
    options.features.sets.push(set.to_owned());
    options.features.lexica = Arc::new(lexica);
    options
}

fn lexicon(text: &str) -> Lexica {
    Lexica { thesaurus: Thesaurus::read("lexicon", text).unwrap(), ..Lexica::default() }
}

fn listed(names: &str) -> Lexica {
    let mut lists = Names::of_characters();
    lists.read("places", "file", names).unwrap();
    Lexica { names: lists, ..Lexica::default() }
}

fn raw(text: &str) -> Lexica {
    let mut raw = RawText::default();
    raw.read("raw", text).unwrap();
    Lexica { varieties: raw.count().unwrap(), ..Lexica::default() }
}

/// The attributes of each token that start with one of `heads`.
fn attributes(text: &str, options: &DataOptions, heads: &[&str]) -> Vec<BTreeSet<String>> {
    let mut out = vec![];
    dump_features(input_from_text("text", text).unwrap(), options, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let wanted = |name: &&str| heads.iter().any(|head| name.starts_with(head));
    let token = |line: &str| line.split('\t').skip(1).filter(wanted).map(str::to_owned).collect();
    out.lines().filter(|line| !line.is_empty()).map(token).collect()
}

#[test]
fn words_have_their_categories_forward_and_backward() {
    let found = attributes(NAMES, &options("ner-zh", lexicon(LEXICON)), &["forward", "backward"]);
    // Both ways cut the first sentence alike, the second one has A in full width.
    let at = |t: usize, head: &str| -> Vec<&str> {
        found[t].iter().filter_map(|name| name.strip_prefix(head)).collect()
    };
    assert_eq!(at(4, "forward[0]=").join(" "), "H/B Hg/B Hg05/B Hg05A/B Hg05A01/B");
    assert_eq!(at(3, "forward[1]=").len(), 5);
    assert_eq!(at(7, "backward[0]=").len(), 9); // two codes of one large class
    assert_eq!([at(7, "forward-word[0]="), at(0, "backward-word[0]=")], [["many"], ["one"]]);
    // 省长 and A from the left, 省 and 长A from the right.
    assert_eq!((at(9, "forward[0]=").len(), at(9, "backward[0]=").len()), (9, 0));
    assert_eq!(at(11, "backward[0]=").join(" "), "A/E Ae/E Ae13/E Ae13A/E Ae13A10/E");
    assert_eq!(at(14, "forward[0]=")[0], "H/M");
}

#[test]
fn names_are_looked_for_in_characters() {
    let found = attributes(NAMES, &options("ner-zh", listed("北京\n京市\n长Ａ\n")), &["list\\:"]);
    let own = |t: usize| found[t].iter().find(|name| name.starts_with("list\\:places[0]")).cloned();
    let places: Vec<String> =
        (0..16).map(|t| own(t).map_or("-".to_owned(), |n| n[16..].to_owned())).collect();
    assert_eq!(places.concat(), "----BE----BE-BEE");
}

#[test]
fn options_that_a_set_does_not_use_are_refused() {
    for (set, lexica, what) in
        [("segmentation", lexicon(LEXICON), "lexicon"), ("ner-zh", raw(SEGMENTED), "raw-text")]
    {
        let error = try_read(NAMES, &options(set, lexica)).err().unwrap().to_string();
        assert!(error.contains(what) && error.contains("was not asked for"), "{error}");
    }
}

#[test]
fn what_matches_nothing_is_told() {
    let set = read(NAMES, &options("ner-zh", lexicon("Aa01A01= 喜马\n")));
    assert!(set.doubts.iter().any(|doubt| doubt.contains("`lexicon`: 1 word read, and 0 tokens")));
    let set = read(SEGMENTED, &options("segmentation", raw("喜马喜马\n")));
    assert!(set.doubts.iter().any(|doubt| doubt.contains("`raw-text`: 1 string seen twice")));
}

#[test]
fn models_hold_all_and_are_the_same_for_any_number_of_threads() {
    let mut both = lexicon(LEXICON);
    both.names = listed("北京\n").names;
    for (text, test, options) in [
        (NAMES, "北 O\n京 O\n省 O\n长 O\n\n", options("ner-zh", both)),
        (SEGMENTED, "我在北京大学\n", options("segmentation", raw("我在北京大学我在北京\n大学北京\n"))),
    ] {
        let text = text.repeat(300);
        let models: Vec<_> = [1, 2, 3]
            .map(|threads| {
                let set = read(&text, &DataOptions { threads: Some(threads), ..options.clone() });
                let mut learn = passes("adagrad", 2);
                learn.threads = threads;
                fit(&set, None, &learn)
            })
            .into();
        assert!(models.iter().all(|model| model.bytes == models[0].bytes));
        let model = models[0].labeller();
        assert_eq!(label(&model, test, 1), label(&model, test, 3));
        let mut written = vec![];
        model_to_text(&model, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        let again = model_from_text(input_from_text("text", &written).unwrap()).unwrap();
        assert!(again.unchanged && again.bytes == models[0].bytes);
    }
}

proptest! {
    /// Any text is a lexicon, raw text and a list, or is refused with a cure.
    #[test]
    fn readers_take_or_refuse_any_text(parts in prop::collection::vec(select(
        vec!["Af10B05#", "省长", " ", "\n", "\t", "A", "1", "\u{feff}", "\u{3000}", "一二三四五六七八九十一二三四五六七八", "\r\n", "="]
    ), 0..40)) {
        let text = parts.concat();
        if let Err(error) = Thesaurus::read("f", &text) {
            prop_assert!(!error.help.is_empty());
        }
        let mut raw = RawText::default();
        match raw.read("f", &text) {
            Ok(()) => drop(raw.count().unwrap()),
            Err(error) => prop_assert!(!error.help.is_empty()),
        }
        Names::of_characters().read("l", "f", &text).unwrap();
    }
}
