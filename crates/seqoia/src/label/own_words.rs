//! The words of a training text as its own dictionary. They have to be known before the first sentence is made
//! into attributes, so the text is held in memory and read twice: it is small beside its attributes.

use std::io::{Cursor, Read};
use std::sync::Arc;

use seqoia_data::features::Lexica;
use seqoia_data::format::{Blocks, Kind, Reader};
use seqoia_data::open::{Input, open};

use super::options::FeatureChoice;
use super::{Again, Source};
use crate::error::{BadOption, Result};

/// The lists that attributes look into, with the words of the text if they are wanted, and the text again.
pub(crate) fn collect(
    source: Source,
    features: &FeatureChoice,
    kind: Option<Kind>,
) -> Result<(Source, Arc<Lexica>)> {
    if !features.own_words {
        return Ok((source, Arc::clone(&features.lexica)));
    }
    let (file, text) = match source {
        Source::File(path) => whole(open(&path)?)?,
        Source::Input(input) => whole(input)?,
        Source::Sentences(sentences) => {
            let what = "sentences in memory do not say what the words of a text are";
            return Err(seqoia_data::Error::new(sentences.name(), what).into());
        }
    };
    let again = || Input::from_reader(&file, Cursor::new(Arc::clone(&text)));
    let mut lexica = Lexica::clone(&features.lexica);
    add(again()?, kind, &mut lexica)?;
    Ok((again()?.into(), Arc::new(lexica)))
}

/// The same for a text that can be opened again, of which nothing is held.
pub(crate) fn collect_again(
    again: &Again,
    features: &FeatureChoice,
    kind: Option<Kind>,
) -> Result<Arc<Lexica>> {
    if !features.own_words {
        return Ok(Arc::clone(&features.lexica));
    }
    let mut lexica = Lexica::clone(&features.lexica);
    add(again.open()?, kind, &mut lexica)?;
    Ok(Arc::new(lexica))
}

fn whole(mut input: Input) -> Result<(String, Arc<[u8]>)> {
    let mut text = vec![];
    input.read_to_end(&mut text).map_err(|e| seqoia_data::Error::from_io(&input.name, &e))?;
    Ok((input.name, text.into()))
}

fn add(input: Input, kind: Option<Kind>, lexica: &mut Lexica) -> Result<()> {
    let mut reader = Reader::new(Blocks::new(input), kind)?;
    let (file, format) = (reader.name().to_owned(), reader.format());
    if format.kind() != Kind::Words {
        let kind = format.kind().name();
        let what = format!(
            "{file} is read as {kind}, which does not say what its words are; use `format words`, or `dictionary FILE`"
        );
        return Err(BadOption::of("own-dictionary", "", what).into());
    }
    let mut number = 0;
    while let Some(block) = reader.next()? {
        for sentence in block.sentences() {
            number += 1;
            let of = |i: usize| block.tokens()[i].span.range();
            let line = &block.text()[of(sentence.tokens.start).start..of(sentence.tokens.end - 1).end];
            if !line.split_whitespace().all(|word| lexica.words.add(word, number)) {
                let what = "the words of the data have more than 4 GiB of text";
                return Err(seqoia_data::Error::at(&file, sentence.line, what).into());
            }
        }
    }
    Ok(())
}
