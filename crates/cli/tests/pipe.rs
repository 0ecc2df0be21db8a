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
