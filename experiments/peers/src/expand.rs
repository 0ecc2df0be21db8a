//! Writes the attributes that Seqoia extracts in the rivals' formats, so that all tools learn from
//! the same.
//!
//! CRFsuite: `LABEL<TAB>attribute<TAB>...`, one token a line, an empty line after each sentence; `:`
//! separates a value, so it and `\` are escaped. Vowpal Wabbit: `NUMBER | attribute attribute ...`,
//! labels numbered from 1; `:`, `|` and blanks have a meaning and are replaced.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use seqoia::core::Ragged;
use seqoia::data::features::{Extractor, Growing, Labels, Program};
use seqoia::data::format::{Blocks, Reader};
use seqoia::data::open;
use seqoia::{FeatureChoice, LabelColumn};

/// Expands one file after another with one dictionary.
pub(crate) struct Expander {
    features: FeatureChoice,
    label: LabelColumn,
    vowpal: bool,
    state: Option<State>,
    /// Labels in order of arrival.
    pub(crate) labels: Labels,
}

struct State {
    program: Arc<Program>,
    dictionary: Growing,
    extractor: Extractor,
    names: Vec<Names>,
}

/// An attribute as the rivals read it.
struct Names {
    crfsuite: String,
    vowpal: String,
}

/// What a file has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Sentences.
    pub(crate) sentences: u64,
    /// Tokens.
    pub(crate) tokens: u64,
}

impl Expander {
    /// For these features and this label column; `vowpal` writes files for Vowpal Wabbit as well.
    pub(crate) fn new(features: FeatureChoice, label: LabelColumn, vowpal: bool) -> Self {
        Expander { features, label, vowpal, state: None, labels: Labels::default() }
    }

    /// Different attributes so far, counted by the names that CRFsuite reads.
    pub(crate) fn attributes(&self) -> usize {
        let names = self.state.iter().flat_map(|state| &state.names);
        names.map(|names| names.crfsuite.as_str()).collect::<HashSet<_>>().len()
    }

    /// Writes `STEM.crfsuite`, `STEM.gold` (a label a line) and perhaps `STEM.vw` beside `input`,
    /// which is the training file in the first call.
    ///
    /// # Errors
    /// Data that cannot be read, files that cannot be written.
    pub(crate) fn expand(&mut self, input: &Path) -> Result<Size> {
        let file = input.display().to_string();
        let mut reader = Reader::new(Blocks::new(open::open(input)?), None)?;
        let format = reader.format();
        let label = self.label.resolve(&file, &*format)?;
        if self.state.is_none() {
            let features = self.features.resolve(&*format, Some(label))?;
            let program = Arc::new(features.compile(&file, format.columns(), label)?);
            let mut dictionary = Growing::new(&program, Arc::clone(&self.features.lexica));
            let extractor = Extractor::new(Arc::clone(&program), &mut dictionary);
            self.state = Some(State { program, dictionary, extractor, names: vec![] });
        }
        let state = self.state.as_mut().context("set above")?;
        let mut crfsuite = create(input, "crfsuite")?;
        let mut gold = create(input, "gold")?;
        let mut vowpal = self.vowpal.then(|| create(input, "vw")).transpose()?;
        let known = self.labels.len();
        let mut size = Size::default();
        while let Some(block) = reader.next()? {
            for sentence in block.sentences() {
                let (mut nodes, mut edges) = (Ragged::default(), Ragged::default());
                let tokens = sentence.tokens.clone();
                state.extractor.extract(
                    &mut state.dictionary,
                    &file,
                    block,
                    tokens.clone(),
                    &mut nodes,
                    &mut edges,
                )?;
                state.name_new();
                for (t, token) in tokens.enumerate() {
                    let name = block.field(token, label);
                    let attributes = nodes.view().at(t).iter().map(|&a| &state.names[a as usize]);
                    write!(crfsuite, "{}", for_crfsuite(name))?;
                    for attribute in attributes.clone() {
                        write!(crfsuite, "\t{}", attribute.crfsuite)?;
                    }
                    writeln!(crfsuite)?;
                    writeln!(gold, "{name}")?;
                    let number = usize::from(self.labels.intern(name).context("too many labels")?) + 1;
                    if let Some(out) = &mut vowpal {
                        // A label that training has not seen must not raise the number of labels.
                        write!(out, "{} |", if known == 0 || number <= known { number } else { 1 })?;
                        for attribute in attributes {
                            write!(out, " {}", attribute.vowpal)?;
                        }
                        writeln!(out)?;
                    }
                }
                size.sentences += 1;
                size.tokens += sentence.tokens.len() as u64;
                for out in [&mut crfsuite, &mut gold].into_iter().chain(&mut vowpal) {
                    writeln!(out)?;
                }
            }
        }
        for mut out in [crfsuite, gold].into_iter().chain(vowpal) {
            out.flush()?;
        }
        Ok(size)
    }
}

impl State {
    /// Puts the names of attributes together that came with the last sentence.
    fn name_new(&mut self) {
        let (keys, strings) = (self.dictionary.nodes.view(), self.dictionary.strings.view());
        while let Some(key) = u32::try_from(self.names.len()).ok().and_then(|id| keys.get(id)) {
            let name = self.program.name(key, strings);
            self.names.push(Names { crfsuite: for_crfsuite(&name), vowpal: for_vowpal(&name) });
        }
    }
}

fn create(input: &Path, extension: &str) -> Result<BufWriter<File>> {
    let path = input.with_extension(extension);
    let file = File::create(&path).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

fn for_crfsuite(name: &str) -> String {
    name.replace('\\', "\\\\").replace(':', "\\:")
}

/// An attribute as Vowpal Wabbit reads it.
pub(crate) fn for_vowpal(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace(':', "\\c")
        .replace('|', "\\p")
        .replace(' ', "\\s")
        .replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(for_crfsuite(r"U0:a\:"), r"U0\:a\\\:");
        assert_eq!(for_vowpal(r"U0:a|b c\p"), r"U0\ca\pb\sc\\p");
    }

    #[test]
    fn both_formats() {
        let folder = tempfile::tempdir().unwrap();
        let [train, test] = ["train.txt", "test.txt"].map(|name| folder.path().join(name));
        std::fs::write(&train, "a X\n: Y\n\nb Y\n").unwrap();
        std::fs::write(&test, "a Z\n").unwrap();
        let features = FeatureChoice {
            templates: vec![("t".into(), "U0:%x[0,0]\nU1:%x[-1,0]\nB".into())],
            sets: vec![],
            ..FeatureChoice::default()
        };
        let mut expander = Expander::new(features, LabelColumn::Last, true);
        let size = expander.expand(&train).unwrap();
        assert_eq!((size.sentences, size.tokens, expander.attributes()), (2, 3, 5));
        expander.expand(&test).unwrap();
        // Attributes of a token come in any order.
        let read = |name, separator| {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let sorted = |line: &str| {
                let (label, attributes) = line.split_once(separator).unwrap_or((line, ""));
                let mut attributes: Vec<&str> = attributes.split(separator).collect();
                attributes.sort_unstable();
                format!("{label} {}", attributes.join(" "))
            };
            text.lines().map(sorted).collect::<Vec<_>>()
        };
        let expected = [r"X U0\:a U1\:_B-1", r"Y U0\:\: U1\:a", " ", r"Y U0\:b U1\:_B-1", " "];
        assert_eq!(read("train.crfsuite", '\t'), expected);
        let expected = [r"1 U0\ca U1\c_B-1 |", r"2 U0\c\c U1\ca |", " ", r"2 U0\cb U1\c_B-1 |", " "];
        assert_eq!(read("train.vw", ' '), expected);
        assert_eq!(read("test.vw", ' '), [r"1 U0\ca U1\c_B-1 |", " "]);
        assert_eq!(read("test.gold", ' '), ["Z ", " "]);
    }
}
