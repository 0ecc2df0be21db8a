//! What `predict` writes into a file is what it found, in the words of that file; what the file cannot hold is
//! refused before anything is written.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use seqoia::data::format::Kind;
use seqoia::label::{Output, PredictOptions, predict};
use seqoia::{DataOptions, Labeller, Result};
use seqoia_testkit::files::seal;
use seqoia_testkit::labelling::{Fitted, fit, learner, read, templates, try_read};

const WORD: &str = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%x[0,0]/%x[1,0]\nB\n";

/// A model of `text` that has seen enough of it to find the same labels there.
fn model(text: &str, kind: Kind, templates: &str) -> Labeller {
    fitted(text, kind, templates).labeller()
}

fn fitted(text: &str, kind: Kind, lines: &str) -> Fitted {
    let data = DataOptions { format: Some(kind), ..templates(lines) };
    fit(&read(text, &data), None, &learner("lbfgs", &[]))
}

fn labelled(model: &Labeller, test: &str, kind: Kind, output: Output) -> Result<String> {
    let mut out = vec![];
    let how = PredictOptions { format: Some(kind), ..PredictOptions::new(output, 1) };
    let done = predict(model, seqoia::input_from_text("test", test).unwrap(), &how, &mut out);
    if done.is_err() {
        assert!(out.is_empty(), "nothing is written before it is refused");
    }
    done.map(|_| String::from_utf8(out).unwrap())
}

fn refusal(model: &Labeller, test: &str, kind: Kind) -> String {
    labelled(model, test, kind, Output::Text).unwrap_err().to_string()
}

const SEGMENTED: &str = "ab c ab\nc abd c\nabd ab c\n";

#[test]
fn characters_labelled_in_any_scheme_become_the_same_words() {
    for (scheme, ab, c, abd) in [
        ("bie", "a B\nb E\n", "c B\n", "a B\nb I\nd E\n"),
        ("bmes", "a B\nb E\n", "c S\n", "a B\nb M\nd E\n"),
        ("iobes", "a B\nb E\n", "c S\n", "a B\nb I\nd E\n"),
        ("iob2", "a B\nb I\n", "c B\n", "a B\nb I\nd I\n"),
    ] {
        let text: String = [ab, c, ab, "\n", c, abd, c, "\n", abd, ab, c, "\n"].concat();
        let model = model(&text, Kind::Columns, WORD);
        let raw = SEGMENTED.replace(' ', "");
        let words = labelled(&model, &raw, Kind::Words, Output::Text).unwrap();
        assert_eq!(words, SEGMENTED, "{scheme}");
        let best = labelled(&model, &raw, Kind::Words, Output::NBest(1)).unwrap();
        let best: Vec<&str> = best.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(best.join("\n") + "\n", SEGMENTED, "{scheme}");
    }
}

#[test]
fn labels_that_make_no_words_are_not_written_as_words() {
    for (text, label, why) in [
        ("a DT\nb NN\nc VB\n", "DT", "DT"),
        ("a B-X\nb I-X\nc B-X\n\na B-X\n", "B-X", "typed"),
        ("a B\nb I\nc O\n\nc O\na B\n", "O", "outside"),
    ] {
        let model = model(text, Kind::Columns, WORD);
        assert_eq!(
            refusal(&model, "a b c\n", Kind::Words),
            format!(
                "test: it is read as words, which cannot hold what the model finds: the label {label:?} does not say \
                 which characters make a word; `json` writes every label"
            ),
            "{why}"
        );
        assert!(
            labelled(&model, "a b c\n", Kind::Words, Output::Json { marginals: false, nbest: 1 }).is_ok()
        );
    }
}

#[test]
fn labels_that_a_file_cannot_hold_are_refused() {
    let of = |label: &str| {
        let text = serde_json::json!({ "tokens": ["a", "b"], "labels": ["X", label] }).to_string();
        model(&text, Kind::Jsonl, "U0:%x[0,0]\n")
    };
    for (label, test, kind, holds) in [
        ("X Y", "a\nb\n", Kind::Columns, false),
        ("X Y", "a\tx\nb\tx\n", Kind::Columns, true),
        ("X ", "a\tx\nb\tx\n", Kind::Columns, false),
        ("x\ty", "a\tx\nb\tx\n", Kind::Columns, false),
        ("x\ty", "a b\n", Kind::Tagged, false),
        ("P/Q", "a b\n", Kind::Tagged, false),
        ("P/Q", "a\nb\n", Kind::Columns, true),
        ("X Y", "{\"tokens\":[\"a\",\"b\"]}", Kind::Jsonl, true),
    ] {
        let found = labelled(&of(label), test, kind, Output::Text);
        assert_eq!(found.is_ok(), holds, "{label:?} {test:?}: {found:?}");
        if let Err(error) = found {
            assert!(error.to_string().contains(&format!("the label {label:?} ")), "{error}");
        }
    }
    let tabs = model("a\tX\nb\tNew York\n", Kind::Columns, "U0:%x[0,0]\n");
    assert_eq!(
        labelled(&tabs, "a\tX\nb\tX\n", Kind::Columns, Output::Text).unwrap(),
        "a\tX\tX\nb\tX\tNew York\n"
    );
    assert_eq!(
        refusal(&tabs, "a X\nb X\n", Kind::Columns),
        "test: it is read as columns, which cannot hold what the model finds: the label \"New York\" holds a blank, and \
         blanks separate the columns; `json` writes every label"
    );
}

#[test]
fn no_model_has_a_label_that_is_empty_or_holds_a_line_end() {
    for end in ["\n", "\r"] {
        let text = serde_json::json!({ "tokens": ["a"], "labels": [format!("X{end}Y")] });
        let data = DataOptions { format: Some(Kind::Jsonl), ..templates(WORD) };
        let text = format!("{{\"tokens\":[\"a\"],\"labels\":[\"X\"]}}\n{text}\n");
        let error = try_read(&text, &data).err().unwrap().to_string();
        assert!(error.starts_with("train:2: the label \"X\\"), "{error}");
    }
    // Nor does a file that was changed with its checksum.
    let model = fitted("a D1\nb N1\n", Kind::Columns, WORD).bytes;
    let label = b"\"labels\":[\"D1\"";
    let at = model.windows(label.len()).position(|window| window == label).unwrap();
    for (changed, sound) in [("\"D2\"", true), ("\"\"  ", false), ("\"\\n\"", false), ("\"\\r\"", false)] {
        let mut model = model.clone();
        model[at + label.len() - 4..at + label.len()].copy_from_slice(changed.as_bytes());
        seal(&mut model);
        assert_eq!(Labeller::from_bytes("model", &model).is_ok(), sound, "{changed}");
    }
}

#[test]
fn document_starts_get_as_many_columns_as_tokens() {
    let text =
        "-DOCSTART-\n\na DT X O\nb NN X B\n\n-DOCSTART- -X-\n\na DT X O\n\n-DOCSTART- -X- O O\n\nb NN X B\n";
    let blanks = model(text, Kind::Columns, "U0:%x[0,0]\n");
    let tabs = model(&text.replace(' ', "\t"), Kind::Columns, "U0:%x[0,0]\n");
    // Without the label, too; and a mark may be all that a block has.
    let bare = "-DOCSTART-\n\na DT X\n\n-DOCSTART- -X- O\n";
    for (test, output, width) in [
        (text, Output::Text, 5),
        (text, Output::Marginals, 6),
        (bare, Output::Text, 4),
        (bare, Output::Marginals, 5),
    ] {
        for (model, separator) in [(&blanks, " "), (&tabs, "\t")] {
            let test = test.replace(' ', separator);
            let out = labelled(model, &test, Kind::Columns, output).unwrap();
            for line in out.lines().filter(|line| !line.is_empty()) {
                assert_eq!(line.split(separator).count(), width, "{line:?} in {out}");
            }
        }
    }
    let out = labelled(&blanks, text, Kind::Columns, Output::Text).unwrap();
    let marks: Vec<&str> = out.lines().filter(|line| line.starts_with('-')).collect();
    assert_eq!(marks, ["-DOCSTART- O O O O", "-DOCSTART- -X- O O O", "-DOCSTART- -X- O O O"]);
}
