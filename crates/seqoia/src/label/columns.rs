//! Whether a file has what a model reads, in which columns, and how labels are written into it: it need not be like the
//! training file.
//!
//! A file in the format of the training file has its columns in the same places. In another format, columns mean
//! the same in the same order, the label left out; of CoNLL-U and CoNLL-X the word alone is found elsewhere.

use std::sync::Arc;

use seqoia_data::features::Program;
use seqoia_data::format::{self, Block, Field, Format, Kind, Place};
use seqoia_data::scheme::{self, Scheme};

use super::Labeller;
use super::classes::{Class, SAMPLE};
use crate::error::{Result, counted};

/// Values of a column that an error names.
const NAMED: usize = 5;

/// What makes the attributes of a file: the model's own templates, reading the columns of the file.
///
/// # Errors
/// The columns or the attributes that the file lacks.
pub(crate) fn program_for(labeller: &Labeller, file: &str, format: &dyn Format) -> Result<Arc<Program>> {
    let (from, to) = (labeller.kind(), format.kind());
    if labeller.program().given().is_some() && !format.ready() {
        let what =
            format!("there are no attributes, which the model was trained on; it was read as {}", to.name());
        return Err(seqoia_data::Error::new(file, what).into());
    }
    if is_conll(to) && !is_conll(from) {
        let what = format!(
            "it is read as {}, of which the model does not know where labels go: it was trained on {}",
            to.name(),
            from.name()
        );
        let help = "convert the file with `to columns` and `label COLUMN`";
        return Err(seqoia_data::Error::new(file, what).help(help).into());
    }
    let columns = read_columns(labeller);
    let lacking: Vec<String> = columns
        .iter()
        .filter(|column| place(labeller, format, **column).is_none())
        .map(|column| column_name(from, *column))
        .collect();
    if !lacking.is_empty() {
        return Err(seqoia_data::Error::new(file, lacks(labeller, format, &lacking)).into());
    }
    if to == Kind::Columns && !is_conll(from) {
        check_number(labeller, file, format)?;
    }
    let moved = |column: u16| {
        let place = place(labeller, format, usize::from(column));
        place.and_then(|place| u16::try_from(place).ok()).unwrap_or(column)
    };
    if columns.iter().all(|&column| place(labeller, format, column) == Some(column)) {
        return Ok(Arc::clone(labeller.program()));
    }
    let templates = labeller.meta().templates.iter().map(|template| template.moved(moved));
    Ok(Arc::new(Program::new(templates.collect())))
}

/// Whether a file has all that a model reads.
///
/// # Errors
/// The columns or the attributes that the file lacks.
pub(crate) fn check_columns(labeller: &Labeller, file: &str, format: &dyn Format) -> Result<()> {
    program_for(labeller, file, format).map(|_| ())
}

/// The columns that the model reads of its training file.
pub(crate) fn read_columns(labeller: &Labeller) -> Vec<usize> {
    let reads = |column: &usize| {
        u16::try_from(*column).is_ok_and(|c| labeller.meta().templates.iter().any(|t| t.reads(c)))
    };
    (0..labeller.columns_read()).filter(reads).collect()
}

/// A column of a file of this kind, for people.
pub(crate) fn column_name(kind: Kind, column: usize) -> String {
    match Field::ALL.get(column) {
        Some(field) if is_conll(kind) => field.name().to_uppercase(),
        _ => format!("column {column}"),
    }
}

/// Where the label stands or would stand.
pub(crate) fn label_column(labeller: &Labeller, format: &dyn Format) -> usize {
    match format.label() {
        Place::Fixed(column) => column,
        // What is in that column of CoNLL-U is not in this one.
        _ if is_conll(labeller.kind()) && !is_conll(format.kind()) => format.columns(),
        _ => labeller.meta().label_column,
    }
}

/// Where the words are; none if there are attributes alone, of which it cannot be said which is the word.
pub(crate) fn word_column(labeller: &Labeller, format: &dyn Format) -> Option<usize> {
    let label = (format.label() != Place::Missing).then(|| label_column(labeller, format));
    format.kind().word(format.columns(), label)
}

/// Where a column of the training file is in this one; none if it is not there.
pub(crate) fn place(labeller: &Labeller, format: &dyn Format, column: usize) -> Option<usize> {
    let (from, to) = (labeller.kind(), format.kind());
    let label = (format.label() != Place::Missing).then(|| label_column(labeller, format));
    let place = if from == to || is_conll(from) && is_conll(to) {
        column
    } else if is_conll(from) {
        to.word(format.columns(), label).filter(|_| column == Field::Form.column())?
    } else {
        let number = column - usize::from(labeller.meta().label_column < column);
        number + usize::from(label.is_some_and(|label| label <= number))
    };
    (place < format.columns() && Some(place) != label).then_some(place)
}

/// A column file has the columns of the training data, with or without the label at the end; or the word alone, if
/// the model reads nothing else. Other numbers of columns are other columns, or a sentence on a line.
fn check_number(labeller: &Labeller, file: &str, format: &dyn Format) -> Result<()> {
    let (meta, have) = (labeller.meta(), format.columns());
    let (all, last) = (meta.columns, meta.label_column + 1 == meta.columns);
    let word_alone = have == 1 && read_columns(labeller) == [0];
    if have == all || last && have + 1 == all || word_alone {
        return Ok(());
    }
    let mut wanted = vec![all.to_string()];
    wanted.extend((last && all > 2).then(|| format!("{} without the label", all - 1)));
    wanted.extend((read_columns(labeller) == [0]).then(|| "the word alone".to_owned()));
    let what = format!(
        "{}, where the training data had {all}, the label in column {}",
        counted(have, "column"),
        meta.label_column
    );
    let help = format!(
        "each line is one token with its columns ({}), and an empty line ends a sentence; split running text into \
         tokens first, one per line, punctuation apart",
        wanted.join(", or "),
    );
    Err(seqoia_data::Error::new(file, what).help(help).into())
}

fn lacks(labeller: &Labeller, format: &dyn Format, lacking: &[String]) -> String {
    let (meta, kind) = (labeller.meta(), labeller.kind());
    let (have, read_as) = (counted(format.columns(), "column"), format.kind().name());
    let (trained, label) = (counted(meta.columns, "column"), column_name(kind, meta.label_column));
    let of = if is_conll(kind) {
        format!("{} of {}", lacking.join(" and "), kind.name())
    } else {
        lacking.join(" and ")
    };
    format!(
        "{have} (it was read as {read_as}), but not {of}, which the model reads; it was trained on \
         {} ({trained}), the label in {label}",
        kind.name(),
    )
}

fn is_conll(kind: Kind) -> bool {
    matches!(kind, Kind::Conllu | Kind::Conllx)
}

/// Holds the first block of a file against the classes of a model. Returns what is doubtful, if anything is.
///
/// # Errors
/// A column that has none of the values that it had in training.
pub(crate) fn check_classes(
    labeller: &Labeller,
    file: &str,
    format: &dyn Format,
    block: &Block,
) -> Result<Option<String>> {
    for Class { column, values } in &labeller.meta().classes {
        let Some(place) = place(labeller, format, *column) else { continue };
        let tokens = block.tokens().len().min(SAMPLE);
        let mut strange: Vec<&str> = vec![];
        let mut known = 0;
        for i in 0..tokens {
            let value = block.field(i, place);
            match values.iter().any(|v| v == value) {
                true => known += 1,
                false if strange.len() < NAMED && !strange.contains(&value) => strange.push(value),
                false => (),
            }
        }
        let name = column_name(format.kind(), place);
        if known == 0 && tokens > 0 {
            let few: Vec<&str> = values.iter().take(NAMED).map(String::as_str).collect();
            let what = format!(
                "{name} has {}, none of which the training data had there: it had {}{}",
                strange.join(" "),
                few.join(" "),
                if values.len() > NAMED { " and so on" } else { "" }
            );
            let help = "give the columns of the training data in their order, one token per line; is this running \
                        text, or is a column missing?";
            return Err(seqoia_data::Error::new(file, what).help(help).into());
        }
        if 2 * known < tokens {
            return Ok(Some(format!(
                "{file}: {} of the first {tokens} values of {name} were never seen in training, such as {}",
                tokens - known,
                strange.join(" ")
            )));
        }
    }
    Ok(None)
}

/// The scheme of the model's training file and the one to write, if they differ: segmented text is written from
/// its own.
pub(crate) fn written_scheme(labeller: &Labeller, kind: Kind) -> Option<(Scheme, Scheme)> {
    let from = labeller.schemes().file.filter(|_| kind == Kind::Words)?;
    (from != format::WORDS_SCHEME).then_some((from, format::WORDS_SCHEME))
}

/// Names of labels as they are written into a file of this kind.
pub(crate) fn as_written(labeller: &Labeller, kind: Kind, names: &mut Vec<String>) {
    if let Some((from, to)) = written_scheme(labeller, kind) {
        let found = std::mem::take(names);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        scheme::convert(from, to, &found, names);
    }
}
