//! A model labels every file that has the columns it reads, wherever they stand.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use seqoia::data::format::{Field, Kind};
use seqoia::label::{Output, PredictOptions};
use seqoia::{DataOptions, LabelColumn, Labeller, Result};
use seqoia_testkit::labelling::{fit, learner, read, templates, try_label};

fn model(text: &str, kind: Kind, label: LabelColumn, lines: &str) -> Labeller {
    let data = DataOptions { format: Some(kind), label, ..templates(lines) };
    fit(&read(text, &data), None, &learner("perceptron", &[])).labeller()
}

fn labelled(model: &Labeller, text: &str, kind: Kind) -> Result<String> {
    try_label(model, text, &PredictOptions { format: Some(kind), ..PredictOptions::new(Output::Text, 1) })
}

/// A sentence in each format, without labels; and as it is to be labelled.
const FILES: [(Kind, &str, &str); 4] = [
    (Kind::Columns, "cat\nthe\n", "cat N\nthe D\n"),
    (Kind::Tagged, "cat the\n", "cat/N the/D\n"),
    (
        Kind::Jsonl,
        "{\"tokens\":[\"cat\",\"the\"]}\n",
        "{\"tokens\":[\"cat\",\"the\"],\"labels\":[\"N\",\"D\"]}\n",
    ),
    (
        Kind::Jsonl,
        "{\"tokens\":[[\"cat\",\"x\"],[\"the\",\"y\"]],\"labels\":[\"?\",\"?\"]}\n",
        "{\"tokens\":[[\"cat\",\"x\"],[\"the\",\"y\"]],\"labels\":[\"N\",\"D\"]}\n",
    ),
];

const CONLLU: &str = "1\tthe\t_\tDET\tD\t_\t_\t_\t_\t_\n2\tcat\t_\tNOUN\tN\t_\t_\t_\t_\t_\n";

#[test]
fn the_word_is_all_that_some_models_read() {
    let xpos = || LabelColumn::Field(Field::Xpos);
    let models = [
        model("the x D\ncat y N\n", Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\n"),
        model("the/D cat/N\n", Kind::Tagged, LabelColumn::Last, "U0:%x[0,0]\n"),
        model(
            "{\"tokens\": [[\"the\", \"x\"], [\"cat\", \"y\"]], \"labels\": [\"D\", \"N\"]}\n",
            Kind::Jsonl,
            LabelColumn::Last,
            "U0:%x[0,0]\n",
        ),
        model(CONLLU, Kind::Conllu, xpos(), "U0:%x[0,1]\n"),
        model(CONLLU, Kind::Conllx, xpos(), "U0:%x[0,1]\n"),
    ];
    for model in &models {
        for (kind, text, wanted) in FILES {
            assert_eq!(labelled(model, text, kind).unwrap(), wanted, "{} {kind:?}", model.kind().name());
        }
    }
    // Its own format, of course, and the sister of it.
    for kind in [Kind::Conllu, Kind::Conllx] {
        assert_eq!(labelled(&models[3], &CONLLU.replace("\tD\t", "\t_\t"), kind).unwrap(), CONLLU);
    }
}

#[test]
fn columns_keep_their_order_where_the_label_stands_elsewhere() {
    let model =
        model("D the x\nN cat y\n", Kind::Columns, LabelColumn::Number(0), "U0:%x[0,2]\nU1:%x[0,1]\n");
    let text = "{\"tokens\":[[\"?\",\"y\"],[\"?\",\"x\"]]}\n";
    assert!(labelled(&model, text, Kind::Jsonl).unwrap().ends_with("\"labels\":[\"N\",\"D\"]}\n"));
    assert_eq!(labelled(&model, "? ? y\n? ? x\n", Kind::Columns).unwrap(), "? ? y N\n? ? x D\n");
}

#[test]
fn columns_that_are_read_and_not_there_are_named() {
    let error = |model: &Labeller, text: &str, kind| labelled(model, text, kind).unwrap_err().to_string();
    let columns =
        model("the x q D\ncat y q N\n", Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\nU1:%x[0,2]\n");
    let trained = "which the model reads; it was trained on columns (4 columns), the label in column 3";
    assert_eq!(
        error(&columns, "cat y\n", Kind::Columns),
        format!("test: 2 columns (it was read as columns), but not column 2, {trained}")
    );
    assert_eq!(
        error(&columns, "cat/N\n", Kind::Tagged),
        format!("test: 2 columns (it was read as tagged), but not column 2, {trained}")
    );
    let xpos = LabelColumn::Field(Field::Xpos);
    let conllu = model(CONLLU, Kind::Conllu, xpos, "U0:%x[0,1]\nU1:%x[0,3]\n");
    assert_eq!(
        error(&conllu, "cat y\n", Kind::Columns),
        "test: 2 columns (it was read as columns), but not UPOS of conllu, which the model reads; it was trained \
         on conllu (10 columns), the label in XPOS"
    );
    let words = model("the D\ncat N\n", Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\n");
    assert!(error(&words, CONLLU, Kind::Conllu).contains("does not know where labels go"));
    // What stands in place of the label is no column that is read.
    let two = model(
        "{\"tokens\": [[\"the\", \"x\"]], \"labels\": [\"D\"]}\n",
        Kind::Jsonl,
        LabelColumn::Last,
        "U0:%x[0,1]\n",
    );
    assert!(
        error(&two, "{\"tokens\": [\"the\"], \"labels\": [\"x\"]}\n", Kind::Jsonl)
            .contains("but not column 1,")
    );
}

#[test]
fn a_column_file_has_the_columns_of_the_training_data_or_the_word_alone() {
    let words = model("the x D\ncat y N\n", Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\n");
    for (text, right) in [
        ("cat\nthe\n", true),
        ("cat x\nthe y\n", true),
        ("cat x N\nthe y D\n", true),
        ("cat x N 1\nthe y D 1\n", false),
        ("the cat sees the cat\n", false),
    ] {
        assert_eq!(labelled(&words, text, Kind::Columns).is_ok(), right, "{text}");
    }
    // A label that does not stand at the end cannot be missing.
    let first = model("D the x\nN cat y\n", Kind::Columns, LabelColumn::Number(0), "U0:%x[0,1]\n");
    assert!(labelled(&first, "D the x\n", Kind::Columns).is_ok());
    assert!(labelled(&first, "the x\n", Kind::Columns).is_err());
}

#[test]
fn a_column_of_few_values_has_some_of_them() {
    let text = "the DT D\ncat NN N\nsees VB V\n\n".repeat(10);
    let both = model(&text, Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\nU1:%x[0,1]\n");
    assert_eq!(both.meta().classes.len(), 1);
    let error = |text: &str| labelled(&both, text, Kind::Columns).err().map(|e| e.to_string());
    assert_eq!(error("a DT\nnew JJ\n"), None);
    let told = error("a D\nnew N\n").unwrap();
    assert!(told.contains("column 1 has D N, none of which") && told.contains("it had DT NN VB"), "{told}");
    // In another format, too.
    let json = "{\"tokens\": [[\"a\", \"D\"]]}\n";
    assert!(labelled(&both, json, Kind::Jsonl).unwrap_err().to_string().contains("none of which"));
    // Words are not a class, and a column of many values is none either.
    let open: String = (0..40).map(|i| format!("w{i} v{i} X\nu{i} n{i} Y\n\n")).collect();
    let open = model(&open, Kind::Columns, LabelColumn::Last, "U0:%x[0,0]\nU1:%x[0,1]\n");
    assert!(open.meta().classes.is_empty() && labelled(&open, "a b\n", Kind::Columns).is_ok());
}
