//! Readers against a reader of a dozen lines: random files, cut into blocks of every size, give the
//! tokens that reading line by line gives, and the text comes out as it went in.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use std::io::{self, Read};

use proptest::prelude::*;
use seqoia_data::Result;
use seqoia_data::format::{self, Block, Blocks, Kind};
use seqoia_data::open::Input;

/// A token: its line in the file and its fields.
type Row = (u64, Vec<String>);

/// What a file holds.
#[derive(Debug, Default, PartialEq)]
struct File {
    sentences: Vec<Vec<Row>>,
    /// Rows `-DOCSTART-`.
    marks: Vec<String>,
}

/// The reference: one line after the other.
fn by_lines(text: &str, kind: Kind) -> File {
    let lines = || text.split('\n').map(|line| line.trim_end_matches('\r'));
    let is_mark = |line: &str| line.split([' ', '\t']).next() == Some("-DOCSTART-");
    let blank = |line: &str| line.trim_matches([' ', '\t', '\r']).is_empty();
    let tabs = lines().find(|line| !blank(line) && !is_mark(line)).is_some_and(|line| line.contains('\t'));
    let mut file = File::default();
    let mut sentence = Vec::new();
    for (line, number) in lines().zip(1..) {
        let id = line.split('\t').next().unwrap();
        if kind == Kind::Conllu && (line.starts_with('#') || id.contains(['-', '.'])) {
            continue;
        }
        let mark = kind == Kind::Columns && is_mark(line);
        if mark {
            file.marks.push(line.trim_end().to_owned());
        }
        if mark || blank(line) {
            if !sentence.is_empty() {
                file.sentences.push(std::mem::take(&mut sentence));
            }
        } else if kind == Kind::Conllu {
            sentence.push((number, line.split('\t').map(str::to_owned).collect()));
        } else if tabs {
            sentence.push((number, line.trim_end_matches(' ').split('\t').map(str::to_owned).collect()));
        } else {
            let fields = line.split([' ', '\t']).filter(|field| !field.is_empty());
            sentence.push((number, fields.map(str::to_owned).collect()));
        }
    }
    if !sentence.is_empty() {
        file.sentences.push(sentence);
    }
    file
}

/// The real thing: tokens, and the text with `label` added to every token and mark.
fn by_blocks(mut blocks: Blocks, label: Option<&str>) -> Result<(File, String, Kind)> {
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, None)?;
    let mut file = File::default();
    let mut out = String::new();
    loop {
        format.parse(blocks.name(), &mut block)?;
        for sentence in block.sentences() {
            assert_eq!(sentence.line, block.line(sentence.tokens.start));
            assert!(!sentence.tokens.is_empty());
            let fields = |i| block.columns(i).map(str::to_owned).collect();
            file.sentences.push(sentence.tokens.map(|i| (block.line(i), fields(i))).collect());
        }
        file.marks.extend(block.marks().iter().map(|mark| block.slice(mark.span).to_owned()));
        let tokens = block.tokens().iter().map(|token| token.span.range().end);
        let mut ends: Vec<usize> =
            tokens.chain(block.marks().iter().map(|mark| mark.span.range().end)).collect();
        ends.sort_unstable();
        let mut from = 0;
        for end in ends {
            out.push_str(&block.text()[from..end]);
            if let Some(label) = label {
                out.push(format.separator());
                out.push_str(label);
            }
            from = end;
        }
        out.push_str(&block.text()[from..]);
        if !blocks.fill(&mut block)? {
            return Ok((file, out, format.kind()));
        }
    }
}

/// Gives a few bytes at a time.
struct Drops(io::Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 * 5 % 13;
        let n = buffer.len().min(1 + self.1);
        self.0.read(&mut buffer[..n])
    }
}

fn check(text: &str, kind: Kind, size: usize) {
    let expected = by_lines(text, kind);
    let input = || Input::from_bytes("a.txt", text).unwrap();
    let drops = || Input::from_reader("a.txt", Drops(io::Cursor::new(text.into()), 1)).unwrap();
    if expected.sentences.is_empty() {
        assert!(by_blocks(Blocks::with_size(input(), size), None).is_err());
        return;
    }
    for blocks in [
        Blocks::with_size(input(), size),
        Blocks::with_size(drops(), size),
        Blocks::with_size(drops(), size).eager(true),
    ] {
        let (file, out, found) = by_blocks(blocks, None).unwrap();
        assert_eq!(found, kind);
        assert_eq!(file, expected);
        assert_eq!(out, text);
    }
    // With a label behind each row, the same file with one more column.
    if kind == Kind::Columns {
        let (_, out, _) = by_blocks(Blocks::with_size(input(), size), Some("LABEL")).unwrap();
        let mut labelled = by_lines(&out, kind);
        for (number, mark) in labelled.marks.iter_mut().enumerate() {
            assert!(mark.ends_with("LABEL"));
            mark.clone_from(&expected.marks[number]);
        }
        for (_, fields) in labelled.sentences.iter_mut().flatten() {
            assert_eq!(fields.pop().unwrap(), "LABEL");
        }
        assert_eq!(labelled, expected);
    }
}

/// Text of lines; each may end in CR, the last in nothing.
fn joined(lines: Vec<(String, bool)>, ended: bool) -> String {
    let mut text: String =
        lines.iter().map(|(line, cr)| format!("{line}{}", if *cr { "\r\n" } else { "\n" })).collect();
    if !ended && text.ends_with('\n') {
        text.pop();
    }
    text
}

fn empty_line() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "", "", " ", "\t", " \t ", "\r"]).prop_map(str::to_owned)
}

fn column_file() -> impl Strategy<Value = String> {
    (any::<bool>(), 1..4usize).prop_flat_map(|(tabs, width)| {
        let words =
            vec!["a", "#", "#x", "-DOCSTART-x", "日本", "é", "1", "B-X", "longer-than-others", "\u{3000}"];
        let word = prop::sample::select(words);
        let tabs = tabs && width > 1;
        let gap = prop::sample::select(if tabs { vec!["\t"] } else { vec![" ", "  ", "   "] });
        // In a file of tabs a field may be or hold a blank; in another no row holds a tab.
        let inner = prop::sample::select(if tabs { vec!["", "", " x"] } else { vec![""] });
        let tail = prop::sample::select(vec!["", "", " ", "  "]);
        let fields = prop::collection::vec((word, inner, gap), width);
        let row = (fields, tail).prop_map(move |(fields, tail)| {
            let mut row = String::new();
            for (i, (word, inner, gap)) in fields.into_iter().enumerate() {
                if i > 0 {
                    row.push_str(gap);
                }
                row.push_str(word);
                row.push_str(inner);
            }
            row + tail
        });
        let other = if tabs { "-DOCSTART-\tO" } else { "-DOCSTART-  O" };
        let mark =
            prop::sample::select(vec!["-DOCSTART-", "-DOCSTART- -X- O", other]).prop_map(str::to_owned);
        let line = prop_oneof![6 => row, 3 => empty_line(), 1 => mark];
        (prop::collection::vec((line, any::<bool>()), 0..40), any::<bool>())
            .prop_map(|(lines, ended)| joined(lines, ended))
    })
}

fn conllu_file() -> impl Strategy<Value = String> {
    let comments = prop::collection::vec(prop::sample::select(vec!["# text = a b", "#", "# 1\ta"]), 0..3);
    let word = (prop::sample::select(vec!["a", "#", "New York", "日本"]), 0..6u8);
    let words = prop::collection::vec(word, 0..8);
    let sentence =
        (comments, words, prop::collection::vec(empty_line(), 1..4)).prop_map(|(comments, words, empty)| {
            let mut lines: Vec<String> = comments.into_iter().map(str::to_owned).collect();
            let row = |id: String, form: &str| format!("{id}\t{form}\tb c\tX\t_\t_\t0\troot\t_\tA=1|B= ");
            for (id, (form, other)) in (1..).zip(words) {
                if other == 0 {
                    lines.push(row(format!("{id}-{}", id + 1), "range"));
                }
                lines.push(row(id.to_string(), form));
                if other == 1 {
                    lines.push(row(format!("{id}.1"), "empty"));
                }
            }
            lines.extend(empty);
            lines
        });
    (prop::collection::vec(sentence, 1..8), any::<bool>(), any::<bool>()).prop_map(
        |(sentences, cr, ended)| {
            joined(sentences.concat().into_iter().map(|line| (line, cr)).collect(), ended)
        },
    )
}

proptest! {
    #[test]
    fn columns_as_line_by_line(text in column_file(), size in 1..200usize) {
        check(&text, Kind::Columns, size);
    }

    #[test]
    fn conllu_as_line_by_line(text in conllu_file(), size in 1..500usize) {
        // A file of comments alone is one of words that start with `#`.
        prop_assume!(!by_lines(&text, Kind::Conllu).sentences.is_empty());
        check(&text, Kind::Conllu, size);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1..50usize) {
        hostile(&bytes, size);
    }

    /// Bytes that readers look for, and the signatures of archives before them.
    #[test]
    fn bytes_that_matter(
        head in prop::sample::select(vec![
            &b""[..], b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd",
            b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n",
        ]),
        parts in prop::collection::vec(
            prop::sample::select(vec![
                &b"\n"[..], b"\n\n", b"\r", b" ", b"\t", b"#", b"a", b"1", b"2-3", b"2.1",
                b"-DOCSTART-", b"\t_\t_\t_", b"@weight:2\n", b":", b"\\", b"/", b"{\"tokens\":[", b"\"x\"", b"]", b"}\n",
                b"\"labels\":[", b"\"features\":[", b",",
                b"\xc3\xa9", b"\xe9", b"\0", b"\xff",
            ]),
            0..60,
        ),
        size in 1..50usize,
    ) {
        hostile(&[head, &parts.concat()].concat(), size);
    }
}

/// Reads without a panic; what can be read comes out as it went in.
fn hostile(bytes: &[u8], size: usize) {
    for kind in std::iter::once(None).chain(Kind::ALL.map(Some)) {
        let Ok(input) = Input::from_bytes("a", bytes) else { return };
        let mut blocks = Blocks::with_size(input, size);
        let mut block = Block::default();
        let Ok(format) = format::first(&mut blocks, &mut block, kind) else { continue };
        let mut text = String::new();
        loop {
            text.push_str(block.text());
            if format.parse("a", &mut block).is_ok() {
                for i in 0..block.tokens().len() {
                    assert_eq!(block.columns(i).len(), format.columns());
                    assert!(block.columns(i).all(|field| !field.is_empty()));
                }
            } else {
                assert!(block.is_empty() && block.tokens().is_empty() && block.marks().is_empty());
            }
            match blocks.fill(&mut block) {
                Ok(true) => {}
                Ok(false) => {
                    let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
                    let packed = bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd");
                    assert!(packed || text.as_bytes() == plain);
                    break;
                }
                Err(_) => break,
            }
        }
    }
}
