//! From what a user says about learning to [`LearnOptions`]: what was not said is found here, for the command line and
//! for programs alike.
//!
//! The learner is, in this order: the one that is named; `owl-qn` if there is an l1, `lbfgs` if there is another
//! penalty, since these minimise an objective with one to the end; the recipe's; the task's default. A recipe's
//! parameters and passes belong to its learner and go with another one.

use seqoia_core::param::Settings;
use seqoia_learners::registry::{self, Entry, LEARNERS};
use seqoia_strategies::registry::{Chosen, STRATEGIES};

use super::{LearnOptions, Passes, Strength};
use crate::error::{BadOption, Result};

/// A learner with parameters and a number of passes that were measured to be good for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The learner.
    pub learner: &'static str,
    /// Its parameters, where they are not its defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Passes.
    pub passes: u64,
}

/// What a user says about learning.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The learner.
    pub learner: Option<String>,
    /// Parameters of learners and strategies, as text.
    pub parameters: Vec<(String, String)>,
    /// The strategy.
    pub strategy: Option<String>,
    /// l1.
    pub l1: Option<Strength>,
    /// l2.
    pub l2: Option<Strength>,
    /// Several l2, one after another.
    pub l2_path: Vec<Strength>,
    /// How many passes.
    pub passes: Option<Passes>,
}

impl Wish {
    /// The options of a run; `default` is the task's learner.
    ///
    /// # Errors
    /// A name that is unknown, a parameter that the learner or the strategy does not have, a value outside its range.
    pub fn options(&self, recipe: Option<&Recipe>, default: &str) -> Result<LearnOptions> {
        let learner = self.learner(recipe, default)?;
        let recipe = recipe.filter(|recipe| recipe.learner == learner.name);
        let (of_strategy, of_learner): (Vec<_>, Vec<_>) =
            self.parameters.iter().cloned().partition(|(name, _)| is_of_strategy(name));
        let settings = self.settings(learner, recipe, of_learner)?;
        let mut options = LearnOptions::new(learner, settings);
        (options.l1, options.l2) = (self.l1, self.l2);
        options.l2_path.clone_from(&self.l2_path);
        options.passes = self.passes.or(recipe.map(|recipe| Passes::Exactly(recipe.passes)));
        let profile = options.profile();
        options.strategy = Some(Chosen::new(self.strategy.as_deref(), &of_strategy, &profile)?);
        Ok(options)
    }

    fn learner(&self, recipe: Option<&Recipe>, default: &str) -> Result<&'static Entry> {
        let name = match (&self.learner, recipe) {
            (Some(name), _) => name,
            _ if self.l1.is_some() => "owl-qn",
            _ if self.l2.is_some() || !self.l2_path.is_empty() => "lbfgs",
            (None, Some(recipe)) => recipe.learner,
            (None, None) => default,
        };
        Ok(registry::find(name)?)
    }

    fn settings(
        &self,
        learner: &Entry,
        recipe: Option<&Recipe>,
        given: Vec<(String, String)>,
    ) -> Result<Settings> {
        // An unknown name is told, whoever the learner is; and a learner that nobody named is.
        let unused = given.iter().find(|(name, _)| !learner.params.iter().any(|p| p.name == name));
        if let (Some((name, value)), None) = (unused, &self.learner) {
            let has = |l: &&Entry| l.params.iter().any(|p| p.name == name);
            let others: Vec<_> = LEARNERS.iter().filter(has).map(|l| l.name).collect();
            if !others.is_empty() {
                let what = format!("{}, which is the default here, does not use this option", learner.name);
                let help = format!("name a learner that does: {}", others.join(", "));
                return Err(BadOption::of(name, value, what).help(help).into());
            }
        }
        let named = |name: &str| given.iter().any(|(given, _)| given == name);
        let own = recipe.map_or(&[][..], |recipe| recipe.parameters);
        let own = own.iter().filter(|(name, _)| !named(name));
        let mut all: Vec<_> = own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        all.extend(given.iter().cloned());
        Ok(learner.check(&all)?)
    }
}

fn is_of_strategy(name: &str) -> bool {
    STRATEGIES.iter().any(|strategy| strategy.params.iter().any(|param| param.name == name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe { learner: "adagrad", parameters: &[("rate", "0.1")], passes: 12 };

    fn options(wish: &Wish) -> LearnOptions {
        wish.options(Some(&RECIPE), "perceptron").unwrap()
    }

    fn of(learner: &str) -> Wish {
        Wish { learner: Some(learner.to_owned()), ..Wish::default() }
    }

    #[test]
    fn what_is_not_said_comes_from_the_recipe_else_from_the_task() {
        let found = options(&Wish::default());
        assert_eq!((found.learner.name, found.settings.number("rate")), ("adagrad", 0.1));
        assert_eq!(found.passes, Some(Passes::Exactly(12)));
        let found = Wish::default().options(None, "perceptron").unwrap();
        assert_eq!((found.learner.name, found.passes), ("perceptron", None));
    }

    #[test]
    fn what_is_said_replaces_its_part() {
        let mut wish = Wish { passes: Some(Passes::Exactly(3)), ..Wish::default() };
        wish.parameters.push(("rate".to_owned(), "0.3".to_owned()));
        let found = options(&wish);
        assert_eq!((found.learner.name, found.settings.number("rate")), ("adagrad", 0.3));
        assert_eq!(found.passes, Some(Passes::Exactly(3)));
        // The same learner by name keeps what belongs to it.
        assert_eq!(options(&of("adagrad")).settings.number("rate"), 0.1);
    }

    #[test]
    fn another_learner_has_its_own_rate_and_passes() {
        let found = options(&of("sgd"));
        assert_eq!(found.passes, None);
        assert_eq!(found.settings, registry::find("sgd").unwrap().defaults());
    }

    #[test]
    fn a_penalty_means_a_learner_that_minimises_it() {
        let l2 = Wish { l2: Some(Strength::OverN(1.0)), ..Wish::default() };
        assert_eq!(options(&l2).learner.name, "lbfgs");
        let both = Wish { l1: Some(Strength::Plain(0.1)), ..l2.clone() };
        assert_eq!(options(&both).learner.name, "owl-qn");
        assert_eq!(options(&Wish { learner: Some("sgd".to_owned()), ..l2 }).learner.name, "sgd");
    }

    #[test]
    fn parameters_find_their_strategy() {
        let mut wish = Wish::default();
        wish.parameters.push(("batch-size".to_owned(), "4".to_owned()));
        assert_eq!(options(&wish).strategy.unwrap().batch(), 4);
    }

    #[test]
    fn a_parameter_of_others_names_them() {
        let mut wish = Wish::default();
        wish.parameters.push(("history".to_owned(), "5".to_owned()));
        let error = wish.options(Some(&RECIPE), "perceptron").err().unwrap().to_string();
        assert!(error.contains("adagrad, which is the default here") && error.contains("lbfgs"), "{error}");
        wish.parameters[0].0 = "histroy".to_owned();
        assert!(wish.options(None, "lbfgs").is_err());
    }
}
