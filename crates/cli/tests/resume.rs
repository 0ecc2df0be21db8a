//! A run that is killed, without any chance to tidy up, goes on from its checkpoint, and leaves whole files:
//! those of before or of now, never half of one.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use seqoia_testkit::processes::heeding;

fn seqoia(folder: &Path, args: &str) -> Command {
    let mut command = heeding(env!("CARGO_BIN_EXE_seqoia"));
    command.args(args.split(' ')).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

#[test]
fn killed_and_resumed_is_not_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(seqoia(folder, "demo --sentences 300 --save demo").status().unwrap().success());
    let train = "train -q -t demo/template.crfpp --learner averaged-perceptron --passes 150 demo/train.txt";
    assert!(seqoia(folder, &format!("{train} -m straight")).status().unwrap().success());

    let mut run = seqoia(folder, &format!("{train} -m never --checkpoint ck")).spawn().unwrap();
    let started = Instant::now();
    while !folder.join("ck").exists() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap(); // SIGKILL
    run.wait().unwrap();
    assert!(folder.join("ck").exists() && !folder.join("never").exists());

    assert!(seqoia(folder, &format!("{train} -m resumed --resume ck")).status().unwrap().success());
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(read("straight") == read("resumed"));
}

#[test]
fn ten_killed_trainings_break_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(seqoia(folder, "demo --sentences 150 --save demo").status().unwrap().success());
    let train =
        "train -q -t demo/template.crfpp --learner averaged-perceptron demo/train.txt --checkpoint ck -m m";
    assert!(seqoia(folder, &format!("{train} --passes 1")).status().unwrap().success());
    for i in 0..10 {
        let mut run = seqoia(folder, &format!("{train} --passes 100000")).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(15 + 37 * i % 260));
        run.kill().unwrap(); // SIGKILL
        assert!(!run.wait().unwrap().success());
        assert!(seqoia(folder, "predict -q -m m demo/test.txt").status().unwrap().success());
        assert!(seqoia::Checkpoint::open(&folder.join("ck")).unwrap().pass() >= 1);
    }
    let passes = seqoia::Checkpoint::open(&folder.join("ck")).unwrap().pass() + 1;
    let resume = format!("{train} --passes {passes} --resume ck");
    std::fs::write(folder.join(".seqoia-notes"), "mine").unwrap();
    assert!(seqoia(folder, &resume).status().unwrap().success());
    // What the killed ones left is gone, and nothing else.
    let left = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".seqoia-")).collect();
    assert_eq!(left, [".seqoia-notes"]);
}

/// `timeout` sends its signal to a process and to the group of it: two that are one wish.
#[test]
fn a_signal_that_comes_twice_keeps_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(seqoia(folder, "demo --sentences 100 --save demo").status().unwrap().success());
    for signal in ["INT", "TERM"] {
        let train = format!(
            "train -q -t demo/template.crfpp --learner averaged-perceptron --passes 1000000 \
             --checkpoint ck.{signal} -m m.{signal} demo/train.txt"
        );
        let mut run = seqoia(folder, &train).spawn().unwrap();
        let started = Instant::now();
        while !folder.join(format!("ck.{signal}")).exists() && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = run.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id, &id]).status().unwrap().success());
        assert_eq!(run.wait().unwrap().code(), Some(130));
        assert!(folder.join(format!("m.{signal}")).exists());
        let left = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!left.into_iter().any(|name| name.to_string_lossy().starts_with(".seqoia-")));
    }
}
