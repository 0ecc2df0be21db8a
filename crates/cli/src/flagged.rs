//! Options as the user of this program writes them. The library names an option plainly, in backquotes: `` `label` ``,
//! or with a value `` `pairs observed` ``. On the way to the screen these become flags, `--label` and `--pairs
//! observed`; all else in backquotes stays as it is, and so does a word that is no option of any command. What a user
//! wrote is never changed: names of files and values of options are apart in an error, and what else is quoted stands
//! between single quotes.

use std::collections::HashMap;
use std::sync::LazyLock;

use seqoia::BadOption;

/// What the user writes for an option.
struct Flag {
    /// Alone.
    name: String,
    /// Before its value.
    with: String,
}

/// What the user writes for each option.
static FLAGS: LazyLock<HashMap<String, Flag>> = LazyLock::new(|| {
    let command = crate::whole();
    let mut flags = HashMap::new();
    for arg in command.get_subcommands().flat_map(clap::Command::get_arguments) {
        // The habit is the short one.
        let name = match (arg.get_short(), arg.get_long()) {
            (Some(short), _) => format!("-{short}"),
            (None, Some(long)) => format!("--{long}"),
            (None, None) => continue,
        };
        let between = if arg.is_require_equals_set() { '=' } else { ' ' };
        let option = arg.get_long().unwrap_or(arg.get_id().as_str()).to_owned();
        flags.insert(option, Flag { with: format!("{name}{between}"), name });
    }
    for (option, name, with) in OTHERS {
        flags.insert((*option).to_owned(), Flag { name: (*name).to_owned(), with: (*with).to_owned() });
    }
    flags
});

/// Options that are more than one flag, or none: alone, and before a value.
const OTHERS: &[(&str, &str, &str)] = &[
    ("l1", "--l1, --c1, --rho1", "--l1 "),
    ("l2", "--l2, --c2, --rho2, -C", "--l2 "),
    ("limit", "the environment variable SEQOIA_LIMIT", "SEQOIA_LIMIT="),
];

/// An error for the screen.
pub(crate) fn told(error: &anyhow::Error) -> String {
    use seqoia::Error::{Closed, Data, Eval, Mismatch, Model, Option, Output, Train};
    if let Some(bad) = error.downcast_ref::<BadOption>() {
        return of_option(bad);
    }
    if let Some(e) = error.downcast_ref::<seqoia::data::Error>() {
        return of_file(&e.file, e.line, &e.what, &e.help);
    }
    match error.downcast_ref::<seqoia::Error>() {
        Some(Option(bad)) => of_option(bad),
        Some(Data(e)) => of_file(&e.file, e.line, &e.what, &e.help),
        Some(Model(e)) => of_file(&e.file, 0, &e.what, &e.help),
        Some(Eval(e)) => of_file(&e.name, e.line, &e.what, &e.help),
        Some(Mismatch(_) | Train(_)) => flagged(&error.to_string()),
        Some(Output(_) | Closed) | None => format!("{error:#}"),
    }
}

fn of_option(BadOption { option, value, what, help }: &BadOption) -> String {
    let name = flag(option).unwrap_or_else(|| format!("`{option}`"));
    let place = match (option.as_str(), value.as_str()) {
        ("", _) => String::new(),
        (_, "") => format!("{name}: "),
        (_, value) => format!("{name} {value}: "),
    };
    with_help(place, what, help)
}

fn of_file(file: &str, line: u64, what: &str, help: &str) -> String {
    let line = if line > 0 { format!(":{line}") } else { String::new() };
    with_help(format!("{file}{line}: "), what, help)
}

fn with_help(place: String, what: &str, help: &str) -> String {
    let help = if help.is_empty() { String::new() } else { format!("\n  help: {}", flagged(help)) };
    place + &flagged(what) + &help
}

/// What stands between single quotes, and the text before and behind it. An apostrophe is no such quote: it stands
/// within a word or at its end.
fn quoted(text: &str) -> Option<(&str, &str, &str)> {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let quotes = || text.match_indices('\'').map(|(at, _)| at);
    let open = quotes().find(|&at| !word(text[..at].chars().next_back()))?;
    let close = quotes().find(|&at| at > open && !word(text[at + 1..].chars().next()))?;
    Some((&text[..open], &text[open..=close], &text[close + 1..]))
}

/// A text of the library with flags for its options.
pub(crate) fn flagged(text: &str) -> String {
    match quoted(text) {
        Some((before, theirs, behind)) => plain_flagged(before) + theirs + &flagged(behind),
        None => plain_flagged(text),
    }
}

/// The same for a text in which nothing is quoted.
fn plain_flagged(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('`') {
        out.push_str(before);
        match after.split_once('`').and_then(|(inside, behind)| Some((flag(inside)?, behind))) {
            // Two backquotes in a row are a word of a text, not ours.
            Some((flag, behind)) if !out.ends_with('`') && !behind.starts_with('`') => {
                out.push_str(&flag);
                rest = behind;
            }
            _ => {
                out.push('`');
                rest = after;
            }
        }
    }
    out + rest
}

/// The flag that stands for an option, or for an option and a value of one word.
fn flag(inside: &str) -> Option<String> {
    match inside.split_once(' ') {
        None => Some(FLAGS.get(inside)?.name.clone()),
        Some((_, value)) if value.is_empty() || value.contains(char::is_whitespace) => None,
        Some((option, value)) => Some(format!("{}{value}", FLAGS.get(option)?.with)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use seqoia::BadOption;
    use seqoia_testkit::sources;

    use super::{flag, flagged, told};
    use crate::flags::refused;

    #[test]
    fn what_a_user_wrote_is_never_changed() {
        let data =
            |file: &str, line, what: &str| seqoia::Error::from(seqoia::data::Error::at(file, line, what));
        let file = data("`all`", 0, "no such file; see `format words`");
        assert_eq!(told(&file.into()), "`all`: no such file; see --format words");
        let line = data("`all`", 3, "no candidate has the text 'the `all` of `label`', says `gold FILE`");
        assert_eq!(
            told(&line.into()),
            "`all`:3: no candidate has the text 'the `all` of `label`', says --gold FILE"
        );
        let option = BadOption::of("label-weight", "`all`=2", "no such label").help("see `label`");
        let wanted = "--label-weight `all`=2: no such label\n  help: see --label";
        assert_eq!(told(&option.clone().into()), wanted);
        assert_eq!(told(&seqoia::Error::from(option).into()), wanted);
        assert_eq!(
            told(&refused("--rules `all`: there is no such file")),
            "--rules `all`: there is no such file"
        );
        // An apostrophe quotes nothing.
        assert_eq!(
            flagged("the file's `label` and the files' `label`"),
            "the file's --label and the files' --label"
        );
        assert_eq!(flagged("'don't `all`' `all`"), "'don't `all`' --all");
    }

    #[test]
    fn options_become_flags() {
        for (text, wanted) in [
            ("`label` 7: train.txt has columns 0 to 3", "--label 7: train.txt has columns 0 to 3"),
            ("try `cutoff 2` or `pairs observed`", "try --cutoff 2 or --pairs observed"),
            ("give `template FILE`, a `features SET`", "give -t FILE, a --features SET"),
            ("models: `model FILE`", "models: -m FILE"),
            ("`gold FILE` `format words`", "--gold FILE --format words"),
            ("`scheme-from`, `own-dictionary`", "--scheme-from, --own-dictionary"),
            // Declared by learners and strategies.
            ("`history` 0: no", "--history 0: no"),
            ("`batch-size` 0: no", "--batch-size 0: no"),
            // Its value stands behind an equals sign.
            ("`partial _` or `partial`", "--partial=_ or --partial"),
            ("`c` 0", "-C 0"),
            ("`l1`: lbfgs", "--l1, --c1, --rho1: lbfgs"),
            (
                "`limit` raises it, `limit 4G`",
                "the environment variable SEQOIA_LIMIT raises it, SEQOIA_LIMIT=4G",
            ),
        ] {
            assert_eq!(flagged(text), wanted);
        }
    }

    /// What is written as an option and is none would be shown in backquotes.
    #[test]
    fn every_option_of_the_library_is_a_flag() {
        let (mut blamed, mut named, mut wrong) = (0, 0, vec![]);
        for (path, text) in sources::library() {
            for rest in text.split("BadOption::of(").skip(1) {
                let Some(name) = rest.trim_start().strip_prefix('"') else { continue };
                let name = &name[..name.find('"').unwrap()];
                assert!(flag(name).is_some(), "{}: {name}", path.display());
                blamed += 1;
            }
            for (line, literal) in sources::literals(&text) {
                for inside in literal.split('`').skip(1).step_by(2) {
                    let option = inside.split(' ').next().unwrap_or_default();
                    let lower = |c: char| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit();
                    if option.is_empty() || !option.chars().all(lower) || NO_OPTIONS.contains(&option) {
                        continue;
                    }
                    named += 1;
                    if flag(&inside.replace("{}", "X").replace("{0}", "X")).is_none() {
                        wrong.push(format!("{}:{line}: {inside}", path.display()));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "these are no flags:\n{}", wrong.join("\n"));
        assert!(blamed > 20 && named > 50, "{blamed} and {named} options are too few to be all");
    }

    /// What stands in backquotes and is no option.
    const NO_OPTIONS: &[&str] = &["iconv"];

    #[test]
    fn all_else_stays() {
        for text in [
            "",
            "no option",
            "label 7, --label 7, -t",
            "write `O` for a token outside",
            "with `iconv -f latin1 -t utf-8`",
            "expected `,` or `]`, integer `1`",
            "`labels` and `Label` and ` label` and `label ` are none",
            "`label the dog`, `label\tx`, `label\n`",
            "the word is `` but '' in a.txt:3",
            "``label`` and `label`` and ``label`",
            "one ` alone, `label",
            "it is `seqoia train` here",
            "`--label`",
            "`Straße` 語 `",
        ] {
            assert_eq!(flagged(text), text);
        }
    }
}
