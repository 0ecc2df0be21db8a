//! What belongs to sequence labelling alone: its data, features, labels and search.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seqoia::data::format::Kind;

use super::{TemplateArgs, formats};

#[derive(Args)]
pub(crate) struct LabelArgs {
    /// Format of the data, if it is not to be recognised
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Files")]
    pub(crate) format: Option<Kind>,

    #[command(flatten)]
    pub(crate) templates: TemplateArgs,
    /// Word clusters, rows of path<TAB>word: their paths become features
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) clusters: Option<PathBuf>,
    /// Lists of names, one per line: a word's place in a name becomes a feature. Put the data file before
    /// this flag, or another flag behind the lists
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Features")]
    pub(crate) gazetteer: Vec<PathBuf>,
    /// Words for text without blanks, one per line: those that start or end at a character, or meet
    /// there, become features
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Also use the words of the training text (a sentence never sees its own)
    #[arg(long, help_heading = "Features")]
    pub(crate) own_dictionary: bool,
    /// Words with categories for --features ner-zh, lines of CODE word word ...: the categories of the words that the
    /// longest match finds become features
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) lexicon: Option<PathBuf>,
    /// Plain text for --features segmentation: which characters stand around a string in it, and which meet
    /// often, becomes features. May be given again
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub(crate) raw_text: Vec<PathBuf>,
    /// Map half-width ASCII to full width, or take text as it is [default: own; segmentation, ner-zh,
    /// pos-zh: full]
    #[arg(long, value_enum, help_heading = "Features")]
    pub(crate) width: Option<WidthName>,
    /// Emit a feature (F) when a test fails, too
    #[arg(long, help_heading = "Features")]
    pub(crate) false_features: bool,
    /// Print each token's label and attributes instead of training
    #[arg(long, help_heading = "Features", conflicts_with_all = ["model", "dev", "folds", "checkpoint", "resume",
        "warm_start", "log", "json"])]
    pub(crate) dump_features: bool,
    /// Column of the label: a number from 0; CoNLL-U: upos, xpos, feats, deprel [default: the last]
    #[arg(long, value_name = "COLUMN", help_heading = "Features")]
    pub(crate) label: Option<String>,
    /// Label scheme to train in: iob1, iob2, iobes, bmes, bie [default: that of --features SET, else
    /// the file's]
    #[arg(long, value_name = "SCHEME", help_heading = "Features")]
    pub(crate) scheme: Option<String>,
    /// Drop attributes seen fewer than N times
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Features")]
    pub(crate) cutoff: u32,
    /// Which (feature, label) pairs have a weight [default: that of --features SET, else observed]
    #[arg(long, value_enum, help_heading = "Features")]
    pub(crate) pairs: Option<PairsName>,

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
    /// Cost of missing a label or chunk type, multiplied by --cost
    #[arg(long, value_name = "LABEL=X", help_heading = "Labels")]
    pub(crate) label_cost: Vec<String>,

    /// Cross-validation instead of a model: train and score N times, each on a part left out
    #[arg(long, value_name = "N", help_heading = "Learning",
        conflicts_with_all = ["dev", "checkpoint", "resume", "warm_start", "patience", "log"])]
    pub(crate) folds: Option<usize>,
    /// Keep the N best labels per position in search [default: search is exact]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) beam: Option<usize>,
    /// Train in at most SIZE of memory, such as 200M or 4G; data that does not fit is kept in temporary files,
    /// in the folder TMPDIR if that is set, else beside the model
    #[arg(long, value_name = "SIZE", help_heading = "Learning", conflicts_with_all = ["folds", "dump_features"])]
    pub(crate) memory_limit: Option<String>,
    /// Arithmetic of sums over whole passes; always f64 with many labels of which few pairs occur
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Learning")]
    pub(crate) precision: PrecisionName,
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum WidthName {
    Own,
    Full,
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
