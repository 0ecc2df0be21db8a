//! What goes with a named feature set unless the user says otherwise: the format of its data; learner, parameters,
//! passes, label scheme and pairs that were measured to be best for its task, on dev sets and held-out parts of training
//! data (`experiments/runs/2026-11-recipes.txt`). The sets of papers (`ner-001`, `ner-003`) carry none.

use seqoia_data::format::Kind;
use seqoia_data::scheme::Scheme;

use super::{FeatureChoice, PairChoice};
use crate::run;

/// The learner of data without a recipe: the best mean dev score over fourteen data sets at its own defaults among
/// those that need at most a tenth of the time of `lbfgs`.
pub const DEFAULT_LEARNER: &str = "averaged-perceptron";

/// The settings that go with a feature set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The set.
    pub set: &'static str,
    /// How to learn.
    pub learn: run::Recipe,
    /// The format of texts, where it cannot be recognised: segmented text looks like columns.
    pub format: Option<Kind>,
    /// The scheme to train in, where labels are chunks.
    pub scheme: Option<Scheme>,
    /// Which pairs have a weight.
    pub pairs: PairChoice,
    /// What gains more and is not the default, since it takes too long or too much memory.
    pub beyond: Option<&'static str>,
}

/// Every recipe.
pub const RECIPES: &[Recipe] = &[
    Recipe {
        set: "ner",
        learn: run::Recipe { learner: "adagrad", parameters: &[("rate", "0.07")], passes: 12 },
        format: None,
        scheme: Some(Scheme::Bie),
        pairs: PairChoice::All,
        beyond: None,
    },
    Recipe {
        set: "chunking",
        learn: run::Recipe { learner: "adagrad", parameters: &[], passes: 6 },
        format: None,
        scheme: Some(Scheme::Bie),
        pairs: PairChoice::All,
        beyond: None,
    },
    Recipe {
        set: "pos",
        learn: run::Recipe { learner: "averaged-perceptron", parameters: &[], passes: 10 },
        format: None,
        scheme: None,
        pairs: PairChoice::Observed,
        beyond: Some("`learner adagrad` `pairs all`: +0.2 points, at several times the time and memory"),
    },
    Recipe {
        set: "segmentation",
        learn: run::Recipe { learner: "adagrad", parameters: &[], passes: 3 },
        format: Some(Kind::Words),
        scheme: Some(Scheme::Bie),
        pairs: PairChoice::All,
        beyond: None,
    },
    Recipe {
        set: "ner-zh",
        learn: run::Recipe { learner: "adagrad", parameters: &[("rate", "0.1")], passes: 6 },
        format: None,
        scheme: Some(Scheme::Bie),
        pairs: PairChoice::All,
        beyond: None,
    },
    Recipe {
        set: "pos-zh",
        learn: run::Recipe { learner: "averaged-perceptron", parameters: &[], passes: 8 },
        format: None,
        scheme: None,
        pairs: PairChoice::Observed,
        beyond: None,
    },
];

/// That of `ner-zh` with a lexicon, which gives a character ten times as many attributes: smaller steps are better then.
const WITH_LEXICON: Recipe = Recipe {
    set: "ner-zh",
    learn: run::Recipe { learner: "adagrad", parameters: &[("rate", "0.03")], passes: 5 },
    format: None,
    scheme: Some(Scheme::Bie),
    pairs: PairChoice::All,
    beyond: None,
};

/// That of `segmentation` with raw text, where single characters are worth a label of their own.
const WITH_RAW_TEXT: Recipe = Recipe {
    set: "segmentation",
    learn: run::Recipe { learner: "adagrad", parameters: &[], passes: 3 },
    format: Some(Kind::Words),
    scheme: Some(Scheme::Bmes),
    pairs: PairChoice::All,
    beyond: None,
};

impl Recipe {
    /// The recipe of the first set that has one.
    #[must_use]
    pub fn of(features: &FeatureChoice) -> Option<&'static Recipe> {
        let of_set = |set: &String| RECIPES.iter().find(|recipe| recipe.set == set);
        let recipe = features.sets.iter().find_map(of_set)?;
        let extended = [
            (&WITH_LEXICON, !features.lexica.thesaurus.is_empty()),
            (&WITH_RAW_TEXT, !features.lexica.varieties.is_empty()),
        ];
        let found = extended.into_iter().find(|(other, given)| *given && other.set == recipe.set);
        Some(found.map_or(recipe, |(other, _)| other))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use seqoia_data::features::sets::SETS;

    use super::*;
    use crate::run::Wish;

    #[test]
    fn recipes_are_of_sets_and_learners_that_exist() {
        for recipe in RECIPES.iter().chain([&WITH_LEXICON, &WITH_RAW_TEXT]) {
            assert!(SETS.iter().any(|(name, _)| *name == recipe.set));
            let options = Wish::default().options(Some(&recipe.learn), DEFAULT_LEARNER).unwrap();
            assert_eq!(options.learner.name, recipe.learn.learner);
            options.check().unwrap();
        }
        let without = Wish::default().options(None, DEFAULT_LEARNER).unwrap();
        assert_eq!((without.learner.name, without.passes), (DEFAULT_LEARNER, None));
        without.check().unwrap();
    }

    #[test]
    fn sets_of_papers_and_templates_have_none() {
        let of = |sets: &[&str]| {
            let sets = sets.iter().map(|set| (*set).to_owned()).collect();
            Recipe::of(&FeatureChoice { sets, ..FeatureChoice::default() }).map(|recipe| recipe.set)
        };
        assert_eq!((of(&[]), of(&["ner-001"]), of(&["ner-003"])), (None, None, None));
        assert_eq!((of(&["ner"]), of(&["ner-001", "pos"])), (Some("ner"), Some("pos")));
    }
}
