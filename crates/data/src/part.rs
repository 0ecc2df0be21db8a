//! Parts of files: `train.txt@last:10%` is a file of its own to whoever opens it.
//!
//! Behind the last `@` of a name stand steps between commas; each takes some of the sentences that the one before it
//! left:
//!
//! ```text
//! first:N  last:N      so many sentences, or so many per cent (first:10%), rounded to the nearest sentence
//! every:K              the K-th, the 2K-th, ...
//! fold:I/K             fold I, from 1, of K: a stretch, so that documents stay together, as in cross-validation
//! own-fold:I           those of fold I by the file's own numbers, which images of letters have
//! not-...              the rest of any of these
//! ```
//!
//! What stands before a sentence goes with it, and where the sentence that starts a document is left out, the next one
//! of that document starts it. The text of the part is in memory as a whole, and its lines are counted from 1.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::format::{Blocks, Kind, Pieces};
use crate::open::{Input, open};

/// A choice among the sentences of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Part(Vec<Step>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    rest: bool,
    choice: Choice,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    First(Amount),
    Last(Amount),
    Every(usize),
    Fold { number: usize, of: usize },
    OwnFold(usize),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Sentences(usize),
    PerCent(f64),
}

impl Amount {
    fn of(self, all: usize) -> usize {
        match self {
            Amount::Sentences(n) => n.min(all),
            // A count below 2^32 is exact, and so is what it rounds to.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            Amount::PerCent(x) => (all as f64 * x / 100.0).round() as usize,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Sentences(n) => write!(f, "{n}"),
            Amount::PerCent(x) => write!(f, "{x}%"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Step { rest, choice }) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            f.write_str(if *rest { "not-" } else { "" })?;
            match choice {
                Choice::First(amount) => write!(f, "first:{amount}")?,
                Choice::Last(amount) => write!(f, "last:{amount}")?,
                Choice::Every(step) => write!(f, "every:{step}")?,
                Choice::Fold { number, of } => write!(f, "fold:{number}/{of}")?,
                Choice::OwnFold(number) => write!(f, "own-fold:{number}")?,
            }
        }
        Ok(())
    }
}

/// What may stand behind the `@`, for errors.
pub const PARTS: &str = "parts are first:N, last:N, first:10%, last:10%, every:K, fold:I/K, own-fold:I, and not- before any of them";

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Part, String> {
        let step = |text: &str| {
            let (rest, text) = text.strip_prefix("not-").map_or((false, text), |text| (true, text));
            choice(text).map(|choice| Step { rest, choice }).ok_or_else(|| format!("'{text}' is not a part"))
        };
        text.split(',').map(step).collect::<std::result::Result<_, _>>().map(Part)
    }
}

fn choice(text: &str) -> Option<Choice> {
    let (name, value) = text.split_once(':')?;
    let amount = || match value.strip_suffix('%') {
        Some(share) => {
            let x = share.parse::<f64>().ok().filter(|x| (0.0..=100.0).contains(x));
            x.map(Amount::PerCent)
        }
        None => value.parse().ok().map(Amount::Sentences),
    };
    match name {
        "first" => amount().map(Choice::First),
        "last" => amount().map(Choice::Last),
        "every" => value.parse().ok().filter(|step| *step > 0).map(Choice::Every),
        "fold" => {
            let (number, of) = value.split_once('/')?;
            // Sentences are numbered with 32 bits.
            let (number, of) = (number.parse::<u32>().ok()? as usize, of.parse::<u32>().ok()? as usize);
            (1..=of).contains(&number).then_some(Choice::Fold { number, of })
        }
        "own-fold" => value.parse().ok().map(Choice::OwnFold),
        _ => None,
    }
}

impl Part {
    /// Splits the name of a file that has a part behind it; none if there is no such part, or if a file has the whole
    /// as its name.
    ///
    /// # Errors
    /// Something behind an `@` that is meant as a part and is none.
    pub fn split(path: &Path) -> Result<Option<(PathBuf, Part)>> {
        let Some((file, part)) = path.to_str().and_then(|text| text.rsplit_once('@')) else {
            return Ok(None);
        };
        if path.exists() || file.is_empty() {
            return Ok(None);
        }
        match part.parse() {
            Ok(part) => Ok(Some((file.into(), part))),
            Err(what) if Path::new(file).exists() => {
                Err(Error::new(path.display().to_string(), what).help(PARTS))
            }
            Err(_) => Ok(None),
        }
    }

    /// Which sentences, as a text of its own that is called after the file and the part.
    ///
    /// # Errors
    /// A file that cannot be read, or a part without a sentence.
    pub fn of(&self, input: Input, kind: Option<Kind>) -> Result<Input> {
        let (file, limit) = (input.name.clone(), input.limit());
        let name = format!("{file}@{self}");
        let pieces = Pieces::read(Blocks::new(input), kind)?;
        let mut left: Vec<usize> = (0..pieces.len()).collect();
        for step in &self.0 {
            let all = left.len();
            let mut at = 0..;
            let mut taken = |i: usize| -> Result<bool> {
                let at = at.next().unwrap_or(0);
                Ok(match step.choice {
                    Choice::First(amount) => at < amount.of(all),
                    Choice::Last(amount) => at >= all - amount.of(all),
                    Choice::Every(step) => (at + 1).is_multiple_of(step),
                    Choice::Fold { number, of } => fold(number, of, all).contains(&at),
                    Choice::OwnFold(fold) => own_fold(&pieces, i, &file)? == fold,
                })
            };
            let keep: Vec<bool> = left.iter().map(|&i| taken(i)).collect::<Result<_>>()?;
            let mut keep = keep.into_iter();
            left.retain(|_| keep.next().is_some_and(|taken| taken != step.rest));
        }
        if left.is_empty() {
            let what = format!("this part has no sentence; {file} has {}", pieces.len());
            return Err(Error::new(name, what));
        }
        let mut wanted = left.into_iter().peekable();
        let text = pieces.choose(|i| wanted.next_if_eq(&i).is_some());
        Ok(Input::from_bytes(name, text)?.with_limit(limit))
    }
}

/// The sentences of fold `number`, from 1, when so many sentences are cut into `of` stretches.
#[must_use]
pub fn fold(number: usize, of: usize, sentences: usize) -> Range<usize> {
    (number - 1) * sentences / of..number * sentences / of
}

/// The fold that the file gives a sentence.
fn own_fold(pieces: &Pieces, i: usize, file: &str) -> Result<usize> {
    /// Its column in images of letters.
    const FOLD: usize = 5;
    let row = pieces.get(i).lines().find(|row| !row.trim().is_empty()).unwrap_or("");
    let fold = row.split('\t').nth(FOLD).and_then(|fold| fold.parse().ok());
    fold.filter(|_| pieces.kind() == Kind::Ocr).ok_or_else(|| {
        Error::new(file, "sentences have no fold of their own; only images of letters (ocr) have").help(PARTS)
    })
}

/// Opens a file or a part of one, as [`open`] does.
///
/// # Errors
/// What [`open`] and [`Part::of`] say.
pub fn open_part(path: &Path, kind: Option<Kind>, limit: usize) -> Result<Input> {
    match Part::split(path)? {
        Some((file, part)) => part.of(open(&file)?.with_limit(limit), kind),
        None => Ok(open(path)?.with_limit(limit)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::*;
    use std::io::Read;

    fn part(text: &str, part: &str) -> Result<String> {
        let mut out = String::new();
        let input = Input::from_bytes("a.txt", text).unwrap();
        part.parse::<Part>().unwrap().of(input, None)?.read_to_string(&mut out).unwrap();
        Ok(out.replace(" X", "").replace('\n', ""))
    }

    #[test]
    fn parts_are_parts() {
        let text: String = ["a", "b", "c", "d", "e", "f", "g"].map(|word| format!("{word} X\n\n")).concat();
        for (name, expected) in [
            ("first:2", "ab"),
            ("not-first:2", "cdefg"),
            ("last:2", "fg"),
            ("last:100", "abcdefg"),
            ("first:30%", "ab"),
            ("not-last:50%", "abc"),
            ("every:3", "cf"),
            ("not-every:3", "abdeg"),
            ("fold:1/3", "ab"),
            ("fold:3/3", "efg"),
            ("not-fold:1/3,last:1", "g"),
            ("last:5,first:2", "cd"),
        ] {
            assert_eq!(part(&text, name).unwrap(), expected, "{name}");
            assert_eq!(name.parse::<Part>().unwrap().to_string(), name);
        }
        let error = part(&text, "first:0").unwrap_err();
        assert_eq!(error.to_string(), "a.txt@first:0: this part has no sentence; a.txt has 7");
        assert!(part(&text, "own-fold:1").unwrap_err().to_string().contains("fold of their own"));
    }

    /// Every sentence is in a fold or in its rest, and in one fold only.
    #[test]
    fn folds_cover_the_file() {
        let text: String = (0..23).map(|n| format!("{n} X\n\n")).collect();
        let sentences = |name: &str| -> Vec<String> {
            let text = part(&text.replace(" X", "; X"), name).unwrap();
            text.split_terminator(';').map(str::to_owned).collect()
        };
        let mut all: Vec<usize> =
            (1..=5).flat_map(|i| sentences(&format!("fold:{i}/5"))).map(|n| n.parse().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..23).collect::<Vec<_>>());
        assert_eq!(sentences("fold:3/5").len() + sentences("not-fold:3/5").len(), 23);
    }

    #[test]
    fn what_is_not_a_part_is_refused() {
        for text in [
            "",
            "first",
            "first:",
            "first:-1",
            "first:101%",
            "first:NaN%",
            "every:0",
            "fold:0/3",
            "fold:4/3",
            "half:1",
        ] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }

    #[test]
    fn letters_have_folds_of_their_own() {
        let row = |id: u32, next: &str, word: u32, fold: u32| {
            format!("{id}\ta\t{next}\t{word}\t1\t{fold}{}\n", "\t0".repeat(128))
        };
        let text = row(1, "2", 1, 0) + &row(2, "-1", 1, 0) + &row(3, "-1", 2, 7);
        let count = |name: &str| part(&text, name).unwrap().matches("\ta\t").count();
        assert_eq!((count("own-fold:0"), count("own-fold:7"), count("not-own-fold:0")), (2, 1, 1));
    }
}
