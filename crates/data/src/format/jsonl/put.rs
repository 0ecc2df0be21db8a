//! Writes lines: labels into those that were read, sentences of other formats, records beside other keys.

use serde::Serialize;

use super::line::Keys;
use crate::format::Outgo;
use crate::format::block::Span;
use crate::format::copy::Copy;
use crate::format::write::{Outgoing, Refusal, refuse};

/// Writes an object with the keys of a line that are not `taken`, then those of a record: each on a line.
///
/// # Errors
/// A record that is no object.
pub fn put_with_other_keys(
    line: &str,
    taken: impl Fn(&str) -> bool,
    record: &impl Serialize,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let start = out.len();
    for (key, value) in Keys::of(line).into_iter().filter(|(key, _)| !taken(key)) {
        out.push(if out.len() == start { b'{' } else { b',' });
        serde_json::to_writer(&mut *out, &key)?;
        out.push(b':');
        out.extend_from_slice(value.get().as_bytes());
    }
    let brace = out.len();
    serde_json::to_writer(&mut *out, record)?;
    if brace > start {
        out[brace] = b','; // the object was opened before
    }
    out.push(b'\n');
    Ok(())
}

/// Whether a line is an object with this key.
#[must_use]
pub fn has_key(line: &str, key: &str) -> bool {
    Keys::of(line).iter().any(|(name, _)| name == key)
}

/// A list of strings.
fn put_list(names: &[String], out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, name) in names.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        if name.bytes().any(|byte| byte == b'"' || byte == b'\\' || byte < b' ') {
            out.extend_from_slice(serde_json::to_string(name).unwrap_or_default().as_bytes());
            continue;
        }
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.push(b'"');
    }
    out.push(b']');
}

/// Writes the text up to the end of a line that is an object, with labels in it; at `place`, if that is known.
pub(super) fn put(
    copy: &mut Copy<'_>,
    (span, place): (Span, Option<Span>),
    names: &[String],
    probabilities: Option<&[f64]>,
    out: &mut Vec<u8>,
) {
    if let Some(place) = place.filter(|_| probabilities.is_none()) {
        copy.upto(place.start, out);
        out.extend_from_slice(if place.start == place.end { b",\"labels\":" } else { b"" });
        put_list(names, out);
        copy.at = place.range().end;
        return copy.upto(span.end, out);
    }
    let (start, line) = (span.range().start, copy.block.slice(span));
    // The line was parsed before, so it is an object.
    let keys = Keys::of(line);
    let mut values = vec![("labels", serde_json::to_string(names).unwrap_or_default())];
    if let Some(p) = probabilities {
        let p: Vec<String> = p.iter().map(|p| format!("{p:.6}")).collect();
        values.push(("probabilities", format!("[{}]", p.join(","))));
    }
    let mut edits = vec![];
    for (key, value) in values {
        match keys.iter().rfind(|(name, _)| name == key) {
            Some((_, raw)) => {
                let raw = raw.get();
                let at = start + (raw.as_ptr() as usize - line.as_ptr() as usize);
                edits.push((Span::new(at, at + raw.len()), value));
            }
            None => {
                let at = span.range().end.saturating_sub(1); // its closing brace
                let comma = if keys.is_empty() { "" } else { "," };
                edits.push((Span::new(at, at), format!("{comma}\"{key}\":{value}")));
            }
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    edits.iter().for_each(|(span, text)| copy.replace(*span, text, out));
    copy.upto(span.end, out);
}

/// Writes a sentence.
pub(in crate::format) fn write(
    sentence: &Outgoing<'_>,
    out: &mut Vec<u8>,
) -> std::result::Result<(), Refusal> {
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let listed = |items: Vec<String>| format!("[{}]", items.join(","));
    let mut keys = vec![];
    if sentence.rows.iter().any(|row| row.fields.iter().chain(&row.label).any(|field| field.is_empty())) {
        return refuse("a field or label is empty");
    }
    if sentence.rows.iter().any(|row| row.attributes.iter().any(|(name, _)| name.is_empty())) {
        return refuse("an attribute has an empty name");
    }
    if !sentence.ready || sentence.rows.iter().any(|row| !row.fields.is_empty()) {
        let token = |row: &Outgo<'_>| match row.fields[..] {
            [word] => quoted(word),
            _ => listed(row.fields.iter().map(|field| quoted(field)).collect()),
        };
        keys.push(("tokens", listed(sentence.rows.iter().map(token).collect())));
    }
    if sentence.ready {
        let feature = |&(name, value): &(&str, f32)| match value == 1.0 {
            true => quoted(name),
            false => format!("{{{}:{value}}}", quoted(name)),
        };
        let token = |row: &Outgo<'_>| listed(row.attributes.iter().map(feature).collect());
        keys.push(("features", listed(sentence.rows.iter().map(token).collect())));
    }
    let labels: Option<Vec<String>> = sentence.rows.iter().map(|row| row.label.map(quoted)).collect();
    keys.extend(labels.map(|labels| ("labels", listed(labels))));
    keys.extend(sentence.document.map(|document| ("document", document.to_string())));
    if sentence.weight != 1.0 {
        keys.push(("weight", sentence.weight.to_string()));
    }
    let keys: Vec<String> = keys.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    out.extend_from_slice(format!("{{{}}}\n", keys.join(",")).as_bytes());
    Ok(())
}
