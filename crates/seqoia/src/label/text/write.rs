//! Writes a model as text.

use std::fmt::Write as _;
use std::io::Write;

use seqoia_data::features::{KeysView, StringsView};
use seqoia_model::Number;

use super::{HEADER, KINDS, escape, is_known};
use crate::error::{Error, Result};
use crate::label::inspect::Inspector;
use crate::label::meta::Description;
use crate::label::model::Labeller;

/// Numbers of other sections that stand in one line.
const A_LINE: usize = 64;

/// Writes the whole model as text, a line at a time; [`model_from_text`](super::model_from_text) reads it.
///
/// # Errors
/// Output that cannot be written; a model whose strings are no text.
pub fn model_to_text(labeller: &Labeller, out: &mut dyn Write) -> Result<()> {
    let inside = Inspector::new(labeller)?;
    let container = labeller.container();
    let names: Vec<&str> = container.sections().map(|(name, ..)| name).collect();
    writeln!(out, "{HEADER}\ndigest\t{:016x}\nsections\t{}", container.checksum(), names.join("\t"))?;
    let mut line = String::new();
    let mut meta = String::from_utf8_lossy(container.get("meta")?);
    if meta.contains(['\n', '\r']) {
        // Not by this program, which writes it in one line.
        let description = Description { head: labeller.head().clone(), labeller: labeller.meta().clone() };
        meta = String::from_utf8_lossy(&description.bytes()).into_owned().into();
    }
    write_line(&mut line, out, format_args!("meta\t{meta}"))?;
    for (number, template) in labeller.program().groups().enumerate() {
        let kind = if template.edge { "edge" } else { "node" };
        write_line(&mut line, out, format_args!("# {kind} {number} is {}", template.text().escape_debug()))?;
    }
    transitions(&inside, out, &mut line)?;
    for (key, &number) in (0..).zip(inside.frozen.node_numbers.unwrap_or_default()) {
        let head = head(&inside, inside.frozen.nodes, key, "node")?;
        for (y, weight) in inside.node(number).filter(|(_, weight)| *weight != 0.0) {
            line.push_str(&head);
            field(&mut line, inside.label_name(y));
            write_line(&mut line, out, format_args!("\t{weight:?}"))?;
        }
    }
    for key in 0..seqoia_core::cast::narrow(inside.space.edge_attributes()) {
        let head = head(&inside, inside.frozen.edges, key, "edge")?;
        for (from, to, weight) in inside.edge(key) {
            line.push_str(&head);
            field(&mut line, inside.label_name(from));
            field(&mut line, inside.label_name(to));
            write_line(&mut line, out, format_args!("\t{weight:?}"))?;
        }
    }
    lexica(&inside, out, &mut line)?;
    for (name, kind, bytes) in container.sections().filter(|(name, ..)| !is_known(name)) {
        section(labeller, name, kind, bytes, out)?;
    }
    Ok(out.flush()?)
}

/// All that is not exactly the zero of a hole.
fn transitions(inside: &Inspector<'_>, out: &mut dyn Write, line: &mut String) -> Result<()> {
    for from in 0..seqoia_core::cast::label(inside.space.labels) {
        for to in 0..seqoia_core::cast::label(inside.space.labels) {
            let weight = inside.transition(from, to);
            if weight.to_bits() != 0 {
                line.push_str("transition");
                field(line, inside.label_name(from));
                field(line, inside.label_name(to));
                write_line(line, out, format_args!("\t{weight:?}"))?;
            }
        }
    }
    Ok(())
}

/// The first fields of an attribute's lines: its template and values.
fn head(inside: &Inspector<'_>, keys: KeysView<'_>, key: u32, word: &str) -> Result<String> {
    let tuple = keys.get(key).unwrap_or_default();
    let group = tuple.first().copied().unwrap_or_default();
    let mut head = format!("{word}\t{group}");
    for &value in tuple.iter().skip(1).take(inside.labeller.program().arity(group)) {
        field(&mut head, string(inside, inside.frozen.strings, value)?);
    }
    Ok(head)
}

fn lexica(inside: &Inspector<'_>, out: &mut dyn Write, line: &mut String) -> Result<()> {
    let lexica = inside.frozen.lexica;
    for (word, &path) in (0..).zip(lexica.clusters.path_of) {
        line.push_str("cluster");
        field(line, string(inside, lexica.clusters.paths, path)?);
        field(line, string(inside, lexica.clusters.words, word)?);
        end(line, out)?;
    }
    for (kind, strings, numbers) in [
        ("name", lexica.names.strings, lexica.names.masks),
        ("lower", lexica.lower.strings, lexica.lower.masks),
        ("word", lexica.words.strings, lexica.words.marks),
    ] {
        for (entry, number) in (0..).zip(numbers) {
            line.push_str(&format!("{kind}\t{number}"));
            field(line, string(inside, strings, entry)?);
            end(line, out)?;
        }
    }
    Ok(())
}

/// A part that this file knows nothing of.
fn section(labeller: &Labeller, name: &str, kind: u32, bytes: &[u8], out: &mut dyn Write) -> Result<()> {
    let container = labeller.container();
    let mut line = String::new();
    let Some((of_kind, _)) = KINDS.iter().find(|(_, k)| *k == kind) else { return Err(no_text(labeller)) };
    write_line(&mut line, out, format_args!("section\t{name}\t{of_kind}"))?;
    if let (u8::KIND, Ok(text)) = (kind, std::str::from_utf8(bytes)) {
        for piece in text.split_inclusive('\n') {
            line.push_str("text");
            field(&mut line, piece);
            end(&mut line, out)?;
        }
        return Ok(());
    }
    let all: Vec<String> = match kind {
        u8::KIND => shown(container.get::<u8>(name)?),
        u16::KIND => shown(container.get::<u16>(name)?),
        u32::KIND => shown(container.get::<u32>(name)?),
        u64::KIND => shown(container.get::<u64>(name)?),
        f32::KIND => shown(container.get::<f32>(name)?),
        _ => shown(container.get::<f64>(name)?),
    };
    all.chunks(A_LINE)
        .try_for_each(|some| write_line(&mut line, out, format_args!("numbers\t{}", some.join("\t"))))
}

/// Numbers so that they are read as the same.
fn shown<T: std::fmt::Debug>(numbers: &[T]) -> Vec<String> {
    numbers.iter().map(|n| format!("{n:?}")).collect()
}

fn string<'a>(inside: &Inspector<'_>, strings: StringsView<'a>, number: u32) -> Result<&'a str> {
    let text = strings.get(number).and_then(|text| std::str::from_utf8(text).ok());
    text.ok_or_else(|| no_text(inside.labeller))
}

fn no_text(labeller: &Labeller) -> Error {
    let what = "it holds strings that are no text";
    let help = "the file is damaged: copy it again, or train the model anew";
    seqoia_model::Error::new(labeller.container().file(), what, help).into()
}

fn field(line: &mut String, text: &str) {
    line.push('\t');
    escape(text, line);
}

fn write_line(line: &mut String, out: &mut dyn Write, rest: std::fmt::Arguments<'_>) -> Result<()> {
    let _ = line.write_fmt(rest); // a string takes everything
    end(line, out)
}

fn end(line: &mut String, out: &mut dyn Write) -> Result<()> {
    line.push('\n');
    out.write_all(line.as_bytes())?;
    line.clear();
    Ok(())
}
