//! Files in other formats hold the same, and train the same models.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use seqoia::data::format::{Field, Kind};
use seqoia::data::open::{Input, open};
use seqoia::data::scheme::Scheme;
use seqoia::label::{Output, PredictOptions};
use seqoia::tools::{ConvertOptions, convert};
use seqoia::{DataOptions, LabelColumn, LearnOptions, Result, Strength};
use seqoia_testkit::labelling::{fit, learner, read, try_label};
use seqoia_testkit::outside;

fn to(from: Kind, to: Kind, text: &str) -> Result<String> {
    let label = match from {
        Kind::Conllu | Kind::Conllx => LabelColumn::Field(Field::Upos),
        _ => LabelColumn::Last,
    };
    let options = ConvertOptions { from: Some(from), to: Some(to), label, ..ConvertOptions::default() };
    let mut out = vec![];
    convert(Input::from_bytes("a", text)?, &options, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// Strings that some format or other has a meaning for.
const ODD: [&str; 29] = [
    "a",
    "B",
    "cat",
    "é",
    "日本",
    "\u{3000}",
    "a b",
    " ",
    "a ",
    "b/c",
    "/",
    "//",
    "a:b",
    "\\",
    "\\:",
    "#",
    "# text",
    "-DOCSTART-",
    "-DOCSTART- x",
    "\u{feff}a",
    "\0",
    "@weight:2",
    "{",
    "\"",
    "_",
    "1",
    "a\tb",
    "\r",
    "\n",
];
const LABELS: [&str; 10] = ["X", "NN", "B-X", "O", "a/b", "a:b", "\\", "@x", "#", " "];

/// JSON lines with a word and a label a token, which hold everything.
fn labelled() -> impl Strategy<Value = String> {
    let token = (prop::sample::select(&ODD[..]), prop::sample::select(&LABELS[..]));
    let sentence = prop::collection::vec(token, 1..5).prop_map(|tokens| {
        let (words, labels): (Vec<&str>, Vec<&str>) = tokens.into_iter().unzip();
        let quoted = |list: Vec<&str>| serde_json::to_string(&list).unwrap();
        format!("{{\"tokens\":{},\"labels\":{}}}\n", quoted(words), quoted(labels))
    });
    prop::collection::vec(sentence, 1..4).prop_map(|sentences| sentences.concat())
}

/// JSON lines with attributes.
fn attributes() -> impl Strategy<Value = String> {
    let feature = (prop::sample::select(&ODD[..]), prop::sample::select(vec![1.0f32, 0.5, -3.0, 1e-20]));
    let feature = feature.prop_map(|(name, value)| {
        let name = serde_json::to_string(name).unwrap();
        if value == 1.0 { name } else { format!("{{{name}:{value}}}") }
    });
    let token = (prop::collection::vec(feature, 0..4), prop::sample::select(&LABELS[..]));
    let weight = prop::sample::select(vec!["", ",\"weight\":2", ",\"weight\":0.5"]);
    let sentence = (prop::collection::vec(token, 1..4), weight).prop_map(|(tokens, weight)| {
        let features: Vec<String> = tokens.iter().map(|(list, _)| format!("[{}]", list.join(","))).collect();
        let labels: Vec<&str> = tokens.iter().map(|(_, label)| *label).collect();
        let labels = serde_json::to_string(&labels).unwrap();
        format!("{{\"features\":[{}],\"labels\":{labels}{weight}}}\n", features.join(","))
    });
    prop::collection::vec(sentence, 1..4).prop_map(|sentences| sentences.concat())
}

const TEXTS: [Kind; 5] = [Kind::Columns, Kind::Conllu, Kind::Conllx, Kind::Tagged, Kind::Jsonl];

proptest! {
    /// What a format takes it gives back, through any other and with lines that end in CR LF.
    #[test]
    fn there_and_back(text in labelled()) {
        for first in TEXTS {
            let Ok(there) = to(Kind::Jsonl, first, &text) else { continue };
            prop_assert_eq!(&to(first, Kind::Jsonl, &there).unwrap(), &text, "{}", first.name());
            prop_assert_eq!(&to(first, first, &there).unwrap(), &there, "{}", first.name());
            // Within one format lines keep their ends.
            let dos = there.replace('\n', "\r\n");
            let back = to(first, Kind::Jsonl, &dos).unwrap().replace('\r', "");
            prop_assert_eq!(&back, &text, "{}", first.name());
            for second in TEXTS {
                let Ok(further) = to(first, second, &there) else { continue };
                let back = to(second, Kind::Jsonl, &further).unwrap();
                prop_assert_eq!(&back, &text, "{} {}", first.name(), second.name());
            }
        }
    }

    #[test]
    fn attributes_there_and_back(text in attributes()) {
        if let Ok(there) = to(Kind::Jsonl, Kind::Crfsuite, &text) {
            prop_assert_eq!(&to(Kind::Crfsuite, Kind::Jsonl, &there).unwrap(), &text);
            prop_assert_eq!(&to(Kind::Crfsuite, Kind::Crfsuite, &there).unwrap(), &there);
            let dos = there.replace('\n', "\r\n");
            prop_assert_eq!(&to(Kind::Crfsuite, Kind::Jsonl, &dos).unwrap(), &text);
        }
        for kind in [Kind::Columns, Kind::Conllu, Kind::Words, Kind::Tagged, Kind::Ocr] {
            prop_assert!(to(Kind::Jsonl, kind, &text).is_err());
        }
    }

    #[test]
    fn words_there_and_back(lines in prop::collection::vec("([我爱你a/#:_]{1,4} ){0,5}[我爱你a/#:_]{1,4}", 1..5)) {
        let text = lines.join("\n") + "\n";
        for kind in [Kind::Columns, Kind::Conllu, Kind::Tagged, Kind::Jsonl] {
            let there = to(Kind::Words, kind, &text).unwrap();
            prop_assert_eq!(&to(kind, Kind::Words, &there).unwrap(), &text, "{}", kind.name());
        }
        prop_assert_eq!(&to(Kind::Words, Kind::Words, &text).unwrap(), &text);
        prop_assert_eq!(&to(Kind::Words, Kind::Words, &text.replace(' ', " \u{3000}")).unwrap(), &text);
    }
}

#[test]
fn a_format_says_what_it_cannot_hold() {
    let error = |text: &str, kind| to(Kind::Jsonl, kind, text).unwrap_err().to_string();
    let one = |word: &str, label: &str| format!("{{\"tokens\":[\"{word}\"],\"labels\":[\"{label}\"]}}");
    let help = "\n  help: jsonl holds every sentence, crfsuite every one with attributes";
    for (word, label, kind, expected) in [
        ("a b", "X", Kind::Tagged, "a:1: tagged cannot hold it: \"a b\" is empty or holds a blank"),
        (
            "a",
            "X/Y",
            Kind::Tagged,
            "a:1: tagged cannot hold it: the label \"X/Y\" holds a slash or a blank, or is empty",
        ),
        (
            "-DOCSTART-",
            "X",
            Kind::Columns,
            "a:1: columns cannot hold it: -DOCSTART- would be the start of a document",
        ),
        (
            "-DOCSTART- x",
            "X",
            Kind::Columns,
            "a:1: columns cannot hold it: -DOCSTART- x would be the start of a document",
        ),
        (
            "a\\tb",
            "X",
            Kind::Conllu,
            "a:1: conllu cannot hold it: \"a\\tb\" cannot be a field: it is empty or holds a tab, a line end or a zero byte",
        ),
        ("a", "X", Kind::Ocr, "a:1: ocr cannot hold it: images of letters are read, not written"),
    ] {
        assert_eq!(error(&one(word, label), kind), format!("{expected}{help}"));
    }
    assert!(error(&one("a", "X"), Kind::Crfsuite).starts_with("`to` crfsuite: it needs attributes"));
}

#[test]
fn comments_and_ranges_of_conllu_stay_in_conllu() {
    let row = |id: &str, label: &str| format!("{id}\ta\t_\t{label}\t_\t_\t0\troot\t_\tA=1\n");
    let text = ["# text = a\n", &row("1-2", "_"), &row("1", "B-X"), &row("2", "I-X"), &row("2.1", "_"), "\n"]
        .concat();
    let options = ConvertOptions {
        scheme: Some(Scheme::Iobes),
        label: LabelColumn::Field(Field::Upos),
        ..ConvertOptions::default()
    };
    let mut out = vec![];
    convert(Input::from_bytes("a", text.as_str()).unwrap(), &options, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text.replace("I-X", "E-X"));
    let x = to(Kind::Conllu, Kind::Conllx, &text).unwrap();
    assert_eq!(x, [row("1", "B-X"), row("2", "I-X"), "\n".into()].concat().replace("A=1", "_"));
    assert_eq!(to(Kind::Conllx, Kind::Columns, &x).unwrap(), "a\tB-X\na\tI-X\n\n");
}

#[test]
fn labels_go_where_labels_belong() {
    let conll = |to, label| {
        let options =
            ConvertOptions { to: Some(to), label: LabelColumn::Field(label), ..ConvertOptions::default() };
        let mut out = vec![];
        convert(Input::from_bytes("a", "cat NN\n").unwrap(), &options, &mut out).map(|_| out)
    };
    for to in [Kind::Conllu, Kind::Conllx] {
        for field in Field::ALL {
            let takes =
                matches!(field, Field::Upos | Field::Xpos | Field::Feats | Field::Deprel | Field::Misc);
            let found = conll(to, field);
            assert_eq!(found.is_ok(), takes, "{}", field.name());
            if let Ok(out) = found {
                let row = String::from_utf8(out).unwrap();
                let fields: Vec<&str> = row.trim_end().split('\t').collect();
                assert_eq!((fields[0], fields[1], fields[field.column()]), ("1", "cat", "NN"));
            }
        }
    }
    let error = conll(Kind::Conllu, Field::Form).unwrap_err().to_string();
    assert!(
        error.starts_with("`label` form: labels are written as upos, xpos, feats, deprel or misc"),
        "{error}"
    );
}

#[test]
fn words_stay_beside_the_attributes_that_templates_make() {
    let mut options = ConvertOptions { to: Some(Kind::Jsonl), ..ConvertOptions::default() };
    options.features.templates.push(("t".to_owned(), "U0:%x[0,0]\nU1:%x[-1,0]\nB\n".to_owned()));
    let mut out = vec![];
    convert(Input::from_bytes("a", TEXT).unwrap(), &options, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(
        out.lines().last().unwrap(),
        "{\"tokens\":[[\"the\",\"1\"]],\"features\":[[\"U0:the\",\"U1:_B-1\"]],\"labels\":[\"N\"]}"
    );
    // They train the same model as the templates do.
    let by_templates = probabilities(TEXT, TEXT, Kind::Columns, Some("U0:%x[0,0]\nU1:%x[-1,0]\nB\n"));
    let plain: Vec<f64> =
        by_templates.iter().map(|found| found.rsplit_once(':').unwrap().1.parse().unwrap()).collect();
    let json = probabilities(&out, &out, Kind::Jsonl, None);
    let mut found = vec![];
    for line in &json {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        found.extend(line["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()));
    }
    assert_eq!(found.len(), plain.len());
    assert!(found.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?} {plain:?}");
}

#[test]
fn labels_that_segmented_text_cannot_hold_are_told() {
    let left_out = |from, text: &str| {
        let label = if from == Kind::Conllu { LabelColumn::Field(Field::Upos) } else { LabelColumn::Last };
        let options =
            ConvertOptions { from: Some(from), to: Some(Kind::Words), label, ..ConvertOptions::default() };
        let mut out = vec![];
        let done = convert(Input::from_bytes("a", text).unwrap(), &options, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), done.left_out)
    };
    assert_eq!(left_out(Kind::Columns, "the DT\ncat NN\n"), ("the cat\n".to_owned(), vec![1]));
    assert_eq!(left_out(Kind::Columns, "the x DT\ncat y NN\n"), ("the cat\n".to_owned(), vec![1, 2]));
    assert_eq!(left_out(Kind::Tagged, "the/DT cat/NN\n"), ("the cat\n".to_owned(), vec![1]));
    assert_eq!(
        left_out(Kind::Conllu, "1\tcat\t_\tNN\t_\t_\t_\t_\t_\t_\n"),
        ("cat\n".to_owned(), vec![Field::Upos.column()])
    );
    assert_eq!(left_out(Kind::Columns, "a B\nb E\nc S\n"), ("ab c\n".to_owned(), vec![]));
    assert_eq!(left_out(Kind::Columns, "a x B\nb y E\nc z S\n"), ("ab c\n".to_owned(), vec![1]));
}

const TEXT: &str = "the 3 D\ndog: 3 N\nbarks 5.5 V\n\na\\ 1 D\ncat 3 N\nsleeps -6 V\n\nthe 1 N\n\n";

/// Labels of `test` with their probabilities, by a model of `text`.
fn probabilities(text: &str, test: &str, kind: Kind, templates: Option<&str>) -> Vec<String> {
    let mut data = DataOptions { format: Some(kind), ..DataOptions::default() };
    data.features.templates.extend(templates.map(|t| ("t".to_owned(), t.to_owned())));
    let options = LearnOptions { l2: Some(Strength::OverN(1.0)), ..learner("lbfgs", &[]) };
    let model = fit(&read(text, &data), None, &options).labeller();
    let out = try_label(&model, test, &PredictOptions::new(Output::Marginals, 1)).unwrap();
    let row = |line: &str| match kind {
        Kind::Crfsuite => line.split('\t').next().unwrap().to_owned(),
        Kind::Jsonl => line.to_owned(),
        _ => line.rsplit(' ').take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(":"),
    };
    out.lines().filter(|line| !line.is_empty() && !line.starts_with('@')).map(row).collect()
}

/// The same to four digits: sums in another order end elsewhere in the last ones.
fn same(a: &[String], b: &[String]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        let ((a, p), (b, q)) = (a.rsplit_once(':').unwrap(), b.rsplit_once(':').unwrap());
        assert_eq!(a, b);
        assert!((p.parse::<f64>().unwrap() - q.parse::<f64>().unwrap()).abs() < 1e-4, "{p} {q}");
    }
}

#[test]
fn templates_and_the_attributes_that_they_make_train_the_same_model() {
    for templates in ["U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n", "U0:%x[0,0]\nU1:%v[0,1]\nU2:%x[1,0]\nB\n"] {
        let mut options = ConvertOptions { to: Some(Kind::Crfsuite), ..ConvertOptions::default() };
        options.features.templates.push(("t".to_owned(), templates.to_owned()));
        let mut expanded = vec![];
        convert(Input::from_bytes("a", TEXT).unwrap(), &options, &mut expanded).unwrap();
        let expanded = String::from_utf8(expanded).unwrap();
        let by_templates = probabilities(TEXT, TEXT, Kind::Columns, Some(templates));
        same(&by_templates, &probabilities(&expanded, &expanded, Kind::Crfsuite, None));
    }
}

#[test]
fn a_sentence_of_weight_two_counts_as_two() {
    let (first, second) = ("D\tw=the\nN\tw=dog\n\n", "N\tw=the\tx:0.5\nN\tw=cat\n\n");
    let weighted = format!("@weight:2\n{first}{second}");
    let twice = format!("{first}{first}{second}");
    let by = |text: &str| probabilities(text, &format!("{first}{second}"), Kind::Crfsuite, None);
    same(&by(&weighted), &by(&twice));
    // Only how the weights relate to each other and to the penalty counts.
    let once = by(&format!("{first}{second}"));
    assert_ne!(once, by(&weighted));
}

#[test]
fn schemes_of_published_data_there_and_back() {
    let Some(folder) = outside::folder() else { return };
    let read = |scheme, input: Input| {
        let mut out = vec![];
        convert(input, &ConvertOptions { scheme: Some(scheme), ..ConvertOptions::default() }, &mut out)
            .unwrap();
        out
    };
    let path = folder.join("conll2003/eng.testa.gz");
    let mut plain = vec![];
    std::io::Read::read_to_end(&mut open(&path).unwrap(), &mut plain).unwrap();
    let mut text = plain.clone();
    for scheme in [Scheme::Iob2, Scheme::Iobes, Scheme::Iob1] {
        let next = read(scheme, Input::from_bytes("a", text.clone()).unwrap());
        assert!(next != text);
        text = next;
    }
    assert!(text == plain);
}
