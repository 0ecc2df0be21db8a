//! A recipe: which data, which learners, which seeds, which plots. Options are those of `seqoia train` without their
//! dashes, so a recipe has nothing to learn beside that command.
//!
//! ```toml
//! title = "Chunking"
//! seeds = [1, 2, 3]
//! options = { max-passes = 30, objective-every = 1 }
//!
//! [[data]]
//! name = "CoNLL-2000"
//! train = "$SEQOIA_DATA/conll2000/train.txt.gz"      # relative paths: from the folder of the recipe
//! test = "$SEQOIA_DATA/conll2000/test.txt.gz"
//! options = { template = "$SEQOIA_DATA/conll2000/template.crfpp", cutoff = 3 }
//!
//! [[run]]
//! name = "SGD"
//! options = { learner = "sgd" }
//! grid = { rate = [0.01, 0.1, 1] }                   # choose = "objective"; show = "best2"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use seqoia::core::cast::real;
use serde::Deserialize;

use crate::flags::{open, refused};

/// Options of `train`: names and values.
pub(super) type Options = BTreeMap<String, toml::Value>;

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Recipe {
    pub(super) title: String,
    /// A paragraph under the title; empty lines divide it.
    #[serde(default)]
    pub(super) about: String,
    #[serde(default = "one_seed")]
    pub(super) seeds: Vec<u64>,
    /// Runs side by side.
    pub(super) jobs: Option<usize>,
    /// Of all runs.
    #[serde(default)]
    pub(super) options: Options,
    /// A run per data set whose lowest objective the gaps of the others are measured from.
    pub(super) reference: Option<Options>,
    pub(super) data: Vec<Data>,
    pub(super) run: Vec<Entry>,
    #[serde(default)]
    pub(super) rival: Vec<Rival>,
    #[serde(default)]
    pub(super) plot: Vec<PlotWish>,
}

/// A data set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Data {
    pub(super) name: String,
    /// What is special about it: stands under its heading.
    #[serde(default)]
    pub(super) about: String,
    pub(super) train: String,
    /// Scored after every pass; the test data without it.
    pub(super) dev: Option<String>,
    pub(super) test: String,
    #[serde(default)]
    pub(super) options: Options,
}

/// A learner with its options, on some or all data sets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Entry {
    pub(super) name: String,
    #[serde(default)]
    pub(super) options: Options,
    /// Values to try; the options above apply to each.
    #[serde(default)]
    pub(super) grid: BTreeMap<String, Vec<toml::Value>>,
    #[serde(default)]
    pub(super) choose: Choose,
    #[serde(default)]
    pub(super) show: Show,
    /// Data sets, all without it.
    pub(super) only: Option<Vec<String>>,
    #[serde(default)]
    pub(super) except: Vec<String>,
    pub(super) seeds: Option<Vec<u64>>,
}

/// By what the best of a grid is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Choose {
    /// The lowest objective at the end.
    #[default]
    Objective,
    /// The highest score on dev data at the end.
    Score,
}

/// What is shown of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Show {
    /// The best setting, and the second best dotted.
    #[default]
    Best2,
    /// The best setting alone.
    Best,
    /// All of them, each under its own name.
    All,
}

/// Another program, run only where that is allowed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rival {
    pub(super) name: String,
    pub(super) version: String,
    /// A shell command with {train}, {model}, {seed}.
    pub(super) train: String,
    /// A shell command with {model}, {test}, {out}.
    pub(super) predict: String,
    pub(super) only: Option<Vec<String>>,
    #[serde(default)]
    pub(super) except: Vec<String>,
}

/// A plot, one per data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PlotWish {
    pub(super) title: Option<String>,
    pub(super) x: String,
    pub(super) y: String,
    /// Whether an axis is logarithmic; `gap` and `objective` are without being asked.
    pub(super) log_x: Option<bool>,
    pub(super) log_y: Option<bool>,
    /// The lowest number of the vertical axis.
    pub(super) from: Option<f64>,
    /// Runs and data sets, all without them.
    pub(super) runs: Option<Vec<String>>,
    pub(super) data: Option<Vec<String>>,
}

/// What is drawn along an axis.
pub(super) const QUANTITIES: [&str; 8] =
    ["passes", "effective_passes", "cpu_seconds", "seconds", "objective", "gap", "score", "error"];

fn one_seed() -> Vec<u64> {
    vec![1]
}

impl Recipe {
    /// Reads a recipe and checks what can be checked without data.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(super) fn read(path: &Path) -> anyhow::Result<(Recipe, String)> {
        let text = seqoia::data::text::read(open(Some(path))?)?;
        let recipe: Recipe = toml::from_str(&text)
            .map_err(|error| refused(format!("{}: {}", path.display(), error.to_string().trim_end())))?;
        recipe.check().with_context(|| path.display().to_string()).map_err(|e| refused(format!("{e:#}")))?;
        Ok((recipe, text))
    }

    fn check(&self) -> anyhow::Result<()> {
        let distinct = |what: &str, names: Vec<&str>| {
            let again = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
            match again {
                Some((_, name)) => Err(refused(format!("two {what} are called {name}"))),
                None => Ok(()),
            }
        };
        let (data, runs) = (self.data_names(), self.run_names());
        distinct("data sets", data.clone())?;
        distinct("runs", runs.clone())?;
        let known = |what: &str, names: &[String], all: &[&str]| -> anyhow::Result<()> {
            match names.iter().find(|name| !all.contains(&name.as_str())) {
                Some(name) => {
                    Err(refused(format!("there is no {what} {name}; there are {}", all.join(", "))))
                }
                None => Ok(()),
            }
        };
        for (only, except) in self
            .run
            .iter()
            .map(|run| (&run.only, &run.except))
            .chain(self.rival.iter().map(|rival| (&rival.only, &rival.except)))
        {
            known("data set", only.as_deref().unwrap_or_default(), &data)?;
            known("data set", except, &data)?;
        }
        for plot in &self.plot {
            known("data set", plot.data.as_deref().unwrap_or_default(), &data)?;
            known("run", plot.runs.as_deref().unwrap_or_default(), &runs)?;
            known("quantity", &[plot.x.clone(), plot.y.clone()], &QUANTITIES)?;
        }
        for run in self.run.iter().filter(|run| !run.grid.is_empty()) {
            if run.choose == Choose::Score
                && let Some(data) = self.data.iter().find(|data| data.dev.is_none() && run.is_on(&data.name))
            {
                return Err(refused(format!(
                    "run {}: choose = \"score\" needs dev data, which {} does not have: nothing is chosen on test data",
                    run.name, data.name
                )));
            }
            let changes =
                ["l1", "l2", "C", "c1", "c2", "rho1", "rho2", "cutoff", "pairs", "features", "template"];
            if run.choose == Choose::Objective
                && run.show != Show::All
                && let Some(name) = run.grid.keys().find(|name| changes.contains(&name.as_str()))
            {
                return Err(refused(format!(
                    "run {}: objectives with different {name} cannot be compared; use choose = \"score\" or show = \"all\"",
                    run.name
                )));
            }
            if run.grid.values().any(Vec::is_empty) {
                return Err(refused(format!("run {}: an option of the grid has no values", run.name)));
            }
        }
        let lists = self.run.iter().filter_map(|run| run.seeds.as_ref()).chain([&self.seeds]);
        for seeds in lists {
            if let Some((_, seed)) = seeds.iter().enumerate().find(|(i, seed)| seeds[..*i].contains(seed)) {
                return Err(refused(format!(
                    "seed {seed} stands twice in a list: two equal runs say nothing more"
                )));
            }
        }
        if self.seeds.is_empty() || self.run.iter().any(|run| run.seeds.as_ref().is_some_and(Vec::is_empty)) {
            return Err(refused("a list of seeds is empty"));
        }
        Ok(())
    }

    fn data_names(&self) -> Vec<&str> {
        self.data.iter().map(|data| data.name.as_str()).collect()
    }

    fn run_names(&self) -> Vec<&str> {
        let rivals = self.rival.iter().map(|rival| rival.name.as_str());
        self.run.iter().map(|run| run.name.as_str()).chain(rivals).collect()
    }
}

impl Entry {
    /// Whether it runs on a data set.
    pub(super) fn is_on(&self, data: &str) -> bool {
        is_on(self.only.as_deref(), &self.except, data)
    }

    /// All combinations of the grid, the last option varied first; one without options if there is no grid.
    pub(super) fn settings(&self) -> Vec<Options> {
        let mut all = vec![Options::new()];
        for (name, values) in &self.grid {
            let extended = |before: &Options| {
                let before = before.clone();
                let with = move |value: &toml::Value| {
                    let mut options = before.clone();
                    options.insert(name.clone(), value.clone());
                    options
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(extended).collect();
        }
        all
    }
}

impl Rival {
    pub(super) fn is_on(&self, data: &str) -> bool {
        is_on(self.only.as_deref(), &self.except, data)
    }
}

fn is_on(only: Option<&[String]>, except: &[String], data: &str) -> bool {
    only.is_none_or(|only| only.iter().any(|name| name == data)) && !except.iter().any(|name| name == data)
}

/// Options that say the same thing in other units: one that is set takes the place of the others.
const ALTERNATIVES: [&[&str]; 3] =
    [&["passes", "max-passes"], &["l1", "c1", "rho1"], &["l2", "c2", "rho2", "C"]];

/// Options on top of others.
pub(super) fn over(below: &Options, above: &Options) -> Options {
    let mut all = below.clone();
    for (name, value) in above {
        for others in ALTERNATIVES.iter().filter(|group| group.contains(&name.as_str())) {
            others.iter().for_each(|other| {
                all.remove(*other);
            });
        }
        all.insert(name.clone(), value.clone());
    }
    all
}

/// A value as it is typed: none for an option that is switched off.
pub(super) fn words(value: &toml::Value) -> anyhow::Result<Option<Vec<String>>> {
    use toml::Value::{Array, Boolean, Float, Integer, String};
    Ok(Some(match value {
        Boolean(false) => return Ok(None),
        Boolean(true) => vec![],
        String(text) => vec![text.clone()],
        Integer(n) => vec![n.to_string()],
        Float(x) => vec![x.to_string()],
        Array(values) => {
            let one = |value| words(value).map(|words| words.unwrap_or_default().concat());
            values.iter().map(one).collect::<anyhow::Result<_>>()?
        }
        _ => return Err(refused("an option is a number, a text, true, false or a list")),
    }))
}

/// Mean and standard deviation (n - 1).
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, Option<f64>) {
    let n = real(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Recipe, String> {
        let recipe: Recipe = toml::from_str(text).map_err(|e| e.to_string())?;
        recipe.check().map_err(|e| e.to_string())?;
        Ok(recipe)
    }

    const HEAD: &str = "title = 't'\n[[data]]\nname = 'd'\ntrain = 'a'\ntest = 'b'\n";

    #[test]
    fn grids_are_all_combinations() {
        let text = format!(
            "{HEAD}[[run]]\nname = 'r'\nshow = 'all'\ngrid = {{ rate = [1, 2.5], l2 = ['1/n', 0] }}\n"
        );
        let recipe = read(&text).unwrap();
        let settings = recipe.run[0].settings();
        let typed =
            |o: &Options| o.values().flat_map(|v| words(v).unwrap().unwrap()).collect::<Vec<_>>().join(" ");
        assert_eq!(settings.iter().map(typed).collect::<Vec<_>>(), ["1/n 1", "1/n 2.5", "0 1", "0 2.5"]);
    }

    #[test]
    fn what_is_above_takes_the_place_of_what_means_the_same() {
        let options = |text: &str| toml::from_str::<Options>(text).unwrap();
        let all = over(&options("passes = 3\nl2 = 1\nrate = 2"), &options("max-passes = 9\nC = 1"));
        assert_eq!(all, options("max-passes = 9\nC = 1\nrate = 2"));
    }

    #[test]
    fn mistakes_are_told() {
        let run = "[[run]]\nname = 'r'\n";
        for (text, told) in [
            (format!("{HEAD}{run}gird = {{}}\n"), "unknown field `gird`"),
            (format!("{HEAD}{run}{run}"), "two runs are called r"),
            (format!("{HEAD}{run}only = ['e']\n"), "there is no data set e; there are d"),
            (format!("{HEAD}{run}grid = {{ rate = [] }}\n"), "has no values"),
            (
                format!("{HEAD}{run}grid = {{ rate = [1] }}\nchoose = 'score'\n"),
                "nothing is chosen on test data",
            ),
            (format!("{HEAD}{run}grid = {{ l2 = [1] }}\n"), "objectives with different l2"),
            (format!("{HEAD}{run}[[plot]]\nx = 'passes'\ny = 'gab'\n"), "there is no quantity gab"),
            (format!("seeds = []\n{HEAD}{run}"), "seeds is empty"),
            (format!("seeds = [1, 2, 1]\n{HEAD}{run}"), "seed 1 stands twice"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
