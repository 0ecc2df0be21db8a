//! What choices cost on average, beside what the first, the best and the worst candidate of each list would have.

use seqoia_core::cast::real;
use seqoia_data::Error as DataError;
use seqoia_data::candidates::{CandidateList, CandidateLists};
use seqoia_data::open::Input;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data::costs;
use crate::error::Result;

/// Mean costs over the lists of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// Number of lists.
    pub lists: usize,
    /// Of what was chosen.
    pub chosen: f64,
    /// Of the first candidates.
    pub first: f64,
    /// Of the best ones: no choice costs less.
    pub best: f64,
    /// Of the worst ones.
    pub worst: f64,
}

/// A choice as `predict` writes it in JSON.
#[derive(Deserialize)]
struct Choice {
    id: Option<Value>,
    candidate: usize,
}

/// Scores choices, a line for each list of `gold`: the text of a candidate, or the JSON of
/// [`choose`](super::choose).
///
/// # Errors
/// Files that cannot be read, that have not the same number of lists, or a choice that its list does not have.
pub fn chosen_costs(gold: Input, choices: Input) -> Result<Costs> {
    let name = choices.name.clone();
    let text = seqoia_data::text::read(choices)?;
    let (mut lists, mut sums) = (CandidateLists::new(gold), Costs::default());
    let file = lists.name().to_owned();
    let mut list = lists.next()?;
    // A text may look like JSON, too: what is a candidate's text is meant so.
    let is_text = |line: &str| list.iter().flat_map(|list| &list.candidates).any(|c| c.text == line);
    let as_json = text.trim_start().starts_with('{') && !text.lines().next().is_some_and(is_text);
    // A candidate may be the empty text, but an object takes a line that is not blank.
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !as_json || !line.trim().is_empty());
    while let Some(at_hand) = list {
        let list_costs = costs(&at_hand, &file)?;
        let Some((line, choice)) = lines.next() else {
            let what =
                format!("it has fewer lines than {file} has lists: line {} has no choice", at_hand.line);
            return Err(DataError::new(name, what).into());
        };
        let chosen = match as_json {
            true => by_number(&at_hand, choice),
            false => by_text(&at_hand, &list_costs, choice),
        };
        let chosen = chosen.map_err(|what| {
            let help = format!(
                "the list is in {file}, line {}; are the two files of one kind and order?",
                at_hand.line
            );
            DataError::at(&name, line, what).help(help)
        })?;
        sums.lists += 1;
        sums.chosen += list_costs[chosen];
        sums.first += list_costs[0];
        sums.best += list_costs.iter().copied().fold(f64::INFINITY, f64::min);
        sums.worst += list_costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        list = lists.next()?;
    }
    if let Some((line, _)) = lines.next() {
        let what = format!("it has more lines than {file} has lists, {}", sums.lists);
        return Err(DataError::at(name, line, what).into());
    }
    if sums.lists == 0 {
        return Err(DataError::new(file, "the file has no list of candidates").into());
    }
    let mean = |sum: f64| sum / real(sums.lists);
    let Costs { lists, chosen, first, best, worst } = sums;
    Ok(Costs { lists, chosen: mean(chosen), first: mean(first), best: mean(best), worst: mean(worst) })
}

fn by_number(list: &CandidateList<'_>, line: &str) -> std::result::Result<usize, String> {
    let told = |error| format!("not a choice: {}", seqoia_data::text::told(&error));
    let Choice { id, candidate } = serde_json::from_str(line).map_err(told)?;
    let of_list = list.id.map(|id| serde_json::from_str::<Value>(id).unwrap_or_default());
    if let (Some(id), Some(of_list)) = (&id, &of_list)
        && id != of_list
    {
        return Err(format!("the choice is from list {id}, and this is list {of_list}"));
    }
    match candidate < list.candidates.len() {
        true => Ok(candidate),
        false => Err(format!("candidate {candidate} (from 0) is chosen of {}", list.candidates.len())),
    }
}

fn by_text(list: &CandidateList<'_>, costs: &[f64], line: &str) -> std::result::Result<usize, String> {
    let mut same = (0..costs.len()).filter(|&j| list.candidates[j].text == line);
    let first = same.next().ok_or_else(|| format!("no candidate has the text '{line}'"))?;
    match same.all(|j| costs[j] == costs[first]) {
        true => Ok(first),
        false => Err("candidates with this text have different costs; take the choices as JSON".to_owned()),
    }
}
