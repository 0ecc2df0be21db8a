//! Opens the pages of `predict --html` and `eval --html` in a browser without a window: it must find the sentences
//! and words that were written, say nothing on its console, take nothing of the data for markup, and draw it.
//!
//! Without Chromium on the machine the tests pass and say so; `make test` tries to install it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test fails by panicking

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A page that takes longer than this to open never opens.
const PATIENCE: Duration = Duration::from_secs(120);

/// The browser, if there is one.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let found = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.exists());
    if found.is_none() {
        eprintln!("skipped: there is no Chromium to open pages with");
    }
    found
}

/// Runs the browser on a page; what it prints, and what it complains about.
fn open(browser: &Path, folder: &Path, page: &str, flags: &[&str]) -> (String, String) {
    let file = |name: &str| std::fs::File::create(folder.join(name)).unwrap();
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(flags)
        .arg(format!("file://{}", folder.join(page).display()))
        .stdin(Stdio::null())
        .stdout(file("browser.out"))
        .stderr(file("browser.err"))
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{page} does not open");
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let read = |name: &str| String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap()).into_owned();
    assert!(status.success(), "{page}: {}", read("browser.err"));
    (read("browser.out"), read("browser.err"))
}

fn seqoia(folder: &Path, args: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_seqoia")).args(args).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Words that would be markup, script or an end of an attribute if nobody escaped them.
const EVIL: &str = "<script>document.title='taken'</script> NN O O\n\
                    \"><img/src=x/onerror=document.title='taken'> NN O O\n\
                    &lt;b&gt; NN O B-NP\n</style><h1> NN O I-NP\n\n";

/// A folder with both pages, of which the test file has this many sentences and tokens.
fn pages() -> (tempfile::TempDir, usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    seqoia(path, &["demo", "--sentences", "300", "--save", "demo"]);
    let test = std::fs::read_to_string(path.join("demo/test.txt")).unwrap();
    let some: String = test.split_inclusive("\n\n").take(100).collect();
    let test = some + EVIL;
    std::fs::write(path.join("test.txt"), &test).unwrap();
    let model = "demo/demo.seqoia";
    let out = seqoia(path, &["predict", "-q", "-m", model, "--html", "labelled.html", "test.txt"]);
    assert_eq!(out, seqoia(path, &["predict", "-q", "-m", model, "test.txt"]), "a page changes no output");
    std::fs::write(path.join("out.txt"), out).unwrap();
    seqoia(path, &["eval", "--html", "scored.html", "out.txt"]);
    let tokens = test.lines().filter(|line| !line.is_empty()).count();
    let sentences = test.split("\n\n").filter(|s| !s.trim().is_empty()).count();
    (folder, sentences, tokens)
}

#[test]
fn a_browser_finds_every_sentence_and_takes_no_word_for_markup() {
    let Some(browser) = browser() else { return };
    let (folder, sentences, tokens) = pages();
    for (page, title) in [("labelled.html", "test.txt labelled"), ("scored.html", "out.txt scored")] {
        let (dom, complaints) = open(&browser, folder.path(), page, &["--dump-dom"]);
        assert_eq!(dom.matches("<div class=\"s\">").count(), sentences, "{page}");
        assert_eq!(dom.matches("<span class=\"w").count(), tokens, "{page}");
        assert!(dom.contains(&format!("<title>{title}</title>")), "{page}: a word ran as a script");
        for markup in ["<script", "<img", "<b>", "http", "src="] {
            assert_eq!(dom.matches(markup).count(), usize::from(markup == "src="), "{page}: {markup}");
        }
        assert!(dom.contains("&lt;/style&gt;&lt;h1&gt;<small>"), "{page}");
        assert!(!complaints.contains("CONSOLE"), "{page}: {complaints}");
    }
    let (dom, _) = open(&browser, folder.path(), "labelled.html", &["--dump-dom"]);
    let hover = dom.matches("<span class=\"w").count() - dom.matches(" title=\"").count();
    assert_eq!(hover, 0, "every word has its probabilities");
    let first = dom.split(" title=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let p: f64 = first.split(", ").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!((0.0..=1.0).contains(&p), "{first}");
}

#[test]
fn a_browser_draws_the_pages_wide_and_narrow() {
    let Some(browser) = browser() else { return };
    let (folder, ..) = pages();
    for page in ["labelled.html", "scored.html"] {
        for (width, height) in [(1100, 900), (500, 900)] {
            let picture = folder.path().join("page.png");
            let flags =
                [format!("--window-size={width},{height}"), format!("--screenshot={}", picture.display())];
            open(&browser, folder.path(), page, &[&flags[0], &flags[1]]);
            let png = std::fs::read(&picture).unwrap();
            let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            assert_eq!((&png[1..4], number(16), number(20)), (&b"PNG"[..], width, height), "{page}");
            // An empty page packs to a few kilobytes.
            assert!(png.len() > 20_000, "{page}: {} bytes", png.len());
            std::fs::remove_file(picture).unwrap();
        }
    }
}

/// A recipe whose words would be markup if nobody escaped them.
const RECIPE: &str = r#"
title = "<script>document.title='taken'</script>"
about = "</p><img src=x>"
options = { max-passes = 3 }
reference = { learner = "lbfgs", max-passes = 20 }
[[data]]
name = "<b>data</b>"
train = "demo:train.txt@first:100"
test = "demo:test.txt@first:50"
options = { template = "demo:template.crfpp", l2 = "1/n" }
[[run]]
name = "L-BFGS </text><script>"
options = { learner = "lbfgs" }
[[run]]
name = "fails"
options = { learner = "sg", rate = 1e300 }
"#;

#[test]
fn a_browser_draws_a_comparison() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("recipe.toml"), RECIPE).unwrap();
    let table = seqoia(path, &["compare", "-q", "recipe.toml", "-o", "report"]);
    assert!(table.contains("L-BFGS"), "{table}");
    let (dom, complaints) = open(&browser, path, "report/index.html", &["--dump-dom"]);
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    for markup in ["<script", "<img", "<b>", "href", "src="] {
        assert_eq!(dom.matches(markup).count(), usize::from(markup == "src="), "{markup}");
    }
    assert_eq!(dom.matches("<svg ").count(), 4, "two quantities against passes and time");
    assert!(dom.contains("fails: a rate of 1e300") && dom.contains("3 of 3 runs"), "what failed is said");
    let picture = path.join("page.png");
    let flags = ["--window-size=1400,1200".to_owned(), format!("--screenshot={}", picture.display())];
    open(&browser, path, "report/index.html", &[&flags[0], &flags[1]]);
    assert!(std::fs::read(picture).unwrap().len() > 20_000);
    // Again: nothing is run, the page is the same.
    let before = std::fs::read_to_string(path.join("report/index.html")).unwrap();
    let lines = || std::fs::read_to_string(path.join("report/runs.jsonl")).unwrap().lines().count();
    assert_eq!(lines(), 3);
    seqoia(path, &["compare", "-q", "recipe.toml", "-o", "report"]);
    assert_eq!((lines(), std::fs::read_to_string(path.join("report/index.html")).unwrap()), (3, before));
}
