//! Columns that a model reads and that have few different values, such as parts of speech. A file in which none of
//! these values occurs has something else in that column, and what a model would say of it means nothing.

use seqoia_data::features::Program;
use seqoia_data::format::Block;
use serde::{Deserialize, Serialize};

/// Tokens that are looked at: enough to see a class, too few to take time.
pub(crate) const SAMPLE: usize = 2000;
/// More different values are not a class.
const MOST: usize = 100;

/// A column with few different values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Its number in the training file.
    pub column: usize,
    /// Values of the first tokens, in order of appearance.
    pub values: Vec<String>,
}

/// Collects the classes of a training file.
pub(crate) struct Collector {
    classes: Vec<Class>,
    tokens: usize,
}

impl Collector {
    /// For the columns that a program reads, but for that of the words.
    pub(crate) fn new(program: &Program, word: Option<usize>) -> Self {
        let last = program.templates().iter().filter_map(|t| t.last_column()).max();
        let reads = |column: &u16| program.templates().iter().any(|t| t.reads(*column));
        let columns = (0..=last.unwrap_or(0)).filter(|c| last.is_some() && reads(c)).map(usize::from);
        let class = |column| Class { column, values: vec![] };
        Collector { classes: columns.filter(|c| Some(*c) != word).map(class).collect(), tokens: 0 }
    }

    /// Looks at the tokens of a block, if more are wanted.
    pub(crate) fn add(&mut self, block: &Block) {
        let tokens = block.tokens().len().min(SAMPLE - self.tokens);
        self.tokens += tokens;
        for Class { column, values } in &mut self.classes {
            for i in 0..tokens {
                let value = block.field(i, *column);
                if values.len() <= MOST && !values.iter().any(|v| v == value) {
                    values.push(value.to_owned());
                }
            }
        }
    }

    /// Columns whose values come again and again.
    pub(crate) fn finish(self) -> Vec<Class> {
        let few = |class: &Class| class.values.len() <= MOST && class.values.len() * 5 <= self.tokens;
        self.classes.into_iter().filter(few).collect()
    }
}
