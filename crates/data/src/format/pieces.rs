//! A file cut into the text of its sentences, any of which may be put together again: folds, parts of files.
//!
//! What stands before a sentence (comments, marks, blank lines) belongs to it. A sentence ends as its format ends
//! sentences, even at the end of a file that lacks a last line end.

use std::ops::Range;

use super::{Blocks, Kind, Reader, Span};
use crate::error::Result;

/// The sentences of a file as text.
#[derive(Debug, Clone)]
pub struct Pieces {
    kind: Kind,
    text: String,
    pieces: Vec<Piece>,
}

/// One sentence.
#[derive(Debug, Clone)]
struct Piece {
    /// One past its last byte; it begins where the piece before it ends.
    end: usize,
    /// The row that starts a document before it, if there is one.
    mark: Option<Range<usize>>,
}

impl Pieces {
    /// Reads a file to its end.
    ///
    /// # Errors
    /// What [`Reader`] says of it.
    pub fn read(blocks: Blocks, kind: Option<Kind>) -> Result<Pieces> {
        let mut reader = Reader::new(blocks, kind)?;
        let kind = reader.format().kind();
        let mut all = Pieces { kind, text: String::new(), pieces: vec![] };
        // The row that starts a document and stands behind the last sentence of a block.
        let mut mark = None;
        while let Some(block) = reader.next()? {
            let (text, mut from, mut marks) = (block.text(), 0, block.marks().iter().peekable());
            for sentence in block.sentences() {
                from += all.blank(&text[from..]);
                while let Some(next) = marks.next_if(|next| next.before as usize <= sentence.tokens.start) {
                    mark = Some(all.place(from, next.span));
                }
                let last = block.tokens()[sentence.tokens.end - 1].span.end as usize;
                let end = text[last..].find('\n').map_or(text.len(), |at| last + at + 1);
                all.add(&text[from..end], mark.take());
                from = end;
            }
            from += all.blank(&text[from..]);
            if let Some(next) = marks.last() {
                mark = Some(all.place(from, next.span));
            }
            all.text.push_str(&text[from..]);
        }
        // What stands behind the last sentence is rather with it than lost.
        let end = all.text.len();
        if let Some(last) = all.pieces.last_mut() {
            last.end = end;
        }
        Ok(all)
    }

    /// Bytes of empty lines at the start, which ended a sentence and say nothing where each is ended anyway.
    fn blank(&self, text: &str) -> usize {
        let lines = text.split_inclusive('\n').take_while(|line| line.trim().is_empty());
        if self.kind.by_line() { 0 } else { lines.map(str::len).sum() }
    }

    /// Where in the text of all a row will stand whose block is added from this byte on.
    fn place(&self, from: usize, row: Span) -> Range<usize> {
        let start = self.text.len() - from + row.start as usize;
        start..start + row.range().len()
    }

    fn add(&mut self, sentence: &str, mark: Option<Range<usize>>) {
        // As the last line of a block may lack it; and any sentence may come to stand before any other.
        self.text.push_str(sentence);
        if !sentence.ends_with('\n') {
            self.text.push('\n');
        }
        if !self.kind.by_line() {
            self.text.push('\n');
        }
        self.pieces.push(Piece { end: self.text.len(), mark });
    }

    /// The format of the file.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Sentence `i` with what stands before it; empty if there are not so many.
    #[must_use]
    pub fn get(&self, i: usize) -> &str {
        let start = i.checked_sub(1).and_then(|before| self.pieces.get(before)).map_or(0, |piece| piece.end);
        self.pieces.get(i).map_or("", |piece| &self.text[start..piece.end])
    }

    /// A text of those sentences that are wanted. Where one that starts a document is left out, the next one of that
    /// document starts it.
    pub fn choose(&self, mut wanted: impl FnMut(usize) -> bool) -> String {
        let (mut chosen, mut pending) = (String::new(), None);
        for (i, piece) in self.pieces.iter().enumerate() {
            pending = piece.mark.clone().or(pending);
            if wanted(i) {
                if let Some(mark) = pending.take().filter(|_| piece.mark.is_none()) {
                    chosen.push_str(&self.text[mark]);
                    chosen.push_str("\n\n");
                }
                chosen.push_str(self.get(i));
            }
        }
        chosen
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use crate::open::Input;

    /// The fields of the tokens of each sentence.
    fn parsed(text: &str, kind: Kind) -> Vec<Vec<Vec<String>>> {
        if text.is_empty() {
            return vec![];
        }
        let mut reader = Reader::new(Blocks::new(Input::from_bytes("x", text).unwrap()), Some(kind)).unwrap();
        let block = reader.next().unwrap().unwrap();
        let token = |i| block.columns(i).map(str::to_owned).collect();
        block.sentences().map(|s| s.tokens.map(token).collect()).collect()
    }

    fn pieces(text: &str, kind: Option<Kind>, size: usize) -> Pieces {
        Pieces::read(Blocks::with_size(Input::from_bytes("x", text).unwrap(), size), kind).unwrap()
    }

    #[test]
    fn any_sentences_put_together_are_these_sentences() {
        let row = |id: usize| format!("{id}\tw{id}\t_\tX\t_\t_\t0\t_\t_\t_\n");
        let conllu: String = (1..9)
            .map(|n| format!("# n = {n}\n{}\n", (1..n).map(row).collect::<String>() + &row(n)))
            .collect();
        for (text, kind) in [
            ("a 1\nb 2\n\nc 3\n\n\nd 4\n\ne 5", Kind::Columns),
            ("a 1\r\nb 2\r\n\r\nc 3\r\n\r\nd 4\r\n", Kind::Columns),
            ("-DOCSTART- O\n\na 1\n\n-DOCSTART- O\n\nb 2\n-DOCSTART- O\nc 3", Kind::Columns),
            (&conllu, Kind::Conllu),
            ("X\ta\nY\tb\n\nX\tc\n", Kind::Crfsuite),
            ("a/1 b/2\nc/3\n\nd/4", Kind::Tagged),
            ("ab c\nd\nef", Kind::Words),
        ] {
            let all = parsed(text, kind);
            for size in [1, 2, 3, 5, 8, 13, 21, 34, 55, 1000] {
                let pieces = pieces(text, Some(kind), size);
                assert_eq!(pieces.len(), all.len(), "{text:?} in blocks of {size}");
                for from in 0..pieces.len() {
                    for to in from..pieces.len() {
                        let rest = pieces.choose(|i| i < from || i >= to);
                        let expected = [&all[..from], &all[to..]].concat();
                        assert_eq!(parsed(&rest, kind), expected, "{rest:?} from blocks of {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn documents_keep_their_start() {
        let text = "-DOCSTART- O\n\na 1\n\nb 2\n\n-DOCSTART- X\n\nc 3\n\n-DOCSTART- Y\n\nd 4\n\ne 5\n";
        for size in [1, 20, 1000] {
            let pieces = pieces(text, None, size);
            let starts = |wanted: &[usize]| -> Vec<String> {
                let text = pieces.choose(|i| wanted.contains(&i));
                text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
            };
            assert_eq!(starts(&[1, 4]), ["-DOCSTART- O", "b 2", "-DOCSTART- Y", "e 5"]);
            assert_eq!(starts(&[0, 1, 2]), ["-DOCSTART- O", "a 1", "b 2", "-DOCSTART- X", "c 3"]);
            assert_eq!(starts(&[]), [""; 0]);
        }
    }

    #[test]
    fn pieces_are_the_whole_file() {
        let pieces = pieces("a 1\n\nb 2\n", None, 1000);
        assert_eq!((pieces.get(0), pieces.get(1), pieces.get(2)), ("a 1\n\n", "b 2\n\n", ""));
        assert_eq!((pieces.len(), pieces.is_empty(), pieces.kind()), (2, false, Kind::Columns));
    }
}
