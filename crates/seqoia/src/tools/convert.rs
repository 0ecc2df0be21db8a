//! Rewrites a file in another format, in another label scheme, or both; a block at a time.
//!
//! Within one format labels are put into the text as it is, so that comments, ranges and blanks stay.
//! Into another format go the word, the label and, where the target has columns, the other columns; or
//! attributes, if the file has some or templates make them. What the target cannot hold is an error
//! with its line, but for columns that it has no place for: those are left out, and [`Converted`] says
//! which.
//!
//! The scheme of the labels is recognised in the first block, so that nothing has to be read twice. At
//! the end it is compared with that of the whole file.

use std::io::Write;
use std::sync::Arc;

use seqoia_data::features::Lexica;
use seqoia_data::format::{self, Block, Copy, Field, Format, Kind, Labelled, Outgo, Outgoing, Place, Target};
use seqoia_data::open::Input;
use seqoia_data::scheme::{self, Recogniser, Scheme};

use crate::error::{BadOption, Result};
use crate::label::options::{FeatureChoice, LabelColumn};
use crate::label::own_words;
use crate::label::text;
use crate::tools::expand::Expander;

/// What is to be made of a file.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// Format of the file, if it is not to be recognised.
    pub from: Option<Kind>,
    /// Format to write; that of the file if none.
    pub to: Option<Kind>,
    /// Scheme of its labels, if it is not to be recognised.
    pub scheme_from: Option<Scheme>,
    /// Scheme to write; that of the file if none.
    pub scheme: Option<Scheme>,
    /// Templates, to write attributes.
    pub features: FeatureChoice,
    /// Column of the label. If only the target is CoNLL, a name is its column there.
    pub label: LabelColumn,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Sentences.
    pub sentences: u64,
    /// Tokens.
    pub tokens: u64,
    /// Columns of the file, from 0, that the target has no place for.
    pub left_out: Vec<usize>,
    /// Whether the sentences were one document, and are written so that each is one.
    pub apart: bool,
}

/// Rewrites `input` to `out`.
///
/// # Errors
/// Data that cannot be read, or that the target cannot hold; output that cannot be written.
pub fn convert(input: Input, options: &ConvertOptions, out: &mut dyn Write) -> Result<Converted> {
    let (source, lexica) = own_words::collect(input.into(), &options.features, options.from)?;
    let mut reader = source.reader(options.from, options.features.reads_mentions())?;
    let (file, format) = (reader.name().to_owned(), reader.format());
    if text::is_model_text(reader.start()) {
        let what = format!("{file} is a model as text: `model FILE` says where to write the model");
        return Err(BadOption::new(what).into());
    }
    let empty = Block::default();
    let plan = Plan::new(&file, &*format, reader.peek()?.unwrap_or(&empty), options)?;
    let mut expander = match options.features.is_empty() {
        true => None,
        false => Some(expander(&file, &*format, plan.label, &options.features, lexica)?),
    };
    let mut seen = Recogniser::default();
    let mut done = Converted { left_out: plan.left_out(), ..Converted::default() };
    let mut text = vec![];
    let mut documents = 0;
    while let Some(block) = reader.next()? {
        text.clear();
        if plan.target.kind == format.kind() && expander.is_none() {
            plan.relabel(block, &mut seen, &mut text);
        } else {
            plan.rewrite(block, expander.as_mut(), &mut seen, &mut documents, &mut text)?;
        }
        out.write_all(&text)?;
        done.sentences += block.len() as u64;
        done.tokens += block.tokens().len() as u64;
    }
    out.flush()?;
    done.apart = (format.kind(), plan.target.kind) == (Kind::Columns, Kind::Jsonl)
        && expander.is_none()
        && documents == 0
        && done.sentences > 1;
    let wanted = plan.schemes.filter(|_| options.scheme_from.is_none() && format.kind() != Kind::Words);
    if let Some((taken, _)) = wanted.filter(|(taken, _)| seen.finish() != Some(*taken)) {
        let name = taken.name();
        let what = format!(
            "its first labels look like {name}, all of them do not; say `scheme-from {name}` if it is"
        );
        return Err(seqoia_data::Error::new(file, what).into());
    }
    Ok(done)
}

fn expander(
    file: &str,
    format: &dyn Format,
    label: Option<usize>,
    choice: &FeatureChoice,
    lexica: Arc<Lexica>,
) -> Result<Expander> {
    // A file without labels has no column that must not be read.
    let program =
        choice.resolve(format, label)?.compile(file, format.columns(), label.unwrap_or(usize::MAX))?;
    if program.has_edges() {
        return Err(BadOption::new(
            "templates that start with B (patterns: b or *) and read columns make attributes of label pairs, \
             which no format holds; leave them out",
        )
        .into());
    }
    Ok(Expander::new(Arc::new(program), lexica))
}

/// All that is decided before the first sentence is written.
struct Plan<'a> {
    file: &'a str,
    format: &'a dyn Format,
    target: Target,
    /// Column of the label, if the file has one.
    label: Option<usize>,
    /// Columns that go over beside the label.
    fields: Vec<usize>,
    /// Scheme of the labels, and the one to write.
    schemes: Option<(Scheme, Scheme)>,
}

fn conll(kind: Kind) -> bool {
    matches!(kind, Kind::Conllu | Kind::Conllx)
}

impl<'a> Plan<'a> {
    fn new(file: &'a str, format: &'a dyn Format, first: &Block, options: &ConvertOptions) -> Result<Self> {
        let (from, to) = (format.kind(), options.to.unwrap_or_else(|| format.kind()));
        let (mut own, mut theirs) = (options.label.clone(), Field::Upos);
        if let (LabelColumn::Field(field), false, true) = (&options.label, conll(from), conll(to)) {
            (own, theirs) = (LabelColumn::Last, *field);
        }
        let label = match format.label() {
            Place::Missing => None,
            // From one CoNLL to the other all columns go over, whichever is the label.
            Place::Chosen if conll(to) && own == LabelColumn::Last && options.scheme.is_none() => None,
            _ => Some(own.resolve(file, format)?),
        };
        if let (Some(label), true) = (label.and_then(|label| Field::ALL.get(label)), conll(from)) {
            theirs = *label;
        }
        if conll(to) && label.is_some() && !theirs.takes_labels() {
            let what = format!(
                "labels are written as upos, xpos, feats, deprel or misc; the other columns of {} have a meaning of \
                 their own",
                to.name()
            );
            return Err(BadOption::of("label", theirs.name().to_lowercase(), what).into());
        }
        let attributes = !options.features.is_empty() || format.ready();
        if !options.features.is_empty() && !matches!(to, Kind::Crfsuite | Kind::Jsonl) {
            let what = "it has no attributes, so `template`, `patterns` and `features` are not for it; crfsuite and \
                        jsonl have";
            return Err(BadOption::of("to", to.name(), what).into());
        }
        if to == Kind::Crfsuite && !attributes {
            let what =
                "it needs attributes; give templates with `template FILE` or a set with `features SET`";
            return Err(BadOption::of("to", "crfsuite", what).into());
        }
        let found = match (options.scheme_from, label) {
            (_, None) => None,
            (Some(scheme), _) => Some(scheme),
            _ if from == Kind::Words => Some(format::WORDS_SCHEME),
            (None, Some(label)) => {
                let mut recogniser = Recogniser::default();
                for s in first.sentences() {
                    let labels: Vec<&str> = s.tokens.map(|i| first.field(i, label)).collect();
                    recogniser.sentence(&labels);
                }
                recogniser.finish()
            }
        };
        let schemes = match (found, options.scheme) {
            (Some(from), Some(to)) => Some((from, to)),
            (None, Some(to)) => {
                let what = format!(
                    "the labels of {file} are in no scheme that is known; say which with `scheme-from`"
                );
                return Err(BadOption::of("scheme", to.name(), what).into());
            }
            (_, None) => None,
        };
        // Labels without types make words of characters.
        let plain = |label: usize| {
            let mut labels = (0..first.tokens().len()).map(|i| first.field(i, label));
            labels.all(|label| !label.contains('-'))
        };
        let words = found.filter(|_| to == Kind::Words && label.is_some_and(plain));
        let target = Target { kind: to, label: theirs, scheme: schemes.map(|s| s.1).or(words).and(words) };
        let columns = 0..format.columns();
        let fields: Vec<usize> = match to {
            _ if conll(from) && conll(to) => columns.collect(),
            _ if conll(from) => vec![Field::Form.column()],
            Kind::Columns | Kind::Jsonl => columns.filter(|c| Some(*c) != label).collect(),
            _ => columns.filter(|c| Some(*c) != label).take(1).collect(),
        };
        Ok(Plan { file, format, target, label, fields, schemes })
    }

    fn left_out(&self) -> Vec<usize> {
        let (from, to) = (self.format.kind(), self.target.kind);
        if from == to || to == Kind::Crfsuite {
            return vec![];
        }
        // Segmented text holds no labels but those that say what its words are.
        let label = self.label.filter(|_| to != Kind::Words || self.target.scheme.is_some());
        let wanted = |c: &usize| !conll(from) || Some(*c) == self.label;
        let kept = |c: &usize| Some(*c) == label || self.fields.contains(c);
        (0..self.format.columns()).filter(|c| wanted(c) && !kept(c)).collect()
    }

    /// The labels to write.
    fn labels(&self, block: &Block, tokens: std::ops::Range<usize>, seen: &mut Recogniser) -> Vec<String> {
        let Some(label) = self.label else { return vec![] };
        let labels: Vec<&str> = tokens.map(|i| block.field(i, label)).collect();
        match self.schemes {
            Some((from, to)) => {
                let mut converted = vec![];
                seen.sentence(&labels);
                scheme::convert(from, to, &labels, &mut converted);
                converted
            }
            None => labels.into_iter().map(str::to_owned).collect(),
        }
    }

    /// The text of a block with its labels in another scheme.
    fn relabel(&self, block: &Block, seen: &mut Recogniser, out: &mut Vec<u8>) {
        let mut copy = Copy::new(block, self.label.unwrap_or(0), 0);
        for s in block.sentences().filter(|_| self.label.is_some()) {
            let names = match self.format.kind() {
                // They are told by blanks, whatever the scheme.
                Kind::Words => s.tokens.clone().map(|i| block.field(i, 1).to_owned()).collect(),
                _ => self.labels(block, s.tokens.clone(), seen),
            };
            let labelled = Labelled { tokens: s.tokens, names: &names, probabilities: None, beside: &[] };
            self.format.put(&mut copy, &labelled, out);
        }
        copy.rest(self.format, out);
    }

    /// The sentences of a block in the target's format.
    fn rewrite(
        &self,
        block: &Block,
        mut expander: Option<&mut Expander>,
        seen: &mut Recogniser,
        documents: &mut u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        for s in block.sentences() {
            let labels = self.labels(block, s.tokens.clone(), seen);
            if conll(self.format.kind()) && conll(self.target.kind) {
                self.conll(block, s.tokens, &labels, out);
                continue;
            }
            let ready = expander.is_some() || self.format.ready();
            let mut rows: Vec<Outgo<'_>> = s
                .tokens
                .clone()
                .enumerate()
                .map(|(t, i)| Outgo {
                    fields: self.fields.iter().map(|&column| block.field(i, column)).collect(),
                    label: labels.get(t).map(String::as_str),
                    attributes: if expander.is_none() { block.attributes(i).collect() } else { vec![] },
                })
                .collect();
            if let Some(expander) = expander.as_deref_mut() {
                expander.expand(self.file, block, s.tokens.clone())?;
                rows.iter_mut().enumerate().for_each(|(t, row)| row.attributes = expander.nodes(t));
            }
            let starts =
                block.marks().iter().filter(|mark| mark.before as usize <= s.tokens.start).count() as u64;
            // Lines of JSON say themselves which document they belong to, or stand alone.
            let counted = self.format.kind() == Kind::Columns && *documents + starts > 0;
            let document = counted.then_some(*documents + starts);
            let sentence = Outgoing { rows, weight: block.weight(s.tokens.start), ready, document };
            self.target.write(&sentence, self.file, s.line, out)?;
        }
        *documents += block.marks().len() as u64;
        Ok(())
    }

    /// Between CoNLL-U and CoNLL-X: the words with all columns, but for the two that mean other things.
    fn conll(&self, block: &Block, tokens: std::ops::Range<usize>, labels: &[String], out: &mut Vec<u8>) {
        for (t, i) in tokens.enumerate() {
            let mut fields: Vec<&str> = block.columns(i).collect();
            for field in [Field::Deps, Field::Misc] {
                fields[field.column()] = "_";
            }
            if let (Some(label), Some(column)) = (labels.get(t), self.label) {
                fields[column] = label;
            }
            out.extend_from_slice(fields.join("\t").as_bytes());
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}
