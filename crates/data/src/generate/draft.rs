//! Writes one sentence: a walk through the grammar from the top, then the last touches that look at
//! neighbouring words.
//!
//! Each sentence first draws how many tokens are enough for it, and from there on nothing is said
//! that could be left unsaid. The same holds inside rules nested too deep, so the recursion ends.

use std::ops::RangeInclusive;

use seqoia_core::Random;

use super::compile::{Act, Body, Form, LANGUAGE, Number, Step};
use super::morphology::{Kind, capital, takes_an};
use super::{CHUNKS, ENTITIES, Token};

/// A sentence has no fewer and no more tokens than these.
pub(super) const LENGTHS: RangeInclusive<usize> = 3..=45;

/// Rules nested deeper than this are expanded without options.
const DEEP: usize = 14;

/// Of 100 nouns, how many are plural; of 100 finite verbs, how many are past.
const PLURAL: usize = 38;
const PAST: usize = 74;

/// Of 1000 tags, how many are replaced by one a tagger might have chosen, where there is one.
const WRONG_TAGS: usize = 52;

/// What taggers take for what.
#[rustfmt::skip]
const CONFUSIONS: [(&str, &[&str]); 17] = [
    ("NN", &["JJ", "VB", "NNP", "VBP"]), ("NNS", &["VBZ", "NN"]), ("NNP", &["NN", "JJ", "NNPS"]),
    ("JJ", &["NN", "VBN", "RB", "NNP"]), ("JJR", &["RBR"]), ("RBR", &["JJR"]), ("RB", &["JJ", "IN"]),
    ("VB", &["NN", "VBP"]), ("VBP", &["VB", "NN"]), ("VBZ", &["NNS"]), ("VBD", &["VBN"]),
    ("VBN", &["VBD", "JJ"]), ("VBG", &["NN", "JJ"]), ("IN", &["RB", "RP"]), ("RP", &["IN", "RB"]),
    ("WDT", &["IN"]), ("CD", &["NN", "JJ"]),
];

/// Words so frequent that no tagger errs on them.
#[rustfmt::skip]
const CERTAIN: [&str; 28] = [
    "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "does", "do", "did", "of", "in",
    "for", "on", "with", "at", "from", "by", "to", "if", "not", "n't", "said", "says", "%",
];

/// Replaces what is in `out` by a sentence.
pub(super) fn write(mut random: Random, out: &mut Vec<Token>) {
    let wish = 9 + random.below(33);
    let mut draft = Draft {
        random,
        out,
        enough: wish,
        chunk: Span::default(),
        entity: Span::default(),
        verb: (Form::Finite, false),
    };
    // A sentence that came out too long all the same is begun again with a smaller wish.
    for enough in [wish, wish, wish / 2, wish / 4, 0] {
        draft.enough = enough;
        draft.out.clear();
        let plural = draft.plural();
        draft.rule(LANGUAGE.start, plural, 0);
        if LENGTHS.contains(&draft.out.len()) {
            break;
        }
    }
    draft.punctuate();
    draft.spell();
    draft.mistake();
}

struct Draft<'a> {
    random: Random,
    out: &'a mut Vec<Token>,
    /// From this length on nothing optional is said.
    enough: usize,
    chunk: Span,
    entity: Span,
    /// The form that the next verb takes, and its number.
    verb: (Form, bool),
}

/// A chunk or an entity that is being written: its kind, and whether it has a token already.
#[derive(Default)]
struct Span {
    kind: Option<usize>,
    begun: bool,
}

impl Span {
    fn label(&mut self, names: &[(&str, &'static str, &'static str)]) -> &'static str {
        let begun = std::mem::replace(&mut self.begun, true);
        self.kind.map_or("O", |kind| if begun { names[kind].2 } else { names[kind].1 })
    }
}

impl Draft<'_> {
    /// Expands a rule for a number.
    fn rule(&mut self, rule: usize, plural: bool, depth: usize) {
        let brief = self.brief(depth);
        let open = |body: &&Body| !(brief && body.long) && body.only.is_none_or(|only| only == plural);
        let bodies = &LANGUAGE.rules[rule];
        let total = bodies.iter().filter(open).map(|body| body.weight).sum();
        let mut at = self.random.below(total);
        for body in bodies.iter().filter(open) {
            if at < body.weight {
                body.steps.iter().for_each(|step| self.step(step, plural, depth));
                return;
            }
            at -= body.weight;
        }
    }

    fn step(&mut self, step: &Step, plural: bool, depth: usize) {
        if step.percent < 100 && (self.brief(depth) || self.random.below(100) >= step.percent) {
            return;
        }
        let plural = match step.number {
            Number::OfRule => plural,
            Number::Fixed(fixed) => fixed,
            Number::Drawn => self.plural(),
        };
        match step.act {
            Act::Rule(rule) => self.rule(rule, plural, depth + 1),
            Act::Word { class, form, tag } => self.word(class, form, tag, plural),
            Act::Literal { word, tag } => self.token(word.to_string(), tag),
            Act::Chunk(kind) => self.chunk = Span { kind, begun: false },
            Act::Entity(kind) => self.entity = Span { kind, begun: false },
            Act::Verb(form) => self.verb = (form, plural),
        }
    }

    fn brief(&self, depth: usize) -> bool {
        depth > DEEP || self.out.len() >= self.enough
    }

    fn plural(&mut self) -> bool {
        self.random.below(100) < PLURAL
    }

    /// Draws a word of a class.
    fn word(&mut self, class: usize, form: Form, tag: Option<&'static str>, plural: bool) {
        let class = &LANGUAGE.classes[class];
        let form = self.form(class.kind, form, plural);
        let (percent, coin) = class.coined;
        let word = if class.words.is_empty() || self.random.below(100) < percent {
            class.kind.inflect(&coin.make(&mut self.random), form)
        } else {
            class.words[LANGUAGE.rank(class.words.len(), &mut self.random)][form].clone()
        };
        self.token(word, tag.unwrap_or(class.kind.tags()[form]));
    }

    fn form(&mut self, kind: Kind, form: Form, plural: bool) -> usize {
        let (form, plural) = match (kind, form) {
            (Kind::Verb, Form::Usual) => self.verb,
            _ => (form, plural),
        };
        match (kind, form) {
            (_, Form::Given(form)) => form,
            (Kind::Noun, _) => usize::from(plural),
            (Kind::Verb, _) => match (self.random.below(100) < PAST, plural) {
                (true, false) => 3,
                (true, true) => 6,
                (false, false) => 1,
                (false, true) => 2,
            },
            _ => 0,
        }
    }

    fn token(&mut self, word: String, pos: &'static str) {
        let chunk = self.chunk.label(&CHUNKS);
        let entity = self.entity.label(&ENTITIES);
        self.out.push(Token { word, pos, chunk, entity });
    }

    /// A comma gives way to the punctuation after it.
    fn punctuate(&mut self) {
        let mut at = 1;
        while at < self.out.len() {
            if self.out[at - 1].pos == "," && [",", ".", ":"].contains(&self.out[at].pos) {
                self.out.remove(at - 1);
            } else {
                at += 1;
            }
        }
    }

    /// "An", a bare apostrophe after an s, a capital at the beginning and after an opening quote.
    fn spell(&mut self) {
        for at in 0..self.out.len() {
            let (before, rest) = self.out.split_at_mut(at);
            let (before, word) = (before.last_mut(), &mut rest[0].word);
            match before {
                Some(before) if before.word == "a" && takes_an(word) => before.word.push('n'),
                Some(before) if word == "'s" && before.word.ends_with('s') => word.truncate(1),
                Some(before) if before.pos != "``" => {}
                _ => *word = capital(word),
            }
        }
    }

    /// A wrong tag now and then.
    fn mistake(&mut self) {
        for token in self.out.iter_mut() {
            if self.random.below(1000) < WRONG_TAGS
                && !CERTAIN.contains(&token.word.as_str())
                && let Some((_, wrong)) = CONFUSIONS.iter().find(|(tag, _)| *tag == token.pos)
            {
                token.pos = wrong[self.random.below(wrong.len())];
            }
        }
    }
}
