//! Which column is the label.

use seqoia_data::format::{Field, Format, Kind, Place};

use crate::error::{self, BadOption, Error, Result};

/// Which column is the label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelColumn {
    /// The last one; in CoNLL-U there is no such default.
    #[default]
    Last,
    /// By number, from 0.
    Number(usize),
    /// By its name in CoNLL-U.
    Field(Field),
}

impl LabelColumn {
    /// Reads a number or a name such as `xpos`.
    ///
    /// # Errors
    /// An unknown name, with the nearest one.
    pub fn parse(text: &str) -> std::result::Result<Self, BadOption> {
        if let Ok(number) = text.parse() {
            return Ok(LabelColumn::Number(number));
        }
        if let Some(field) = Field::parse(text) {
            return Ok(LabelColumn::Field(field));
        }
        let names = Field::ALL.map(Field::name);
        let other = match seqoia_core::param::nearest(text, names.into_iter()) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("give its number from 0, or one of {}", names.join(", ")),
        };
        Err(BadOption::of("label", text, format!("there is no such column; {other}")))
    }

    /// An error about it.
    fn bad(&self, what: impl Into<String>) -> Error {
        let value = match self {
            LabelColumn::Last => String::new(),
            LabelColumn::Number(number) => number.to_string(),
            LabelColumn::Field(field) => field.name().to_owned(),
        };
        BadOption::of("label", value, what).into()
    }

    /// The number of the column in a file of this format.
    ///
    /// # Errors
    /// A column that the file does not have.
    pub fn resolve(&self, file: &str, format: &dyn Format) -> Result<usize> {
        let (kind, columns) = (format.kind().name(), format.columns());
        let number = match (self, format.label()) {
            (_, Place::Missing) => {
                let why = match format.why_unlabelled() {
                    why if why.is_empty() => why,
                    why => format!(": {why}"),
                };
                let what = format!("there are no labels (it was read as {kind}){why}");
                return Err(seqoia_data::Error::new(file, what).into());
            }
            (LabelColumn::Last, Place::Fixed(number)) => number,
            (LabelColumn::Number(number), Place::Fixed(fixed)) if *number == fixed => fixed,
            (_, Place::Fixed(_)) => {
                return Err(self.bad(format!("in {kind} the label has its own place")));
            }
            (LabelColumn::Field(field), Place::Chosen) => field.column(),
            (LabelColumn::Field(_), Place::Last) => {
                return Err(self.bad(format!("{file} has plain columns; give the column's number, from 0")));
            }
            (LabelColumn::Last, Place::Chosen) => {
                let name = if format.kind() == Kind::Conllu { "CoNLL-U" } else { "CoNLL-X" };
                return Err(
                    self.bad(format!("{file} is {name}: say which column is the label, such as xpos"))
                );
            }
            (LabelColumn::Last, Place::Last) => columns.saturating_sub(1),
            (LabelColumn::Number(number), _) => *number,
        };
        if number >= columns {
            return Err(self.bad(format!("{file} has {}", error::columns(columns))));
        }
        Ok(number)
    }
}
