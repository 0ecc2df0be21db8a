//! `--memory-limit`: the same model in less memory than the limit, whatever happens to the disk or to the program.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use seqoia_testkit::processes::heeding;
use wait4::Wait4 as _;

/// In MB: enough for the perceptron.
const LIMIT: usize = 50;

/// 200,000 tokens, most of whose pairs of words occur once, and templates that read pairs. Written piece by piece: a
/// child is said to have taken at least as much as the process that started it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut out = BufWriter::new(std::fs::File::create(folder.path().join("t.txt")).unwrap());
    for i in 0..200_000_u32 {
        let mixed = (i ^ (i >> 7)).wrapping_mul(2_654_435_761);
        let word = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519) % 50_021;
        writeln!(out, "w{word} L{}", (word / 7 + i % 2) % 5).unwrap();
        if i % 20 == 19 {
            writeln!(out).unwrap();
        }
    }
    out.flush().unwrap();
    let templates = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[-1,0]/%x[0,0]\nU4:%x[0,0]/%x[1,0]\nB\n";
    std::fs::write(folder.path().join("template"), templates).unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

fn seqoia(folder: &Path, args: &str) -> Command {
    let mut command = heeding(env!("CARGO_BIN_EXE_seqoia"));
    command.args(["train", "-t", "template"]).args(args.split(' ')).env("TMPDIR", folder.join("tmp"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// What is left in the folder of temporary files.
fn left(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("tmp")).unwrap().count()
}

#[test]
fn the_same_model_in_less_memory() {
    let folder = folder();
    let folder = folder.path();
    // Too little for the examples, enough for the rest: tenths of a MB with three threads, and for each more.
    for (learner, limit, each) in [
        ("averaged-perceptron --passes 2", 500, 0),
        ("adagrad --passes 1", 650, 93),
        ("saga --l1 0.5/n --passes 1", 710, 93),
    ] {
        let args = format!("--cutoff 2 --learner {learner} -m");
        assert!(seqoia(folder, &format!("-q {args} plain t.txt")).status().unwrap().success());
        let plain = std::fs::read(folder.join("plain")).unwrap();
        for threads in [1, 2, 3, 8] {
            let limit = (limit + each * threads - each * 3) * 100;
            let args = format!("--threads {threads} --memory-limit {limit}K {args} limited t.txt");
            let mut child = seqoia(folder, &args).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = String::new();
            std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
            let used = child.wait4().unwrap();
            assert!(used.status.success() && said.contains("so they lie on disk"), "{learner}: {said}");
            assert!(used.rusage.maxrss < limit * 1000, "{learner}: {}", used.rusage.maxrss);
            assert!(std::fs::read(folder.join("limited")).unwrap() == plain, "{learner}, {threads} threads");
            assert_eq!(left(folder), 0);
        }
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let folder = folder();
    let folder = folder.path();
    let learn = "--cutoff 2 --learner averaged-perceptron --passes 1";
    for blocks in [0, 100, 1000] {
        // A file that may not grow is like a disk that is full.
        let program = env!("CARGO_BIN_EXE_seqoia");
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {program} train -t template {learn} --memory-limit {LIMIT}M -m m t.txt"
        );
        let mut command = heeding("sh");
        command.args(["-c", &script]).current_dir(folder).env("TMPDIR", folder.join("tmp"));
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("cannot grow beyond"), "{blocks}: {said}");
        assert!(said.contains("TMPDIR") && !folder.join("m").exists());
        assert_eq!(left(folder), 0);
    }
}

#[test]
fn whoever_ends_it_nothing_is_left() {
    let folder = folder();
    let folder = folder.path();
    let args = "-q --cutoff 2 --learner averaged-perceptron --passes 1000000 -m m t.txt";
    for (signal, milliseconds) in [("INT", 200), ("KILL", 300), ("INT", 900), ("TERM", 2500), ("INT", 4000)] {
        let mut run = seqoia(folder, &format!("--memory-limit {LIMIT}M {args}")).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let id = run.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert!(!run.wait().unwrap().success());
        assert_eq!(left(folder), 0);
        let own = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names = String::new();
        own.for_each(|name| write!(names, "{} ", name.to_string_lossy()).unwrap());
        assert!(!names.contains(".tmp") && !names.contains(".seqoia-"), "{names}");
    }
    assert!(folder.join("m").exists(), "the last one had made a pass");
}

#[test]
fn what_cannot_be_is_told() {
    let folder = folder();
    let folder = folder.path();
    let told = |args: &str| {
        let output = seqoia(folder, args).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (args, words) in [
        ("--memory-limit 2X -m m t.txt", "expected a size, such as 200M or 4G"),
        ("--memory-limit 2G -m m -", "can be read once"),
        ("--memory-limit 2G -m m", "standard input cannot"),
        ("--memory-limit 2G --folds 3 t.txt", "cannot be used with"),
        ("--memory-limit 2G --task rerank -m m t.txt", "means nothing with --task rerank"),
        ("--memory-limit 1M -m m t.txt", "--memory-limit 33M is enough"),
        ("--memory-limit 36M --cutoff 1 -m m t.txt", "is enough; a higher --cutoff, fewer --threads"),
    ] {
        let said = told(args);
        assert!(said.contains(words), "{args}: {said}");
    }
}
