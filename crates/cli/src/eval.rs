//! `seqoia eval`.

use std::path::Path;
use std::process::ExitCode;

use seqoia::data::format::Kind;
use seqoia::data::open::Input;
use seqoia::eval::{self, ByKnown, FEWEST, Interval, Scored, Unit, confusions, interval, tallies};
use seqoia::score::{self, Evaluated, Trials};
use seqoia::{Error, LabelColumn};
use seqoia_report::{Compared, Evaluation, bytes, segmentation_table};
use serde_json::{Value, json};

use crate::flags::{CountOrFile, EvalArgs, MetricName, open, refused};
use crate::{rerank, screen, targets};

/// How many lines a confusion names.
const LINES: usize = 5;

/// How many labels are shown, unless `--all` is given.
const LABELS: usize = 20;

/// How many confusions `--errors` lists, unless it says so.
const CONFUSIONS: usize = 10;

/// How many confusions a page lists unless `--errors` says so.
const ON_PAGE: usize = 20;

/// Swaps for the test, unless `--shuffles` says so: p has three digits then.
const SHUFFLES: usize = 9999;

/// Draws for an interval, unless `--bootstrap` says so.
const RESAMPLES: usize = 1000;

/// More trials than this change no digit that is shown.
const MOST_TRIALS: usize = 1_000_000;

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<ExitCode> {
    let args = &Given::new(args)?;
    check(args)?;
    match (args.metric, args.compare.as_slice()) {
        (Some(MetricName::Cost), _) => rerank::eval(args, args.data),
        (None, []) if rerank::is_asked_for(args)? => rerank::eval(args, args.data),
        (Some(MetricName::Sighan), _) => segmentation(args),
        (None, [first, second]) => systems(args, first, second),
        (None, _) if args.conlleval => conlleval(args),
        (None, _) => labels(args),
    }
}

/// The options, with numbers that were left out put in.
struct Given<'a> {
    args: &'a EvalArgs,
    data: Option<&'a Path>,
    errors: Option<usize>,
    bootstrap: Option<usize>,
}

impl<'a> Given<'a> {
    /// `--errors out.txt` has no number and names the data.
    fn new(args: &'a EvalArgs) -> anyhow::Result<Self> {
        let mut data = args.data.as_deref();
        let mut count = |flag: &str, given: &'a Option<CountOrFile>, default| match given {
            None => Ok(None),
            Some(CountOrFile::Count(n)) => Ok(Some(*n)),
            Some(CountOrFile::File(file)) if data.is_none() && args.compare.is_empty() => {
                data = Some(file);
                Ok(Some(default))
            }
            Some(CountOrFile::File(file)) => {
                Err(refused(format!("{flag} {}: expected a whole number", file.display())))
            }
        };
        let errors = count("--errors", &args.errors, CONFUSIONS)?;
        let bootstrap = count("--bootstrap", &args.bootstrap, RESAMPLES)?;
        Ok(Given { args, data, errors, bootstrap })
    }
}

impl std::ops::Deref for Given<'_> {
    type Target = EvalArgs;

    fn deref(&self) -> &EvalArgs {
        self.args
    }
}

/// Refuses what does not go together beyond what clap can say.
fn check(args: &Given) -> anyhow::Result<()> {
    let counts = [
        ("--errors", args.errors, 1),
        ("--bootstrap", args.bootstrap, FEWEST),
        ("--shuffles", args.shuffles, 1),
    ];
    for (flag, given, least) in counts {
        if given.is_some_and(|n| !(least..=MOST_TRIALS).contains(&n)) {
            let n = given.unwrap_or_default();
            let range = format!("expected a whole number from {least} to {MOST_TRIALS}");
            return Err(refused(format!("{flag} {n}: {range}")));
        }
    }
    if args.seed.is_some() && args.bootstrap.is_none() && args.compare.is_empty() {
        let why = "nothing here is random; it goes with --bootstrap and --compare";
        return Err(refused(format!("--seed: {why}")));
    }
    if args.conlleval && args.gold.is_none() && args.format.is_some_and(|kind| kind != Kind::Columns) {
        let what = "--format: conlleval knows columns alone; name the right labels with --gold FILE";
        return Err(refused(what));
    }
    if args.metric.is_some() && args.gold.is_none() {
        let what = "name the right segmentation, or the lists, with --gold FILE";
        return Err(refused(format!("--metric: {what}")));
    }
    let names = ["the first file of --compare", "the second"];
    let compared = names.into_iter().zip(args.compare.iter().map(|file| file.as_path()));
    let data = args.data.or(args.compare.is_empty().then_some(Path::new("-")));
    let read = [
        ("--gold", args.gold.as_deref()),
        ("--train", args.train.as_deref()),
        ("--words", args.words.as_deref()),
        ("the data", data),
    ];
    let read: Vec<_> =
        read.into_iter().filter_map(|(flag, file)| Some((flag, file?))).chain(compared).collect();
    targets::one_reader(&read)?;
    let written = args.html.iter().map(|file| ("--html", file.as_path()));
    targets::apart(&written.collect::<Vec<_>>(), &read)
}

/// What conlleval prints. It knows no schemes, so labels of one file are taken as they are.
fn conlleval(args: &Given) -> anyhow::Result<ExitCode> {
    let data = open(args.data)?;
    let scored = if args.gold.is_some() {
        let Evaluated { scored, unit, sentences } = against_gold(args, data)?;
        // Labels that are no chunks are counted, too.
        if unit == Unit::Tokens { Scored::of(&sentences, Unit::Chunks) } else { scored }
    } else {
        let (name, text) = score::text(data)?;
        score::one_labelling(&name, &text)?;
        let options = seqoia::eval::Options { raw: args.raw, ..seqoia::eval::Options::default() };
        seqoia::eval::score(text.as_slice(), &name, &options).map_err(Error::from)?
    };
    screen::shown(&scored.spans.conlleval())?;
    Ok(ExitCode::SUCCESS)
}

/// The labels of a file scored against those of `--gold`.
fn against_gold(args: &Given, data: Input) -> anyhow::Result<Evaluated> {
    let evaluated = score::compare(open(args.gold.as_deref())?, data, args.format, &label(args)?)?;
    Ok(if args.raw { evaluated.raw() } else { evaluated })
}

/// The column of the label.
fn label(args: &Given) -> anyhow::Result<LabelColumn> {
    let label = args.label.as_deref().map_or(Ok(LabelColumn::Last), LabelColumn::parse);
    Ok(label?)
}

/// Labels of one file, and a closer look at them.
fn labels(args: &Given) -> anyhow::Result<ExitCode> {
    let data = open(args.data)?;
    let name = data.name.clone();
    let evaluated = if args.gold.is_some() {
        against_gold(args, data)?
    } else {
        score::last_two_of(data, args.format, args.raw)?
    };
    let Evaluated { scored, unit, sentences } = &evaluated;
    if args.gold.is_none() && scored.accuracy.token_counts().1 == 0 {
        screen::warning(&format!("{name}: the last two columns never agree; is this what predict wrote?"));
    }
    let known = args.train.as_deref().map(|file| by_known(args, file, &name, &evaluated)).transpose()?;
    let seed = args.seed.unwrap_or(1);
    let interval = args.bootstrap.map(|n| interval(&tallies(sentences, *unit), n, seed));
    let all = confusions(sentences, LINES);
    let shown = |most: usize| &all[..all.len().min(most)];
    let train = args.train.as_deref().map(|file| file.display().to_string()).unwrap_or_default();
    let by_label = if unit.is_chunks() { vec![] } else { eval::labels(sentences) };
    let look = Evaluation {
        name: &name,
        scored,
        unit: *unit,
        labels: &by_label,
        most_labels: if args.all { usize::MAX } else { LABELS },
        others: "; --all shows them",
        known: known.as_ref().map(|known| (train.as_str(), known)),
        interval,
        confusions: args.errors.map(shown),
        all_confusions: all.len(),
    };
    if args.json {
        let mut record = figures(&evaluated)?;
        if !unit.is_chunks() {
            record["labels"] = serde_json::to_value(&by_label)?;
        }
        if let Some(ByKnown { known, unknown }) = &known {
            record["known_words"] = serde_json::to_value(known)?;
            record["unknown_words"] = serde_json::to_value(unknown)?;
        }
        if let Some(interval) = interval {
            record["interval"] = in_json(interval)?;
        }
        if let Some(confusions) = look.confusions {
            record["confusions"] = serde_json::to_value(confusions)?;
        }
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::shown(&look.text())?;
    }
    if let Some(file) = &args.html {
        let page = Evaluation { confusions: Some(shown(args.errors.unwrap_or(ON_PAGE))), ..look };
        let page = page.html(sentences);
        seqoia::write_atomically(file, page.as_bytes()).map_err(Error::from)?;
        screen::note(&format!("\n     wrote  {}   {}", file.display(), bytes(page.len() as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Known and unknown words by the training data.
fn by_known(args: &Given, train: &Path, name: &str, evaluated: &Evaluated) -> anyhow::Result<ByKnown> {
    let Evaluated { unit, sentences, .. } = evaluated;
    if sentences.iter().flat_map(|s| &s.tokens).all(|token| token.word.is_empty()) {
        let why = match args.gold {
            None => format!("{name} has two columns, the labels; the word is wanted as its first column"),
            Some(_) => format!("{name} has no words"),
        };
        return Err(Error::Mismatch(format!("--train: {why}")).into());
    }
    let words = score::words_of_data(open(Some(train))?, args.format, &label(args)?)?;
    Ok(ByKnown::of(sentences, *unit, |word| words.contains(word)))
}

/// All scores: those of chunks, if the labels are such.
fn figures(evaluated: &Evaluated) -> anyhow::Result<Value> {
    let Evaluated { scored, unit, .. } = evaluated;
    let spans = if unit.is_chunks() { serde_json::to_value(&scored.spans)? } else { json!({}) };
    let mut record = serde_json::to_value(&scored.accuracy)?;
    if let (Some(to), Some(from)) = (record.as_object_mut(), spans.as_object()) {
        to.extend(from.clone());
        to.entry("accuracy").or_insert_with(|| scored.accuracy.tokens().into());
    }
    Ok(record)
}

fn in_json(interval: Interval) -> anyhow::Result<Value> {
    let mut record = serde_json::to_value(interval)?;
    record["level"] = 95.into();
    Ok(record)
}

/// Two systems that labelled the same data.
fn systems(args: &Given, first: &Path, second: &Path) -> anyhow::Result<ExitCode> {
    let trials = Trials {
        resamples: args.bootstrap.unwrap_or(RESAMPLES),
        shuffles: args.shuffles.unwrap_or(SHUFFLES),
        seed: args.seed.unwrap_or(1),
    };
    let files = [open(Some(first))?, open(Some(second))?];
    let found = match &args.gold {
        None => score::systems(files, args.format, args.raw, trials)?,
        Some(gold) => {
            let how = (args.format, &label(args)?);
            score::systems_against(open(Some(gold))?, files, how, args.raw, trials)?
        }
    };
    let [a, b] = &found.systems;
    let compared = Compared {
        names: [&found.names[0], &found.names[1]],
        scored: [&a.scored, &b.scored],
        unit: a.unit,
        difference: found.difference,
        interval: found.interval,
        significance: found.significance,
    };
    if args.json {
        let mut systems = vec![];
        for (name, system) in found.names.iter().zip([a, b]) {
            let mut record = figures(system)?;
            record["name"] = name.as_str().into();
            systems.push(record);
        }
        let record = json!({
            "systems": systems,
            "metric": if a.unit.is_chunks() { "f1" } else { "accuracy" },
            "difference": found.difference,
            "interval": in_json(found.interval)?,
            "significance": serde_json::to_value(found.significance)?,
            "verdict": compared.verdict(),
        });
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::shown(&compared.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Words of a text, as the SIGHAN bakeoffs score them.
fn segmentation(args: &Given) -> anyhow::Result<ExitCode> {
    let words = args.words.as_deref().map(|file| open(Some(file))).transpose()?;
    let (gold, found) = (open(args.gold.as_deref())?, open(args.data)?);
    let scores = score::segmentation(gold, found, words)?;
    let interval = args.bootstrap.map(|n| interval(&scores.lines, n, args.seed.unwrap_or(1)));
    if args.json {
        let mut record = serde_json::to_value(&scores)?;
        if let Some(Interval { low, high, resamples, seed }) = interval {
            // Fractions, as all figures of this metric.
            let (low, high) = (low / 100.0, high / 100.0);
            record["interval"] = in_json(Interval { low, high, resamples, seed })?;
        }
        screen::result(&format!("{record}\n"))?;
    } else {
        screen::shown(&segmentation_table(&scores, interval.as_ref()))?;
    }
    Ok(ExitCode::SUCCESS)
}
