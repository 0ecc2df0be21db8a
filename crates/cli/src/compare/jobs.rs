//! Runs commands side by side, each as a process of its own, so that time and memory are its own and nothing that goes
//! wrong in one touches another.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use seqoia::label::{Output, PredictOptions, predict, try_out};
use seqoia::{LabelColumn, Labeller, score};
use serde_json::{Map, Value};

use super::plan::{Planned, Whose};
use super::recipe::{Recipe, Rival};
use super::store::{AT_WORK, Line, Store};
use crate::flags::open_as;
use crate::screen;

/// How often it is looked whether a process has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// What a run that did not fail gives.
struct Found {
    scores: Map<String, Value>,
    weights: Option<u64>,
    /// Of another program: training, and prediction.
    seconds: Option<(f64, f64)>,
}

/// What all jobs share.
pub(super) struct Work<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) plan: &'a [Planned],
    pub(super) keys: &'a [(String, String)],
    pub(super) store: &'a Mutex<Store>,
    pub(super) folder: &'a Path,
    /// Side by side.
    pub(super) jobs: usize,
    /// Of each.
    pub(super) threads: usize,
    pub(super) stop: &'a AtomicBool,
    pub(super) quiet: bool,
    pub(super) machine: &'a str,
}

impl Work<'_> {
    /// Runs those of the plan.
    ///
    /// # Errors
    /// When what was found cannot be kept.
    pub(super) fn run(&self, todo: &[usize]) -> anyhow::Result<()> {
        let (ours, rivals): (Vec<usize>, Vec<usize>) =
            todo.iter().partition(|&&i| !matches!(self.plan[i].whose, Whose::Rival(_)));
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let broken = Mutex::new(None);
        let work = || {
            while let Some(&number) = ours.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.stop.load(Ordering::Relaxed) {
                    break;
                }
                if let Err(error) = self.one(number, done.fetch_add(1, Ordering::Relaxed) + 1, todo.len()) {
                    self.stop.store(true, Ordering::Relaxed);
                    broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.jobs.min(ours.len()) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, work); // fewer take longer
            }
            work();
        });
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        // One after another: their time is told for all processes that have ended.
        for number in rivals {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.one(number, done.fetch_add(1, Ordering::Relaxed) + 1, todo.len())?;
        }
        Ok(())
    }

    fn one(&self, number: usize, count: usize, all: usize) -> anyhow::Result<()> {
        let (planned, (key, work)) = (&self.plan[number], &self.keys[number]);
        let folder = tempfile::Builder::new().prefix(AT_WORK).tempdir_in(self.folder)?;
        let found = match planned.whose {
            Whose::Rival(rival) => self.rival(planned, &self.recipe.rival[rival], key, folder.path()),
            _ => self.ours(planned, key, folder.path()),
        };
        if self.stop.load(Ordering::Relaxed) {
            return Ok(()); // it was cut short
        }
        let mut line = Line {
            key: key.clone(),
            work: work.clone(),
            command: planned.shown.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: self.machine.to_owned(),
            ended: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            failed: None,
            start: Value::Null,
            passes: vec![],
            end: Value::Null,
            scores: Map::new(),
            weights: None,
            rival_seconds: None,
        };
        match found {
            Ok(found) => {
                (line.scores, line.weights, line.rival_seconds) = (found.scores, found.weights, found.seconds)
            }
            Err(error) => line.failed = Some(crate::flagged::told(&error)),
        }
        let log = std::fs::read_to_string(self.log(key)).unwrap_or_default();
        for record in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match record["event"].as_str() {
                Some("start") => line.start = record,
                Some("pass") => line.passes.push(record),
                Some("end") => line.end = record,
                _ => (),
            }
        }
        let _ = std::fs::remove_file(self.log(key)); // all of it stands in the line
        if !self.quiet {
            screen::note(&self.told(planned, &line, count, all));
        }
        self.store.lock().unwrap_or_else(PoisonError::into_inner).add(line)
    }

    fn told(&self, planned: &Planned, line: &Line, count: usize, all: usize) -> String {
        let data = &self.recipe.data[planned.data].name;
        let head = format!("{count:>4} of {all}   {data}   {}   seed {}", planned.name, planned.seed);
        match &line.failed {
            Some(why) => format!("{head}   failed: {}", why.lines().next().unwrap_or_default()),
            None => {
                let scores =
                    line.scores.iter().filter_map(|(name, v)| Some(format!("   {name} {:.2}", v.as_f64()?)));
                let objective = line.passes.iter().rev().find_map(|pass| pass["objective"].as_f64());
                let objective = objective.map_or(String::new(), |f| format!("   objective {f:.6}"));
                let seconds = line.end["seconds"].as_f64().or(line.rival_seconds.map(|s| s.0));
                let seconds = seconds.map_or(String::new(), |s| format!("   {s:.1} s"));
                format!("{head}{}{objective}{seconds}", scores.collect::<String>())
            }
        }
    }

    fn log(&self, key: &str) -> PathBuf {
        self.folder.join("logs").join(format!("{key}.jsonl"))
    }

    /// A run of this program: trains, then labels the test data and scores what was found.
    fn ours(&self, planned: &Planned, key: &str, folder: &Path) -> anyhow::Result<Found> {
        let model = folder.join("model.seqoia");
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("train")
            .args(&planned.words)
            .args(["-q", "-m"])
            .arg(&model)
            .arg("--log")
            .arg(self.log(key));
        command.args(["--threads", &self.threads.to_string()]);
        self.wait(&mut command)?;
        let kind = planned.args.as_ref().and_then(|args| args.label.format);
        let labeller = Labeller::open(&model)?;
        let scores = try_out(&labeller, open_as(Some(&planned.test), kind)?)?.scores;
        let path = self.store.lock().unwrap_or_else(PoisonError::into_inner).prediction(key);
        let mut out = std::io::BufWriter::new(std::fs::File::create(&path)?);
        let options = PredictOptions::new(Output::Text, self.threads);
        predict(&labeller, open_as(Some(&planned.test), kind)?, &options, &mut out)?;
        std::io::Write::flush(&mut out)?;
        let scores = scores.iter().map(|s| (s.name.to_owned(), s.value.into())).collect();
        Ok(Found { scores, weights: Some(labeller.meta().weights as u64), seconds: None })
    }

    /// Another program, by two shell commands.
    fn rival(&self, planned: &Planned, rival: &Rival, key: &str, folder: &Path) -> anyhow::Result<Found> {
        let data = &self.recipe.data[planned.data];
        let plain = |name: &str, path: &Path| -> anyhow::Result<String> {
            let mut text = vec![];
            std::io::Read::read_to_end(&mut open_as(Some(path), None)?, &mut text)?;
            let to = folder.join(name);
            std::fs::write(&to, text)?;
            Ok(to.display().to_string())
        };
        let roots = self.plan.iter().find(|p| p.data == planned.data && !p.words.is_empty());
        let train_path = roots.and_then(|p| p.words.first()).map(PathBuf::from);
        let train_path = train_path.with_context(|| format!("no run of our own names {}", data.train))?;
        let (train, test) = (plain("train", &train_path)?, plain("test", &planned.test)?);
        let (model, out) = (folder.join("model"), folder.join("out"));
        let put = |command: &str| {
            command
                .replace("{train}", &quoted(&train))
                .replace("{test}", &quoted(&test))
                .replace("{model}", &quoted(&model.display().to_string()))
                .replace("{out}", &quoted(&out.display().to_string()))
                .replace("{seed}", &planned.seed.to_string())
        };
        let before = children_seconds();
        self.wait(Command::new("sh").arg("-c").arg(put(&rival.train)))?;
        let between = children_seconds();
        self.wait(Command::new("sh").arg("-c").arg(put(&rival.predict)))?;
        let after = children_seconds();
        let args = self.plan.iter().find_map(|p| p.args.as_ref().filter(|_| p.data == planned.data));
        let label = args.and_then(|args| args.label.label.as_deref());
        let label = label.map_or(Ok(LabelColumn::Last), LabelColumn::parse)?;
        let kind = args.and_then(|args| args.label.format);
        let evaluated =
            score::compare(open_as(Some(&planned.test), kind)?, open_as(Some(&out), kind)?, kind, &label)?;
        let mut scores = Map::new();
        if evaluated.unit.is_chunks() {
            scores.insert("f1".to_owned(), evaluated.scored.spans.f1().into());
        }
        scores.insert("accuracy".to_owned(), evaluated.scored.accuracy.tokens().into());
        let kept = self.store.lock().unwrap_or_else(PoisonError::into_inner).prediction(key);
        std::fs::copy(&out, kept)?;
        let seconds = |from: Option<f64>, to: Option<f64>| to.zip(from).map(|(to, from)| to - from);
        Ok(Found { scores, weights: None, seconds: seconds(before, between).zip(seconds(between, after)) })
    }

    /// Runs a command to its end, or until the user wants to stop.
    fn wait(&self, command: &mut Command) -> anyhow::Result<()> {
        let errors = tempfile::tempfile()?;
        // A group of its own, to be ended with all that it started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone()?).spawn();
        let mut child: Child = child.with_context(|| format!("{command:?}"))?;
        loop {
            if let Some(status) = child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                let mut said = String::new();
                let mut errors = errors;
                std::io::Seek::rewind(&mut errors)?;
                let mut bytes = vec![];
                std::io::Read::read_to_end(&mut errors, &mut bytes)?;
                said.push_str(&String::from_utf8_lossy(&bytes));
                let said = said.trim();
                let told = said.strip_prefix("error: ").unwrap_or(said);
                let told = if told.is_empty() { status.to_string() } else { told.to_owned() };
                return Err(anyhow::anyhow!("{told}"));
            }
            if self.stop.load(Ordering::Relaxed) {
                end(&mut child)?;
                return Err(anyhow::anyhow!("stopped by the user"));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Ends a process and those that it started.
fn end(child: &mut Child) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL); // it may have ended
    }
    child.kill()?;
    child.wait().map(|_| ())
}

/// A word as a shell takes it, whatever it holds.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// CPU seconds of all processes that this one has waited for; none where the system does not say.
fn children_seconds() -> Option<f64> {
    /// Of a second, on every Linux.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / TICKS)
}
