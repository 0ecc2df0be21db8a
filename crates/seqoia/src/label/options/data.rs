//! How training data is read.

use seqoia_data::format::Kind;
use seqoia_data::rules::RuleTable;
use seqoia_data::scheme::Scheme;

use super::{FeatureChoice, LabelColumn};
use crate::label::recipes::Recipe;
use crate::label::schemes::Schemes;

/// Which (attribute, label) pairs have a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairChoice {
    /// Those that occur.
    #[default]
    Observed,
    /// All.
    All,
}

impl PairChoice {
    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PairChoice::Observed => "observed",
            PairChoice::All => "all",
        }
    }
}

/// Which labels may follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleChoice {
    /// As in a label scheme.
    Scheme(Scheme),
    /// As a table says.
    Table(RuleTable),
}

/// How data is read.
#[derive(Clone, Debug, Default)]
pub struct DataOptions {
    /// The attributes.
    pub features: FeatureChoice,
    /// Which column is the label.
    pub label: LabelColumn,
    /// The scheme to train in; the recipe's or the file's own if none.
    pub scheme: Option<Scheme>,
    /// Attributes seen fewer times are dropped.
    pub cutoff: u32,
    /// Which pairs have a weight; the recipe's if none.
    pub pairs: Option<PairChoice>,
    /// What goes where nothing was chosen: pairs and, for labels that are chunks, the scheme. See [`Recipe::of`].
    pub recipe: Option<&'static Recipe>,
    /// The format, if it is not to be recognised.
    pub format: Option<Kind>,
    /// What labellings are held to.
    pub rules: Option<RuleChoice>,
    /// What stands in the place of a label that is not known; all are known if none.
    pub partial: Option<String>,
    /// The schemes of a whole of which the data is a part. A part may lack labels, so its own scheme may not be
    /// seen in it, and rules, weights and costs may name labels that it does not have.
    pub part_of: Option<Schemes>,
    /// How much labels count: a sentence counts the mean of its labels. By label or by chunk type.
    pub label_weights: Vec<(String, f64)>,
    /// How much it costs to miss a label, for learners that look at costs. By label or by chunk type.
    pub label_costs: Vec<(String, f64)>,
}

impl DataOptions {
    /// Which pairs have a weight.
    pub(crate) fn pairs(&self) -> PairChoice {
        self.pairs.or(self.recipe.map(|recipe| recipe.pairs)).unwrap_or_default()
    }

    /// The scheme to train in, for a file whose labels are in `file`. What a recipe would like is left alone where
    /// single labels are spoken of, which other schemes name otherwise.
    pub(crate) fn scheme(&self, file: Option<Scheme>) -> Option<Scheme> {
        let single = self.rules.is_some()
            || self.partial.is_some()
            || !self.label_weights.is_empty()
            || !self.label_costs.is_empty();
        let recipe = self.recipe.and_then(|recipe| recipe.scheme).filter(|_| file.is_some() && !single);
        self.scheme.or(recipe).or(file)
    }
}
