//! From a recipe to runs: each is a command line of `seqoia train`, parsed and checked like a typed one before the first
//! of them starts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::FromArgMatches;
use seqoia::learners::LEARNERS;

use super::recipe::{Choose, Data, Options, Recipe, Show, over, words};
use crate::flags::{Cli, Command, TrainArgs, refused};

/// Whose curve a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Whose {
    /// That of an entry of the recipe, with one setting of its grid.
    Entry { entry: usize, setting: usize },
    /// The reference of the gaps.
    Reference,
    /// Another program.
    Rival(usize),
}

/// A run.
pub(super) struct Planned {
    pub(super) data: usize,
    pub(super) whose: Whose,
    /// Its name and setting, for people.
    pub(super) name: String,
    pub(super) seed: u64,
    /// As it is shown: variables stay.
    pub(super) shown: String,
    /// Behind `train`, as it is run; of a rival nothing.
    pub(super) words: Vec<String>,
    /// Files that it reads.
    pub(super) files: Vec<PathBuf>,
    pub(super) test: PathBuf,
    pub(super) args: Option<Box<TrainArgs>>,
}

/// A data set with its files found.
pub(super) struct Found {
    pub(super) train: Place,
    pub(super) dev: Option<Place>,
    pub(super) test: Place,
}

/// A file, as it is shown and as it is opened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) shown: String,
    pub(super) path: PathBuf,
}

/// Options whose values are files.
const FILES: [&str; 8] =
    ["template", "patterns", "clusters", "gazetteer", "dictionary", "lexicon", "raw-text", "rules"];

/// Options that bound or watch runs.
const OF_RUNS: [&str; 6] =
    ["passes", "max-passes", "max-effective-passes", "patience", "keep", "objective-every"];

/// Where paths of a recipe begin.
pub(super) struct Roots<'a> {
    /// The folder of the recipe.
    pub(super) recipe: &'a Path,
    /// The folder with what `demo --save` writes.
    pub(super) demo: &'a Path,
}

impl Roots<'_> {
    /// A path of the recipe: `$NAME/...`, `demo:...`, or relative to the recipe; or the name of a variable that is not
    /// set.
    pub(super) fn find(&self, text: &str) -> Result<Place, String> {
        if let Some(file) = text.strip_prefix("demo:") {
            let path = self.demo.join(file);
            return Ok(Place { shown: path.display().to_string(), path });
        }
        if let Some(rest) = text.strip_prefix('$') {
            let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let value = std::env::var_os(name).filter(|value| !value.is_empty()).ok_or(name)?;
            return Ok(Place { shown: text.to_owned(), path: Path::new(&value).join(rest) });
        }
        let path = self.recipe.join(text);
        Ok(Place { shown: path.display().to_string(), path })
    }

    /// The files of a data set, or the variable that is not set.
    pub(super) fn data(&self, data: &Data) -> Result<Found, String> {
        Ok(Found {
            train: self.find(&data.train)?,
            dev: data.dev.as_deref().map(|dev| self.find(dev)).transpose()?,
            test: self.find(&data.test)?,
        })
    }
}

/// All runs on data that is there, those of one data set together, references first.
pub(super) fn plan(
    recipe: &Recipe,
    found: &[Option<Found>],
    roots: &Roots<'_>,
) -> anyhow::Result<Vec<Planned>> {
    let mut all = vec![];
    for (number, (data, found)) in recipe.data.iter().zip(found).enumerate() {
        let Some(found) = found else { continue };
        let base = over(&recipe.options, &data.options);
        let mut add = |whose, name: String, options: &Options, seed| -> anyhow::Result<()> {
            let place = || format!("run {name} on {}", data.name);
            let mut run = command(options, found, seed, roots).with_context(place)?;
            (run.data, run.whose, run.name) = (number, whose, name.clone());
            let args = parsed(&run.words).with_context(place)?;
            crate::train::checked(&args.0, Some(&args.1)).with_context(place)?;
            run.args = Some(args.0);
            all.push(run);
            Ok(())
        };
        if let Some(reference) = &recipe.reference {
            // What bounds the runs must not bound what they are measured from.
            let mut base = base.clone();
            base.retain(|name, _| !OF_RUNS.contains(&name.as_str()));
            add(Whose::Reference, "reference".to_owned(), &over(&base, reference), 1)?;
        }
        for (entry, run) in recipe.run.iter().enumerate().filter(|(_, run)| run.is_on(&data.name)) {
            let below = over(&base, &run.options);
            if !run.grid.is_empty()
                && run.choose == Choose::Objective
                && run.show != Show::All
                && !has_objective(&below)
            {
                return Err(refused(format!(
                    "run {}: its grid is chosen by the objective, which it does not compute; add objective-every = 1, or \
                     choose = \"score\", or show = \"all\"",
                    run.name
                )));
            }
            for (setting, options) in run.settings().iter().enumerate() {
                let all = over(&below, options);
                let seeds = run.seeds.as_ref().unwrap_or(&recipe.seeds);
                let once = !is_random(&all);
                for &seed in seeds.iter().take(if once { 1 } else { usize::MAX }) {
                    let name = named(&run.name, options)?;
                    add(Whose::Entry { entry, setting }, name, &all, seed)?;
                }
            }
        }
        for (rival, run) in recipe.rival.iter().enumerate().filter(|(_, run)| run.is_on(&data.name)) {
            all.push(Planned {
                data: number,
                whose: Whose::Rival(rival),
                name: format!("{} {}", run.name, run.version),
                seed: 1,
                shown: format!("{}; {}", run.train, run.predict),
                words: vec![],
                files: vec![whole(&found.train.path), whole(&found.test.path)],
                test: found.test.path.clone(),
                args: None,
            });
        }
    }
    Ok(all)
}

/// The name of a run with the values of its grid.
pub(super) fn named(name: &str, options: &Options) -> anyhow::Result<String> {
    let mut text = name.to_owned();
    for (option, value) in options {
        let value = words(value)?.map_or_else(|| "no".to_owned(), |words| words.join(" "));
        text.push_str(&format!(" {option} {value}"));
    }
    Ok(text)
}

/// Whether the records of a run will have its objective.
fn has_objective(options: &Options) -> bool {
    let computed = options.get("objective-every").is_some_and(|every| every.as_bool() != Some(false));
    let learner = options.get("learner").and_then(toml::Value::as_str);
    let entry = LEARNERS.iter().find(|entry| Some(entry.name) == learner);
    computed || entry.is_some_and(|entry| entry.profile(&entry.defaults()).whole)
}

/// Whole-pass learners give one result, whatever the seed.
fn is_random(options: &Options) -> bool {
    let learner = options.get("learner").and_then(toml::Value::as_str);
    let entry = LEARNERS.iter().find(|entry| Some(entry.name) == learner);
    entry.is_none_or(|entry| !entry.profile(&entry.defaults()).whole || entry.name == "hybrid")
}

fn command(options: &Options, found: &Found, seed: u64, roots: &Roots<'_>) -> anyhow::Result<Planned> {
    let (mut shown, mut run) = (vec![found.train.shown.clone()], vec![text(&found.train.path)?]);
    let mut files: BTreeSet<PathBuf> = [whole(&found.train.path), whole(&found.test.path)].into();
    let mut both = |flag: &str, values: &[(String, String)]| {
        shown.push(flag.to_owned());
        run.push(flag.to_owned());
        shown.extend(values.iter().map(|(shown, _)| shown.clone()));
        run.extend(values.iter().map(|(_, real)| real.clone()));
    };
    for (name, value) in options {
        let Some(values) = words(value)? else { continue };
        let flag = if name.len() == 1 { format!("-{name}") } else { format!("--{name}") };
        let mut pairs = vec![];
        for value in values {
            let place = match FILES.contains(&name.as_str()) {
                true => Some(roots.find(&value).map_err(|variable| refused(unset(&variable)))?),
                false => None,
            };
            match place.filter(|place| name != "rules" || place.path.exists()) {
                Some(place) => {
                    files.insert(whole(&place.path));
                    pairs.push((place.shown, text(&place.path)?));
                }
                None => pairs.push((value.clone(), value)),
            }
        }
        match (name.as_str(), pairs.len()) {
            ("gazetteer", _) | (_, 0 | 1) => both(&flag, &pairs),
            _ => pairs.iter().for_each(|pair| both(&flag, std::slice::from_ref(pair))),
        }
    }
    let dev = found.dev.as_ref().unwrap_or(&found.test);
    files.insert(whole(&dev.path));
    both("--dev", &[(dev.shown.clone(), text(&dev.path)?)]);
    if found.dev.is_none() && options.get("keep").is_some_and(|keep| keep.as_str() != Some("last")) {
        return Err(refused("keep: without dev data passes would be chosen on test data"));
    }
    if !options.contains_key("keep") {
        both("--keep", &[("last".to_owned(), "last".to_owned())]);
    }
    if !options.contains_key("seed") {
        both("--seed", &[(seed.to_string(), seed.to_string())]);
    }
    let test = found.test.path.clone();
    let (words, files) = (run, files.into_iter().collect());
    let shown = format!("seqoia train {}", shown.join(" "));
    let whose = Whose::Reference;
    Ok(Planned { data: 0, whose, name: String::new(), seed, shown, words, files, test, args: None })
}

/// What is said of a variable that is not set.
pub(super) fn unset(variable: &str) -> String {
    format!("the environment variable {variable} is not set: it says where the data is")
}

/// The file of which a path names a part.
fn whole(path: &Path) -> PathBuf {
    let part = seqoia::data::part::Part::split(path).ok().flatten();
    part.map_or_else(|| path.to_owned(), |(whole, _)| whole)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| refused(format!("{}: the name is not UTF-8", path.display())))
}

fn parsed(words: &[String]) -> anyhow::Result<(Box<TrainArgs>, clap::ArgMatches)> {
    let line = ["seqoia", "train"].into_iter().chain(words.iter().map(String::as_str));
    let told = |error: clap::Error| {
        let text = error.to_string();
        refused(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
    };
    let matches = crate::whole().try_get_matches_from(line).map_err(told)?;
    let cli = Cli::from_arg_matches(&matches).map_err(told)?;
    let own = matches.subcommand_matches("train").cloned();
    match (cli.command, own) {
        (Command::Train(args), Some(matches)) => Ok((args, matches)),
        _ => Err(refused("this is no run")),
    }
}
