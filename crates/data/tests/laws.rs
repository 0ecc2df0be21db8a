//! Laws of all formats: what is written is read as the same or not written, labels that are put into a file are
//! read there and nothing else is changed, and what is read does not depend on where the file is cut.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use seqoia_data::Result;
use seqoia_data::format::{
    self, Block, Blocks, Copy, Field, Format, Kind, Labelled, Outgo, Outgoing, Place, Target, WORDS_SCHEME,
};
use seqoia_data::open::Input;
use seqoia_data::scheme;

/// What strings are made of: characters that some format or other has a meaning for.
const PIECES: [&str; 32] = [
    "a",
    "B",
    "é",
    "日",
    "1",
    "_",
    "O",
    "S",
    "B-X",
    "-",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "/",
    "\\",
    ":",
    "#",
    "@",
    "@weight:2",
    "-DOCSTART-",
    "{",
    "}",
    "\"",
    "[",
    ",",
    "\u{feff}",
    "\0",
    "\u{3000}",
    "\u{85}",
    "\u{2028}",
];

/// The largest block: the whole file.
const WHOLE: usize = 1 << 20;

fn string() -> impl Strategy<Value = String> {
    let odd = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..4).prop_map(|parts| parts.concat());
    prop_oneof![3 => prop::sample::select(vec!["a", "B", "cat", "日", "I-X"]).prop_map(str::to_owned), 2 => odd]
}

/// A token: its fields, the label last if there is one, and its attributes.
#[derive(Debug, Clone, PartialEq)]
struct Token {
    fields: Vec<String>,
    attributes: Vec<(String, f32)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Sentence {
    weight: f64,
    tokens: Vec<Token>,
}

/// Sentences that have the same number of fields, attributes or none, and labels or none.
#[derive(Debug, Clone)]
struct File {
    labelled: bool,
    ready: bool,
    sentences: Vec<Sentence>,
}

impl File {
    /// The fields of a token and its label, if it has one.
    fn split<'a>(&self, token: &'a Token) -> (&'a [String], &'a [String]) {
        token.fields.split_at(token.fields.len() - usize::from(self.labelled))
    }
}

fn file() -> impl Strategy<Value = File> {
    (0..4usize, any::<bool>(), any::<bool>()).prop_flat_map(|(width, labelled, ready)| {
        let value = prop_oneof![
            4 => Just(1.0f32),
            4 => prop::sample::select(vec![0.5, -3.0, 1e-20, 1e12, 2e12, f32::INFINITY, f32::NAN]),
            1 => any::<f32>(),
        ];
        let weight = prop_oneof![4 => Just(1.0), 1 => prop::sample::select(vec![0.0, 2.0, 0.1, 1e-9]), 1 => 0.0..9.0f64];
        let attributes = prop::collection::vec((string(), value), if ready { 0..4 } else { 0..1 });
        let token = (prop::collection::vec(string(), width + usize::from(labelled)), attributes)
            .prop_map(|(fields, attributes)| Token { fields, attributes });
        let sentence = (weight, prop::collection::vec(token, 1..4))
            .prop_map(|(weight, tokens)| Sentence { weight, tokens });
        prop::collection::vec(sentence, 1..6)
            .prop_map(move |sentences| File { labelled, ready, sentences })
    })
}

/// Sentences with the lines they start on, and the format.
type Read = (Vec<(u64, Sentence)>, Box<dyn Format>);

fn each_block(
    text: &str,
    kind: Option<Kind>,
    size: usize,
    mut block_is: impl FnMut(&dyn Format, &Block),
) -> Result<Box<dyn Format>> {
    let mut blocks = Blocks::with_size(Input::from_bytes("a", text)?, size);
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, kind)?;
    loop {
        format.parse("a", &mut block)?;
        block_is(&*format, &block);
        if !blocks.fill(&mut block)? {
            return Ok(format);
        }
    }
}

fn read(text: &str, kind: Option<Kind>, size: usize) -> Result<Read> {
    let mut sentences = vec![];
    let format = each_block(text, kind, size, |_, block| {
        for s in block.sentences() {
            let token = |i| Token {
                fields: block.columns(i).map(str::to_owned).collect(),
                attributes: block.attributes(i).map(|(name, value)| (name.to_owned(), value)).collect(),
            };
            let weight = block.weight(s.tokens.start);
            sentences.push((s.line, Sentence { weight, tokens: s.tokens.map(token).collect() }));
        }
    })?;
    Ok((sentences, format))
}

fn without_lines(read: Read) -> Vec<Sentence> {
    read.0.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Writes a sentence, if the format takes it.
fn write(file: &File, sentence: &Sentence, kind: Kind) -> Result<String> {
    let rows = sentence.tokens.iter().map(|token| {
        let (fields, label) = file.split(token);
        Outgo {
            fields: fields.iter().map(String::as_str).collect(),
            label: label.first().map(String::as_str),
            attributes: token.attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
        }
    });
    let outgoing =
        Outgoing { rows: rows.collect(), weight: sentence.weight, ready: file.ready, document: None };
    let mut out = vec![];
    Target { kind, label: Field::Upos, scheme: None }.write(&outgoing, "a", 1, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// What a format is to say of a sentence that it took.
fn held(file: &File, sentence: &Sentence, kind: Kind) -> Sentence {
    let token = |token: &Token| {
        let (fields, label) = file.split(token);
        let fields = match kind {
            Kind::Columns | Kind::Jsonl => token.fields.clone(),
            Kind::Crfsuite => label.to_vec(),
            Kind::Tagged => [&fields[..1], label].concat(),
            _ => vec![fields[0].clone(), label.first().cloned().unwrap_or_else(|| "_".to_owned())],
        };
        Token { fields, attributes: token.attributes.clone() }
    };
    Sentence { weight: sentence.weight, tokens: sentence.tokens.iter().map(token).collect() }
}

/// A file of the sentences that a format takes, and these sentences.
fn taken(file: &File, kind: Kind) -> (String, Vec<&Sentence>) {
    let mut text = String::new();
    let mut taken = vec![];
    for sentence in &file.sentences {
        if let Ok(written) = write(file, sentence, kind) {
            text.push_str(&written);
            taken.push(sentence);
        }
    }
    (text, taken)
}

/// The file with labels put in, in turn; to a row of columns so many are added.
fn put(text: &str, kind: Kind, size: usize, labels: &[String], added: usize) -> Result<String> {
    let (mut out, mut next) = (vec![], 0);
    each_block(text, Some(kind), size, |format, block| {
        let mut copy = Copy::new(block, column(format), added);
        for s in block.sentences() {
            let names: Vec<String> = labels.iter().cycle().skip(next).take(s.tokens.len()).cloned().collect();
            next = (next + names.len()) % labels.len();
            let p = vec![0.25; names.len()];
            let probabilities = (added > 1).then_some(p.as_slice());
            format.put(
                &mut copy,
                &Labelled { tokens: s.tokens, names: &names, probabilities, beside: &[] },
                &mut out,
            );
        }
        copy.rest(format, &mut out);
    })?;
    Ok(String::from_utf8(out).unwrap())
}

/// Where a label stands or comes.
fn column(format: &dyn Format) -> usize {
    match format.label() {
        Place::Fixed(column) => column,
        Place::Chosen => Field::Upos.column(),
        Place::Last => format.columns() - 1,
        Place::Missing => format.columns(),
    }
}

/// What a file that was read so holds with labels put in.
fn labelled(read: Read, labels: &[String], added: usize) -> Vec<Sentence> {
    let (column, kind) = (column(&*read.1), read.1.kind());
    let mut names = labels.iter().cycle();
    let mut sentences = without_lines(read);
    for sentence in &mut sentences {
        let mut names: Vec<String> = names.by_ref().take(sentence.tokens.len()).cloned().collect();
        if kind == Kind::Words {
            let plain: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut valid = vec![];
            scheme::convert(WORDS_SCHEME, WORDS_SCHEME, &plain, &mut valid);
            names = valid;
        }
        for (token, name) in sentence.tokens.iter_mut().zip(names) {
            match token.fields.get_mut(column) {
                Some(field) if kind != Kind::Columns => *field = name,
                _ => token.fields.push(name),
            }
            if kind == Kind::Columns && added > 1 {
                token.fields.push("0.250000".to_owned());
            }
        }
    }
    sentences
}

/// Labels put into a file are read there, wherever it is cut.
fn check_put(text: &str, kind: Kind, labels: &[String], size: usize) {
    let Ok((_, format)) = read(text, Some(kind), WHOLE) else { return };
    let labels: Vec<String> = labels.iter().filter(|l| format.refuses_label(l).is_none()).cloned().collect();
    if labels.is_empty() {
        return;
    }
    for added in 1..=if kind == Kind::Columns { 2 } else { 1 } {
        let out = put(text, kind, WHOLE, &labels, added).unwrap();
        assert_eq!(put(text, kind, size, &labels, added).unwrap(), out, "{}", kind.name());
        let again = read(&out, Some(kind), size).map(without_lines);
        let expected = labelled(read(text, Some(kind), WHOLE).unwrap(), &labels, added);
        assert_eq!(again.as_ref(), Ok(&expected), "{} {text:?} {out:?}", kind.name());
    }
}

/// Bytes that readers look for.
fn raw() -> impl Strategy<Value = String> {
    let parts = vec![
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "\t",
        "#",
        "a",
        "b",
        "1",
        "2-3",
        "-DOCSTART-",
        "\t_\t_\t_",
        "@weight:2\n",
        "@weight:5\n\n",
        ":",
        "\\",
        "/",
        "/X",
        "a N\n",
        "a\tN\n",
        "X\ta:2\tb\n",
        "\ta\n",
        "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n",
        "2\tb\t_\tX\t_\t_\t1\tx\t_\tA=1\n",
        "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n",
        "# text = a\n",
        "{\"tokens\":[\"a\",\"b\"]}\n",
        "{\"tokens\":[\"a\"],\"labels\":[\"X\"]}\n",
        "{\"features\":[[\"a\",{\"b\":2}]]}\n",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(file in file(), size in 1..100usize) {
        for kind in Kind::ALL {
            let (text, taken) = taken(&file, kind);
            if taken.is_empty() {
                continue;
            }
            if kind == Kind::Words {
                // Their tokens are words, and no longer tokens.
                let words: Vec<Vec<&str>> =
                    taken.iter().map(|s| s.tokens.iter().map(|t| t.fields[0].as_str()).collect()).collect();
                let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
                prop_assert_eq!(lines, words);
                prop_assert_eq!(read(&text, Some(kind), size).unwrap().0.len(), taken.len());
                continue;
            }
            let expected: Vec<Sentence> = taken.iter().map(|s| held(&file, s, kind)).collect();
            let mut found = read(&text, Some(kind), size).map(without_lines);
            if let (Ok(found), Kind::Conllu | Kind::Conllx) = (&mut found, kind) {
                for token in found.iter_mut().flat_map(|s| &mut s.tokens) {
                    token.fields = [Field::Form, Field::Upos].map(|f| token.fields[f.column()].clone()).to_vec();
                }
            }
            prop_assert_eq!(found.as_ref(), Ok(&expected), "{} {:?}", kind.name(), text);
        }
    }

    #[test]
    fn labels_are_put_where_they_are_read(
        file in file(),
        labels in prop::collection::vec(string(), 1..4),
        size in 1..100usize,
    ) {
        for kind in Kind::ALL {
            let (text, taken) = taken(&file, kind);
            if !taken.is_empty() {
                check_put(&text, kind, &labels, size);
            }
        }
    }

    #[test]
    fn cuts_do_not_matter(
        text in raw(),
        labels in prop::collection::vec(string(), 1..4),
        sizes in prop::collection::vec(1..60usize, 3),
    ) {
        for kind in std::iter::once(None).chain(Kind::ALL.map(Some)) {
            let read = |size| read(&text, kind, size).map(|(s, format)| (s, format.kind(), format.columns()));
            let whole = read(WHOLE);
            for &size in &sizes {
                prop_assert_eq!(&read(size), &whole, "{:?} {:?} {}", &text, kind, size);
            }
            if let Some(kind) = kind.filter(|_| whole.is_ok()) {
                check_put(&text, kind, &labels, sizes[0]);
            }
        }
    }
}
