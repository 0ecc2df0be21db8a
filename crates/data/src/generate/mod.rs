//! A corpus out of nothing: English newswire that never happened, with part-of-speech tags, chunks
//! and named entities, for demonstrations, tests and documentation where no data can be shipped.
//!
//! Sentences come from a phrase grammar with weights (`grammar.rs`) over words with Zipfian
//! frequencies (`lexicon.rs`) and an unlimited supply of coined ones (`coin.rs`). The language
//! is fixed; the seed only chooses what is said in it, so a training and a test set are two seeds.
//! Each sentence has a random stream of its own: sentence i is the same in a short corpus and in a
//! long one.
//!
//! The tasks are neither trivial nor hopeless: many words have several tags, many names several
//! types, some chunk boundaries are a matter of taste, and three tags of a hundred are wrong the way an
//! automatic tagger is wrong (in the tag column only, so that chunks are no function of the tags). A
//! chain CRF trained on 1,500 sentences gets, on 500 others, an F1 of about 96 for chunks (windows of
//! words and tags) and 83 to 91 for entities (without and with affixes and shapes), and 95 % of the
//! tags from words alone; about 5 % of the words it meets are new.
//!
//! ```
//! use seqoia_data::generate;
//!
//! let train = generate::columns(1, 1500);
//! let test = generate::columns(2, 500);
//! assert!(train.starts_with(&generate::columns(1, 10)));
//! assert_eq!(test.matches("\n\n").count(), 500);
//! ```

mod coin;
mod compile;
mod draft;
mod grammar;
mod lexicon;
mod morphology;
#[cfg(test)]
mod tests;

use seqoia_core::Random;

/// A word with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word as it stands in the sentence; no blank is in it.
    pub word: String,
    /// Its part of speech, one of [`POS_TAGS`], as a tagger would give it: not always right.
    pub pos: &'static str,
    /// Its chunk in IOB2: `O`, or `B-` or `I-` with NP, VP, PP, ADVP, ADJP, SBAR or PRT.
    pub chunk: &'static str,
    /// Its entity in IOB2: `O`, or `B-` or `I-` with PER, LOC, ORG or MISC.
    pub entity: &'static str,
}

/// The parts of speech: tags of the Penn Treebank, except that "to" is TO only before a verb, and IN
/// as a preposition.
#[rustfmt::skip]
pub const POS_TAGS: [&str; 38] = [
    "CC", "CD", "DT", "EX", "IN", "JJ", "JJR", "JJS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP",
    "PRP$", "RB", "RBR", "RP", "TO", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WRB", "$", ",",
    ".", ":", "``", "''", "(", ")",
];

/// Kinds of chunks with their labels.
const CHUNKS: [(&str, &str, &str); 7] = [
    ("NP", "B-NP", "I-NP"),
    ("VP", "B-VP", "I-VP"),
    ("PP", "B-PP", "I-PP"),
    ("ADVP", "B-ADVP", "I-ADVP"),
    ("ADJP", "B-ADJP", "I-ADJP"),
    ("SBAR", "B-SBAR", "I-SBAR"),
    ("PRT", "B-PRT", "I-PRT"),
];

/// Kinds of entities with their labels.
const ENTITIES: [(&str, &str, &str); 4] = [
    ("PER", "B-PER", "I-PER"),
    ("LOC", "B-LOC", "I-LOC"),
    ("ORG", "B-ORG", "I-ORG"),
    ("MISC", "B-MISC", "I-MISC"),
];

/// Makes one sentence after another.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    sentences: u64,
}

impl Generator {
    /// The corpus of this seed, from its first sentence.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Generator { seed, sentences: 0 }
    }

    /// Replaces what is in `out` by the next sentence, of 3 to 45 tokens.
    pub fn sentence(&mut self, out: &mut Vec<Token>) {
        let random = Random::new(self.seed, 0, self.sentences, "generate");
        self.sentences += 1;
        draft::write(random, out);
    }
}

/// A corpus as text: a line "word POS entity chunk" for each token, the four separated by one blank,
/// and an empty line after each sentence.
#[must_use]
pub fn columns(seed: u64, sentences: usize) -> String {
    let mut generator = Generator::new(seed);
    let mut sentence = Vec::new();
    let mut text = String::new();
    for _ in 0..sentences {
        generator.sentence(&mut sentence);
        for token in &sentence {
            for part in [&token.word, " ", token.pos, " ", token.entity, " ", token.chunk, "\n"] {
                text.push_str(part);
            }
        }
        text.push('\n');
    }
    text
}
