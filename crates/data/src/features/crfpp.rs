//! CRF++'s feature templates.
//!
//! ```text
//! # a comment
//! U05:%x[-1,0]/%x[0,0]      attribute of a token: the word before and the word, column 0
//! B                         label pairs
//! B01:%x[0,1]               label pairs that see the input: column 1
//! U30:length=%v[0,2]        column 2 is a number: the attribute's value (not in CRF++)
//! ```
//!
//! `%x[row,col]` is the field `col` columns from the left, `row` tokens from here; outside the
//! sentence it reads `_B-1`, `_B+1` and so on.

use super::{Boundary, Function, Part, Piece, Source, Template};
use crate::error::{Error, Result};
use crate::text;

/// The most macros of a template.
pub const MOST_PIECES: usize = 64;
/// The farthest that a template looks, in tokens.
pub const FARTHEST: u16 = 1000;

/// A template file: the attributes, and whether plain label pairs have weights.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TemplateFile {
    /// One for each line but a bare `B`.
    pub templates: Vec<Template>,
    /// The line that each of them stands on.
    pub lines: Vec<u64>,
    /// There is a bare `B`.
    pub transitions: bool,
}

const WAPITI: &str = "Wapiti's patterns look so: give the file with `patterns`";
/// How one recognises them.
const COMMANDS: [&str; 6] = ["%t[", "%m[", "%X[", "%T[", "%M[", "%x[@"];

/// Reads the text of a template file called `name`.
///
/// # Errors
/// A line that is no template, a macro that is none, an empty file: with the line and what to do.
pub fn parse(name: &str, text: &str) -> Result<TemplateFile> {
    let mut file = TemplateFile::default();
    for (number, line) in text::lines(text) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let edge = match line.as_bytes()[0] {
            b'U' => false,
            b'B' => true,
            letter => {
                let help = match letter {
                    b'u' | b'b' | b'*' => WAPITI,
                    _ => {
                        "a template starts with U (attributes of a token) or B (label pairs), a comment with #"
                    }
                };
                return Err(Error::at(name, number, format!("'{}' is no template", clip(line))).help(help));
            }
        };
        let template = parse_line(line, edge).map_err(|what| {
            let help = match COMMANDS.iter().any(|command| line.contains(command)) {
                true => WAPITI,
                false => "macros look like %x[-1,0]: tokens from here, column from 0",
            };
            Error::at(name, number, what).help(help)
        })?;
        if edge && template.pieces.is_empty() && template.value.is_none() {
            file.transitions = true; // `B`, with or without an identifier
        } else {
            file.templates.push(template);
            file.lines.push(number);
        }
    }
    if file.templates.is_empty() && !file.transitions {
        return Err(
            Error::new(name, "there is no template in it").help("write one a line, such as U00:%x[0,0]")
        );
    }
    Ok(file)
}

pub(super) fn clip(line: &str) -> String {
    line.chars().take(40).collect()
}

fn parse_line(line: &str, edge: bool) -> std::result::Result<Template, String> {
    let mut template = Template { name: vec![], pieces: vec![], value: None, edge };
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(']').ok_or_else(|| format!("'{}' has no closing bracket", clip(rest)))?;
        let (macro_text, after) = rest.split_at(end + 1);
        let (kind, offset, column) = parse_macro(macro_text)?;
        match kind {
            'x' => {
                if !text.is_empty() {
                    template.name.push(Part::Text(std::mem::take(&mut text)));
                }
                template.name.push(Part::Piece(template.pieces.len()));
                let source = Source::Column(column, Function::Same);
                template.pieces.push(Piece::new(source, offset, Boundary::Numbered));
            }
            _ if template.value.is_some() => return Err("a template has at most one %v".to_owned()),
            _ => {
                template.value = Some((column, offset));
                text.push_str(macro_text); // two values of one skeleton are two attributes
            }
        }
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        template.name.push(Part::Text(text));
    }
    match template.pieces.len() {
        0..=MOST_PIECES => Ok(template),
        n => Err(format!("a template with {n} macros: {MOST_PIECES} are the most")),
    }
}

/// `%x[-1,0]`: kind, offset, column.
fn parse_macro(text: &str) -> std::result::Result<(char, i16, u16), String> {
    let bad = || format!("'{}' is no macro", clip(text));
    let inner = |prefix| text.strip_prefix(prefix).and_then(|t: &str| t.strip_suffix(']'));
    let (kind, inner) = match (inner("%x["), inner("%v[")) {
        (Some(inner), _) => ('x', inner),
        (_, Some(inner)) => ('v', inner),
        _ => return Err(bad()),
    };
    let (row, column) = inner.split_once(',').ok_or_else(bad)?;
    let offset = row.trim().parse::<i128>().map_err(|_| bad())?;
    let offset = i16::try_from(offset).ok().filter(|offset| offset.unsigned_abs() <= FARTHEST);
    let offset = offset.ok_or_else(|| format!("'{}' looks more than 1,000 tokens away", clip(text)))?;
    Ok((kind, offset, column.trim().parse().map_err(|_| bad())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_become_pieces() {
        let file = parse("t", "# c\n\nU05:%x[-1,0]/%x[0,1]x\nB\n").unwrap();
        assert!(file.transitions);
        let t = &file.templates[0];
        assert_eq!(t.pieces.len(), 2);
        assert_eq!(t.pieces[0].offset, -1);
        assert_eq!(t.pieces[1].source, Source::Column(1, Function::Same));
        assert_eq!(t.render(|i| ["a", "b"][i].to_owned()), "U05:a/bx");
        assert_eq!(t.last_column(), Some(1));
    }

    #[test]
    fn label_pairs_may_see_the_input_and_attributes_may_have_values() {
        let file = parse("t", "B01:%x[0,1]\nU1:%v[0,2]\n").unwrap();
        assert!(!file.transitions);
        assert!(file.templates[0].edge);
        assert_eq!(file.templates[1].value, Some((2, 0)));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text| parse("t.crfpp", text).unwrap_err().to_string();
        assert!(error("U0:%x[0,0]\nX1:%x[0,0]\n").starts_with("t.crfpp:2: 'X1:%x[0,0]' is no template"));
        for wapiti in
            ["u:%x[0,0]", "b", "*", "U:%X[0,0]", "U:%t[0,0,\"a\"]", "U:%m[0,0,\"[]\"]", "U:%x[@1,0]"]
        {
            assert!(error(wapiti).contains("`patterns`"), "{wapiti}");
        }
        assert!(error("U0:%x[0,0").contains("no closing bracket"));
        assert!(error("U0:%y[0,0]").contains("'%y[0,0]' is no macro"));
        assert!(error("U0:%x[0]").contains("no macro"));
        assert!(error("U0:%x[0,-1]").contains("no macro"));
        assert!(error("U0:%x[5000,0]").contains("1,000 tokens"));
        assert!(error("# nothing\n").contains("there is no template"));
        assert!(error("U0:%v[0,0]%v[0,1]").contains("at most one %v"));
    }
}
