//! What a file that is read as columns may be instead. Many texts can be read so, and a model can be trained on most
//! of them; nothing in it would mean anything.

use super::Kind;
use super::block::is_blank;
use super::columns::is_docstart;
use super::tagged::slash;

/// So many rows of the first sentence are looked at.
const ROWS: usize = 20;

/// So many different widths are no slip.
const WIDTHS: usize = 3;

/// What the first rows look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// They are all in this format.
    Like(Kind),
    /// Rows have other numbers of columns all the time, as they may have in this format.
    Ragged(Kind),
    /// Commas stand between columns, or semicolons.
    Csv(char),
    /// A JSON array, or an object over several lines, instead of an object per line.
    Json,
}

impl Guess {
    /// What the rows of a column file that starts with this text look like; none if they look like columns.
    pub(super) fn of(text: &str) -> Option<Self> {
        if is_json(text) {
            return Some(Self::Json);
        }
        let no_row = |row: &&str| is_blank(row.as_bytes()) || is_docstart(row.as_bytes());
        // Rows behind an empty line may be in another block, and blocks must not matter.
        let first = text.lines().skip_while(no_row).take_while(|row| !no_row(row));
        let rows: Vec<&str> = first.take(ROWS).collect();
        let tabs = rows.iter().any(|row| row.contains('\t'));
        let fields = |row: &&str| -> Vec<String> {
            let fields =
                if tabs { row.split('\t').collect() } else { row.split_whitespace().collect::<Vec<_>>() };
            fields.into_iter().map(str::to_owned).collect()
        };
        let rows: Vec<Vec<String>> = rows.iter().map(fields).collect();
        let mut widths: Vec<usize> = rows.iter().map(Vec::len).collect();
        widths.sort_unstable();
        widths.dedup();
        let ragged = widths.len() >= WIDTHS;
        let behind =
            |row: &[String], test: fn(&str) -> bool| row.len() > 1 && row[1..].iter().all(|f| test(f));
        if tabs {
            let attributes = |row: &Vec<String>| behind(row, is_attribute);
            return match rows.iter().all(attributes) {
                true => Some(Self::Like(Kind::Crfsuite)),
                false => ragged.then_some(Self::Ragged(Kind::Crfsuite)),
            };
        }
        let words: usize = rows.iter().map(Vec::len).sum();
        if words > 1 && rows.iter().flatten().all(|word| slash(word).is_some()) {
            return Some(Self::Like(Kind::Tagged));
        }
        let first = text.lines().skip_while(no_row).take_while(|row| !no_row(row)).take(ROWS);
        let lines: Vec<&str> = first.collect();
        for separator in [',', ';'] {
            let counts: Option<Vec<usize>> = lines.iter().map(|line| csv_fields(line, separator)).collect();
            let alike = counts.is_some_and(|c| c.len() > 1 && c[0] > 1 && c.iter().all(|n| *n == c[0]));
            if alike {
                return Some(Self::Csv(separator));
            }
        }
        let foreign = widths.len() > 1
            && !rows.iter().flatten().any(|word| word.contains(|c: char| c.is_ascii_alphanumeric()));
        (ragged || foreign).then_some(Self::Ragged(Kind::Words))
    }

    /// What is doubtful about a file that can be read all the same; none if that speaks for columns.
    #[must_use]
    pub const fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Like(Kind::Tagged) => {
                Some("every label holds a slash, and all else: is this `format tagged`?")
            }
            Self::Like(_) => Some("every column but the first is NAME=VALUE: is this `format crfsuite`?"),
            Self::Csv(_) => Some("this looks like CSV, and is read as columns between blanks"),
            Self::Json => Some("this looks like JSON, but not an object per line, and is read as columns"),
            Self::Ragged(_) => None,
        }
    }

    /// Whether this means columns of something else, which nobody wants.
    #[must_use]
    pub const fn is_fatal(self) -> bool {
        matches!(self, Self::Csv(_) | Self::Json)
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Like(Kind::Tagged) => "if each word has its label behind a slash: `format tagged`",
            Self::Like(_) | Self::Ragged(Kind::Crfsuite) => {
                "if a row is a label and its attributes: `format crfsuite`"
            }
            Self::Ragged(_) => "if each line is a sentence, its words between blanks: `format words`",
            Self::Json => {
                "make JSON lines of it: python3 -c \"import json, sys; d = json.load(sys.stdin); \
                 [print(json.dumps(x)) for x in (d if isinstance(d, list) else [d])]\" < FILE"
            }
            Self::Csv(';') => {
                "columns stand between blanks or tabs; make tabs of it: python3 -c \"import csv, sys; \
                 [print(*row, sep='\\t') for row in csv.reader(sys.stdin, delimiter=';')]\" < FILE"
            }
            Self::Csv(_) => {
                "columns stand between blanks or tabs; make tabs of it: python3 -c \"import csv, sys; \
                 [print(*row, sep='\\t') for row in csv.reader(sys.stdin)]\" < FILE"
            }
        }
    }
}

/// An object over several lines, or a list of objects or lists: `{` alone, `[{` or `[[`, with blanks between them.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('[') {
        return list.trim_start().starts_with('{') || list.trim_start().starts_with("[{");
    }
    let object = text
        .strip_prefix('{')
        .and_then(|inner| inner.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n'));
    object.is_some_and(|inner| inner.trim_start().starts_with('"'))
}

/// Fields of a row of CSV; none if blanks stand between fields or within one that is not in quotes, as they do in
/// columns, or the row is not CSV.
fn csv_fields(row: &str, separator: char) -> Option<usize> {
    let (mut fields, mut quoted, mut letters) = (1, false, false);
    let row = row.trim_end();
    let mut after = false; // a separator, behind which a blank may stand
    for c in row.chars() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => letters = true,
            _ if c == separator => {
                fields += 1;
                after = true;
                continue;
            }
            ' ' if after => (),
            _ if c.is_whitespace() => return None,
            _ => letters = true,
        }
        after = false;
    }
    (!quoted && letters).then_some(fields)
}

/// `name=value`, or one with a weight behind a colon.
fn is_attribute(field: &str) -> bool {
    field.contains('=') || field.rsplit_once(':').is_some_and(|(_, weight)| weight.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rows_look_like() {
        for (text, guess) in [
            ("The/DT dog/NN\nA/DT cat/NN\n", Some(Guess::Like(Kind::Tagged))),
            ("The/DT dog/NN barks/V\n", Some(Guess::Like(Kind::Tagged))),
            ("D\tw=the\tl=3\nN\tw=dog\n", Some(Guess::Like(Kind::Crfsuite))),
            ("D\tthe\nN\tdog\ta\nN\ta\tb\tc\n", Some(Guess::Ragged(Kind::Crfsuite))),
            ("the,D\ndog,N\n", Some(Guess::Csv(','))),
            ("-DOCSTART-\n\nthe, D\ndog, N\n\na b c d\n", Some(Guess::Csv(','))),
            ("the;D\r\ndog;N\r\n", Some(Guess::Csv(';'))),
            ("\"New York\",NNP,B-LOC\n\",\",\",\",O\n", Some(Guess::Csv(','))),
            ("a,b NN\nc,d NN\n", None),
            ("[{\"tokens\": [\"a\"]}]", Some(Guess::Json)),
            ("[\n  {\n    \"tokens\": []\n  }\n]\n", Some(Guess::Json)),
            ("{\n \"tokens\": []}\n", Some(Guess::Json)),
            ("[ -LRB- O\n{ -LCB- O\n", None),
            ("{\n\na\n", None),
            ("我 爱 你们\n爱 我\n", Some(Guess::Ragged(Kind::Words))),
            ("this is it\nand\nso on\n", Some(Guess::Ragged(Kind::Words))),
            // Columns, whatever their fields hold.
            ("the D\ndog N\n", None),
            ("1/2 CD\n3/4 CD\n", None),
            ("sees (S\\NP)/NP\nhas (S\\NP)/NP\n", None),
            ("a/b\n", None),
            ("1,000 CD\n2,000 CD\n", None),
            (", ,\n, ,\n", None),
            (",\n,\n", None),
            ("1,000\n", None),
            ("a\tX=1\nb\tO\n", None),
            ("New York NNP\nis VBZ\n", None),
            ("", None),
        ] {
            assert_eq!(Guess::of(text), guess, "{text}");
        }
    }
}
