//! Other mentions of a token's word in its document: what stands beside them tells what the word is here
//! (Chieu & Ng 2002, "Named Entity Recognition: A Maximum Entropy Approach Using Global Information").
//!
//! A document is what stands between two `-DOCSTART-` rows, as far as it lies in one block of the file; so blocks
//! are to hold whole documents ([`Blocks::whole_documents`](crate::format::Blocks::whole_documents)). In a block of an
//! eager reader each sentence is a document. Words are compared in lower case. Only a token whose first letter is upper case looks for others, and it takes
//! the first two that are not itself.

use std::collections::HashMap;
use std::ops::Range;

use super::NONE;
use super::function::{full_width, lower};
use crate::format::Block;
use seqoia_core::cast::narrow;
use xxhash_rust::xxh3::xxh3_64;

/// The mentions of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions {
    others: Vec<[u32; 2]>,        // [tokens] others with the same word, or NONE
    places: Vec<Place>,           // [tokens]
    seen: HashMap<u64, [u32; 3]>, // of each word of the document
    words: Vec<u64>,              // [tokens of the document] hashes of the words in lower case
    text: [String; 2],            // a word in lower case, and that in full width
    line: u64,                    // of the first token, by which the block is known again
    next: usize,                  // the first token that was not asked for
}

/// Whether a token begins or ends its sentence.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    first: bool,
    last: bool,
}

impl Mentions {
    /// Finds the mentions of the block that a sentence stands in, unless they are known. Whoever extracts goes
    /// through a block from front to back, so a step back is a new block, even one that looks the same.
    pub(super) fn follow(&mut self, block: &Block, column: usize, wide: bool, sentence: &Range<usize>) {
        let same = self.line == block.line(0) && self.others.len() == block.tokens().len();
        if !same || sentence.start == 0 || sentence.start < self.next {
            self.find(block, column, wide);
            self.line = block.line(0);
        }
        self.next = sentence.end;
    }

    /// Finds them all; words stand in `column`, and may be compared in full width.
    fn find(&mut self, block: &Block, column: usize, wide: bool) {
        let tokens = block.tokens().len();
        self.others.clear();
        self.others.resize(tokens, [NONE; 2]);
        self.places.clear();
        self.places.resize(tokens, Place::default());
        for sentence in block.sentences() {
            self.places[sentence.tokens.start].first = true;
            self.places[sentence.tokens.end - 1].last = true;
        }
        let mut from = 0;
        let mut document = |end: usize| {
            self.document(block, column, wide, from..end);
            from = end;
        };
        if block.sentences_are_documents() {
            return block.sentences().for_each(|sentence| document(sentence.tokens.end));
        }
        let marks = block.marks().iter().map(|mark| mark.before as usize);
        marks.chain([tokens]).for_each(document);
    }

    fn document(&mut self, block: &Block, column: usize, wide: bool, tokens: Range<usize>) {
        self.seen.clear();
        self.words.clear();
        for i in tokens.clone() {
            let [text, widened] = &mut self.text;
            text.clear();
            widened.clear();
            lower(block.field(i, column), text);
            if wide {
                widened.extend(text.chars().map(full_width));
            }
            let word = xxh3_64(if wide { widened } else { text }.as_bytes());
            self.words.push(word);
            let seen = self.seen.entry(word).or_insert([NONE; 3]);
            if let Some(free) = seen.iter_mut().find(|place| **place == NONE) {
                *free = narrow(i);
            }
        }
        for (i, word) in tokens.zip(&self.words) {
            if block.field(i, column).starts_with(char::is_uppercase) {
                let [a, b, c] = self.seen.get(word).copied().unwrap_or([NONE; 3]);
                let own = narrow(i);
                self.others[i] = if own == a {
                    [b, c]
                } else if own == b {
                    [a, c]
                } else {
                    [a, b]
                };
            }
        }
    }

    /// The token before or behind another mention of a token's word (at 0 the mention itself), or the end of the
    /// sentence that is there; none if there is no other mention.
    pub(super) fn beside(&self, token: usize, which: u8, step: i8) -> Option<Result<usize, &'static str>> {
        let other = *self.others.get(token)?.get(usize::from(which))?;
        let Place { first, last } = *self.places.get(other as usize)?;
        Some(match step {
            1.. if last => Err("</s>"),
            ..=-1 if first => Err("<s>"),
            _ => Ok((other as usize).wrapping_add_signed(isize::from(step.signum()))),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Boundary, Extractor, Growing, Part, Piece, Program, Source, Template};
    use super::*;
    use crate::format::{self, Blocks};
    use crate::open::Input;
    use seqoia_core::Ragged;

    /// The attributes of each token that has some, of one file after another, by one extractor.
    fn attributes(files: &[&str]) -> Vec<String> {
        let template = |(which, step)| Template {
            name: vec![Part::Text(format!("{step}=")), Part::Piece(0)],
            pieces: vec![Piece::new(Source::Mention(0, which, step), 0, Boundary::Nothing)],
            ..Template::given()
        };
        let all = [(0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)];
        let program = Arc::new(Program::new(all.map(template).to_vec()));
        let mut dictionary = Growing::new(&program, Arc::default());
        let mut extractor = Extractor::new(Arc::clone(&program), &mut dictionary);
        let mut found = vec![];
        for text in files {
            let mut blocks = Blocks::new(Input::from_bytes("x", *text).unwrap());
            let mut block = Block::default();
            format::first(&mut blocks, &mut block, None).unwrap().parse("x", &mut block).unwrap();
            for s in block.sentences() {
                let (mut nodes, mut edges) = (Ragged::default(), Ragged::default());
                let tokens = s.tokens.clone();
                extractor
                    .extract(&mut dictionary, "x", &block, tokens.clone(), &mut nodes, &mut edges)
                    .unwrap();
                for (t, i) in tokens.enumerate() {
                    let keys = dictionary.nodes.view();
                    let name = |&id: &u32| program.name(keys.get(id).unwrap(), dictionary.strings.view());
                    let names: Vec<String> = nodes.view().at(t).iter().map(name).collect();
                    if !names.is_empty() {
                        found.push(format!("{i} {}: {}", block.field(i, 0), names.join(" ")));
                    }
                }
            }
        }
        found
    }

    #[test]
    fn the_first_two_others_of_the_document_are_looked_at() {
        let text =
            "-DOCSTART- O\n\nRome O\nwon O\n\nin O\nrome O\nROME O\n\n-DOCSTART- O\n\nRome O\n\nrome O\n";
        let expected = [
            "0 Rome: -1=in 0=x 1=rome -1=rome 0=X 1=</s>",
            // The one in lower case does not look.
            "4 ROME: -1=<s> 0=Xx 1=won -1=in 0=x 1=rome",
            // In another document.
            "5 Rome: -1=<s> 0=x 1=</s>",
        ];
        assert_eq!(attributes(&[text]), expected);
        let unmarked = text.replace("-DOCSTART- O\n\n", "");
        assert_eq!(attributes(&[&unmarked])[2], "5 Rome: -1=<s> 0=Xx 1=won -1=in 0=x 1=rome");
    }

    /// Both files begin in the same line and have as many tokens.
    #[test]
    fn what_another_file_had_is_forgotten() {
        let [one, two] = ["Rome O\nwon O\n\nRome O\nlost O\n", "Paris O\nlost O\n\nParis O\nwon O\n"];
        let apart = [attributes(&[one]), attributes(&[two])].concat();
        assert_eq!(attributes(&[one, two]), apart);
        assert_eq!(apart[0], "0 Rome: -1=<s> 0=Xx 1=lost");
        assert_eq!(apart[3], "2 Paris: -1=<s> 0=Xx 1=lost");
    }
}
