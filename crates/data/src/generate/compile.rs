//! The grammar and the lexicon, read once into a form that can be walked: names become numbers,
//! stems get all their forms.
//!
//! A name that is nowhere defined cannot stop a program that only wants a corpus; it is left out and
//! noted among the complaints, and a test asks that there be none.

use std::sync::LazyLock;

use seqoia_core::Random;
use seqoia_core::cast::real;

use super::coin::Coin;
use super::grammar::{Alternative, RULES, START};
use super::lexicon::CLASSES;
use super::morphology::Kind;
use super::{CHUNKS, ENTITIES};

/// The compiled language; the same for every seed.
pub(super) static LANGUAGE: LazyLock<Language> = LazyLock::new(|| Language::compile(RULES).0);

/// Rules and classes by number.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) start: usize,
    pub(super) rules: Vec<Vec<Body>>,
    pub(super) classes: Vec<Class>,
    /// Sum of 1 / (r + 2) over the ranks up to each one.
    zipf: Vec<f64>,
}

/// One alternative of a rule.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) weight: usize,
    /// For this number only (true: plural).
    pub(super) only: Option<bool>,
    /// Not to be taken any more once a sentence is long enough.
    pub(super) long: bool,
    pub(super) steps: Vec<Step>,
}

/// One item of an alternative, present in `percent` of 100 cases.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) number: Number,
    pub(super) percent: usize,
}

/// What an item does.
#[derive(Debug)]
pub(super) enum Act {
    Rule(usize),
    Word { class: usize, form: Form, tag: Option<&'static str> },
    Literal { word: &'static str, tag: &'static str },
    Chunk(Option<usize>),
    Entity(Option<usize>),
    Verb(Form),
}

/// The number an item is expanded for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Drawn,
    OfRule,
    Fixed(bool),
}

/// Which form of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Nouns: by number. Verbs: as the last `Act::Verb` said. Others: the only one.
    Usual,
    /// Verbs: past or present, by number.
    Finite,
    /// This one.
    Given(usize),
}

/// A class of the lexicon with all forms of its stems.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) kind: Kind,
    pub(super) coined: (usize, Coin),
    pub(super) words: Vec<Vec<String>>,
}

impl Language {
    /// Reads rules; the second part names what was not understood.
    pub(super) fn compile(rules: &'static [(&'static str, &'static [Alternative])]) -> (Self, Vec<String>) {
        let mut complaints = Vec::new();
        let find = |name: &str| rules.iter().position(|(rule, _)| *rule == name);
        let compiled = rules.iter().map(|(_, alternatives)| {
            let mut bodies = Vec::new();
            for (weight, text) in *alternatives {
                let plain = text.trim_start_matches(['-', '+', '!']);
                let flags = &text[..text.len() - plain.len()];
                let mut steps = Vec::new();
                for item in plain.split_whitespace() {
                    match step(item, find) {
                        Some(step) => steps.push(step),
                        None => complaints.push(format!("{item} in {text}")),
                    }
                }
                let only =
                    if flags.contains('-') { Some(false) } else { flags.contains('+').then_some(true) };
                bodies.push(Body { weight: *weight, only, long: flags.contains('!'), steps });
            }
            bodies
        });
        let rules = compiled.collect();
        let classes: Vec<Class> = CLASSES
            .iter()
            .map(|&(_, kind, coined, stems)| {
                let forms = |stem| (0..kind.tags().len()).map(|form| kind.inflect(stem, form)).collect();
                Class { kind, coined, words: stems.split_whitespace().map(forms).collect() }
            })
            .collect();
        let longest = classes.iter().map(|class| class.words.len()).max().unwrap_or(0);
        let mut sum = 0.0;
        let zipf = (0..longest).map(|rank| {
            sum += 1.0 / (real(rank) + 2.0);
            sum
        });
        (Language { start: find(START).unwrap_or(0), rules, zipf: zipf.collect(), classes }, complaints)
    }

    /// A rank below `n` by Zipf's law.
    pub(super) fn rank(&self, n: usize, random: &mut Random) -> usize {
        let sums = &self.zipf[..n];
        let at = random.unit() * sums.last().copied().unwrap_or(0.0);
        sums.partition_point(|&sum| sum <= at).min(n.saturating_sub(1))
    }
}

/// One item of the notation of `grammar.rs`.
fn step(item: &'static str, find: impl Fn(&str) -> Option<usize>) -> Option<Step> {
    let position =
        |names: &[(&str, &str, &str)], name: &str| names.iter().position(|(kind, _, _)| *kind == name);
    let certain = |act| Some(Step { act, number: Number::Drawn, percent: 100 });
    match item {
        "]" => return certain(Act::Chunk(None)),
        "}" => return certain(Act::Entity(None)),
        _ if item.starts_with('[') => return certain(Act::Chunk(Some(position(&CHUNKS, &item[1..])?))),
        _ if item.starts_with('{') => return certain(Act::Entity(Some(position(&ENTITIES, &item[1..])?))),
        _ => {}
    }
    let (item, percent) = match item.rsplit_once('?') {
        Some((rest, digits)) if !rest.is_empty() => (rest, digits.parse().ok()?),
        _ => (item, 100),
    };
    if let Some((word, tag)) = item.rsplit_once('/') {
        return Some(Step { act: Act::Literal { word, tag }, number: Number::Drawn, percent });
    }
    let name = item.trim_end_matches(['~', '+', '-']);
    let number = match &item[name.len()..] {
        "~" => Number::OfRule,
        "+" => Number::Fixed(true),
        "-" => Number::Fixed(false),
        _ => Number::Drawn,
    };
    let act = if let Some(form) = name.strip_prefix(':') {
        Act::Verb(form_named(form)?)
    } else if name.starts_with(char::is_uppercase) {
        let (name, tag) = name.split_once('=').map_or((name, None), |(name, tag)| (name, Some(tag)));
        let (name, form) = name.split_once('.').unwrap_or((name, ""));
        let class = CLASSES.iter().position(|(class, ..)| *class == name)?;
        let form = form_named(form)?;
        if matches!(form, Form::Given(form) if form >= CLASSES[class].1.tags().len()) {
            return None;
        }
        Act::Word { class, form, tag }
    } else {
        Act::Rule(find(name)?)
    };
    Some(Step { act, number, percent })
}

fn form_named(name: &str) -> Option<Form> {
    Some(match name {
        "" => Form::Usual,
        "fin" => Form::Finite,
        "vb" => Form::Given(0),
        "vbn" => Form::Given(4),
        "vbg" => Form::Given(5),
        "er" => Form::Given(1),
        "est" => Form::Given(2),
        _ => return None,
    })
}
