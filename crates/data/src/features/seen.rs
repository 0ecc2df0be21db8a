//! What raw text tells about the strings of a sentence: looked up once for each string that starts at a token.

use std::ops::Range;

use super::function::full_width;
use super::raw_text::{CLASSES, INFORMATION, Known, LONGEST};
use super::template::Program;
use super::{NONE, Source, Values};
use crate::format::Block;

/// One worker's buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    column: Option<usize>,            // that views read
    classes: Vec<u32>,                // the values of varieties
    information: Vec<u32>,            // and those of mutual information
    strings: [Vec<Option<Known>>; 3], // [2 to 4 tokens][T] the strings that start at each token
    text: String,
}

impl Seen {
    /// For a program and the table of values that all later calls are given.
    pub(super) fn new(program: &Program, values: &mut impl Values) -> Self {
        let column = program.views.iter().find_map(|v| match v.source {
            Source::Variety(column, ..) | Source::Binding(column) => Some(usize::from(column)),
            _ => None,
        });
        if column.is_none() {
            return Seen::default();
        }
        let classes = (0..CLASSES).map(|n| values.value(&n.to_string())).collect();
        let information = (0..INFORMATION).map(|n| values.value(&Known::name(n))).collect();
        Seen { column, classes, information, ..Seen::default() }
    }

    /// Looks the strings of a sentence up; tells how many pairs of tokens are known.
    pub(super) fn find(&mut self, values: &impl Values, block: &Block, tokens: &Range<usize>) -> u64 {
        let Some(column) = self.column else { return 0 };
        let known = values.lexica().varieties;
        for strings in &mut self.strings {
            strings.clear();
            strings.resize(tokens.len(), None);
        }
        let mut pairs = 0;
        for start in 0..tokens.len() {
            self.text.clear();
            for (length, i) in (tokens.start + start..tokens.end).take(LONGEST).enumerate() {
                self.text.extend(block.field(i, column).chars().map(full_width));
                let Some(length) = length.checked_sub(1) else { continue };
                // What a string begins with was seen as often as the string.
                let Some(found) = known.find(&self.text) else { break };
                self.strings[length][start] = Some(found);
                pairs += u64::from(length == 0);
            }
        }
        pairs
    }

    /// The varieties of the strings of some length that start at each token, or end there if it is below 0.
    pub(super) fn varieties(&self, length: i8, before: bool, out: &mut [u32]) {
        let n = usize::from(length.unsigned_abs());
        let Some(strings) = n.checked_sub(2).and_then(|at| self.strings.get(at)) else { return };
        let first = if length < 0 { n - 1 } else { 0 };
        for (out, known) in out.iter_mut().skip(first).zip(strings) {
            let class = known.and_then(|known| known.variety(before));
            *out = class.map_or(NONE, |class| self.classes[class]);
        }
    }

    /// What binds each token to the one before.
    pub(super) fn bindings(&self, out: &mut [u32]) {
        for (out, known) in out.iter_mut().skip(1).zip(&self.strings[0]) {
            let information = known.and_then(Known::information);
            *out = information.map_or(NONE, |n| self.information[n as usize]);
        }
    }
}
