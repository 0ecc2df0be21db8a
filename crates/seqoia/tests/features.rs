//! What features are made of data: printed, with tests that fail, in one width, by patterns; and that a model
//! keeps all of it.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::HashMap;
use std::sync::Arc;

use seqoia::data::features::{Clusters, Lexica};
use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::data::scheme::Scheme;
use seqoia::tools::{ConvertOptions, convert, dump_features};
use seqoia::{DataOptions, Labeller, Predictor, Trained, input_from_text};
use seqoia_testkit::labelling::{fit, label, learner, read, templates};

const TEXT: &str = "The DT B-NP\nU.S. NNP I-NP\ndog NN I-NP\nbarks VBZ B-VP\n. . O\n\n\
                    B-52 CD B-NP\nbarks VBZ B-VP\n\nthe DT B-NP\ndog NN I-NP\n";
const TEMPLATE: &str = "U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nU2:%x[1,0]\nB\n";
const PATTERNS: &str = "*\n*:p=%x[0,1]\nu:w=%X[0,0]\nu:s=%m[0,0,\".?.?$\"]\nu:c=%t[0,0,\"^\\u\"]\n\
                        u:h=%M[0,0,\"\\u-?\"]\nu:e=%x[@-1,0]\n";

fn patterns(text: &str) -> DataOptions {
    let mut options = DataOptions::default();
    options.features.patterns.push(("patterns".to_owned(), text.to_owned()));
    options
}

fn set(name: &str) -> DataOptions {
    let mut options = DataOptions { format: Some(Kind::Columns), ..DataOptions::default() };
    options.features.sets.push(name.to_owned());
    options
}

fn dump(text: &str, options: &DataOptions) -> String {
    let mut out = vec![];
    dump_features(input_from_text("text", text).unwrap(), options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn train(text: &str, options: &DataOptions) -> (Trained, Labeller) {
    let fitted = fit(&read(text, options), None, &learner("averaged-perceptron", &[]));
    let labeller = fitted.labeller();
    (fitted.trained, labeller)
}

#[test]
fn a_dump_is_what_convert_writes_and_can_be_trained_on() {
    let options = templates(TEMPLATE);
    let dumped = dump(TEXT, &options);
    let to = ConvertOptions {
        to: Some(Kind::Crfsuite),
        features: options.features.clone(),
        ..ConvertOptions::default()
    };
    let mut converted = vec![];
    convert(input_from_text("text", TEXT).unwrap(), &to, &mut converted).unwrap();
    assert_eq!(dumped.as_bytes(), converted);
    let ready = DataOptions { format: Some(Kind::Crfsuite), ..DataOptions::default() };
    assert_eq!(train(&dumped, &ready).0.weights, train(TEXT, &options).0.weights);
}

#[test]
fn lists_are_looked_into_by_convert_too() {
    let mut lexica = Lexica { clusters: Clusters::read("c", "0101\tdog\n").unwrap(), ..Lexica::default() };
    lexica.names.read("animals", "f", "dog\n").unwrap();
    let mut listed = templates("U0:%x[0,0]\n");
    listed.features.lexica = Arc::new(lexica);
    let mut own = templates("U0:%x[0,0]\n");
    own.features.own_words = true;
    own.format = Some(Kind::Words);
    for (options, text, name) in [(listed, TEXT, "list\\:animals[0]=S"), (own, "ab cd\nab e\n", "starts[0]=")]
    {
        let to = ConvertOptions {
            from: options.format,
            to: Some(Kind::Crfsuite),
            features: options.features.clone(),
            ..ConvertOptions::default()
        };
        let mut converted = vec![];
        convert(input_from_text("text", text).unwrap(), &to, &mut converted).unwrap();
        let dumped = dump(text, &options);
        assert!(dumped.contains(name), "{dumped}");
        assert_eq!(String::from_utf8(converted).unwrap(), dumped);
    }
}

/// A name is found in lower case, however it is written; and a list may be called like a feature of a set.
#[test]
fn names_are_found_in_lower_case() {
    let mut options = set("ner-003");
    let mut lexica = Lexica::default();
    lexica.names.read("w", "f", "ΟΔΥΣΣΕΑΣ\nNew York\n").unwrap();
    options.features.lexica = Arc::new(lexica);
    let text = "ΟΔΥΣΣΕΑΣ X A\nI X B\nΟδυσσεασ X A\nNEW X A\nYork X A\n\nοδΥΣΣΕΑΣ X A\n";
    let found: Vec<String> = dump(text, &options)
        .lines()
        .map(|line| {
            line.split('\t').filter(|name| name.starts_with("list") && name.contains("[0]")).collect()
        })
        .collect();
    let lower = |place| format!("list-lower\\:w[0]={place}");
    let first = format!("list\\:w[0]=S{}", lower("S"));
    assert_eq!(found, [&first, "", &lower("S"), &lower("B"), &lower("E"), "", &lower("S"), ""]);
}

/// A long sentence is worked on in stretches, which no attribute tells.
#[test]
fn a_token_has_the_attributes_that_its_surroundings_give_it() {
    let rows: Vec<String> = (0..700).map(|i| format!("w{} P{} L\n", i % 97, i % 7)).collect();
    let options = set("chunking");
    let whole = dump(&rows.concat(), &options);
    for (i, line) in whole.lines().take(rows.len()).enumerate().skip(2).take(rows.len() - 4) {
        if i % 64 < 4 || i % 64 > 60 {
            let near = dump(&rows[i - 2..=i + 2].concat(), &options);
            assert_eq!(near.lines().nth(2), Some(line), "{i}");
        }
    }
}

#[test]
fn the_cut_off_is_applied() {
    let all = dump(TEXT, &templates(TEMPLATE));
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let names = all.lines().flat_map(|line| line.split('\t').skip(1));
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    for cutoff in [2, 3] {
        let kept = |line: &str| {
            let frequent = line.split('\t').skip(1).filter(|name| counts[name] >= cutoff);
            let row: Vec<&str> = line.split('\t').take(1).chain(frequent).collect();
            row.join("\t") + "\n"
        };
        let wanted: String = all.lines().map(kept).collect();
        assert_ne!(wanted, all);
        assert_eq!(dump(TEXT, &DataOptions { cutoff, ..templates(TEMPLATE) }), wanted);
    }
}

#[test]
fn labels_are_those_that_are_trained_on_and_edges_are_marked() {
    let scheme = DataOptions { scheme: Some(Scheme::Iobes), ..templates("U0\nB1:%x[0,1]\n") };
    assert_eq!(
        dump("a X B-A\nb Y I-A\n\nc : B-A\nd : B-A\n", &scheme),
        "B-A\tU0\nE-A\tU0\tedge:B1\\:Y:1\n\nS-A\tU0\nS-A\tU0\tedge:B1\\:\\::1\n\n"
    );
    let values = templates("U0:%v[0,1]\nB1:%v[0,1]\n");
    assert_eq!(
        dump("a 1 X\nb 0.5 X\n", &values),
        "X\tU0\\:%v[0,1]\nX\tU0\\:%v[0,1]:0.5\tedge:B1\\:%v[0,1]:0.5\n\n"
    );
    let ready = DataOptions { format: Some(Kind::Crfsuite), ..DataOptions::default() };
    let text = "@weight:2\nX\ta:3\tb\n\nY\tc\\\\\\:\n\n";
    assert_eq!(dump(text, &ready), text);
    assert_eq!(dump(text, &DataOptions { cutoff: 2, ..ready }), "@weight:2\nX\n\nY\n\n");
}

#[test]
fn tests_that_fail_fire_as_f() {
    for name in ["pos", "ner", "segmentation"] {
        let plain = set(name);
        let mut both = plain.clone();
        both.features.false_features = true;
        let (without, with) = (dump(TEXT, &plain), dump(TEXT, &both));
        assert_ne!(without, with, "{name}");
        // All else stays as it was, in its order.
        let kept = |line: &str| {
            let fields = line.split('\t').filter(|f| !f.contains("=F") || !is_test(f));
            fields.collect::<Vec<_>>().join("\t") + "\n"
        };
        assert_eq!(with.lines().map(kept).collect::<String>(), without, "{name}");
    }
    let mut both = set("pos");
    both.features.false_features = true;
    let out = dump("ab X\nA-1 X\n", &both);
    let tests = |line: &str| line.split('\t').filter(|f| is_test(f)).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = out.lines().map(tests).collect();
    assert_eq!(lines[0], "digit[0]=F hyphen[0]=F upper[0]=F cap[0]|place=F|first");
    assert_eq!(lines[1], "digit[0]=1 hyphen[0]=1 upper[0]=1 cap[0]|place=1|inner");
    // A comparison that reaches beyond the sentence is not made.
    let mut both = set("segmentation");
    both.features.false_features = true;
    let out = dump("a X\nb X\nb X\n", &both);
    let twins = |line: &str| {
        let fields = line.split('\t').filter(|f| f.starts_with("twin"));
        fields.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(twins(out.lines().next().unwrap()), "twin[0,1]=F twin[1,2]=1 twin[0,2]=F");
}

fn is_test(name: &str) -> bool {
    let name = name.trim_start_matches("edge:");
    ["digit[", "hyphen[", "upper[", "cap[", "first=", "twin["].iter().any(|test| name.starts_with(test))
}

fn full_width(text: &str) -> String {
    let wide = |c: char| match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xFEE0).unwrap(),
        _ => c,
    };
    // The label stays: it is not what features read.
    let row = |line: &str| match line.rsplit_once(' ') {
        Some((fields, label)) => fields.chars().map(wide).collect::<String>() + " " + label + "\n",
        None => "\n".to_owned(),
    };
    text.lines().map(row).collect()
}

#[test]
fn in_full_width_half_width_is_the_same() {
    let wide = full_width(TEXT);
    let all = [templates(TEMPLATE), patterns(PATTERNS), set("pos"), set("ner"), set("segmentation")];
    for mut options in all {
        options.features.full_width = Some(false);
        assert_ne!(dump(TEXT, &options), dump(&wide, &options));
        let own = dump(&wide, &options);
        options.features.full_width = Some(true);
        assert_eq!(dump(TEXT, &options), dump(&wide, &options));
        // Mapping first and taking text as it is comes to the same, but for expressions, which are mapped too.
        if options.features.patterns.is_empty() {
            assert_eq!(dump(TEXT, &options), own);
        }
    }
    // Segmentation has it by itself; a character and its twin may differ in width.
    assert_eq!(dump(TEXT, &set("segmentation")), dump(&wide, &set("segmentation")));
    assert!(dump("A X\n\u{ff21} X\n", &set("segmentation")).contains("twin[0,1]=1"));
    let mut hyphen = patterns("u:%m[0,0,\"-.?\"]|%t[0,0,\"-\"]\n");
    hyphen.features.full_width = Some(true);
    assert_eq!(dump("B-5 X\n", &hyphen), "X\tu\\:－５|true\n\n");
}

#[test]
fn a_model_keeps_patterns_width_and_failed_tests() {
    let mut options = patterns(PATTERNS);
    options.features.sets.push("pos".to_owned());
    options.features.full_width = Some(true);
    options.features.false_features = true;
    let (_, model) = train(TEXT, &options);
    let set = read(TEXT, &options);
    assert_eq!(model.meta().templates, set.program.templates());
    let mut predictor = Predictor::new(&model);
    for text in [TEXT.to_owned(), full_width(TEXT)] {
        for sentence in text.split("\n\n") {
            let rows: Vec<Vec<&str>> = sentence.lines().map(|l| l.split(' ').collect()).collect();
            let fields: Vec<&[&str]> = rows.iter().map(|row| &row[..2]).collect();
            let gold: Vec<&str> = rows.iter().map(|row| row[2]).collect();
            assert_eq!(predictor.label(&fields).unwrap(), gold);
        }
    }
}

#[test]
fn options_that_nothing_uses_are_refused() {
    let refused = |options: &DataOptions, text: &str| {
        dump_features(input_from_text("text", text).unwrap(), options, &mut vec![]).unwrap_err().to_string()
    };
    let mut options = templates(TEMPLATE);
    options.features.false_features = true;
    assert!(refused(&options, TEXT).contains("none of the features is a test"));
    let mut options = templates("U0\nB\n");
    options.features.full_width = Some(true);
    assert!(refused(&options, TEXT).contains("none of the features reads text"));
    let error = refused(&patterns("u:%X[@-1,0]|%m[0,7,\"a\\\"\"]\n"), TEXT);
    assert!(
        error.starts_with("patterns:1: pattern u:%X[@-1,0]|%m[0,7,\"a\\\"\"] reads column 7, but text has"),
        "{error}"
    );
}

/// Documents of ten sentences each, about one person each.
fn documents(seed: u64, count: usize) -> Vec<String> {
    let text = generate::columns(seed, 10 * count);
    let sentences: Vec<&str> = text.split_terminator("\n\n").collect();
    let document = |(i, sentences): (usize, &[&str])| {
        let name = ["Mary", "Rome", "Ford", "May"][i % 4];
        let verb = ["said", "fell"][i % 2];
        let about = format!("{name} NNP O B-NP\n{verb} VBD O B-VP\n\nFor IN O B-PP\n{name} NNP O B-NP\n\n");
        format!("-DOCSTART- -X- O O\n\n{about}{}\n\n", sentences.join("\n\n"))
    };
    sentences.chunks(10).enumerate().map(document).collect()
}

#[test]
fn documents_know_nothing_of_each_other_and_threads_nothing_of_either() {
    let (_, labeller) = train(&documents(1, 20).concat(), &set("ner"));
    let some = documents(2, 30);
    let whole = some.concat();
    assert!(whole.len() < 1 << 18); // one block
    // Some blocks, and a document that is longer than a block, with a name at both ends.
    let mut many = documents(3, 200);
    let long = many[50..].concat().replace("-DOCSTART- -X- O O\n\n", "");
    assert!(long.len() > 1 << 18);
    many[20].push_str("Malta NNP O B-NP\nwon VBD O B-VP\n\n");
    many[20].push_str(&long);
    many[20].push_str("in IN O B-PP\nMalta NNP O B-NP\n\n");
    for documents in [some.clone(), many] {
        let apart: String = documents.iter().map(|document| label(&labeller, document, 1)).collect();
        for threads in [1, 2, 3, 8] {
            assert!(label(&labeller, &documents.concat(), threads) == apart);
        }
        let dumped: String = documents.iter().map(|document| dump(document, &set("ner"))).collect();
        assert!(dump(&documents.concat(), &set("ner")) == dumped);
    }
    // The rows do matter: without them a name finds the mentions of other documents.
    let unmarked = whole.replace("-DOCSTART- -X- O O\n\n", "");
    assert!(dump(&unmarked, &set("ner")) != dump(&whole, &set("ner")));
}

/// A path beside a mention is an attribute of a set that looks there.
#[test]
fn clusters_are_looked_up_beside_other_mentions() {
    let clusters = Clusters::read("clusters", "0110100110\tin\n111\tleft\n").unwrap();
    let lexica = Arc::new(Lexica { clusters, ..Lexica::default() });
    let text = "Rome NNP A\nleft VBD B\n\nin IN B\nRome NNP A\n";
    let paths = |name: &str| {
        let mut options = set(name);
        options.features.lexica = Arc::clone(&lexica);
        let dumped = dump(text, &options);
        let all = dumped.split(['\t', '\n']).filter(|name| name.starts_with("mention-path"));
        all.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = [
        "mention-path6[-1]=011010",
        "mention-path10[-1]=0110100110",
        "mention-path20[-1]=0110100110",
        "mention-path6[1]=</s>",
        "mention-path10[1]=</s>",
        "mention-path20[1]=</s>",
        "mention-path6[-1]=<s>",
        "mention-path10[-1]=<s>",
        "mention-path20[-1]=<s>",
        "mention-path6[1]=111",
        "mention-path10[1]=111",
        "mention-path20[1]=111",
    ];
    assert_eq!(paths("ner"), expected);
    assert!(paths("ner-001").is_empty());
}
