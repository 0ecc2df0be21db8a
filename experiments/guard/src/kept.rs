//! The kept counts: a text file that names the compiler and valgrind they were made with, then one line for
//! each case.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    pub(crate) compiler: String,
    pub(crate) valgrind: String,
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Kept {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// A line that is not a name and a number.
    pub(crate) fn parse(text: &str) -> Result<Kept> {
        let mut kept = Kept::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if line.starts_with('#') {
                continue;
            }
            let (name, value) = line
                .split_once(' ')
                .map(|(name, value)| (name, value.trim()))
                .with_context(|| format!("line {}: a name and a value are expected: {line}", number + 1))?;
            match name {
                "compiler" => value.clone_into(&mut kept.compiler),
                "valgrind" => value.clone_into(&mut kept.valgrind),
                _ => {
                    let count = value.parse().with_context(|| format!("line {}: {line}", number + 1))?;
                    kept.counts.insert(name.to_owned(), count);
                }
            }
        }
        Ok(kept)
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "# Instructions of each case; written by `guard --keep`\ncompiler {}\nvalgrind {}\n\n",
            self.compiler, self.valgrind
        );
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{name:<24} {count:>12}"); // a string takes all that is written
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let counts = [("sum-22".to_owned(), 12_345), ("predict".to_owned(), 7)].into();
        let (compiler, valgrind) = ("rustc 1.95.0 here".to_owned(), "valgrind-3.19.0".to_owned());
        let kept = Kept { compiler, valgrind, counts };
        assert_eq!(Kept::parse(&kept.text()).unwrap(), kept);
    }

    #[test]
    fn broken_lines_are_named() {
        for text in ["sum-22\n", "sum-22 many\n"] {
            assert!(Kept::parse(text).unwrap_err().to_string().starts_with("line 1: "));
        }
        assert_eq!(Kept::parse("").unwrap(), Kept::default());
    }
}
