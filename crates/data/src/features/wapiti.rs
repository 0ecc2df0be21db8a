//! Wapiti's patterns.
//!
//! ```text
//! u:w-1=%x[-1,0]            attribute of a token: the word before, column 0
//! b                         label pairs
//! *:p=%x[0,1]               both: attribute of the token, and label pairs that see it
//! u:cap=%t[0,0,"^\u"]       true or false: does the regular expression match?
//! u:suf=%m[0,0,".?.?$"]     what it matches
//! u:w=%X[0,0]               in lower case; so %M, and %T, which is like %t
//! u:end=%x[@-1,0]           of the last token of the sentence; @1 is the first
//! ```
//!
//! The first letter may be upper case, which is no difference. From `#` on a line is a comment. Outside the
//! sentence stand the words `_x-1` to `_x-4` and `_x-#`, `_x+1` to `_x+4` and `_x+#`; expressions are
//! matched against them too. See [`Pattern`] for what an expression may hold.

use super::crfpp::{FARTHEST, MOST_PIECES, TemplateFile, clip};
use super::{Boundary, Function, Part, Pattern, Piece, Source, Template};
use crate::error::{Error, Result};
use crate::text;

/// Reads the text of a pattern file called `name`.
///
/// # Errors
/// A line that is no pattern, a command that is none, an expression with a mistake, an empty file: with the
/// line and what to do.
pub fn parse(name: &str, text: &str) -> Result<TemplateFile> {
    let mut file = TemplateFile::default();
    for (number, whole) in text::lines(text) {
        let line = whole.split('#').next().unwrap_or("").trim_end();
        let Some(kind) = line.chars().next() else { continue };
        let kind = kind.to_ascii_lowercase();
        if !matches!(kind, 'u' | 'b' | '*') {
            return Err(Error::at(name, number, format!("'{}' is no pattern", clip(line))).help(
                "a pattern starts with u (attributes of a token), b (label pairs) or * (both); from # on it is \
                 a comment",
            ));
        }
        let template = parse_line(kind, &line[1..]).map_err(|(what, help)| {
            let cut = whole.len() > line.len() && line.matches('"').count() % 2 == 1;
            let help =
                if cut { "a # starts a comment, between quotation marks too; \\p matches it" } else { help };
            Error::at(name, number, what).help(help)
        })?;
        if kind != 'b' {
            file.templates.push(template.clone());
            file.lines.push(number);
        }
        match template.pieces.is_empty() {
            _ if kind == 'u' => (),
            true => file.transitions = true,
            false => {
                file.templates.push(Template { edge: true, ..template });
                file.lines.push(number);
            }
        }
    }
    if file.templates.is_empty() && !file.transitions {
        return Err(Error::new(name, "there is no pattern in it").help("write one a line, such as u:%x[0,0]"));
    }
    Ok(file)
}

const COMMAND: &str = "commands look like %x[-1,0] (tokens from here, or @ and the number of the token; column \
                       from 0) or %t[0,0,\"^\\u\"]";

/// What is wrong, and what to do.
type Mistake = (String, &'static str);

fn parse_line(kind: char, line: &str) -> std::result::Result<Template, Mistake> {
    let mut template = Template { name: vec![], pieces: vec![], value: None, edge: false };
    let mut text = String::from(kind);
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        template.name.push(Part::Text(std::mem::take(&mut text)));
        template.name.push(Part::Piece(template.pieces.len()));
        let (piece, after) = parse_command(&rest[at..])?;
        template.pieces.push(piece);
        rest = after;
    }
    template.name.retain(|part| *part != Part::Text(String::new()));
    text.push_str(rest);
    if !text.is_empty() {
        template.name.push(Part::Text(text));
    }
    match template.pieces.len() {
        0..=MOST_PIECES => Ok(template),
        n => Err((format!("a pattern with {n} commands"), "64 are the most")),
    }
}

/// The command that the text starts with, and what stands behind it.
fn parse_command(text: &str) -> std::result::Result<(Piece, &str), Mistake> {
    let bad = || (format!("'{}' is no command", clip(text)), COMMAND);
    let mut letters = text.chars().skip(1);
    let (letter, bracket) = (letters.next().ok_or_else(bad)?, letters.next());
    let kind = letter.to_ascii_lowercase();
    if kind == 'v' {
        return Err((bad().0, "%v is one of templates: give the file with `template`"));
    }
    if !matches!(kind, 'x' | 't' | 'm') || bracket != Some('[') {
        return Err(bad());
    }
    let inner = &text[3..];
    let (offset, after) = inner.split_once(',').ok_or_else(bad)?;
    let (fixed, offset) = offset.strip_prefix('@').map_or((false, offset), |offset| (true, offset));
    let offset = number(offset).ok_or_else(bad)?;
    let near = i16::try_from(offset).ok().filter(|offset| offset.unsigned_abs() <= FARTHEST);
    let offset =
        near.ok_or_else(|| (format!("'{}' looks more than 1,000 tokens away", clip(text)), COMMAND))?;
    let end = after.find([',', ']']).ok_or_else(bad)?;
    let column = number(&after[..end]).and_then(|column| u16::try_from(column).ok()).ok_or_else(bad)?;
    let (source, rest) = match (kind, letter) {
        ('x', 'x') => (Source::Column(column, Function::Same), &after[end..]),
        ('x', _) => (Source::Column(column, Function::Lower), &after[end..]),
        _ => {
            let quoted = after[end..].strip_prefix(",\"").ok_or_else(bad)?;
            let (expression, rest) = quotation(quoted).ok_or_else(|| {
                (
                    format!("'{}' has no closing quotation mark", clip(text)),
                    "write \\\" for one in the expression",
                )
            })?;
            let pattern = Pattern::parse(expression).map_err(|what| {
                (what, "write \\* and \\? for the characters themselves, and \\\\ for a backslash")
            })?;
            let source = match letter {
                'm' => Source::Match(column, pattern),
                'M' => Source::MatchLower(column, pattern),
                _ => Source::Test(column, pattern),
            };
            (source, rest)
        }
    };
    let rest = rest.strip_prefix(']').ok_or_else(|| {
        let help =
            "%t and %m take an expression between quotation marks, %x none; then the bracket is closed";
        (format!("'{}' has no closing bracket in its place", clip(text)), help)
    })?;
    Ok((Piece { fixed, ..Piece::new(source, offset, Boundary::Words) }, rest))
}

/// A decimal number, blanks before it; Wapiti takes one with a leading 0 for octal.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']);
    (digits.len() == 1 || !digits.starts_with('0')).then(|| text.parse().ok())?
}

/// Text up to a quotation mark that is not escaped, and the text behind that.
fn quotation(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' if !escaped => return Some((&text[..at], &text[at + 1..])),
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Template {
        let file = parse("p", line).unwrap();
        assert_eq!((file.templates.len(), file.transitions), (1, false), "{line}");
        file.templates[0].clone()
    }

    #[test]
    fn commands_become_pieces() {
        let t = one("U:a%X[ -1,0]/%t[@2,1,\"^\\u\"]%M[+3,2,\"a\\\"b\"]\n");
        let pattern = |text| Pattern::parse(text).unwrap();
        assert_eq!(t.pieces[0], Piece::new(Source::Column(0, Function::Lower), -1, Boundary::Words));
        let test = Piece::new(Source::Test(1, pattern("^\\u")), 2, Boundary::Words);
        assert_eq!(t.pieces[1], Piece { fixed: true, ..test });
        assert_eq!(t.pieces[2], Piece::new(Source::MatchLower(2, pattern("a\"b")), 3, Boundary::Words));
        assert_eq!(t.render(|i| ["x", "true", "y"][i].to_owned()), "u:ax/truey");
        assert_eq!(one("u%m[0,0,\"]\"]").pieces[0].source, Source::Match(0, pattern("]")));
        assert_eq!(one("u%T[0,0,\"\"]").pieces[0].source, Source::Test(0, pattern("")));
        assert_eq!(one("u1"), Template { name: vec![Part::Text("u1".into())], ..one("u2") });
    }

    #[test]
    fn a_star_is_both_and_without_commands_label_pairs() {
        let file = parse("p", "*:%x[0,0]\n").unwrap();
        assert_eq!(file.templates.iter().map(|t| t.edge).collect::<Vec<_>>(), [false, true]);
        assert!(!file.transitions);
        let file = parse("p", "*\n").unwrap();
        assert_eq!((file.templates.len(), file.templates[0].edge, file.transitions), (1, false, true));
        let file = parse("p", "B:all # here\n").unwrap();
        assert_eq!((file.templates.len(), file.transitions), (0, true));
        let file = parse("p", "B1:%x[0,0]\n").unwrap();
        assert_eq!((file.templates.len(), file.templates[0].edge, file.transitions), (1, true, false));
    }

    #[test]
    fn comments_and_blanks_go() {
        let file = parse("p", "# c\n\n   # c\nu:%x[0,0]  # c\n").unwrap();
        assert_eq!(file.templates, [one("u:%x[0,0]")]);
    }

    #[test]
    fn errors_name_the_line_and_the_cure() {
        let error = |text: &str| parse("p.txt", text).unwrap_err().to_string();
        assert!(
            error("u:%x[0,0]\nX:%x[0,0]")
                .starts_with("p.txt:2: 'X:%x[0,0]' is no pattern\n  help: a pattern")
        );
        assert!(error(" u:%x[0,0]").contains("is no pattern"));
        assert!(error("u:%v[0,0]").contains("`template`"));
        for bad in
            ["%", "%x", "%x[", "%x[]", "%x[0]", "%x[0,", "%x[0,-1]", "%x[a,0]", "%x[@,0]", "%x(0,0)", "%%"]
        {
            assert!(error(&format!("u:{bad}")).contains("is no command"), "{bad}");
        }
        for bad in
            ["%x[0x1,0]", "%x[010,0]", "%y[0,0]", "%x[0,70000]", "%t[0,0]", "%m[0,0, \"a\"]", "%é[0,0]"]
        {
            assert!(error(&format!("u:{bad}")).contains("is no command"), "{bad}");
        }
        assert!(error("u:%x[0,0,\"a\"]").contains("no closing bracket in its place"));
        assert!(error("u:%t[0,0,\"a\"").contains("no closing bracket in its place"));
        assert!(error("u:%t[0,0,\"a]").contains("no closing quotation mark"));
        assert!(error("u:%t[0,0,\"#\"]").contains("a # starts a comment"));
        assert!(error("u:%t[0,0,\"a**\"]").contains("write \\*"));
        assert!(error("u:%x[1001,0]").contains("1,000 tokens"));
        assert!(error("# nothing").contains("there is no pattern"));
        assert!(error(&format!("u:{}", "%x[0,0]".repeat(65))).contains("64 are the most"));
    }
}
