//! Options as the user of this program writes them. The library names an option plainly, in backquotes: `` `label` ``,
//! or with a value `` `pairs observed` ``. On the way to the screen these become flags, `--label` and `--pairs
//! observed`; all else in backquotes stays as it is, and so does a word that is no option of any command.

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// A text of the library with flags for its options.
pub(crate) fn flagged(text: &str) -> String {
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
    use std::path::Path;

    use super::{flag, flagged};

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

    /// An option that the library blames by a name that is no flag would be shown in backquotes.
    #[test]
    fn every_option_of_the_library_is_a_flag() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let (mut folders, mut seen) = (vec![crates.join("seqoia/src")], 0);
        for crate_name in ["learners", "strategies"] {
            folders.push(crates.join(crate_name).join("src"));
        }
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for rest in text.split("BadOption::of(").skip(1) {
                    let Some(name) = rest.trim_start().strip_prefix('"') else { continue };
                    let name = &name[..name.find('"').unwrap()];
                    assert!(flag(name).is_some(), "{}: {name}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen > 20, "{seen} options are too few to be all");
    }

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
