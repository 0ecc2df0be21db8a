//! Labels that are known before prediction, in the numbers of a model.
//!
//! A label of the file may stand for several of the model's, where the two are in different schemes: `I-X`
//! of IOB1 is `B-X` or `I-X` in IOB2. Such labels become sets, and what they say of their neighbours steps.

use std::collections::HashMap;

use seqoia_core::cast::{label, narrow};
use seqoia_data::scheme::{self, Scheme};
use seqoia_structures::chain::{Sets, Steps};

use super::meta::Meta;
use super::options::Schemes;

/// What labels of a file mean to a model.
pub(crate) struct KnownLabels {
    mark: String,
    free: u16,
    schemes: Schemes,
    labels: HashMap<String, u16>,
    numbers: HashMap<String, Option<u16>>, // of labels of the file that were met
    pub(crate) sets: Sets,
    /// The labels of the sentence at hand as the file has them; empty where none is known.
    pub(crate) names: Vec<String>,
    /// Whether any is known.
    pub(crate) any: bool,
    /// What they say of neighbours, where schemes differ.
    pub(crate) steps: Option<Steps>,
}

impl KnownLabels {
    /// `mark` stands where a label is not known.
    pub(crate) fn new(meta: &Meta, schemes: Schemes, mark: &str) -> Self {
        let mut sets = Sets::new(meta.labels.len());
        let free = label(sets.add((0..meta.labels.len()).map(label)));
        let labels = meta.labels.iter().enumerate().map(|(i, name)| (name.clone(), label(i))).collect();
        let mark = mark.to_owned();
        KnownLabels {
            mark,
            free,
            schemes,
            labels,
            numbers: HashMap::new(),
            sets,
            names: vec![],
            any: false,
            steps: None,
        }
    }

    /// What stands where no label is known.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Takes the labels of a sentence.
    ///
    /// # Errors
    /// The position of one that the model does not know.
    pub(crate) fn read<'a>(
        &mut self,
        labels: impl Iterator<Item = &'a str>,
        numbers: &mut Vec<u16>,
    ) -> Result<(), usize> {
        numbers.clear();
        self.forget();
        for (t, name) in labels.enumerate() {
            numbers.push(self.number(name).ok_or(t)?);
            let known = name != self.mark;
            self.any |= known;
            self.names.push(if known { name.to_owned() } else { String::new() });
        }
        self.steps = self.schemes.change().filter(|_| self.any).map(|(model, file)| self.steps(model, file));
        Ok(())
    }

    /// The neighbours that the sentence at hand cannot have.
    fn steps(&self, model: Scheme, file: Scheme) -> Steps {
        let known = |t: usize| self.names.get(t).map(String::as_str).filter(|name| !name.is_empty());
        let (mut steps, length) = (Steps::default(), self.names.len());
        let out = |pair: [Option<&str>; 2], known| !scheme::fits(model, file, pair, known);
        for (name, &y) in &self.labels {
            steps.no_start.extend(out([None, Some(name)], [None, known(0)]).then_some(y));
            steps.no_end.extend(out([Some(name), None], [known(length - 1), None]).then_some(y));
            for t in (1..length).filter(|&t| known(t - 1).is_some() || known(t).is_some()) {
                let known = [known(t - 1), known(t)];
                let after = self.labels.iter().filter(|(after, _)| out([Some(name), Some(after)], known));
                steps.pairs.extend(after.map(|(_, &after)| (narrow(t), y, after)));
            }
        }
        steps
    }

    /// Nothing is known of the sentence at hand.
    pub(crate) fn forget(&mut self) {
        self.names.clear();
        (self.any, self.steps) = (false, None);
    }

    /// The number of a label, or of the set of those that it may be; none if the model has none of them.
    fn number(&mut self, name: &str) -> Option<u16> {
        if name == self.mark {
            return Some(self.free);
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let names = match self.schemes {
            Schemes { file: Some(file), model: Some(model) } => scheme::possible(file, model, name),
            _ => vec![name.to_owned()],
        };
        let members: Vec<u16> = names.iter().filter_map(|name| self.labels.get(name).copied()).collect();
        let number = match members[..] {
            [] => None,
            [one] => Some(one),
            _ => Some(label(self.sets.add(members))),
        };
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
