//! The command line: one declaration for parser, help, completions and man pages. Parameters of
//! single learners come from their own declarations, see `train::with_learner_flags`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use seqoia::data::format::Kind;

use crate::check::CheckArgs;
use crate::inspect::InspectArgs;

#[derive(Parser)]
#[command(
    name = "seqoia",
    version,
    about = "Structured linear models: small, exact, reproducible, trained in seconds",
    after_help = "Try it:  seqoia demo",
    arg_required_else_help = true,
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a model from labelled data
    Train(Box<TrainArgs>),
    /// Label data with a model
    Predict(PredictArgs),
    /// Score labelled data
    Eval(EvalArgs),
    /// Look at data before training
    Check(CheckArgs),
    /// Look into a model: its weights, and why it gives a label
    Inspect(InspectArgs),
    /// Rewrite data in another format or scheme; make a model smaller
    Convert(ConvertArgs),
    /// Train and try a model on generated data
    Demo(DemoArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write man pages into a folder
    Man(ManArgs),
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia completions bash > ~/.local/share/bash-completion/completions/seqoia")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia man ~/.local/share/man/man1 && man seqoia-train")]
pub(crate) struct ManArgs {
    /// Where the pages go
    pub(crate) folder: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia train -t template.crfpp --learner averaged-perceptron \\
      --dev dev.txt.gz -m chunk.seqoia train.txt.gz
  seqoia train --features pos --label xpos -m pos.seqoia en-train.conllu

Files may be plain, gzip, xz or zstd; - is standard input.")]
pub(crate) struct TrainArgs {
    /// Training data, in any format that --format names; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,

    /// Where to write the model
    #[arg(short, long, value_name = "FILE", help_heading = "Files")]
    pub(crate) model: Option<PathBuf>,
    /// Held-out data, scored after every pass
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) dev: Option<PathBuf>,
    /// A model to start from: what it knows of the training data's attributes
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Where to note, after each pass, all that it takes to go on from there
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Note it after every N passes, and at the end
    #[arg(long, value_name = "N", default_value_t = 1, requires = "checkpoint", help_heading = "Files")]
    pub(crate) checkpoint_every: u64,
    /// A checkpoint to go on from, with the same data and options
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) resume: Option<PathBuf>,
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Files")]
    pub(crate) format: Option<Kind>,
    /// Records of the run, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) log: Option<PathBuf>,

    /// Template file of CRF++; may be given again
    #[arg(short, long, value_name = "FILE", help_heading = "Features")]
    pub(crate) template: Vec<PathBuf>,
    /// Pattern file of Wapiti; may be given again
    #[arg(short, long, value_name = "FILE", help_heading = "Features")]
    pub(crate) patterns: Vec<PathBuf>,
    /// Named feature set: chunking, pos, ner, ner-001, ner-003, segmentation
    #[arg(long, value_name = "SET", help_heading = "Features")]
    pub(crate) features: Vec<String>,
    /// Word clusters, rows of path<TAB>word: their paths become features
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) clusters: Option<PathBuf>,
    /// Lists of names, one a line: a word's place in a name becomes a feature. The data goes before it
    /// or behind another flag
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Features")]
    pub(crate) gazetteer: Vec<PathBuf>,
    /// Words for text without blanks, one a line: those that start or end at a character, or meet
    /// there, become features
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) dictionary: Option<PathBuf>,
    /// The same with the words of the training text, for each sentence those of the others
    #[arg(long, help_heading = "Features")]
    pub(crate) own_dictionary: bool,
    /// Take half-width ASCII for full width, or text as it is [default: own; segmentation: full]
    #[arg(long, value_enum, help_heading = "Features")]
    pub(crate) width: Option<WidthName>,
    /// Let tests that fail fire too, as F
    #[arg(long, help_heading = "Features")]
    pub(crate) false_features: bool,
    /// Print each token's label and attributes instead of training
    #[arg(long, help_heading = "Features", conflicts_with_all = ["model", "dev", "folds", "checkpoint", "resume",
        "warm_start", "log", "json"])]
    pub(crate) dump_features: bool,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last]
    #[arg(long, value_name = "COLUMN", help_heading = "Features")]
    pub(crate) label: Option<String>,
    /// Label scheme to train in: iob1, iob2, iobes, bmes, bie [default: the file's]
    #[arg(long, value_name = "SCHEME", help_heading = "Features")]
    pub(crate) scheme: Option<String>,
    /// Drop attributes seen fewer than N times
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Features")]
    pub(crate) cutoff: u32,
    /// Which (attribute, label) pairs have a weight
    #[arg(long, value_enum, default_value_t = PairsName::Observed, help_heading = "Features")]
    pub(crate) pairs: PairsName,

    /// Which labels may follow each other: bio, iobes or another scheme, or a file with lines such as
    /// `forbid O I-PER`
    #[arg(long, value_name = "RULES", help_heading = "Labels")]
    pub(crate) rules: Option<String>,
    /// Some labels are not known: MARK [_] stands in their place, and they may be any
    #[arg(long, value_name = "MARK", num_args = 0..=1, require_equals = true, default_missing_value = "_",
        help_heading = "Labels")]
    pub(crate) partial: Option<String>,
    /// How much a label or chunk type counts; a sentence counts the mean of its labels
    #[arg(long, value_name = "LABEL=X", help_heading = "Labels")]
    pub(crate) label_weight: Vec<String>,
    /// How much it costs to miss a label or chunk type, times --cost
    #[arg(long, value_name = "LABEL=X", help_heading = "Labels")]
    pub(crate) label_cost: Vec<String>,

    /// Cross-validation instead of a model: train and score N times, each on a part left out
    #[arg(long, value_name = "N", help_heading = "Learning",
        conflicts_with_all = ["model", "dev", "checkpoint", "resume", "warm_start", "patience", "log"])]
    pub(crate) folds: Option<usize>,
    /// Learner by name; `list` shows all
    #[arg(long, value_name = "NAME", default_value = "lbfgs", help_heading = "Learning")]
    pub(crate) learner: String,
    /// Strategy: serial, minibatch, batch [default: the learner's]
    #[arg(long, value_name = "NAME", help_heading = "Learning")]
    pub(crate) strategy: Option<String>,
    /// Examples a step
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Learning")]
    pub(crate) batch_size: usize,
    /// Exactly N passes [default: the learner's]
    #[arg(long, value_name = "N", conflicts_with = "max_passes", help_heading = "Learning")]
    pub(crate) passes: Option<u64>,
    /// At most N passes, with the learner's own stopping test
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) max_passes: Option<u64>,
    /// Stop after N passes without gain on dev data
    #[arg(long, value_name = "N", requires = "dev", help_heading = "Learning")]
    pub(crate) patience: Option<u64>,
    /// Which weights to keep when there is dev data
    #[arg(long, value_enum, default_value_t = KeepName::Best, requires = "dev", help_heading = "Learning")]
    pub(crate) keep: KeepName,
    /// Keep the N best labels a position in search [default: search is exact]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) beam: Option<usize>,
    /// Arithmetic of sums over whole passes; f64 always with more than 64 labels
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Learning")]
    pub(crate) precision: PrecisionName,
    /// All that is random
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Learning")]
    pub(crate) seed: u64,
    /// At most N threads; never changes the result [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) threads: Option<usize>,

    /// Weight of |w|_1; `0.5/n` is understood
    #[arg(long, value_name = "X", help_heading = "Penalties")]
    pub(crate) l1: Option<String>,
    /// Twice the weight of |w|^2; `1/n` is understood [default: 1/n; adagrad: 0]
    #[arg(long, value_name = "X", help_heading = "Penalties")]
    pub(crate) l2: Option<String>,
    /// CRFsuite's c1: l1 = c1 / n
    #[arg(long, value_name = "X", conflicts_with_all = ["l1", "rho1"], help_heading = "Penalties")]
    pub(crate) c1: Option<String>,
    /// CRFsuite's c2: l2 = 2 c2 / n
    #[arg(long, value_name = "X", conflicts_with_all = ["l2", "rho2", "c"], help_heading = "Penalties")]
    pub(crate) c2: Option<String>,
    /// Wapiti's rho1: l1 = rho1 / n
    #[arg(long, value_name = "X", conflicts_with = "l1", help_heading = "Penalties")]
    pub(crate) rho1: Option<String>,
    /// Wapiti's rho2: l2 = rho2 / n
    #[arg(long, value_name = "X", conflicts_with_all = ["l2", "c"], help_heading = "Penalties")]
    pub(crate) rho2: Option<String>,
    /// CRF++'s C: l2 = 1 / (C n)
    #[arg(short = 'C', id = "c", value_name = "X", conflicts_with = "l2", help_heading = "Penalties")]
    pub(crate) c: Option<String>,

    /// Records to standard output, as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia predict -m chunk.seqoia test.txt.gz > out.txt && seqoia eval out.txt

Column files get the label as a further column; in CoNLL-U it stands in the
column that the model was trained on, in other formats in its own place.")]
pub(crate) struct PredictArgs {
    /// Data to label; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// The model
    #[arg(short, long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Format of the data [default: that of the training data]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<Kind>,
    /// Keep to the labels that the data has; MARK [_] stands where none is known
    #[arg(long, value_name = "MARK", num_args = 0..=1, require_equals = true, default_missing_value = "_")]
    pub(crate) given: Option<String>,
    /// Which labels may follow each other, instead of the model's rules: bio, iobes or another scheme, or
    /// a file with lines such as `forbid O I-PER`
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<String>,
    /// With the probability of each label
    #[arg(long)]
    pub(crate) marginals: bool,
    /// The K best labellings, each under a line `# rank probability`
    #[arg(long, value_name = "K", conflicts_with = "marginals")]
    pub(crate) nbest: Option<usize>,
    /// One JSON object a sentence; goes with --marginals or --nbest. Where marginals are in another
    /// label scheme than the labels, `scheme` names it
    #[arg(long)]
    pub(crate) json: bool,
    /// A page with the text and its labels in colour, and probabilities under the pointer
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,
    /// Answer each sentence as soon as it has been read: for a program that waits at the other end of a pipe
    #[arg(long)]
    pub(crate) flush: bool,
    /// At most N threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia eval out.txt
  seqoia eval --errors --bootstrap --train train.txt --html out.html out.txt
  seqoia eval --gold en-test.conllu --label xpos out.conllu
  seqoia eval --compare old.txt new.txt
  seqoia eval --metric sighan --gold gold.txt --words train.txt out.txt")]
pub(crate) struct EvalArgs {
    /// Predictions: the last two columns are gold and predicted; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// A file with the gold labels, if they do not stand beside the predicted ones
    #[arg(long, value_name = "FILE")]
    pub(crate) gold: Option<PathBuf>,
    /// Format of all files, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats(), conflicts_with = "metric")]
    pub(crate) format: Option<Kind>,
    /// Column of the label in all files, with --gold: a number from 0, or upos, xpos, ...
    #[arg(long, value_name = "COLUMN", requires = "gold")]
    pub(crate) label: Option<String>,
    /// The exact output of conlleval
    #[arg(long, conflicts_with = "json")]
    pub(crate) conlleval: bool,
    /// Labels have no prefixes: every token is a chunk (conlleval -r)
    #[arg(long)]
    pub(crate) raw: bool,
    /// Figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Scores of all labels that are no chunks, not of the 20 most frequent alone
    #[arg(long, conflicts_with_all = ["conlleval", "compare", "metric"])]
    pub(crate) all: bool,

    /// The N most frequent confusions [10], with lines
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", conflicts_with = "conlleval",
        help_heading = "A closer look")]
    pub(crate) errors: Option<CountOrFile>,
    /// Training data: scores of words that it has, and of others
    #[arg(long, value_name = "FILE", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) train: Option<PathBuf>,
    /// The 95 % interval of the score, from N draws of the sentences [1000]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000", conflicts_with = "conlleval",
        help_heading = "A closer look")]
    pub(crate) bootstrap: Option<CountOrFile>,
    /// What fixes the draws [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) seed: Option<u64>,
    /// A page with tables and all sentences, those with errors first
    #[arg(long, value_name = "PAGE", conflicts_with = "conlleval", help_heading = "A closer look")]
    pub(crate) html: Option<PathBuf>,

    /// Two prediction files of the same data, with --gold where it is not beside: is the second better?
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], help_heading = "Other questions",
        conflicts_with_all = ["data", "conlleval", "errors", "train", "html"])]
    pub(crate) compare: Vec<PathBuf>,
    /// Random swaps that the test of --compare makes [default: 9999]
    #[arg(long, value_name = "N", requires = "compare", help_heading = "Other questions")]
    pub(crate) shuffles: Option<usize>,
    /// Another metric; sighan: words of segmented text against those of --gold
    #[arg(long, value_name = "NAME", help_heading = "Other questions",
        conflicts_with_all = ["compare", "label", "format", "conlleval", "raw", "errors", "train", "html"])]
    pub(crate) metric: Option<MetricName>,
    /// The words of the training text, a list or the text: scores of known and unknown words
    #[arg(long, value_name = "FILE", requires = "metric", help_heading = "Other questions")]
    pub(crate) words: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  seqoia convert --to crfsuite -t template.crfpp train.txt.gz > train.crfsuite
  seqoia convert --scheme iobes train.txt > iobes.txt
  seqoia convert big.seqoia --prune 0.05 --weights f16 -m small.seqoia
  seqoia inspect big.seqoia --text > big.txt
  seqoia convert big.txt -m same.seqoia")]
pub(crate) struct ConvertArgs {
    /// Data to rewrite, a model, or the text of one; - or nothing is standard input
    pub(crate) data: Option<PathBuf>,
    /// Where to write the model that is made of a model, or of what `inspect --text` wrote
    #[arg(short, long, value_name = "FILE",
        conflicts_with_all = ["from", "to", "scheme", "scheme_from", "template", "patterns", "features", "label"])]
    pub(crate) model: Option<PathBuf>,
    /// Leave out weights of attributes below X, and attributes that have no others
    #[arg(
        long,
        value_name = "X",
        requires = "model",
        allow_negative_numbers = true,
        help_heading = "Smaller models"
    )]
    pub(crate) prune: Option<f32>,
    /// How weights are stored: f32, f16, i8 [default: as before]
    #[arg(long, value_name = "BITS", requires = "model", help_heading = "Smaller models")]
    pub(crate) weights: Option<BitsName>,
    /// Labelled data: says what the score was and is
    #[arg(long, value_name = "FILE", requires = "model", help_heading = "Smaller models")]
    pub(crate) dev: Option<PathBuf>,
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) from: Option<Kind>,
    /// Format to write [default: that of the data]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) to: Option<Kind>,
    /// Label scheme of the data, if it is not to be recognised
    #[arg(long, value_name = "SCHEME", requires = "scheme")]
    pub(crate) scheme_from: Option<String>,
    /// Label scheme to write: iob1, iob2, iobes, bmes, bie [default: that of the data]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    /// Template file of CRF++: write the attributes it makes; may be given again
    #[arg(short, long, value_name = "FILE")]
    pub(crate) template: Vec<PathBuf>,
    /// Pattern file of Wapiti: write the attributes it makes; may be given again
    #[arg(short, long, value_name = "FILE")]
    pub(crate) patterns: Vec<PathBuf>,
    /// Named feature set: write the attributes it makes
    #[arg(long, value_name = "SET")]
    pub(crate) features: Vec<String>,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last; to
    /// CoNLL-U: upos]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  seqoia demo --save demo     # and then use the files with train and predict")]
pub(crate) struct DemoArgs {
    /// Sentences to train on
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) sentences: usize,
    /// Which sentences
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write train.txt, test.txt, template.crfpp and the model into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) save: Option<PathBuf>,
    /// At most N threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// Formats by their names.
pub(crate) fn formats() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name))
        .map(|name| Kind::parse(&name).unwrap_or(Kind::Columns))
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MetricName {
    Sighan,
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum WidthName {
    Own,
    Full,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum BitsName {
    F32,
    F16,
    I8,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PairsName {
    Observed,
    All,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PrecisionName {
    F64,
    F32,
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum KeepName {
    Best,
    Last,
}

/// What stands behind an option whose number may be left out: the number, or already the data.
#[derive(Clone, Debug)]
pub(crate) enum CountOrFile {
    Count(usize),
    File(PathBuf),
}

impl From<std::ffi::OsString> for CountOrFile {
    fn from(text: std::ffi::OsString) -> Self {
        match text.to_str().and_then(|text| text.parse().ok()) {
            Some(count) => CountOrFile::Count(count),
            None => CountOrFile::File(text.into()),
        }
    }
}

/// Opens the data: the file, or standard input unless a person sits there.
///
/// # Errors
/// A file that cannot be opened; no file and a terminal.
pub(crate) fn open(data: Option<&Path>) -> seqoia::Result<seqoia::data::open::Input> {
    match data {
        Some(path) => Ok(seqoia::data::open::open(path)?),
        None if std::io::stdin().is_terminal() => {
            Err(seqoia::Error::Option("no data: name a file, or - to type it in here".to_owned()))
        }
        None => Ok(seqoia::data::open::open(Path::new("-"))?),
    }
}

/// More than this many threads would cost more than they can gain on any machine there is.
const MOST_THREADS: usize = 1024;

/// The number of threads: at most as given, or one for each core.
///
/// # Errors
/// `--threads 0`.
pub(crate) fn threads(given: Option<usize>) -> seqoia::Result<usize> {
    match given {
        Some(0) => Err(seqoia::Error::Option("--threads 0: at least one thread is needed".to_owned())),
        Some(n) => Ok(n.min(MOST_THREADS)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;

    #[test]
    fn threads_have_two_ends() {
        assert!(threads(Some(0)).unwrap_err().to_string().contains("at least one"));
        assert_eq!(threads(Some(3)).unwrap(), 3);
        assert_eq!(threads(Some(usize::MAX)).unwrap(), MOST_THREADS);
        assert!(threads(None).unwrap() >= 1);
    }
}
