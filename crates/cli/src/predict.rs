//! `seqoia predict`.

use std::io::{BufWriter, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use seqoia::{Error, Labeller, Output, PredictOptions, predict};
use seqoia_report::counted;

use crate::flags::{PredictArgs, open, threads};
use crate::screen;

pub(crate) fn run(args: &PredictArgs) -> anyhow::Result<ExitCode> {
    if args.nbest == Some(0) {
        return Err(Error::Option("--nbest 0: at least one labelling is needed".to_owned()).into());
    }
    let output = match (args.json, args.marginals, args.nbest) {
        (true, marginals, nbest) => Output::Json { marginals, nbest: nbest.unwrap_or(1) },
        (false, true, _) => Output::Marginals,
        (false, false, Some(k)) => Output::NBest(k),
        (false, false, None) => Output::Text,
    };
    let threads = threads(args.threads)?;
    let labeller = Arc::new(Labeller::open(&args.model)?);
    let learner = labeller.meta().training.get("learner").cloned().unwrap_or_default();
    let wants_probabilities = args.marginals || args.nbest.is_some();
    if wants_probabilities && learner.contains("perceptron") && !args.quiet {
        screen::warning(&format!(
            "{}: trained by {learner}, whose scores are no calibrated probabilities",
            args.model.display()
        ));
    }
    let input = open(args.data.as_deref())?;
    // Someone at a terminal waits for each sentence.
    let eager = args.data.as_ref().is_some_and(|d| d.as_os_str() == "-") && std::io::stdin().is_terminal();
    let started = Instant::now();
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let done =
        predict(&labeller, input, PredictOptions { output, threads, eager, format: args.format }, &mut out)?;
    drop(out);
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
