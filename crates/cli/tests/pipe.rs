//! Who waits at the other end of a pipe gets each answer before the next question, and who leaves it takes nothing
//! along.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn an_answer_comes_before_the_next_question() {
    let folder = tempfile::tempdir().unwrap();
    let seqoia = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqoia"));
        command.args(args).current_dir(folder.path());
        command
    };
    std::fs::write(folder.path().join("t.jsonl"), "{\"tokens\":[\"a\",\"b\"],\"labels\":[\"X\",\"Y\"]}\n")
        .unwrap();
    let train = ["train", "-q", "--features", "pos", "--learner", "perceptron", "-m", "m", "t.jsonl"];
    assert!(seqoia(&train).status().unwrap().success());
    let mut run = seqoia(&["predict", "--flush", "-m", "m"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut questions, answers) = (run.stdin.take().unwrap(), BufReader::new(run.stdout.take().unwrap()));
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || answers.lines().try_for_each(|line| send.send(line.unwrap())));
    // Also of nothing, though it says nothing about the format.
    for (words, labels) in
        [("", "[]"), ("", "[]"), ("\"a\"", "[\"X\"]"), ("", "[]"), ("\"a\"", "[\"X\"]"), ("\"b\"", "[\"Y\"]")]
    {
        writeln!(questions, "{{\"tokens\":[{words}]}}").unwrap();
        questions.flush().unwrap();
        let answer = receive.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(answer, format!("{{\"tokens\":[{words}],\"labels\":{labels}}}"));
    }
    drop(questions);
    assert!(run.wait().unwrap().success());
}

/// Rows that start a document are answered too, before the first token as well as behind it, as without `--flush`;
/// and one sentence at a time is work for one thread.
#[test]
fn a_document_that_starts_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let seqoia = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqoia"));
        command.args(args).current_dir(folder.path());
        command
    };
    let data =
        "-DOCSTART- -X- O\n\nRome NNP I-LOC\nwon VBD O\n\n-DOCSTART- -X- O\n\nThey PRP O\nwon VBD O\n\n";
    std::fs::write(folder.path().join("t.txt"), data).unwrap();
    let train = ["train", "-q", "--features", "ner", "--learner", "perceptron", "-m", "m", "t.txt"];
    assert!(seqoia(&train).status().unwrap().success());
    for (args, data) in [
        (&[][..], data),
        (&["--marginals"], data),
        (&[], "-DOCSTART- -X-\n\n-DOCSTART- -X-\n\nRome NNP\n\n"),
        (&[], "-DOCSTART-\n\n-DOCSTART-\n\nRome NNP\n\n"),
        (&[], "-DOCSTART-\tO\n\nRome\tNNP\n\n"),
    ] {
        let args = [&["predict", "-q", "--threads", "3", "-m", "m"], args].concat();
        std::fs::write(folder.path().join("p.txt"), data).unwrap();
        let whole = seqoia(&[&args[..], &["p.txt"]].concat()).output().unwrap();
        let whole = String::from_utf8(whole.stdout).unwrap();
        let mut run = seqoia(&[&args[..], &["--flush"]].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut questions, answers) =
            (run.stdin.take().unwrap(), BufReader::new(run.stdout.take().unwrap()));
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || answers.lines().try_for_each(|line| send.send(line.unwrap())));
        let mut answers = whole.lines();
        for sentence in data.split_inclusive("\n\n") {
            questions.write_all(sentence.as_bytes()).unwrap();
            questions.flush().unwrap();
            for _ in sentence.lines() {
                assert_eq!(receive.recv_timeout(Duration::from_secs(60)).unwrap(), answers.next().unwrap());
            }
        }
        if let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", run.id())) {
            assert_eq!(threads.count(), 1);
        }
        drop(questions);
        assert!(run.wait().unwrap().success());
    }
}

#[test]
fn who_leaves_takes_no_model_along() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.txt"), "a X\nb Y\n\n").unwrap();
    let args = ["train", "-q", "--features", "pos", "--learner", "perceptron", "--json", "-m", "m", "t.txt"];
    let mut run = Command::new(env!("CARGO_BIN_EXE_seqoia"))
        .args(args)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(run.stdout.take());
    assert!(run.wait().unwrap().success());
    assert!(folder.path().join("m").exists());
}
