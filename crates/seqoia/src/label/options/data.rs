//! How training data is read.

use seqoia_data::format::Kind;
use seqoia_data::rules::RuleTable;
use seqoia_data::scheme::Scheme;

use super::{FeatureChoice, LabelColumn, Recipe};

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

/// How labels of the file and labels of the model go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schemes {
    /// The file's; none if its labels are not chunks.
    pub file: Option<Scheme>,
    /// The one trained in.
    pub model: Option<Scheme>,
}

impl Schemes {
    /// The scheme of the model and that of the file, if they differ.
    pub(crate) fn change(self) -> Option<(Scheme, Scheme)> {
        self.model.zip(self.file).filter(|(model, file)| model != file)
    }
}

/// How data is read. What was not chosen goes as the [recipe](Self::recipe) says.
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
    /// The format, if it is not to be recognised; the recipe's if none.
    pub format: Option<Kind>,
    /// What labellings are held to.
    pub rules: Option<RuleChoice>,
    /// What stands in the place of a label that is not known; all are known if none.
    pub partial: Option<String>,
    /// The schemes of a whole of which the data is a part. A part may lack labels, so its own scheme may not be
    /// seen in it, and rules, weights and costs may name labels that it does not have.
    pub part_of: Option<Schemes>,
    /// At most this many threads read, of which three have something to do; all cores if none. What is read is the
    /// same with any number.
    pub threads: Option<usize>,
    /// How much labels count: a sentence counts the mean of its labels. By label or by chunk type.
    pub label_weights: Vec<(String, f64)>,
    /// How much it costs to miss a label, for learners that look at costs. By label or by chunk type.
    pub label_costs: Vec<(String, f64)>,
}

impl DataOptions {
    /// What goes where nothing was chosen: the format of a text, pairs and, for labels that are chunks, the scheme.
    #[must_use]
    pub fn recipe(&self) -> Option<&'static Recipe> {
        Recipe::of(&self.features)
    }

    /// How many threads read.
    pub(crate) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).max(1)
    }

    /// Which pairs have a weight.
    pub(crate) fn pairs_or_default(&self) -> PairChoice {
        self.pairs.or(self.recipe().map(|recipe| recipe.pairs)).unwrap_or_default()
    }

    /// The format of a text, if it is not to be recognised. Beside other features, a set does not say what the text is.
    pub(crate) fn format_of_text(&self) -> Option<Kind> {
        let alone = || self.recipe().filter(|_| self.features.sets.len() == 1);
        self.format.or_else(|| alone()?.format)
    }

    /// The scheme to train in, for a file whose labels are in `file`. What a recipe would like is left alone where
    /// single labels are spoken of, which other schemes name otherwise.
    pub(crate) fn scheme_for(&self, file: Option<Scheme>) -> Option<Scheme> {
        let single = self.rules.is_some()
            || self.partial.is_some()
            || !self.label_weights.is_empty()
            || !self.label_costs.is_empty();
        let recipe = self.recipe().and_then(|recipe| recipe.scheme).filter(|_| file.is_some() && !single);
        self.scheme.or(recipe).or(file)
    }
}
