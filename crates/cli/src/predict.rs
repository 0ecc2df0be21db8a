//! `seqoia predict`.

use std::io::{BufWriter, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use seqoia::data::format::Kind;
use seqoia::label::{Labelled, Output, PredictOptions, Seen, predict};
use seqoia::{Error, Head, Labeller, Model};
use seqoia_report::{Counted, MOST_SENTENCES, Shown, bytes, counted, labelled_page};

use crate::flagged::flagged;
use crate::flags::{PredictArgs, open_as, refused, threads};
use crate::{inputs, rerank, screen, targets};

/// More labellings of a sentence are nobody's question, and memory is lost in them.
const MOST_LABELLINGS: usize = 10_000;

pub(crate) fn run(args: &PredictArgs) -> anyhow::Result<ExitCode> {
    if args.nbest == Some(0) {
        return Err(refused("--nbest 0: at least one labelling is needed"));
    }
    if args.nbest.is_some_and(|k| k > MOST_LABELLINGS) {
        let what = format!("--nbest: at most {MOST_LABELLINGS} labellings, all of which are held in memory");
        return Err(refused(what));
    }
    let output = match (args.json, args.marginals, args.nbest) {
        (true, marginals, nbest) => Output::Json { marginals, nbest: nbest.unwrap_or(1) },
        (false, true, _) => Output::Marginals,
        (false, false, Some(k)) => Output::NBest(k),
        (false, false, None) => Output::Text,
    };
    let threads = threads(args.threads)?;
    if let Some(page) = &args.html {
        let data = args.data.iter().map(|file| ("the data", file.as_path()));
        let read: Vec<_> = data.chain([("-m", args.model.as_path())]).collect();
        targets::apart(&[("--html", page)], &read)?;
    }
    let model = Model::open(&args.model)?;
    if (args.marginals || args.nbest.is_some() || args.html.is_some()) && !args.quiet {
        warn_of_probabilities(model.head(), &args.model);
    }
    match model {
        Model::Labeller(labeller) => label(args, labeller, output, threads),
        Model::Reranker(reranker) => rerank::predict(args, &reranker),
    }
}

fn label(
    args: &PredictArgs,
    mut labeller: Labeller,
    output: Output,
    threads: usize,
) -> anyhow::Result<ExitCode> {
    if let Some(rules) = &args.rules {
        labeller = labeller.with_rules(&inputs::rules(rules)?, &args.model.display().to_string())?;
    }
    let input = open_as(args.data.as_deref(), args.format)?;
    // Someone at a terminal waits for each sentence.
    let typed = args.data.as_ref().is_some_and(|d| d.as_os_str() == "-") && std::io::stdin().is_terminal();
    let eager = args.flush || typed;
    let lines = args.format.unwrap_or_else(|| labeller.kind()) == Kind::Jsonl; // a line may stand alone anyway
    if args.flush && labeller.reads_documents() && !lines && !args.quiet {
        screen::warning(
            "--flush: each sentence stands alone, though the model looks at the whole document; without --flush some \
             labels may differ",
        );
    }
    let started = Instant::now();
    let mut out = BufWriter::with_capacity(1 << 16, screen::output()?);
    let (name, look) = (input.name.clone(), args.html.as_ref().map_or(0, |_| MOST_SENTENCES));
    let given = args.given.clone();
    let options = PredictOptions { output, threads, eager, format: args.format, given, look };
    let done = match predict(&labeller, input, &options, &mut out) {
        Err(Error::Closed) if args.html.is_some() => {
            let what = "standard output was closed before all was labelled, so there is no page";
            return Err(Error::Output(what.to_owned()).into());
        }
        done => done?,
    };
    drop(out);
    if !args.quiet {
        done.doubts.iter().for_each(|doubt| screen::warning(&flagged(doubt)));
    }
    if let Some(file) = &args.html {
        write_page(file, &name, args, &done)?;
    }
    if !args.quiet && std::io::stderr().is_terminal() {
        let seconds = started.elapsed().as_secs_f64();
        screen::note(&format!(
            "{}, {} in {seconds:.2} s",
            counted(done.sentences, "sentence"),
            counted(done.tokens, "token")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The text with its labels.
fn write_page(file: &Path, name: &str, args: &PredictArgs, done: &Labelled) -> seqoia::Result<()> {
    let sentences: Vec<Vec<Shown>> =
        done.seen.iter().map(|sentence| sentence.iter().map(show).collect()).collect();
    let gold =
        done.against.as_ref().map(|a| Counted { labels: a.labels, errors: a.errors, sentences: a.sentences });
    let page = labelled_page(name, &args.model.display().to_string(), &sentences, done.sentences, gold);
    seqoia::write_atomically(file, page.as_bytes())?;
    if !args.quiet {
        screen::note(&format!("     wrote  {}   {}", file.display(), bytes(page.len() as u64)));
    }
    Ok(())
}

fn show(token: &Seen) -> Shown<'_> {
    let Seen { word, label, gold, line, probabilities } = token;
    Shown { word, label, gold: gold.as_deref(), line: Some(*line), probabilities }
}

/// Not every learner makes scores whose exponentials are probabilities.
pub(crate) fn warn_of_probabilities(head: &Head, model: &Path) {
    if head.calibrated {
        return;
    }
    let learner = head.training.get("learner").map_or("another program", String::as_str);
    screen::warning(&format!(
        "{}: trained by {learner}, whose scores are not calibrated probabilities",
        model.display()
    ));
}
