//! Sentences that a program has in memory: their fields and attributes go into a [`Block`] as they are. No format
//! writes or reads them, so they may hold tabs and line ends.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::block::{Block, Format, LARGEST, Rows, Span};
use super::{BLOCK, Columns, Jsonl};
use crate::error::{Error, Result};

/// What a token is made of: a word, a list of fields, or features with values.
///
/// ```
/// use seqoia_data::format::{Ready, Sentences};
///
/// let mut sentences = Sentences::new("mine");
/// sentences.add(&["the", "dog"], &["DT", "NN"])?; // words
/// sentences.add(&[["a"], ["cat"]], &["DT", "NN"])?; // lists of fields, here of one
/// assert!(sentences.add(&[Ready(&[("w=the", 1.0)])], &["DT"]).is_err()); // not like the others
/// # Ok::<(), seqoia_data::Error>(())
/// ```
pub trait AsToken {
    /// Adds its fields and its ready attributes.
    fn put(&self, to: &mut Parts<'_>);
}

/// Where a token puts what it is made of.
pub struct Parts<'a> {
    rows: &'a mut Rows,
    fields: usize,
    ready: bool,
    problem: Option<String>,
}

impl Parts<'_> {
    /// The next field.
    pub fn field(&mut self, text: &str) {
        if text.is_empty() {
            self.problem.get_or_insert_with(|| format!("field {} of a token is empty", self.fields));
        }
        let span = self.rows.own(text);
        self.rows.field_at(span);
        self.fields += 1;
    }

    /// A ready attribute with its value.
    pub fn attribute(&mut self, name: &str, value: f32) {
        if value.is_nan() || value.abs() > LARGEST {
            let what = || format!("the value of '{name}' is {value}; values go from -1e12 to 1e12");
            self.problem.get_or_insert_with(what);
        }
        let span = self.rows.own(name);
        self.rows.attribute(span, value);
        self.ready = true;
    }

    /// Says that the token has ready attributes, though it may be none.
    pub fn ready(&mut self) {
        self.ready = true;
    }
}

/// Ready attributes of a token: names, and what each counts.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'a, S>(pub &'a [(S, f32)]);

impl<S: AsRef<str>> AsToken for Ready<'_, S> {
    fn put(&self, to: &mut Parts<'_>) {
        to.ready();
        self.0.iter().for_each(|(name, value)| to.attribute(name.as_ref(), *value));
    }
}

impl AsToken for str {
    fn put(&self, to: &mut Parts<'_>) {
        to.field(self);
    }
}

impl AsToken for String {
    fn put(&self, to: &mut Parts<'_>) {
        to.field(self);
    }
}

impl<S: AsRef<str>> AsToken for [S] {
    fn put(&self, to: &mut Parts<'_>) {
        self.iter().for_each(|field| to.field(field.as_ref()));
    }
}

impl<S: AsRef<str>, const N: usize> AsToken for [S; N] {
    fn put(&self, to: &mut Parts<'_>) {
        self.as_slice().put(to);
    }
}

impl<S: AsRef<str>> AsToken for Vec<S> {
    fn put(&self, to: &mut Parts<'_>) {
        self.as_slice().put(to);
    }
}

impl<T: AsToken + ?Sized> AsToken for &T {
    fn put(&self, to: &mut Parts<'_>) {
        (**self).put(to);
    }
}

/// Like what all tokens must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    fields: usize,
    ready: bool,
    labelled: bool,
}

/// Sentences in memory, with or without labels.
///
/// Each is a document of its own, for features that look there, unless [`document`](Self::document) says otherwise.
#[derive(Debug, Default)]
pub struct Sentences {
    name: String,
    done: Vec<Block>,
    block: Block,
    open: u32, // sentences of the block, those without tokens too
    documents: bool,
    shape: Option<Shape>,
    weight: Option<f64>, // of the next sentence
}

impl Sentences {
    /// None so far; `name` is for errors, in which the number of a sentence, from 1, stands as its line.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Sentences { name: name.into(), ..Self::default() }
    }

    /// What errors call them.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fields of a token, the label left out, and whether tokens have ready attributes; none without any token.
    #[must_use]
    pub fn shape(&self) -> Option<(usize, bool)> {
        self.shape.map(|shape| (shape.fields, shape.ready))
    }

    /// Sentences that were added, those without tokens too.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.block.first_line - 1).unwrap_or(usize::MAX).saturating_add(self.open as usize)
    }

    /// Whether none was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a document: all sentences up to the next start belong to it.
    pub fn document(&mut self) {
        if self.is_long() {
            self.close();
        }
        self.documents = true;
        self.mark();
    }

    fn mark(&mut self) {
        self.block.rows.mark(Span::default());
    }

    /// Adds a sentence with its labels. One without tokens has its number and teaches nothing.
    ///
    /// # Errors
    /// Tokens that are not like those before, a field or a label that is empty, not one label for each token. The
    /// sentence is left out then, with the weight that was meant for it; those before stay.
    pub fn add<T: AsToken, L: AsRef<str>>(&mut self, tokens: &[T], labels: &[L]) -> Result<()> {
        if tokens.len() != labels.len() {
            self.weight = None;
            let what = format!("a sentence has {} tokens and {} labels", tokens.len(), labels.len());
            return Err(self.error(what));
        }
        self.put(tokens, Some(labels))
    }

    /// Adds a sentence without labels.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_unlabelled<T: AsToken>(&mut self, tokens: &[T]) -> Result<()> {
        self.put::<T, &str>(tokens, None)
    }

    /// The weight of the next sentence; 1 without it.
    ///
    /// # Errors
    /// A weight that is negative or not finite.
    pub fn weight(&mut self, weight: f64) -> Result<()> {
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(
                self.error(format!("the weight of a sentence is {weight}, which is not a number from 0"))
            );
        }
        self.weight = Some(weight);
        Ok(())
    }

    fn put<T: AsToken, L: AsRef<str>>(&mut self, tokens: &[T], labels: Option<&[L]>) -> Result<()> {
        let weight = self.weight.take();
        if !self.documents && self.is_long() {
            self.close();
        }
        let (start, shape) = (self.block.rows.lengths(), self.shape);
        if !tokens.is_empty() {
            if !self.documents {
                self.mark();
            }
            if let Some(weight) = weight {
                self.block.rows.weight(weight);
            }
            if let Err(what) = self.put_tokens(tokens, labels) {
                self.block.rows.cut(start);
                self.shape = shape;
                return Err(self.error(what));
            }
        }
        self.open += 1;
        Ok(())
    }

    fn put_tokens<T: AsToken, L: AsRef<str>>(
        &mut self,
        tokens: &[T],
        labels: Option<&[L]>,
    ) -> std::result::Result<(), String> {
        for (t, token) in tokens.iter().enumerate() {
            let rows = &mut self.block.rows;
            let mut parts = Parts { rows, fields: 0, ready: false, problem: None };
            token.put(&mut parts);
            let shape = Shape { fields: parts.fields, ready: parts.ready, labelled: labels.is_some() };
            if let Some(label) = labels.and_then(|labels| labels.get(t)) {
                if label.as_ref().is_empty() {
                    parts.problem.get_or_insert_with(|| "a label is empty".to_owned());
                }
                let span = parts.rows.own(label.as_ref());
                parts.rows.field_at(span);
            }
            if let Some(what) = parts.problem.take().or_else(|| self.differs(shape)) {
                return Err(what);
            }
            self.block.rows.token_with_attributes(Span::default(), self.open);
        }
        if self.block.rows.is_full() {
            return Err("the sentences of a document take more than 4 GB".to_owned());
        }
        self.block.rows.end_sentence();
        Ok(())
    }

    /// What is wrong with a token of this shape.
    fn differs(&mut self, shape: Shape) -> Option<String> {
        let like = *self.shape.get_or_insert(shape);
        if like == shape {
            return (shape.fields == 0 && !shape.ready).then(|| "a token has no fields".to_owned());
        }
        let told = |shape: Shape| match (shape.fields, shape.ready, shape.labelled) {
            (0, true, labelled) => format!("ready attributes{}", if labelled { " and a label" } else { "" }),
            (n, ready, labelled) => format!(
                "{n} field{}{}{}",
                if n == 1 { "" } else { "s" },
                if ready { ", ready attributes" } else { "" },
                if labelled { " and a label" } else { "" }
            ),
        };
        Some(format!("a token has {}, the first one has {}", told(shape), told(like)))
    }

    fn error(&self, what: String) -> Error {
        Error::at(&self.name, self.block.first_line() + u64::from(self.open), what)
    }

    fn is_long(&self) -> bool {
        self.block.rows.own_bytes() >= BLOCK
    }

    fn close(&mut self) {
        self.block.settle();
        let first_line = self.block.first_line + u64::from(std::mem::take(&mut self.open));
        let mut next = Block::default();
        next.first_line = first_line;
        self.done.push(std::mem::replace(&mut self.block, next));
    }

    /// Forgets all sentences, keeps the memory for others.
    pub fn clear(&mut self) {
        self.done.clear();
        self.block.rows.clear();
        self.block.unsettle();
        self.block.first_line = 1;
        (self.open, self.documents, self.shape, self.weight) = (0, false, None, None);
    }

    /// The sentences as a block, if they are few.
    pub fn as_block(&mut self) -> &Block {
        self.block.settle();
        &self.block
    }

    /// How they are to be read, their digest, and the blocks.
    pub(super) fn into_blocks(mut self) -> Result<(Arc<dyn Format>, Xxh3, Vec<Block>)> {
        self.close();
        let Some(Shape { fields, ready, labelled }) = self.shape else {
            return Err(Error::new(self.name, "there are no sentences"));
        };
        let format: Arc<dyn Format> = match ready {
            false => {
                let mut columns = Columns::TABS;
                columns.width = fields + usize::from(labelled);
                Arc::new(columns)
            }
            true => Arc::new(Jsonl::of_program(fields, labelled)),
        };
        Ok((format, digest(&self.done), self.done))
    }
}

/// Of all that is in them, and of what belongs together.
fn digest(blocks: &[Block]) -> Xxh3 {
    let mut digest = Xxh3::new();
    let mut put = |mark: u8, text: &str, value: &[u8]| {
        digest.update(&[mark]);
        digest.update(&(text.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
        digest.update(value);
    };
    for block in blocks {
        let mut marks = block.marks().iter().map(|mark| mark.before as usize).peekable();
        for sentence in block.sentences() {
            while marks.next_if(|before| *before <= sentence.tokens.start).is_some() {
                put(b'd', "", &[]);
            }
            put(b's', "", &block.weight(sentence.tokens.start).to_le_bytes());
            for i in sentence.tokens {
                put(b't', "", &[]);
                block.columns(i).for_each(|field| put(b'f', field, &[]));
                block.attributes(i).for_each(|(name, value)| put(b'a', name, &value.to_le_bytes()));
            }
        }
    }
    digest
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::super::{Kind, Reader};
    use super::*;

    fn all(sentences: Sentences) -> Vec<Vec<Vec<String>>> {
        let mut reader = Reader::of_sentences(sentences).unwrap();
        let mut found = vec![];
        while let Some(block) = reader.next().unwrap() {
            found.extend(block.sentences().map(|s| {
                s.tokens.map(|i| block.columns(i).map(str::to_owned).collect()).collect::<Vec<_>>()
            }));
        }
        found
    }

    #[test]
    fn fields_come_out_as_they_went_in() {
        let mut sentences = Sentences::new("mine");
        sentences.add(&[["a\tb", "x\ny"], ["-DOCSTART-", "#"]], &["L", "M"]).unwrap();
        sentences.add::<&str, &str>(&[], &[]).unwrap();
        sentences.add(&[vec!["c".to_owned(), "d".to_owned()]], &["L"]).unwrap();
        let wanted =
            vec![vec![vec!["a\tb", "x\ny", "L"], vec!["-DOCSTART-", "#", "M"]], vec![vec!["c", "d", "L"]]];
        assert_eq!(all(sentences), wanted);
    }

    #[test]
    fn many_sentences_are_many_blocks_with_whole_documents() {
        let word = "w".repeat(1000);
        for documents in [false, true] {
            let mut sentences = Sentences::new("mine");
            for i in 0..2000 {
                if documents && i % 700 == 0 {
                    sentences.document();
                }
                sentences.add(&[&*word], &[format!("L{i}")]).unwrap();
            }
            let mut reader = Reader::of_sentences(sentences).unwrap();
            let (mut lines, mut blocks, mut marks) = (vec![], 0, 0);
            while let Some(block) = reader.next().unwrap() {
                lines.extend(block.sentences().map(|s| s.line));
                blocks += 1;
                marks += block.marks().len();
                assert!(!documents || block.marks()[0].before == 0);
            }
            assert_eq!(lines, (1..=2000).collect::<Vec<u64>>());
            assert!(blocks > 1 && marks == if documents { 3 } else { 2000 }, "{blocks} {marks}");
        }
    }

    #[test]
    fn weights_stay_with_their_sentences() {
        let word = "w".repeat(1000);
        for documents in [false, true] {
            let mut sentences = Sentences::new("mine");
            for i in 0..2000_u32 {
                sentences.weight(f64::from(i)).unwrap();
                if documents && i % 7 == 0 {
                    sentences.document(); // which may start a block
                }
                sentences.add(&[&*word], &["L"]).unwrap();
            }
            let mut reader = Reader::of_sentences(sentences).unwrap();
            let mut weights = vec![];
            while let Some(block) = reader.next().unwrap() {
                weights.extend(block.sentences().map(|s| block.weight(s.tokens.start)));
            }
            assert!(weights.into_iter().eq((0..2000).map(f64::from)));
        }
    }

    /// Whatever is refused: the sentences are those that there were, and the next one is read as if nothing had been.
    #[test]
    fn a_refused_sentence_changes_nothing() {
        type Refused = fn(&mut Sentences) -> bool;
        let refused: [(&str, Refused); 7] = [
            ("labels", |s| s.add(&["a", "b"], &["L"]).is_err()),
            ("an empty field", |s| s.add(&["a", "b", ""], &["L", "M", "N"]).is_err()),
            ("an empty label", |s| s.add(&["a", "b"], &["L", ""]).is_err()),
            ("more fields", |s| s.add(&[vec!["a"], vec!["b", "c"]], &["L", "M"]).is_err()),
            ("no fields", |s| s.add(&[[""; 0]], &["L"]).is_err()),
            ("no labels", |s| s.add_unlabelled(&["a", ""]).is_err()),
            ("attributes", |s| s.add(&[Ready(&[("a", f32::INFINITY)])], &["L"]).is_err()),
        ];
        let word = "w".repeat(1000);
        for before in [0, 1, 3, 300] {
            for document in [false, true] {
                for (what, refuse) in refused {
                    let made = |refuse: &dyn Fn(&mut Sentences)| {
                        let mut sentences = Sentences::new("mine");
                        (0..before).for_each(|_| sentences.add(&[&*word, "b"], &["L", "M"]).unwrap());
                        if document {
                            sentences.document();
                        }
                        refuse(&mut sentences);
                        sentences.add(&["c"], &["L"]).unwrap();
                        let told = sentences.add(&[""], &["L"]).unwrap_err();
                        let mut reader = Reader::of_sentences(sentences).unwrap();
                        let (mut lines, digest) = (vec![], reader.digest());
                        while let Some(block) = reader.next().unwrap() {
                            lines.extend(block.sentences().map(|s| (s.line, block.weight(s.tokens.start))));
                        }
                        (lines, digest, told)
                    };
                    let without = made(&|_| ());
                    let with = made(&|sentences| {
                        sentences.weight(0.5).unwrap(); // goes with it
                        assert!(refuse(sentences) || before == 0, "{what}");
                    });
                    assert!(with == without, "{what} after {before}");
                }
            }
        }
    }

    #[test]
    fn ready_attributes_have_values_and_weights() {
        let mut sentences = Sentences::new("mine");
        sentences.weight(0.5).unwrap();
        sentences.add(&[Ready(&[("a", 1.0), ("b:c", -2.5)]), Ready(&[])], &["L", "M"]).unwrap();
        let mut reader = Reader::of_sentences(sentences).unwrap();
        assert_eq!((reader.format().kind(), reader.format().columns()), (Kind::Jsonl, 1));
        let block = reader.next().unwrap().unwrap();
        assert_eq!(block.attributes(0).collect::<Vec<_>>(), [("a", 1.0), ("b:c", -2.5)]);
        assert_eq!((block.attributes(1).len(), block.field(1, 0), block.weight(0)), (0, "M", 0.5));
    }

    #[test]
    fn digests_tell_sentences_apart() {
        let digest = |all: &[&[&str]]| {
            let mut sentences = Sentences::new("mine");
            all.iter().for_each(|words| sentences.add(words, &vec!["L"; words.len()]).unwrap());
            Reader::of_sentences(sentences).unwrap().digest()
        };
        let of: [&[&[&str]]; 4] = [&[&["a", "b"]], &[&["a"], &["b"]], &[&["ab"]], &[&["b", "a"]]];
        for (i, one) in of.iter().enumerate() {
            assert!(of.iter().enumerate().all(|(j, other)| (i == j) == (digest(one) == digest(other))));
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let start = || {
            let mut sentences = Sentences::new("mine");
            sentences.add(&["a"], &["L"]).unwrap();
            sentences
        };
        let told = |result: Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.line, 2);
            error.what
        };
        assert_eq!(told(start().add(&["a", "b"], &["L"])), "a sentence has 2 tokens and 1 labels");
        assert_eq!(told(start().add(&[""], &["L"])), "field 0 of a token is empty");
        assert_eq!(told(start().add(&["a"], &[""])), "a label is empty");
        assert!(
            told(start().add(&[["a", "b"]], &["L"]))
                .contains("2 fields and a label, the first one has 1 field and")
        );
        assert!(told(start().add_unlabelled(&["a"])).ends_with("the first one has 1 field and a label"));
        assert!(
            told(start().add(&[Ready(&[("a", 1.0)])], &["L"]))
                .starts_with("a token has ready attributes and")
        );
        assert!(
            told(start().add(&[Ready(&[("a", f32::NAN)])], &["L"])).starts_with("the value of 'a' is NaN")
        );
        assert!(told(start().weight(-1.0)).contains("-1"));
        assert_eq!(
            told(start().add(&[[""; 0]], &["L"])),
            "a token has 0 fields and a label, the first one has 1 field and a label"
        );
        assert!(Reader::of_sentences(Sentences::new("mine")).is_err());
    }

    #[test]
    fn what_is_cleared_is_forgotten_but_for_its_memory() {
        let mut sentences = Sentences::new("mine");
        let long = "w".repeat(BLOCK + 1);
        sentences.add(&[[&*long, "b"]], &["L"]).unwrap();
        sentences.add(&[[&*long, "b"]], &["L"]).unwrap(); // in a block of its own
        sentences.document();
        sentences.weight(3.0).unwrap();
        let held = sentences.block.rows.own_capacity();
        sentences.clear();
        assert!(sentences.is_empty() && sentences.shape().is_none());
        assert_eq!(sentences.block.rows.own_capacity(), held);
        sentences.add_unlabelled(&["second"]).unwrap();
        let block = sentences.as_block();
        assert_eq!((block.len(), block.field(0, 0), block.line(0)), (1, "second", 1));
        assert_eq!((block.marks().len(), block.weight(0)), (1, 1.0));
    }

    #[test]
    fn sentences_without_tokens_are_counted() {
        let mut sentences = Sentences::new("mine");
        assert!(sentences.is_empty());
        sentences.weight(2.0).unwrap();
        sentences.add::<&str, &str>(&[], &[]).unwrap();
        sentences.add(&["a"], &["L"]).unwrap();
        sentences.add_unlabelled::<&str>(&[]).unwrap();
        sentences.add(&["b"], &["L"]).unwrap();
        assert_eq!((sentences.len(), sentences.add(&[""], &["L"]).unwrap_err().line), (4, 5));
        let mut reader = Reader::of_sentences(sentences).unwrap();
        let block = reader.next().unwrap().unwrap();
        let found: Vec<_> = block.sentences().map(|s| (s.line, block.weight(s.tokens.start))).collect();
        assert_eq!(found, [(2, 1.0), (4, 1.0)]);
    }
}
