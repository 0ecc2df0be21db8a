//! How any model is learned: learner, strategy, passes, penalties.

use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct LearnArgs {
    /// Learner by name; `list` shows all [default: that of --features SET; with a penalty lbfgs or
    /// owl-qn; else averaged-perceptron, for lists lbfgs]
    #[arg(long, value_name = "NAME", help_heading = "Learning")]
    pub(crate) learner: Option<String>,
    /// Strategy by name; `list` shows all [default: the learner's]
    #[arg(long, value_name = "NAME", help_heading = "Learning")]
    pub(crate) strategy: Option<String>,
    /// Exactly N passes (epochs) [default: the learner's]
    #[arg(long, value_name = "N", conflicts_with = "max_passes", help_heading = "Learning")]
    pub(crate) passes: Option<u64>,
    /// At most N passes, with the learner's own stopping test
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) max_passes: Option<u64>,
    /// At most about N evaluations per example, counting those of line searches: comparable between learners. The pass
    /// in which they are reached is finished
    #[arg(long, value_name = "N", conflicts_with_all = ["checkpoint", "resume"], help_heading = "Learning")]
    pub(crate) max_effective_passes: Option<f64>,
    /// Stop after N passes without gain on dev data
    #[arg(long, value_name = "N", requires = "dev", help_heading = "Learning")]
    pub(crate) patience: Option<u64>,
    /// Try values of an option, such as rate=0.05,0.1,0.2, and keep the best on --dev or --folds: may be given
    /// again, for all combinations. Values that hold commas stand between semicolons
    #[arg(long = "try", value_name = "NAME=A,B", help_heading = "Learning")]
    pub(crate) tries: Vec<String>,
    /// Compute the training objective after every N passes, for learners that do not know it
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) objective_every: Option<u64>,
    /// Which weights to keep when there is dev data
    #[arg(long, value_enum, default_value_t = KeepName::Best, requires = "dev", help_heading = "Learning")]
    pub(crate) keep: KeepName,
    /// Train on pieces of about N tokens, cut at random places in each pass: a regulariser
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) cut: Option<usize>,
    /// Random seed
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
    /// Train one l2 after another, from large to small, each begun at the weights of the last one
    #[arg(long, value_name = "X,Y,...", value_delimiter = ',', conflicts_with_all = ["l2", "c2", "rho2", "c"],
          help_heading = "Penalties")]
    pub(crate) l2_path: Vec<String>,
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
}

#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(crate) enum KeepName {
    Best,
    Last,
}
