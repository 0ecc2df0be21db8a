//! The sentences of a block, labelled and written as a user wants them.

use seqoia_data::format::{Block, Copy, Format, Kind, Labelled as Labels};

use super::Predictor;
use super::columns::{as_written, label_column};
use super::empty::Lines;
use super::options::Output;
use super::records::json;
use crate::error::Result;

/// Appends the answers to all sentences of a block.
pub(super) fn label_block(
    predictor: &mut Predictor,
    file: &str,
    format: &dyn Format,
    block: &Block,
    output: Output,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut names = vec![];
    let labeller = predictor.labeller().clone();
    let opened = labeller.opened()?;
    let label = label_column(predictor.labeller(), format);
    let added = if output == Output::Marginals { 2 } else { 1 };
    let mut copy = Copy::new(block, label, added);
    let mut lines = Lines::of(format.kind(), block);
    for sentence in block.sentences() {
        if let Some(lines) = &mut lines {
            lines.before(sentence.line, predictor.labeller(), format, &mut copy, output, out)?;
        }
        predictor.read_with(&opened, file, block, sentence.tokens.clone(), label)?;
        match output {
            Output::Text => {
                predictor.name_best(&opened, &mut names)?;
                as_written(predictor.labeller(), format.kind(), &mut names);
                let labelled =
                    Labels { tokens: sentence.tokens, names: &names, probabilities: None, beside: &[] };
                format.put(&mut copy, &labelled, out);
            }
            Output::Marginals => {
                let best = predictor.best_labels()?.to_vec();
                let p = predictor.probabilities(&best)?;
                predictor.names(&best, &mut names);
                let of_best: Vec<f64> =
                    best.iter().zip(&p.marginals).map(|(y, row)| row[usize::from(*y)]).collect();
                let probabilities = Some(of_best.as_slice());
                let labelled = Labels { tokens: sentence.tokens, names: &names, probabilities, beside: &[] };
                format.put(&mut copy, &labelled, out);
            }
            Output::NBest(k) => nbest(predictor, format, &mut copy, sentence.tokens, k, &mut names, out)?,
            Output::Json { marginals, nbest } => {
                json(predictor, format, block, sentence.tokens, marginals, nbest, out)?;
            }
        }
    }
    if let Some(lines) = &mut lines {
        lines.before(u64::MAX, predictor.labeller(), format, &mut copy, output, out)?;
    }
    if matches!(output, Output::Text | Output::Marginals) {
        copy.rest(format, out);
    }
    Ok(())
}

fn nbest(
    predictor: &mut Predictor,
    format: &dyn Format,
    copy: &mut Copy<'_>,
    tokens: std::ops::Range<usize>,
    k: usize,
    names: &mut Vec<String>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (found, log_z) = predictor.best_labellings(k)?;
    let first = copy.block.tokens()[tokens.start].span.start as usize;
    let from = match format.kind() {
        // Comments and words of several tokens stand before the first one.
        Kind::Conllu => {
            let head = &copy.block.text()[copy.at..first];
            first - head.trim_start_matches(['\n', '\r']).len()
        }
        _ => first,
    };
    for (rank, labelling) in found.into_iter().enumerate() {
        predictor.names(&labelling.labels, names);
        as_written(predictor.labeller(), format.kind(), names);
        let probability = predictor.probability(&labelling.labels, log_z)?;
        out.extend_from_slice(format!("# {rank} {probability:.6}\n").as_bytes());
        copy.at = from;
        copy.mark = usize::MAX;
        format.put(copy, &Labels { tokens: tokens.clone(), names, probabilities: None, beside: &[] }, out);
        let end = copy.block.tokens()[tokens.end - 1].span.end;
        copy.upto(end.max(u32::try_from(copy.at).unwrap_or(end)), out);
        out.extend_from_slice(if format.kind().by_line() { b"\n" } else { b"\n\n" });
    }
    Ok(())
}
