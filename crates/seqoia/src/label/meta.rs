//! What a labeller says about itself, beside the [`Head`] that all models have.

use std::collections::HashSet;

use seqoia_data::features::{Function, LISTS, LONGEST, LONGEST_COUNTED, Part, Source, Template, crfpp};
use seqoia_data::format::{Field, Kind};
use seqoia_structures::chain::SpaceView;
use serde::{Deserialize, Serialize};

use super::classes::Class;
use super::schemes::can_be_label;
use crate::run::Head;

/// The kind of model in the head, and the name of [`Meta`] beside it.
pub(crate) const KIND: &str = "labeller";

/// The description in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) labeller: Meta,
}

impl Description {
    /// As it stands in the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        // Serialising plain strings and numbers cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Labels, columns, features and layout of a labeller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// The labels, in order.
    pub labels: Vec<String>,
    /// The scheme of the training file, if its labels are chunks.
    pub file_scheme: Option<String>,
    /// The scheme of `labels`.
    pub model_scheme: Option<String>,
    /// Format of the training file.
    pub format: String,
    /// Its columns.
    pub columns: usize,
    /// Which of them is the label.
    pub label_column: usize,
    /// How attributes are made.
    pub templates: Vec<Template>,
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// Attributes with dense rows.
    pub dense: usize,
    /// Weights that are not zero.
    pub weights: usize,
    /// Training tokens.
    pub tokens: usize,
    /// Columns with few different values, which files to be labelled must have, too.
    pub classes: Vec<Class>,
}

impl Meta {
    /// Looks at every number that making attributes and decoding rely on. A model that was trained here passes;
    /// one that was changed by hand may not.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), String> {
        if self.labels.is_empty() || self.labels.len() >= usize::from(SpaceView::LAST) {
            return Err(format!("it has {} labels", self.labels.len()));
        }
        if !self.labels.iter().all(|label| can_be_label(label)) {
            return Err("a label is empty or holds a line end".to_owned());
        }
        let mut names = HashSet::new();
        if let Some(twice) = self.labels.iter().find(|label| !names.insert(label.as_str())) {
            return Err(format!("two labels are called '{twice}'"));
        }
        let fixed = matches!(kind, Kind::Conllu | Kind::Conllx).then_some(Field::ALL.len());
        if self.label_column >= self.columns || fixed.is_some_and(|columns| columns != self.columns) {
            let (label, columns) = (self.label_column, self.columns);
            return Err(format!("its label is in column {label} of {columns}"));
        }
        match self.templates.iter().position(|t| !self.has_place_for(t)) {
            Some(number) => Err(format!("its template {number} is broken")),
            None => Ok(()),
        }
    }

    fn has_place_for(&self, template: &Template) -> bool {
        let Template { name, pieces, value, .. } = template;
        let given = pieces.iter().any(|p| p.source == Source::Given);
        let columns = pieces.iter().filter_map(|p| p.source.column()).chain(value.map(|(column, _)| column));
        let mut offsets = pieces.iter().map(|p| p.offset).chain(value.map(|(_, offset)| offset));
        pieces.len() <= crfpp::MOST_PIECES
            && name.iter().all(|part| !matches!(part, Part::Piece(i) if *i >= pieces.len()))
            && (!given || *template == Template::given())
            && columns.map(usize::from).all(|c| c < self.columns && c != self.label_column)
            && offsets.all(is_near)
            && pieces.iter().all(|p| is_sound(&p.source))
            && (pieces.len() == 1 || !pieces.iter().any(|p| p.source.has_bags()))
    }
}

fn is_near(offset: i16) -> bool {
    offset.unsigned_abs() <= crfpp::FARTHEST
}

/// Whether its numbers are some that this program writes.
fn is_sound(source: &Source) -> bool {
    use Function::{LowerPrefix, LowerSuffix, Prefix, Suffix};
    match *source {
        Source::Column(_, LowerPrefix(n) | LowerSuffix(n) | Prefix(n) | Suffix(n)) => n > 0,
        Source::Twin(_, distance) => is_near(distance),
        Source::Cluster(_, most) => most > 0,
        Source::Listed(_, list) | Source::ListedLower(_, list) => usize::from(list) < LISTS,
        Source::WordStarting(_, length) | Source::WordEnding(_, length) => (1..=LONGEST).contains(&length),
        Source::Mention(_, which, step) => which < 2 && (-1..=1).contains(&step),
        Source::MentionPath(_, which, step, most) => which < 2 && (-1..=1).contains(&step) && most > 0,
        Source::Variety(_, length, _) => (2..=LONGEST_COUNTED).contains(&length.unsigned_abs().into()),
        Source::Column(..)
        | Source::Test(..)
        | Source::Match(..)
        | Source::MatchLower(..)
        | Source::LongestStarting(_)
        | Source::LongestEnding(_)
        | Source::Category(..)
        | Source::Alone(..)
        | Source::Binding(_)
        | Source::Place
        | Source::First
        | Source::Given => true,
    }
}
