//! "at most" is an upper bound, also where one sentence or one word is most of the data, and for a run that goes on.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use wait4::Wait4 as _;

/// What a run said and what it took, in bytes.
fn train(folder: &Path, args: &str) -> (f64, f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqoia"));
    command.args(["train", "--threads", "2", "-t", "template", "-m", "m"]).args(args.split(' '));
    let log = folder.join("log.jsonl");
    let mut child = command.args(["-q", "--log"]).arg(&log).current_dir(folder).spawn().unwrap();
    let used = child.wait4().unwrap();
    assert!(used.status.success(), "{args}");
    let first = std::fs::read_to_string(&log).unwrap().lines().next().unwrap().to_owned();
    let record: serde_json::Value = serde_json::from_str(&first).unwrap();
    #[allow(clippy::cast_precision_loss)] // compared roughly
    (record["memory"].as_f64().unwrap(), used.rusage.maxrss as f64)
}

/// Files are written piece by piece: a child is said to have taken at least as much as the process that started it.
fn write(folder: &Path, name: &str, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let mut out = BufWriter::new(std::fs::File::create(folder.join(name)).unwrap());
    fill(&mut out).unwrap();
    out.flush().unwrap();
}

/// `word label` in sentences of this length; words are numbers, padded to a width.
fn columns(folder: &Path, name: &str, tokens: u32, sentence: u32, width: usize, words: u32) {
    write(folder, name, |out| {
        for i in 0..tokens {
            let word = i.wrapping_mul(2_654_435_761) % words;
            writeln!(out, "{word:0width$} L{}", i.wrapping_mul(40_503) / 7 % 5)?;
            if (i + 1) % sentence == 0 {
                writeln!(out)?;
            }
        }
        Ok(())
    });
}

fn json(folder: &Path, name: &str, lines: u32, tokens: u32) {
    write(folder, name, |out| {
        for _ in 0..lines {
            let comma = |i: u32| if i == 0 { "" } else { "," };
            write!(out, "{{\"tokens\":[")?;
            (0..tokens)
                .try_for_each(|i| write!(out, "{}\"{}\"", comma(i), i.wrapping_mul(2_654_435_761) % 500))?;
            write!(out, "],\"labels\":[")?;
            (0..tokens).try_for_each(|i| write!(out, "{}\"L{}\"", comma(i), i % 5))?;
            writeln!(out, "]}}")?;
        }
        Ok(())
    });
}

#[test]
fn at_most_is_an_upper_bound() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "template", |out| writeln!(out, "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nB"));
    columns(folder, "small.txt", 3000, 10, 1, 500);
    columns(folder, "long.txt", 300_000, 300_000, 1, 500);
    json(folder, "small.jsonl", 300, 10);
    json(folder, "long.jsonl", 1, 300_000);
    columns(folder, "words.txt", 1000, 10, 20_000, 1_000_000);
    columns(folder, "many.txt", 20_000, 10, 1, 1_000_000);
    write(folder, "word.txt", |out| {
        write!(out, "a X\nb Y\n\n")?;
        (0..30 << 10).try_for_each(|_| out.write_all(&[b'x'; 1 << 10]))?;
        writeln!(out, " X\nc Y\n")
    });
    let quick = "--learner averaged-perceptron --passes 1";
    let history = "--learner lbfgs --history 200";
    for args in [
        format!("{quick} --dev long.txt small.txt"),
        format!("{quick} --dev long.jsonl small.jsonl"),
        format!("{quick} long.txt"),
        format!("{quick} words.txt"),
        format!("{quick} word.txt"),
        "--learner sgd --passes 1 words.txt".to_owned(),
        format!("{history} --max-passes 40 --checkpoint ck --checkpoint-every 40 many.txt"),
        format!("{history} --max-passes 41 --resume ck many.txt"),
    ] {
        let (said, taken) = train(folder, &args);
        eprintln!("{args}: said {:.1} MB, took {:.1} MB", said / 1e6, taken / 1e6);
        assert!(taken <= said, "{args}: said {:.1} MB, took {:.1} MB", said / 1e6, taken / 1e6);
    }
}
