//! A row of the grid: a task with the files that every tool reads.
//!
//! Ready attributes stand in `train.crfsuite` and `test.crfsuite`; from them come the files of Vowpal Wabbit and the
//! counts. Everything is read and written line by line: the peaks of the tools begin with the size of this process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::made::{Part, Shape};
use crate::bench::Bench;
use crate::data::{Counts, Task};
use crate::expand::for_vowpal;

/// The test data so many times in one file, for `predict`.
const COPIES: u64 = 10;
/// Steps of a pass, pairs of labels times tokens, from which on python-crfsuite takes minutes for each: fewer are made.
const LONG: u64 = 10_000_000_000;
/// Ready attributes for training and for the test.
pub(super) const READY: [&str; 2] = ["train.crfsuite", "test.crfsuite"];

/// A row that can be measured.
pub(super) struct Row {
    /// Its name in the table.
    pub(super) name: String,
    /// Files and flags.
    pub(super) task: Task,
    /// Training and test file that python-crfsuite is fed with.
    pub(super) theirs: [&'static str; 2],
    /// What `predict` labels: the test data many times, and its first sequence.
    pub(super) inputs: [String; 2],
    /// How many tokens more the first has.
    pub(super) tokens: u64,
    /// Flags of whole training, if the row has one.
    pub(super) whole: Option<&'static [&'static str]>,
    /// Iterations of L-BFGS: of a short run, and of a longer one.
    pub(super) passes: [usize; 2],
    /// The same for epochs of the averaged perceptron, beside which reading is measured.
    pub(super) epochs: [usize; 2],
    /// And where an epoch is measured: more, if it is short.
    pub(super) ap: [usize; 2],
}

impl Row {
    /// Makes the files of a shape.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub(super) fn made(bench: &Bench, shape: &Shape) -> Result<Row> {
        let folder = bench.folder(&folder_name(&shape.name))?;
        for (part, name) in [Part::Train, Part::Test].into_iter().zip(READY) {
            shape
                .write(part, &mut create(&folder.join(name))?)
                .with_context(|| format!("{name}: cannot be written"))?;
        }
        Row::ready(&shape.name, &folder, READY, &["--format", "crfsuite"])
    }

    /// A row whose files of ready attributes are there; ours reads `files` with these flags.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub(super) fn ready(
        name: &str,
        folder: &Path,
        files: [&'static str; 2],
        flags: &[&'static str],
    ) -> Result<Row> {
        let mut labels = vec![];
        let [train, test] = READY.map(|name| folder.join(name));
        let size = for_vowpal_wabbit(&train, true, &mut labels)?;
        let test_size = for_vowpal_wabbit(&test, false, &mut labels)?;
        let extension = Path::new(files[1]).extension().unwrap_or_default().to_string_lossy().into_owned();
        let inputs = ["many", "few"].map(|stem| format!("{stem}.{extension}"));
        copies(&folder.join(files[1]), &folder.join(&inputs[0]))?;
        first(&folder.join(files[1]), &extension, &folder.join(&inputs[1]))?;
        let task = Task {
            title: name.to_owned(),
            folder: folder.to_owned(),
            train: files[0],
            dev: files[1],
            test: files[1],
            flags: flags.to_vec(),
            replaced: None,
            counts: Counts {
                sentences: size.sequences,
                tokens: size.tokens,
                test_tokens: test_size.tokens,
                attributes: 0, // nobody asks
                labels,
            },
            weights: None,
        };
        let tokens = COPIES * test_size.tokens - test_size.first;
        let theirs = if extension == "jsonl" { files } else { READY };
        let labels = task.counts.labels.len() as u64;
        let long = labels * labels * size.tokens > LONG;
        let [passes, epochs] = if long { [[2, 4], [1, 2]] } else { [[9, 17], [2, 6]] };
        Ok(Row {
            name: name.to_owned(),
            task,
            theirs,
            inputs,
            tokens,
            whole: None,
            passes,
            epochs,
            ap: epochs,
        })
    }
}

/// The folder of a row in the cache.
pub(super) fn folder_name(row: &str) -> String {
    let words = row.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold("shape".to_owned(), |name, word| format!("{name}-{}", word.to_lowercase()))
}

/// What a file has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Size {
    sequences: u64,
    tokens: u64,
    first: u64, // tokens of the first sequence
}

/// Writes what Vowpal Wabbit reads beside a file of ready attributes, and counts. Labels are numbered from 1 as they
/// come in the training file; one that only the test file has becomes the first, to keep their number.
fn for_vowpal_wabbit(ready: &Path, training: bool, labels: &mut Vec<String>) -> Result<Size> {
    let mut out = create(&ready.with_extension("vw"))?;
    let mut size = Size::default();
    let mut inside = false;
    for line in lines(ready)? {
        let line = line.with_context(|| format!("{}: cannot be read", ready.display()))?;
        if line.is_empty() {
            inside = false;
            writeln!(out)?;
            continue;
        }
        size.sequences += u64::from(!inside);
        size.tokens += 1;
        size.first += u64::from(size.sequences == 1);
        inside = true;
        let mut fields = line.split('\t');
        let label = fields.next().unwrap_or_default();
        let known = labels.iter().position(|known| known == label);
        let number = match known {
            Some(index) => index + 1,
            None if training => {
                labels.push(label.to_owned());
                labels.len()
            }
            None => 1,
        };
        write!(out, "{number} |")?;
        for field in fields {
            let (name, value) = attribute(field);
            match value {
                Some(value) => write!(out, " {}:{value}", for_vowpal(&name))?,
                None => write!(out, " {}", for_vowpal(&name))?,
            }
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(size)
}

/// Name and value of an attribute as CRFsuite writes it: `\` makes the next character an ordinary one.
fn attribute(field: &str) -> (String, Option<&str>) {
    let mut name = String::with_capacity(field.len());
    let mut chars = field.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (name, Some(&field[at + 1..])),
            '\\' => name.extend(chars.next().map(|next| next.1)),
            c => name.push(c),
        }
    }
    (name, None)
}

/// Writes a file many times over.
fn copies(from: &Path, to: &Path) -> Result<()> {
    let mut out = create(to)?;
    for _ in 0..COPIES {
        let mut input = File::open(from).with_context(|| format!("{}: cannot be read", from.display()))?;
        io::copy(&mut input, &mut out)?;
    }
    Ok(out.flush()?)
}

/// Writes the first sequence of a file; how it ends depends on the format, which the extension tells.
fn first(from: &Path, extension: &str, to: &Path) -> Result<()> {
    let mut out = create(to)?;
    let mut begun = false;
    for line in lines(from)? {
        let line = line.with_context(|| format!("{}: cannot be read", from.display()))?;
        let last = match extension {
            "jsonl" => true,
            "data" => line.split('\t').nth(2) == Some("-1"),
            _ => line.is_empty() && begun,
        };
        begun |= !line.is_empty() && !line.starts_with("-DOCSTART-"); // a mark, not a token
        if begun {
            writeln!(out, "{line}")?;
        }
        if last {
            break;
        }
    }
    Ok(out.flush()?)
}

/// The lines of a plain file.
pub(super) fn lines(path: &Path) -> Result<io::Lines<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(BufReader::new(file).lines())
}

/// A file to write.
pub(super) fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn attributes_with_values_and_escapes() {
        assert_eq!(attribute(r"a\:b\\:0.5"), (r"a:b\".to_owned(), Some("0.5")));
        assert_eq!(attribute("a=b"), ("a=b".to_owned(), None));
    }

    #[test]
    fn files_of_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("train.crfsuite"), "X\ta\tb\\:c\nY\ta:0.5\n\nX\n\n").unwrap();
        fs::write(path("test.crfsuite"), "Y\ta\nZ\ta\n\nX\tb\n\n").unwrap();
        let row = Row::ready("a row", folder.path(), READY, &[]).unwrap();
        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!(read("train.vw"), "1 | a b\\cc\n2 | a:0.5\n\n1 |\n\n");
        assert_eq!(read("test.vw"), "2 | a\n1 | a\n\n1 | b\n\n");
        assert_eq!(read(&row.inputs[1]), "Y\ta\nZ\ta\n\n");
        assert_eq!(read(&row.inputs[0]).lines().count(), 50);
        assert_eq!((row.tokens, row.task.counts.tokens, row.task.counts.labels.len()), (28, 3, 2));
        assert_eq!((row.passes, row.epochs), ([9, 17], [2, 6]));
    }

    #[test]
    fn first_sequences() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let cut = |text: &str, extension: &str| {
            fs::write(&from, text).unwrap();
            first(&from, extension, &to).unwrap();
            fs::read_to_string(&to).unwrap()
        };
        assert_eq!(cut("\n\na x\nb y\n\nc z\n\n", "txt"), "a x\nb y\n\n");
        assert_eq!(cut("{1}\n{2}\n", "jsonl"), "{1}\n");
        assert_eq!(cut("1\ta\t2\n2\tb\t-1\n3\ta\t4\n", "data"), "1\ta\t2\n2\tb\t-1\n");
    }

    #[test]
    fn folders_have_plain_names() {
        assert_eq!(folder_name("33 labels, dense"), "shape-33-labels-dense");
        assert_eq!(folder_name("20,000 tokens"), "shape-20-000-tokens");
    }
}
