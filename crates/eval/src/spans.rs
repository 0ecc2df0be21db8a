//! Chunk scores as `conlleval` counts them: a chunk is right when its start, its end and its type all are.
//!
//! A label is a tag, the first `-`, and a type, which may hold more
//! hyphens. Chunks are never collected: one look at the label before and the label now tells whether a chunk
//! starts or ends between them, on each side, so all schemes of the reference work, alone, mixed, and with
//! transitions that no scheme allows.
//!
//! Reference: Tjong Kim Sang and Buchholz, *Introduction to the CoNLL-2000 Shared Task: Chunking*, CoNLL 2000,
//! and its scorer `conlleval`, version 2004-01-26, which also served CoNLL-2003. The tags `E`, `.`, `[` and `]`
//! are those of Tjong Kim Sang and Veenstra, *Representing Text Chunks*, EACL 1999.
//!
//! The counts are those of `conlleval`, also where they are odd: a type `0` is the empty type. Tags that it does
//! not know, as `S` of IOBES or `M` of BMES, start and end chunks only where the type changes, so two `S-PER` in
//! a row are one chunk. Whoever has such labels converts them to IOB2 before scoring.

use std::collections::HashMap;

use crate::{SpanScores, Tally, TypeScores};

/// What stands before the first `-` of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Begin,
    Inside,
    Outside,
    End,
    Dot,
    /// `[` or `]`: a chunk of its own.
    Bracket,
    /// Unknown: only its type speaks.
    Other,
}

/// A label as the rules see it.
#[derive(Debug, Clone, Copy)]
struct Mark {
    tag: Tag,
    /// Index into `Spans::counts`; 0 is the empty type.
    kind: usize,
}

impl Mark {
    fn starts(self, now: Mark) -> bool {
        starts(self.tag, now.tag, self.kind == now.kind)
    }

    fn ends(self, now: Mark) -> bool {
        ends(self.tag, now.tag, self.kind == now.kind)
    }
}

/// A sentence break, and what stands before the first token.
const BREAK: Mark = Mark { tag: Tag::Outside, kind: 0 };

/// Whether a chunk starts at `now`, whose type may be the same as that of the label before.
pub(crate) fn starts(before: Tag, now: Tag, same_type: bool) -> bool {
    use Tag::*;
    match (before, now) {
        (_, Bracket) => true,
        (Begin | Inside | Outside, Begin) | (Outside, Inside | End) | (End, Inside | End) => true,
        (_, Outside | Dot) => false,
        _ => !same_type,
    }
}

/// Whether the chunk that holds `before` ends there.
pub(crate) fn ends(before: Tag, now: Tag, same_type: bool) -> bool {
    use Tag::*;
    match (before, now) {
        (Bracket, _) => true,
        (Begin | Inside, Begin | Outside) | (End, Inside | End | Outside) => true,
        (Outside | Dot, _) => false,
        _ => !same_type,
    }
}

/// Cuts a label at its first hyphen.
pub(crate) fn cut(label: &str, raw: bool) -> (&str, &str) {
    let (tag, kind) = match raw {
        true if label == "O" => ("O", ""),
        true => ("B", label),
        false => label.split_once('-').unwrap_or((label, "")),
    };
    // The reference keeps a type only if Perl takes it as true, and "0" is false there.
    (tag, if kind == "0" { "" } else { kind })
}

pub(crate) fn tag(text: &str) -> Tag {
    match text {
        "B" => Tag::Begin,
        "I" => Tag::Inside,
        "O" => Tag::Outside,
        "E" => Tag::End,
        "." => Tag::Dot,
        "[" | "]" => Tag::Bracket,
        _ => Tag::Other,
    }
}

/// Tally chunks, a token at a time. Memory is taken only when a type is seen for the first time.
///
/// ```
/// let mut spans = seqoia_eval::Spans::new(false);
/// spans.token("B-NP", "B-NP");
/// spans.token("I-NP", "B-NP");
/// spans.end_sentence();
/// let scores = spans.finish();
/// assert_eq!((scores.gold, scores.found, scores.correct), (1, 2, 0));
/// ```
#[derive(Debug, Clone)]
pub struct Spans {
    raw: bool,
    kinds: HashMap<Box<str>, usize>,
    counts: Vec<Tally>,
    total: Tally,
    tokens: u64,
    tokens_correct: u64,
    gold: Mark,
    guess: Mark,
    /// A chunk is open on both sides, and has agreed so far.
    agreeing: bool,
}

impl Spans {
    /// Starts to count. With `raw` labels have no prefix and every token not labelled `O` is a chunk of its own,
    /// as with `conlleval -r`: so part-of-speech tags get scores by tag.
    pub fn new(raw: bool) -> Self {
        Self {
            raw,
            kinds: HashMap::from([("".into(), 0)]),
            counts: vec![Tally::default()],
            total: Tally::default(),
            tokens: 0,
            tokens_correct: 0,
            gold: BREAK,
            guess: BREAK,
            agreeing: false,
        }
    }

    /// Tally a token by its two labels.
    pub fn token(&mut self, gold: &str, guess: &str) {
        let (gold_tag, gold_kind) = cut(gold, self.raw);
        let (guess_tag, guess_kind) = cut(guess, self.raw);
        let gold = Mark { tag: tag(gold_tag), kind: self.intern(gold_kind) };
        // Types mostly agree, so the second look-up is mostly saved.
        let kind = if gold_kind == guess_kind { gold.kind } else { self.intern(guess_kind) };
        let guess = Mark { tag: tag(guess_tag), kind };
        self.tokens += 1;
        self.tokens_correct += u64::from(gold_tag == guess_tag && gold.kind == guess.kind);
        self.step(gold, guess);
    }

    /// Ends the sentence: no chunk goes on. More than one end in a row does no harm.
    pub fn end_sentence(&mut self) {
        self.step(BREAK, BREAK);
    }

    /// The chunks counted so far. One that is still open is not yet among the right ones.
    pub fn so_far(&self) -> Tally {
        self.total
    }

    /// Closes the last chunk and gives the scores.
    pub fn finish(mut self) -> SpanScores {
        if self.agreeing {
            self.right();
        }
        let mut types: Vec<TypeScores> = self
            .kinds
            .into_iter()
            .filter_map(|(name, kind)| {
                let Tally { gold, found, correct } = *self.counts.get(kind)?;
                // A type that only stands at tags outside of chunks, as `O-X`, has no line.
                (gold + found > 0).then(|| TypeScores { name: name.into(), gold, found, correct })
            })
            .collect();
        types.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let Tally { gold, found, correct } = self.total;
        SpanScores { tokens: self.tokens, tokens_correct: self.tokens_correct, gold, found, correct, types }
    }

    fn intern(&mut self, name: &str) -> usize {
        if let Some(&kind) = self.kinds.get(name) {
            return kind;
        }
        let kind = self.counts.len();
        self.counts.push(Tally::default());
        self.kinds.insert(name.into(), kind);
        kind
    }

    /// The loop of the reference for one row, in its order: first what ends, then what starts.
    fn step(&mut self, gold: Mark, guess: Mark) {
        if self.agreeing {
            let (gold_ends, guess_ends) = (self.gold.ends(gold), self.guess.ends(guess));
            if gold_ends && guess_ends {
                // The reference compares the types here too; they are equal, or the line below had said no.
                self.right();
            }
            self.agreeing = !gold_ends && !guess_ends && gold.kind == guess.kind;
        }
        let (gold_starts, guess_starts) = (self.gold.starts(gold), self.guess.starts(guess));
        if gold_starts && guess_starts && gold.kind == guess.kind {
            self.agreeing = true;
        }
        if gold_starts {
            self.total.gold += 1;
            self.counts[gold.kind].gold += 1;
        }
        if guess_starts {
            self.total.found += 1;
            self.counts[guess.kind].found += 1;
        }
        (self.gold, self.guess) = (gold, guess);
    }

    /// The chunk that ended before this row was right.
    fn right(&mut self) {
        self.total.correct += 1;
        self.counts[self.gold.kind].correct += 1;
    }
}
