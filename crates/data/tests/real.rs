//! Readers and schemes on published data: counts are those of the data's own descriptions. The data
//! are not part of the project; `SEQOIA_DATA` names the folder that holds them.
// A test may unwrap: its failure is the message.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use seqoia_data::format::{self, Block, Blocks, Field, Format, Kind};
use seqoia_data::open::open;
use seqoia_data::scheme::{Recogniser, Scheme, convert, spans};
use seqoia_testkit::outside::folder as data;

/// What a file holds, and what its last column is written in.
struct Counts {
    sentences: usize,
    tokens: usize,
    marks: usize,
    columns: usize,
    kind: Kind,
    recogniser: Recogniser,
    chunks: usize,
}

/// Calls `each` for every sentence with its labels, which are in `column` or the last one.
fn read(
    path: PathBuf,
    size: usize,
    column: Option<usize>,
    mut each: impl FnMut(&[&str]),
) -> (usize, usize, usize, Box<dyn Format>) {
    let mut blocks = Blocks::with_size(open(&path).unwrap(), size);
    let mut block = Block::default();
    let format = format::first(&mut blocks, &mut block, None).unwrap();
    let column = column.unwrap_or(format.columns() - 1);
    let (mut sentences, mut tokens, mut marks) = (0, 0, 0);
    loop {
        format.parse(blocks.name(), &mut block).unwrap();
        for sentence in block.sentences() {
            sentences += 1;
            tokens += sentence.tokens.len();
            let labels: Vec<&str> = sentence.tokens.map(|i| block.field(i, column)).collect();
            each(&labels);
        }
        marks += block.marks().len();
        if !blocks.fill(&mut block).unwrap() {
            return (sentences, tokens, marks, format);
        }
    }
}

fn count(folder: &std::path::Path, file: &str, column: Option<usize>) -> Counts {
    let mut recogniser = Recogniser::default();
    let (sentences, tokens, marks, format) =
        read(folder.join(file), format::BLOCK, column, |labels| recogniser.sentence(labels));
    let scheme = recogniser.finish();
    let mut chunks = 0;
    // Through every scheme and back; small blocks, to see that they do not matter.
    let again = read(folder.join(file), 1000, column, |labels| {
        let Some(scheme) = scheme else { return };
        let found = spans(scheme, labels);
        chunks += found.len();
        let mut recogniser = Recogniser::default();
        recogniser.sentence(labels);
        for to in Scheme::ALL {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            convert(scheme, to, labels, &mut there);
            let there: Vec<&str> = there.iter().map(String::as_str).collect();
            assert_eq!(spans(to, &there), found);
            convert(to, scheme, &there, &mut back);
            assert!(back == labels || recogniser.wrong(scheme) > 0, "{labels:?}");
        }
    });
    assert_eq!((sentences, tokens, marks), (again.0, again.1, again.2));
    Counts { sentences, tokens, marks, columns: format.columns(), kind: format.kind(), recogniser, chunks }
}

#[test]
fn columns() {
    let Some(data) = data() else { return };
    let (iob1, iob2, bmes) = (Some(Scheme::Iob1), Some(Scheme::Iob2), Some(Scheme::Bmes));
    for (file, columns, sentences, tokens, marks, scheme, chunks) in [
        ("conll2000/train.txt.gz", 3, 8_936, 211_727, 0, iob2, 106_978),
        ("conll2000/test.txt.gz", 3, 2_012, 47_377, 0, iob2, 23_852),
        ("conll2003/eng.train.gz", 4, 14_041, 203_621, 946, iob1, 23_499),
        ("conll2003/eng.testa.gz", 4, 3_250, 51_362, 216, iob1, 5_942),
        ("conll2003/eng.testb.gz", 4, 3_453, 46_435, 231, iob1, 5_648),
        ("conll2002-ned/ned.train.gz", 3, 15_806, 202_644, 287, iob2, 13_344),
        ("conll2002-ned/ned.testa.gz", 3, 2_895, 37_687, 74, iob2, 2_616),
        ("conll2002-ned/ned.testb.gz", 3, 5_195, 68_875, 119, iob2, 3_941),
        ("brown-pos/brown.train.txt.gz", 2, 51_606, 1_044_951, 0, None, 0),
        ("brown-pos/brown.dev.txt.gz", 2, 2_867, 57_725, 0, None, 0),
        ("brown-pos/brown.test.txt.gz", 2, 2_867, 58_516, 0, None, 0),
        // Two chunks run over a break between sentences: each half counts.
        ("resume-ner/train.bmes.xz", 2, 3_821, 124_099, 0, bmes, 13_440),
        ("resume-ner/dev.bmes.gz", 2, 463, 13_890, 0, bmes, 1_497),
        ("resume-ner/test.bmes.gz", 2, 477, 15_100, 0, bmes, 1_630),
        // Sentences that start inside a chunk: 6 and 11.
        ("msra-ner/train.bio.xz", 2, 50_658, 2_169_879, 0, iob2, 74_709),
        ("msra-ner/test.bio.xz", 2, 4_631, 172_601, 0, iob2, 6_192),
        ("people-daily-199801/pos.test.tsv.gz", 2, 4_222, 103_417, 0, None, 0),
        ("people-daily-199801/ner.dev.bio.gz", 2, 1_673, 68_430, 0, iob2, 2_034),
    ] {
        let found = count(&data, file, None);
        assert_eq!(found.kind, Kind::Columns, "{file}");
        assert_eq!(
            (found.columns, found.sentences, found.tokens, found.marks),
            (columns, sentences, tokens, marks),
            "{file}"
        );
        assert_eq!(found.recogniser.finish(), scheme, "{file}");
        assert_eq!(found.chunks, chunks, "{file}");
    }
}

#[test]
fn other_columns_of_conll() {
    let Some(data) = data() else { return };
    // Chunks of CoNLL-2003 are IOB1 too; parts of speech are none.
    assert_eq!(count(&data, "conll2003/eng.train.gz", Some(2)).recogniser.finish(), Some(Scheme::Iob1));
    for (file, column) in
        [("conll2003/eng.train.gz", 1), ("conll2000/train.txt.gz", 1), ("conll2002-ned/ned.train.gz", 1)]
    {
        assert_eq!(count(&data, file, Some(column)).recogniser.finish(), None);
    }
    // Words are no labels either.
    assert_eq!(count(&data, "resume-ner/dev.bmes.gz", Some(0)).recogniser.finish(), None);
}

#[test]
fn conllu() {
    let Some(data) = data() else { return };
    for (file, sentences, tokens) in
        [("train", 12_544, 204_577), ("dev", 2_001, 25_147), ("test", 2_077, 25_094)]
    {
        let file = format!("ud-english-ewt/en_ewt-ud-{file}.conllu.gz");
        for field in [Field::Upos, Field::Xpos, Field::Deprel] {
            let found = count(&data, &file, Some(field.column()));
            assert_eq!(
                (found.kind, found.sentences, found.tokens, found.marks),
                (Kind::Conllu, sentences, tokens, 0)
            );
            assert_eq!(found.recogniser.finish(), None, "{field:?}");
        }
    }
}

#[test]
fn real_labels_break_their_scheme() {
    let Some(data) = data() else { return };
    let found = count(&data, "resume-ner/train.bmes.xz", None);
    // Two ends of sentences inside a chunk, two starts inside a chunk.
    assert_eq!(found.recogniser.wrong(Scheme::Bmes), 4);
    // `B-MISC` after `O`, on lines 152428 and 175436.
    assert_eq!(count(&data, "conll2003/eng.train.gz", None).recogniser.wrong(Scheme::Iob1), 2);
    assert_eq!(count(&data, "conll2000/train.txt.gz", None).recogniser.wrong(Scheme::Iob2), 0);
}

/// Gold and guessed chunks in files with broken labels, as the scorer conlleval counted them.
#[test]
fn chunks_as_conlleval_counts_them() {
    let Some(data) = data() else { return };
    for (file, gold, guessed) in [
        ("iob2-chunking", 958, 901),
        ("iob1-ner", 425, 413),
        ("mixed-gold-iob1-guess-iob2", 425, 405),
        ("invalid-transitions", 1_009, 1_154),
        ("edge-cases", 13, 14),
    ] {
        let path = data.join(format!("conlleval-cases/{file}.txt"));
        let columns = read(path.clone(), 100, None, |_| {}).3.columns();
        for (column, expected) in [(columns - 2, gold), (columns - 1, guessed)] {
            for scheme in [Scheme::Iob1, Scheme::Iob2] {
                let mut chunks = 0;
                read(path.clone(), 100, Some(column), |labels| chunks += spans(scheme, labels).len());
                assert_eq!(chunks, expected, "{file} column {column}");
            }
        }
    }
}

#[test]
fn other_formats() {
    let Some(data) = data() else { return };
    // Sentences, tokens, and labels that start a word or are one, or ready attributes.
    for (file, kind, sentences, tokens, starts) in [
        ("ocr-letters/letter.data.gz", None, 6_877, 52_152, 0),
        ("sighan2005-pku/test_gold.txt.gz", Some(Kind::Words), 1_944, 172_733, 104_372),
        ("sighan2005-pku/train-pd98.txt.xz", Some(Kind::Words), 19_484, 1_841_657, 1_121_447),
        ("ud-eval-cases/conllx-gold.conll.gz", Some(Kind::Conllx), 200, 4_076, 0),
    ] {
        let mut blocks = Blocks::with_size(open(&data.join(file)).unwrap(), 10_000);
        let mut block = Block::default();
        let format = format::first(&mut blocks, &mut block, kind).unwrap();
        let mut found = (0, 0, 0);
        loop {
            format.parse(blocks.name(), &mut block).unwrap();
            assert!(block.text().len() < 200_000, "{file}: blocks stay small");
            found.0 += block.len();
            found.1 += block.tokens().len();
            if format.kind() == Kind::Words {
                let starts = |i: &usize| matches!(block.field(*i, 1), "B" | "S");
                found.2 += (0..block.tokens().len()).filter(starts).count();
            }
            if !blocks.fill(&mut block).unwrap() {
                break;
            }
        }
        assert_eq!(found, (sentences, tokens, starts), "{file}");
    }
}
