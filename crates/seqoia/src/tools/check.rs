//! Looks at data before training: what is wrong, what is doubtful, what is in order. Each [`Finding`] says
//! where and what to do; only an error speaks against training at once.
//!
//! One pass over each file gathers `facts`; the rules here read them.

mod facts;

use seqoia_data::features::MOST_LABELS;
use seqoia_data::format::Kind;
use seqoia_data::open::Input;
use seqoia_data::scheme::Scheme;
use serde::Serialize;

use self::facts::{Facts, LONG, SHORT, Tally};
use crate::error::{Result, counted};
use crate::label::options::LabelColumn;
use crate::label::roles;
use crate::label::suspects::{self, Met, Suspect};

/// A label that is seen fewer times is called rare.
const RARE: u64 = 5;

/// How many labels a finding names.
const NAMED: usize = 5;

/// How to read the files.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The format, if it is not to be recognised.
    pub format: Option<Kind>,
    /// Which column is the label.
    pub label: LabelColumn,
    /// The scheme of the labels, if it is not to be recognised.
    pub scheme: Option<Scheme>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// In order.
    Ok,
    /// A person should look at it.
    Warning,
    /// Training on it is in vain.
    Error,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The file.
    pub file: String,
    /// The line of the first case, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was found, in one sentence without a full stop.
    pub what: String,
    /// What to do about it; empty if nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
}

/// A file in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: &'static str,
    /// Sentences.
    pub sentences: u64,
    /// Tokens.
    pub tokens: u64,
    /// Different words; none where tokens are attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// Different labels.
    pub labels: u64,
    /// Columns, the label included.
    pub columns: u64,
    /// Tokens, in per cent, whose word the training file does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<f64>,
}

/// All that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The training file, then the dev file.
    pub files: Vec<Figures>,
    /// What was looked at, in a fixed order.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// How many findings are of this level.
    #[must_use]
    pub fn count(&self, level: Level) -> u64 {
        self.findings.iter().filter(|f| f.level == level).count() as u64
    }
}

/// Looks at a training file, and at a dev file beside it.
///
/// ```
/// use seqoia::input_from_text;
/// use seqoia::tools::{CheckOptions, Level, check};
///
/// let train = input_from_text("train", "the D\ndog D\n\na D\n\n")?;
/// let checked = check(train, None, &CheckOptions::default())?;
/// assert_eq!(checked.findings[0].what, "every token has the label D");
/// assert_eq!(checked.count(Level::Error), 1);
/// # Ok::<(), seqoia::Error>(())
/// ```
///
/// # Errors
/// Data that cannot be read.
pub fn check(train: Input, dev: Option<Input>, options: &CheckOptions) -> Result<Checked> {
    let train = Facts::read(train, options, None)?;
    let dev = dev.map(|dev| Facts::read(dev, options, Some(&train))).transpose()?;
    let scheme = match train.kind {
        Kind::Words => None, // its labels are made by the reader
        _ => options.scheme.or(train.recogniser.finish()),
    };
    let mut found = Findings(vec![]);
    for facts in [Some(&train), dev.as_ref()].into_iter().flatten() {
        if let Some((guess, doubt)) = facts.guess.and_then(|guess| Some((guess, guess.doubt()?))) {
            let level = if guess.is_fatal() { Level::Error } else { Level::Warning };
            found.add(level, facts, None, doubt, guess.help());
        }
        if let Some(Suspect { line, what, help, .. }) = &facts.mistaken {
            found.add(Level::Error, facts, *line, what, help);
        }
        if facts.kind == Kind::Columns {
            found.suspects(facts);
        }
    }
    found.labels(&train);
    found.scheme(&train, scheme);
    found.columns(&train);
    found.lengths(&train);
    found.repeated(&train);
    if let Some(dev) = &dev {
        // In other columns there are other things, and that is all there is to say about labels.
        if found.shape(&train, dev) {
            found.other_labels(&train, dev);
            if let Some(scheme) = scheme {
                found.dev_scheme(&train, dev, scheme, options.scheme.is_none());
            }
        }
        found.lengths(dev);
        found.shared(&train, dev);
    }
    let files = [Some(&train), dev.as_ref()].into_iter().flatten().map(figures).collect();
    Ok(Checked { files, findings: found.0 })
}

fn figures(facts: &Facts) -> Figures {
    let words = facts.word().map(|_| facts.words());
    Figures {
        file: facts.file.clone(),
        format: facts.kind.name(),
        sentences: facts.sentences,
        tokens: facts.tokens,
        words,
        labels: facts.labels.len() as u64,
        columns: facts.columns.len() as u64,
        unknown: facts.unknown.filter(|_| words.is_some()).map(|n| percent(n, facts.tokens)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// `lines 3, 9, 12, ...`: where the first cases are.
fn lines(tally: &Tally) -> String {
    let all: Vec<String> = tally.lines.iter().map(u64::to_string).collect();
    let more = if tally.more_lines { ", ..." } else { "" };
    format!("line{} {}{more}", if all.len() == 1 { "" } else { "s" }, all.join(", "))
}

/// Names one after another, the first of them.
fn named(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

struct Findings(Vec<Finding>);

impl Findings {
    /// Rows that are not what they seem.
    fn suspects(&mut self, facts: &Facts) {
        let met =
            facts.labels.iter().map(|label| Met { name: &label.name, count: label.count, line: label.line });
        let met: Vec<Met<'_>> = met.collect();
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        for suspect in suspects::find(&met, size(facts.sentences), size(facts.tokens)) {
            let level = if suspect.fatal { Level::Error } else { Level::Warning };
            self.add(level, facts, suspect.line, suspect.what, suspect.help);
        }
    }

    fn ok(&mut self, facts: &Facts, what: impl Into<String>) {
        self.add(Level::Ok, facts, None, what, "");
    }

    fn warn(&mut self, facts: &Facts, line: Option<u64>, what: impl Into<String>, help: &str) {
        self.add(Level::Warning, facts, line, what, help);
    }

    fn add(
        &mut self,
        level: Level,
        facts: &Facts,
        line: Option<u64>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        let file = facts.file.clone();
        self.0.push(Finding { level, file, line, what: what.into(), help: help.into() });
    }

    /// At least two labels, each of them seen a few times.
    fn labels(&mut self, facts: &Facts) {
        if let [only] = facts.labels.as_slice() {
            let what = format!("every token has the label {}", only.name);
            let help = "is the label in another column? `label` says which";
            return self.add(Level::Error, facts, Some(only.line), what, help);
        }
        if let Some(line) = facts.too_many_labels {
            let what = format!("more than {MOST_LABELS} different labels");
            let help = "too many for a model: is the label in another column? `label` says which";
            return self.add(Level::Error, facts, Some(line), what, help);
        }
        let rare: Vec<_> = facts.labels.iter().filter(|l| l.count < RARE).collect();
        if rare.is_empty() {
            return self.ok(facts, format!("every label is seen at least {RARE} times"));
        }
        let names: Vec<String> = rare.iter().map(|l| format!("{} ({})", l.name, l.count)).collect();
        let verb = if rare.len() == 1 { "is" } else { "are" };
        let what = format!(
            "{} {verb} seen fewer than {RARE} times: {}",
            counted(rare.len(), "label"),
            named(&names)
        );
        let help = "hardly to be learned: are they typing errors? else find more examples, or merge them";
        self.warn(facts, rare.first().map(|l| l.line), what, help);
    }

    /// Chunk labels are in a scheme and keep to it.
    fn scheme(&mut self, facts: &Facts, scheme: Option<Scheme>) {
        let Some(scheme) = scheme else {
            if facts.kind != Kind::Words {
                self.no_scheme(facts);
            }
            return;
        };
        let (name, broken) = (scheme.name(), facts.breaks(scheme));
        if broken.count == 0 {
            return self.ok(facts, format!("labels are chunks in {name}, and none breaks it"));
        }
        let verb = if broken.count == 1 { "breaks" } else { "break" };
        let what = format!(
            "{} {verb} {name}, the scheme of the labels: {}",
            counted(usize::try_from(broken.count).unwrap_or(usize::MAX), "label"),
            lines(broken)
        );
        let help = "mend them, or say `scheme` if this is another one";
        self.warn(facts, broken.first(), what, help);
    }

    /// Labels that look like chunk labels should be some.
    fn no_scheme(&mut self, facts: &Facts) {
        if let Some(what) = roles::nearly_chunks(facts.labels.iter().map(|label| label.name.as_str())) {
            return self.warn(facts, None, what, roles::MEND);
        }
        let chunk = |name: &str| matches!(name.as_bytes(), [b'B' | b'I' | b'E' | b'S' | b'M', b'-', _, ..]);
        let chunks = facts.labels.iter().filter(|l| chunk(&l.name)).count();
        let Some(nearest) = Scheme::ALL.into_iter().min_by_key(|s| facts.breaks(*s).count) else { return };
        if 2 * chunks < facts.labels.len() {
            return self.ok(facts, "labels are no chunk labels: each token counts by itself");
        }
        let broken = facts.breaks(nearest);
        let what = format!(
            "labels look like chunks but break every scheme; {} least, {} times: {}",
            nearest.name(),
            broken.count,
            lines(broken)
        );
        self.warn(facts, broken.first(), what, "without a scheme, training takes them as plain labels");
    }

    /// Columns that say nothing, and one that says everything.
    fn columns(&mut self, facts: &Facts) {
        let before = self.0.len();
        let conll = matches!(facts.kind, Kind::Conllu | Kind::Conllx);
        let common = facts.labels.iter().enumerate().max_by_key(|(_, l)| l.count).map(|(id, _)| id);
        // Most tokens are outside of everything in many columns at once: the other labels tell.
        let others: u64 =
            facts.labels.iter().enumerate().filter(|(id, _)| Some(*id) != common).map(|(_, l)| l.count).sum();
        for (number, column) in facts.columns.iter().enumerate().filter(|(n, _)| *n != facts.label) {
            let empty = conll && column.value == "_";
            if !column.varies && !empty && facts.tokens > 1 {
                let what = format!("column {number} is {} for every token", column.value);
                self.warn(facts, None, what, "features that read it are of no use");
            }
            let same: u64 =
                column.same.iter().enumerate().filter(|(id, _)| Some(*id) != common).map(|(_, n)| n).sum();
            if others > 0 && same.saturating_mul(100) >= others.saturating_mul(99) {
                let what = format!(
                    "column {number} looks like a copy of the label, which is column {}",
                    facts.label
                );
                self.warn(facts, None, what, "features that read it know the answer: leave it out");
            }
        }
        if self.0.len() == before && facts.columns.len() > 1 {
            self.ok(facts, "every column varies, and none is a copy of the label");
        }
    }

    /// Sentences as long as sentences are.
    fn lengths(&mut self, facts: &Facts) {
        if facts.single == facts.sentences && facts.sentences > 1 {
            let help = "is there an empty line after each token? it ends a sentence";
            return self.warn(facts, None, "every sentence has one token", help);
        }
        let long = &facts.long;
        if long.count == 0 {
            return;
        }
        let sentences = counted(usize::try_from(long.count).unwrap_or(usize::MAX), "sentence");
        let verb = if long.count == 1 { "has" } else { "have" };
        let what = format!("{sentences} {verb} more than {LONG} tokens: {}", lines(long));
        let help = match facts.kind.by_line() {
            true => "a line is a sentence: is a line end missing?",
            false => "is the empty line after each sentence missing?",
        };
        self.warn(facts, long.first(), what, help);
    }

    /// Sentences that occur before.
    fn repeated(&mut self, facts: &Facts) {
        let Tally { count, original, .. } = facts.repeated;
        let share = percent(count, facts.sentences);
        let Some(original) = original else {
            return self.ok(facts, format!("no sentence of more than {SHORT} tokens occurs twice"));
        };
        let verb = if count == 1 { "occurs" } else { "occur" };
        let of_all = of_all(count, facts.sentences);
        let what = format!("{of_all} ({share:.1} %) {verb} before; the first is line {original} again");
        if share < 1.0 {
            return self.add(Level::Ok, facts, facts.repeated.first(), what, "");
        }
        let help = "they count as often as they occur: are they copied by mistake?";
        self.warn(facts, facts.repeated.first(), what, help);
    }

    /// The dev file is built like the training file.
    fn shape(&mut self, train: &Facts, dev: &Facts) -> bool {
        let (have, want) = (dev.columns.len(), train.columns.len());
        if have != want {
            let what = format!("{}, where {} has {want}", counted(have, "column"), train.file);
            self.add(Level::Error, dev, None, what, "both files must have the same columns");
        }
        have == want
    }

    /// The dev file keeps to the scheme of the training file, unless it is written in another one.
    fn dev_scheme(&mut self, train: &Facts, dev: &Facts, scheme: Scheme, recognised: bool) {
        let broken = |scheme| dev.breaks(scheme).count;
        let own = dev.recogniser.finish().filter(|own| recognised && broken(*own) < broken(scheme));
        let Some(own) = own else { return self.scheme(dev, Some(scheme)) };
        let (own, other) = (own.name(), scheme.name());
        let what = format!("labels are chunks in {own}, but those of {} are in {other}", train.file);
        let help = format!("convert one of the files, such as with `scheme {other}`");
        self.add(Level::Warning, dev, dev.breaks(scheme).first(), what, help);
    }

    /// Labels of one file that the other does not have.
    fn other_labels(&mut self, train: &Facts, dev: &Facts) {
        let before = self.0.len();
        let helps = [
            "the model can never give them: does the training data belong to this dev data?",
            "dev scores say nothing about them",
        ];
        for ((facts, other), help) in [(dev, train), (train, dev)].into_iter().zip(helps) {
            let missing: Vec<_> =
                facts.labels.iter().filter(|l| other.find_label(&l.name).is_none()).collect();
            let Some(first) = missing.first() else { continue };
            let names: Vec<String> = missing.iter().map(|l| l.name.clone()).collect();
            let what = format!(
                "{} that {} never has: {}",
                counted(missing.len(), "label"),
                other.file,
                named(&names)
            );
            self.warn(facts, Some(first.line), what, help);
        }
        if self.0.len() == before {
            self.ok(dev, format!("its labels are those of {}", train.file));
        }
    }

    /// Sentences that both have.
    fn shared(&mut self, train: &Facts, dev: &Facts) {
        let Tally { count, original, .. } = dev.shared;
        let short = |before: &str| match dev.short_shared {
            0 => String::new(),
            n => format!("{before} {n} of at most {SHORT} tokens"),
        };
        let Some(original) = original else {
            let short = short(";");
            return self
                .ok(dev, format!("no sentence of more than {SHORT} tokens is in {}{short}", train.file));
        };
        let short = short(", and");
        let share = percent(count, dev.sentences);
        let verb = if count == 1 { "is" } else { "are" };
        let what = format!(
            "{} ({share:.1} %) {verb} in {} too{short}; the first is line {original} there",
            of_all(count, dev.sentences),
            train.file
        );
        let level = if share >= 50.0 { Level::Error } else { Level::Warning };
        let help = "dev scores are too good by what was learned by heart: take them out of one file";
        self.add(level, dev, dev.shared.first(), what, help);
    }
}

/// `3 of 10 sentences`.
fn of_all(count: u64, all: u64) -> String {
    format!("{count} of {}", counted(usize::try_from(all).unwrap_or(usize::MAX), "sentence"))
}
