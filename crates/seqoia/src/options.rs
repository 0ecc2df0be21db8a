//! What a user can choose about training, checked once.

use std::sync::Arc;

use seqoia_core::param::Settings;
use seqoia_data::features::{Lexica, Program, Template, crfpp, sets, wapiti};
use seqoia_data::format::{Field, Format, Kind, Place};
use seqoia_data::rules::RuleTable;
use seqoia_data::scheme::Scheme;
use seqoia_learners::registry::{Entry, LEARNERS, Penalty};
use seqoia_structures::chain::Precision;

use crate::checkpoint::Checkpoint;
use crate::error::{self, Error, Result};
use crate::labels::Schemes;

/// Where the attributes come from: template files and named sets, taken together.
#[derive(Clone, Debug, Default)]
pub struct FeatureChoice {
    /// CRF++ template files: name and text.
    pub templates: Vec<(String, String)>,
    /// Wapiti pattern files: name and text.
    pub patterns: Vec<(String, String)>,
    /// Named sets.
    pub sets: Vec<String>,
    /// Lists from outside, which add attributes of their own.
    pub lexica: Arc<Lexica>,
    /// The words of the training text are a dictionary, added to that of the lists.
    pub own_words: bool,
    /// Take text in full width (half-width ASCII is mapped to it) or as the file has it; if none, as the
    /// set says.
    pub full_width: Option<bool>,
    /// Tests that fail fire as `F`.
    pub false_features: bool,
}

/// Attributes of a model: templates and whether label pairs have weights.
#[derive(Clone, Debug)]
pub struct Features {
    /// The templates.
    pub templates: Vec<Template>,
    /// What the user calls each of them: its text, or the set that it is from.
    pub origins: Vec<String>,
    /// Plain label pairs have weights.
    pub transitions: bool,
    /// Sets leave out features of parts of speech, which the file does not have.
    pub without_pos: bool,
}

impl FeatureChoice {
    /// Nothing was chosen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.patterns.is_empty() && self.sets.is_empty()
    }

    /// Whether attributes are looked up in the document; asked before the first block of a file is read, which
    /// tells where a format keeps its words.
    pub(crate) fn reads_mentions(&self) -> bool {
        let roles = sets::Roles { word: 0, pos: 1 };
        let mut templates = self.sets.iter().filter_map(|name| sets::find(name, roles)).flatten();
        templates.any(|t| t.reads_mentions())
    }

    /// Finds the templates for a file of this format, in which one column may be the label. The attributes that a
    /// file has need no choice.
    ///
    /// # Errors
    /// A template file with a mistake, a set that does not exist, nothing chosen.
    pub fn resolve(&self, format: &dyn Format, label: Option<usize>) -> Result<Features> {
        let mut roles = match format.kind() {
            Kind::Conllu | Kind::Conllx => {
                sets::Roles { word: column(Field::Form), pos: column(Field::Upos) }
            }
            _ => sets::Roles { word: 0, pos: 1 },
        };
        let pos = usize::from(roles.pos);
        if pos >= format.columns() || label == Some(pos) {
            roles.pos = sets::NO_COLUMN;
        }
        let mut features =
            Features { templates: vec![], origins: vec![], transitions: false, without_pos: false };
        let templates =
            self.templates.iter().map(|(name, text)| (name, "template", crfpp::parse(name, text)));
        let patterns = self.patterns.iter().map(|(name, text)| (name, "pattern", wapiti::parse(name, text)));
        for (name, what, file) in templates.chain(patterns) {
            let file = file?;
            features.transitions |= file.transitions;
            let places = file.templates.iter().zip(&file.lines);
            features.origins.extend(places.map(|(t, line)| format!("{name}:{line}: {what} {}", t.text())));
            features.templates.extend(file.templates);
        }
        for name in &self.sets {
            let Some(set) = sets::find(name, roles) else {
                let names: Vec<_> = sets::SETS.iter().map(|s| s.0).collect();
                let nearest = seqoia_core::param::nearest(name, names.iter().copied());
                return Err(Error::Option(match nearest {
                    Some(other) => format!("there is no feature set '{name}'; did you mean {other}?"),
                    None => format!("there is no feature set '{name}'; there are: {}", names.join(", ")),
                }));
            };
            features.transitions = true;
            features.without_pos |= sets::find(name, sets::Roles { pos: 1, ..roles })
                .is_some_and(|whole| whole.len() > set.len());
            features.origins.extend(set.iter().map(|_| format!("--features {name}")));
            features.templates.extend(set);
        }
        let (clusters, lists) = (!self.lexica.clusters.is_empty(), self.lexica.names.lists());
        let extended = sets::extended(roles, clusters, lists, &features.templates);
        features.origins.extend(extended.iter().map(|_| "--clusters or --gazetteer".to_owned()));
        features.templates.extend(extended);
        if self.own_words || !self.lexica.words.is_empty() {
            let words = sets::dictionary(roles);
            features.origins.extend(words.iter().map(|_| "--dictionary".to_owned()));
            features.templates.extend(words);
        }
        if format.ready() {
            // As CRFsuite does, which has no other label pairs.
            features.transitions |= self.is_empty();
            features.origins.push("the file".to_owned());
            features.templates.push(Template::given());
        }
        if features.templates.is_empty() && !features.transitions {
            return Err(Error::Option(
                "no features: give a template file with -t FILE or a set with --features SET".to_owned(),
            ));
        }
        self.refine(&mut features)?;
        Ok(features)
    }

    /// What holds for templates of every origin.
    fn refine(&self, features: &mut Features) -> Result<()> {
        let (mut read, mut tested) = (self.full_width.is_none(), !self.false_features);
        for template in &mut features.templates {
            if let Some(full) = self.full_width {
                read |= template.set_width(full);
            }
            if self.false_features {
                tested |= template.fire_failed_tests();
            }
        }
        if !read {
            return Err(Error::Option("--width: none of the features reads text of a column".to_owned()));
        }
        if !tested {
            let what =
                "--false-features: none of the features is a test, such as those of --features pos are";
            return Err(Error::Option(what.to_owned()));
        }
        Ok(())
    }
}

impl Features {
    /// What may not be meant so: in CoNLL-U and CoNLL-X the first column is no word.
    pub(crate) fn doubt(&self, kind: Kind) -> Option<String> {
        let mut reading = self.templates.iter().zip(&self.origins).filter(|(template, _)| template.reads(0));
        let (_, origin) = reading.next().filter(|_| matches!(kind, Kind::Conllu | Kind::Conllx))?;
        Some(format!(
            "{origin} reads column 0, which in {} is the number of the token; the word is column 1",
            kind.name()
        ))
    }

    /// Compiles the templates, after a look at which columns there are.
    ///
    /// # Errors
    /// A template that reads a column that the file does not have, or the label itself.
    pub fn compile(&self, file: &str, columns: usize, label: usize) -> Result<Program> {
        for (template, origin) in self.templates.iter().zip(&self.origins) {
            if let Some(column) = template.last_column().filter(|c| usize::from(*c) >= columns) {
                return Err(Error::Option(match columns {
                    0 => format!("{origin} reads column {column}, but {file} has attributes and no columns"),
                    _ => {
                        format!("{origin} reads column {column}, but {file} has {}", error::columns(columns))
                    }
                }));
            }
            if u16::try_from(label).is_ok_and(|label| template.reads(label)) {
                let help = match columns {
                    1 => "\n  help: the file has one column: put a tab or a blank between word and label",
                    _ => "",
                };
                return Err(Error::Option(format!(
                    "{origin} reads column {label} of {file}, which is the label to be learned{help}"
                )));
            }
        }
        Ok(Program::new(self.templates.clone()))
    }
}

fn column(field: Field) -> u16 {
    u16::try_from(field.column()).unwrap_or(0)
}

/// Which column is the label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelColumn {
    /// The last one; in CoNLL-U there is no such default.
    #[default]
    Last,
    /// By number, from 0.
    Number(usize),
    /// By its name in CoNLL-U.
    Field(Field),
}

impl LabelColumn {
    /// Reads a number or a name such as `xpos`.
    ///
    /// # Errors
    /// A sentence with the nearest name.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(LabelColumn::Number(number));
        }
        if let Some(field) = Field::parse(text) {
            return Ok(LabelColumn::Field(field));
        }
        let names = Field::ALL.map(Field::name);
        Err(match seqoia_core::param::nearest(text, names.into_iter()) {
            Some(name) => format!("there is no column '{text}'; did you mean {name}?"),
            None => {
                format!("there is no column '{text}'; give its number from 0, or one of {}", names.join(", "))
            }
        })
    }

    /// The number of the column in a file of this format.
    ///
    /// # Errors
    /// A column that the file does not have.
    pub fn resolve(&self, file: &str, format: &dyn Format) -> Result<usize> {
        let (kind, columns) = (format.kind().name(), format.columns());
        let number = match (self, format.label()) {
            (_, Place::Missing) => {
                let why = match format.why_unlabelled() {
                    why if why.is_empty() => why,
                    why => format!(": {why}"),
                };
                return Err(Error::Mismatch(format!("{file} has no labels (it was read as {kind}){why}")));
            }
            (LabelColumn::Last, Place::Fixed(number)) => number,
            (LabelColumn::Number(number), Place::Fixed(fixed)) if *number == fixed => fixed,
            (_, Place::Fixed(_)) => {
                return Err(Error::Option(format!("--label: in {kind} the label has its own place")));
            }
            (LabelColumn::Field(field), Place::Chosen) => field.column(),
            (LabelColumn::Field(field), Place::Last) => {
                return Err(Error::Option(format!(
                    "--label {}: {file} has plain columns; give the column's number, from 0",
                    field.name()
                )));
            }
            (LabelColumn::Last, Place::Chosen) => {
                let name = if format.kind() == Kind::Conllu { "CoNLL-U" } else { "CoNLL-X" };
                return Err(Error::Option(format!(
                    "{file} is {name}: say which column is the label, such as --label xpos"
                )));
            }
            (LabelColumn::Last, Place::Last) => columns.saturating_sub(1),
            (LabelColumn::Number(number), _) => *number,
        };
        if number >= columns {
            return Err(Error::Option(format!("--label {number}: {file} has {}", error::columns(columns))));
        }
        Ok(number)
    }
}

/// Which (attribute, label) pairs have a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairChoice {
    /// Those that occur.
    #[default]
    Observed,
    /// All.
    All,
}

impl PairChoice {
    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PairChoice::Observed => "observed",
            PairChoice::All => "all",
        }
    }
}

/// Which labels may follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleChoice {
    /// As in a label scheme.
    Scheme(Scheme),
    /// As a table says.
    Table(RuleTable),
}

/// How data is read.
#[derive(Clone, Debug, Default)]
pub struct DataOptions {
    /// The attributes.
    pub features: FeatureChoice,
    /// Which column is the label.
    pub label: LabelColumn,
    /// The scheme to train in; the file's own if none.
    pub scheme: Option<Scheme>,
    /// Attributes seen fewer times are dropped.
    pub cutoff: u32,
    /// Which pairs have a weight.
    pub pairs: PairChoice,
    /// The format, if it is not to be recognised.
    pub format: Option<Kind>,
    /// What labellings are held to.
    pub rules: Option<RuleChoice>,
    /// What stands in the place of a label that is not known; all are known if none.
    pub partial: Option<String>,
    /// The schemes of a whole of which the data is a part. A part may lack labels, so its own scheme may not be
    /// seen in it, and rules, weights and costs may name labels that it does not have.
    pub part_of: Option<Schemes>,
    /// How much labels count: a sentence counts the mean of its labels. By label or by chunk type.
    pub label_weights: Vec<(String, f64)>,
    /// How much it costs to miss a label, for learners that look at costs. By label or by chunk type.
    pub label_costs: Vec<(String, f64)>,
}

/// A penalty as the user gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// A number.
    Plain(f64),
    /// A number divided by the number of training examples: other tools' units.
    OverN(f64),
}

impl Strength {
    /// The number of the objective.
    #[must_use]
    pub fn value(self, n: f64) -> f64 {
        match self {
            Strength::Plain(x) => x,
            Strength::OverN(x) => x / n,
        }
    }
}

/// How many passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// This many.
    Exactly(u64),
    /// At most this many; the learner's own test may end it before.
    AtMost(u64),
}

/// Who works on what, when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    /// One example at a time.
    Serial,
    /// Batches in parallel.
    Minibatch,
    /// Whole passes.
    Batch,
}

impl StrategyChoice {
    /// All, with a line about each.
    pub const ALL: [(StrategyChoice, &'static str, &'static str); 3] = [
        (StrategyChoice::Serial, "serial", "one example at a time"),
        (StrategyChoice::Minibatch, "minibatch", "--batch-size examples in parallel, then one step"),
        (StrategyChoice::Batch, "batch", "whole passes, for learners that work on them"),
    ];

    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|s| s.0 == self).map_or("", |s| s.1)
    }

    /// By name.
    ///
    /// # Errors
    /// A sentence with the nearest name.
    pub fn parse(name: &str) -> std::result::Result<Self, String> {
        if let Some(found) = Self::ALL.iter().find(|s| s.1 == name) {
            return Ok(found.0);
        }
        let names = Self::ALL.map(|s| s.1);
        Err(match seqoia_core::param::nearest(name, names.into_iter()) {
            Some(other) => format!("there is no strategy '{name}'; did you mean {other}?"),
            None => format!("there is no strategy '{name}'; there are: {}", names.join(", ")),
        })
    }
}

const L1: &str = "|w|_1 (--l1, --c1, --rho1)";
const L2: &str = "|w|^2 (--l2, --c2, --rho2, -C)";

/// How to learn.
#[derive(Clone)]
pub struct TrainOptions {
    /// The learner.
    pub learner: &'static Entry,
    /// Its parameters.
    pub settings: Settings,
    /// l1, if given.
    pub l1: Option<Strength>,
    /// l2, if given.
    pub l2: Option<Strength>,
    /// The strategy; the learner's own if none.
    pub strategy: Option<StrategyChoice>,
    /// Examples a step.
    pub batch_size: usize,
    /// At most this many threads; never changes the result.
    pub threads: usize,
    /// How many passes; the learner's own number if none.
    pub passes: Option<Passes>,
    /// Keep the last weights instead of the best on dev data.
    pub keep_last: bool,
    /// Stop after so many passes without gain on dev data.
    pub patience: Option<u64>,
    /// Fixes all that is random.
    pub seed: u64,
    /// Arithmetic of sums over whole passes.
    pub precision: Precision,
    /// Labels that search keeps a position; exact search if none.
    pub beam: Option<usize>,
    /// Weights to start from, as long as the training set's; zeros if none.
    pub start: Option<Vec<f64>>,
    /// A checkpoint after so many passes each, and at the end: see [`crate::Watch::checkpoint`].
    pub checkpoint_every: Option<u64>,
    /// A run to go on with.
    pub resume: Option<Arc<Checkpoint>>,
}

impl TrainOptions {
    /// A learner with its defaults.
    #[must_use]
    pub fn new(learner: &'static Entry, settings: Settings) -> Self {
        TrainOptions {
            learner,
            settings,
            l1: None,
            l2: None,
            strategy: None,
            batch_size: 1,
            threads: 1,
            passes: None,
            keep_last: false,
            patience: None,
            seed: 1,
            precision: Precision::F64,
            beam: None,
            start: None,
            checkpoint_every: None,
            resume: None,
        }
    }

    /// The update for inexact search, if the user chose one.
    pub(crate) fn update(&self) -> Option<&'static str> {
        self.settings.word("update")
    }

    /// The strategy that will run.
    ///
    /// # Errors
    /// A batch size that the strategy does not use, penalties that the learner does not know, a beam for
    /// one that does not search.
    pub fn check(&self) -> Result<StrategyChoice> {
        let name = self.learner.name;
        let unknown = |what: &str| {
            let others = LEARNERS.iter().filter(|l| match what {
                L1 => l.penalty == Penalty::L1L2,
                _ => l.penalty != Penalty::None,
            });
            let others: Vec<_> = others.map(|l| l.name).collect();
            Err(Error::Option(format!("{name} has no penalty {what}; these have: {}", others.join(", "))))
        };
        match self.learner.penalty {
            Penalty::None if self.l1.is_some() => return unknown(L1),
            Penalty::None if self.l2.is_some() => return unknown(L2),
            Penalty::L2 if self.l1.is_some() => return unknown(L1),
            _ => (),
        }
        match self.patience {
            Some(0) => return Err(Error::Option("--patience 0: at least one pass is needed".to_owned())),
            Some(_) if self.keep_last => {
                let what = "--patience counts the passes since the best one: it goes with --keep best";
                return Err(Error::Option(what.to_owned()));
            }
            _ => (),
        }
        let strategy = self.strategy.unwrap_or(match (self.learner.whole, self.batch_size) {
            (true, _) => StrategyChoice::Batch,
            (false, 0..=1) => StrategyChoice::Serial,
            (false, _) => StrategyChoice::Minibatch,
        });
        match (self.learner.whole, strategy) {
            (true, StrategyChoice::Minibatch) => {
                return Err(Error::Option(format!(
                    "{name} works on whole passes: use strategy batch or serial"
                )));
            }
            (false, StrategyChoice::Batch) => {
                return Err(Error::Option(format!(
                    "{name} works on single examples: use strategy serial or minibatch"
                )));
            }
            _ => (),
        }
        if self.precision == Precision::F32 && !self.learner.whole {
            return Err(Error::Option(format!(
                "{name} does not use --precision f32: it makes no sums over whole passes"
            )));
        }
        if self.beam.is_some() && !self.learner.searches() {
            let others: Vec<_> = LEARNERS.iter().filter(|l| l.searches()).map(|l| l.name).collect();
            return Err(Error::Option(format!(
                "{name} does not search, so it does not use --beam; these do: {}",
                others.join(", ")
            )));
        }
        if let (None, Some(update)) = (self.beam, self.update().filter(|u| *u != "full")) {
            return Err(Error::Option(format!(
                "--update {update} goes with --beam N: without a beam the search is exact, and whole labellings \
                 are compared"
            )));
        }
        if self.batch_size > 1 && strategy != StrategyChoice::Minibatch {
            return Err(Error::Option(format!(
                "--batch-size {}: strategy {} does not use it; minibatch does",
                self.batch_size,
                strategy.name()
            )));
        }
        Ok(strategy)
    }
}
