//! Which column is the label.

use seqoia_data::format::{Field, Format, Kind, Place};

use crate::error::{self, Error, Result};

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
    /// A sentence with the nearest name.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(LabelColumn::Number(number));
        }
        if let Some(field) = Field::parse(text) {
            return Ok(LabelColumn::Field(field));
        }
        let names = Field::ALL.map(Field::name);
        Err(match seqoia_core::param::nearest(text, names.into_iter()) {
            Some(name) => format!("there is no column '{text}'; did you mean {name}?"),
            None => {
                format!("there is no column '{text}'; give its number from 0, or one of {}", names.join(", "))
            }
        })
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
                return Err(Error::Mismatch(format!("{file} has no labels (it was read as {kind}){why}")));
            }
            (LabelColumn::Last, Place::Fixed(number)) => number,
            (LabelColumn::Number(number), Place::Fixed(fixed)) if *number == fixed => fixed,
            (_, Place::Fixed(_)) => {
                return Err(Error::Option(format!("--label: in {kind} the label has its own place")));
            }
            (LabelColumn::Field(field), Place::Chosen) => field.column(),
            (LabelColumn::Field(field), Place::Last) => {
                return Err(Error::Option(format!(
                    "--label {}: {file} has plain columns; give the column's number, from 0",
                    field.name()
                )));
            }
            (LabelColumn::Last, Place::Chosen) => {
                let name = if format.kind() == Kind::Conllu { "CoNLL-U" } else { "CoNLL-X" };
                return Err(Error::Option(format!(
                    "{file} is {name}: say which column is the label, such as --label xpos"
                )));
            }
            (LabelColumn::Last, Place::Last) => columns.saturating_sub(1),
            (LabelColumn::Number(number), _) => *number,
        };
        if number >= columns {
            return Err(Error::Option(format!("--label {number}: {file} has {}", error::columns(columns))));
        }
        Ok(number)
    }
}
