//! How to learn, from the command line: parameters of learners and strategies, penalties, passes.

use std::sync::Arc;

use clap::ArgMatches;
use seqoia::core::param::{Kind as ParamKind, Param};
use seqoia::learners::LEARNERS;
use seqoia::run::Recipe;
use seqoia::strategies::STRATEGIES;
use seqoia::{Checkpoint, LearnOptions, Passes, Strength, Wish};

use crate::flags::{KeepName, TrainArgs, refused, threads};
use crate::inputs::number;

/// Everyone who declares parameters: a name and its parameters.
fn owners() -> impl Iterator<Item = (&'static str, &'static [Param])> {
    let learners = LEARNERS.iter().map(|l| (l.name, l.params));
    learners.chain(STRATEGIES.iter().map(|s| (s.name, s.params)))
}

/// Whether a learner or a strategy declares a parameter of this name.
pub(super) fn declared(name: &str) -> bool {
    owners().flat_map(|(_, params)| params).any(|param| param.name == name)
}

/// Adds a flag for every parameter that any learner or strategy declares.
pub(crate) fn with_declared_flags(command: clap::Command) -> clap::Command {
    command.mut_subcommand("train", |mut train| {
        for param in owners().flat_map(|(_, params)| params) {
            if train.get_arguments().any(|a| a.get_id() == param.name) {
                continue;
            }
            let arg = clap::Arg::new(param.name).long(param.name).value_name("X").help(help(param.name));
            train = train.arg(arg.help_heading("Parameters of single learners and strategies"));
        }
        // A negative number is a wrong value, not an unknown flag.
        train.mut_args(|arg| match arg.get_action() {
            clap::ArgAction::Set => arg.allow_negative_numbers(true),
            _ => arg,
        })
    })
}

/// A default, and whose it is.
type Users = (String, Vec<&'static str>);

/// What a parameter means to each of its owners. Those who say the same stand together, and so do those with the
/// same default.
fn help(name: &str) -> String {
    let mut meanings: Vec<(String, Vec<Users>)> = vec![];
    for (owner, params) in owners() {
        let Some(p) = params.iter().find(|p| p.name == name) else { continue };
        let words = match p.kind {
            ParamKind::Word(words) => format!(": {}", words.join(", ")),
            _ => String::new(),
        };
        let (text, default) = (format!("{}{words}", p.help), p.default.to_string());
        let at = meanings.iter().position(|(t, _)| *t == text).unwrap_or(meanings.len());
        if at == meanings.len() {
            meanings.push((text, vec![]));
        }
        let users = &mut meanings[at].1;
        match users.iter_mut().find(|(d, _)| *d == default) {
            Some((_, names)) => names.push(owner),
            None => users.push((default, vec![owner])),
        }
    }
    let users =
        |(default, names): &(String, Vec<&str>)| format!("({}) [default: {default}]", names.join(", "));
    let meaning = |(text, all): &(String, Vec<_>)| {
        format!("{text} {}", all.iter().map(users).collect::<Vec<_>>().join(", "))
    };
    meanings.iter().map(meaning).collect::<Vec<_>>().join("; ")
}

/// The parameters among `params` that were given, as text.
fn given<'a>(params: impl Iterator<Item = &'a Param>, matches: Option<&ArgMatches>) -> Vec<(String, String)> {
    let mut given = vec![];
    for param in params {
        let value = matches.and_then(|m| m.get_one::<String>(param.name));
        let pair = value.map(|v| (param.name.to_owned(), v.clone()));
        given.extend(pair.filter(|p| !given.contains(p)));
    }
    given
}

/// The options of a run: what was typed, then the recipe, then the learner `default`.
pub(super) fn options(
    args: &TrainArgs,
    matches: Option<&ArgMatches>,
    recipe: Option<&Recipe>,
    default: &str,
) -> anyhow::Result<LearnOptions> {
    let (run, args) = (&args.run, &args.learn);
    let l1 = match (&args.l1, &args.c1, &args.rho1) {
        (Some(x), _, _) => Some(strength("--l1", x)?),
        (_, Some(x), _) => Some(Strength::OverN(number("--c1", x)?)),
        (_, _, Some(x)) => Some(Strength::OverN(number("--rho1", x)?)),
        _ => None,
    };
    let l2 = match (&args.l2, &args.c2, &args.rho2, &args.c) {
        (Some(x), _, _, _) => Some(strength("--l2", x)?),
        (_, Some(x), _, _) => Some(Strength::OverN(finite("--c2", x, 2.0 * number("--c2", x)?)?)),
        (_, _, Some(x), _) => Some(Strength::OverN(number("--rho2", x)?)),
        (_, _, _, Some(x)) => match number("-C", x)? {
            c if c > 0.0 => Some(Strength::OverN(finite("-C", x, 1.0 / c)?)),
            _ => return Err(refused(format!("-C {x}: expected a number above 0"))),
        },
        _ => None,
    };
    let l2_path = args.l2_path.iter().map(|x| strength("--l2-path", x.trim())).collect::<Result<_, _>>()?;
    let passes = args.passes.map(Passes::Exactly).or(args.max_passes.map(Passes::AtMost));
    if matches!(passes, Some(Passes::Exactly(0) | Passes::AtMost(0))) {
        return Err(refused("--passes, --max-passes: at least one pass is needed"));
    }
    let (learner, strategy) = (args.learner.clone(), args.strategy.clone());
    let parameters = given(owners().flat_map(|(_, params)| params), matches);
    let wish = Wish { learner, parameters, strategy, l1, l2, l2_path, passes };
    let mut options = wish.options(recipe, default)?;
    options.threads = threads(args.threads)?;
    if run.checkpoint_every == 0 {
        return Err(refused("--checkpoint-every 0: at least every pass"));
    }
    options.checkpoint_every = run.checkpoint.as_ref().map(|_| run.checkpoint_every);
    options.resume = run.resume.as_deref().map(Checkpoint::open).transpose()?.map(Arc::new);
    options.max_effective = args.max_effective_passes;
    options.keep_last = args.keep == KeepName::Last;
    options.patience = args.patience;
    options.objective_every = args.objective_every;
    options.seed = args.seed;
    options.cut = args.cut;
    Ok(options)
}

/// What became of a number, if it did not grow beyond all bounds.
fn finite(flag: &str, text: &str, x: f64) -> anyhow::Result<f64> {
    match x.is_finite() {
        true => Ok(x),
        false => {
            Err(refused(format!("{flag} {text}: the penalty that this stands for is not a finite number")))
        }
    }
}

/// A number, or a number over n.
fn strength(flag: &str, text: &str) -> anyhow::Result<Strength> {
    match text.strip_suffix("/n") {
        Some(over) => number(flag, over).map(Strength::OverN),
        None => number(flag, text).map(Strength::Plain),
    }
}
