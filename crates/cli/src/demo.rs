//! `seqoia demo`: the main job on data that the program makes itself.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use seqoia::data::generate;
use seqoia::label::{Output, PredictOptions, predict};
use seqoia::{DataOptions, Error, LabelTask, Labeller, LearnOptions, Run, TrainingSet, score};
use seqoia_report::{bytes, counted, score_table};

use crate::flags::{DemoArgs, threads};
use crate::screen;

/// Words and parts of speech in a window, as for CoNLL-2000; the entity column is not looked at.
const TEMPLATE: &str = "\
# words, then parts of speech, then both
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
# label pairs
B
";
const TEST_SENTENCES: usize = 500;

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let threads = threads(args.threads)?;
    let train = generate::columns(args.seed, args.sentences.max(1));
    let test = generate::columns(args.seed.wrapping_add(1), TEST_SENTENCES);
    let started = Instant::now();
    let mut data = DataOptions::default();
    data.features.templates.push(("template.crfpp".to_owned(), TEMPLATE.to_owned()));
    let set = TrainingSet::read(seqoia::input_from_text("train.txt", &train)?, &data)?;
    let learner = seqoia::learners::find("adagrad")?;
    let mut options = LearnOptions::new(learner, learner.defaults());
    options.threads = threads;
    let task = LabelTask::new(&set, None);
    let run = Run::new(&task, &options)?;
    let trained = run.run(&mut (), &Arc::default())?;
    let model = run.model(&trained)?;
    let seconds = started.elapsed().as_secs_f64();
    if let Some(folder) = &args.save {
        // Before anything is printed: `| head` may close the output.
        save(folder, &[("train.txt", train.as_bytes()), ("test.txt", test.as_bytes())])?;
        save(folder, &[("template.crfpp", TEMPLATE.as_bytes()), ("demo.seqoia", &model)])?;
    }
    let mut say = String::new();
    say.push_str("Generated English (word, part of speech, entity, chunk), the first lines:\n\n");
    train.lines().take(8).for_each(|line| say.push_str(&format!("    {line}\n")));
    screen::result(&say)?;
    screen::result(&format!(
        "\nTrained by adagrad on {}, {}, {}: {} in {:.2} s, a model of {}.\n",
        counted(set.corpus.len() as u64, "sentence"),
        counted(set.counts.tokens as u64, "token"),
        counted(set.labels.len() as u64, "label"),
        counted(set.space.existing() as u64, "weight"),
        seconds,
        bytes(model.len() as u64)
    ))?;

    let labeller = Labeller::from_bytes("demo.seqoia", &model)?;
    let label = |text: &str, output: Output| -> seqoia::Result<Vec<u8>> {
        let mut out = vec![];
        let options = PredictOptions::new(output, threads);
        predict(&labeller, seqoia::input_from_text("test.txt", text)?, &options, &mut out)?;
        Ok(out)
    };
    let found = label(&test, Output::Text)?;
    let evaluated = score::last_two("test.txt", &found, false)?;
    screen::result(&format!(
        "\nScored on {TEST_SENTENCES} other sentences:\n\n{}",
        score_table(&evaluated.scored, evaluated.unit.is_chunks())
    ))?;
    let sentence = short_sentence(&test);
    let labelled = String::from_utf8_lossy(&label(sentence, Output::Marginals)?).into_owned();
    screen::result("\nOne of them, with the predicted chunk and its probability in the last columns:\n\n")?;
    for line in labelled.lines().filter(|l| !l.is_empty()) {
        let fields: Vec<&str> = line.split(' ').collect();
        if let [word, pos, entity, gold, found, probability] = fields[..] {
            let wrong = if gold == found { "" } else { "   <- " };
            let p: f64 = probability.parse().unwrap_or(0.0);
            let row = format!("    {word:<16} {pos:<5} {entity:<7} {gold:<7} {found:<7} {p:.3}{wrong}");
            screen::result(&format!("{}\n", row.trim_end()))?;
        }
    }
    match &args.save {
        Some(folder) => {
            let f = folder.display();
            screen::result(&format!(
                "\nTry next:\n  seqoia train -t {f}/template.crfpp --dev {f}/test.txt -m {f}/chunk.seqoia {f}/train.txt\n  \
                 seqoia predict -m {f}/chunk.seqoia {f}/test.txt | seqoia eval\n"
            ))?;
        }
        None => screen::result(
            "\nTry next:\n  seqoia demo --save demo      write these files, and train on them yourself\n  \
             seqoia train --help          all that can be chosen\n",
        )?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The first sentence of 8 to 12 tokens.
fn short_sentence(text: &str) -> &str {
    let fits = |s: &&str| (8..=12).contains(&s.lines().count());
    text.split_inclusive("\n\n").find(fits).unwrap_or(text)
}

/// Writes what `demo --save` writes, but for the model.
pub(crate) fn save_files(folder: &Path) -> anyhow::Result<()> {
    const SENTENCES: usize = 2_000;
    let (train, test) = (generate::columns(1, SENTENCES), generate::columns(2, TEST_SENTENCES));
    let files = [("train.txt", train.as_bytes()), ("test.txt", test.as_bytes())];
    save(folder, &[files[0], files[1], ("template.crfpp", TEMPLATE.as_bytes())])
}

fn save(folder: &Path, files: &[(&str, &[u8])]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    for (name, bytes) in files {
        seqoia::write_atomically(&folder.join(name), bytes).map_err(Error::from)?;
    }
    Ok(())
}
