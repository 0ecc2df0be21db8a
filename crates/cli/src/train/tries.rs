//! `seqoia train --try`: many settings on the same data, side by side.
//!
//! A setting is the command line as it was typed with one value of each tried option in front, parsed like any other, so
//! what is allowed and what is said about it are the same, and the winner's line can be typed. Settings that differ in
//! how they learn share the data: it is read once for each combination of the options that say what the data is.
//!
//! Results do not depend on the number of threads: settings have an order, and the first of the best wins.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{ArgMatches, FromArgMatches};
use seqoia::core::Score;
use seqoia::label::folds::{Folds, mean_and_deviation};
use seqoia::label::recipes::DEFAULT_LEARNER;
use seqoia::{ChainOptions, DataOptions, DevSet, Ended, LabelTask, LearnOptions, Run, TrainingSet};
use seqoia_report::{Table, bytes, counted};
use serde_json::json;

use super::label::{chain_options, data_options, run_one};
use super::learn;
use crate::clock::{Clock, Work};
use crate::flagged::told;
use crate::flags::{Cli, Command, TrainArgs, open_as, refused, threads};
use crate::habits;
use crate::screen;
use crate::signals::stop_on_ctrl_c;
use crate::targets;

/// More settings than this are a mistake.
const MOST: usize = 1_000;

/// Options that say where things go or how a run is watched: there is nothing to choose in them.
const NOT_TRIED: [&str; 20] = [
    "model",
    "dev",
    "checkpoint",
    "checkpoint-every",
    "resume",
    "warm-start",
    "log",
    "json",
    "quiet",
    "help",
    "try",
    "folds",
    "task",
    "threads",
    "dump-features",
    "format",
    "keep",
    "patience",
    "objective-every",
    "memory-limit",
];

/// Options that say how to learn; all others say what the data is.
const OF_CHAIN: [&str; 2] = ["beam", "precision"];

/// One value for each tried option.
struct Setting {
    /// In the order of the table's columns.
    values: Vec<String>,
    /// The values that say what the data is.
    data: Vec<String>,
    /// As it would be typed, behind `train`.
    line: Vec<OsString>,
    args: Box<TrainArgs>,
    /// How to learn, or why not.
    learn: Result<LearnOptions, String>,
}

impl Setting {
    /// What trains it alone.
    fn command(&self) -> String {
        format!("seqoia train {}", shell(&without(&self.line, "--folds")))
    }
}

/// A score's name, its value, and its deviation over folds.
type Scored = (&'static str, f64, Option<f64>);

/// What became of a setting.
#[derive(Clone)]
struct Outcome {
    scores: Vec<Scored>,
    first: Option<Score>,
    pass: Option<u64>,
    seconds: f64,
    failed: Option<String>,
}

impl Outcome {
    fn failed(why: String) -> Outcome {
        Outcome { scores: vec![], first: None, pass: None, seconds: 0.0, failed: Some(why) }
    }

    fn text(&self) -> String {
        match &self.failed {
            Some(why) => why.clone(),
            None => {
                let score = |(name, value, _): &(&str, f64, _)| format!("{name} {value:.2}");
                self.scores.iter().map(score).collect::<Vec<_>>().join("   ")
            }
        }
    }
}

/// The winner so far: its number, its score, its model.
type Best = Option<(usize, Score, Vec<u8>)>;

pub(super) fn run(args: &TrainArgs) -> anyhow::Result<ExitCode> {
    check(args)?;
    let typed: Vec<OsString> = std::env::args_os().skip(1).skip_while(|arg| arg != "train").skip(1).collect();
    let tried = tried(&args.learn.tries, &without(&typed, "--try"))?;
    let settings = settings(&tried, &typed)?;
    targets::check(args)?;
    if let (true, Some(Err(why))) =
        (settings.iter().all(|s| s.learn.is_err()), settings.first().map(|s| s.learn.as_ref()))
    {
        return Err(refused(format!("--try: no setting can be trained: {why}")));
    }
    let (stop, all) = (stop_on_ctrl_c(&args.run)?.stop, settings.len());
    let mut outcomes: Vec<Option<Outcome>> = vec![None; all];
    for (number, setting) in settings.iter().enumerate() {
        if let Err(why) = &setting.learn {
            outcomes[number] = Some(Outcome::failed(why.clone()));
        }
    }
    let quiet = args.run.quiet;
    let done = AtomicUsize::new(outcomes.iter().flatten().count());
    let say = |number: usize, outcome: &Outcome| {
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        if !quiet {
            let named = named(&tried, &settings[number].values);
            let text = outcome.text();
            screen::note(&format!("{n:>4} of {all}   {named}   {text}   {:.1} s", outcome.seconds));
        }
    };
    let best = Mutex::new(None);
    while let Some(first) = (0..all).find(|&i| outcomes[i].is_none()) {
        let of_group = |i: &usize| outcomes[*i].is_none() && settings[*i].data == settings[first].data;
        let group: Vec<usize> = (first..all).filter(of_group).collect();
        let found = match args.label.folds {
            None => on_dev(&settings, &group, &stop, &best, &say),
            Some(folds) => on_folds(&settings, &group, folds, &stop, &say),
        };
        // Where the data is varied, what cannot be read is one of the settings.
        let found = match found {
            Err(error) if !settings[first].data.is_empty() => {
                let failed = Outcome::failed(told(&error));
                group.iter().for_each(|&i| say(i, &failed));
                vec![failed; group.len()]
            }
            found => found?,
        };
        group.into_iter().zip(found).for_each(|(i, outcome)| outcomes[i] = Some(outcome));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|o| o.unwrap_or_else(|| Outcome::failed("not run".to_owned()))).collect();
    let winner = winner(&outcomes);
    let best = best.into_inner().unwrap_or_else(PoisonError::into_inner);
    match args.run.json {
        true => screen::result(&records(&tried, &settings, &outcomes, winner))?,
        false => {
            let mut text = table(&tried, &settings, &outcomes, winner).text();
            for (setting, outcome) in settings.iter().zip(&outcomes) {
                if let Some(why) = &outcome.failed {
                    text.push_str(&format!("\n {}: {why}\n", named(&tried, &setting.values)));
                }
            }
            screen::shown(&text)?;
        }
    }
    let Some(winner) = winner else {
        return match stop.load(Ordering::Relaxed) {
            true => Ok(ExitCode::from(130)),
            false => {
                let why = outcomes.iter().find_map(|o| o.failed.clone()).unwrap_or_default();
                Err(anyhow::anyhow!("--try: no setting could be trained: {why}"))
            }
        };
    };
    finish(args, &settings[winner], best, &stop)
}

/// Writes the winner's model, if one is wanted, and tells the command that trains it.
fn finish(args: &TrainArgs, winner: &Setting, best: Best, stop: &AtomicBool) -> anyhow::Result<ExitCode> {
    let quiet = args.run.quiet;
    let command = winner.command();
    let interrupted = stop.load(Ordering::Relaxed);
    match (&args.run.model, best) {
        (Some(model), Some((_, _, file))) => {
            seqoia::write_atomically(model, &file).map_err(seqoia::Error::from)?;
            if !quiet {
                screen::note(&format!("     wrote  {}   {}", model.display(), bytes(file.len() as u64)));
            }
        }
        (Some(_), None) if !interrupted => {
            if !quiet {
                screen::note("\nThe best setting on all data:\n");
            }
            let (args, learn) = (&winner.args, winner.learn.clone().map_err(refused)?);
            let code = run_one(args, &data_options(args)?, learn, chain_options(args)?)?;
            if !quiet {
                screen::note(&format!("      best  {command}"));
            }
            return Ok(code);
        }
        _ => (),
    }
    if !quiet {
        screen::note(&format!("      best  {command}"));
    }
    Ok(if interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

/// Refuses what has no meaning with many settings.
fn check(args: &TrainArgs) -> anyhow::Result<()> {
    let (run, label) = (&args.run, &args.label);
    for (flag, given) in [
        ("--checkpoint", run.checkpoint.is_some()),
        ("--resume", run.resume.is_some()),
        ("--warm-start", run.warm_start.is_some()),
        ("--log", run.log.is_some()),
        ("--dump-features", label.dump_features),
        ("--memory-limit", label.memory_limit.is_some()),
    ] {
        if given {
            return Err(refused(format!("{flag} belongs to one run, and --try makes many; leave it out")));
        }
    }
    if args.task != crate::flags::TaskName::Label {
        return Err(refused("--try is for labelling so far; it means nothing with --task rerank"));
    }
    if run.dev.is_none() && label.folds.is_none() {
        return Err(refused(
            "--try needs data to choose on: add --dev FILE, or --folds N for cross-validation",
        ));
    }
    if args.data.as_deref().is_none_or(|data| data.as_os_str() == "-") {
        return Err(refused("--try may read the data more than once: name a file"));
    }
    Ok(())
}

/// Names and values of `--try NAME=A,B`.
fn tried(tries: &[String], typed: &[OsString]) -> anyhow::Result<Vec<(String, Vec<String>)>> {
    let command = crate::whole();
    let options: Vec<&clap::Arg> =
        command.find_subcommand("train").into_iter().flat_map(clap::Command::get_arguments).collect();
    let mut all: Vec<(String, Vec<String>)> = vec![];
    for text in tries {
        let expected = || refused(format!("--try {text}: expected NAME=A,B, such as rate=0.05,0.1,0.2"));
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let name = name.trim_start_matches('-');
        let is_it = |arg: &&&clap::Arg| {
            arg.get_long() == Some(name)
                || arg.get_short().is_some_and(|c| name.len() == 1 && name.starts_with(c))
        };
        let Some(option) = options.iter().find(is_it) else {
            let near = seqoia::core::param::nearest(name, options.iter().filter_map(|arg| arg.get_long()));
            let near = near.map_or(String::new(), |near| format!("; is {near} meant?"));
            return Err(refused(format!("--try {text}: train has no option --{name}{near}")));
        };
        if option.get_long().is_some_and(|long| NOT_TRIED.contains(&long)) {
            return Err(refused(format!("--try {text}: there is nothing to choose in --{name}")));
        }
        let spelled =
            [option.get_long().map(|l| format!("--{l}")), option.get_short().map(|c| format!("-{c}"))];
        let given = |arg: &OsString| {
            let arg = arg.to_string_lossy();
            let is_it = |flag: &String| match flag.starts_with("--") {
                true => {
                    *arg == **flag
                        || arg.strip_prefix(flag.as_str()).is_some_and(|rest| rest.starts_with('='))
                }
                false => arg.starts_with(flag.as_str()) && !arg.starts_with("--"),
            };
            spelled.iter().flatten().any(is_it)
        };
        if typed.iter().any(given) {
            return Err(refused(format!("--try {text}: {name} is given beside it; leave one of them out")));
        }
        let separator = if values.contains(';') { ';' } else { ',' };
        let values: Vec<String> = values.split(separator).map(|value| value.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) {
            return Err(expected());
        }
        if all.iter().any(|(known, _)| known == name) {
            return Err(refused(format!(
                "--try {text}: {name} is tried already; give all its values in one list"
            )));
        }
        all.push((name.to_owned(), values));
    }
    let count = all.iter().fold(1usize, |n, (_, values)| n.saturating_mul(values.len()));
    if count > MOST {
        return Err(refused(format!("--try: {} are more than {MOST}", counted(count as u64, "setting"))));
    }
    Ok(all)
}

/// All combinations, the last option varied first, each parsed and checked.
fn settings(tried: &[(String, Vec<String>)], typed: &[OsString]) -> anyhow::Result<Vec<Setting>> {
    let mut combinations: Vec<Vec<String>> = vec![vec![]];
    for (_, values) in tried {
        let extended = |before: &Vec<String>| {
            let before = before.clone();
            values.iter().map(move |value| [before.clone(), vec![value.clone()]].concat()).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(extended).collect();
    }
    let rest = without(typed, "--try");
    combinations.into_iter().map(|values| setting(tried, values, &rest)).collect()
}

/// What was typed, without an option and its values.
fn without(typed: &[OsString], flag: &str) -> Vec<OsString> {
    let (mut rest, mut skip) = (vec![], false);
    for arg in typed {
        let joined =
            arg.to_str().and_then(|arg| arg.strip_prefix(flag)).is_some_and(|rest| rest.starts_with('='));
        if !std::mem::take(&mut skip) && !joined {
            match arg == flag {
                true => skip = true,
                false => rest.push(arg.clone()),
            }
        }
    }
    rest
}

fn setting(
    tried: &[(String, Vec<String>)],
    values: Vec<String>,
    rest: &[OsString],
) -> anyhow::Result<Setting> {
    let (mut line, mut data): (Vec<OsString>, _) = (vec![], vec![]);
    for ((name, _), value) in tried.iter().zip(&values) {
        let flag = if name.len() == 1 { format!("-{name}") } else { format!("--{name}") };
        let switch = takes_no_value(name);
        match (switch, value.as_str()) {
            (true, "yes") => line.push(flag.into()),
            (true, "no") => (),
            (true, _) => return Err(refused(format!("--try {name}={value}: expected yes or no"))),
            (false, _) => line.extend([flag.into(), value.into()]),
        }
        if !learns(name) {
            data.push(value.clone());
        }
    }
    line.extend(rest.iter().cloned());
    let whole = [OsString::from("seqoia"), "train".into()].into_iter().chain(line.iter().cloned());
    let matches = crate::whole().try_get_matches_from(whole).unwrap_or_else(|error| habits::exit(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let Command::Train(args) = cli.command else {
        return Err(refused("--try: the command line is not understood; name the command first"));
    };
    let learn = ready(&args, matches.subcommand_matches("train")).map_err(|error| told(&error));
    Ok(Setting { values, data, line, args, learn })
}

/// The options of one setting, checked as far as that goes without data.
pub(crate) fn ready(args: &TrainArgs, matches: Option<&ArgMatches>) -> anyhow::Result<LearnOptions> {
    let data = data_options(args)?;
    let recipe = data.recipe().map(|recipe| &recipe.learn);
    let learn = learn::options(args, matches, recipe, DEFAULT_LEARNER)?;
    learn.check()?;
    chain_options(args)?.check(&learn)?;
    Ok(learn)
}

/// Whether an option says how to learn.
fn learns(name: &str) -> bool {
    let of_group = <crate::flags::LearnArgs as clap::Args>::augment_args(clap::Command::new("learn"));
    let own = of_group.get_arguments().any(|arg| {
        arg.get_long() == Some(name)
            || arg.get_short().is_some_and(|c| name.len() == 1 && name.starts_with(c))
    });
    own || learn::declared(name) || OF_CHAIN.contains(&name)
}

fn takes_no_value(name: &str) -> bool {
    let command = crate::whole();
    let mut options = command.find_subcommand("train").into_iter().flat_map(clap::Command::get_arguments);
    let option = options.find(|arg| arg.get_long() == Some(name));
    option.is_some_and(|arg| !arg.get_action().takes_values())
}

/// Trains on the same data and scores on dev data.
fn on_dev(
    settings: &[Setting],
    group: &[usize],
    stop: &Arc<AtomicBool>,
    best: &Mutex<Best>,
    say: &(dyn Fn(usize, &Outcome) + Sync),
) -> anyhow::Result<Vec<Outcome>> {
    let (data, args) = shared(settings, group)?;
    let set = TrainingSet::read(open_as(args.data.as_deref(), args.label.format)?, &data)?;
    let dev = DevSet::read(open_as(args.run.dev.as_deref(), args.label.format)?, &set)?;
    let wanted = args.run.model.is_some();
    let one = |number: usize, learn: &LearnOptions, chain: ChainOptions| -> seqoia::Result<Outcome> {
        let clock = clock(learn);
        let task = LabelTask::new(&set, Some(&dev)).with_chain(chain);
        let run = Run::new(&task, learn)?;
        let trained = run.run(&mut (), stop)?;
        let seconds = passed(clock);
        let first = trained.scores.first().cloned();
        if let Some(score) = &first
            && trained.ended != Ended::Interrupted
        {
            let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
            let wins = best
                .as_ref()
                .is_none_or(|(i, old, _)| score.beats(old) || (!old.beats(score) && number < *i));
            if wins {
                let file = if wanted { run.model(&trained)? } else { vec![] };
                *best = Some((number, score.clone(), file));
            }
        }
        if trained.ended == Ended::Interrupted {
            return Ok(Outcome::failed("stopped by the user".to_owned()));
        }
        let scores = trained.scores.iter().map(|s| (s.name, s.value, None)).collect();
        Ok(Outcome { scores, first, pass: Some(trained.best_pass), seconds, failed: None })
    };
    side_by_side(settings, group, one, say)
}

/// Trains and scores on each fold in turn.
fn on_folds(
    settings: &[Setting],
    group: &[usize],
    folds: usize,
    stop: &Arc<AtomicBool>,
    say: &(dyn Fn(usize, &Outcome) + Sync),
) -> anyhow::Result<Vec<Outcome>> {
    let (data, args) = shared(settings, group)?;
    let input = open_as(args.data.as_deref(), args.label.format)?;
    let folds = Folds::read(input, &data, folds, |_| Ok(()))?;
    let mut all: Vec<(Vec<_>, f64, Option<String>)> = vec![(vec![], 0.0, None); group.len()];
    for number in 1..=folds.len() {
        let fold = folds.leave_out(number)?;
        let found = Mutex::new(vec![None; group.len()]);
        let one = |i: usize, learn: &LearnOptions, chain: ChainOptions| -> seqoia::Result<Outcome> {
            let clock = clock(learn);
            let scored = fold.score(learn, chain, stop)?;
            let at = group.iter().position(|&g| g == i).unwrap_or(0);
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(scored);
            let seconds = passed(clock);
            Ok(Outcome { scores: vec![], first: None, pass: None, seconds, failed: None })
        };
        let outcomes = side_by_side(settings, group, one, &|_, _| ())?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for ((sum, outcome), scored) in all.iter_mut().zip(outcomes).zip(found) {
            sum.0.extend(scored);
            sum.1 += outcome.seconds;
            sum.2 = sum.2.take().or(outcome.failed);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let mut outcomes = vec![];
    for (&i, (scored, seconds, failed)) in group.iter().zip(all) {
        let summary = mean_and_deviation(&scored);
        let kind = scored.first().and_then(|fold| fold.scores.first().cloned());
        let first = kind.zip(summary.first()).map(|(kind, (_, mean, _))| Score { value: *mean, ..kind });
        let scores = summary.into_iter().map(|(name, mean, off)| (name, mean, Some(off))).collect();
        let first = first.filter(|_| failed.is_none() && scored.len() == folds.len());
        let outcome = Outcome { scores, first, pass: None, seconds, failed };
        say(i, &outcome);
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Data options of a group, and arguments that say where the data is.
fn shared<'a>(settings: &'a [Setting], group: &[usize]) -> anyhow::Result<(DataOptions, &'a TrainArgs)> {
    let first = group.first().map(|&i| &settings[i]).ok_or_else(|| refused("--try: there is no setting"))?;
    Ok((data_options(&first.args)?, &first.args))
}

/// Runs settings on all cores, each on as many threads as are left over for it.
fn side_by_side(
    settings: &[Setting],
    group: &[usize],
    one: impl Fn(usize, &LearnOptions, ChainOptions) -> seqoia::Result<Outcome> + Sync,
    say: &(dyn Fn(usize, &Outcome) + Sync),
) -> anyhow::Result<Vec<Outcome>> {
    let given = group.first().and_then(|&i| settings[i].args.learn.threads);
    let all = threads(given)?;
    let workers = NonZeroUsize::new(all.min(group.len())).unwrap_or(NonZeroUsize::MIN);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; group.len()]));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = group.get(at) else { break };
            let setting = &settings[number];
            let outcome = match &setting.learn {
                Err(why) => Outcome::failed(why.clone()),
                Ok(learn) => {
                    let learn = LearnOptions { threads: all / workers, ..learn.clone() };
                    chain_options(&setting.args)
                        .and_then(|chain| Ok(one(number, &learn, chain)?))
                        .unwrap_or_else(|error| Outcome::failed(told(&error)))
                }
            };
            say(number, &outcome);
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers.get() {
            // Fewer threads give the same results.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(found.into_iter().map(|o| o.unwrap_or_else(|| Outcome::failed("not run".to_owned()))).collect())
}

/// A setting on one thread is that thread's work alone.
fn clock(learn: &LearnOptions) -> Clock {
    Clock::start(if learn.threads == 1 { Work::Thread } else { Work::Process })
}

fn passed(clock: Clock) -> f64 {
    let (wall, cpu) = clock.passed();
    cpu.unwrap_or(wall)
}

/// The first of the best.
fn winner(outcomes: &[Outcome]) -> Option<usize> {
    let mut best: Option<(usize, &Score)> = None;
    for (i, outcome) in outcomes.iter().enumerate() {
        if let Some(score) = outcome.first.as_ref().filter(|_| outcome.failed.is_none())
            && best.is_none_or(|(_, old)| score.beats(old))
        {
            best = Some((i, score));
        }
    }
    best.map(|(i, _)| i)
}

fn named(tried: &[(String, Vec<String>)], values: &[String]) -> String {
    let pairs = tried.iter().zip(values).map(|((name, _), value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

fn table(
    tried: &[(String, Vec<String>)],
    settings: &[Setting],
    outcomes: &[Outcome],
    winner: Option<usize>,
) -> Table {
    let names: Vec<&str> =
        outcomes.iter().flat_map(|o| &o.scores).map(|s| s.0).fold(vec![], |mut all, name| {
            if !all.contains(&name) {
                all.push(name);
            }
            all
        });
    let folds = outcomes.iter().flat_map(|o| &o.scores).any(|s| s.2.is_some());
    let mut table = Table::new().names("", 2);
    for (name, _) in tried {
        table = table.names(name, 10);
    }
    for name in &names {
        table = table.numbers(name, 10);
    }
    if folds {
        table = table.numbers("deviation", 10);
    } else {
        table = table.numbers("pass", 6);
    }
    table = table.numbers("CPU s", 8);
    for (i, (setting, outcome)) in settings.iter().zip(outcomes).enumerate() {
        let score = |name: &&str| {
            outcome.scores.iter().find(|s| s.0 == *name).map_or(String::new(), |s| format!("{:.2}", s.1))
        };
        let fourth = match folds {
            true => outcome.scores.first().and_then(|s| s.2).map(|off| format!("{off:.2}")),
            false => outcome.pass.map(|pass| pass.to_string()),
        };
        let mark = if winner == Some(i) { "*" } else { "" };
        let row = [mark.to_owned()].into_iter().chain(setting.values.iter().cloned());
        let row = row.chain(names.iter().map(score)).chain([fourth.unwrap_or_default()]);
        let seconds = if outcome.seconds > 0.0 { format!("{:.1}", outcome.seconds) } else { String::new() };
        let seconds = if outcome.failed.is_some() { "failed".to_owned() } else { seconds };
        table.row(row.chain([seconds]));
    }
    table
}

fn records(
    tried: &[(String, Vec<String>)],
    settings: &[Setting],
    outcomes: &[Outcome],
    winner: Option<usize>,
) -> String {
    let one = |(setting, outcome): (&Setting, &Outcome)| {
        let values: serde_json::Map<_, _> = tried
            .iter()
            .zip(&setting.values)
            .map(|((name, _), value)| (name.clone(), json!(value)))
            .collect();
        let of = |pick: fn(&Scored) -> Option<f64>| -> serde_json::Map<_, _> {
            let picked = outcome.scores.iter().filter_map(|s| Some((s.0.to_owned(), json!(pick(s)?))));
            picked.collect()
        };
        json!({
            "event": "setting",
            "values": values,
            "scores": of(|s| Some(s.1)),
            "deviation": of(|s| s.2),
            "best_pass": outcome.pass,
            "cpu_seconds": outcome.seconds,
            "failed": outcome.failed,
            "command": setting.command(),
        })
    };
    let end = json!({ "event": "end", "best": winner.map(|i| i + 1), "settings": settings.len() });
    let lines = settings.iter().zip(outcomes).map(one).chain([end]);
    lines.map(|record| format!("{record}\n")).collect()
}

/// Words as a shell takes them.
fn shell(words: &[OsString]) -> String {
    let quoted = |word: &OsString| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
        match !word.is_empty() && word.chars().all(plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_was_typed_stays_but_for_what_is_tried() {
        let typed = words(&["-q", "--try", "rate=1,2", "-t", "a b", "--try=passes=3", "x.txt"]);
        assert_eq!(without(&typed, "--try"), words(&["-q", "-t", "a b", "x.txt"]));
        assert_eq!(shell(&without(&typed, "--try")), "-q -t 'a b' x.txt");
        assert_eq!(shell(&words(&["it's", "", "1/n"])), "'it'\\''s' '' 1/n");
    }

    #[test]
    fn options_know_whether_they_learn() {
        for name in ["rate", "passes", "l2", "C", "learner", "batch-size", "beam", "seed"] {
            assert!(learns(name), "{name}");
        }
        for name in ["cutoff", "features", "scheme", "pairs", "t"] {
            assert!(!learns(name), "{name}");
        }
    }
}
