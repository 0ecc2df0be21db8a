//! Chooses from the lists of a file: `seqoia predict` with a re-ranker.

use std::io::Write;

use seqoia_data::Error as DataError;
use seqoia_data::candidates::{CandidateList, CandidateLists};
use seqoia_data::format::put_with_other_keys;
use seqoia_data::open::Input;
use seqoia_structures::list::{best, log_sum};
use serde::Serialize;

use super::Reranker;
use crate::error::{Error, Result};

/// What is written about each list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// One JSON object per list, else lines of text.
    pub json: bool,
    /// The best few candidates instead of the best one.
    pub nbest: Option<usize>,
    /// With probabilities: of what is chosen, and in JSON of every candidate.
    pub marginals: bool,
    /// Each answer as soon as its list was read.
    pub eager: bool,
}

/// A choice as JSON; what else stands in the line of its list stands before it.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    chosen: Ranked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginals: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbest: Option<Vec<Ranked<'a>>>,
}

impl Record<'_> {
    /// Whether it has this key. Those of a line must not be there twice.
    fn has(&self, key: &str) -> bool {
        match key {
            "candidate" | "text" | "score" => true,
            "probability" => self.chosen.probability.is_some(),
            "marginals" => self.marginals.is_some(),
            "nbest" => self.nbest.is_some(),
            _ => false,
        }
    }
}

#[derive(Serialize)]
struct Ranked<'a> {
    /// Its place in the list, from 0.
    candidate: usize,
    text: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

/// What was chosen from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Lists.
    pub lists: u64,
    /// What may not be meant so: none of the features is known to the model.
    pub doubt: Option<String>,
}

/// Writes what the model chooses from each list.
///
/// # Errors
/// A file that cannot be read, or a text that does not fit the output.
pub fn choose(model: &Reranker, input: Input, how: Choices, out: &mut dyn Write) -> Result<Chosen> {
    let mut lists = CandidateLists::new(input).eager(how.eager);
    let (file, mut number) = (lists.name().to_owned(), 0);
    let (mut scores, mut shares) = (vec![], vec![]);
    let (mut known, mut strange) = (false, None);
    while let Some(list) = lists.next()? {
        if !known {
            let mut names = list.candidates.iter().flat_map(|one| &one.features).map(|(name, _)| &**name);
            strange = strange.or_else(|| names.clone().next().map(str::to_owned));
            known = names.any(|name| model.knows(name));
        }
        model.scores(&list.candidates, &mut scores)?;
        shares.resize(scores.len(), 0.0);
        log_sum(&scores, |_| true, Some(&mut shares));
        match how.json {
            true => json(&list, &scores, &shares, how, out)?,
            false => text(&list, &scores, &shares, how, &file, out)?,
        }
        if how.eager {
            out.flush()?;
        }
        number += 1;
    }
    out.flush()?;
    let doubt = strange.filter(|_| !known).map(|name| {
        format!(
            "{file}: none of the features is known to the model, such as {name}, so the first candidate of each \
             list is chosen; name them as in the training data"
        )
    });
    Ok(Chosen { lists: number, doubt })
}

/// The numbers of the best candidates; equal ones, such as 0 and -0, in the order of the list, as in [`best`].
fn ranked(scores: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0)));
    order.truncate(k);
    order
}

fn text(
    list: &CandidateList<'_>,
    scores: &[f64],
    shares: &[f64],
    how: Choices,
    file: &str,
    out: &mut dyn Write,
) -> Result<()> {
    for (rank, j) in ranked(scores, how.nbest.unwrap_or(1)).into_iter().enumerate() {
        let text = &list.candidates[j].text;
        if text.contains(['\n', '\r']) {
            let what = format!("the text of candidate {j} (from 0) holds a line end");
            return Err(DataError::at(file, list.line, what).help("take JSON as output").into());
        }
        match (how.nbest, how.marginals) {
            (Some(_), _) => writeln!(out, "{rank}\t{:.6}\t{text}", shares[j])?,
            (None, true) => writeln!(out, "{:.6}\t{text}", shares[j])?,
            (None, false) => writeln!(out, "{text}")?,
        }
    }
    if how.nbest.is_some() {
        writeln!(out)?;
    }
    Ok(())
}

fn json(
    list: &CandidateList<'_>,
    scores: &[f64],
    shares: &[f64],
    how: Choices,
    out: &mut dyn Write,
) -> Result<()> {
    let probable = how.marginals || how.nbest.is_some();
    let one = |candidate: usize| Ranked {
        candidate,
        text: &list.candidates[candidate].text,
        score: scores[candidate],
        probability: probable.then(|| shares[candidate]),
    };
    let record = Record {
        chosen: one(best(scores)),
        marginals: how.marginals.then_some(shares),
        nbest: how.nbest.map(|k| ranked(scores, k).into_iter().map(one).collect()),
    };
    let (taken, mut line) = (|key: &str| key == "candidates" || record.has(key), vec![]);
    put_with_other_keys(list.json, taken, &record, &mut line).map_err(|e| Error::Output(e.to_string()))?;
    Ok(out.write_all(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equals_is_the_best_in_every_output() {
        for scores in [[-0.0, 0.0, -1.0], [0.0, -0.0, -1.0], [2.0, 2.0, 2.0], [1.0, 2.0, 2.0]] {
            assert_eq!(ranked(&scores, 1), [best(&scores)], "{scores:?}");
        }
        assert_eq!(ranked(&[1.0, 3.0, 2.0, 3.0], 3), [1, 3, 2]);
    }
}
