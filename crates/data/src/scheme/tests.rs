//! Laws of schemes: examples in all of them, and there and back.

use super::*;
use proptest::prelude::*;

fn chunk(start: usize, end: usize, kind: &str) -> Chunk<'_> {
    Chunk { start, end, kind }
}

fn labels(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn converted(from: Scheme, to: Scheme, text: &str) -> String {
    let mut out = Vec::new();
    convert(from, to, &labels(text), &mut out);
    out.join(" ")
}

fn recognise(sentences: &[&str]) -> Option<Scheme> {
    let mut recogniser = Recogniser::default();
    for sentence in sentences {
        recogniser.sentence(&labels(sentence));
    }
    recogniser.finish()
}

/// The same chunks in all schemes: two of one type that touch, one of another, one alone.
const SAME: [(Scheme, &str); 5] = [
    (Scheme::Iob1, "I-X I-X I-X B-X I-Y I-Y O I-A-B O"),
    (Scheme::Iob2, "B-X I-X I-X B-X B-Y I-Y O B-A-B O"),
    (Scheme::Iobes, "B-X I-X E-X S-X B-Y E-Y O S-A-B O"),
    (Scheme::Bmes, "B-X M-X E-X S-X B-Y E-Y O S-A-B O"),
    (Scheme::Bie, "B-X I-X E-X B-X B-Y E-Y O B-A-B O"),
];

#[test]
fn single_labels_are_renamed_where_neighbours_do_not_matter() {
    let labels = ["B-X", "I-X", "E-X", "S", "I", "O", "NN", "I-"];
    let names = |from, to| labels.map(|l| rename(from, to, l));
    let bmes = ["B-X", "M-X", "E-X", "S", "M", "O", "NN", "I-"];
    assert_eq!(names(Scheme::Iobes, Scheme::Bmes), bmes.map(|l| Some(l.to_owned())));
    assert_eq!(bmes.map(|l| rename(Scheme::Bmes, Scheme::Iobes, l)), labels.map(|l| Some(l.to_owned())));
    assert_eq!(names(Scheme::Bie, Scheme::Bie), labels.map(|l| Some(l.to_owned())));
    assert_eq!(rename(Scheme::Iobes, Scheme::Iob2, "O"), None);
}

#[test]
fn names() {
    for scheme in Scheme::ALL {
        assert_eq!(Scheme::parse(scheme.name()), Some(scheme));
        assert_eq!(Scheme::parse(&scheme.name().to_uppercase()), Some(scheme));
    }
    assert_eq!(Scheme::parse("BIO"), Some(Scheme::Iob2));
    assert_eq!(Scheme::parse("bioes"), Some(Scheme::Iobes));
    assert_eq!(Scheme::parse("iob"), None);
}

#[test]
fn one_example_in_all_schemes() {
    for (from, text) in SAME {
        assert_eq!(
            spans(from, &labels(text)),
            [chunk(0, 3, "X"), chunk(3, 4, "X"), chunk(4, 6, "Y"), chunk(7, 8, "A-B")]
        );
        for (to, expected) in SAME {
            assert_eq!(converted(from, to, text), expected, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn words_without_types() {
    assert_eq!(converted(Scheme::Bie, Scheme::Bmes, "B B E B I I E B"), "S B E B M M E S");
    assert_eq!(converted(Scheme::Bmes, Scheme::Bie, "S B E B M M E S"), "B B E B I I E B");
    assert_eq!(converted(Scheme::Bmes, Scheme::Iob1, "S B E S"), "I B I B");
    assert_eq!(converted(Scheme::Iob1, Scheme::Bmes, "O I I B O"), "O B E S O");
}

#[test]
fn broken_labels_as_conlleval_takes_them() {
    // Inner after outside, after another type, at the start.
    let iob = labels("I-X O I-X I-Y B-Y I-X");
    let expected = [chunk(0, 1, "X"), chunk(2, 3, "X"), chunk(3, 4, "Y"), chunk(4, 5, "Y"), chunk(5, 6, "X")];
    assert_eq!(spans(Scheme::Iob1, &iob), expected);
    assert_eq!(spans(Scheme::Iob2, &iob), expected);
    // No end; two ends; an end alone; inner behind a single one.
    let iobes = labels("B-X I-X O E-X E-X S-X I-X B-X B-X");
    let expected = [
        chunk(0, 2, "X"),
        chunk(3, 4, "X"),
        chunk(4, 5, "X"),
        chunk(5, 6, "X"),
        chunk(6, 7, "X"),
        chunk(7, 8, "X"),
        chunk(8, 9, "X"),
    ];
    assert_eq!(spans(Scheme::Iobes, &iobes), expected);
}

#[test]
fn labels_that_are_none_are_outside_and_stay() {
    for foreign in ["-X-", "B-", "BX", "b-X", "", "O-X", "Oh", "é", "E-X", "M-X"] {
        let mut out = vec!["left over".to_owned(); 7];
        let labels = ["B-X", foreign, "I-X"];
        assert_eq!(spans(Scheme::Iob2, &labels), [chunk(0, 1, "X"), chunk(2, 3, "X")]);
        convert(Scheme::Iob2, Scheme::Iobes, &labels, &mut out);
        assert_eq!(out, ["S-X", foreign, "S-X"]);
    }
}

#[test]
fn recognised() {
    for (scheme, text) in SAME {
        assert_eq!(recognise(&[text]), Some(scheme));
        assert_eq!(recognise(&["O O O", text, "O"]), Some(scheme));
    }
    for (sentences, expected) in [
        (&["B-X O B-Y O"][..], Some(Scheme::Iob2)),
        (&["I-X O I-Y I-Y O"], Some(Scheme::Iob1)),
        (&["I-X I-X", "I-Y"], Some(Scheme::Iob1)),
        (&["I O O I I B I"], Some(Scheme::Iob1)),
        (&["B O O B I B I"], Some(Scheme::Iob2)),
        (&["S-X O B-X E-X"], Some(Scheme::Iobes)),
        (&["S B E S S", "B E"], Some(Scheme::Bmes)),
        (&["B E B I E B B E", "B E B"], Some(Scheme::Bie)),
        // No token alone: more likely the wide-spread scheme.
        (&["B-X I-X E-X O B-X E-X"], Some(Scheme::Iobes)),
        // Nothing to see.
        (&[], None),
        (&["", ""], None),
        (&["O O O"], None),
        // Tags.
        (&["DT NN VBZ I"], None),
        (&["B I E", "N V N", "O I B E S M"], None),
        (&["I I I I"], None),
        (&["S S S", "S"], None),
        (&["E B S I O E I B S B I O S E"], None),
        (&["NP-SBJ S-TPC VP B-NP"], None),
        // Half and half.
        (&["I-X O B-X O"], None),
    ] {
        assert_eq!(recognise(sentences), expected, "{sentences:?}");
    }
}

#[test]
fn a_few_broken_labels_do_not_matter() {
    let mut good = vec![SAME[1].1; 10];
    good.push("O I-X O");
    good.push("I-Y I-Y");
    assert_eq!(recognise(&good), Some(Scheme::Iob2));
    let mut recogniser = Recogniser::default();
    good.iter().for_each(|sentence| recogniser.sentence(&labels(sentence)));
    assert_eq!(recogniser.wrong(Scheme::Iob2), 2);
    // One label in a hundred may be a slip, more may not.
    let mut slips = vec!["O O O O O O O O B-X I-X"; 10];
    slips.push("0");
    assert_eq!(recognise(&slips), Some(Scheme::Iob2));
    slips.push("o");
    assert_eq!(recognise(&slips), None);
    // An end of a chunk that is lost at the break of a sentence.
    let mut good = vec![SAME[3].1; 10];
    good.extend(["O B-X M-X", "M-X E-X O"]);
    assert_eq!(recognise(&good), Some(Scheme::Bmes));
}

/// Chunks that do not overlap, as gaps and lengths, and the sentence's length.
fn chunks() -> impl Strategy<Value = (usize, Vec<(usize, usize, &'static str)>)> {
    let kind = prop::sample::select(vec!["X", "Y", "A-B"]);
    (prop::collection::vec((0..3usize, 1..5usize, kind), 0..8), 0..3usize).prop_map(|(parts, tail)| {
        let mut at = 0;
        let mut chunks = Vec::new();
        for (gap, length, kind) in parts {
            chunks.push((at + gap, at + gap + length, kind));
            at += gap + length;
        }
        (at + tail, chunks)
    })
}

fn iob2(length: usize, chunks: &[(usize, usize, &str)], types: bool) -> Vec<String> {
    let mut labels = vec!["O".to_owned(); length];
    for &(start, end, kind) in chunks {
        for (i, label) in labels.iter_mut().enumerate().take(end).skip(start) {
            let letter = if i == start { "B" } else { "I" };
            *label = if types { format!("{letter}-{kind}") } else { letter.to_owned() };
        }
    }
    labels
}

fn to(from: Scheme, to: Scheme, labels: &[String]) -> Vec<String> {
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let mut out = Vec::new();
    convert(from, to, &labels, &mut out);
    out
}

proptest! {
    #[test]
    fn there_and_back(
        (length, chunks) in chunks(),
        types: bool,
        path in prop::collection::vec(0..5usize, 1..6),
    ) {
        let start = iob2(length, &chunks, types);
        let mut at = Scheme::Iob2;
        let mut labels = start.clone();
        for step in path {
            let next = Scheme::ALL[step];
            labels = to(at, next, &labels);
            at = next;
            let views: Vec<&str> = labels.iter().map(String::as_str).collect();
            let expected: Vec<Chunk> = chunks
                .iter()
                .map(|&(start, end, kind)| chunk(start, end, if types { kind } else { "" }))
                .collect();
            prop_assert_eq!(spans(at, &views), expected);
            // What is written is valid, and so is recognised.
            let mut recogniser = Recogniser::default();
            recogniser.sentence(&labels);
            prop_assert_eq!(recogniser.wrong(at), 0);
        }
        prop_assert_eq!(to(at, Scheme::Iob2, &labels), start);
    }

    #[test]
    fn any_labels(
        labels in prop::collection::vec("[OBIMES]?-?[XYé]?", 0..12),
        from in 0..5usize,
        into in 0..5usize,
    ) {
        let (from, into) = (Scheme::ALL[from], Scheme::ALL[into]);
        let out = to(from, into, &labels);
        prop_assert_eq!(out.len(), labels.len());
        // Broken labels become valid ones for the same chunks, if all are labels of the scheme.
        let views: Vec<&str> = labels.iter().map(String::as_str).collect();
        if views.iter().all(|label| from.read(label) != Label::Foreign) {
            let written: Vec<&str> = out.iter().map(String::as_str).collect();
            prop_assert_eq!(spans(into, &written), spans(from, &views));
            let mut recogniser = Recogniser::default();
            recogniser.sentence(&out);
            prop_assert_eq!(recogniser.wrong(into), 0);
        }
        let mut recogniser = Recogniser::default();
        recogniser.sentence(&labels);
        let _ = recogniser.finish();
    }
}

/// Where schemes are local, the well-formed labellings of three labels that may each be what is known are those that
/// say it; where they are not, some are others.
#[test]
fn local_schemes_are_sets_of_labels() {
    let labels = ["O", "B-X", "I-X", "M-X", "E-X", "S-X", "I-Y", "B-Y", "E-Y", "S-Y", "M-Y"];
    let mut out = vec![];
    for (from, to) in Scheme::ALL.iter().flat_map(|from| Scheme::ALL.iter().map(move |to| (*from, *to))) {
        let of = |scheme: Scheme| labels.into_iter().filter(move |y| *y == "O" || scheme.reads(y));
        let mut exact = true;
        for [a, b, c] in of(to).flat_map(|a| of(to).flat_map(move |b| of(to).map(move |c| [a, b, c]))) {
            if !to.breaks(&[a, b, c]).is_empty() {
                continue;
            }
            convert(to, from, &[a, b, c], &mut out);
            for known in of(from) {
                exact &= possible(from, to, known).iter().any(|may_be| may_be == b) == (out[1] == known);
            }
        }
        assert_eq!(exact, is_local(from, to), "{} {}", from.name(), to.name());
    }
}

/// A labelling is written in another scheme as some labels of it say exactly if all neighbours fit, whatever labels
/// it has and however ill they are formed.
#[test]
fn neighbours_that_fit_are_labellings_that_fit() {
    let labels = ["O", "B-X", "I-X", "M-X", "E-X", "S-X", "I-Y", "B-Y"];
    let (mut out, mut met) = (vec![], 0);
    for (from, to) in Scheme::ALL.iter().flat_map(|from| Scheme::ALL.iter().map(move |to| (*from, *to))) {
        let own: Vec<&str> = labels.into_iter().filter(|y| *y == "O" || from.reads(y)).collect();
        let other: Vec<&str> = labels.into_iter().filter(|y| *y == "O" || to.reads(y)).collect();
        for [a, b, c] in own.iter().flat_map(|a| own.iter().flat_map(|b| own.iter().map(|c| [*a, *b, *c]))) {
            convert(from, to, &[a, b, c], &mut out);
            for known in 0..other.len() * 4 {
                // One or two of the three are known, as another label or as what it is.
                let said = other[known / 4];
                let known: [Option<&str>; 3] = match known % 4 {
                    0 => [Some(said), None, None],
                    1 => [None, Some(said), Some(&out[2])],
                    2 => [Some(&out[0]), Some(said), None],
                    _ => [None, None, Some(said)],
                };
                let is = out.iter().zip(&known).all(|(out, known)| known.is_none_or(|known| known == out));
                let ends = [None, Some(a), Some(b), Some(c), None];
                let known = [None, known[0], known[1], known[2], None];
                let all = (0..4).all(|i| fits(from, to, [ends[i], ends[i + 1]], [known[i], known[i + 1]]));
                assert_eq!(all, is, "{} {} {a} {b} {c} {known:?}", from.name(), to.name());
                met += usize::from(is);
            }
        }
    }
    assert!(met > 1000);
}
