//! The grid: one base, one thing varied at a time, and two corners that were slow once.
//!
//! Files with many labels or attributes are shorter, or CRFsuite would take too long: its time per token grows with the
//! square of the number of labels.

use super::made::{Pairs, Shape};

/// Rows of `--quick`: an ordinary file and one of each kind that asks for other code.
const QUICK: [&str; 9] = [
    "base",
    "2 labels",
    "33 labels, dense",
    "64 labels, dense",
    "65 labels, dense",
    "80 attributes",
    "long tail",
    "values",
    "1 to 3 tokens",
];

/// The middle of the grid.
fn base() -> Shape {
    Shape {
        name: "base".to_owned(),
        labels: 9,
        pairs: Pairs::Sparse,
        attributes: 20,
        tail: 0,
        values: false,
        lengths: (15, 35),
        tokens: 60_000,
    }
}

/// With so many labels.
fn labels(labels: usize, pairs: Pairs) -> Shape {
    let tokens = match (labels, pairs) {
        (..=33, _) => 60_000,
        (34..=65, _) => 24_000,
        (66..=120, _) => 18_000, // all pairs of 120 still fit
        (_, Pairs::Sparse) => 8_000,
        (_, Pairs::Dense) => labels * labels / 4, // one pair in five; with all, CRFsuite takes two minutes per iteration
    };
    let dense = if pairs == Pairs::Dense { ", dense" } else { "" };
    Shape { name: format!("{labels} labels{dense}"), labels, pairs, tokens, ..base() }
}

/// All made rows, or the few of a quick run.
pub(super) fn shapes(quick: bool) -> Vec<Shape> {
    let named = |name: &str, shape: Shape| Shape { name: name.to_owned(), ..shape };
    let mut all = vec![base()];
    all.extend([2, 5, 7, 17, 33, 64, 65, 120, 400].map(|n| labels(n, Pairs::Sparse)));
    all.extend([17, 33, 64, 65, 120, 400].map(|n| labels(n, Pairs::Dense)));
    all.extend([(5, 60_000), (80, 30_000), (300, 12_000)].map(|(attributes, tokens)| {
        let name = format!("{attributes} attributes");
        Shape { name, attributes, tokens, ..base() }
    }));
    all.extend([
        Shape { name: "long tail".to_owned(), tail: 20, ..base() },
        Shape { name: "values".to_owned(), values: true, ..base() },
        Shape { name: "1 to 3 tokens".to_owned(), lengths: (1, 3), ..base() },
        Shape { name: "20,000 tokens".to_owned(), lengths: (20_000, 20_000), ..base() },
        named("33 labels, values", Shape { values: true, ..labels(33, Pairs::Sparse) }),
        named("2 labels, long tail", Shape { tail: 20, ..labels(2, Pairs::Sparse) }),
    ]);
    all.retain(|shape| !quick || QUICK.contains(&shape.name.as_str()));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_differ_and_the_quick_ones_are_there() {
        let all = shapes(false);
        let names: HashSet<&str> = all.iter().map(|shape| shape.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(shapes(true).len(), QUICK.len());
    }
}
