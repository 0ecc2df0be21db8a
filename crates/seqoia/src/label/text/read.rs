//! Makes a model of its text.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

use seqoia_core::cast::narrow;
use seqoia_data::features::{Keys, MOST_LABELS, Program, Strings, StringsView};
use seqoia_data::open::Input;
use seqoia_model::{Number, Writer};
use seqoia_structures::chain::Space;

use super::parts::{Head, Weights, arrays};
use super::{HEADER, KINDS, is_known, unescape};
use crate::error::{Error, Result, counted};
use crate::label::meta::Description;
use crate::label::model::Labeller;
use crate::label::save::Arrays;
use seqoia_model::codes::Bits;

/// A line that is longer is none of ours.
const LONGEST: u64 = 1 << 30;

/// A model that was text.
pub struct FromText {
    /// The bytes of the model file.
    pub bytes: Vec<u8>,
    /// They are those of the model that the text was written from.
    pub unchanged: bool,
}

/// Reads what [`model_to_text`](super::model_to_text) writes, changed or not.
///
/// # Errors
/// A line that is not as it should be, or a text that makes no model.
pub fn model_from_text(input: Input) -> Result<FromText> {
    let mut reader = Reader::new(input.name.clone());
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut line = vec![];
    loop {
        line.clear();
        reader.line += 1;
        let failed = |e: std::io::Error| seqoia_data::Error::from_io(&reader.file, &e);
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
            return Err(reader.bad("this line is longer than any of a model"));
        }
        let text = std::str::from_utf8(&line).map_err(|_| reader.bad("this is not UTF-8"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        reader.take(text.strip_suffix('\r').unwrap_or(text))?;
    }
    reader.finish()
}

/// Words with a number each.
#[derive(Default)]
struct Listed {
    strings: Strings,
    numbers: Vec<u32>,
}

/// A part that has no lines of its own.
struct Other {
    name: String,
    kind: &'static str,
    bytes: Vec<u8>,
}

struct Reader {
    file: String,
    line: u64,
    digest: String,
    sections: Vec<String>,
    head: Option<Head>,
    weights: Weights,
    paths: Strings,
    clusters: Listed,
    names: Listed,
    lower: Listed,
    words: Listed,
    others: Vec<Other>,
}

impl Reader {
    fn new(file: String) -> Self {
        Reader {
            file,
            line: 0,
            digest: String::new(),
            sections: vec![],
            head: None,
            weights: Weights::default(),
            paths: Strings::default(),
            clusters: Listed::default(),
            names: Listed::default(),
            lower: Listed::default(),
            words: Listed::default(),
            others: vec![],
        }
    }

    fn bad(&self, what: impl Into<String>) -> Error {
        seqoia_data::Error::at(&self.file, self.line, what).into()
    }

    fn take(&mut self, line: &str) -> Result<()> {
        if self.line == 1 {
            let same = line.strip_prefix('\u{feff}').unwrap_or(line) == HEADER; // editors may add a mark
            return if same { Ok(()) } else { Err(self.bad(format!("the first line is not '{HEADER}'"))) };
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (word, rest) = line.split_once('\t').unwrap_or((line, ""));
        let fields: Vec<&str> = if word == "meta" { vec![] } else { rest.split('\t').collect() };
        match word {
            "digest" => rest.clone_into(&mut self.digest),
            "sections" => self.sections = fields.into_iter().map(str::to_owned).collect(),
            "meta" => self.meta(rest)?,
            "transition" => self.transition(&fields)?,
            "node" | "edge" => self.attribute(word == "edge", &fields)?,
            "cluster" => self.cluster(&fields)?,
            "name" => self.entry(&fields, |reader| &mut reader.names)?,
            "lower" => self.entry(&fields, |reader| &mut reader.lower)?,
            "word" => self.entry(&fields, |reader| &mut reader.words)?,
            "section" => self.section(&fields)?,
            "text" | "numbers" => self.more(word, &fields)?,
            _ => {
                return Err(self.bad(format!("a line starts with '{word}', which is none of the words here")));
            }
        }
        Ok(())
    }

    fn meta(&mut self, text: &str) -> Result<()> {
        if self.head.is_some() {
            return Err(self.bad("there is a line meta above"));
        }
        let description: Description =
            serde_json::from_str(text).map_err(|e| self.bad(format!("meta cannot be read: {e}")))?;
        let meta = &description.labeller;
        let count = meta.labels.len();
        // A few words of text would ask for the square of them in memory.
        if count == 0 || count > MOST_LABELS {
            return Err(
                self.bad(format!("meta has {}; 1 to {MOST_LABELS} are read", counted(count, "label")))
            );
        }
        let program = Program::new(meta.templates.clone());
        let labels: HashMap<String, u16> = meta.labels.iter().cloned().zip(0..).collect();
        if labels.len() != count {
            return Err(self.bad("a label stands twice in meta"));
        }
        self.weights.transitions = vec![0.0; count * Space::stored(count)];
        self.weights.nodes.keys = Keys::new(program.stride());
        self.weights.edges.keys = Keys::new(program.stride());
        self.head = Some(Head { text: text.as_bytes().to_vec(), description, program, labels });
        Ok(())
    }

    fn head(&self) -> Result<&Head> {
        self.head.as_ref().ok_or_else(|| self.bad("the line meta must stand above"))
    }

    fn fields<'a, const N: usize>(&self, fields: &[&'a str], wanted: &str) -> Result<[&'a str; N]> {
        let found = <[&str; N]>::try_from(fields);
        found.map_err(|_| self.bad(format!("found {}, expected {wanted}", counted(fields.len(), "field"))))
    }

    fn unescaped(&self, field: &str) -> Result<String> {
        unescape(field)
            .ok_or_else(|| self.bad(format!("'{field}' has a backslash without t, n, r or \\ behind it")))
    }

    fn label(&self, field: &str) -> Result<u16> {
        let name = self.unescaped(field)?;
        let found = self.head()?.labels.get(&name).copied();
        found.ok_or_else(|| self.bad(format!("meta has no label '{name}'")))
    }

    fn weight(&self, field: &str) -> Result<f32> {
        let found = field.parse().ok().filter(|w: &f32| w.is_finite());
        found.ok_or_else(|| self.bad(format!("'{field}' is no weight")))
    }

    fn number(&self, field: &str) -> Result<u32> {
        field.parse().map_err(|_| self.bad(format!("'{field}' is no whole number")))
    }

    fn intern(&self, string: Option<u32>) -> Result<u32> {
        string.ok_or_else(|| self.bad("there is more text than four billion bytes"))
    }

    fn transition(&mut self, fields: &[&str]) -> Result<()> {
        let [from, to, weight] = self.fields(fields, "two labels and a weight")?;
        let (from, to, weight) = (self.label(from)?, self.label(to)?, self.weight(weight)?);
        let at = usize::from(from) * Space::stored(self.head()?.description.labeller.labels.len())
            + usize::from(to);
        self.weights.transitions[at] = weight;
        Ok(())
    }

    fn attribute(&mut self, edge: bool, fields: &[&str]) -> Result<()> {
        let Head { program, description, .. } = self.head()?;
        let meta = &description.labeller;
        let group = self.number(fields.first().copied().unwrap_or_default())?;
        let template = program.groups().nth(group as usize).filter(|t| t.edge == edge);
        let Some(pieces) = template.map(|t| t.pieces.len()) else {
            let kind = if edge { "label pairs" } else { "tokens" };
            return Err(self.bad(format!("meta has no template {group} for {kind}")));
        };
        let (labels, count, stride) = (1 + usize::from(edge), meta.labels.len(), program.stride());
        if fields.len() != 1 + pieces + labels + 1 {
            let wanted = format!(
                "a template, {}, {} and a weight",
                counted(pieces, "value"),
                counted(labels, "label")
            );
            return Err(self.bad(format!("found {}, expected {wanted}", counted(fields.len(), "field"))));
        }
        let mut label = 0;
        for name in &fields[1 + pieces..][..labels] {
            label = label * count + usize::from(self.label(name)?);
        }
        let weight = self.weight(fields[1 + pieces + labels])?;
        let mut key = vec![group];
        for value in &fields[1..=pieces] {
            let value = self.unescaped(value)?;
            let number = self.weights.strings.intern(value.as_bytes());
            key.push(self.intern(number)?);
        }
        key.resize(stride, 0);
        let to = if edge { &mut self.weights.edges } else { &mut self.weights.nodes };
        to.add(&key, narrow(label), weight).map_err(|what| self.bad(what))
    }

    fn cluster(&mut self, fields: &[&str]) -> Result<()> {
        let [path, word] = self.fields(fields, "a path and a word")?;
        let (path, word) = (self.unescaped(path)?, self.unescaped(word)?);
        let path = self.paths.intern(path.as_bytes());
        let path = self.intern(path)?;
        self.listed(word, path, |reader| &mut reader.clusters)
    }

    fn entry(&mut self, fields: &[&str], list: fn(&mut Reader) -> &mut Listed) -> Result<()> {
        let [number, entry] = self.fields(fields, "a number and a name or word")?;
        let (number, entry) = (self.number(number)?, self.unescaped(entry)?);
        self.listed(entry, number, list)
    }

    fn listed(&mut self, word: String, number: u32, list: fn(&mut Reader) -> &mut Listed) -> Result<()> {
        let id = list(self).strings.intern(word.as_bytes());
        let id = self.intern(id)?;
        if (id as usize) < list(self).numbers.len() {
            return Err(self.bad(format!("'{word}' has a line above")));
        }
        list(self).numbers.push(number);
        Ok(())
    }

    fn section(&mut self, fields: &[&str]) -> Result<()> {
        let [name, kind] = self.fields(fields, "a name and a kind of number")?;
        let Some((kind, _)) = KINDS.into_iter().find(|(k, _)| *k == kind) else {
            return Err(self.bad(format!("'{kind}' is none of {}", KINDS.map(|k| k.0).join(", "))));
        };
        if name.len() > 16 {
            return Err(self.bad(format!("the name '{name}' is longer than 16 bytes")));
        }
        if is_known(name) || self.others.iter().any(|o| o.name == name) {
            return Err(self.bad(format!("section '{name}' has lines of its own")));
        }
        self.others.push(Other { name: name.to_owned(), kind, bytes: vec![] });
        Ok(())
    }

    /// More of the section whose line was the last.
    fn more(&mut self, word: &str, fields: &[&str]) -> Result<()> {
        let Some(kind) = self.others.last().map(|o| o.kind) else {
            return Err(self.bad("a line section must stand above"));
        };
        let mut bytes = vec![];
        for field in fields {
            let known = match (word, kind) {
                ("text", "u8") => unescape(field).map(|text| bytes.extend_from_slice(text.as_bytes())),
                ("text", _) => None,
                (_, "u8") => field.parse().ok().map(|n: u8| bytes.push(n)),
                (_, "u16") => field.parse().ok().map(|n: u16| bytes.extend(n.to_le_bytes())),
                (_, "u32") => field.parse().ok().map(|n: u32| bytes.extend(n.to_le_bytes())),
                (_, "u64") => field.parse().ok().map(|n: u64| bytes.extend(n.to_le_bytes())),
                (_, "f32") => field.parse().ok().map(|n: f32| bytes.extend(n.to_le_bytes())),
                _ => field.parse().ok().map(|n: f64| bytes.extend(n.to_le_bytes())),
            };
            known.ok_or_else(|| self.bad(format!("'{field}' is no {kind}")))?;
        }
        if let Some(other) = self.others.last_mut() {
            other.bytes.extend(bytes);
        }
        Ok(())
    }

    /// Lays the weights out and writes the file.
    fn finish(mut self) -> Result<FromText> {
        self.line -= 1; // the last one was not there
        let Some(head) = self.head.take() else { return Err(self.bad("there is no line meta")) };
        let has = |bits: &Bits| self.sections.iter().any(|name| name == bits.sections()[0]);
        let bits = Bits::ALL.into_iter().find(has).unwrap_or_default();
        let arrays = arrays(head, &mut self.weights, bits)?;
        let bytes = self.write(&arrays)?;
        let model = Labeller::from_bytes(&self.file, &bytes)
            .map_err(|e| Error::Mismatch(format!("the text makes no model: {e}")))?;
        let unchanged = format!("{:016x}", model.container().checksum()) == self.digest;
        Ok(FromText { bytes, unchanged })
    }

    fn write(&self, arrays: &Arrays) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        for name in &self.sections {
            match name.as_str() {
                _ if arrays.add(name, &mut writer) => (),
                "clusters.paths" => writer.add(name, &self.clusters.numbers),
                "names.lists" => writer.add(name, &self.names.numbers),
                "lower.lists" => writer.add(name, &self.lower.numbers),
                "words.marks" => writer.add(name, &self.words.numbers),
                _ => match (self.table(name), name.split_once('.').map(|n| n.1)) {
                    (Some(table), Some("text")) => writer.add(name, table.text),
                    (Some(table), Some("starts")) => writer.add(name, table.starts),
                    (Some(table), Some("slots")) => writer.add(name, table.slots),
                    _ => self.other(name, &mut writer)?,
                },
            }
        }
        Ok(writer.to_bytes())
    }

    /// The table of strings that a section is a part of.
    fn table(&self, section: &str) -> Option<StringsView<'_>> {
        match section.split_once('.')?.0 {
            "paths" => Some(self.paths.view()),
            "clusters" => Some(self.clusters.strings.view()),
            "names" => Some(self.names.strings.view()),
            "lower" => Some(self.lower.strings.view()),
            "words" => Some(self.words.strings.view()),
            _ => None,
        }
    }

    fn other<'a>(&'a self, name: &str, writer: &mut Writer<'a>) -> Result<()> {
        let Some(other) = self.others.iter().find(|o| o.name == name) else {
            return Err(self.bad(format!("there is no line 'section {name}', which the line sections wants")));
        };
        let kind = KINDS.iter().find(|(name, _)| *name == other.kind).map_or(u8::KIND, |(_, kind)| *kind);
        writer.add_bytes(name, kind, &other.bytes);
        Ok(())
    }
}
