//! Looking into models: text and back gives the same bytes, any text gives a model or an error with its line,
//! and what contributes to a difference of scores adds up to it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use seqoia::data::features::{Clusters, Lexica};
use seqoia::data::format::Kind;
use seqoia::data::generate;
use seqoia::data::scheme::Scheme;
use seqoia::label::{
    Bits, FromText, Inspector, Output, PredictOptions, ShrinkOptions, Why, model_from_text, model_to_text,
    predict, shrink, why_input, why_text,
};
use seqoia::{DataOptions, Labeller, input_from_text};
use seqoia_testkit::labelling::{fit, passes, read, try_label};

const PLAIN: &str = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[0,1]\nU3:%x[-1,1]/%x[0,1]\nB\n";
const EDGES: &str = "U0:%x[0,0]\nU1:%x[0,1]\nB\nB1:%x[0,1]\nB2:%x[-1,1]/%x[0,1]\n";

fn train(text: &str, learner: &str, change: impl FnOnce(&mut DataOptions)) -> Vec<u8> {
    let mut options = DataOptions::default();
    change(&mut options);
    fit(&read(text, &options), None, &passes(learner, 3)).bytes
}

fn templates(options: &mut DataOptions, text: &str) {
    options.features.templates.push(("t".to_owned(), text.to_owned()));
}

/// Models with all that a model can have.
fn models() -> Vec<(&'static str, Vec<u8>)> {
    let columns = generate::columns(1, 60);
    let values = "a 0.5 X\nb -2 Y\n\nc 1e-3 X\na 3 Z\n\n".repeat(3);
    let given = "X\ta\tb:0.5\tt\\:c\nY\td\n\nY\ta:-3\n\n".repeat(3);
    let listed = |o: &mut DataOptions| {
        o.features.sets.push("ner".to_owned());
        let mut lexica = Lexica {
            clusters: Clusters::read("c", "0101\tthe\n0110\tRome\n0101\ta\n").unwrap(),
            ..Lexica::default()
        };
        lexica.names.read("city", "f", "New York\nYork\nNew York City Hall\n").unwrap();
        lexica.names.read("team", "f", "york city\n").unwrap();
        o.features.lexica = Arc::new(lexica);
    };
    vec![
        ("plain", train(&columns, "lbfgs", |o| templates(o, PLAIN))),
        ("edges", train(&columns, "averaged-perceptron", |o| templates(o, EDGES))),
        ("values", train(&values, "sgd", |o| templates(o, "U0:%x[0,0]\nU1:%v[0,1]\nB2:%v[-1,1]\nB\n"))),
        ("no label pairs", train(&columns, "owl-qn", |o| templates(o, "U0:%x[0,0]\n"))),
        (
            "another scheme",
            train(&columns, "lbfgs", |o| {
                templates(o, PLAIN);
                o.scheme = Some(Scheme::Iobes);
            }),
        ),
        ("attributes", train(&given, "lbfgs", |o| o.format = Some(Kind::Crfsuite))),
        ("lists", train(&columns, "lbfgs", listed)),
        (
            "segmentation",
            train("ab c\nd efg\n\u{3000}a b\n", "lbfgs", |o| {
                o.features.sets.push("segmentation".to_owned());
                o.format = Some(Kind::Words);
            }),
        ),
        (
            "dictionary",
            train("ab c\nd efg ab\n\u{3000}a b\n", "lbfgs", |o| {
                o.features.sets.push("segmentation".to_owned());
                o.features.own_words = true;
                o.format = Some(Kind::Words);
            }),
        ),
    ]
}

fn text_of(model: &[u8]) -> String {
    let mut text = vec![];
    model_to_text(&Labeller::from_bytes("m", model).unwrap(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn back(text: &str) -> seqoia::Result<FromText> {
    model_from_text(input_from_text("text", text)?)
}

#[test]
fn a_model_that_was_text_is_the_same_to_the_byte() {
    for (name, model) in models() {
        let made = back(&text_of(&model)).unwrap();
        assert!(made.bytes == model, "{name}");
        assert!(made.unchanged, "{name}");
    }
}

/// Every weight is in the text: its lines are as many as the weights, and each tells its own.
#[test]
fn a_line_a_weight() {
    for (name, model) in models() {
        let text = text_of(&model);
        let summary = Inspector::new(&Labeller::from_bytes("m", &model).unwrap()).unwrap().summary();
        let words = ["transition\t", "node\t", "edge\t"];
        let lines = text.lines().filter(|l| words.iter().any(|w| l.starts_with(w)) && !l.ends_with("\t-0.0"));
        assert_eq!(lines.count() as u64, summary.nonzero, "{name}");
    }
}

/// What editors do unasked: a byte-order mark, other line ends, no end of the last line.
#[test]
fn an_editor_may_change_line_ends() {
    let (_, model) = models().swap_remove(0);
    let text = format!("\u{feff}{}", text_of(&model).trim_end().replace('\n', "\r\n"));
    assert!(back(&text).unwrap().bytes == model);
}

#[test]
fn a_changed_text_is_another_model() {
    let (_, model) = models().swap_remove(0);
    let text = text_of(&model);
    let line = text.lines().find(|l| l.starts_with("node\t0\t")).unwrap();
    let (head, _) = line.rsplit_once('\t').unwrap();
    let changed = back(&text.replacen(line, &format!("{head}\t7.25"), 1)).unwrap();
    assert!(!changed.unchanged);
    assert!(text_of(&changed.bytes).contains(&format!("{head}\t7.25\n")));
    // Without its weights an attribute is gone, and a zero is no weight.
    let attribute = head.rsplit_once('\t').unwrap().0;
    let without = |l: &&str| l.strip_prefix(attribute).is_none_or(|rest| !rest.starts_with('\t'));
    let fewer: String = text.lines().filter(without).map(|l| format!("{l}\n")).collect();
    let zero: String =
        text.lines()
            .map(|l| {
                if without(&l) {
                    format!("{l}\n")
                } else {
                    format!("{}\t0\n", l.rsplit_once('\t').unwrap().0)
                }
            })
            .collect();
    let (fewer, zero) = (back(&fewer).unwrap(), back(&zero).unwrap());
    let count = |model: &[u8]| {
        Inspector::new(&Labeller::from_bytes("m", model).unwrap()).unwrap().summary().attributes
    };
    assert_eq!(count(&fewer.bytes), count(&model) - 1);
    assert!(fewer.bytes == zero.bytes);
    // More weights than a sparse attribute has: it gets a row and another number.
    let labels = Labeller::from_bytes("m", &model).unwrap().meta().labels.clone();
    let all: String = labels.iter().map(|l| format!("node\t0\tnew\\tword\t{l}\t1.5\n")).collect();
    let more = back(&format!("{text}{all}")).unwrap();
    assert_eq!(count(&more.bytes), count(&model) + 1);
    assert!(text_of(&more.bytes).contains(&all));
    assert!(back(&text_of(&more.bytes)).unwrap().bytes == more.bytes);
}

#[test]
fn errors_name_the_line() {
    let (_, model) = models().swap_remove(1);
    let text = text_of(&model);
    let node = text.lines().find(|l| l.starts_with("node\t0\t")).unwrap();
    let last = text.lines().count();
    let meta = text.lines().find(|l| l.starts_with("meta\t")).unwrap();
    for (changed, place, what) in [
        ("word 1\n".to_owned(), ":1: ", "first line"),
        (text.replacen(meta, "meta\t{}", 1), ":4: ", "meta cannot be read"),
        (text.replacen(meta, "", 1), ": ", "the line meta must stand above"),
        (format!("{text}{meta}\n"), &*format!(":{}: ", last + 1), "line meta above"),
        (format!("{text}nodes\t1\n"), &*format!(":{}: ", last + 1), "none of the words"),
        (format!("{text}{node}\n"), &*format!(":{}: ", last + 1), "stand together"),
        (text.replacen(node, &format!("{node}\n{node}"), 1), ": ", "there already"),
        (format!("{text}node\t0\tx\tQ\t1\n"), &*format!(":{}: ", last + 1), "no label 'Q'"),
        (format!("{text}node\t0\tx\tO\tinf\n"), &*format!(":{}: ", last + 1), "no weight"),
        (format!("{text}node\t0\tx\\q\tO\t1\n"), &*format!(":{}: ", last + 1), "backslash"),
        (
            format!("{text}node\t0\tO\t1\n"),
            &*format!(":{}: ", last + 1),
            "found 3 fields, expected a template",
        ),
        (format!("{text}node\t99\tx\tO\t1\n"), &*format!(":{}: ", last + 1), "no template 99 for tokens"),
        (
            format!("{text}edge\t0\tx\tO\tO\t1\n"),
            &*format!(":{}: ", last + 1),
            "no template 0 for label pairs",
        ),
        (format!("{text}numbers\t1\n"), &*format!(":{}: ", last + 1), "line section"),
        (format!("{text}section\tmeta\tu8\n"), &*format!(":{}: ", last + 1), "lines of its own"),
        (text.replacen("\tweights\n", "\tweights\tmore\n", 1), &*format!(":{last}: "), "section more"),
    ] {
        let Err(error) = back(&changed) else { panic!("{what}: no error") };
        let error = error.to_string();
        assert!(
            error.starts_with("text") && error.contains(place) && error.contains(what),
            "{what}: {error}"
        );
    }
}

#[test]
fn sections_that_nobody_knows_go_along() {
    let (_, model) = models().swap_remove(0);
    let text = text_of(&model).replacen("\tweights\n", "\tweights\tremarks\tbits\tx\n", 1);
    let text = text
        + "section\tremarks\tu8\ntext\tB-X \\\\ I-X\\n\ntext\tO\nsection\tbits\tu8\nnumbers\t255\t0\n\
                       section\tx\tf64\nnumbers\t0.1\t-1e-300\n";
    let made = back(&text).unwrap();
    let again = text_of(&made.bytes);
    assert!(again.contains("section\tremarks\tu8\ntext\tB-X \\\\ I-X\\n\ntext\tO\n"), "{again}");
    assert!(again.contains("section\tbits\tu8\nnumbers\t255\t0\nsection\tx\tf64\nnumbers\t0.1\t-1e-300\n"));
    assert!(back(&again).unwrap().bytes == made.bytes);
}

proptest! {
    /// Lines lost, doubled, swapped, cut, with something put in: a model or an error, never a panic.
    #[test]
    fn any_edit_is_a_model_or_an_error(
        which in 0..9usize,
        edits in prop::collection::vec((0..10_000usize, 0..10_000usize, 0..5usize), 1..4),
        put in select(vec!["\t", "x", "-1", "1e39", "\\", "{", "}", "\"", "99999", "é", "node", "\n", "NaN", "null"]),
    ) {
        static MODELS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        let texts = MODELS.get_or_init(|| models().iter().map(|(_, model)| text_of(model)).collect());
        let mut lines: Vec<String> = texts[which].lines().map(str::to_owned).collect();
        for (at, other, edit) in edits {
            // Most lines are weights; the first ones are worth more.
            let at = if at % 3 == 0 { at % lines.len() } else { at % lines.len().min(6) };
            let other = other % lines.len();
            match edit {
                0 => drop(lines.remove(at)),
                1 => lines.insert(other, lines[at].clone()),
                2 => lines.swap(at, other),
                _ => {
                    let place = lines[at].char_indices().map(|(i, _)| i).nth(other % 40).unwrap_or(0);
                    if edit == 3 {
                        lines[at].truncate(place);
                    } else {
                        lines[at].insert_str(place, put);
                    }
                }
            }
            if lines.is_empty() {
                lines.push(String::new());
            }
        }
        if let Ok(made) = back(&lines.join("\n")) {
            Labeller::from_bytes("m", &made.bytes).unwrap();
        }
    }
}

#[test]
fn the_strongest_weights_are_those_of_a_slow_search() {
    for (name, model) in models() {
        let text = text_of(&model);
        let labeller = Labeller::from_bytes("m", &model).unwrap();
        let inside = Inspector::new(&labeller).unwrap();
        let found = inside.strongest(4, None);
        for (y, label) in labeller.meta().labels.iter().enumerate() {
            let mut all: Vec<f32> = text
                .lines()
                .filter(|l| l.starts_with("node\t") || l.starts_with("edge\t"))
                .map(|l| l.rsplitn(3, '\t').collect::<Vec<_>>())
                .filter(|fields| fields[1] == label)
                .map(|fields| fields[0].parse().unwrap())
                .collect();
            all.sort_by(f32::total_cmp);
            let positive: Vec<f32> = all.iter().rev().copied().filter(|w| *w > 0.0).take(4).collect();
            let negative: Vec<f32> = all.iter().copied().filter(|w| *w < 0.0).take(4).collect();
            let weights = |w: &[seqoia::label::Weight]| w.iter().map(|w| w.weight).collect::<Vec<_>>();
            assert_eq!(weights(&found[y].positive), positive, "{name} {label}");
            assert_eq!(weights(&found[y].negative), negative, "{name} {label}");
            let only = inside.strongest(4, Some(inside.label(label).unwrap()));
            assert_eq!(only, [found[y].clone()], "{name} {label}");
        }
        let pairs = inside.transitions(None);
        let lines = text.lines().filter(|l| l.starts_with("transition\t") && !l.ends_with("-0.0")).count();
        assert_eq!(pairs.len(), lines, "{name}");
        assert!(pairs.is_sorted_by(|a, b| a.weight.abs() >= b.weight.abs()), "{name}");
    }
}

/// Scores of all labellings of a sentence.
fn scores(labeller: &Labeller, text: &str) -> HashMap<Vec<String>, f64> {
    let output = Output::Json { marginals: false, nbest: 1_000_000 };
    let out = try_label(labeller, text, &PredictOptions::new(output, 1)).unwrap();
    let record: serde_json::Value = serde_json::from_str(&out).unwrap();
    let labels = |l: &serde_json::Value| {
        l["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap().to_owned()).collect()
    };
    record["nbest"].as_array().unwrap().iter().map(|l| (labels(l), l["score"].as_f64().unwrap())).collect()
}

/// What contributes adds up to the difference of the scores that the decoder gives all labellings.
fn adds_up(why: &Why, scores: &HashMap<Vec<String>, f64>) {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-4 * (1.0 + a.abs() + b.abs()), "{a} {b}");
    let best: Vec<String> = why.tokens.iter().map(|t| t.label.clone()).collect();
    let top = scores.values().copied().fold(f64::NEG_INFINITY, f64::max);
    near(scores[&best], top);
    for (t, token) in why.tokens.iter().enumerate() {
        let rival = token.rival.as_ref().unwrap();
        let mut other = best.clone();
        other[t].clone_from(&rival.label);
        // What no text can say has no score.
        assert_eq!(rival.forbidden, !scores.contains_key(&other));
        if let Some(score) = scores.get(&other) {
            near(rival.difference, scores[&best] - score);
        }
        near(rival.difference, rival.contributions.iter().map(|c| c.adds).sum());
    }
    let second = why.second.as_ref().unwrap();
    near(second.difference, scores[&best] - scores[&second.labels]);
    near(second.difference, why.probability.ln() - second.probability.ln());
    let beaten = scores.iter().filter(|(labels, _)| **labels != best).map(|(_, score)| *score);
    near(scores[&second.labels], beaten.fold(f64::NEG_INFINITY, f64::max));
    assert!((0..best.len()).all(|t| (best[t] != second.labels[t]) == second.differs.contains(&t)));
}

#[test]
fn contributions_add_up_to_the_difference_of_scores() {
    let values = "a 0.5 X\nb -2 Y\n\nc 1e-3 X\na 3 Z\n\n".repeat(3);
    let data = "a N X\nb V Y\nc N Z\n\na N X\nc V Z\n\nb N X\n\n".repeat(2);
    let segmentation = |o: &mut DataOptions| {
        o.features.sets.push("segmentation".to_owned());
        o.format = Some(Kind::Words);
        o.scheme = Some(Scheme::Bmes); // of the file, so that labels have one name
    };
    for (model, text, sentence) in [
        (train(&data, "lbfgs", |o| templates(o, PLAIN)), "a V\nb N\nc V\nb N\n", Some("a/V b/N c/V b/N")),
        (
            train(&data, "averaged-perceptron", |o| templates(o, EDGES)),
            "a V\nb N\nc V\n",
            Some("a/V b/N c/V"),
        ),
        (
            train(&values, "sgd", |o| templates(o, "U0:%x[0,0]\nU1:%v[0,1]\nB2:%v[-1,1]\nB\n")),
            "a 1.5\nb -0.5\nc 2\n",
            Some("a/1.5 b/-0.5 c/2"),
        ),
        (train("ab c\nd efg\nba cd\n", "lbfgs", segmentation), "abcd\n", None),
    ] {
        let labeller = Labeller::from_bytes("m", &model).unwrap();
        let scores = scores(&labeller, text);
        let found = why_input(&labeller, input_from_text("test", text).unwrap(), None).unwrap();
        assert_eq!(found.len(), 1);
        adds_up(&found[0], &scores);
        let rival = Some(Inspector::new(&labeller).unwrap().label(&labeller.meta().labels[2]).unwrap());
        let other = why_input(&labeller, input_from_text("test", text).unwrap(), rival).unwrap();
        adds_up(&other[0], &scores);
        for token in &other[0].tokens {
            let wanted = &labeller.meta().labels[2];
            assert!(token.label == *wanted || token.rival.as_ref().unwrap().label == *wanted);
        }
        // Typed in as words, it is the same.
        let typed = why_text(&labeller, sentence.unwrap_or(text), None).unwrap();
        assert_eq!(typed, found[0]);
    }
}

#[test]
fn words_that_lack_columns_are_told_with_an_example() {
    let labeller = Labeller::from_bytes("m", &models().swap_remove(0).1).unwrap();
    let error = |text: &str| why_text(&labeller, text, None).unwrap_err().to_string();
    assert!(
        error("The/DT dog")
            .contains("'dog' is not all that the model reads of a token, column 0 and column 1:")
    );
    assert!(error("The").contains(" as in The/DT dog/NN, "), "{}", error("The"));
    assert!(error("/DT").contains("'/DT'") && error(" ").contains("no words"));
    // A word may have slashes.
    assert_eq!(why_text(&labeller, "1/2/CD", None).unwrap().tokens[0].word, "1/2");
    assert!(error("The/DT/O 1/2/CD").contains("more columns than the model reads, column 0 and column 1"));
    assert_eq!(why_text(&labeller, "The/DT 1/2/CD", None).unwrap().tokens[1].word, "1/2");
    let given = Labeller::from_bytes("m", &models().swap_remove(5).1).unwrap();
    let error = why_text(&given, "a b", None).unwrap_err().to_string();
    assert!(error.contains("crfsuite on standard input"), "{error}");
}

#[test]
fn what_a_page_shows_is_what_is_written() {
    let data = generate::columns(1, 400);
    let model = train(&data, "lbfgs", |o| templates(o, PLAIN));
    let labeller = Labeller::from_bytes("m", &model).unwrap();
    let run = |threads, look| {
        let options = PredictOptions { look, ..PredictOptions::new(Output::Text, threads) };
        let mut out = vec![];
        let done = predict(&labeller, input_from_text("test", &data).unwrap(), &options, &mut out).unwrap();
        (done, String::from_utf8(out).unwrap())
    };
    let (none, plain) = run(1, 0);
    assert!(none.seen.is_empty());
    for (threads, look) in [(1, 5), (3, 5), (2, 400), (2, 1000)] {
        let (done, out) = run(threads, look);
        assert_eq!((out == plain, done.seen.len()), (true, look.min(400)));
        let rows: Vec<(u64, Vec<&str>)> = (1..)
            .zip(out.lines())
            .filter(|(_, row)| !row.is_empty())
            .map(|(line, row)| (line, row.split(' ').collect()))
            .collect();
        for ((line, row), seen) in rows.iter().zip(done.seen.iter().flatten()) {
            assert_eq!((*line, row[0], row[row.len() - 1]), (seen.line, &*seen.word, &*seen.label));
            assert_eq!(seen.gold.as_deref(), Some(row[row.len() - 2]));
            let sum: f64 = seen.probabilities.iter().map(|p| p.1).sum();
            assert!(seen.probabilities.is_sorted_by(|a, b| a.1 >= b.1) && sum < 1.001, "{seen:?}");
        }
    }
}

#[test]
fn smaller_models_are_models() {
    for (name, model) in models() {
        let labeller = Labeller::from_bytes("m", &model).unwrap();
        let same = shrink(&labeller, ShrinkOptions::default()).unwrap();
        assert!(same == model, "{name}: nothing was asked for");
        for (prune, bits) in
            [(0.2, None), (0.0, Some(Bits::F16)), (0.0, Some(Bits::I8)), (0.1, Some(Bits::I8))]
        {
            let bytes = shrink(&labeller, ShrinkOptions { prune, bits }).unwrap();
            let small = Labeller::from_bytes("small", &bytes).unwrap();
            assert!(bytes.len() < model.len() + 256 && small.bits() == bits.unwrap_or_default(), "{name}");
            // Stored in more bits again, or as text, it is what it is.
            let wide = shrink(&small, ShrinkOptions { prune: 0.0, bits: Some(Bits::F32) }).unwrap();
            let narrow = ShrinkOptions { prune: 0.0, bits: Some(small.bits()) };
            let again = shrink(&Labeller::from_bytes("wide", &wide).unwrap(), narrow).unwrap();
            assert!(again == bytes, "{name} {prune} {bits:?}");
            assert!(back(&text_of(&bytes)).unwrap().bytes == bytes, "{name} {prune} {bits:?} as text");
        }
        let error = shrink(&labeller, ShrinkOptions { prune: f32::NAN, bits: None }).unwrap_err();
        assert!(error.to_string().contains("expected a number from 0"));
    }
}

/// A text asks for memory by what it holds, not by what it says.
#[test]
fn a_text_with_more_labels_than_can_be_is_refused() {
    let text = text_of(&models()[0].1);
    let meta = text.lines().find_map(|line| line.strip_prefix("meta\t")).unwrap();
    for count in [0usize, 8_001, 32_000, 65_536, 70_000] {
        let mut other: serde_json::Value = serde_json::from_str(meta).unwrap();
        other["labeller"]["labels"] = (0..count).map(|i| i.to_string()).collect::<Vec<_>>().into();
        let error = back(&text.replace(meta, &other.to_string())).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("text:4: meta has ") && error.contains("label"), "{error}");
    }
}
