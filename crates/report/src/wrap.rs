//! Text that is too long for a line.

/// What a terminal is sure to show in one line.
const WIDTH: usize = 80;

/// Lines of at most 80 characters where words allow it; all but the first start with `indent` blanks.
///
/// ```
/// assert_eq!(seqoia_report::wrapped(" ok  short", 5), " ok  short");
/// ```
#[must_use]
pub fn wrapped(text: &str, indent: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for (i, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if i > 0 && column > indent && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_no_word_is_lost() {
        let text = format!(" word     {}", "abcdefg ".repeat(40));
        let wrapped = wrapped(&text, 10);
        assert!(wrapped.lines().all(|line| line.trim_end().chars().count() <= WIDTH));
        assert!(wrapped.lines().skip(1).all(|line| line.starts_with("          abc")), "{wrapped}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&wrapped), words(&text));
        let long = "x".repeat(200);
        assert_eq!(super::wrapped(&format!("a {long}"), 2), format!("a\n  {long}").replace("\n  ", " "));
    }
}
