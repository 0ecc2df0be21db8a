//! A user's table of legal transitions.
//!
//! ```text
//! # nothing is forbidden unless a line says so; the last line that fits a pair decides
//! forbid O I-PER
//! forbid <s> I-PER        a sentence does not begin with it
//! forbid * </s>           * is any label, or any end
//! allow  O </s>
//! ```

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::text;

/// The begin of a sentence, as in feature sets.
const BEGIN: &str = "<s>";
const END: &str = "</s>";
const ANY: &str = "*";

/// A table of lines, each of which allows or forbids pairs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RuleTable {
    lines: Vec<(u64, bool, String, String)>, // line, allowed, before, after
    name: String,
}

impl RuleTable {
    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// A line that is no rule; no rule at all.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let mut table = RuleTable { lines: vec![], name: name.to_owned() };
        for (number, line) in text::lines(text) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields[..] {
                [] => (),
                [first, ..] if first.starts_with('#') => (),
                [verb @ ("allow" | "forbid"), before, after] => {
                    table.lines.push((number, verb == "allow", before.to_owned(), after.to_owned()));
                }
                _ => {
                    let shown: String = line.chars().take(40).collect();
                    return Err(Error::at(name, number, format!("'{shown}' is no rule"))
                        .help("rules look like: forbid O I-PER, or: allow <s> B-PER; * is any label"));
                }
            }
        }
        if table.lines.is_empty() {
            return Err(Error::new(name, "there is no rule in it").help("write one a line: forbid O I-PER"));
        }
        if table.lines.iter().all(|(_, allowed, ..)| *allowed) {
            let help =
                "nothing is forbidden unless a line says so: to name what is allowed, begin with forbid * *";
            return Err(Error::new(name, "it forbids nothing").help(help));
        }
        Ok(table)
    }

    /// Names only labels that there are.
    ///
    /// # Errors
    /// The first line that names another.
    pub fn check<'a>(&self, labels: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        for (line, _, before, after) in &self.lines {
            for (name, end) in [(before, BEGIN), (after, END)] {
                if name != ANY && name != end && !labels.clone().any(|label| label == name) {
                    let near = seqoia_core::param::nearest(name, labels.clone());
                    let help = near.map_or_else(
                        || format!("labels of the training data, {ANY}, and {end} can stand here"),
                        |near| format!("did you mean {near}?"),
                    );
                    let shown: String = name.chars().take(40).collect();
                    let what = format!("there is no label '{shown}' in the training data");
                    return Err(Error::at(&self.name, *line, what).help(help));
                }
            }
        }
        Ok(())
    }

    /// Which of K labels may stand behind which, as [K + 1][K + 1]: row by row what may follow, K being the
    /// begin of a sentence before and its end after.
    #[must_use]
    pub fn allowed<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Vec<bool> {
        let numbers: HashMap<&str, usize> = labels.zip(0..).collect();
        let size = numbers.len() + 1;
        let places = |name: &str, end: &str| match name {
            ANY => 0..size,
            _ if name == end => size - 1..size,
            _ => numbers.get(name).map_or(0..0, |&y| y..y + 1),
        };
        let mut table = vec![true; size * size];
        for (_, allowed, before, after) in &self.lines {
            for from in places(before, BEGIN) {
                table[from * size..][places(after, END)].fill(*allowed);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_fits_decides() {
        let text = "\u{feff}# c\nforbid O I\n\nforbid * </s>\nallow O </s>\nforbid <s> I\n";
        let table = RuleTable::parse("t", text).unwrap();
        // From O, B, I and the begin to O, B, I and the end.
        let allowed: Vec<u8> = table.allowed(["O", "B", "I"].into_iter()).into_iter().map(u8::from).collect();
        assert_eq!(allowed, [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0]);
        table.check(["O", "B", "I"].into_iter()).unwrap();
        let error = table.check(["O", "B", "II"].into_iter()).unwrap_err().to_string();
        assert!(error.starts_with("t:2: there is no label 'I'"), "{error}");
    }

    #[test]
    fn lines_that_are_no_rules_are_named() {
        let error = |text| RuleTable::parse("t", text).unwrap_err().to_string();
        assert!(error("forbid O\n").starts_with("t:1: 'forbid O' is no rule"));
        assert!(error("forbid O I\nB I\n").starts_with("t:2: 'B I' is no rule"));
        assert!(error("# nothing\n").contains("there is no rule"));
        assert!(error("allow O O\n").contains("it forbids nothing"));
    }
}
