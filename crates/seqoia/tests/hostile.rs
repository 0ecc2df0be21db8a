//! Any template or pattern with any data trains or is refused, and any model file labels or is refused: no input makes
//! the library panic. (Readers alone: `crates/data/tests/blocks.rs`; longer runs: `fuzz/`.)

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use seqoia::data::features::{Clusters, Lexica, Pattern, crfpp, wapiti};
use seqoia::data::format::Kind;
use seqoia::data::scheme::Scheme;
use seqoia::label::{
    Bits, Inspector, Output, PredictOptions, ShrinkOptions, model_from_text, model_to_text, shrink, why_text,
};
use seqoia::tools::dump_features;
use seqoia::{
    ChainOptions, Checkpoint, DataOptions, FeatureChoice, Labeller, LearnOptions, Passes, Predictor,
    RuleChoice,
};
use seqoia_model::Container;
use seqoia_testkit::files::{seal, with_part};
use seqoia_testkit::labelling::{fit, learner, read, try_fit, try_label, try_read};
use serde_json::Value;

/// Pieces of template files in any order, or whole lines, of which most fit.
fn templates() -> impl Strategy<Value = String> {
    let parts = select(vec![
        "U",
        "B",
        "U0",
        "B1:",
        "%x",
        "%v",
        "%",
        "[",
        "]",
        ",",
        "0",
        "-1",
        "1",
        "2",
        "-40000",
        "99999999999",
        "/",
        "%x[0,0]",
        "%x[-1,1]",
        "%x[3,0]",
        "%v[0,1]",
        "#",
        " ",
        "\t",
        "\nU",
        "\nB%x[0,0]",
        "\r\n",
        "é",
        "\u{feff}",
        "*",
    ]);
    let lines = select(vec![
        "U0:%x[0,0]\n",
        "U1:%x[-1,1]/%x[1,0]\n",
        "U%x[0,0]\n",
        "U%x[2,0]\n",
        "U3\n",
        "U4:%v[0,1]\n",
        "U5:%x[0,0]=%v[-1,1]\n",
        "B\n",
        "B1:%x[0,1]\n",
        "B2:%v[0,1]\n",
        "B3:%x[-1,0]%v[1,1]\n",
        "# no\n",
        "\n",
    ]);
    prop_oneof![
        prop::collection::vec(parts, 0..25).prop_map(|parts| parts.concat()),
        prop::collection::vec(lines, 1..6).prop_map(|lines| lines.concat()),
    ]
}

/// The same for Wapiti's patterns.
fn patterns() -> impl Strategy<Value = String> {
    let parts = select(vec![
        "u",
        "B",
        "*",
        "%x",
        "%T",
        "%m",
        "%",
        "[",
        "]",
        ",",
        "@",
        "0",
        "-1",
        "1001",
        "\"",
        "^",
        "$",
        "?",
        ".",
        "\\",
        "\\u",
        "\\\"",
        "#",
        " ",
        "\nu",
        "\n*",
        "\r\n",
        "é",
        "%x[0,0]",
        "%X[@-1,1]",
        "%m[0,0,\"",
        "%t[-1,0,\".?\"]",
    ]);
    let lines = select(vec![
        "u:%x[0,0]\n",
        "*:%X[@1,1]\n",
        "b:%m[0,0,\".?.?$\"]\n",
        "u%M[@-3,0,\"^é*\"]%t[7,1,\"\\d\"]\n",
        "*\n",
        "u\n",
        "# no\n",
    ]);
    prop_oneof![
        prop::collection::vec(parts, 0..25).prop_map(|parts| parts.concat()),
        prop::collection::vec(lines, 1..6).prop_map(|lines| lines.concat()),
    ]
}

/// Rows that fit, with numbers of every kind, and sometimes rows that do not.
fn data() -> impl Strategy<Value = String> {
    let good = vec![
        "the 1 D\n",
        "dog 2.5 N\n",
        "é -1e30 B-X\n",
        "a 1e-39 I-X\n",
        "b 0 O\n",
        "\n",
        "\n\n",
        "-DOCSTART- 1 O\n",
        "c 4 E-Y\n",
        "d 5 S-Y\n",
    ];
    let bad = vec!["dog nan N\n", "x inf N\n", "y 1e300 N\n", "the 1\n", " ", "\t"];
    let all: Vec<&str> = good.iter().chain(&bad).copied().collect();
    prop_oneof![3 => prop::collection::vec(select(good), 1..30), 1 => prop::collection::vec(select(all), 0..30)]
        .prop_map(|rows| rows.concat())
}

/// Trains a pass and labels the data itself, in every form of output.
fn whole_way(features: FeatureChoice, text: &str, name: &str) -> seqoia::Result<()> {
    let options = DataOptions { features, ..DataOptions::default() };
    dump_features(seqoia::input_from_text("train", text)?, &options, &mut vec![])?;
    let set = try_read(text, &options)?;
    let options = LearnOptions { passes: Some(Passes::Exactly(1)), ..learner(name, &[]) };
    let model = try_fit(&set, None, &options, ChainOptions::default(), &mut ())?.labeller();
    for output in
        [Output::Text, Output::Marginals, Output::NBest(3), Output::Json { marginals: true, nbest: 2 }]
    {
        try_label(&model, text, &PredictOptions::new(output, 1))?;
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_a_template_file_or_an_error(text in any::<String>()) {
        let _ = (crfpp::parse("templates", &text), wapiti::parse("patterns", &text));
    }

    #[test]
    fn templates_and_data_of_any_kind_train_or_are_refused(
        templates in templates(), text in data(), learner in select(vec!["perceptron", "lbfgs"]),
    ) {
        let templates = vec![("templates".to_owned(), templates)];
        if let Err(error) = whole_way(FeatureChoice { templates, ..Default::default() }, &text, learner) {
            prop_assert!(!error.to_string().contains("bug"), "{}", error);
        }
    }

    #[test]
    fn patterns_of_any_kind_train_or_are_refused(patterns in patterns(), text in data(), wide in any::<bool>()) {
        let patterns = vec![("patterns".to_owned(), patterns)];
        let features = FeatureChoice { patterns, full_width: Some(wide), ..Default::default() };
        if let Err(error) = whole_way(features, &text, "perceptron") {
            prop_assert!(!error.to_string().contains("bug"), "{}", error);
        }
    }

    #[test]
    fn any_expression_matches_within_any_word_or_is_refused(text in any::<String>(), word in any::<String>()) {
        let _ = wapiti::parse("patterns", &format!("u:%m[0,0,\"{text}\"]"));
        if let Ok(pattern) = Pattern::parse(&text) {
            prop_assert!(pattern.find(&word).is_none_or(|found| word.get(found).is_some()));
            prop_assert_eq!(Pattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn any_bytes_are_a_model_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Labeller::from_bytes("m", &bytes).is_err() && Checkpoint::from_bytes("m", &bytes).is_err());
    }

    #[test]
    fn a_changed_model_labels_or_is_refused(
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6), cut in 0usize..3,
    ) {
        let mut bytes = EVERYTHING.clone();
        for (at, value) in changes {
            let at = 16 + at.index(bytes.len() - 16);
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        seal(&mut bytes);
        use_it(&bytes);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))] // a model has many numbers

    #[test]
    fn a_model_with_a_changed_part_labels_or_is_refused(
        part in any::<Index>(), changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6), cut in 0usize..9,
    ) {
        let container = Container::from_bytes("m", &EVERYTHING).unwrap();
        let (name, _, bytes) = container.sections().nth(part.index(container.sections().count())).unwrap();
        let mut bytes = bytes.to_vec();
        for (at, value) in changes.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        use_it(&with_part(&container, name, &bytes));
    }

    #[test]
    fn a_model_with_another_description_labels_or_is_refused(
        changes in prop::collection::vec((any::<Index>(), any::<Index>()), 1..4),
    ) {
        let container = Container::from_bytes("m", &EVERYTHING).unwrap();
        let mut meta: Value = serde_json::from_slice(container.get("meta").unwrap()).unwrap();
        for (at, change) in changes {
            let places = count(&meta);
            alter(&mut meta, &mut at.index(places), change);
        }
        use_it(&with_part(&container, "meta", meta.to_string().as_bytes()));
    }
}

/// Sections of any kind anywhere, and bytes for them.
fn behind_a_header() -> impl Strategy<Value = (Vec<u8>, u32)> {
    let name =
        prop_oneof![select(vec!["meta", "checkpoint", "best", "weights"]).prop_map(str::to_owned), ".{0,4}"];
    let place = prop_oneof![4 => (0u64..8).prop_map(|i| 64 * i), 1 => any::<u64>()];
    let section = (name, 0u32..8, place, prop_oneof![4 => 0u64..64, 1 => any::<u64>()]);
    let table = prop::collection::vec(section, 0..4).prop_map(|sections| {
        let entry = |(name, kind, at, length): &(String, u32, u64, u64)| {
            let name: Vec<u8> = name.bytes().chain([0; 16]).take(16).collect();
            [
                name,
                kind.to_le_bytes().to_vec(),
                vec![0; 4],
                at.to_le_bytes().to_vec(),
                length.to_le_bytes().to_vec(),
            ]
            .concat()
        };
        (sections.iter().flat_map(entry).collect::<Vec<u8>>(), sections.len())
    });
    let more = prop_oneof![9 => Just(0u32), 1 => any::<u32>()];
    (table, more, prop::collection::vec(any::<u8>(), 0..400)).prop_map(|((table, count), more, bytes)| {
        ([table, bytes].concat(), u32::try_from(count).unwrap().wrapping_add(more))
    })
}

/// Behind a header that is right in all but the number of sections there may be anything as well.
#[test]
fn what_lies_behind_a_header_is_looked_at() {
    let mut runner = TestRunner::deterministic();
    let (cases, mut found) = (behind_a_header(), BTreeSet::new());
    for _ in 0..2000 {
        let (bytes, sections) = cases.new_tree(&mut runner).unwrap().current();
        let mut file = [b"SEQOIA\r\n", &[0; 12][..], &sections.to_le_bytes(), &[0; 8], &bytes].concat();
        seal(&mut file);
        for error in [Labeller::from_bytes("m", &file).err(), Checkpoint::from_bytes("m", &file).err()] {
            let error = error.unwrap().to_string();
            assert!(
                ["has format", "header says", "checksum"].iter().all(|what| !error.contains(what)),
                "{error}"
            );
            found.insert(error);
        }
    }
    // Each of the checks behind the header was reached.
    for what in [
        "sections do not fit into the file",
        "lies outside the file",
        "has no section 'meta'",
        "has no section 'checkpoint'",
        "does not hold u8",
        "its description cannot be read",
    ] {
        assert!(found.iter().any(|error| error.contains(what)), "{what}");
    }
}

/// Everything that can be done with a model, if it is one.
fn use_it(bytes: &[u8]) {
    let Ok(labeller) = Labeller::from_bytes("m", bytes) else { return };
    let labeller = Arc::new(labeller);
    let _ = Predictor::new(&labeller).label(&[&["the", "1"], &["dog", "2"]]);
    let _ = why_text(&labeller, "the/1 Dog/2", None);
    let _ = Inspector::new(&labeller).map(|inside| (inside.summary(), inside.strongest(2, None)));
    let text = |labelled| DATA.replace("labels", if labelled { "labels" } else { "no labels" });
    for output in [Output::Text, Output::Json { marginals: true, nbest: 2 }] {
        for (given, labelled) in [(None, true), (None, false), (Some("_".to_owned()), true)] {
            let options = PredictOptions { given, look: 1, ..PredictOptions::new(output, 1) };
            let _ = try_label(&labeller, &text(labelled), &options);
        }
    }
    let columns = "the 1 B-X\nDog 2 O\n\n-DOCSTART- 1 O\n\nDog 1 O\n";
    let options = PredictOptions { format: Some(Kind::Columns), ..PredictOptions::new(Output::Text, 1) };
    let _ = try_label(&labeller, columns, &options);
    let mut text = vec![];
    if model_to_text(&labeller, &mut text).is_ok() {
        let _ = model_from_text(seqoia::data::open::Input::from_bytes("text", text).unwrap());
    }
    for bits in Bits::ALL {
        let options = ShrinkOptions { prune: 0.01, bits: Some(bits) };
        let _ = shrink(&labeller, options).map(|bytes| Labeller::from_bytes("s", &bytes).is_ok());
    }
}

/// Values of a description, those that hold others too.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(items) => items.values().map(count).sum(),
        _ => 0,
    }
}

/// Puts something else in the place of value number `at`: of a number another number, of a string another string;
/// of what holds others, one is left out or stands there twice.
fn alter(value: &mut Value, at: &mut usize, change: Index) {
    const NUMBERS: [i64; 16] =
        [0, 1, -1, 2, 7, 31, 32, 40, 64, 255, 1000, -1001, 32_767, 65_535, 4_294_967_295, i64::MAX];
    const STRINGS: [&str; 14] = [
        "", "same", "first", "given", "plain", "nothing", "columns", "conllu", "crfsuite", "iob1", "bmes",
        "O", "B-X", "a*",
    ];
    if let Some(next) = at.checked_sub(1) {
        *at = next;
        let inside: Vec<&mut Value> = match value {
            Value::Array(items) => items.iter_mut().collect(),
            Value::Object(items) => items.values_mut().collect(),
            _ => vec![],
        };
        for item in inside {
            let size = count(item);
            if *at < size {
                return alter(item, at, change);
            }
            *at -= size;
        }
        return;
    }
    match value {
        Value::Null => *value = STRINGS[change.index(STRINGS.len())].into(),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(_) => *value = NUMBERS[change.index(NUMBERS.len())].into(),
        Value::String(text) => *text = STRINGS[change.index(STRINGS.len())].to_owned(),
        Value::Array(items) if items.is_empty() => items.push(Value::Null),
        Value::Array(items) => {
            let place = change.index(2 * items.len());
            let one = place / 2;
            if place.is_multiple_of(2) {
                items.insert(one, items[one].clone());
            } else {
                items.remove(one);
            }
        }
        Value::Object(items) => {
            let name = items.keys().nth(change.index(items.len().max(1))).cloned().unwrap_or_default();
            items.remove(&name);
        }
    }
}

const DATA: &str = r#"{"tokens": [["the", "1"], ["Dog", "2"], ["ABC-1", "2"], ["Dog", "4"]], "features": [["a"], ["b"], [{"c": 2}], []], "labels": ["O", "B-X", "I-X", "B-Y"]}
{"tokens": [["a", "1"], ["dog", "2"], ["New", "3"], ["York", "3"]], "features": [["a"], ["b"], ["b"], ["a"]], "labels": ["O", "O", "B-Y", "I-Y"]}
"#;

/// A model that has all there is.
static EVERYTHING: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut lexica =
        Lexica { clusters: Clusters::read("c", "0101\tthe\n0110\tdog\n").unwrap(), ..Lexica::default() };
    lexica.names.read("city", "f", "New York\nYork\n").unwrap();
    lexica.names.read("animal", "f", "dog\n").unwrap();
    lexica.words.read("d", "thedog\nNewYork\nad\nDog\n").unwrap();
    let mut data = DataOptions {
        scheme: Some(Scheme::Iobes),
        rules: Some(RuleChoice::Scheme(Scheme::Iobes)),
        ..DataOptions::default()
    };
    data.features = FeatureChoice {
        templates: vec![("t".to_owned(), "U0:%x[0,0]\nU1:%v[0,1]\nB1:%x[-1,0]\nB\n".to_owned())],
        patterns: vec![(
            "p".to_owned(),
            "*:%m[@-1,0,\"^\\l?a*\"]%X[-1,0]\nu:%M[0,0,\"^.\"]%t[1,0,\"o\"]\n".to_owned(),
        )],
        sets: ["pos", "ner", "segmentation"].map(str::to_owned).to_vec(),
        lexica: Arc::new(lexica),
        false_features: true,
        ..FeatureChoice::default()
    };
    let model = fit(&read(DATA, &data), None, &learner("perceptron", &[])).labeller();
    shrink(&model, ShrinkOptions { prune: 0.0, bits: Some(Bits::F16) }).unwrap()
});

#[test]
fn the_model_has_all_that_can_be_read_of_a_token() {
    let model = Labeller::from_bytes("m", &EVERYTHING).unwrap();
    let mut found = BTreeSet::new();
    for piece in model.meta().templates.iter().flat_map(|t| &t.pieces) {
        let mut name = |value: &Value| match value {
            Value::String(name) => found.extend([name.clone()]),
            Value::Object(items) => found.extend(items.keys().cloned()),
            _ => (),
        };
        let source = serde_json::to_value(&piece.source).unwrap();
        name(&source);
        name(source.get("column").map_or(&Value::Null, |column| &column[1]));
    }
    let sources = "cluster column first given listed listed-lower longest-ending longest-starting match match-lower \
                   mention mention-path place test twin word-ending word-starting";
    let functions = "all-upper brief-shape first-upper full-width has-digit has-hyphen lower lower-prefix lower-suffix \
                     prefix same shape suffix";
    let all: BTreeSet<String> =
        [sources, functions].iter().flat_map(|s| s.split(' ')).map(str::to_owned).collect();
    assert_eq!(found, all);
    let container = Container::from_bytes("m", &EVERYTHING).unwrap();
    let parts = ["rules", "weights.f16", "clusters.paths", "names.lists", "words.marks"];
    assert!(parts.iter().all(|part| container.has(part)));
    assert!(
        container.get::<u32>("edges.keys").unwrap().len() > 1
            && model.meta().model_scheme != model.meta().file_scheme
    );
    let out = try_label(&Arc::new(model), DATA, &PredictOptions::new(Output::Text, 1)).unwrap();
    assert_eq!(out.lines().count(), 2);
}

/// Numbers that no training writes, one by one.
#[test]
fn every_number_of_a_template_is_looked_at() {
    let container = Container::from_bytes("m", &EVERYTHING).unwrap();
    let meta = String::from_utf8(container.get("meta").unwrap().to_vec()).unwrap();
    let opens = |from: &str, to: &str| {
        assert!(meta.contains(from), "{from}");
        Labeller::from_bytes("m", &with_part(&container, "meta", meta.replacen(from, to, 1).as_bytes()))
            .is_ok()
    };
    assert!(opens("\"listed\":[0,1]", "\"listed\":[0,31]"));
    for (from, to) in [
        ("\"listed\":[0,1]", "\"listed\":[0,32]"),
        ("\"listed\":[0,0]", "\"listed\":[0,40]"),
        ("\"listed-lower\":[0,0]", "\"listed-lower\":[0,255]"),
        ("\"listed\":[0,0]", "\"listed\":[2,0]"), // the label
        ("\"listed\":[0,0]", "\"listed\":[3,0]"), // no column
        ("\"word-starting\":[0,2]", "\"word-starting\":[0,7]"),
        ("\"word-ending\":[0,2]", "\"word-ending\":[0,0]"),
        ("\"cluster\":[0,4]", "\"cluster\":[0,0]"),
        ("\"mention\":[0,1,-1]", "\"mention\":[0,2,-1]"),
        ("\"mention\":[0,1,-1]", "\"mention\":[0,1,-2]"),
        ("\"mention-path\":[0,0,-1,6]", "\"mention-path\":[0,0,-1,0]"),
        ("\"twin\":[0,1]", "\"twin\":[0,1001]"),
        ("\"suffix\":2", "\"suffix\":0"),
        ("\"lower-prefix\":2", "\"lower-prefix\":0"),
        ("\"offset\":-2", "\"offset\":-1001"),
        ("\"value\":[1,0]", "\"value\":[1,1001]"),
        ("\"value\":[1,0]", "\"value\":[2,0]"),
        ("{\"piece\":0}", "{\"piece\":64}"),
        ("\"label_column\":2", "\"label_column\":3"),
        ("\"format\":\"jsonl\",\"columns\"", "\"format\":\"conllu\",\"columns\""),
        ("\"labels\":[", "\"labels\":[\"Z\","),
        ("\"dense\":", "\"dense\":9"),
    ] {
        assert!(!opens(from, to), "{to}");
    }
}
