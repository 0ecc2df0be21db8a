//! Parameters, declared once: the declaration feeds the command line, the help, the documents and
//! the check, and a learner receives only values that passed it.

use crate::BadOption;

/// One parameter of a learner.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name, as on the command line without the dashes.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// What holds if it is not given.
    pub default: Value,
    /// One line, as a formula where it is one.
    pub help: &'static str,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A real number above `above` and at most `most`.
    Real {
        /// Excluded lower end.
        above: f64,
        /// Included upper end.
        most: f64,
    },
    /// A real number from 0 on.
    FromZero,
    /// A real number from 0 to 1, ends included.
    Fraction,
    /// A whole number, ends included.
    Count {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A checked value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Real(f64),
    /// A whole number.
    Count(u64),
    /// A word.
    Word(&'static str),
    /// Found out by the learner; the text says how.
    Auto(&'static str),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Real(x) => write!(f, "{x}"),
            Value::Count(n) => write!(f, "{n}"),
            Value::Word(w) => write!(f, "{w}"),
            Value::Auto(how) => write!(f, "{how}"),
        }
    }
}

impl Kind {
    /// The range in words, for the help and for errors.
    #[must_use]
    pub fn range(&self) -> String {
        match self {
            Kind::Real { above, most } if most.is_infinite() => format!("a number above {above}"),
            Kind::Real { above, most } => format!("a number above {above} and at most {most}"),
            Kind::FromZero => "a number from 0".to_owned(),
            Kind::Fraction => "a number from 0 to 1".to_owned(),
            Kind::Count { least, most: u64::MAX } => format!("a whole number from {least}"),
            Kind::Count { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// Reads a value; `None` if it is outside the range.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<Value> {
        match self {
            Kind::Real { above, most } => {
                let x: f64 = text.parse().ok()?;
                (x > *above && x <= *most && x.is_finite()).then_some(Value::Real(x))
            }
            Kind::FromZero => {
                let x: f64 = text.parse().ok()?;
                (x >= 0.0 && x.is_finite()).then_some(Value::Real(x))
            }
            Kind::Fraction => {
                let x = text.parse().ok()?;
                (0.0..=1.0).contains(&x).then_some(Value::Real(x))
            }
            Kind::Count { least, most } => {
                let n: u64 = text.parse().ok()?;
                (n >= *least && n <= *most).then_some(Value::Count(n))
            }
            Kind::Word(words) => words.iter().find(|w| **w == text).map(|w| Value::Word(w)),
        }
    }
}

/// Values of a learner's parameters, each within its range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: Vec<(&'static str, Value)>,
}

impl Settings {
    /// The defaults of these parameters.
    #[must_use]
    pub fn defaults(params: &[Param]) -> Settings {
        Settings { values: params.iter().map(|p| (p.name, p.default)).collect() }
    }

    /// Checks what was given against the declarations; the others get their defaults.
    ///
    /// # Errors
    /// An unknown name, with the nearest one, or a value outside its range.
    pub fn check(owner: &str, params: &[Param], given: &[(String, String)]) -> Result<Settings, BadOption> {
        let Settings { mut values } = Settings::defaults(params);
        for (name, text) in given {
            let Some(i) = params.iter().position(|p| p.name == name) else {
                let near = nearest(name, params.iter().map(|p| p.name));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(BadOption::of(name, text, format!("{owner} does not use this option{near}")));
            };
            let kind = &params[i].kind;
            let expected = || BadOption::of(name, text, format!("expected {}", kind.range()));
            values[i].1 = kind.read(text).ok_or_else(expected)?;
        }
        Ok(Settings { values })
    }

    /// Name and value of every parameter, in the order of the declarations.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.values.iter().copied()
    }

    fn get(&self, name: &str) -> Option<Value> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }

    /// A real number that has a default; NaN, which nothing accepts, for a name that was not declared.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        debug_assert!(self.real(name).is_some(), "{name} is no number with a default");
        self.real(name).unwrap_or(f64::NAN)
    }

    /// A real number; `None` if the learner is to find it.
    #[must_use]
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Real(x)) => Some(x),
            _ => None,
        }
    }

    /// A whole number; `None` if the learner is to find it.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Value::Count(n)) => Some(n),
            _ => None,
        }
    }

    /// A word.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Some(Value::Word(w)) => Some(w),
            _ => None,
        }
    }
}

/// The name that a mistyped one most likely stands for: at most a third of its letters differ.
#[must_use]
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().div_ceil(3);
    names.map(|n| (distance(name, n), n)).filter(|(d, _)| *d <= limit).min().map(|(_, n)| n)
}

/// Edit distance of two words (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[
        Param {
            name: "rate",
            kind: Kind::Real { above: 0.0, most: f64::INFINITY },
            default: Value::Auto("calibrated"),
            help: "",
        },
        Param {
            name: "history",
            kind: Kind::Count { least: 1, most: 100 },
            default: Value::Count(6),
            help: "",
        },
        Param {
            name: "order",
            kind: Kind::Word(&["random", "file"]),
            default: Value::Word("random"),
            help: "",
        },
    ];

    fn check(name: &str, value: &str) -> Result<Settings, BadOption> {
        Settings::check("lbfgs", PARAMS, &[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn defaults_hold_and_values_are_read() {
        let s = Settings::check("lbfgs", PARAMS, &[]).unwrap();
        assert_eq!((s.real("rate"), s.count("history"), s.word("order")), (None, Some(6), Some("random")));
        assert_eq!(check("rate", "0.5").unwrap().real("rate"), Some(0.5));
        assert_eq!(check("order", "file").unwrap().word("order"), Some("file"));
    }

    #[test]
    fn what_is_outside_the_range_is_told() {
        for bad in ["0", "-1", "nan", "inf", "x"] {
            assert_eq!(
                check("rate", bad).unwrap_err(),
                BadOption::of("rate", bad, "expected a number above 0")
            );
        }
        assert!(check("history", "101").unwrap_err().what.contains("from 1 to 100"));
        assert!(check("order", "up").unwrap_err().what.contains("one of random, file"));
    }

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(
            check("histori", "3").unwrap_err().to_string(),
            "`histori` 3: lbfgs does not use this option; did you mean `history`?"
        );
        assert_eq!(
            check("beam", "3").unwrap_err(),
            BadOption::of("beam", 3, "lbfgs does not use this option")
        );
        assert_eq!(nearest("sgdd", ["sgd", "lbfgs"].into_iter()), Some("sgd"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
