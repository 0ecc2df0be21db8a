//! What training data turns into: labels and attributes, as text.
//!
//! A token a line, an empty line behind each sentence: the label, then the attributes, between tabs, as in
//! CRFsuite's text; `NAME:VALUE` where the value is not 1, with `\:` for a colon and `\\` for a backslash
//! in names. Attributes of the edge into the token come last, as `edge:NAME:VALUE`. Without those the output
//! is data that can be trained on.

use std::io::Write;
use std::sync::Arc;

use seqoia_core::Corpus;
use seqoia_data::format::{Refusal, write_crfsuite_row};
use seqoia_data::open::Input;

use crate::error::Result;
use crate::label::options::DataOptions;
use crate::label::reading::Reading;
use crate::label::{Source, own_words};
use crate::tools::expand::{Expander, Names};

/// Writes the labels and attributes of a training file to `out`: a block at a time, unless a cut-off or
/// another label scheme wants all of the file first.
///
/// # Errors
/// Data that cannot be read, templates that do not fit it; output that cannot be written.
pub fn dump_features(input: Input, options: &DataOptions, out: &mut dyn Write) -> Result<()> {
    match options.cutoff > 1 || options.scheme.is_some() {
        true => at_the_end(input, options, out),
        false => as_it_comes(input, options, out),
    }
}

fn as_it_comes(input: Input, options: &DataOptions, out: &mut dyn Write) -> Result<()> {
    let source = Source::from(input);
    let kind = source.format(options);
    let (source, lexica) = own_words::collect(source, &options.features, kind)?;
    let mut reader = source.reader(kind, options.features.reads_mentions())?;
    let (file, format) = (reader.name().to_owned(), reader.format());
    let label = options.label.resolve(&file, &*format)?;
    let program = options.features.resolve(&*format, Some(label))?.compile(&file, format.columns(), label)?;
    let mut expander = Expander::new(Arc::new(program), lexica);
    let mut text = vec![];
    while let Some(block) = reader.next()? {
        for sentence in block.sentences() {
            expander.expand(&file, block, sentence.tokens.clone())?;
            put_weight(block.weight(sentence.tokens.start), &mut text);
            for (t, i) in sentence.tokens.enumerate() {
                let (nodes, edges) = (expander.nodes(t), expander.edges(t));
                put(&file, block.field(i, label), &nodes, &edges, &mut text)?;
            }
            text.push(b'\n');
        }
        out.write_all(&text)?;
        out.flush()?;
        text.clear();
    }
    Ok(())
}

fn at_the_end(input: Input, options: &DataOptions, out: &mut dyn Write) -> Result<()> {
    let Reading { file, program, indexer, .. } = Reading::new(input.into(), options)?;
    let indexed = indexer.finish(options.cutoff, options.threads());
    let mut names = Names::new(program);
    names.add(&indexed.dictionary);
    names.keep(&indexed.kept_nodes, &indexed.kept_edges);
    let mut text = vec![];
    for id in 0..indexed.corpus.len() {
        let Some(sentence) = indexed.corpus.view(id) else { continue };
        put_weight(sentence.weight, &mut text);
        for (t, &y) in sentence.labels.iter().enumerate() {
            let (nodes, edges) = (names.nodes(sentence.nodes, t), names.edges(sentence.edges, t));
            // What is known in part only is written as not known.
            let known = usize::from(y) < indexed.labels.len();
            let unknown = options.partial.as_deref().unwrap_or_default();
            let label = if known { indexed.labels.name(y) } else { unknown };
            put(&file, label, &nodes, &edges, &mut text)?;
        }
        text.push(b'\n');
        out.write_all(&text)?;
        text.clear();
    }
    out.flush()?;
    Ok(())
}

fn put_weight(weight: f64, text: &mut Vec<u8>) {
    if weight != 1.0 {
        text.extend_from_slice(format!("@weight:{weight}\n").as_bytes());
    }
}

fn put(
    file: &str,
    label: &str,
    nodes: &[(&str, f32)],
    edges: &[(&str, f32)],
    text: &mut Vec<u8>,
) -> Result<()> {
    write_crfsuite_row(label, nodes, edges, text).map_err(|Refusal(what)| {
        seqoia_data::Error::new(file, format!("no line can be written: {what}")).into()
    })
}
