//! Labels that are known before prediction, in the numbers of a model.
//!
//! A label of the file may stand for several of the model's, where the two are in different schemes: `I-X`
//! of IOB1 is `B-X` or `I-X` in IOB2. Such labels become sets.

use std::collections::HashMap;

use seqoia_core::cast::label;
use seqoia_data::scheme;
use seqoia_structures::chain::Sets;

use crate::labels::Schemes;
use crate::meta::Meta;

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
}

impl KnownLabels {
    /// `mark` stands where a label is not known.
    pub(crate) fn new(meta: &Meta, schemes: Schemes, mark: &str) -> Self {
        let mut sets = Sets::new(meta.labels.len());
        let free = label(sets.add((0..meta.labels.len()).map(label)));
        let labels = meta.labels.iter().enumerate().map(|(i, name)| (name.clone(), label(i))).collect();
        let mark = mark.to_owned();
        KnownLabels { mark, free, schemes, labels, numbers: HashMap::new(), sets, names: vec![], any: false }
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
        Ok(())
    }

    /// Nothing is known of the sentence at hand.
    pub(crate) fn forget(&mut self) {
        self.names.clear();
        self.any = false;
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
