//! Data that is made: one shape, one file, the same bytes for the same seed on every machine.
//!
//! Labels are a Markov chain. *Sparse*: each label has four successors. *Dense*: the file begins with a walk through
//! all pairs of labels, each once (the de Bruijn sequence of order 2: Lyndon words of length 1 and 2 in order), and
//! goes on with labels drawn at random; where the walk is longer than most of the file, only with those.
//!
//! A token has one attribute of each slot. The value of a slot is one of 2,000, rank r with probability in proportion
//! to 1 / r (Zipf). In every fourth slot the ranks are moved by a number that belongs to the label, or, every other
//! time, to any label: so the labels can be learned, and not perfectly. A tail is made of attributes that occur once.

use std::io::{self, Write};

use seqoia::core::{Random, cast};

/// Different values of a slot.
const VALUES: usize = 2000;
/// Every so many slots, one is tied to the label.
const TIED: usize = 4;
/// How many labels may follow a label where pairs are sparse.
const SUCCESSORS: usize = 4;
/// The test file has one token for so many of the training file.
const TEST_PART: usize = 10;
/// And no more than this: with 400 labels a tagger takes a millisecond for each.
const TEST_TOKENS: usize = 6000;
const SEED: u64 = 1;

/// Which labels may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairs {
    /// Four behind each.
    Sparse,
    /// Any.
    Dense,
}

/// What a made file is like.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Name of the row.
    pub(super) name: String,
    /// Number of labels.
    pub(super) labels: usize,
    /// Which may follow each other.
    pub(super) pairs: Pairs,
    /// Attributes of a token, tail not counted.
    pub(super) attributes: usize,
    /// Attributes of a token that occur only there.
    pub(super) tail: usize,
    /// Whether attributes have real numbers as values.
    pub(super) values: bool,
    /// Shortest and longest sequence.
    pub(super) lengths: (usize, usize),
    /// Training tokens.
    pub(super) tokens: usize,
}

/// Which file of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// To learn from.
    Train,
    /// A tenth of the size.
    Test,
}

impl Shape {
    /// Writes a file as CRFsuite reads it.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub(super) fn write(&self, part: Part, out: &mut impl Write) -> io::Result<()> {
        let (tokens, shard, tail) = match part {
            Part::Train => (self.tokens, 0, 't'),
            Part::Test => (self.tokens.div_ceil(TEST_PART).min(TEST_TOKENS), 1, 'u'),
        };
        let layout = Layout::new(self);
        let mut random = Random::new(SEED, 0, shard, "tokens");
        let mut walk = if part == Part::Train { self.walk() } else { vec![] }.into_iter();
        let (mut written, mut once) = (0, 0usize);
        let mut last = None; // the walk goes on from it in the next sequence
        while written < tokens {
            let (shortest, longest) = self.lengths;
            let length = (shortest + random.below(longest - shortest + 1)).min(tokens - written);
            let mut label = match last.take().or_else(|| walk.next()) {
                Some(label) => label,
                None => random.below(self.labels),
            };
            for place in 0..length {
                if place > 0 {
                    label = match walk.next() {
                        Some(label) => label,
                        None => layout.next(label, &mut random),
                    };
                }
                write!(out, "L{label}")?;
                for slot in 0..self.attributes {
                    write!(out, "\ts{slot}={}", layout.value(slot, label, &mut random))?;
                    self.number(out, &mut random)?;
                }
                for _ in 0..self.tail {
                    write!(out, "\t{tail}{once}")?;
                    once += 1;
                    self.number(out, &mut random)?;
                }
                writeln!(out)?;
            }
            if walk.len() > 0 {
                last = Some(label);
            }
            writeln!(out)?;
            written += length;
        }
        out.flush()
    }

    /// The value of an attribute, where attributes have values: more than 0, less than 2.
    fn number(&self, out: &mut impl Write, random: &mut Random) -> io::Result<()> {
        match self.values {
            true => write!(out, ":{:.3}", 0.001 + 1.998 * random.unit()),
            false => Ok(()),
        }
    }

    /// Labels in which every pair stands once; none if the file is too short for them.
    fn walk(&self) -> Vec<usize> {
        let n = self.labels;
        // A sequence begins with the last label of the one before, so the walk takes some more tokens than pairs.
        if self.pairs == Pairs::Sparse || n * n * 5 / 4 > self.tokens {
            return vec![];
        }
        let words = (0..n).flat_map(|i| std::iter::once(i).chain((i + 1..n).flat_map(move |j| [i, j])));
        words.chain([0]).collect()
    }
}

/// What is fixed in all files of a shape.
struct Layout {
    successors: Vec<Vec<usize>>, // [label][at most 4]; empty if any label may follow
    labels: usize,
    moved: Vec<Vec<usize>>, // [tied slot][label]
    zipf: Vec<f64>,         // [rank], sums of probabilities
}

impl Layout {
    fn new(shape: &Shape) -> Layout {
        let labels = shape.labels;
        let mut random = Random::new(SEED, 0, 0, "layout");
        let mut successors = vec![];
        if shape.pairs == Pairs::Sparse {
            for label in 0..labels {
                // The next label is always among them, so every label is reached from every other.
                let mut after = vec![(label + 1) % labels];
                while after.len() < SUCCESSORS.min(labels) {
                    let other = random.below(labels);
                    if !after.contains(&other) {
                        after.push(other);
                    }
                }
                successors.push(after);
            }
        }
        let tied = shape.attributes.div_ceil(TIED);
        let moved = (0..tied).map(|_| (0..labels).map(|_| random.below(VALUES)).collect()).collect();
        let mut sum = 0.0;
        let zipf = (1..=VALUES).map(|rank| {
            sum += 1.0 / cast::real(rank);
            sum
        });
        Layout { successors, labels, moved, zipf: zipf.collect() }
    }

    fn next(&self, label: usize, random: &mut Random) -> usize {
        match self.successors.get(label) {
            Some(after) => after[random.below(after.len())],
            None => random.below(self.labels),
        }
    }

    fn value(&self, slot: usize, label: usize, random: &mut Random) -> usize {
        let at = random.unit() * self.zipf[VALUES - 1];
        let rank = self.zipf.partition_point(|&sum| sum <= at);
        if !slot.is_multiple_of(TIED) {
            return rank;
        }
        let label = if random.below(2) == 0 { label } else { random.below(self.labels) };
        (rank + self.moved[slot / TIED][label]) % VALUES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn shape() -> Shape {
        Shape {
            name: "x".into(),
            labels: 9,
            pairs: Pairs::Sparse,
            attributes: 20,
            tail: 0,
            values: false,
            lengths: (15, 35),
            tokens: 3000,
        }
    }

    fn text(shape: &Shape, part: Part) -> String {
        let mut out = vec![];
        shape.write(part, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn pairs(text: &str) -> HashSet<(String, String)> {
        let label = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        let lines: Vec<&str> = text.lines().collect();
        let both = lines.windows(2).filter(|two| two.iter().all(|line| !line.is_empty()));
        both.map(|two| (label(two[0]), label(two[1]))).collect()
    }

    #[test]
    fn the_same_bytes_again_and_others_in_the_test_file() {
        let shape = shape();
        let train = text(&shape, Part::Train);
        assert_eq!(train, text(&shape, Part::Train));
        let test = text(&shape, Part::Test);
        assert!(!train.starts_with(test.lines().next().unwrap()));
        let tokens = |text: &str| text.lines().filter(|line| !line.is_empty()).count();
        assert_eq!((tokens(&train), tokens(&test)), (3000, 300));
    }

    #[test]
    fn labels_and_attributes_are_as_many_as_asked() {
        for (labels, attributes) in [(2, 5), (9, 20), (65, 7)] {
            let text = text(&Shape { labels, attributes, ..shape() }, Part::Train);
            let rows: Vec<Vec<&str>> =
                text.lines().filter(|line| !line.is_empty()).map(|line| line.split('\t').collect()).collect();
            assert!(rows.iter().all(|row| row.len() == 1 + attributes));
            assert_eq!(rows.iter().map(|row| row[0]).collect::<HashSet<_>>().len(), labels);
            let mut after: HashMap<String, usize> = HashMap::new();
            pairs(&text).into_iter().for_each(|(label, _)| *after.entry(label).or_default() += 1);
            assert!(after.values().all(|&count| count <= SUCCESSORS));
        }
    }

    #[test]
    fn all_pairs_occur_where_they_are_dense() {
        for labels in [2, 3, 17] {
            let text = text(&Shape { labels, pairs: Pairs::Dense, ..shape() }, Part::Train);
            assert_eq!(pairs(&text).len(), labels * labels);
        }
    }

    #[test]
    fn sequences_are_as_long_as_asked() {
        let text = text(&Shape { lengths: (1, 3), ..shape() }, Part::Train);
        let lengths: HashSet<usize> = text.trim_end().split("\n\n").map(|s| s.lines().count()).collect();
        assert_eq!(lengths, HashSet::from([1, 2, 3]));
    }

    #[test]
    fn a_tail_occurs_once_and_values_are_numbers() {
        let text = text(&Shape { tail: 3, values: true, ..shape() }, Part::Train);
        let mut once = HashSet::new();
        for field in text.lines().flat_map(|line| line.split('\t').skip(1)) {
            let (name, value) = field.split_once(':').unwrap();
            assert!(value.parse::<f64>().is_ok_and(|value| value > 0.0 && value < 2.0), "{field}");
            assert!(!name.starts_with('t') || once.insert(name.to_owned()), "{field} twice");
        }
        assert_eq!(once.len(), 3 * 3000);
    }
}
