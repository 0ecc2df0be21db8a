//! Any template or pattern with any data trains or is refused, and any model file labels or is refused: no input makes
//! the library panic. (Readers alone: `crates/data/tests/blocks.rs`; longer runs: `fuzz/`.)

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use seqoia::data::features::{Pattern, crfpp, wapiti};
use seqoia::{
    Checkpoint, DataOptions, FeatureChoice, Labeller, Output, Passes, PredictOptions, Predictor,
    TrainOptions, Trainer, TrainingSet, dump_features, predict,
};

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
fn whole_way(features: FeatureChoice, text: &str, learner: &str) -> seqoia::Result<()> {
    let options = DataOptions { features, ..DataOptions::default() };
    dump_features(seqoia::input_from_text("train", text)?, &options, &mut vec![])?;
    let set = TrainingSet::read(seqoia::input_from_text("train", text)?, &options)?;
    let entry = seqoia::learners::find(learner).map_err(seqoia::Error::Option)?;
    let mut options = TrainOptions::new(entry, entry.check(&[]).map_err(seqoia::Error::Option)?);
    options.passes = Some(Passes::Exactly(1));
    let trained = Trainer::new(&set, &options)?.run(None, &mut (), &Arc::default())?;
    let model = seqoia::model_bytes(&set, &options, &trained)?;
    let labeller = Arc::new(Labeller::from_bytes("model", &model)?);
    for output in
        [Output::Text, Output::Marginals, Output::NBest(3), Output::Json { marginals: true, nbest: 2 }]
    {
        let options = PredictOptions::new(output, 1);
        predict(&labeller, seqoia::input_from_text("test", text)?, &options, &mut vec![])?;
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
        // Behind the header there may be anything as well.
        let mut bytes = [&b"SEQOIA\r\n\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0"[..], &bytes].concat();
        seal(&mut bytes);
        let _ = (Labeller::from_bytes("m", &bytes), Checkpoint::from_bytes("m", &bytes));
    }

    #[test]
    fn a_changed_model_labels_or_is_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in 0usize..3,
    ) {
        let mut bytes = model();
        for (at, value) in changes {
            let at = 16 + at.index(bytes.len() - 16);
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        seal(&mut bytes);
        if let Ok(labeller) = Labeller::from_bytes("m", &bytes) {
            let labeller = Arc::new(labeller);
            let _ = Predictor::new(Arc::clone(&labeller)).label(&[&["the", "1"], &["dog", "2"]]);
            let _ = seqoia::why_text(&labeller, "the/1 dog/2", None);
            let _ = seqoia::model_to_text(&labeller, &mut std::io::sink());
            let _ = seqoia::Inspector::new(&labeller).map(|inside| (inside.summary(), inside.strongest(2, None)));
        }
    }
}

/// Makes length and checksum right, so that what lies behind them is reached.
fn seal(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[16..]);
    bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
}

fn model() -> Vec<u8> {
    let mut data = DataOptions::default();
    data.features.templates.push(("t".to_owned(), "U0:%x[0,0]\nU1:%v[0,1]\nB1:%x[-1,0]\nB\n".to_owned()));
    data.features.patterns.push(("p".to_owned(), "*:%m[@-1,0,\"^\\l?a*\"]%X[-1,0]\n".to_owned()));
    let text = "the 1 D\ndog 2 N\nbarks 3 V\n\na 1 D\ncat 4 N\n\n";
    let set = TrainingSet::read(seqoia::input_from_text("train", text).unwrap(), &data).unwrap();
    let entry = seqoia::learners::find("perceptron").unwrap();
    let options = TrainOptions::new(entry, entry.check(&[]).unwrap());
    let trained = Trainer::new(&set, &options).unwrap().run(None, &mut (), &Arc::default()).unwrap();
    seqoia::model_bytes(&set, &options, &trained).unwrap()
}
