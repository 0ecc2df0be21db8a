//! The comparisons, one file each.

mod choice;
mod fastest;
mod lbfgs;
mod many_labels;
mod names;
mod predict;
mod reading;
pub(crate) mod shapes;

use anyhow::Result;

use crate::bench::Bench;

/// A comparison.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    /// On the command line.
    pub(crate) name: &'static str,
    /// In a line.
    pub(crate) about: &'static str,
    /// Runs it and shows its tables.
    pub(crate) run: fn(&mut Bench) -> Result<()>,
}

/// All of them, in the order in which they run.
pub(crate) const SECTIONS: [Section; 10] = [
    Section { name: "reading", about: "reading the training file", run: reading::run },
    Section { name: "fastest", about: "a good labeller in little time", run: fastest::run },
    Section { name: "lbfgs", about: "the optimum of the CRF", run: lbfgs::to_the_end },
    Section { name: "evaluation", about: "one evaluation of the CRF's objective", run: lbfgs::evaluation },
    Section { name: "threads", about: "the same optimum with two threads", run: lbfgs::two_threads },
    Section { name: "predict", about: "labelling, and loading a model", run: predict::run },
    Section { name: "many-labels", about: "hundreds of labels", run: many_labels::run },
    Section { name: "names", about: "names of persons, places and organisations", run: names::run },
    Section { name: "recipes", about: "feature sets with their own settings", run: names::recipes },
    Section { name: "shapes", about: "a grid of few and many labels, attributes, values", run: shapes::run },
];

/// How many times ours theirs is.
fn times(theirs: f64, ours: f64) -> crate::table::Cell {
    crate::table::Cell::Times(theirs / ours)
}

/// Borrowed words.
fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
