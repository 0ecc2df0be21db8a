//! Signals: what was ignored stays ignored, a run that waits for a reader of its model can be ended, and a run that is
//! asked to stop keeps its model (`resume.rs`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use seqoia_testkit::processes::heeding;

const TRAIN: &str = "train -q --features pos --learner averaged-perceptron";

/// A folder with a few sentences.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.txt"), "a X\nb Y\n\nb X\na Y\n\n").unwrap();
    folder
}

/// A shell that does something first and then becomes the program.
fn start(folder: &Path, before: &str, args: &str) -> Running {
    let script = format!("{before}; exec {} {args} t.txt", env!("CARGO_BIN_EXE_seqoia"));
    let mut command = heeding("sh");
    command.args(["-c", &script]).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    Running(command.spawn().unwrap())
}

/// A test that fails leaves nothing running.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn send(signal: &str, run: &Running) {
    let id = run.0.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
}

fn until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited for long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    for (ignored, heard) in [("HUP", "TERM"), ("INT", "TERM"), ("TERM", "INT")] {
        let folder = folder();
        let folder = folder.path();
        let args = format!("{TRAIN} --passes 100000000 --checkpoint ck -m m");
        let mut run = start(folder, &format!("trap '' {ignored}"), &args);
        until(|| folder.join("ck").exists());
        send(ignored, &run);
        std::thread::sleep(Duration::from_millis(700));
        assert!(run.0.try_wait().unwrap().is_none(), "{ignored} was heard");
        send(heard, &run);
        assert_eq!(run.0.wait().unwrap().code(), Some(130), "{heard}");
        assert!(folder.join("m").exists());
    }
}

#[test]
fn a_model_that_nobody_reads_does_not_hold_the_program() {
    let folder = folder();
    let folder = folder.path();
    let args = format!("{TRAIN} --passes 2 --checkpoint ck -m fifo");
    let mut run = start(folder, "mkfifo fifo", &args);
    until(|| folder.join("ck").exists());
    std::thread::sleep(Duration::from_millis(500)); // until it waits for a reader
    send("TERM", &run);
    until(|| run.0.try_wait().unwrap().is_some());
    assert_eq!(run.0.wait().unwrap().signal(), Some(15));
}

/// Without a signal the pipe gets the model.
#[test]
fn a_pipe_gets_the_model() {
    let folder = folder();
    let folder = folder.path();
    let mut run = start(folder, "mkfifo fifo", &format!("{TRAIN} -m fifo"));
    until(|| folder.join("fifo").exists());
    let model = std::fs::read(folder.join("fifo")).unwrap();
    assert!(run.0.wait().unwrap().success());
    assert!(model.starts_with(b"SEQOIA"));
}
