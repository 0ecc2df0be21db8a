//! Reading on some threads is reading on one: the same numbers, the same first error, however the text is cut.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::sync::Arc;

use proptest::prelude::*;
use seqoia_data::features::{Indexed, Indexer, Lexica, Program, Template, crfpp, sets};
use seqoia_data::format::{Blocks, Kind, Reader};
use seqoia_data::open::Input;

/// All that was read, or the error.
fn read(
    text: &str,
    kind: Kind,
    templates: &[Template],
    size: usize,
    threads: usize,
) -> Result<String, String> {
    let program = Arc::new(Program::new(templates.to_vec()));
    let blocks = Blocks::with_size(Input::from_bytes("x", text).unwrap(), size)
        .whole_documents(program.reads_mentions());
    let mut reader = Reader::new(blocks, Some(kind)).map_err(|e| e.to_string())?;
    let label = reader.format().columns().saturating_sub(1);
    let mut lexica = Lexica::default();
    lexica.names.read("l", "l", "A b\nb\n").unwrap();
    let mut indexer = Indexer::new(program, Arc::new(lexica)).with_lines();
    let mut sentences = 0;
    let mut see = |block: &seqoia_data::format::Block| sentences += block.len();
    indexer.read(&mut reader, label, threads, &mut see).map_err(|e| e.to_string())?;
    let matched = indexer.matched().clone();
    let Indexed { corpus, dictionary, labels, nodes, edges, transitions, lines, .. } =
        indexer.finish(2, threads);
    let names: Vec<&str> = labels.iter().collect();
    let tables = (dictionary.nodes.view().keys, dictionary.edges.view().keys, dictionary.strings.view().text);
    Ok(format!(
        "{corpus:?} {names:?} {tables:?} {nodes:?} {edges:?} {transitions:?} {lines:?} {matched:?} {sentences}"
    ))
}

fn same(text: &str, kind: Kind, templates: &[Template]) -> Result<(), TestCaseError> {
    let whole = read(text, kind, templates, 1 << 20, 1);
    for size in [1, 7, 40, 200] {
        // Of two errors in one block that of a row that cannot be read is told, whichever stands first.
        let serial = read(text, kind, templates, size, 1);
        prop_assert!(serial == whole || serial.is_err() && whole.is_err());
        for threads in [2, 3, 8] {
            prop_assert_eq!(&read(text, kind, templates, size, threads), &serial, "{} {}", size, threads);
        }
    }
    Ok(())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[abAB]{1,3}",
        1 => "[0-9]{1,2}(\\.[0-9])?",
        1 => Just("-DOCSTART-".to_owned()),
    ]
}

fn columns() -> impl Strategy<Value = String> {
    let row = prop_oneof![
        30 => (word(), word(), "[XYZ]").prop_map(|(a, b, y)| format!("{a} {b} {y}\n")),
        8 => Just("\n".to_owned()),
        1 => word().prop_map(|a| format!("{a}\n")), // broken, unless all are
    ];
    prop::collection::vec(row, 1..60).prop_map(|rows| rows.concat())
}

fn crfsuite() -> impl Strategy<Value = String> {
    let field = prop_oneof![6 => word(), 1 => word().prop_map(|w| format!("{w}:0.5"))];
    let row = prop_oneof![
        20 => ("[XYZ]", prop::collection::vec(field, 0..5)).prop_map(|(y, f)| format!("{y}\t{}\n", f.join("\t"))),
        6 => Just("\n".to_owned()),
        1 => Just("\n@weight:2\nX\ta\n".to_owned()),
    ];
    let broken = prop_oneof![6 => Just(""), 1 => Just("X\ta:b\n")];
    (prop::collection::vec(row, 1..50), broken, prop::collection::vec(Just("Y\tb\n\n"), 0..4))
        .prop_map(|(rows, broken, more)| format!("{}{broken}{}", rows.concat(), more.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn templates(text in columns()) {
        let lines = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nU2:%x[1,1]\nU3\nB1:%x[0,1]\nB\n";
        same(&text, Kind::Columns, &crfpp::parse("t", lines).unwrap().templates)?;
    }

    /// Values that are no numbers are errors behind those of rows before them.
    #[test]
    fn values(text in columns()) {
        same(&text, Kind::Columns, &crfpp::parse("t", "U0:%x[0,0]\nU1:%v[0,1]\n").unwrap().templates)?;
    }

    #[test]
    fn names_of_documents(text in columns()) {
        let mut set = sets::find("ner", sets::Roles { word: 0, pos: 1 }).unwrap();
        set.extend(sets::extended(sets::Roles { word: 0, pos: 1 }, false, &["l".to_owned()], false, &[]));
        same(&text, Kind::Columns, &set)?;
    }

    #[test]
    fn ready(text in crfsuite()) {
        same(&text, Kind::Crfsuite, &[Template::given()])?;
    }

    #[test]
    fn ready_beside_templates(text in crfsuite()) {
        let mut both = crfpp::parse("t", "U0:%x[0,0]/%x[1,0]\n").unwrap().templates;
        both.push(Template::given());
        same(&text, Kind::Crfsuite, &both)?;
    }
}

/// A value that is not a number, beside features that the file has: what was half read is not handed over.
#[test]
fn values_beside_ready_features() {
    let mut both = crfpp::parse("t", "U0:%x[0,0]\nU1:%v[0,1]\n").unwrap().templates;
    both.push(Template::given());
    let line = |value: &str| {
        format!(
            "{{\"tokens\":[[\"a\",\"1\"],[\"b\",{value:?}]],\"features\":[[\"f\"],{{\"g\":2}}],\"labels\":[\"X\",\"Y\"]}}\n"
        )
    };
    for value in ["2", "x"] {
        let text = line("1.5").repeat(3) + &line(value) + &line("4");
        for size in [1, 1 << 18] {
            let serial = read(&text, Kind::Jsonl, &both, size, 1);
            assert_eq!(serial.is_err(), value == "x");
            for threads in [2, 3, 8] {
                assert_eq!(read(&text, Kind::Jsonl, &both, size, threads), serial, "{threads}");
            }
        }
    }
}

/// Far more than one thread hands to the next at once: many sentences, one that is longer than a batch, and an error at
/// the end of it all.
#[test]
fn many_batches() {
    let templates =
        crfpp::parse("t", "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%x[0,1]/%x[2,0]\nU3:%v[0,2]\n").unwrap();
    let row = |i: usize| format!("w{} p{} {} {}\n", i * 7919 % 5003, i % 11, i % 3, ["X", "Y"][i % 2]);
    let ends = |i: usize| i.is_multiple_of(23) && !(20_000..50_000).contains(&i);
    let text: String = (0..60_000).map(|i| row(i) + if ends(i) { "\n" } else { "" }).collect();
    for text in [text.clone(), text.clone() + "w p no-number X\n", text + "too few\n"] {
        for size in [1 << 12, 1 << 18] {
            let serial = read(&text, Kind::Columns, &templates.templates, size, 1);
            for threads in [2, 3, 8] {
                assert!(
                    read(&text, Kind::Columns, &templates.templates, size, threads) == serial,
                    "{threads}"
                );
            }
        }
    }
}
