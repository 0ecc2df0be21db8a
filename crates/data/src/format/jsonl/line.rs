//! A line as serde reads it: every JSON text that there is, and what is wrong with the others.
//!
//! Strings are copied and lists allocated, token by token, which takes several times as long as all that follows.
//! [`Quick`](super::quick::Quick) reads most lines; this is for those that it leaves, and for messages.

use std::fmt;
use std::ops::Range;

use seqoia_core::cast::{real64, single};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Jsonl;
use crate::format::block::LARGEST;
use crate::text::told;

/// A line, as far as it concerns us.
#[derive(Deserialize)]
pub(super) struct Line<'a> {
    pub(super) tokens: Option<Vec<Fields>>,
    pub(super) features: Option<Vec<Features>>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) weight: Option<f64>,
    #[serde(borrow)]
    pub(super) document: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    /// Reads a line, or tells what is wrong with it. Only objects are lines: serde would take a list of the values, too.
    pub(super) fn of(row: &'a str) -> std::result::Result<Self, String> {
        if row.trim_start().starts_with('[') {
            return Err("a list, where an object is expected".to_owned());
        }
        serde_json::from_str(row).map_err(|error| told(&error))
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.as_ref().map_or_else(|| self.features.as_ref().map_or(0, Vec::len), Vec::len)
    }

    pub(super) fn shape(&self) -> Jsonl {
        let first = self.tokens.as_ref().and_then(|tokens| tokens.first());
        Jsonl {
            fields: first.map_or(0, |fields| fields.0.len()),
            labelled: self.labels.is_some(),
            ready: self.features.is_some(),
            keys: vec![],
        }
    }
}

/// All keys of an object with their values, in order.
pub(super) struct Keys<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Keys<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Keys<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Keys<'de>, A::Error> {
                let mut keys = vec![];
                while let Some(entry) = map.next_entry()? {
                    keys.push(entry);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

impl<'a> Keys<'a> {
    /// Those of a line; none if it is no object.
    pub(super) fn of(line: &'a str) -> Vec<(String, &'a RawValue)> {
        serde_json::from_str(line).map_or_else(|_| vec![], |Keys(keys)| keys)
    }
}

/// `"a"` or `["a", "b"]`.
pub(super) struct Fields(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a list of fields")
            }
            fn visit_str<E>(self, word: &str) -> std::result::Result<Fields, E> {
                Ok(Fields(vec![word.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Fields, A::Error> {
                let mut fields = vec![];
                while let Some(field) = seq.next_element()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// `["a", {"b": 2}]` or `{"a": 1, "b": 2}`.
#[derive(Default)]
pub(super) struct Features(pub(super) Vec<(String, f32)>);

impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ReadFeatures { inner: false })
    }
}

/// The value of a name: a number, or what stands behind the name and a colon.
enum Value {
    Number(f64),
    Absent,
    Under(Features),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the value of a feature, a number, true, false or a string")
            }
            fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
                Ok(if value { Value::Number(1.0) } else { Value::Absent })
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
                Ok(Value::Number(real64(value.unsigned_abs()).copysign(if value < 0 { -1.0 } else { 1.0 })))
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
                Ok(Value::Number(real64(value)))
            }
            fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
                Ok(Value::Number(value))
            }
            fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
                Ok(Value::Under(Features(vec![(value.to_owned(), 1.0)])))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> std::result::Result<Value, A::Error> {
                ReadFeatures { inner: false }.visit_seq(seq).map(Value::Under)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Value, A::Error> {
                ReadFeatures { inner: false }.visit_map(map).map(Value::Under)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Reads the features of a token or, `inner`, an item of their list.
struct ReadFeatures {
    inner: bool,
}

/// An item of a list of features.
struct Item(Features);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ReadFeatures { inner: true }).map(Item)
    }
}

impl<'de> Visitor<'de> for ReadFeatures {
    type Value = Features;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner {
            false => "the features of a token, a list or an object",
            true => "a feature, a string or an object",
        })
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Features, E> {
        match self.inner {
            true => Ok(Features(vec![(name.to_owned(), 1.0)])),
            false => Err(E::invalid_type(serde::de::Unexpected::Str(name), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Features, A::Error> {
        if self.inner {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let mut all = Features::default();
        while let Some(Item(mut features)) = seq.next_element()? {
            all.0.append(&mut features.0);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Features, A::Error> {
        let (mut all, mut names): (Vec<(String, f32)>, _) = (vec![], Names::default());
        while let Some((name, value)) = map.next_entry::<String, _>()? {
            names.add(&name);
            let value = match value {
                Value::Number(value) => single(value),
                Value::Absent => continue,
                Value::Under(Features(under)) => {
                    let (first, length) = (all.len(), name.len());
                    all.extend(under.into_iter().map(|(rest, value)| (format!("{name}:{rest}"), value)));
                    names.under.push((first..all.len(), length));
                    continue;
                }
            };
            if value.abs() > LARGEST {
                return Err(A::Error::custom(format!(
                    "the value of '{name}' is too large, they go up to 1e12"
                )));
            }
            all.push((name, value));
        }
        match names.twice(&all) {
            Some(name) => Err(A::Error::custom(format!("an object has the feature '{name}' twice"))),
            None => Ok(Features(all)),
        }
    }
}

/// The names in an object, each of which must come once: programs differ in what they make of two. Most objects are
/// known to be sound by a bit for each name, and only the others are looked at again.
#[derive(Default)]
struct Names {
    bits: [u64; 8],
    doubtful: bool,
    /// Features that stand under a name, and how long that is.
    under: Vec<(Range<usize>, usize)>,
}

impl Names {
    #[inline]
    fn add(&mut self, name: &str) {
        let code = code(name.as_bytes());
        let (word, bit) = ((code >> 61) as usize, 1 << (code >> 55 & 63));
        self.doubtful |= self.bits[word] & bit != 0;
        self.bits[word] |= bit;
    }

    /// A name that came twice.
    fn twice<'a>(&self, features: &'a [(String, f32)]) -> Option<&'a str> {
        if !self.doubtful {
            return None;
        }
        let (mut names, mut at) = (vec![], 0);
        for (range, length) in self.under.iter().filter(|(range, _)| !range.is_empty()) {
            names.extend(features[at..range.start].iter().map(|(name, _)| name.as_str()));
            names.push(&features[range.start].0[..*length]);
            at = range.end;
        }
        names.extend(features[at..].iter().map(|(name, _)| name.as_str()));
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

/// A number that is the same for the same name, and mostly another for another one: of its ends and its length.
#[inline]
fn code(name: &[u8]) -> u64 {
    let ends = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => name.iter().fold(0, |code, byte| code << 8 | u64::from(*byte)),
    };
    (ends ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
