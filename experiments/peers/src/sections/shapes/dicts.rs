//! The features of sklearn-crfsuite's tutorial, as JSON lines of dicts: the word in lower case, its last two and three
//! letters, three tests of its letters, its part of speech and the first two letters of that; less of its neighbours.

use std::io::{BufRead, Write};

use anyhow::Result;
use serde_json::{Map, Value, json};

/// A row of the corpus: word, part of speech, label.
type Token = [String; 3];

/// Writes a line for each sentence of a file of columns. Marks of documents are dropped.
///
/// # Errors
/// Something cannot be read or written.
pub(super) fn write(input: &mut impl BufRead, out: &mut impl Write) -> Result<()> {
    let mut sentence: Vec<Token> = vec![];
    for line in input.lines() {
        let line = line?;
        let mut fields = line.split(' ').map(str::to_owned);
        if line.is_empty() {
            end(&mut sentence, out)?;
        } else if !line.starts_with("-DOCSTART-") {
            sentence.push(std::array::from_fn(|_| fields.next().unwrap_or_default()));
        }
    }
    end(&mut sentence, out)?;
    Ok(out.flush()?)
}

fn end(sentence: &mut Vec<Token>, out: &mut impl Write) -> Result<()> {
    if !sentence.is_empty() {
        let features: Vec<Value> = (0..sentence.len()).map(|place| features(sentence, place)).collect();
        let labels: Vec<&str> = sentence.iter().map(|token| token[2].as_str()).collect();
        writeln!(out, "{}", json!({ "features": features, "labels": labels }))?;
        sentence.clear();
    }
    Ok(())
}

fn features(sentence: &[Token], place: usize) -> Value {
    let [word, tag, _] = &sentence[place];
    let mut dict = Map::new();
    dict.insert("bias".to_owned(), json!(1.0));
    dict.insert("word[-3:]".to_owned(), last(word, 3).into());
    dict.insert("word[-2:]".to_owned(), last(word, 2).into());
    dict.insert("word.isdigit()".to_owned(), word.chars().all(|c| c.is_ascii_digit()).into());
    common(&mut dict, "", word, tag);
    let neighbours = [("-1:", "BOS", place.checked_sub(1)), ("+1:", "EOS", Some(place + 1))];
    for (prefix, edge, at) in neighbours {
        match at.and_then(|at| sentence.get(at)) {
            Some([word, tag, _]) => common(&mut dict, prefix, word, tag),
            None => {
                dict.insert(edge.to_owned(), true.into());
            }
        }
    }
    Value::Object(dict)
}

/// What a token and its neighbours have.
fn common(dict: &mut Map<String, Value>, prefix: &str, word: &str, tag: &str) {
    let mut put = |name: &str, value: Value| dict.insert(format!("{prefix}{name}"), value);
    put("word.lower()", word.to_lowercase().into());
    put("word.istitle()", is_title(word).into());
    put("word.isupper()", is_upper(word).into());
    put("postag", tag.into());
    put("postag[:2]", tag.chars().take(2).collect::<String>().into());
}

fn last(word: &str, count: usize) -> &str {
    let start = word.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at);
    &word[start..]
}

/// Python's `isupper`: letters, and none in lower case.
fn is_upper(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}

/// Python's `istitle`: capitals only behind what is not a letter, small letters only behind letters.
fn is_title(word: &str) -> bool {
    let (mut inside, mut any) = (false, false);
    for c in word.chars() {
        if (c.is_uppercase() && inside) || (c.is_lowercase() && !inside) {
            return false;
        }
        inside = c.is_uppercase() || c.is_lowercase();
        any |= inside;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dicts_of_the_tutorial() {
        let text = "-DOCSTART- -DOCSTART- O\nDe Art O\nA'dam Noun B-LOC\n\n12 Num O\n";
        let mut out = vec![];
        write(&mut text.as_bytes(), &mut out).unwrap();
        let lines: Vec<Value> =
            String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["labels"], json!(["O", "B-LOC"]));
        let expected = json!({
            "bias": 1.0, "word.lower()": "de", "word[-3:]": "De", "word[-2:]": "De",
            "word.isupper()": false, "word.istitle()": true, "word.isdigit()": false,
            "postag": "Art", "postag[:2]": "Ar", "BOS": true,
            "+1:word.lower()": "a'dam", "+1:word.istitle()": false, "+1:word.isupper()": false,
            "+1:postag": "Noun", "+1:postag[:2]": "No",
        });
        assert_eq!(lines[0]["features"][0], expected);
        assert_eq!(lines[0]["features"][1]["-1:postag"], "Art");
        assert_eq!(lines[1]["features"][0]["word.isdigit()"], true);
        assert_eq!(lines[1]["features"][0]["EOS"], true);
    }

    #[test]
    fn tests_of_letters_are_those_of_python() {
        for (word, title, upper) in [
            ("De", true, false),
            ("A'Dam", true, false),
            ("EU", false, true),
            ("U.S.", true, true),
            ("1", false, false),
        ] {
            assert_eq!((is_title(word), is_upper(word)), (title, upper), "{word}");
        }
        assert_eq!((last("één", 2), last("a", 3)), ("én", "a"));
    }
}
